#ifndef STORE_SYSTEMS_GOAT_LOG_H
#define STORE_SYSTEMS_GOAT_LOG_H

#include <stdatomic.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/session.h"
#include "store/api/transcript.h"
#include "store/log/logfile.h"
#include "store/systems/goat/entry.h"

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
