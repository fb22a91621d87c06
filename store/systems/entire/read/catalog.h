#ifndef STORE_SYSTEMS_ENTIRE_READ_CATALOG_H
#define STORE_SYSTEMS_ENTIRE_READ_CATALOG_H

#include <pthread.h>

#include "store/systems/entire/read/point.h"
#include "store/systems/entire/read/shadow.h"
#include "store/systems/entire/read/state.h"

/* Everything that a repository holds of Entire's, read in one go: the state files, the shadow branches, the committed
 * checkpoints, and which session they belong to. It does not change once it is made; when a ref or a state file
 * moves, a new one is made and the old one lives as long as somebody holds it. */

struct catalog_session {
    struct slice id;
    const struct entire_state *state; /* NULL: no state file */
    const struct point *point;        /* oldest first */
    size_t n;
    size_t committed; /* of them */
};

struct catalog {
    struct arena arena;
    struct catalog_session *session; /* by id */
    size_t n;
    struct point_list points;
    struct shadow_list shadows;
    struct problem_list problems;
    git_repository *repo; /* under the lock: for describe, which reads a prompt for each row */
    pthread_mutex_t lock;
    unsigned char mark[32]; /* of all refs and state files it was made from */
    unsigned holders;       /* under the lock of the shelf */
};

/* Where the present catalog of a store lies. */
struct catalog_cache {
    pthread_mutex_t lock;
    struct catalog *present; /* NULL: none was made yet */
};

void catalog_cache_init(struct catalog_cache *cache);
void catalog_cache_fini(struct catalog_cache *cache);

/* Holds a catalog of the repository at dir; fresh: one that says how things are now, else the one that lies there may
 * do. states: the folder of the state files. Put it back with catalog_close. */
MUST_CHECK enum err_code catalog_open(struct catalog_cache *cache, const char *dir,
                                      const char *states, bool fresh, struct catalog **out,
                                      struct err *e);
void catalog_close(struct catalog_cache *cache, struct catalog *c); /* NULL is fine */

/* NULL: no such session. */
const struct catalog_session *catalog_find(const struct catalog *c, struct slice id);
/* Is it one that a list shows? A shadow branch whose session left no state is doctor's business. */
bool catalog_listed(const struct catalog_session *s);
/* The newest committed point; NULL: there is none. */
const struct point *catalog_newest(const struct catalog_session *s);
const struct point *catalog_oldest(const struct catalog_session *s);
/* When anything was heard of it last; TIME_NONE. */
int64_t catalog_activity(const struct catalog_session *s);

#endif
