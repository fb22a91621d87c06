#ifndef TESTS_FAULT_CHANGING_H
#define TESTS_FAULT_CHANGING_H

#include "store/change/change.h"
#include "tests/fault/trial.h"

/* What sweeps of changes do alike: what the next command begins with, and what takes the newest change back and does it
 * again. */
enum trial_end change_sweep_recover(struct trial_dir *y);
enum trial_end change_sweep_undo(struct trial_dir *y);
enum trial_end change_sweep_redo(struct trial_dir *y);

#endif
