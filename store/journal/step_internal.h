#ifndef STORE_JOURNAL_STEP_INTERNAL_H
#define STORE_JOURNAL_STEP_INTERNAL_H

#include "store/journal/step.h"

/* Private to store/journal/: what step.c dispatches to. */
MUST_CHECK enum err_code step_append_do(struct step *s, struct arena *a, struct err *e);
MUST_CHECK enum err_code step_tail_do(struct step *s, struct arena *a, struct err *e);
MUST_CHECK enum err_code step_edit_do(struct step *s, struct err *e);
MUST_CHECK enum err_code step_put_do(struct step *s, struct arena *a, struct err *e);

MUST_CHECK enum err_code step_append_is_done(struct step *s, bool *done, struct err *e);
MUST_CHECK enum err_code step_tail_is_done(struct step *s, bool *done, struct err *e);
/* TAIL and EDIT alike: do the new bytes lie there? */
MUST_CHECK enum err_code step_bytes_is_done(const struct step *s, bool *done, struct err *e);
MUST_CHECK enum err_code step_append_repair(const struct step *s, struct err *e);
MUST_CHECK enum err_code step_bytes_repair(const struct step *s, struct err *e);
MUST_CHECK enum err_code step_put_clean_up(const struct step *s, struct arena *a, struct err *e);
MUST_CHECK enum err_code step_put_repair(const struct step *s, struct arena *a, struct err *e);
MUST_CHECK enum err_code step_ref_do(const struct step *s, struct err *e);
MUST_CHECK enum err_code step_ref_repair(const struct step *s, struct err *e);
MUST_CHECK enum err_code step_ref_clean_up(const struct step *s, struct err *e);
MUST_CHECK enum err_code step_ref_is_done(const struct step *s, bool *done, struct err *e);
/* Does a PUT's place hold `want`, or nothing where want_absent? *mtime is that of what lies there. */
MUST_CHECK enum err_code step_put_matches(const struct step *s, struct slice want, bool want_absent,
                                          bool *same, int64_t *mtime, struct err *e);

#endif
