#ifndef STORE_SYSTEMS_COMMON_LOST_PATH_H
#define STORE_SYSTEMS_COMMON_LOST_PATH_H

#include "store/api/store.h"
#include "store/log/log_damage.h"
#include "store/systems/common/jsonl.h"

/* Some agents follow the parents of rows from the last one up (jsonl_choose_path), and stop at a row whose parent is not
 * in the file: a resume leaves out everything before it.
 *
 *     1 <- 2 <- ? <- 4 <- 5        a resume restores 4 5
 *
 * A joint lets such a row follow the row above it in the file, as in the Claude Code store. Messages before a compaction
 * are not missed, because a resume does not restore them anyway. */

/* store_ops.check and store_ops.reconnect of such agents. */
store_check_fn lost_path_check;
store_reconnect_fn lost_path_reconnect;

/* Sets transcript.restored and transcript.lost of a whole conversation. Both stay 0 if memory is short. */
void lost_path_count(const struct jsonl_format *format, struct logfile *log, struct transcript *t);

/* ---- a joint ---- */

/* The row of a line with this id as its parent, which replaces the line. The bytes are in the arena. */
MUST_CHECK enum err_code lost_path_row(struct logfile *log, size_t line, const char *parent,
                                       struct slice id, struct arena *a, struct log_damage *out,
                                       struct err *e);
/* Adds the step that writes such rows, which it sorts; there is one at least. */
MUST_CHECK enum err_code lost_path_plan(struct logfile *log, struct log_damage row[], size_t n,
                                        struct change *c, struct err *e);

#endif
