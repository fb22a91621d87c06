#ifndef STORE_MAINTENANCE_SWEEP_INTERNAL_H
#define STORE_MAINTENANCE_SWEEP_INTERNAL_H

#include "store/maintenance/sweep.h"

/* Shared by the sweep of sessions and that of what deleted sessions left behind. */

MUST_CHECK enum err_code sweep_add_item(struct sweep *s, const struct sweep_item *item,
                                        struct err *e);
/* Adds up the disk usage of files and directories. */
MUST_CHECK enum err_code sweep_measure(const char *const *part, size_t n, struct disk_usage *w,
                                       struct err *e);
/* "not used for 92 days" */
MUST_CHECK enum err_code sweep_age_text(struct buf *text, int64_t now_ms, int64_t then_ms);

/* Adds what was left behind to the sweep. */
MUST_CHECK enum err_code sweep_find_orphans(struct store *const stores[], size_t n,
                                            const struct sweep_rule *rule, struct sweep *s,
                                            struct err *e);
/* Sets `stays` for each chosen orphan that is no longer what was listed. */
MUST_CHECK enum err_code sweep_recheck_orphans(struct sweep *s, struct err *e);

#endif
