#include "tui/term/term.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"

void watch_init(struct watch *w)
{
    *w = (struct watch){
        .files = fs_watch_new(), .fd = -1, .changed_ms = TIME_NONE, .reported_ms = TIME_NONE
    };
    if (w->files)
        w->fd = fs_watch_fd(w->files);
}

void watch_fini(struct watch *w)
{
    fs_watch_free(w->files);
    *w = (struct watch){ .fd = -1 };
}

void watch_root(struct watch *w, const char *path)
{
    if (w->files)
        (void)fs_watch_add(w->files, path, true); /* one that cannot be watched is not */
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

/* Before the first change, there is no log: the nearest folder above it is watched until it appears. */
void watch_log(struct watch *w, const char *path)
{
    char above[PATH_MAX];

    (void)snprintf(w->log, sizeof w->log, "%s", path);
    w->awaits_log = w->files && !fs_watch_add(w->files, path, true);
    for (bool done = !w->awaits_log; !done && parent_folder(slice_of(path), above); path = above)
        done = fs_watch_add(w->files, above, false);
}

bool watch_log_grew(struct watch *w, int64_t now_ms)
{
    struct stat st;

    if (w->awaits_log && w->files && fs_watch_add(w->files, w->log, true))
        w->awaits_log = false;
    return w->log[0] && stat(w->log, &st) == 0 &&
           now_ms - time_ns(st.st_mtim) / 1000000 < WATCH_LOG_MS;
}

void watch_sessions(struct watch *w, const struct session_ref *ref, size_t n)
{
    char last[PATH_MAX] = "", folder[PATH_MAX];

    /* Sessions of one folder follow each other, so one comparison saves most calls. */
    for (size_t i = 0; i < n; i++) {
        if (!parent_folder(ref[i].path, folder) || strcmp(folder, last) == 0)
            continue;
        memcpy(last, folder, sizeof last);
        if (w->files)
            (void)fs_watch_add(w->files, folder, false);
    }
}

void watch_read(struct watch *w, int64_t now_ms)
{
    if (w->files && fs_watch_read(w->files) && w->changed_ms == TIME_NONE)
        w->changed_ms = now_ms;
}

int64_t watch_due_ms(const struct watch *w, bool follows)
{
    if (w->changed_ms == TIME_NONE)
        return TIME_NONE;
    int64_t quiet = w->changed_ms + (follows ? WATCH_FOLLOW_MS : WATCH_QUIET_MS);
    int64_t every = follows ? WATCH_FOLLOW_EVERY_MS : WATCH_EVERY_MS;
    int64_t rested = w->reported_ms == TIME_NONE ? quiet : w->reported_ms + every;

    return quiet > rested ? quiet : rested;
}

void watch_mark_reported(struct watch *w, int64_t now_ms)
{
    w->changed_ms = TIME_NONE;
    w->reported_ms = now_ms;
}
