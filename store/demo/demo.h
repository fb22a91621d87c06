#ifndef STORE_DEMO_DEMO_H
#define STORE_DEMO_DEMO_H

#include <stdint.h>

#include "lite/base/err.h"

/* A sample store to try the program on: a dozen conversations about a small web shop and its ledger, in
 * the rows that a real client writes, with the projects they speak of. What they say and what lies on
 * disk agree: a Read shows the file as it was then, an edit's patch applies, backups hold the old bytes.
 *
 * dir is absolute, exists and is empty; its owner removes it. Afterwards dir/DEMO_CONFIG is the
 * configuration directory (CLAUDE_CONFIG_DIR) and dir/DEMO_PROJECT the project to stand in. Ages are
 * relative to now_ms, ids are always the same. */
#define DEMO_CONFIG "claude"
#define DEMO_PROJECT "code/shop"

MUST_CHECK enum err_code demo_build(const char *dir, int64_t now_ms, struct err *e);

#endif
