#ifndef STORE_QUERY_RESOLVE_H
#define STORE_QUERY_RESOLVE_H

#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/session.h"
#include "store/api/store.h"

/* Finds the session that a person means: an id, a unique prefix of one (4 characters or more), SYSTEM:ID, a path to a
 * transcript or session directory, or "latest" (the newest session of the scope; of the environment's current
 * directory if the scope is every project).
 *
 * *ref is in the arena. ERR_NOT_FOUND: no such session in the scope. ERR_USAGE: the prefix is ambiguous, or stores of
 * two systems have the id; the text of the error lists the candidates. */
MUST_CHECK enum err_code resolve_session(struct store *const stores[], size_t n,
                                         const struct scope *scope, struct slice text,
                                         struct arena *a, struct session_ref *ref, struct err *e);

/* The same for many texts; those that are ids are looked up together. ref[i].store stays NULL for a text that must be
 * passed to resolve_session. The caller provides the refs, zeroed. */
MUST_CHECK enum err_code resolve_sessions(struct store *const stores[], size_t n,
                                          const struct scope *scope, const struct slice *text,
                                          size_t texts, struct arena *a, struct session_ref *ref,
                                          struct err *e);

/* Finds the session with this title, as lists show it; upper and lower case of ASCII letters are the same. It reads
 * every session of the scope. ERR_NOT_FOUND, ERR_USAGE as above. */
MUST_CHECK enum err_code resolve_title(struct store *const stores[], size_t n,
                                       const struct scope *scope, struct slice title,
                                       struct arena *a, struct session_ref *ref, struct err *e);

#endif
