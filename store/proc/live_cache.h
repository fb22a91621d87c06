#ifndef STORE_PROC_LIVE_CACHE_H
#define STORE_PROC_LIVE_CACHE_H

#include "store/proc/live.h"

/* The registry of running agents for many askers: read when somebody asks and what is known is older than
 * a second, so that a list of ten thousand rows reads it once and one that stays open stays right. Any
 * thread may ask. */
struct live_cache;

/* NULL without memory. */
struct live_cache *live_cache_new(const char *config);
void live_cache_free(struct live_cache *w); /* NULL is fine */
/* Without memory to read it: LIVE_UNKNOWN. */
struct live live_cache_lookup(struct live_cache *w, struct slice session_id);

#endif
