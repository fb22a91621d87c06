#ifndef STORE_MAINTENANCE_PROJECT_NOTE_H
#define STORE_MAINTENANCE_PROJECT_NOTE_H

#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "store/api/env.h"
#include "store/rewind/plan/beneath.h"

/* By what the directory of a project is recognised after it was moved. Nothing can be learned of a directory that is
 * gone, so this is noted while it exists: when a session is resumed or rewound there. The notes are in <state>/projects
 * (docs/formats/own.md); they are only a help, so that a damaged file counts as none. */

struct project_note {
    const char *dir;
    int64_t at_ms;
    struct root_id id;
    const char *first;   /* the oldest commit of its repository; NULL: none, or not known */
    const char **remote; /* without passwords and tokens */
    size_t remotes;
};

struct project_notes {
    struct arena arena; /* owns everything */
    struct project_note *note;
    size_t n; /* the newest first */
};

/* The only error is ERR_NOMEM. */
MUST_CHECK enum err_code project_notes_read(const struct store_env *env, struct project_notes *out,
                                            struct err *e);
void project_notes_fini(struct project_notes *notes);
/* Notes an existing directory; nothing is written if that was done within a day. */
MUST_CHECK enum err_code project_note_add(const struct store_env *env, const char *dir,
                                          struct err *e);

#endif
