#ifndef STORE_SYSTEMS_COMMON_SQLITE_SQLITE_STORE_H
#define STORE_SYSTEMS_COMMON_SQLITE_SQLITE_STORE_H

#include <pthread.h>

#include "store/api/store.h"
#include "store/systems/common/sqlite/sqlite_db.h"

/* A store whose sessions are rows of one or several databases. A session's path is that of its database, a slash and its id;
 * nothing is there. Systems embed this struct as their first member. */
struct sqlite_place {
    const char *path; /* of the database */
    const char *
        project; /* the directory whose sessions are in it; NULL: of several, as each session says */
};

struct sqlite_item {
    struct slice id;
    struct slice told; /* what describe needs, in the system's own form */
    int64_t recent_ms; /* when it was last changed */
};

/* The sessions that a query found. */
struct sqlite_items {
    struct arena arena; /* owns everything */
    struct sqlite_item *item;
    size_t n;
};

/* Adds copies. ERR_NOMEM. */
MUST_CHECK enum err_code sqlite_items_add(struct sqlite_items *list,
                                          const struct sqlite_item *item);

struct sqlite_store;
/* Gathers the sessions of a database that are in the scope, or only the one with this id. */
typedef enum err_code sqlite_gather_fn(const struct sqlite_store *s,
                                       const struct sqlite_place *place, struct sqlite_db *db,
                                       const struct scope *scope, struct slice id,
                                       struct sqlite_items *out, struct err *e);

struct sqlite_store {
    struct store base;
    struct arena arena; /* owns the paths */
    struct sqlite_place *place;
    size_t places;
    sqlite_gather_fn *gather;
    const char *id_name;            /* "an OpenCode session id" */
    struct sqlite_trouble *trouble; /* owned: what the last enumeration could not read */
};

/* Sets everything but the places; the path is taken over. */
MUST_CHECK enum err_code sqlite_store_init(struct sqlite_store *s, const struct store_ops *ops,
                                           const struct store_env *env, char *path, struct err *e);
void sqlite_store_fini(struct sqlite_store *s);
MUST_CHECK enum err_code sqlite_store_add(struct sqlite_store *s, const char *path,
                                          const char *project, struct err *e);

const struct sqlite_store *sqlite_store_of(const struct store *st);
/* The database of a ref; NULL if the ref is of another store. */
const struct sqlite_place *sqlite_store_place(const struct session_ref *ref);
/* Reads from the database of a ref. ERR_NOT_FOUND: it is gone. */
MUST_CHECK enum err_code sqlite_store_read(const struct session_ref *ref, const atomic_bool *cancel,
                                           sqlite_read_fn *fn, void *arg, struct err *e);
/* What describe needs of a session, in the arena: what enumerate told, or read now. ERR_NOT_FOUND: it is gone. */
MUST_CHECK enum err_code sqlite_store_told(const struct session_ref *ref, struct arena *a,
                                           struct slice *out, struct err *e);
/* A ref of the session with this id in the database of another one: of a sub-agent. */
MUST_CHECK enum err_code sqlite_store_beside(const struct session_ref *ref, struct slice id,
                                             struct arena *a, struct session_ref *out,
                                             struct err *e);
/* Members for systems with `describe_subagents` whose sub-agents are sessions of the same database: their ids, and one of
 * them. */
store_subagents_fn sqlite_store_agent_ids;
store_subagent_fn sqlite_store_agent;
/* Letters, digits, -, _ and $, a letter or a digit in front. */
bool sqlite_store_is_id(struct slice id);
/* Fills in the members of a row that are the same in all these systems. */
void sqlite_store_begin_row(const struct session_ref *ref, struct session_row *row);

store_enumerate_fn sqlite_store_enumerate;
store_unreadable_fn sqlite_store_unreadable;
store_find_fn sqlite_store_find;
store_at_path_fn sqlite_store_at_path;

#endif
