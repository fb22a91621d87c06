#ifndef STORE_BLAME_BLAME_HISTORY_H
#define STORE_BLAME_BLAME_HISTORY_H

#include "store/api/edit.h"
#include "store/api/store.h"
#include "store/fs/hasher.h"
#include "store/query/listing.h"

/* The edits of one file in all sessions, in order of time, and what rewinds and undos of reprise did to it. They
 * include the edits of files that were renamed to this file or had its name before. */

struct blame_event {
    struct edit edit; /* texts in the arena */
    /* EDIT_SEEN of a file that reprise itself restored: its text has this hash and is not in memory */
    bool has_hash;
    uint8_t sha256[SHA256_BYTES];
    size_t session; /* index into `ref` */
    size_t order;   /* the order in which it was read */
};

struct blame_history {
    struct arena arena; /* owns everything but the arrays */
    struct blame_event *event;
    size_t n, cap;
    const struct session_ref **ref;
    size_t refs, ref_cap;
    const char **name; /* the paths that the file had */
    size_t names, name_cap;
    uint64_t bytes; /* of the texts */
};

/* The names of a file that sessions may have recorded: the given one (relative to dir unless it is absolute), and that
 * with its links resolved. */
struct blame_paths {
    const char *path[2]; /* absolute and normalized; in the arena */
    size_t n;
};

MUST_CHECK enum err_code blame_paths_of(const char *dir, const char *name, struct arena *a,
                                        struct blame_paths *out, struct err *e);

struct blame_query {
    struct listing_query sessions; /* its page and sort are ignored */
    /* names of the file: as given, and with links resolved; absolute and normalized */
    const char *const *path;
    size_t paths;
    const atomic_bool *cancel; /* may be NULL */
    /* called for a session that cannot be read and is skipped; may be NULL */
    unreadable_fn *trouble;
    void *trouble_arg;
};

MUST_CHECK enum err_code blame_history_read(struct store *const stores[], size_t n,
                                            const struct blame_query *q, struct blame_history *out,
                                            struct err *e);
void blame_history_fini(struct blame_history *h);

/* The sessions of a query, newest first, each once. They are described only if the query selects rows; check one that
 * matters with blame_history_wants. A non-zero result of fn ends the walk and is returned. */
typedef enum err_code blame_session_fn(const struct session_ref *ref, void *arg, struct err *e);
MUST_CHECK enum err_code blame_history_sessions(struct store *const stores[], size_t n,
                                                const struct blame_query *q, blame_session_fn *fn,
                                                void *arg, struct err *e);

/* Returns true if the query selects this session, which is in a folder of its scope. Reads both ends of it. */
bool blame_history_wants(const struct blame_query *q, const struct session_ref *ref);

/* Returns a path as it is after a rename, in the arena; NULL if the rename does not affect it (or if out of memory). */
const char *blame_history_renamed(const char *path, const char *from, const char *to,
                                  struct arena *a);

#endif
