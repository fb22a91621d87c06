#ifndef STORE_SYSTEMS_GOAT_LOG_H
#define STORE_SYSTEMS_GOAT_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/json/jsonout.h"
#include "store/api/session.h"
#include "store/api/transcript.h"
#include "store/log/logfile.h"

/* ---- lines (entry.c) ---- */

/* One line of messages.jsonl or transcript.jsonl, in any dialect (goat.md B2, B3). Values are raw
 * and borrow from the line; missing ones are empty. */
enum goat_shape {
    GOAT_NOTHING, /* {} or an object without the members below: kept, shown raw, not a message */
    GOAT_NESTED,  /* {uuid, timestamp, message: {role, content, ...}} */
    GOAT_FLAT,    /* {uuid, timestamp, role, content, ...} */
    GOAT_STREAM,  /* {uuid, session_id, type, ...}: the SDK's */
};

struct goat_entry {
    enum goat_shape shape;
    struct slice uuid, timestamp, type, subtype;
    struct slice message;       /* nested and stream: the object */
    struct slice role, content; /* the members of the row or of the wrapped message */
    struct slice tool_calls, tool_call_id, name;
    bool odd_message; /* a member has that name but is not an object */
};

/* The line is valid JSON and an object. */
void goat_entry_read(struct slice line, struct goat_entry *out);

/* The reason why a Go program would skip the line when it loads the session: a member has a type
 * that its structs do not have there (goat.md B8). NULL: it would not. */
const char *goat_entry_fault(const struct goat_entry *e);

enum goat_role { GOAT_OTHER, GOAT_USER, GOAT_ASSISTANT, GOAT_TOOL, GOAT_SYSTEM };
enum goat_role goat_entry_role(const struct goat_entry *e);

/* The text of a message, or the texts of its parts joined by newlines; may be empty. Returns false
 * if out of memory. */
bool goat_entry_text(const struct goat_entry *e, struct arena *a, struct slice *text);
/* Returns true if the message contains a tool call. */
bool goat_entry_calls(const struct goat_entry *e);

/* The top-level timestamp of a line, if it has a valid one; also works on a truncated line. */
bool goat_line_time(struct slice line, int64_t *ms);

/* Writes one line as a message of the `messages` command; the line's values are copied verbatim. */
void goat_message_write(struct jsonout *j, struct slice line, const struct goat_entry *e,
                        struct slice session);

/* A row of a host, checked and written as the package itself would write it (goat.md B2, B3, B7). */

/* ERR_USAGE: the row is not a message (not an event of the stream), or a Go program would skip it
 * when it loads the session, because a member does not have the type that its structs have. */
MUST_CHECK enum err_code goat_hostrow_check(const struct goat_entry *entry, bool stream,
                                            struct err *e);

/* A message: its id and time first, then the message itself, wrapped or flat, in the order of the
 * structs, then the other members that the host wrote. uuid and time are JSON values. The only
 * error is ERR_NOMEM, as below. */
MUST_CHECK enum err_code goat_hostrow_message(struct slice row, const struct goat_entry *entry,
                                              bool flat, struct slice time, struct buf *out);
/* An event of the SDK's stream. */
MUST_CHECK enum err_code goat_hostrow_event(struct slice row, const struct goat_entry *entry,
                                            struct slice session_id, struct buf *out);

/* ---- logs (log.c) ---- */

/* A session's log, opened to be read: its lines in the order in which they were written, which is the conversation.
 * Owned by one thread. */
struct goat_log {
    struct logfile file;
    bool none; /* the session has no log: there are no lines */
};

/* Returns true if the session has a log, which its ref then names. */
bool goat_has_log(const struct session_ref *ref);

MUST_CHECK enum err_code goat_log_open(struct goat_log *log, const struct session_ref *ref,
                                       const atomic_bool *stop, struct err *e);
void goat_log_close(struct goat_log *log);

/* The kind of a line. A line that is too long to be parsed is read only as far as needed for its
 * kind. */
enum goat_line_kind {
    GOAT_LINE_SKIP,    /* blank, null or {}: nothing was written there */
    GOAT_LINE_MESSAGE, /* a message of the conversation */
    GOAT_LINE_OTHER,   /* an object of an unknown kind */
    GOAT_LINE_BROKEN,
    /* JSON, but not a row that the host reads (goat_entry_fault); only checked for lines without a
     * readable id or time, and for lines not formatted as Go does */
    GOAT_LINE_MISTYPED,
};
MUST_CHECK enum err_code goat_log_kind(struct logfile *log, size_t line, enum goat_line_kind *kind,
                                       enum message_kind *message, struct err *e);
/* The parsed line; valid until the next call. */
MUST_CHECK enum err_code goat_log_entry(struct goat_log *log, size_t line, struct goat_entry *out,
                                        struct err *e);
/* Returns true if the line is broken only because the end of the file is torn. */
bool goat_log_is_torn_end(const struct goat_log *log, size_t line);

/* The prompts of a session, for which its checkpoints were made. */
struct goat_turn {
    struct slice id, prompt;
    int64_t time_ms; /* TIME_NONE: unknown */
};

struct goat_turns {
    struct arena arena; /* owns everything */
    struct goat_turn *turn;
    size_t n;
};

MUST_CHECK enum err_code goat_turns_read(const struct session_ref *ref, struct goat_turns *out,
                                         struct err *e);
void goat_turns_fini(struct goat_turns *t);
/* The first with this id, or NULL. */
const struct goat_turn *goat_turns_find(const struct goat_turns *t, struct slice id);
/* The only one whose id begins with this text (4 characters or more); NULL: no such turn, or
 * several. */
const struct goat_turn *goat_turns_begins(const struct goat_turns *t, struct slice front);
/* The turn that was running at this time, or NULL. */
const struct goat_turn *goat_turns_at(const struct goat_turns *t, int64_t time_ms);

/* In plan.c: the prompt that a point precedes, by the prompt's own id (or its unique beginning) or
 * by the id of a checkpoint. ERR_NOT_FOUND: no such prompt. */
MUST_CHECK enum err_code goat_prompt_of(const struct session_ref *ref, struct slice id,
                                        struct arena *a, struct slice *prompt, int64_t *time_ms,
                                        struct err *e);

#endif
