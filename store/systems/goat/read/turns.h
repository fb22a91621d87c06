#ifndef STORE_SYSTEMS_GOAT_READ_TURNS_H
#define STORE_SYSTEMS_GOAT_READ_TURNS_H

#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/session.h"

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
