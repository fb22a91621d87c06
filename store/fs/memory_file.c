#include "store/fs/memory_file.h"

#include <unistd.h>

#include "store/fs/disk.h"
#include "store/fs/kernel.h"

enum err_code memory_file_open(struct memory_file *f, struct slice bytes, struct err *e)
{
    *f = (struct memory_file){ .fd = fs_open_memory("transcript") };
    if (f->fd < 0)
        return err_sys(e, "a transcript", "create a file in memory");
    fs_fd_path(f->fd, f->path);
    enum err_code rc = disk_write(f->fd, bytes, NULL, f->path, e);

    if (rc)
        memory_file_close(f);
    return rc;
}

void memory_file_close(struct memory_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}
