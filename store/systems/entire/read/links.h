#ifndef STORE_SYSTEMS_ENTIRE_READ_LINKS_H
#define STORE_SYSTEMS_ENTIRE_READ_LINKS_H

#include "store/systems/entire/read/point.h"

/* Which commits of the user's carry a checkpoint: the way back from metadata to code (entire.md 2.6). All trailers of a
 * message count. */
struct link {
    struct slice checkpoint;
    git_oid commit;
    struct slice subject;
    int64_t time_ms;
};

struct links {
    struct link *link; /* in the arena; newest commit first */
    size_t n;
};

enum { LINK_COMMITS_MAX = 50000 };

/* Walks the history of HEAD and of all branches that are not Entire's. */
MUST_CHECK enum err_code links_read(git_repository *repo, struct arena *a, struct links *out,
                                    struct err *e);
/* The newest commit that carries it; NULL: none does. */
const struct link *links_find(const struct links *links, struct slice checkpoint);

#endif
