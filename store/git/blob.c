#include "store/git/blob.h"

#include <errno.h>
#include <git2.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/fs/disk.h"
#include "store/git/gitlib.h"
#include "store/git/loose_guard.h"

static enum err_code unpack(git_odb_object *object, const char *hex, struct span *out,
                            struct err *e)
{
    struct slice bytes = { git_odb_object_data(object), git_odb_object_size(object) };
    int fd = memfd_create("blob", MFD_CLOEXEC);

    if (fd < 0)
        return err_sys(e, hex, "make room for a blob");
    enum err_code rc = disk_write(fd, bytes, NULL, hex, e);

    if (rc)
        close(fd);
    else
        *out = (struct span){ .path = hex, .fd = fd, .n = (int64_t)bytes.n, .whole = true };
    return rc;
}

static enum err_code read_blob(git_odb *odb, const char *hex, struct span *out, struct err *e)
{
    git_odb_object *object = NULL;
    git_oid id;
    int answer = git_oid_fromstr(&id, hex);
    enum err_code rc;

    errno = 0;
    if (!answer)
        answer = git_odb_read(&object, odb, &id);
    if (answer && err_is_exhausted(errno))
        rc = err_sys(e, hex, "read a blob");
    else if (answer || git_odb_object_type(object) != GIT_OBJECT_BLOB)
        rc = err_set(e, ERR_FORMAT, hex, "the blob is missing or damaged");
    else
        rc = unpack(object, hex, out, e);
    git_odb_object_free(object);
    return rc;
}

enum err_code blob_open(const char *objects, const char *hex, struct span *out, struct err *e)
{
    git_odb *odb = NULL;
    enum err_code rc = gitlib_ready() ? loose_guard_open(objects, &odb, e) : err_nomem(e);

    if (!rc)
        rc = read_blob(odb, hex, out, e);
    git_odb_free(odb);
    return rc;
}
