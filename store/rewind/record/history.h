#ifndef STORE_REWIND_RECORD_HISTORY_H
#define STORE_REWIND_RECORD_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "store/api/env.h"

/* What reprise changed, newest first: renames, tags, deletions, ... from the operation log, and rewinds, which have
 * records of their own. */
struct history_entry {
    const char *id, *kind, *text;
    const char *undoes;  /* may be NULL */
    const char *command; /* as in struct change */
    const char *title;   /* of the first session; NULL if not recorded */
    int64_t at_ms;
    const char *const *session; /* "claude:5e55…" */
    size_t sessions_n;
    bool undone;
    bool rewind;
};

/* The entry is valid during the call. A non-zero result ends the walk and is returned. */
typedef enum err_code history_fn(const struct history_entry *x, void *arg, struct err *e);

/* Walks through both. Locks the operation log during the walk, and first recovers what a crash left in it. */
MUST_CHECK enum err_code history_each(const struct store_env *env, history_fn *fn, void *arg,
                                      struct err *e);

#endif
