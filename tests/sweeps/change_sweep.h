#ifndef TESTS_SWEEPS_CHANGE_SWEEP_H
#define TESTS_SWEEPS_CHANGE_SWEEP_H

#include "store/journal/change.h"
#include "tests/sweeps/trial.h"

/* Functions that all sweeps of changes share: the first act of the next command, and the undo and redo of the newest
 * change. */
enum trial_end change_sweep_recover(struct trial_dir *y);
enum trial_end change_sweep_undo(struct trial_dir *y);
enum trial_end change_sweep_redo(struct trial_dir *y);

#endif
