#ifndef STORE_SYSTEMS_CODEX_CHANGES_H
#define STORE_SYSTEMS_CODEX_CHANGES_H

#include "store/api/store.h"

/* What a thread did to files, as far as its logs record it: patches, and that commands ran. Turns that were reverted
 * were done all the same, so they are here; a prompt of theirs is no point. */
enum codex_change_kind {
    CODEX_ADDED,   /* text: the whole file */
    CODEX_DELETED, /* text: the whole file */
    CODEX_UPDATED, /* text: a unified diff */
    CODEX_LEFT,    /* moved away to `other`, with a diff */
    CODEX_ARRIVED, /* moved here from `other`, with a diff */
};

struct codex_change {
    enum codex_change_kind kind;
    const char *path, *other; /* absolute, lexically clean */
    struct slice text;
    size_t at; /* its line */
    int64_t time_ms;
    struct slice call; /* the id of its row */
    bool inherited;    /* the line is one of the thread that this one was forked from */
};

struct codex_point {
    struct slice id, text;
    int64_t time_ms;
    size_t at;
};

struct codex_changes {
    struct arena arena;
    struct codex_change *change; /* in the order of the logs, as are all of these */
    size_t changes;
    struct codex_point *point;
    size_t points;
    size_t *command; /* lines with a command that may have changed files */
    size_t commands;
    const char *cwd; /* NULL: not known */
};

/* dropped: the prompts of reverted turns are points, too. */
MUST_CHECK enum err_code codex_changes_read(const struct store *st, const struct session_ref *ref,
                                            bool dropped, struct codex_changes *out, struct err *e);
void codex_changes_fini(struct codex_changes *c);
bool codex_commands_between(const struct codex_changes *c, size_t from, size_t to);

#endif
