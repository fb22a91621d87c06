#ifndef TUI_TERM_DESK_REWIND_H
#define TUI_TERM_DESK_REWIND_H

#include "tui/term/desk.h"

/* The part of the desk that answers what the rewind view asks. REWIND and UNDO_REWIND are the only questions of the desk
 * that change files. */
MUST_CHECK enum err_code desk_answer_rewind(const struct effect *question,
                                            const struct reply *reply, struct err *e);

#endif
