#ifndef STORE_REWIND_PLAN_SIDES_H
#define STORE_REWIND_PLAN_SIDES_H

#include "lite/base/buf.h"
#include "store/rewind/plan/rewind.h"

/* Both sides of one file of a preview: what lies there, and what a rewind would put there. Empty where there is no
 * file on that side. */
struct rewind_sides {
    struct buf present, wanted;
};

/* Reads what the preview read, in the way it did. ERR_STALE: another content lies there by now. ERR_FORMAT: the
 * saved copy is not to be had, or something else is in the way. ERR_UNSUPPORTED: too large to be looked at line by line. */
MUST_CHECK enum err_code rewind_sides_read(const struct rewind_plan *plan,
                                           const struct rewind_entry *entry,
                                           struct rewind_sides *out, struct err *e);
void rewind_sides_fini(struct rewind_sides *s);

#endif
