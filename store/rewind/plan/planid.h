#ifndef STORE_REWIND_PLAN_PLANID_H
#define STORE_REWIND_PLAN_PLANID_H

#include "store/rewind/plan/rewind.h"

/* The id of a plan: 64 hex digits that change with anything in it, and that tell, held against those of a later look,
 * which file it was that changed meanwhile: nothing but the id is kept of what was shown. */

/* Over the entries of a preview and its plan's conversation. */
MUST_CHECK enum err_code planid_make(struct rewind_preview *p, struct err *e);

enum { PLANID_TOLD = 2 };
/* Which entries changed between the plan of this id and the preview: how many, 1 or 2. 0: more, or none of them
 * (other options, another conversation), or it is no id. */
size_t planid_changed(const struct rewind_preview *p, const char *id, size_t entry[PLANID_TOLD]);
/* Is what changed no file? */
bool planid_same_files(const struct rewind_preview *p, const char *id);

#endif
