#ifndef STORE_REWIND_PLAN_ORIGIN_H
#define STORE_REWIND_PLAN_ORIGIN_H

#include "store/api/store.h"

struct change;
struct change_origin;
struct rewind_record;

/* Where the sessions of a change or a rewind belong: noted when it is made, and asked when it is to be undone without
 * being named. Then only what was done in the stores and directories that are looked at is meant. */

/* Names the session in the change, with its store, its directory and its title. */
MUST_CHECK enum err_code origin_add_session(struct change *c, const struct session_ref *ref,
                                            struct err *e);
/* Texts are in the arena. A session that cannot be described has only a store. */
MUST_CHECK enum err_code origin_of(const struct session_ref *ref, struct arena *a,
                                   struct change_origin *out, struct err *e);

/* What is looked at. */
struct shown {
    struct store *const *store;
    size_t n;
    const struct scope *scope;
    bool skip_edited; /* a rewind whose files were all edited since is not meant */
};

enum origin_place {
    ORIGIN_SHOWN,
    ORIGIN_ELSEWHERE,
    ORIGIN_GONE, /* what it changed is no longer there: it cannot be undone */
};

/* shown NULL: everything is. */
enum origin_place origin_of_change(const struct shown *shown, const struct change *c);
enum origin_place origin_of_rewind(const struct shown *shown, const struct rewind_record *r);

#endif
