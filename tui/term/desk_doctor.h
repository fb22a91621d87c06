#ifndef TUI_TERM_DESK_DOCTOR_H
#define TUI_TERM_DESK_DOCTOR_H

#include "tui/term/desk.h"

/* The desk's answers to questions about damage. */

/* EFFECT_DOCTOR */
MUST_CHECK enum err_code desk_examine(struct desk *d, const struct effect *q, const struct reply *r,
                                      struct err *e);
/* EFFECT_AROUND */
MUST_CHECK enum err_code desk_look_around(struct desk *d, const struct effect *q,
                                          const struct reply *r, struct err *e);
/* WISH_FIX: repairs what can be repaired in the one session of the question. ERR_STALE: nothing could be. */
MUST_CHECK enum err_code desk_fix(const struct store_env *env, const struct scope *scope,
                                  const struct effect *q, struct changed *out, struct err *e);

#endif
