#ifndef TESTS_SWEEPS_REWIND_SWEEP_H
#define TESTS_SWEEPS_REWIND_SWEEP_H

#include "store/rewind/plan/rewind.h"
#include "tests/sweeps/trial.h"

/* Functions that all sweeps of rewinds share. The plan is made anew at every try; the callback that makes it adds the
 * entries, and has nothing to free on failure. */
typedef enum err_code plan_fn(struct trial_dir *y, struct rewind_plan *plan, struct err *e);

enum trial_end rewind_sweep_apply(struct trial_dir *y, plan_fn *plan);
/* The first act of the next command. */
enum trial_end rewind_sweep_recover(struct trial_dir *y);
/* The undo of the newest rewind in force; and of the newest record, which may be an undo, so that this is a redo. */
enum trial_end rewind_sweep_undo(struct trial_dir *y);
enum trial_end rewind_sweep_redo(struct trial_dir *y);

#endif
