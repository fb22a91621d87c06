#ifndef TUI_JOBS_WORKERS_H
#define TUI_JOBS_WORKERS_H

#include <stdbool.h>

#include "lite/base/err.h"
#include "tui/app/effect.h"
#include "tui/app/msg.h"
#include "tui/jobs/jobs.h"

/* A few threads that answer questions (tui/app/effect.h).
 *
 *  - A question with many pieces (describing 10,000 rows) is answered piece by piece by all threads.
 *    Between pieces, more urgent questions go first, so a preview never waits for background work.
 *  - Only one question that may take seconds (loading a whole transcript) runs at a time.
 *  - A newer question of the same kind and requester replaces one that is not answered yet, except DESCRIBE.
 *  - Changes are made one at a time, in the order asked, and are never replaced, cancelled or
 *    dropped.
 *
 * All calls are made by one thread, the loop. */
struct workers;

MUST_CHECK enum err_code workers_new(struct job_context *context, int threads, struct workers **out,
                                     struct err *e);
/* Waits for the jobs under way and for all requested changes, and drops all answers. */
void workers_free(struct workers *w); /* NULL is fine */

/* Readable while answers wait. */
int workers_fd(const struct workers *w);
/* Takes the question over. Returns false if out of memory; the question is then freed and not
 * answered. */
bool workers_submit(struct workers *w, struct effect *question);
/* Returns true while a question is being answered or is waiting. */
bool workers_busy(struct workers *w);
/* Notes that no view waits for this generation any more. */
void workers_cancel(struct workers *w, unsigned generation);
/* Takes the oldest answer. Returns false if no answer is waiting. */
bool workers_pop(struct workers *w, struct msg *out);

#endif
