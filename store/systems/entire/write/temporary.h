#ifndef STORE_SYSTEMS_ENTIRE_WRITE_TEMPORARY_H
#define STORE_SYSTEMS_ENTIRE_WRITE_TEMPORARY_H

#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"

/* Writing a temporary checkpoint (docs/formats/entire.md 2.5): a commit of the present work tree on the shadow branch,
 * next to those of other sessions. Nothing is written into the work tree, the index, or any branch of the user. */
struct temporary_task {
    struct slice tool_use;   /* the id of the tool use, which names the checkpoint */
    struct slice agent;      /* the id of the sub-agent; may be empty */
    struct slice row;        /* the row of the session that has the task's result; may be empty */
    struct slice transcript; /* the sub-agent's transcript; may be empty */
};

struct temporary_request {
    /* Absolute paths of what the session changed. The first checkpoint of a session also contains everything else that
     * git considers changed. */
    const char *const *file;
    size_t files;
    struct slice prompt;  /* the prompt of the turn; may be empty */
    struct slice subject; /* the commit's subject; empty: made from the prompt, as Entire does */
    /* NULL: the end of a turn. Otherwise the end of a sub-agent's task: only its files are
     * included, and the checkpoint is not one that a commit condenses. */
    const struct temporary_task *task;
};

struct temporary {
    git_oid commit;            /* the tip, if nothing has changed since then */
    bool made;                 /* false: the tree is the same, and no commit was made */
    struct names_list touched; /* the files that were examined, relative to the root */
};

/* The session must have a state. If HEAD moved since the last checkpoint (stash, pull, apply), the shadow branch is
 * renamed for the new commit first. The branch moves by compare-and-swap, with a few retries if another session was
 * faster; then the state is updated. ERR_STALE: all retries failed. */
MUST_CHECK enum err_code temporary_write(struct view *v, const struct temporary_request *req,
                                         struct temporary *out, struct err *e);

/* Adds the files of a request, relative to the root. ERR_UNSAFE: one of them is not a file of the work tree. */
MUST_CHECK enum err_code temporary_names(const struct view *v, const struct temporary_request *req,
                                         struct names_list *l, struct err *e);
/* The checkpoint.json of a task, as in a shadow commit (without a final newline) or in a committed
 * checkpoint. */
MUST_CHECK enum err_code temporary_task_document(const struct temporary_task *task,
                                                 struct slice session, bool committed,
                                                 struct buf *out);
/* The subject of a task's commit, in the arena. prompt: its description; may be empty. */
struct slice temporary_task_subject(const struct temporary_task *task, struct slice prompt,
                                    struct arena *a);
/* "Please add a login function?" becomes "Add a login function"; in the arena. */
struct slice temporary_subject(struct slice prompt, struct arena *a);

/* ---- collecting a task (temporary.c) ---- */

/* What the checkpoint of a sub-agent's task contains besides files (docs/formats/entire.md 2.5):
 * the row of the session at which the task ended, and the sub-agent's transcript, both from the
 * agent's files if they are on this machine. */
struct collected_task {
    struct temporary_task task; /* texts in the arena, or the caller's */
    struct buf transcript;
};

/* ERR_USAGE: not an id of a tool or an agent. Free with task_collected_fini. */
MUST_CHECK enum err_code task_collect(const struct session_ref *ref, struct slice tool_use,
                                      struct slice agent, struct arena *a,
                                      struct collected_task *out, struct err *e);
void task_collected_fini(struct collected_task *t);

#endif
