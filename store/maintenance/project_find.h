#ifndef STORE_MAINTENANCE_PROJECT_FIND_H
#define STORE_MAINTENANCE_PROJECT_FIND_H

#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "store/api/store.h"

/* Where the directory of a project may be now that it is gone: directories beside it, those of other sessions, and those
 * of its name in the home. They are compared with notes that were made while it existed (project_note.h), and with the
 * commits, remotes and edited files that the transcripts of its sessions record. The result is never certain, so `why`
 * names the likeness. */

struct project_place {
    const char *from, *to; /* the operands of `move`; `from` may be a directory above */
    const char *why;       /* "it has the same first commit" */
    int rank;              /* smaller is surer */
};

struct project_places {
    struct arena arena; /* owns everything */
    const char *gone;   /* the directory, absolute */
    struct project_place *place;
    size_t n; /* the surest first, PROJECT_PLACES at most */
};

enum { PROJECT_PLACES = 5 };

/* Looks for a limited time. No place is no error. ERR_USAGE: the directory exists. */
MUST_CHECK enum err_code project_find(struct store *const stores[], size_t n,
                                      const struct store_env *env, const char *gone,
                                      struct project_places *out, struct err *e);
void project_places_fini(struct project_places *p);

#endif
