#ifndef STORE_JOURNAL_STEP_INTERNAL_H
#define STORE_JOURNAL_STEP_INTERNAL_H

#include <stdbool.h>

#include "lite/base/err.h"

/* Steps on the bytes of a log. step.h describes what each of these functions does for any kind of step. */

struct arena;
struct step;

MUST_CHECK enum err_code step_append_do(struct step *s, struct arena *a, struct err *e);
/* The appended bytes may be anywhere after `offset`, since another program may have written first. */
MUST_CHECK enum err_code step_append_is_done(struct step *s, bool *done, struct err *e);
MUST_CHECK enum err_code step_append_repair(const struct step *s, struct err *e);

MUST_CHECK enum err_code step_tail_do(struct step *s, struct arena *a, struct err *e);
MUST_CHECK enum err_code step_tail_is_done(struct step *s, bool *done, struct err *e);
MUST_CHECK enum err_code step_edit_do(struct step *s, struct err *e);
/* For TAIL and EDIT: *done is true if the file contains the new bytes. */
MUST_CHECK enum err_code step_bytes_is_done(const struct step *s, bool *done, struct err *e);
MUST_CHECK enum err_code step_bytes_repair(const struct step *s, struct err *e);

/* Rows of a database. A transaction needs no repair: the next program that opens the database completes or drops it. */
MUST_CHECK enum err_code step_rows_do(const struct step *s, struct err *e);
MUST_CHECK enum err_code step_rows_is_done(const struct step *s, bool *done, struct err *e);
/* Returns true if the rows that the step removes are not as they were inserted. */
bool step_rows_is_stale(const struct step *s);

/* Prepends a newline to the bytes of an append, so that undoing the append also removes the newline. */
MUST_CHECK enum err_code step_add_guard(struct step *s, struct arena *a, struct err *e);

#endif
