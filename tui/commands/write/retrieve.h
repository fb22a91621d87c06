#ifndef TUI_COMMANDS_WRITE_RETRIEVE_H
#define TUI_COMMANDS_WRITE_RETRIEVE_H

#include "store/api/retrieve.h"
#include "store/api/session.h"
#include "tui/commands/command.h"

/* Puts a session's transcript where its agent looks (store/api/retrieve.h), as one change that can be taken back; with
 * --dry-run only says what would be. retrieved_fini what comes out. */
MUST_CHECK enum err_code retrieve_transcript(struct invocation *in, const struct session_ref *ref,
                                             const struct retrieve_request *req,
                                             struct retrieved *out, struct err *e);

#endif
