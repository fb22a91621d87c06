#ifndef STORE_SYSTEMS_COPILOT_SNAPSHOTS_H
#define STORE_SYSTEMS_COPILOT_SNAPSHOTS_H

#include "store/api/store.h"

/* rewind-file-snapshots/index.json contains, for each turn that changed files, their state before
 * (with a copy of the bytes in backups/) and after it (only the hash), whether a tool or a shell
 * command changed them. A rewind to a turn therefore restores, for each path, the earliest "before"
 * state of that turn or a later one. */
enum copilot_was {
    COPILOT_CONTENT,
    COPILOT_ABSENT,
    COPILOT_UNKNOWN, /* not captured, or of a kind that this reader does not know */
};

struct copilot_state {
    enum copilot_was was;
    const char *hash;   /* 64 hex digits; NULL if unknown */
    const char *backup; /* absolute path of the copy, or NULL */
    uint32_t mode;      /* with the type of the file; 0: unknown */
};

struct copilot_file {
    const char *path; /* absolute, lexically clean */
    struct copilot_state before, after;
};

struct copilot_snapshot {
    /* the prompt of the turn, which the program's own rewind may have removed */
    struct slice event;
    int64_t time_ms;
    struct copilot_file *file;
    size_t n;
};

struct copilot_snapshots {
    struct arena arena;
    struct copilot_snapshot *snapshot; /* oldest first */
    size_t n;
    const char *why; /* the reason why the index cannot be used, a literal; else NULL */
};

/* The snapshots of a session; none if it has no directory. */
MUST_CHECK enum err_code copilot_snapshots_read(const struct session_ref *ref,
                                                struct copilot_snapshots *out, struct err *e);
void copilot_snapshots_fini(struct copilot_snapshots *s);

#endif
