#ifndef STORE_SYSTEMS_CLAUDE_LIST_ARCHIVED_H
#define STORE_SYSTEMS_CLAUDE_LIST_ARCHIVED_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"

/* A session leaves the archive by being used: does a window hold something a person asked later than
 * this (claude.md 5.3)? False without memory in *ok. */
bool archived_prompt_after(struct slice window, int64_t at_ms, struct arena *a, bool *ok);

#endif
