#ifndef STORE_QUERY_SHORT_IDS_H
#define STORE_QUERY_SHORT_IDS_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* How much of an id is shown to a person, so that it can be typed again (store/query/resolve.h): eight bytes, or as many as
 * tell it from every other one, as git abbreviates. Where several systems have the same id its own stands in front:
 * "entire:a1b2c3d4". */

struct store;
struct store_ops;
struct short_ids;

enum { SHORT_ID = 320 }; /* "system:" and the longest name of a file */

struct short_ids *short_ids_new(void);    /* NULL: out of memory */
void short_ids_free(struct short_ids *s); /* NULL is fine */

/* The id is copied. system may be NULL: the ids are none of sessions. False without memory. */
MUST_CHECK bool short_ids_add(struct short_ids *s, const struct store_ops *system, struct slice id);
/* After the last of them, before the first is asked for. */
void short_ids_finish(struct short_ids *s);
/* What is shown of one, in out; of one that was not added: all of it. */
struct slice short_ids_of(const struct short_ids *s, const struct store_ops *system,
                          struct slice id, char out[SHORT_ID]);

/* Those of all sessions of the stores, of every project. */
MUST_CHECK enum err_code short_ids_of_stores(struct store *const stores[], size_t n,
                                             struct short_ids **out, struct err *e);

#endif
