#ifndef STORE_MAINTENANCE_TRASH_H
#define STORE_MAINTENANCE_TRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/env.h"
#include "store/api/finding.h"
#include "store/api/store.h"
#include "store/journal/change.h"

/* What the trash contains, and the document `info` that describes one batch of it. */

/* A ref that was deleted with a session. */
struct trash_ref {
    struct owned_ref was;
    const char *kept; /* the present name of its commit, in the same repository */
};

struct trash_item {
    const char *trash_id; /* "<batch>.<n>" */
    const char *system, *store, *session, *title;
    const char *path; /* the former path of the transcript */
    const char *dir;  /* the directory that the session is about; NULL if unknown */
    int64_t deleted_ms;
    int64_t bytes; /* the size of all files in all parts */
    int64_t files;
    const char **part, **from; /* the present and the former path of each part */
    size_t parts;
    struct trash_ref *ref;
    size_t refs;
    const char *stays; /* for an item just deleted: what was not deleted, and why; or NULL */
};

struct trash_list {
    struct arena arena; /* owns everything */
    struct trash_item *item;
    size_t n;
};

void trash_list_fini(struct trash_list *list);

/* The path of part k of item n, in the arena; NULL if out of memory. If the session's id is a plain word, the name
 * contains it, for people who look into the directory, and because longer names are faster: ext4 searches a directory
 * block entry by entry, and with fewer entries in a block a thousand moves take a quarter less time. */
char *trash_part_path(struct arena *a, const char *dir, size_t n, size_t k, const char *session);

/* Prints the document of a batch. Texts are %XX-encoded (store/journal/record.h), because a path need not be text. */
MUST_CHECK enum err_code trash_info_print(const struct trash_list *list, struct buf *out,
                                          struct err *e);
/* Adds the items of the batch in a directory to the list. ERR_FORMAT: its document is damaged, and nothing was
 * added. */
MUST_CHECK enum err_code trash_info_read(const char *dir, const char *batch, struct trash_list *out,
                                         struct err *e);

/* Deleted sessions are kept here, complete, until a person empties the trash. A deletion is a change, which can be
 * undone from the operation log; the trash lists what was deleted and how large it is, and can restore single items.
 *
 *   <data>/trash/<batch>/info       one JSON document for everything that was deleted at once
 *   <data>/trash/<batch>/<n>.<k>.<session id>
 *                                   part k of item n: the transcript (k = 0), a side directory, backups, ...
 *   refs/reprise/trash/<batch>.<n>.<k>  in the repository: ref k of item n
 *
 * An item is in the trash as long as its first part is (or its first ref, if it has no parts). Therefore restoring
 * consists only of moves. */

/* A session to be deleted. The parts are absolute paths of files and directories, the transcript first. Missing parts
 * are skipped, but the first one must exist (ERR_NOT_FOUND). A request may consist of refs only. */
struct trash_request {
    const char *system;
    const char *store; /* path of the store */
    struct slice id;
    struct slice title;
    const char *dir; /* the directory that the session is about; NULL if unknown */
    const char *const *part;
    size_t parts;
    const char *const *copy; /* trash_put_back: where the parts are now */
    const struct owned_ref *owned_refs;
    size_t owned_refs_n;
    const char *stays; /* what will not be deleted, and why: a literal, or NULL */
};

enum trash_request_scope {
    TRASH_REQUEST_OWN = 0,      /* what the system's own delete removes */
    TRASH_REQUEST_ALL = 1 << 0, /* everything that belongs to the session */
    /* Even if it cannot be determined whether an agent is writing to it (a file of another user, a network file system,
     * an agent that is not registered), because a person has confirmed it. */
    TRASH_REQUEST_UNSURE = 1 << 1,
};

/* Fills in a request after checking that the session may be deleted; `what` is a set of trash_request_scope. Nothing is
 * changed. Texts are in the arena or belong to the ref; title is borrowed. ERR_LOCKED: an agent has the session open,
 * or may have, and would continue to write into the trash. ERR_UNSUPPORTED: the system cannot delete. */
MUST_CHECK enum err_code trash_request_make(const struct session_ref *ref, struct slice title,
                                            unsigned what, struct arena *a,
                                            struct trash_request *out, struct err *e);
/* The same if the caller already knows who writes to the session (store_live). */
MUST_CHECK enum err_code trash_request_make_live(const struct session_ref *ref, struct live live,
                                                 struct slice title, unsigned what, struct arena *a,
                                                 struct trash_request *out, struct err *e);
/* The same for n sessions, faster than one by one. If one of them cannot be deleted, all fail and *failed is its
 * index. */
MUST_CHECK enum err_code trash_request_make_all(const struct session_ref *const ref[],
                                                const struct slice title[], size_t n, unsigned what,
                                                struct arena *a, struct trash_request out[],
                                                size_t *failed, struct err *e);

/* The same for a session that only its agent can delete: the parts are those of which copies are kept; without any it
 * is in a database. */
MUST_CHECK enum err_code trash_request_make_kept(const struct session_ref *ref, struct slice title,
                                                 struct arena *a, struct trash_request *out,
                                                 struct err *e);

/* Deletes as the agent does: what the request names is removed at once and permanently. */
MUST_CHECK enum err_code trash_request_destroy(const struct trash_request *request, struct err *e);

/* Moves all of them into the trash, as one change of the given kind ("delete", "sweep"). The list describes what was
 * moved, in the order of the requests; free it with trash_list_fini. */
MUST_CHECK enum err_code trash_add(struct change_log *log, const struct store_env *env,
                                   const char *kind, const struct trash_request *request, size_t n,
                                   struct trash_list *out, struct err *e);
/* Copies what the request names into the trash, before the session's agent deletes it. The list describes the one
 * item. */
MUST_CHECK enum err_code trash_keep(const struct store_env *env,
                                    const struct trash_request *request, struct trash_list *out,
                                    struct err *e);
/* Removes these copies, unless something of them is no longer in its place: then *kept is true. */
MUST_CHECK enum err_code trash_forget(const struct trash_list *list, bool *kept, struct err *e);
/* Puts copies of a session in the places of its parts, as one change of the kind "restore": the copies themselves stay.
 * An undo moves what was put back to the trash, with whatever its agent added since. ERR_STALE: something else is in
 * the place of a part; parts that are there already, with the same bytes, are left alone. */
MUST_CHECK enum err_code trash_put_back(struct change_log *log, const struct store_env *env,
                                        const struct trash_request *request, struct err *e);
/* Fills in such a request for a session that is only kept (store/keep/); texts are in the arena or belong to the ref.
 * ERR_STALE: its transcript is in its place. */
MUST_CHECK enum err_code trash_request_make_back(const struct session_ref *ref, struct slice title,
                                                 struct arena *a, struct trash_request *out,
                                                 struct err *e);
/* Lists the trash, newest first. A trash directory that does not exist is an empty list. */
MUST_CHECK enum err_code trash_read(const struct store_env *env, struct trash_list *out,
                                    struct err *e);

/* As many characters of an id as the list needs, too. */
enum { TRASH_PREFIX_LEAST = 4 };

/* Returns the item with this trash id, else the newest item of the session with this id, else of the only session whose
 * id begins so, else NULL. */
const struct trash_item *trash_find(const struct trash_list *list, const char *id);

/* Restores one item with its former bytes, modes and mtimes. ERR_STALE: something else is in its place. */
MUST_CHECK enum err_code trash_restore(struct change_log *log, const struct trash_item *item,
                                       struct err *e);
/* Restores several items as one change: all of them or none. */
MUST_CHECK enum err_code trash_restore_all(struct change_log *log,
                                           const struct trash_item *const item[], size_t n,
                                           struct err *e);
/* Returns true if a newer transcript is in the item's place, so that trash_join can be tried. */
bool trash_can_join(const struct trash_item *item);
/* Puts the deleted transcript before the rows that have since been written in its place, and moves the other parts
 * back; the transcript also stays in the trash. ERR_STALE: it was joined already, or other files differ. ERR_LOCKED: a
 * program has the newer transcript open. After an error nothing has changed. */
MUST_CHECK enum err_code trash_join(struct change_log *log, const struct trash_item *item,
                                    struct err *e);
/* Deletes one item permanently. This cannot be undone. */
MUST_CHECK enum err_code trash_destroy(const struct store_env *env, const struct trash_item *item,
                                       struct err *e);

#endif
