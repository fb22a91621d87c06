#ifndef STORE_SYSTEMS_CODEX_CHANGES_H
#define STORE_SYSTEMS_CODEX_CHANGES_H

#include "store/api/store.h"

/* The changes of a thread to files, as recorded in its logs: patches, and the fact that commands
 * ran. Reverted turns are included, because they did change files, but their prompts are not
 * points. */
enum codex_change_kind {
    CODEX_ADDED,   /* text: the whole file */
    CODEX_DELETED, /* text: the whole file */
    CODEX_UPDATED, /* text: a unified diff */
    CODEX_LEFT,    /* moved away to `other`, with a diff */
    CODEX_ARRIVED, /* moved here from `other`, with a diff */
    CODEX_UNSURE,  /* part of a patch that failed: it may have been done */
};

struct codex_change {
    enum codex_change_kind kind;
    const char *path, *other; /* absolute, lexically clean */
    struct slice text;
    size_t at; /* its line */
    int64_t time_ms;
    struct slice call; /* the id of its row */
    bool inherited;    /* the line belongs to the thread that this one was forked from */
};

struct codex_point {
    struct slice id, text;
    int64_t time_ms;
    size_t at;
};

/* A command that may have changed files. */
struct codex_command {
    struct slice text; /* for the shell; empty: not known, so it may have done anything */
    const char *dir;   /* where it ran; NULL: not known */
    size_t at;
};

/* A file that a command read, and that therefore existed. */
struct codex_seen {
    const char *path;
    size_t at;
    bool whole; /* the command printed all of it */
    struct slice text;
};

struct codex_changes {
    struct arena arena;
    struct codex_change *change; /* in the order of the logs, as are all of these */
    size_t changes;
    struct codex_point *point;
    size_t points;
    size_t *prompt; /* lines with a prompt, also of those that are no point */
    size_t prompts;
    struct codex_command *command;
    size_t commands;
    struct codex_seen *seen;
    size_t seen_n;
    int64_t *line_ms; /* of each line, never before that of the line above */
    size_t lines;
    const char *cwd;     /* NULL: not known */
    struct slice commit; /* of the repository when the thread began, in hex; empty: not known */
    /* the ids of its sub-agents, whose changes are in separate logs */
    struct slice *agent;
    size_t agents;
    /* an old log, which contains the agent's calls but not the changes to files */
    bool calls_only;
};

/* With `dropped`, the prompts of reverted turns are points as well. */
MUST_CHECK enum err_code codex_changes_read(const struct store *st, const struct session_ref *ref,
                                            bool dropped, struct codex_changes *out, struct err *e);
/* Merges the changes of the thread's sub-agents into its own, in order of time, and renumbers the
 * lines. */
MUST_CHECK enum err_code codex_changes_add_agents(const struct store *st,
                                                  const struct session_ref *ref,
                                                  struct codex_changes *c, struct err *e);
void codex_changes_fini(struct codex_changes *c);

/* The commit on which a thread began, in the repository of its directory. It contains the modes of
 * files, which patches do not record, and the files that patches replaced. Both members are NULL if
 * the commit is not known or cannot be read. */
struct codex_commit {
    struct git_repository *repo;
    struct git_tree *tree;
};
void codex_commit_open(const struct codex_changes *c, struct codex_commit *out);
void codex_commit_close(struct codex_commit *c);
/* The file's mode in git; 0 if the commit does not contain the file. */
unsigned codex_commit_mode(const struct codex_commit *c, const char *path);

/* The file's bytes in it. ERR_NOT_FOUND: it has none. ERR_UNSUPPORTED: git converts them. */
MUST_CHECK enum err_code codex_commit_text(const struct codex_commit *c, const char *path,
                                           size_t max, struct buf *out);

/* Returns whether a command on these lines may have changed the file; with NULL, whether there is one. */
bool codex_commands_between(const struct codex_changes *c, size_t from, size_t to,
                            const char *path);
/* Whether one may have removed the file, which did not exist afterwards. */
bool codex_removals_between(const struct codex_changes *c, size_t from, size_t to,
                            const char *path);

#endif
