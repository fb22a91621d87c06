#ifndef STORE_QUERY_RESOLVE_H
#define STORE_QUERY_RESOLVE_H

#include <stdbool.h>
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
 * If an id is in several folders, or here and on a server, the copy that a list of the scope shows is meant. If the
 * scope is every project only because a command was given an id (implied_all), the list of the current directory must
 * not show another copy.
 *
 * *ref is in the arena. ERR_NOT_FOUND: no such session in the scope. ERR_USAGE: the prefix is ambiguous, two stores on
 * this machine have the id, or lists show different copies; the text of the error lists the candidates. */
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

/* Returns true if both are one file, whose folder may have several names because of links. */
bool resolve_same_copy(const struct session_ref *a, const struct session_ref *b);

/* ---- where an agent finds a session (resume_place.c) ---- */

/* Finds the directory in which the session's agent is started: cwd (which may be empty) as the session's row names it;
 * if several folders have the id, one in which the agent finds this copy. *dir is in the arena; it is NULL if no
 * directory is known. */
MUST_CHECK enum err_code resolve_resume_dir(const struct session_ref *ref, struct slice cwd,
                                            struct arena *a, const char **dir, struct err *e);
/* The word with which the agent opens the session in this directory: its id, or its path if the agent would not find it
 * by its id. *word is borrowed from the ref. ERR_UNSUPPORTED: the agent would open another copy. */
MUST_CHECK enum err_code resolve_resume_word(const struct session_ref *ref, const char *dir,
                                             struct arena *a, struct slice *word, struct err *e);

/* ---- short ids (short_ids.c) ---- */

/* Abbreviated ids, as in git, which a person can type again: eight bytes, or as many as make
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

/* The short ids of all sessions on this machine, of every project. */
MUST_CHECK enum err_code short_ids_of_stores(struct store *const stores[], size_t n,
                                             struct short_ids **out, struct err *e);
/* The same from a listing of every project, whose stores are not read again. */
MUST_CHECK enum err_code short_ids_of_refs(const struct session_ref *const refs[], size_t n,
                                           struct short_ids **out, struct err *e);

#endif
