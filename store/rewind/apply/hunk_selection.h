#ifndef STORE_REWIND_APPLY_HUNK_SELECTION_H
#define STORE_REWIND_APPLY_HUNK_SELECTION_H

#include "store/rewind/plan/rewind.h"

/* What a person took of a preview: whole files, or some hunks of one; and what they consented to. */

/* Context around a hunk: which changes make one hunk hangs on it, so whoever shows hunks to be picked uses this. */
enum { REWIND_CONTEXT = 3 };

struct rewind_selection {
    bool ticked;
    bool consent;     /* lifts the rule that refuses the file, where a person may */
    const bool *hunk; /* which hunks of a file that is restored; NULL: all of it */
    size_t hunks;
};

/* Whether a person may lift the rule that refuses it. */
bool rewind_may_consent(const struct rewind_entry *entry);

/* rewind_apply of what was picked: one pick for each entry of the preview, which stays as it is. ERR_STALE also when the
 * hunks of a file are no longer those that were picked from. */
MUST_CHECK enum err_code rewind_apply_selected(const struct store_env *env,
                                               const struct rewind_preview *preview,
                                               const struct rewind_selection *pick,
                                               struct rewind_result *out, struct err *e);

#endif
