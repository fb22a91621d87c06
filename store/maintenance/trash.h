#ifndef STORE_MAINTENANCE_TRASH_H
#define STORE_MAINTENANCE_TRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/env.h"
#include "store/api/owned_refs.h"
#include "store/journal/change.h"

/* Deleted sessions wait here, whole, until a person empties the trash. A deletion is a change (it can be undone
 * from the operation log); the trash is the same thing seen from the other side: what lies there, how large it
 * is, and putting one back.
 *
 *   <data>/trash/<batch>/info       one JSON document for all that was deleted at once
 *   <data>/trash/<batch>/<n>.<k>.<session id>
 *                                   part k of item n: the transcript (k = 0), a side directory, backups, ...
 *   refs/reprise/trash/<batch>.<n>.<k>  in the repository: ref k of item n
 *
 * An item lies in the trash exactly while its first part does (its first ref, where it has no parts); so restore is
 * nothing but moves back. */

/* What shall go: the parts are absolute paths of files and directories, the transcript first. Parts that do
 * not exist are passed over; without the first there is nothing to delete (ERR_NOT_FOUND). Refs may be all there is. */
struct trash_request {
    const char *system;
    const char *store; /* path of the store */
    struct slice id;
    struct slice title;
    const char *dir; /* that the session is about; NULL: not known */
    const char *const *part;
    size_t parts;
    const struct owned_ref *owned_refs;
    size_t owned_refs_n;
    const char *stays; /* what of it stays, and why: a literal, or NULL */
};

/* A ref that went with a session. */
struct trash_ref {
    struct owned_ref was;
    const char *kept; /* what its commit is called now, in the same repository */
};

struct trash_item {
    const char *trash_id; /* "<batch>.<n>" */
    const char *system, *store, *session, *title;
    const char *path; /* where the transcript came from */
    const char *dir;  /* that the session is about; NULL: not known */
    int64_t deleted_ms;
    int64_t bytes; /* of all files in all parts */
    int64_t files;
    const char **part, **from; /* where each part lies, and where it came from */
    size_t parts;
    struct trash_ref *ref;
    size_t refs;
    const char *stays; /* of one that was just deleted: what stays, and why; NULL */
};

struct trash_list {
    struct arena arena; /* owns everything */
    struct trash_item *item;
    size_t n;
};

/* Moves them all, as one change of the given kind ("delete", "sweep"). The list describes what was moved, in the
 * order of the requests; the caller frees it with trash_list_fini. */
MUST_CHECK enum err_code trash_add(struct change_log *log, const struct store_env *env,
                                   const char *kind, const struct trash_request *request, size_t n,
                                   struct trash_list *out, struct err *e);
/* What lies in the trash, newest first. No trash at all is an empty list. */
MUST_CHECK enum err_code trash_read(const struct store_env *env, struct trash_list *out,
                                    struct err *e);
void trash_list_fini(struct trash_list *list);

/* Puts one item back, bytes, modes and mtimes as they were. ERR_STALE when something lies in its place. */
MUST_CHECK enum err_code trash_restore(struct change_log *log, const struct store_env *env,
                                       const struct trash_item *item, struct err *e);
/* The same for several, as one change: all of them or none. */
MUST_CHECK enum err_code trash_restore_all(struct change_log *log,
                                           const struct trash_item *const item[], size_t n,
                                           struct err *e);
/* Does a newer transcript lie in its place, so that trash_join could bring the two together? */
bool trash_can_join(const struct trash_item *item);
/* The deleted transcript goes in front of the rows that were written in its place since, and what else was deleted back
 * to its own place; the transcript stays in the trash as well. ERR_STALE: it was joined already, or other files differ.
 * ERR_LOCKED: a program has the newer one open. Nothing was changed then. */
MUST_CHECK enum err_code trash_join(struct change_log *log, const struct trash_item *item,
                                    struct err *e);
/* Removes one item for good. This cannot be undone. */
MUST_CHECK enum err_code trash_destroy(const struct store_env *env, const struct trash_item *item,
                                       struct err *e);

/* ---- private to store/maintenance/ ---- */

/* Plans a move; the directory that the thing comes to lie in is made. */
MUST_CHECK enum err_code trash_plan_move(struct change *c, const char *from, const char *to,
                                         struct err *e);

#endif
