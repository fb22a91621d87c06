#ifndef STORE_MAINTENANCE_TRASH_INTERNAL_H
#define STORE_MAINTENANCE_TRASH_INTERNAL_H

#include <limits.h>

#include "store/fs/path.h"
#include "store/maintenance/trash.h"

/* Shared by the parts of the trash. */

/* Makes the directory of a new batch. */
MUST_CHECK enum err_code trash_batch_dir(const struct store_env *env, char name[48],
                                         char dir[PATH_MAX], struct err *e);
/* Adds the item of a request to the list, which has room for it. */
MUST_CHECK enum err_code trash_item_make(struct trash_list *list, const struct trash_request *r,
                                         const char *dir, const char *batch, int64_t now_ms,
                                         struct presence *presence, struct err *e);
MUST_CHECK enum err_code trash_name_session(struct change *c, const struct trash_item *item,
                                            struct err *e);
/* Plans a move, and makes the directory that it leads to. */
MUST_CHECK enum err_code trash_plan_move(struct change *c, const char *from, const char *to,
                                         struct err *e);

#endif
