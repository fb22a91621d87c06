#ifndef STORE_SYSTEMS_CONTINUE_CONTINUE_H
#define STORE_SYSTEMS_CONTINUE_CONTINUE_H

#include "store/systems/common/row_table.h"

extern const struct store_ops continue_ops;

/* The texts of the parts of a call's result. */
struct slice cn_output(struct slice call, struct arena *a);

store_checkpoints_fn cn_checkpoints; /* patches.c */
store_plan_fn cn_plan;

#endif
