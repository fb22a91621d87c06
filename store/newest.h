#ifndef STORE_NEWEST_H
#define STORE_NEWEST_H

#include <stdint.h>

#include "lite/err.h"
#include "store/change/change.h"
#include "store/env.h"

/* There are two kinds of changes to take back, rewinds of files and changes of sessions, each with a log of its own;
 * their ids never meet. A person who says undo means the newest that stands, of either kind. */
enum newest_kind { NEWEST_NONE, NEWEST_CHANGE, NEWEST_REWIND };

struct newest {
    enum newest_kind kind;
    char id[64];
    int64_t at_ms;
};

/* What undo would take back. The log is open; so nothing of it changes meanwhile. ERR_STALE: there is a newer record that
 * cannot be read. */
MUST_CHECK enum err_code newest_standing(const struct store_env *env, struct change_log *log,
                                         struct newest *out, struct err *e);
/* What redo would take back: the newest of all, if that took something back itself. */
MUST_CHECK enum err_code newest_undo(const struct store_env *env, struct change_log *log,
                                     struct newest *out, struct err *e);

#endif
