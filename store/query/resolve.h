#ifndef STORE_QUERY_RESOLVE_H
#define STORE_QUERY_RESOLVE_H

#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/scope.h"
#include "store/api/store.h"

/* From what a person types to a session (CLI.md "ID"): an id, a unique prefix of one (4 characters or
 * more), SYSTEM:ID, a path to a transcript or session directory, or "latest" (the newest session of
 * the scope, of the environment's current directory when the scope is every project).
 *
 * *ref lives in the arena. ERR_NOT_FOUND: no such session in the scope. ERR_USAGE: the prefix is
 * ambiguous, or stores of two systems have the id, and the text of the error lists the candidates. */
MUST_CHECK enum err_code resolve_session(struct store *const stores[], size_t n,
                                         const struct scope *scope, struct slice text,
                                         struct arena *a, struct session_ref *ref, struct err *e);

/* The same for many texts, those that are ids in one go: ref[i].store stays NULL for a text that resolve_session is to
 * be asked about. The refs are the caller's, all zero. */
MUST_CHECK enum err_code resolve_sessions(struct store *const stores[], size_t n,
                                          const struct scope *scope, const struct slice *text,
                                          size_t texts, struct arena *a, struct session_ref *ref,
                                          struct err *e);

#endif
