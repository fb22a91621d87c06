#ifndef STORE_DEMO_DEMO_H
#define STORE_DEMO_DEMO_H

#include <stdint.h>

#include "lite/base/err.h"

/* A sample store for trying out the program: a dozen conversations about a small web shop and its ledger, with the
 * projects they are about, in the formats of Claude Code, goat, ExAthena and Entire.
 *
 * The story is a table (story.c) and the rows of the agents are templates that are filled in from it. The conversations
 * and the files on disk agree: a Read shows the file as it was at that time, the patch of an edit applies, and backups
 * contain the former bytes. All times are those of the story, and ids are always the same. Therefore the calls for
 * hosts (store/api/host.h), which generate ids and leave the present time on files, are used only where neither matters
 * (goat.c); Entire's commits are made by the code below those calls. */

#define DEMO_CONFIG "claude"
#define DEMO_PROJECT "code/shop"

/* dir is absolute, exists and is empty; the caller removes it. Afterwards dir/DEMO_CONFIG is the configuration
 * directory (CLAUDE_CONFIG_DIR), and dir/DEMO_PROJECT is the project in which to start. Times are relative to now_ms.
 * ERR_IO: a file exists already. */
MUST_CHECK enum err_code demo_build(const char *dir, int64_t now_ms, struct err *e);

#endif
