#ifndef STORE_DEMO_EXATHENA_H
#define STORE_DEMO_EXATHENA_H

#include <stdint.h>

#include "lite/base/err.h"

/* Sessions of ExAthena in a project of the demo: logs, what files were before their edits, and the files as the last
 * edit left them. dir is the project's directory, absolute. */
MUST_CHECK enum err_code demo_exathena(const char *dir, int64_t now_ms, struct err *e);

#endif
