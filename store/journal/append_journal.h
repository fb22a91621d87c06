#ifndef STORE_JOURNAL_APPEND_JOURNAL_H
#define STORE_JOURNAL_APPEND_JOURNAL_H

#include "lite/base/err.h"
#include "store/api/env.h"
#include "store/log/append.h"

/* What a host appends is no change that can be undone, but it is whole or not there, even where the program is killed in
 * the middle of its one write: the kernel then leaves a part of it. So it is written down first.
 *
 *   <state>/appends/         flock: shared by those who append, alone by who ends what a crash left
 *   <state>/appends/<name>/  an append under way: a record (store/journal/change_record.h) of one step
 *
 * The next append, and the next change, end what a crash left: a part is cut off, or becomes a blank line where a program
 * has the log open. Where there is no place for our state, nothing is written down. */

/* log_append_with, written down first. What a crash left of an append to this log is ended before compose looks at it. */
MUST_CHECK enum err_code journal_append(const struct store_env *env, const char *path,
                                        unsigned flags, log_compose_fn *compose, void *arg,
                                        struct err *e);
/* Ends what crashes left, where nobody appends at this moment. What cannot be ended yet waits for the next time. */
void journal_recover(const struct store_env *env);

#endif
