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

/* A session's log, opened to be read: its lines in the order in which they were written, which is the conversation. Owned
 * by one thread. */
struct goat_log {
    struct logfile file;
    bool none; /* the session has no log: there are no lines */
};

extern const struct index_keys goat_keys;
/* The session has a log: its ref names one. */
bool goat_has_log(const struct session_ref *ref);

MUST_CHECK enum err_code goat_log_open(struct goat_log *log, const struct session_ref *ref,
                                       const atomic_bool *stop, struct err *e);
void goat_log_close(struct goat_log *log);

/* What a line is. A line that is too long for a parse is read only as far as it shows what it is. */
enum goat_line_kind {
    GOAT_LINE_SKIP,    /* blank, null or {}: nothing was written there */
    GOAT_LINE_MESSAGE, /* one of the conversation's */
    GOAT_LINE_OTHER,   /* an object of an unknown kind */
    GOAT_LINE_BROKEN,
    GOAT_LINE_MISTYPED, /* JSON, and yet none that the host reads (goat_entry_fault); told of lines without an id or a
                           time that can be read, and of those that are not written as Go writes them */
};
MUST_CHECK enum err_code goat_log_kind(struct logfile *log, size_t line, enum goat_line_kind *kind,
                                       enum message_kind *message, struct err *e);
/* The line's bytes taken apart; valid until the next call. */
MUST_CHECK enum err_code goat_log_entry(struct goat_log *log, size_t line, struct goat_entry *out,
                                        struct err *e);
/* The line of the message with this uuid, the first one if there are several, or with a unique front of it (4
 * characters or more). ERR_NOT_FOUND; ERR_USAGE: several begin so. */
MUST_CHECK enum err_code goat_log_find(struct goat_log *log, struct slice uuid, size_t *line,
                                       struct err *e);

/* Is it a line that only the torn end of the file explains? */
bool goat_log_is_torn_end(const struct goat_log *log, size_t line);

/* The prompts of a session: what its checkpoints were taken for. */
struct goat_turn {
    struct slice id, prompt;
    int64_t time_ms; /* TIME_NONE: it does not say */
};

struct goat_turns {
    struct arena arena; /* owns everything */
    struct goat_turn *turn;
    size_t n;
};

MUST_CHECK enum err_code goat_turns_read(const struct session_ref *ref, struct goat_turns *out,
                                         struct err *e);
void goat_turns_fini(struct goat_turns *t);
/* The first with this id; NULL: none. */
const struct goat_turn *goat_turns_find(const struct goat_turns *t, struct slice id);
/* The only one whose id begins so (4 characters or more); NULL: none, or several. */
const struct goat_turn *goat_turns_begins(const struct goat_turns *t, struct slice front);
/* The one under way at this time; NULL: none. */
const struct goat_turn *goat_turns_at(const struct goat_turns *t, int64_t time_ms);

/* plan.c: the prompt that a point stands before: its own id (or the only one that begins so), or that of a
 * checkpoint. ERR_NOT_FOUND: none does. */
MUST_CHECK enum err_code goat_prompt_of(const struct session_ref *ref, struct slice id,
                                        struct arena *a, struct slice *prompt, int64_t *time_ms,
                                        struct err *e);

#endif
