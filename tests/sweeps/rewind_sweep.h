#ifndef TESTS_SWEEPS_REWIND_SWEEP_H
#define TESTS_SWEEPS_REWIND_SWEEP_H

#include "store/rewind/plan/rewind.h"
#include "tests/sweeps/trial.h"

/* What sweeps of rewinds do alike. The plan is made anew at every try; whoever makes it says what is in it, and nothing
 * needs to be freed where that fails. */
typedef enum err_code plan_fn(struct trial_dir *y, struct rewind_plan *plan, struct err *e);

enum trial_end rewind_sweep_apply(struct trial_dir *y, plan_fn *plan);
/* What the next command begins with. */
enum trial_end rewind_sweep_recover(struct trial_dir *y);
/* Of the newest rewind that stands; and of the newest record, which may be an undo: that does it again. */
enum trial_end rewind_sweep_undo(struct trial_dir *y);
enum trial_end rewind_sweep_redo(struct trial_dir *y);

#endif
