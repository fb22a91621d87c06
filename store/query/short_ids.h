#ifndef STORE_QUERY_SHORT_IDS_H
#define STORE_QUERY_SHORT_IDS_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Abbreviated ids, as in git, which a person can type again (store/query/resolve.h): eight bytes, or as many as make
 * the id unique. If several systems have the same id, that of the system is prepended: "entire:a1b2c3d4". */

struct session_ref;
struct store;
struct store_ops;
struct short_ids;

enum { SHORT_ID = 320 }; /* "system:" and the longest name of a file */

struct short_ids *short_ids_new(void);    /* NULL: out of memory */
void short_ids_free(struct short_ids *s); /* NULL is fine */

/* Copies the id. system may be NULL if the ids are not those of sessions. Returns false if out of memory. */
MUST_CHECK bool short_ids_add(struct short_ids *s, const struct store_ops *system, struct slice id);
/* Call it after the last short_ids_add and before the first short_ids_of. */
void short_ids_finish(struct short_ids *s);
/* Returns the abbreviated id, in out; the whole id if it was not added. */
struct slice short_ids_of(const struct short_ids *s, const struct store_ops *system,
                          struct slice id, char out[SHORT_ID]);

/* The short ids of all sessions of the stores, of every project. */
MUST_CHECK enum err_code short_ids_of_stores(struct store *const stores[], size_t n,
                                             struct short_ids **out, struct err *e);
/* The same from a listing of every project, whose stores are not read again. */
MUST_CHECK enum err_code short_ids_of_refs(const struct session_ref *const refs[], size_t n,
                                           struct short_ids **out, struct err *e);

#endif
