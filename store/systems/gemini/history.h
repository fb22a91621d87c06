#ifndef STORE_SYSTEMS_GEMINI_HISTORY_H
#define STORE_SYSTEMS_GEMINI_HISTORY_H

#include "store/systems/gemini/gemini.h"

/* The changes of a session and its sub-agents to files. Each edit of a tool is recorded with the
 * whole text before and after it. The program's own rewind drops turns but does not undo their
 * work, so their edits are included at their position in the log. */

struct gemini_edit {
    const char *path; /* absolute, lexically clean */
    struct slice before, after;
    bool is_new, known; /* not known: the record has no whole text */
    bool is_exact;      /* `before` has the line ends of the file; otherwise line feeds only */
    size_t at;          /* number of its (or its sub-agent's) message among all ever written */
    int64_t time_ms;
};

/* A command of the shell that may have changed files. */
struct gemini_shell {
    struct slice command; /* empty: not known */
    size_t at;
    int64_t time_ms;
};

struct gemini_history {
    struct gemini_chat chat;
    struct arena arena;
    struct gemini_edit *edit; /* in the order in which they were done */
    size_t edits;
    struct gemini_shell *shell;
    size_t shells;
    const char *cwd; /* NULL: not known */
};

MUST_CHECK enum err_code gemini_history_read(const struct store *st, const struct session_ref *ref,
                                             struct gemini_history *out, struct err *e);
void gemini_history_fini(struct gemini_history *h);
/* The number of a message among all that were ever written; the number of all if the id is unknown. */
size_t gemini_history_place(const struct gemini_history *h, struct slice id);
/* Returns true if a command ran in a message from `from` to before `to`. */
bool gemini_history_shell(const struct gemini_history *h, size_t from, size_t to);
/* Returns true if such a command could have changed the file before the edit. */
bool gemini_history_shell_before(const struct gemini_history *h, size_t from,
                                 const struct gemini_edit *edit);
/* Returns true if the program's own rewind may have reverted this edit between two messages. */
bool gemini_history_rewound(const struct gemini_history *h, const struct gemini_edit *edit,
                            size_t from, size_t to);
/* Returns true if a command from `from` on could have changed the permissions of the file. */
bool gemini_history_chmod(const struct gemini_history *h, size_t from, const char *path);

#endif
