#ifndef STORE_SYSTEMS_COMMON_PATCHES_PATCH_LOG_H
#define STORE_SYSTEMS_COMMON_PATCHES_PATCH_LOG_H

#include "store/api/store.h"

/* The changes of a session to files, as its log records them: patches, and the fact that commands
 * ran. Reverted turns are included, because they did change files, but their prompts are not
 * points. */
enum patch_kind {
    PATCH_ADDED,   /* text: the whole file */
    PATCH_DELETED, /* text: the whole file */
    PATCH_UPDATED, /* text: a unified diff */
    PATCH_LEFT,    /* moved away to `other`, with a diff */
    PATCH_ARRIVED, /* moved here from `other`, with a diff */
    PATCH_UNSURE,  /* it may have been done, in part or not at all, or is not recorded whole */
};

struct patch_change {
    enum patch_kind kind;
    const char *path, *other; /* absolute, lexically clean */
    struct slice text;
    const char *why; /* with PATCH_UNSURE: the reason; static */
    size_t at;       /* its line */
    int64_t time_ms;
    int64_t begin_ms, end_ms; /* when the patch was at work; TIME_NONE: not recorded */
    struct slice call;        /* the id of its row */
    bool inherited;           /* the line belongs to the session that this one was forked from */
};

struct patch_point {
    struct slice id, text;
    int64_t time_ms;
    size_t at;
};

/* A command that may have changed files. */
struct patch_command {
    struct slice text; /* for the shell; empty: not known, so it may have done anything */
    const char *dir;   /* where it ran; NULL: not known */
    size_t at;
};

/* A file that a command read, and that therefore existed, or tried to read. */
struct patch_seen {
    const char *path;
    size_t at;
    bool gone;  /* there was none */
    bool whole; /* the command printed all of it */
    struct slice text;
};

/* All of the output of a command that may have listed files. */
struct patch_listing {
    struct slice command, output;
    const char *dir;
    size_t at;
};

struct patch_log {
    struct arena arena;
    struct patch_change *change; /* in the order of the logs, as are all of these */
    size_t changes;
    struct patch_point *point;
    size_t points;
    size_t *prompt; /* lines with a prompt, also of those that are no point */
    size_t prompts;
    struct patch_command *command;
    size_t commands;
    struct patch_seen *seen;
    size_t seen_n;
    struct patch_listing *listing;
    size_t listings;
    int64_t *line_ms; /* the time of each line, never before that of the line above */
    size_t lines;
    size_t copied_at, copied_end; /* the lines of the session that this one was forked from */
    const char *cwd;              /* NULL: not known */
    /* the commit of the repository when the session began, in hex; empty: not known */
    struct slice commit;
    /* the ids of its sub-agents, whose changes are in separate logs */
    struct slice *agent;
    size_t agents;
    /* an old log, which contains the agent's calls but not the changes to files */
    bool calls_only;
    /* The agent reads files as UTF-8 and writes them anew: what was not UTF-8 is U+FFFD afterwards, also in lines that no
     * patch shows. */
    bool lossy;
    /* Patches have LF for every line end, and the agent may have changed those of other lines, too. */
    bool lf_only;
};

void patch_log_fini(struct patch_log *c);

/* For readers of logs: these append, with copies of the texts. Out of memory, the arena has failed. A command that only
 * reads is left out. A point is a prompt, too. */
void patch_log_add_change(struct patch_log *c, const struct patch_change *x);
void patch_log_add_command(struct patch_log *c, struct slice text, const char *dir, size_t at);
void patch_log_add_seen(struct patch_log *c, const struct patch_seen *x);
void patch_log_add_point(struct patch_log *c, const struct patch_point *x);
/* A patch without the lines that name the file. */
struct slice patch_hunks(struct slice patch);

/* Drops the points whose prompts are not in the conversation that `load` returns: those of turns that were undone, and of
 * other branches. */
MUST_CHECK enum err_code patch_log_drop_points(struct patch_log *c, const struct store *st,
                                               const struct session_ref *ref, store_load_fn *load,
                                               struct err *e);

/* The points of a log, and the plan of a rewind to one of them (patch_plan.c). They take the log over, which is empty
 * afterwards. agent: its name for people. */
MUST_CHECK enum err_code patch_log_checkpoints(struct patch_log *log, struct checkpoint_list *out,
                                               struct err *e);
MUST_CHECK enum err_code patch_log_plan(struct patch_log *log, const struct session_ref *ref,
                                        const char *agent, struct slice point,
                                        struct rewind_plan *out, struct err *e);

/* The commit on which a session began, in the repository of its directory. It contains the modes of
 * files, which patches do not record, and the files that patches replaced. Both members are NULL if
 * the commit is not known or cannot be read. */
struct patch_commit {
    struct git_repository *repo;
    struct git_tree *tree;
};
void patch_commit_open(const struct patch_log *c, struct patch_commit *out);
void patch_commit_close(struct patch_commit *c);
/* The file's mode in git; 0 if the commit does not contain the file. */
unsigned patch_commit_mode(const struct patch_commit *c, const char *path);

/* The file's bytes in it. ERR_NOT_FOUND: it has none. ERR_UNSUPPORTED: git converts them. */
MUST_CHECK enum err_code patch_commit_text(const struct patch_commit *c, const char *path,
                                           size_t max, struct buf *out);

/* Returns whether a command on these lines may have changed the file; with NULL, whether there is one. */
bool patch_commands_between(const struct patch_log *c, size_t from, size_t to, const char *path);
/* What a command on these lines last showed of a file, unless a later one may have changed it: that there was none. */
bool patch_shows_free(const struct patch_log *c, size_t from, size_t to, const char *path);
/* Whether one may have removed the file, which did not exist afterwards. */
bool patch_removals_between(const struct patch_log *c, size_t from, size_t to, const char *path);

/* ---- what files contained (patch_infer.c) ---- */

/* These agents keep no copies of files, but patches record what they found: the whole text of a
 * deleted file, the absence of an added file, and for other files the replaced lines. So the state
 * of a file at a point is inferred, from two sides:
 *
 *   what came before   the text of an added file, or of the commit on which the session began, and the patches up to the point
 *   what came after    the text of a deleted file, or the present file; the patches since are taken out of it, each exactly
 *                      where it was
 *
 * If both sides give the same text, only the patches changed the file, and its state is proven. One
 * side alone does not exclude that the file was changed between two prompts by a person, or by a
 * command, whose changes are not recorded. Then the file is held back, unless all relevant changes
 * were made within the turn. */

struct patch_state {
    bool known, absent;
    /* a command that may have changed it ran on the way */
    bool passed;
    /* the text begins with that of the commit, which need not be what the thread found */
    bool from_commit;
    struct slice text;
};

struct patch_inference {
    const struct patch_log *c;
    struct patch_commit commit;
    struct arena *arena; /* for the texts */
    size_t from;         /* the line of the point */
};

struct patch_before {
    struct patch_state state;
    bool seen;         /* the present file is part of the proof */
    bool was_free;     /* for an addition: something else shows that it did not replace a file */
    const char *why;   /* why it is not known */
    bool is_late;      /* a later turn found it so */
    const char *doubt; /* why it may have been different; NULL: no doubt */
};

/* The state of a file before change i, its first one since the point. */
MUST_CHECK enum err_code patch_infer_before(struct patch_inference *p, size_t i,
                                            struct patch_before *out, struct err *e);
/* The state after the changes of a file from i on; `before` is the state before them. After a command that may have
 * changed the file, it is known only if the present file is in it. */
MUST_CHECK enum err_code patch_infer_last(struct patch_inference *p, size_t i,
                                          struct patch_state before, struct patch_state *out,
                                          struct err *e);
/* The present file; not known if it cannot be read. */
MUST_CHECK enum err_code patch_infer_present(struct patch_inference *p, const char *path,
                                             struct patch_state *out, struct err *e);
/* Returns whether the present file is the later state of the file that change i moved there. */
MUST_CHECK enum err_code patch_infer_is_moved(struct patch_inference *p, size_t i, bool *out,
                                              struct err *e);

#endif
