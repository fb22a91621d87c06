#ifndef TESTS_SWEEPS_CHANGE_SWEEP_H
#define TESTS_SWEEPS_CHANGE_SWEEP_H

#include "store/journal/change.h"
#include "tests/sweeps/trial.h"

/* What sweeps of changes do alike: what the next command begins with, and what takes the newest change back and does it
 * again. */
enum trial_end change_sweep_recover(struct trial_dir *y);
enum trial_end change_sweep_undo(struct trial_dir *y);
enum trial_end change_sweep_redo(struct trial_dir *y);

#endif
