#ifndef STORE_REWIND_PLAN_ORIGIN_H
#define STORE_REWIND_PLAN_ORIGIN_H

#include "store/api/store.h"

struct change;
struct change_origin;
struct rewind_record;

/* The stores and directories of the sessions of a change or a rewind. They are recorded when it is made, because
 * undoing the newest one means the newest in the present stores and directories. */

/* Adds the session to the change, with its store, its directory and its title. */
MUST_CHECK enum err_code origin_add_session(struct change *c, const struct session_ref *ref,
                                            struct err *e);
/* The texts are in the arena. If the session cannot be described, only the store is known. */
MUST_CHECK enum err_code origin_of(const struct session_ref *ref, struct arena *a,
                                   struct change_origin *out, struct err *e);

/* The stores and the scope that are shown. */
struct shown {
    struct store *const *store;
    size_t n;
    const struct scope *scope;
    const char *home; /* changes of a session here belong to no directory below; may be NULL */
    bool skip_edited; /* ignore a rewind whose files were all edited since */
};

enum origin_place {
    ORIGIN_SHOWN,
    ORIGIN_ELSEWHERE,
    ORIGIN_GONE, /* what it changed no longer exists, so it cannot be undone */
};

/* With shown NULL everything is shown. A change of several sessions is shown where any of them is. The first one tells
 * only that, and not whether the change can be undone. */
bool origin_shows_change(const struct shown *shown, const struct change *c);
/* Returns true if its sessions are not all of one directory, so that its undo reaches beyond a project. */
bool origin_spans_directories(const struct change *c);
enum origin_place origin_of_change(const struct shown *shown, const struct change *c);
enum origin_place origin_of_rewind(const struct shown *shown, const struct rewind_record *r);

#endif
