#ifndef STORE_DEMO_GOAT_H
#define STORE_DEMO_GOAT_H

#include <stdint.h>

#include "lite/base/err.h"

/* Go directory sessions of a sample project, of two dialects, one with a checkpoint. config: where the agents keep what
 * they know; project: the directory that the sessions ran in. */
MUST_CHECK enum err_code demo_goat(const char *config, const char *project, int64_t now_ms,
                                   struct err *e);

#endif
