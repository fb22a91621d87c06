#ifndef TUI_TERM_WATCH_H
#define TUI_TERM_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "store/api/session.h"

/* Notices when session files appear, grow or vanish (inotify on their folders). Many changes are told as one:
 * not before WATCH_QUIET_MS after the first, and not more often than every WATCH_EVERY_MS. Where the system
 * has no more watches to give, those folders are not watched. */
enum { WATCH_QUIET_MS = 150, WATCH_EVERY_MS = 1000, WATCH_ROOTS_MAX = 32 };

struct watch_root {
    int id;     /* inotify's */
    char *path; /* owned */
};

struct watch {
    int fd;             /* readable after a change; -1: nothing is watched */
    int64_t changed_ms; /* when the first change came that was not told; TIME_NONE: none */
    int64_t told_ms;
    struct watch_root root[WATCH_ROOTS_MAX];
    size_t roots;
};

void watch_init(struct watch *w);
void watch_fini(struct watch *w);
/* Watches the folder of each session. */
void watch_sessions(struct watch *w, const struct session_ref *ref, size_t n);
/* Watches where folders with sessions appear: a new one is watched from then on. */
void watch_root(struct watch *w, const char *path);
/* Reads what happened; the descriptor was readable. */
void watch_read(struct watch *w, int64_t now_ms);
/* When a change wants to be told; TIME_NONE: there is none. */
int64_t watch_due_ms(const struct watch *w);
/* It was told. */
void watch_reported(struct watch *w, int64_t now_ms);

#endif
