#ifndef TUI_COMMANDS_SESSIONS_H
#define TUI_COMMANDS_SESSIONS_H

#include "lite/base/arena.h"
#include "lite/base/id.h"
#include "store/api/retrieve.h"
#include "store/api/store.h"
#include "store/query/listing.h"
#include "tui/commands/command.h"

/* The stores and the scope that the options of a command name (CLI.md, Discovery). */
struct sessions {
    struct arena arena;
    struct store *store[OPTION_STORES_MAX]; /* owned */
    size_t n;
    struct scope scope;
    const char *looked_in[OPTION_STORES_MAX]; /* "claude  /home/u/.claude": where, found or not */
    size_t looked_in_count;
    struct idset named; /* those that sessions_is_first was asked about */
};

/* Opens them. The only store that was named and cannot be opened is an error; one of several, or one that was looked for
 * by itself and cannot be read, is a warning on stderr; one that was looked for and is not there is normal. `everywhere`: without --project
 * the scope is every project. */
MUST_CHECK enum err_code sessions_open(struct invocation *in, bool everywhere, struct sessions *out,
                                       struct err *e);
/* Opens one store, "SYSTEM:PATH" or "SYSTEM", for new sessions: it is made where there is none. */
MUST_CHECK enum err_code sessions_make(struct invocation *in, const char *named,
                                       struct sessions *out, struct err *e);
void sessions_close(struct sessions *s);

/* The session that an operand names; *ref lives until sessions_close. */
MUST_CHECK enum err_code sessions_find(struct sessions *s, const char *id, struct session_ref *ref,
                                       struct err *e);
/* The sessions that n operands name, as an array that lives until sessions_close: faster than one after the other. The
 * first that names none is an error. */
MUST_CHECK enum err_code sessions_find_all(struct sessions *s, char *const *ids, size_t n,
                                           struct session_ref **ref, struct err *e);
/* Was it not named before? Twice the same session is once. */
MUST_CHECK enum err_code sessions_is_first(struct sessions *s, const struct session_ref *ref,
                                           bool *once, struct err *e);
/* Opens the stores for every project and finds the first operand in them: what a command with an ID does
 * first. */
MUST_CHECK enum err_code sessions_of_operand(struct invocation *in, struct sessions *out,
                                             struct session_ref *ref, struct err *e);

/* Puts a session's transcript where its agent looks (store/api/retrieve.h), as one change that can be taken back; with
 * --dry-run only says what would be. retrieved_fini what comes out. */
MUST_CHECK enum err_code retrieve_transcript(struct invocation *in, const struct session_ref *ref,
                                             const struct retrieve_request *req,
                                             struct retrieved *out, struct err *e);
/* Opens the screen on the rewind view of a session. */
MUST_CHECK enum err_code picker_show_rewind(struct invocation *in, struct sessions *s,
                                            const struct session_ref *ref, struct err *e);

#endif
