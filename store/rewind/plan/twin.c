#include "store/rewind/plan/plan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "lite/io/file.h"

enum { ENTRIES_MAX = 20000, DEPTH_MAX = 32 };

struct search {
    struct slice text;
    dev_t dev; /* the device of the file that has no twin yet, if it exists */
    ino_t ino;
    size_t entries;
    bool found;
    struct buf bytes;
};

/* What cannot be read may be the twin. */
static void twin_look_in(struct search *s, int fd, size_t depth)
{
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    struct stat st;

    if (!d && fd >= 0)
        close(fd);
    s->found |= !d || depth > DEPTH_MAX;
    while (d && !s->found && (errno = 0, entry = readdir(d))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            strcmp(entry->d_name, ".git") == 0)
            continue;

        if (++s->entries > ENTRIES_MAX || fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
            s->found = true;
        else if (S_ISREG(st.st_mode)) {
            if ((st.st_dev == s->dev && st.st_ino == s->ino) || (size_t)st.st_size != s->text.n)
                continue;
            s->bytes.n = 0;
            s->found =
                file_read_all(fd, entry->d_name, 0, s->text.n + 1, &s->bytes, NULL) != ERR_OK ||
                slice_eq(buf_slice(&s->bytes), s->text);
        } else if (S_ISDIR(st.st_mode))
            twin_look_in(s,
                         openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                         depth + 1);
    }
    s->found |= d && errno;
    if (d)
        closedir(d);
}

bool twin_may_exist(const char *root, const char *path, struct slice text)
{
    struct search s = { .text = text };
    struct stat st;

    if (!root)
        return true;
    if (lstat(path, &st) == 0) {
        s.dev = st.st_dev;
        s.ino = st.st_ino;
    }
    twin_look_in(&s, open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0);
    buf_fini(&s.bytes);
    return s.found;
}
