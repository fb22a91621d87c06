#ifndef STORE_SYSTEMS_CLAUDE_WRITE_TAGTEXT_H
#define STORE_SYSTEMS_CLAUDE_WRITE_TAGTEXT_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"

/* A tag as the vendor's SDK stores it (claude.md 5.1): pure ASCII is only trimmed; else NFKC, then format
 * characters, private use and unassigned code points go, again and again until nothing changes, then trim. Empty
 * when nothing is left. False: it does not settle within ten rounds, or no memory. */
bool tagtext_normalize(struct slice tag, struct arena *a, struct slice *out);

#endif
