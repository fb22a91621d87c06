#ifndef STORE_CHANGE_JOURNAL_H
#define STORE_CHANGE_JOURNAL_H

#include <limits.h>

#include "lite/err.h"
#include "lite/slice.h"
#include "store/env.h"
#include "store/log/append.h"

/* What a host appends is no change that can be undone, but it is whole or not there, even where the program is killed in
 * the middle of its one write: the kernel then leaves a part of it. So it is written down first.
 *
 *   <state>/appends/         flock: shared by those who append, alone by who ends what a crash left
 *   <state>/appends/<name>/  an append under way: a record (store/change/record.h) of one step
 *
 * The next append, and the next change, end what a crash left: a part is cut off, or becomes a blank line where a program
 * has the log open. Where there is no place for our state, nothing is written down. */

struct journal {
    int lock;           /* -1: nothing is written down */
    char dir[PATH_MAX]; /* of the entry; "" */
};

/* Durable when it returns. path may be a link where flags say APPEND_FOLLOW. End it whatever comes. */
MUST_CHECK enum err_code journal_begin(const struct store_env *env, const char *path,
                                       struct slice records, unsigned flags, struct journal *j,
                                       struct err *e);
void journal_end(struct journal *j);
/* log_append between the two. */
MUST_CHECK enum err_code journal_append(const struct store_env *env, const char *path,
                                        struct slice records, unsigned flags, struct err *e);
/* Ends what crashes left, where nobody appends at this moment. What cannot be ended yet waits for the next time. */
void journal_recover(const struct store_env *env);

#endif
