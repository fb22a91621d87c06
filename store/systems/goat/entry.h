#ifndef STORE_SYSTEMS_GOAT_ENTRY_H
#define STORE_SYSTEMS_GOAT_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/json/jsonout.h"

/* One line of messages.jsonl or transcript.jsonl, whichever dialect wrote it (goat.md B2, B3). Values are raw and borrow
 * from the line; empty where there are none. */
enum goat_shape {
    GOAT_NOTHING, /* {} or an object that says none of what follows: kept, shown raw, not a message */
    GOAT_NESTED, /* {uuid, timestamp, message: {role, content, ...}} */
    GOAT_FLAT,   /* {uuid, timestamp, role, content, ...} */
    GOAT_STREAM, /* {uuid, session_id, type, ...}: the SDK's */
};

struct goat_entry {
    enum goat_shape shape;
    struct slice uuid, timestamp, type, subtype;
    struct slice message;       /* nested and stream: the object */
    struct slice role, content; /* wherever they stand */
    struct slice tool_calls, tool_call_id, name;
    bool odd_message; /* there is a member of that name, and it is no object */
};

/* The line is valid JSON and an object. */
void goat_entry_read(struct slice line, struct goat_entry *out);

/* What a Go program would pass the line over for when it loads the session: a member of a type that its structs do not
 * have there (C4, wrong JSON types). NULL: nothing. */
const char *goat_entry_fault(const struct goat_entry *e);

enum goat_role { GOAT_OTHER, GOAT_USER, GOAT_ASSISTANT, GOAT_TOOL, GOAT_SYSTEM };
enum goat_role goat_entry_role(const struct goat_entry *e);

/* What a message says in words: a text, the texts of its parts one below the other, or nothing. False without memory. */
bool goat_entry_text(const struct goat_entry *e, struct arena *a, struct slice *text);
/* Did the agent ask for a tool in it? */
bool goat_entry_calls(const struct goat_entry *e);

/* The top-level timestamp of a line, if there is one that means something. Also of a line that is cut. */
bool goat_line_time(struct slice line, int64_t *ms);

/* One line as the message that CLI.md `messages` answers; the line's own values pass through as they are written. */
void goat_message_write(struct jsonout *j, struct slice line, const struct goat_entry *e,
                        struct slice session);

/* A row of a host, checked and written as the package itself would write it (goat.md B2, B3, B7). */

/* ERR_USAGE: a row that is no message (no event of the stream), or one that a Go program would pass over when it
 * loads the session, because a member is not of the type that its structs have. */
MUST_CHECK enum err_code goat_hostrow_check(const struct goat_entry *entry, bool stream,
                                            struct err *e);

/* A message: its id and time in front, then wrapped or flat what is said, in the order of the structs; what else the
 * host wrote follows. uuid and time are JSON values. ERR_NOMEM only, as below. */
MUST_CHECK enum err_code goat_hostrow_message(struct slice row, const struct goat_entry *entry,
                                              bool flat, struct slice time, struct buf *out);
/* An event of the SDK's stream. */
MUST_CHECK enum err_code goat_hostrow_event(struct slice row, const struct goat_entry *entry,
                                            struct slice session_id, struct buf *out);

#endif
