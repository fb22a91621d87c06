#ifndef STORE_SYSTEMS_ENTIRE_READ_CATALOG_H
#define STORE_SYSTEMS_ENTIRE_READ_CATALOG_H

#include <pthread.h>

#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "store/systems/entire/read/point.h"
#include "store/systems/entire/state.h"

/* All of Entire's data in a repository, read at once: the state files, the shadow branches, the
 * committed checkpoints, and the sessions that they belong to. A catalog never changes. When a ref
 * or a state file has moved, a new catalog replaces it in the cache, and the old one is freed when
 * its last user closes it. */

struct catalog_session {
    struct slice id;
    const struct entire_state *state; /* NULL: no state file */
    const struct point *point;        /* oldest first */
    size_t n;
    size_t committed; /* the number of committed points */
};

struct catalog {
    struct catalog_cache *cache; /* that lends it */
    struct arena arena;
    struct catalog_session *session; /* sorted by id */
    size_t n;
    struct point_list points;
    struct shadow_list shadows;
    struct problem_list problems;
    git_repository *repo; /* protected by lock: describe reads prompts from several threads */
    pthread_mutex_t lock;
    unsigned char mark[32]; /* a hash of all refs and state files that it was made from */
    unsigned holders;       /* protected by the lock of the cache */
};

struct catalog_cache {
    pthread_mutex_t lock;
    struct catalog *present; /* NULL until the first one is made */
};

void catalog_cache_init(struct catalog_cache *cache);
void catalog_cache_fini(struct catalog_cache *cache);

/* Opens a catalog of the repository at dir; states: the folder of the state files. If fresh, the
 * catalog is up to date; otherwise a cached one is used without a check. */
MUST_CHECK enum err_code catalog_open(struct catalog_cache *cache, const char *dir,
                                      const char *states, bool fresh, struct catalog **out,
                                      struct err *e);
void catalog_close(struct catalog *c); /* NULL is fine */
DEFINE_CLEANUP(struct catalog, catalog_close);
#define AUTO_CATALOG CLEANUP(catalog_close_at) struct catalog

/* NULL: no such session. */
const struct catalog_session *catalog_find(const struct catalog *c, struct slice id);
/* Returns true if lists show the session. doctor reports shadow branches without the state of a
 * session instead. */
bool catalog_listed(const struct catalog_session *s);
/* The newest and the oldest committed point; NULL if it has none. */
const struct point *catalog_newest(const struct catalog_session *s);
const struct point *catalog_oldest(const struct catalog_session *s);
/* The time of the last activity, or TIME_NONE. */
int64_t catalog_activity(const struct catalog_session *s);

/* ---- concurrent sessions ---- */

/* Sessions of one work tree and one base commit share a shadow branch (docs/formats/entire.md
 * 2.10). All of them may continue; when one of them writes a checkpoint or is rewound, the others
 * are reported. */

/* Returns true if the other session is in a turn. */
bool catalog_is_concurrent(const struct entire_state *mine, const struct entire_state *other);
/* "another session shares this work tree: b1b2c3d4 is at work", in the arena; contains only ids.
 * Includes sessions in a turn and those whose checkpoints are not committed. NULL: no such session,
 * or out of memory. */
const char *catalog_concurrent_note(const struct catalog *c, const struct catalog_session *s,
                                    struct arena *a);

/* Committed checkpoints (docs/formats/entire.md 2.7, 3): metadata and transcripts, in one folder
 * for each checkpoint, with one numbered folder in it for each session. They are on
 * entire/checkpoints/v1 (if it does not exist locally, on that of origin), in one ref for each
 * checkpoint, and on the v2 refs. A checkpoint that is found in two places is listed once. */

/* Adds one point for each session of each checkpoint. */
MUST_CHECK enum err_code committed_read(git_repository *repo, struct arena *a,
                                        struct point_list *points, struct problem_list *problems,
                                        struct err *e);

/* Whether the transcript matches content_hash.txt. */
enum transcript_hash { HASH_NONE, HASH_SAME, HASH_OTHER };
/* Reads the transcript of a committed point and joins its pieces; replaces the content of out.
 * ERR_NOT_FOUND: it has none. */
MUST_CHECK enum err_code committed_transcript(git_repository *repo, const struct point *p,
                                              struct buf *out, enum transcript_hash *verdict,
                                              struct err *e);
/* "sha256:<64 hex>", the content of content_hash.txt. */
enum { CONTENT_HASH = 71 };
MUST_CHECK bool committed_content_hash(struct slice bytes, char out[CONTENT_HASH + 1]);

#endif
