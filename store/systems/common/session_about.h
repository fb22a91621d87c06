#ifndef STORE_SYSTEMS_COMMON_SESSION_ABOUT_H
#define STORE_SYSTEMS_COMMON_SESSION_ABOUT_H

#include <stddef.h>

#include "store/systems/common/jsonl.h"

/* What an agent records about a session outside of its log, as a table: the JSON document beside the log, where its
 * members go in a list's row, the sums of tokens in it, and which sessions are listed. A system sets jsonl_format.about
 * instead of `complete`. Paths and conditions are those of row_table.h. */

/* A member of the document: ABOUT(cwd, "environment.directory"). Times are ISO 8601. */
struct about_member {
    size_t field; /* the offset of a member in struct session_row */
    const char *path;
    bool time;
};
#define ABOUT(field, path)                                                                         \
    {                                                                                              \
        offsetof(struct session_row, field), path, false                                           \
    }
#define ABOUT_TIME(field, path)                                                                    \
    {                                                                                              \
        offsetof(struct session_row, field), path, true                                            \
    }
enum { ABOUT_MEMBERS = 12 };

struct session_about {
    /* The document: a file in the session's directory ("meta.json"), or beside the log and named after it. */
    const char *file, *suffix;
    size_t most; /* bytes; a larger document is not read */
    struct about_member member[ABOUT_MEMBERS];
    const char *ai_title, *archived; /* conditions; `archived` says that the agent records it */
    bool required;                   /* the agent lists only sessions with a document */
    bool needs_prompt;               /* the agent does not list sessions that only have a title */
    /* Completes the row with what the members do not say; `document` is empty if the session has no such file. May hide the row. */
    void (*complete)(const struct scope *scope, struct slice document, struct session_row *row,
                     struct arena *a);

    /* For session_about_usage: the sums of the session, as one answer at its end; `thinking` is added to the output.
     * Without `answer`, the answer has the session's id; without `end`, the time is that of the log. */
    const char *input, *output, *thinking, *cache_read, *cache_write, *answer, *model, *end;
};

/* For jsonl_describe, as jsonl_format.complete. */
MUST_CHECK enum err_code session_about_complete(const struct store *st, const struct scope *scope,
                                                struct session_row *row, struct arena *a,
                                                struct err *e);
/* Also those of the sub-agents, if the store has the member `subagents`. */
store_usage_fn session_about_usage;

#endif
