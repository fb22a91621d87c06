#ifndef STORE_SYSTEMS_ENTIRE_REWIND_SAFETY_COMMIT_H
#define STORE_SYSTEMS_ENTIRE_REWIND_SAFETY_COMMIT_H

#include "store/rewind/plan/rewind.h"

/* Before the first file of a rewind is written, the work tree as it is becomes a commit under refs/reprise/before/: git
 * itself can then give everything back, whatever becomes of our own undo record. No branch moves, and the index is
 * not touched. For rewind_plan.before. */

MUST_CHECK enum err_code safety_commit_make(const struct rewind_preview *preview, const char *id,
                                            struct err *e);

#endif
