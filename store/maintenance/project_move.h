#ifndef STORE_MAINTENANCE_PROJECT_MOVE_H
#define STORE_MAINTENANCE_PROJECT_MOVE_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/id.h"
#include "store/api/session.h"
#include "store/api/store.h"
#include "store/journal/change.h"
#include "store/query/listing.h"

/* Sessions follow a project's directory that was moved or renamed: those of the directory and of those below it, of all
 * agents that look for sessions in a folder named after the directory. Their files move to the folder of the new
 * directory, and what the agent compares with it is written anew; nothing else in them changes. */

struct project_move_item {
    struct session_ref ref;
    struct slice title;
    const char *from, *to; /* its directory, before and after */
    const char *path;      /* the path of the transcript afterwards */
    const char *why;       /* the reason for which the session stays; NULL: it moves */
    /* ERR_UNSUPPORTED: sessions of its agent cannot be moved; another one: something is in the way. */
    enum err_code code;
};

struct project_move {
    struct arena arena; /* owns the texts */
    struct project_move_item *item;
    size_t n, moving;
    const char *from, *to; /* the directories, absolute */
    struct idset taken;    /* the places that something moves to */
    struct change *change; /* owned; change_do moves all that can be moved, or nothing */
};

/* Plans the move and changes nothing. The old directory need not exist; the new one must, and is resolved. ERR_USAGE:
 * it is the old one, or below it. ERR_UNSUPPORTED: its name is not UTF-8, so no session could name it. */
MUST_CHECK enum err_code project_move_plan(struct store *const stores[], size_t n,
                                           const struct store_env *env, const char *from,
                                           const char *to, struct project_move *out, struct err *e);
/* Describes all sessions of the local stores, even copies that no list shows. *ref is what `fn` receives the number of,
 * and is set before the first call. */
MUST_CHECK enum err_code project_each_row(struct store *const stores[], size_t n,
                                          describe_pool_fn *fn, void *arg,
                                          const struct session_ref *const **ref, struct err *e);
void project_move_fini(struct project_move *m);

#endif
