#ifndef STORE_PROC_LIVE_H
#define STORE_PROC_LIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/session.h"

/* Which sessions a running agent has open. Each interactive Claude Code keeps <config>/sessions/<pid>.json
 * while it runs and removes it when it ends; after a kill the file stays, and the number may by then belong
 * to another process. So an entry counts only if its process began when the entry says it did. The number
 * means nothing on another machine or in another container, which pidDomain tells
 * ("linux:<machine id>:pid:[<namespace>]"): then the answer is that we do not know, and whoever wants to
 * write treats that as running. */
struct live_entry {
    struct slice session_id;
    struct live live;
};

struct live_table {
    struct arena arena;
    struct live_entry *entry; /* owned */
    size_t n, cap;
    bool unreadable; /* the registry is there and cannot be read: every answer is LIVE_UNKNOWN */
};

/* Reads the registry of a configuration directory once; *out need not be initialised. One that is not
 * there is an empty table. Entries that are no entries (other names, not JSON, larger than 64 KiB) are
 * passed over. */
MUST_CHECK enum err_code live_read(const char *config, struct live_table *out, struct err *e);
/* Of several entries for one session the most alive. */
struct live live_of(const struct live_table *table, struct slice session_id);
void live_fini(struct live_table *table);

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
