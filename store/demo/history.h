#ifndef STORE_DEMO_HISTORY_H
#define STORE_DEMO_HISTORY_H

#include <stdint.h>

#include "lite/base/err.h"
#include "store/demo/log.h"
#include "store/demo/world.h"

/* File checkpoints of one session (claude.md C2): a snapshot row a prompt, a delta row at the
 * first edit of a file, and the old bytes under CONFIG/file-history/<id>/. */
enum { HISTORY_MAX = 8 };

struct history_file {
    const struct world_file *file;
    unsigned version;
    bool changed;  /* since the backup of this version */
    char name[40]; /* of the backup; "" when the file was absent */
    int64_t backup_ms;
};

struct demo_history {
    const char *dir; /* CONFIG/file-history/<id>; borrowed */
    struct history_file file[HISTORY_MAX];
    size_t n;
};

/* After a prompt's row: backs up what changed since, writes the snapshot row. */
MUST_CHECK enum err_code demo_history_snapshot(struct demo_history *h, struct demo_log *l,
                                               struct err *e);
/* Between a tool call's row and the change it makes. */
MUST_CHECK enum err_code demo_history_touch(struct demo_history *h, struct demo_log *l,
                                            const struct world_file *f, struct err *e);

#endif
