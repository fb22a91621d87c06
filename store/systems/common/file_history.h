#ifndef STORE_SYSTEMS_COMMON_FILE_HISTORY_H
#define STORE_SYSTEMS_COMMON_FILE_HISTORY_H

#include "store/api/store.h"
#include "store/systems/common/saved_states.h"

/* The prompts of a session and the states that its files had between them (saved_states.h), for agents that number
 * their turns: what a reader of such a log collects, and the checkpoints and plans that follow from it. */

struct file_point {
    struct slice id, prompt;
    int64_t time_ms;
    /* -1: its turn was not recorded, and `no_turn` is the reason why it cannot be rewound to */
    int64_t turn;
};

/* A zeroed struct with a ref is an empty history; readers embed it as their first member. */
struct file_history {
    const struct session_ref *ref;
    struct saved_states states; /* its arena owns all texts */
    const char *cwd;            /* NULL: not recorded */
    const char *no_turn;
    struct file_point *point; /* in the order of the log */
    size_t n;
};

/* The path of a file that the log names, in the arena, without the links below the directory that lead to it; NULL: no
 * path, or out of memory. */
const char *file_history_path(struct file_history *h, struct slice name);
/* Adds a prompt; its texts are copied. */
MUST_CHECK enum err_code file_history_point(struct file_history *h, struct file_point point,
                                            struct err *e);
/* Adds a shell command that ran in dir (NULL: the session's directory). */
MUST_CHECK enum err_code file_history_shell(struct file_history *h, int64_t time_ms,
                                            struct slice command, const char *dir, struct err *e);

/* store_ops.checkpoints and .plan, from a history that was read; both empty it. Points are those of the present
 * conversation. root: the directory of the session, or NULL. */
MUST_CHECK enum err_code file_history_checkpoints(struct file_history *h,
                                                  struct checkpoint_list *out, struct err *e);
MUST_CHECK enum err_code file_history_plan(struct file_history *h, struct slice point,
                                           const char *root, struct rewind_plan *out,
                                           struct err *e);

#endif
