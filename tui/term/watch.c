#include "tui/term/watch.h"

#include <limits.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

void watch_init(struct watch *w)
{
    *w = (struct watch){
        .fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK),
        .changed_ms = TIME_NONE,
        .told_ms = TIME_NONE,
    };
}

void watch_fini(struct watch *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
}

void watch_folder(struct watch *w, const char *path)
{
    const uint32_t mask = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY |
                          IN_ONLYDIR | IN_EXCL_UNLINK;

    if (w->fd < 0)
        return;
    int id = inotify_add_watch(w->fd, path, mask); /* of a folder watched already: the same one */

    (void)id; /* gone, unreadable, or no watches left: then it is not watched */
}

/* The folder part of a path; false for one without. */
static bool folder_of(struct slice path, char out[PATH_MAX])
{
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    size_t n = slash ? (size_t)(slash - path.p) : 0;

    if (n == 0 || n >= PATH_MAX)
        return false;
    memmove(out, path.p, n);
    out[n] = '\0';
    return true;
}

void watch_sessions(struct watch *w, const struct session_ref *ref, size_t n)
{
    char last[PATH_MAX] = "", folder[PATH_MAX], around[PATH_MAX];

    /* Sessions of one folder come one after the other, so one comparison saves most calls. */
    for (size_t i = 0; i < n; i++) {
        if (!folder_of(ref[i].path, folder) || strcmp(folder, last) == 0)
            continue;
        memcpy(last, folder, sizeof last);
        watch_folder(w, folder);
        if (folder_of((struct slice){ folder, strlen(folder) }, around))
            watch_folder(w, around);
    }
}

void watch_read(struct watch *w, int64_t now_ms)
{
    char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t n;

    while ((n = read(w->fd, events, sizeof events)) > 0)
        if (w->changed_ms == TIME_NONE)
            w->changed_ms = now_ms;
}

int64_t watch_due_ms(const struct watch *w)
{
    if (w->changed_ms == TIME_NONE)
        return TIME_NONE;
    int64_t quiet = w->changed_ms + WATCH_QUIET_MS;
    int64_t rested = w->told_ms == TIME_NONE ? quiet : w->told_ms + WATCH_EVERY_MS;

    return quiet > rested ? quiet : rested;
}

void watch_told(struct watch *w, int64_t now_ms)
{
    w->changed_ms = TIME_NONE;
    w->told_ms = now_ms;
}
