#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "store/fs/watch.h"

enum { DEEP_MAX = 32 };

struct deep {
    int id; /* inotify's */
    char *path;
};

struct fs_watch {
    int fd;
    struct deep deep[DEEP_MAX];
    size_t n;
};

struct fs_watch *fs_watch_new(void)
{
    struct fs_watch *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (w->fd >= 0)
        return w;
    free(w);
    return NULL;
}

void fs_watch_free(struct fs_watch *w)
{
    if (!w)
        return;
    close(w->fd);
    for (size_t i = 0; i < w->n; i++)
        free(w->deep[i].path);
    free(w);
}

int fs_watch_fd(const struct fs_watch *w)
{
    return w->fd;
}

bool fs_watch_add(struct fs_watch *w, const char *folder, bool deep)
{
    int id = inotify_add_watch(w->fd, folder,
                               IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY |
                                   IN_ONLYDIR | IN_EXCL_UNLINK);
    char *path = id >= 0 && deep && w->n < DEEP_MAX ? strdup(folder) : NULL;

    if (path)
        w->deep[w->n++] = (struct deep){ id, path };
    return id >= 0 && (!deep || path);
}

static void handle_event(struct fs_watch *w, const struct inotify_event *ev)
{
    char path[PATH_MAX];

    if (!(ev->mask & IN_ISDIR) || !(ev->mask & (IN_CREATE | IN_MOVED_TO)) || ev->len == 0)
        return;
    for (size_t i = 0; i < w->n; i++)
        if (w->deep[i].id == ev->wd &&
            snprintf(path, sizeof path, "%s/%s", w->deep[i].path, ev->name) < (int)sizeof path)
            (void)fs_watch_add(w, path, false);
}

bool fs_watch_read(struct fs_watch *w)
{
    union {
        struct inotify_event event; /* for its alignment */
        char bytes[4096];
    } in;
    bool changed = false;
    ssize_t n;

    while ((n = read(w->fd, in.bytes, sizeof in.bytes)) > 0) {
        changed = true;
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *ev = (const void *)(in.bytes + at);

            handle_event(w, ev);
            at += (ssize_t)(sizeof *ev + ev->len);
        }
    }
    return changed;
}
