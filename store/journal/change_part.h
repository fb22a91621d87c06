#ifndef STORE_JOURNAL_CHANGE_PART_H
#define STORE_JOURNAL_CHANGE_PART_H

#include "store/journal/change.h"

/* A change that is a part of a larger operation, which decides when it stands and keeps its record (a rewind with the
 * conversation's part in it). It has no entry in the operation log; the caller holds that log's lock all the same.
 *
 *   <dir>/record    durable before the first step; written again when the steps are done, since appends know only then
 *                   where their bytes went */

/* Does the steps. On failure nothing of them remains, and no record: or the text says "unfinished" and the record lies
 * there for change_part_roll_back. The directory is made. */
MUST_CHECK enum err_code change_part_do(struct change_log *log, const char *dir, struct change *c,
                                        struct err *e);
/* Takes back whatever of it was done, and removes the directory where nothing remains. Nothing to take back is fine.
 * ERR_FORMAT: the record is damaged, and nothing was done. */
MUST_CHECK enum err_code change_part_roll_back(const char *dir, enum rollback *how, struct err *e);
/* What was done. ERR_NOT_FOUND: nothing. The caller frees it. */
MUST_CHECK enum err_code change_part_read(const char *dir, struct change **out, struct err *e);

/* A change of the same steps, and one that takes them back. NULL without memory. */
struct change *change_copy(const struct change *c);
struct change *change_inverse(const struct change *c, const char *kind);

#endif
