#include "tui/term/watch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

void watch_init(struct watch *w)
{
    *w = (struct watch){
        .fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK),
        .changed_ms = TIME_NONE,
        .reported_ms = TIME_NONE,
    };
}

void watch_fini(struct watch *w)
{
    if (w->fd >= 0)
        close(w->fd);
    for (size_t i = 0; i < w->roots; i++)
        free(w->root[i].path);
    *w = (struct watch){ .fd = -1 };
}

/* Returns inotify's number, or -1 if the folder is gone or unreadable or no watches are left; it is then not watched. */
static int add_watch(const struct watch *w, const char *path)
{
    return w->fd < 0 ? -1
                     : inotify_add_watch(w->fd, path,
                                         IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                                             IN_MODIFY | IN_ONLYDIR | IN_EXCL_UNLINK);
}

void watch_root(struct watch *w, const char *path)
{
    struct watch_root *root = &w->root[w->roots];

    if (w->roots == WATCH_ROOTS_MAX)
        return;
    *root = (struct watch_root){ .id = add_watch(w, path), .path = strdup(path) };
    if (root->id >= 0 && root->path)
        w->roots++;
    else
        free(root->path);
}

/* The folder part of a path. Returns false if it has none. */
static bool parent_folder(struct slice path, char out[PATH_MAX])
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
    char last[PATH_MAX] = "", folder[PATH_MAX];

    /* Sessions of one folder follow each other, so one comparison saves most calls. */
    for (size_t i = 0; i < n; i++) {
        if (!parent_folder(ref[i].path, folder) || strcmp(folder, last) == 0)
            continue;
        memcpy(last, folder, sizeof last);
        add_watch(w, folder);
    }
}

/* A folder that appeared in a root is watched: sessions will be written there. */
static void handle_watch_event(const struct watch *w, const struct inotify_event *ev)
{
    char path[PATH_MAX];

    if (!(ev->mask & IN_ISDIR) || !(ev->mask & (IN_CREATE | IN_MOVED_TO)) || ev->len == 0)
        return;
    for (size_t i = 0; i < w->roots; i++)
        if (w->root[i].id == ev->wd &&
            snprintf(path, sizeof path, "%s/%s", w->root[i].path, ev->name) < (int)sizeof path)
            add_watch(w, path);
}

void watch_read(struct watch *w, int64_t now_ms)
{
    union {
        struct inotify_event event; /* for its alignment */
        char bytes[4096];
    } read_in;
    ssize_t n;

    while ((n = read(w->fd, read_in.bytes, sizeof read_in.bytes)) > 0) {
        if (w->changed_ms == TIME_NONE)
            w->changed_ms = now_ms;
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *ev = (const void *)(read_in.bytes + at);

            handle_watch_event(w, ev);
            at += (ssize_t)(sizeof *ev + ev->len);
        }
    }
}

int64_t watch_due_ms(const struct watch *w)
{
    if (w->changed_ms == TIME_NONE)
        return TIME_NONE;
    int64_t quiet = w->changed_ms + WATCH_QUIET_MS;
    int64_t rested = w->reported_ms == TIME_NONE ? quiet : w->reported_ms + WATCH_EVERY_MS;

    return quiet > rested ? quiet : rested;
}

void watch_reported(struct watch *w, int64_t now_ms)
{
    w->changed_ms = TIME_NONE;
    w->reported_ms = now_ms;
}
