#ifndef STORE_SYSTEMS_EXATHENA_EDITS_H
#define STORE_SYSTEMS_EXATHENA_EDITS_H

#include "store/api/store.h"

/* The prompts of a log, and the file writes of its tools. A tool's result may contain the file
 * before and after (`edit` always, `write` since v0.12.2); for other writes only the path is
 * known. */
struct tool_history_prompt {
    struct slice id, text;
    size_t line;
    int64_t time_ms;
};

struct tool_history_write {
    const char *path; /* absolute, lexically clean */
    size_t line;
    int64_t at;                 /* offset of that line in the log, */
    uint32_t length;            /* and its length */
    bool known;                 /* before and after are recorded */
    struct slice before, after; /* filled in by tool_history_write_read */
};

struct tool_history {
    struct arena arena; /* owns everything */
    struct tool_history_prompt *prompt;
    size_t prompts;
    struct tool_history_write *write; /* in the order of the log */
    size_t writes;
    size_t *shell; /* lines with a call of a command */
    size_t shells;
};

MUST_CHECK enum err_code tool_history_read(const struct session_ref *ref, const char *project,
                                           struct tool_history *out, struct err *e);
void tool_history_fini(struct tool_history *s);

/* The last write of a path, and the first one on a line >= `from`; NULL if there is no such
 * write. */
const struct tool_history_write *tool_history_last_write(const struct tool_history *s,
                                                         const char *path);
const struct tool_history_write *tool_history_first_write(const struct tool_history *s,
                                                          const char *path, size_t from);
/* Fills in before and after of a known write; they are in the arena. */
MUST_CHECK enum err_code tool_history_write_read(const struct session_ref *ref, const char *project,
                                                 struct tool_history_write *w, struct arena *a,
                                                 struct err *e);

#endif
