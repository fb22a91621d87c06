#ifndef TUI_TERM_WATCH_H
#define TUI_TERM_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "store/api/session.h"
#include "store/fs/watch.h"

/* Notices when session files appear, grow or vanish (store/fs/watch.h). Many changes are reported
 * as one: not before WATCH_QUIET_MS after the first, and at most once in WATCH_EVERY_MS. When the
 * system has no watches left, further folders are not watched. */
enum { WATCH_QUIET_MS = 150, WATCH_EVERY_MS = 1000 };

struct watch {
    int fd;                 /* readable after a change; -1 if nothing is watched */
    int64_t changed_ms;     /* the first change not yet reported, or TIME_NONE */
    int64_t reported_ms;    /* the last report, or TIME_NONE */
    struct fs_watch *files; /* NULL if nothing can be watched */
};

void watch_init(struct watch *w);
void watch_fini(struct watch *w);
/* Watches the folder of each session. */
void watch_sessions(struct watch *w, const struct session_ref *ref, size_t n);
/* Watches a folder in which folders of sessions appear; each new folder is watched as well. */
void watch_root(struct watch *w, const char *path);
/* Reads the events when the descriptor is readable. */
void watch_read(struct watch *w, int64_t now_ms);
/* The time at which a change is to be reported, or TIME_NONE. */
int64_t watch_due_ms(const struct watch *w);
/* Notes that the change was reported. */
void watch_mark_reported(struct watch *w, int64_t now_ms);

#endif
