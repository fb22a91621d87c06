#ifndef STORE_SYSTEMS_COMMON_SQLITE_SQLITE_STORE_H
#define STORE_SYSTEMS_COMMON_SQLITE_SQLITE_STORE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "store/api/store.h"
#include "store/sqlite/sqlite_db.h"
#include "store/systems/common/memory_rows.h"

/* A store whose sessions are rows of one or several databases. A session's path is that of its database, a slash and
 * its id; no file has this path. Systems embed this struct as their first member. */
struct sqlite_place {
    const char *path; /* the path of the database */
    /* the directory whose sessions are in it; NULL: each session names its own */
    const char *project;
    /* the path is that of a folder with other files, of which `fill` makes the rows */
    bool folder;
};

/* Inserts the rows of a folder: with an id, all those of this session and its sub-agents; without, those of all sessions
 * that a list needs. A file that cannot be read is left out. */
typedef enum err_code sqlite_fill_fn(struct sqlite_db *db, const struct sqlite_place *place,
                                     struct slice id, struct err *e);

/* A session as listed by a row of the database. Texts are borrowed. */
struct sqlite_listed {
    struct slice id, title, cwd, model;
    struct slice first, last;        /* prompts */
    int64_t created_ms, modified_ms; /* TIME_NONE: not recorded */
    unsigned flags;                  /* enum session_flags */
    enum session_hidden hidden;
};

/* Returns the query for the columns of this database, a literal or in the arena. NULL: it has no such rows, or out of
 * memory. */
typedef const char *sqlite_query_fn(struct sqlite_db *db, struct arena *a);

/* The messages of a session that are being read. */
struct sqlite_conversation {
    struct memory_rows rows;
    /* the message being built, if several rows of the database form one message */
    struct buf row, id;
    struct message message;
    bool parts;
};

/* Adds {"id": ..., "role": ..., "<member>": <json>}, a message of the kind that belongs to its role. ERR_NOMEM. */
MUST_CHECK enum err_code sqlite_conversation_add(struct sqlite_conversation *c, struct slice id,
                                                 struct slice role, const char *member,
                                                 struct slice json, int64_t time_ms);

/* How an agent uses its tables. Each query has the session's id as its parameter. */
struct sqlite_format {
    const char *id_name; /* "an OpenCode session id" */
    /* Sessions, or the one with this id if it is not empty. `listed` returns false for one outside the scope. */
    sqlite_query_fn *sessions;
    bool (*listed)(const struct sqlite_row *row, const struct sqlite_place *place,
                   const struct scope *scope, struct arena *a, struct sqlite_listed *out);
    /* Messages: all of them, the last SQLITE_TAIL, and one row with their number, or no row if there is no such
     * session. */
    const char *messages, *tail, *count;
    /* ERR_NOMEM. */
    enum err_code (*message)(const struct sqlite_row *row, struct sqlite_conversation *c);
    enum err_code (*finish)(struct sqlite_conversation *c); /* NULL: each row is a message */
    /* Sub-agents: sessions that this one started; `agent` returns false for a row that is not a sub-agent. */
    sqlite_query_fn *agents;
    bool (*agent)(const struct sqlite_row *row, struct arena *a, struct subagent *out);
    /* Tokens, including those of sub-agents. Texts are borrowed; the agent's id is that of the session that used
     * them. */
    sqlite_query_fn *answers;
    bool (*answer)(const struct sqlite_row *row, struct arena *a, struct usage_record *out);
    /* Optional: for old versions that kept their sessions in other files. `tables` creates the tables that the queries
     * read. */
    sqlite_fill_fn *fill;
    const char *tables;
};

#define SQLITE_TAIL 40
#define SQLITE_TAIL_TEXT "40"

struct sqlite_store {
    struct store base;
    struct arena arena; /* owns the paths */
    struct sqlite_place *place;
    size_t places;
    const struct sqlite_format *format;
    struct sqlite_trouble *trouble; /* owned: what the last enumeration could not read */
};

/* store_ops.open: makes the store and calls `add`, which adds its databases. The store owns `folder` from here on;
 * NULL: HOME is not set, or out of memory. */
typedef enum err_code sqlite_add_fn(struct sqlite_store *s, const char *named, struct err *e);
MUST_CHECK enum err_code sqlite_store_open(const struct store_ops *ops,
                                           const struct sqlite_format *format,
                                           const struct store_env *env, const char *named,
                                           char *folder, sqlite_add_fn *add, struct store **out,
                                           struct err *e);
void sqlite_store_close(struct store *st);
MUST_CHECK enum err_code sqlite_store_add(struct sqlite_store *s, const char *path,
                                          const char *project, struct err *e);
/* Adds a folder with other files. */
MUST_CHECK enum err_code sqlite_store_add_folder(struct sqlite_store *s, const char *path,
                                                 struct err *e);
/* Returns true if the path is a regular file. */
bool sqlite_store_is_file(const char *path);

const struct sqlite_store *sqlite_store_of(const struct store *st);
/* The database of a ref; NULL if the ref belongs to another store. */
const struct sqlite_place *sqlite_store_place(const struct session_ref *ref);
/* Reads from the database of a ref. ERR_NOT_FOUND: it is gone. */
MUST_CHECK enum err_code sqlite_store_read(const struct session_ref *ref, const atomic_bool *cancel,
                                           sqlite_read_fn *fn, void *arg, struct err *e);
/* Makes the ref of a sub-agent, the session with this id in the same database. */
MUST_CHECK enum err_code sqlite_store_beside(const struct session_ref *ref, struct slice id,
                                             struct arena *a, struct session_ref *out,
                                             struct err *e);
/* Returns true for letters, digits, -, _ and $, beginning with a letter or a digit. */
bool sqlite_store_is_id(struct slice id);

/* The members of store_ops. */
store_enumerate_fn sqlite_store_enumerate;
store_unreadable_fn sqlite_store_unreadable;
store_find_fn sqlite_store_find;
store_at_path_fn sqlite_store_at_path;
store_describe_fn sqlite_store_describe;
store_load_fn sqlite_store_load;
store_tail_fn sqlite_store_tail;
store_messages_fn sqlite_store_messages;
store_usage_fn sqlite_store_usage;
store_describe_subagents_fn sqlite_store_describe_agents;
store_subagents_fn sqlite_store_agent_ids;
store_subagent_fn sqlite_store_agent;

#define SQLITE_STORE_OPS                                                                           \
    .size_unknown = true, .close = sqlite_store_close, .enumerate = sqlite_store_enumerate,        \
    .unreadable = sqlite_store_unreadable, .describe = sqlite_store_describe,                      \
    .find = sqlite_store_find, .at_path = sqlite_store_at_path, .tail = sqlite_store_tail,         \
    .load = sqlite_store_load, .messages = sqlite_store_messages,                                  \
    .subagents = sqlite_store_agent_ids, .describe_subagents = sqlite_store_describe_agents,       \
    .subagent = sqlite_store_agent, .usage = sqlite_store_usage

/* ---- sqlite_session.c, for sqlite_store.c ---- */

/* The sessions that a query found. */
struct sqlite_items {
    struct arena arena; /* owns everything */
    struct sqlite_item {
        struct slice id;
        struct slice preread; /* what describe needs, as JSON */
        int64_t recent_ms;    /* when it was last changed */
    } * item;
    size_t n;
};

/* Adds the sessions of a database that are in the scope, or only the one with this id. */
MUST_CHECK enum err_code sqlite_items_gather(struct sqlite_items *list,
                                             const struct sqlite_store *s,
                                             const struct sqlite_place *place, struct sqlite_db *db,
                                             const struct scope *scope, struct slice id,
                                             struct err *e);
/* What enumerate read about a session, or what is read now, in the arena. ERR_NOT_FOUND: it is gone. */
MUST_CHECK enum err_code sqlite_store_preread(const struct session_ref *ref, struct arena *a,
                                              struct slice *out, struct err *e);

/* ---- files of old versions ---- */

/* Reads the files of old versions of an agent, of which sqlite_format.fill makes the rows of the agent's later
 * database. */

/* Ids of sessions or of parts of them (sqlite_store_is_id), sorted. */
struct folder_ids {
    struct slice *of; /* in an arena */
    size_t n;
};

/* The ids in the names in a folder that end like this ("" : all names). A folder that cannot be read has none; NULL as
 * the folder: out of memory. */
MUST_CHECK enum err_code sqlite_folder_ids(const char *folder, const char *end, struct arena *a,
                                           struct folder_ids *out, struct err *e);

/* Replaces the text by that of a file, or, if the file has more than 2 * most bytes, by its first and last `most`
 * bytes, cut at line ends. The text is empty if the file cannot be read; NULL as the path: out of memory. */
MUST_CHECK enum err_code sqlite_folder_text(const char *path, size_t most, struct buf *text,
                                            int64_t *modified_ms, struct err *e);

#endif
