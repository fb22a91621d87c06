#ifndef STORE_SYSTEMS_CLAUDE_LIST_SUBAGENT_ABOUT_H
#define STORE_SYSTEMS_CLAUDE_LIST_SUBAGENT_ABOUT_H

#include "lite/base/err.h"
#include "lite/io/window.h"
#include "store/api/subagent.h"

/* Fills in what the transcript at this path and the metadata file beside it tell, from at most 64 KiB of each end; the id
 * stays as it is. A transcript that cannot be read leaves the rest as it was. Texts are in the arena. */
MUST_CHECK enum err_code claude_about_subagent(struct slice path, struct window *w, struct arena *a,
                                               struct subagent *out, struct err *e);

#endif
