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
    CODEX_UNSURE,  /* part of a patch that failed on the way: it may have been done */
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

/* A file that a command read: it was there. */
struct codex_seen {
    const char *path;
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
    struct codex_seen *seen;
    size_t seen_n;
    int64_t *line_ms; /* of each line, never before that of the line above */
    size_t lines;
    const char *cwd;     /* NULL: not known */
    struct slice commit; /* of the repository when the thread began, in hex; empty: not known */
    /* the ids of sub-agents that worked for it: their changes are in logs of their own */
    struct slice *agent;
    size_t agents;
    /* an old log: what was done to files is not in it, only what the agent called */
    bool calls_only;
};

/* dropped: the prompts of reverted turns are points, too. */
MUST_CHECK enum err_code codex_changes_read(const struct store *st, const struct session_ref *ref,
                                            bool dropped, struct codex_changes *out, struct err *e);
/* Puts what the thread's sub-agents did between its own changes, in the order of time. Lines are counted anew. */
MUST_CHECK enum err_code codex_changes_add_agents(const struct store *st,
                                                  const struct session_ref *ref,
                                                  struct codex_changes *c, struct err *e);
void codex_changes_fini(struct codex_changes *c);

/* The commit on which a thread began, in the repository of its directory: it has the modes of files, which no patch records,
 * and files that a patch replaced. Both members are NULL if the commit
 * is not known or cannot be read. */
struct codex_commit {
    struct git_repository *repo;
    struct git_tree *tree;
};
void codex_commit_open(const struct codex_changes *c, struct codex_commit *out);
void codex_commit_close(struct codex_commit *c);
/* The file's mode as git has it, 0 if it is not there. */
unsigned codex_commit_mode(const struct codex_commit *c, const char *path);

bool codex_commands_between(const struct codex_changes *c, size_t from, size_t to);

#endif
