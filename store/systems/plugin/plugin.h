#ifndef STORE_SYSTEMS_PLUGIN_PLUGIN_H
#define STORE_SYSTEMS_PLUGIN_PLUGIN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "lite/base/id.h"
#include "store/api/plugin.h"
#include "store/api/reprise_plugin.h"
#include "store/api/store.h"
#include "store/fs/disk.h"

/* Stores of plug-ins (store/api/reprise_plugin.h). A plug-in moves rows; this folder makes a struct
 * store of it. The rows are those of Claude Code, whose system reads them: a session's rows are
 * written to an unnamed file (store/fs/disk.h) and read through `claude_ops`. This header is
 * private to the folder. */

struct plugin_catalog;
struct plugin_newest;
struct plugin_known;

/* The part of a store that changes while it is open. */
struct plugin_link {
    /* held during a call, unless the plug-in takes several at the same time */
    pthread_mutex_t call;
    pthread_mutex_t again;          /* held while everything is listed anew */
    pthread_mutex_t lock;           /* protects everything below */
    void *opened;                   /* the plug-in's own store; NULL until the first call */
    struct plugin_catalog *catalog; /* the sessions of the last list; NULL: not listed yet */
    struct plugin_catalog *growing; /* those that a list under way has delivered; NULL: none */
    struct plugin_catalog *found;   /* those with the id that was looked for last; NULL: none */
    struct err trouble;             /* why the last list failed; code ERR_OK: it succeeded */
    struct plugin_newest *end;      /* the end of the conversation that was read last; NULL: none */
    struct plugin_known *known;     /* the end of the key that was appended to last; NULL: none */
    atomic_bool interrupted;        /* calls that only read return at once */
    atomic_int silent;              /* calls that have waited for a second */
    atomic_llong gone_ms;           /* when the server last did not answer in time; 0: it did */
    atomic_size_t read_alone;       /* sessions whose ends the last list did not include */
};

struct plugin_store {
    struct store base;
    struct store_ops ops; /* base.ops: what the plug-in can do */
    struct arena arena;   /* owns the texts of the configuration */
    struct plugin_config config;
    int64_t timeout_ms;
    void *library;
    struct reprise_plugin table; /* members that the plug-in does not know are NULL */
    struct store *claude;        /* its rules apply to the rows; it has no sessions */
    struct plugin_link *link;    /* owned */
};

extern const struct store_ops claude_ops;
/* all operations; each store has a copy with only the supported ones */
extern const struct store_ops plugin_ops;

/* An option of the configuration; NULL if it is not set. */
const char *plugin_option(const struct plugin_store *p, const char *name);
/* Downcast. */
const struct plugin_store *plugin_of(const struct store *st);

/* ---- store.c: loading ---- */

/* Loads the file and takes over its table. The caller frees the store, also after a failure. */
MUST_CHECK enum err_code plugin_load(struct plugin_store *p, struct err *e);

/* ---- call.c: calls of a plug-in; errors are cleaned and name the store ---- */

/* A callback. Any code except ERR_OK ends the call and is returned. */
typedef enum err_code plugin_session_fn(const struct reprise_plugin_session *s, void *arg);
typedef enum err_code plugin_row_fn(int64_t position, struct slice row, void *arg);
typedef enum err_code plugin_name_fn(const char *name, void *arg);

store_silent_fn plugin_silent;
/* Opens the place, which every other call does first. */
MUST_CHECK enum err_code plugin_connect(const struct plugin_store *p, struct err *e);
/* The sessions of a scope; with a session's id, those with this id in all projects. scope NULL: all. */
MUST_CHECK enum err_code plugin_list(const struct plugin_store *p, const struct scope *scope,
                                     const char *session, plugin_session_fn *fn, void *arg,
                                     struct err *e);
MUST_CHECK enum err_code plugin_read(const struct plugin_store *p,
                                     const struct reprise_plugin_key *key, int64_t after,
                                     const atomic_bool *cancel, plugin_row_fn *fn, void *arg,
                                     struct err *e);
MUST_CHECK enum err_code plugin_ids(const struct plugin_store *p,
                                    const struct reprise_plugin_key *key, plugin_row_fn *fn,
                                    void *arg, struct err *e);
MUST_CHECK enum err_code plugin_page(const struct plugin_store *p,
                                     const struct reprise_plugin_key *key, int64_t before,
                                     size_t rows, size_t bytes, const atomic_bool *cancel,
                                     plugin_row_fn *fn, void *arg, struct err *e);
/* The plug-in supports it. *position is 0 if no row has this uuid. */
MUST_CHECK enum err_code plugin_find_row(const struct plugin_store *p,
                                         const struct reprise_plugin_key *key, const char *uuid,
                                         int64_t *position, const atomic_bool *cancel,
                                         struct err *e);
/* Returns no keys if the plug-in does not support sub-agents. */
MUST_CHECK enum err_code plugin_subkeys(const struct plugin_store *p,
                                        const struct reprise_plugin_key *key, plugin_name_fn *fn,
                                        void *arg, struct err *e);
/* ERR_STALE: the newest row is another one. ERR_FORMAT: the store cannot hold row number *bad. In
 * both cases nothing was added. */
MUST_CHECK enum err_code plugin_append(const struct plugin_store *p,
                                       const struct reprise_plugin_key *key, int64_t after,
                                       const struct reprise_plugin_text *row, size_t n,
                                       int64_t *last, size_t *bad, struct err *e);
MUST_CHECK enum err_code plugin_remove_key(const struct plugin_store *p,
                                           const struct reprise_plugin_key *key, struct err *e);

/* ---- show.c: rows ---- */

/* Appends a row and its newline. A row that is spread over several lines becomes one. type_first: its member `type`
 * comes first and blanks are left out, as readers of the ends of a file expect it. */
MUST_CHECK enum err_code plugin_row_add(struct buf *out, struct slice row, bool type_first);
/* The same for lines. */
MUST_CHECK enum err_code plugin_rows_add(struct buf *out, struct slice lines, bool type_first);
static inline bool plugin_reorders(const struct plugin_store *p)
{
    return p->table.flags & REPRISE_PLUGIN_REORDERS;
}

/* ---- store.c ---- */

/* ---- list.c ---- */

/* The names of the projects that belong to the directories of a scope, in the arena; NULL if out of memory. */
const char **plugin_projects_of(const struct scope *scope, struct arena *a, size_t *n);
/* "NAME:PROJECT/SESSION", used in place of a path, to which a sub-agent adds "/SUBPATH". .p is NULL if out of memory. */
struct slice plugin_path_of(const struct plugin_store *p, struct slice project,
                            struct slice session, struct arena *a);
/* The key of a ref, in the arena. ERR_USAGE: the ref is not of this store. */
MUST_CHECK enum err_code plugin_key_of(const struct plugin_store *p, const struct session_ref *ref,
                                       struct arena *a, struct reprise_plugin_key *out,
                                       struct err *e);
bool plugin_is_project_of(const char *const *project, size_t n, struct slice folder);
void plugin_catalog_free(struct plugin_catalog *c); /* NULL is fine */
/* Notes that the session changed, so that describe requests its rows again. */
void plugin_forget(const struct plugin_store *p, const struct session_ref *ref);
store_enumerate_fn plugin_enumerate;
store_unreadable_fn plugin_unreadable;
store_find_fn plugin_find;

/* The first and the last rows of one session. */
struct plugin_ends {
    struct buf head, tail;
    int64_t last; /* position of the last row of the head */
    size_t kept;  /* bytes that the tail had when it was last cut */
    bool whole, reorders;
    bool paged;              /* the store has pages; without them all rows pass */
    struct session_row *row; /* receives the row if it was made already */
    bool made;
};

/* Takes them from the last list, or requests them. The caller frees head and tail, also after a failure. */
MUST_CHECK enum err_code plugin_find_ends(const struct plugin_store *p, const struct scope *scope,
                                          const struct session_ref *ref, struct file_id *file,
                                          struct plugin_ends *x, struct err *e);

/* ---- describe.c ---- */

store_describe_fn plugin_describe;
/* Requests both ends of one session. If the plug-in has no pages, the whole session is read, but only the ends are kept. */
MUST_CHECK enum err_code plugin_read_ends(const struct plugin_store *p,
                                          const struct session_ref *ref, const atomic_bool *cancel,
                                          struct plugin_ends *x, struct err *e);
/* Makes the row from the ends, whose head then has both. */
MUST_CHECK enum err_code plugin_describe_rows(const struct plugin_store *p,
                                              const struct session_ref *ref, struct plugin_ends *x,
                                              struct session_row *row, struct err *e);

/* ---- text.c ---- */

/* The rows of a ref as a file of Claude Code's. */
struct plugin_text {
    /* rows that are not in the file yet, or, if n is 0, all rows, which are in the file, too */
    struct buf bytes;
    struct fs_memory_file file;
    struct disk_new *copy;   /* owned; that file, if it is on a disk, else NULL */
    bool stays;              /* it is where it will be */
    int64_t n;               /* bytes that were written as they arrived */
    struct arena arena;      /* owns dir */
    struct slice dir;        /* the session's directory, if rows name it */
    struct session_ref lent; /* for claude_ops with p->claude; valid while the text is open */
    const struct session_ref *ref;
};

MUST_CHECK enum err_code plugin_text_open(const struct plugin_store *p,
                                          const struct session_ref *ref, const atomic_bool *cancel,
                                          struct plugin_text *out, struct err *e);
void plugin_text_close(struct plugin_text *t);
/* Sets the ref that claude_ops reads: the file, under the name of the session. */
void plugin_text_lend(const struct plugin_store *p, struct plugin_text *t);
/* Passes the bytes to the transcript that was made from them, and the transcript to the caller.
 * After a failure the transcript is freed. */
MUST_CHECK enum err_code plugin_text_keep(struct plugin_text *t, struct transcript *made,
                                          struct transcript **out, struct err *e);
/* Returns true for the document about a sub-agent, which is not one of its rows. */
bool plugin_is_agent_metadata(struct slice row);
/* Replaces the path of the unnamed file in an error. Returns rc. */
enum err_code plugin_text_error(const struct plugin_text *t, enum err_code rc, struct err *e);

/* ---- show.c ---- */

store_load_fn plugin_conversation;
store_branches_fn plugin_branches;
store_load_branch_fn plugin_load_branch;
store_blocks_fn plugin_blocks;
store_messages_fn plugin_messages;
store_subagents_fn plugin_subagents;
store_describe_subagents_fn plugin_describe_subagents;
store_subagent_fn plugin_subagent;
store_restore_fn plugin_restore;
store_fork_fn plugin_fork;

/* ---- tail.c ---- */

store_tail_fn plugin_tail;
store_around_fn plugin_around;
void plugin_end_free(struct plugin_newest *end); /* NULL is fine */
/* Delivers the newest messages, or those around one (q->reach), from as few rows as possible. *done is false, and
 * nothing was delivered, if 64 MB of rows are not enough. */
MUST_CHECK enum err_code plugin_end_messages(const struct plugin_store *p,
                                             const struct session_ref *ref,
                                             const struct message_query *q, json_fn *fn, void *arg,
                                             bool *done, struct err *e);

/* ---- pull.c ---- */

store_retrieve_fn plugin_retrieve;
/* <config>/projects/<folder of the session's directory>: where Claude Code looks. A project may have any name, so the
 * directory in the rows is used; `dir` is empty if they have none. */
MUST_CHECK enum err_code plugin_local_folder(const struct plugin_store *p,
                                             const struct session_ref *ref, struct slice dir,
                                             struct arena *a, const char **out, struct err *e);

/* ---- write.c ---- */

store_set_fn plugin_set;
store_remove_fn plugin_remove;
/* The row of a title, without a newline. */
MUST_CHECK enum err_code plugin_write_title(const struct plugin_store *p, struct slice title,
                                            struct slice session, struct buf *out);

/* ---- plugin_host.c: sessions that a host keeps in the store ---- */

store_create_fn plugin_create;
store_append_fn plugin_host_append;
store_host_row_fn plugin_host_row;
void plugin_known_free(struct plugin_known *k); /* NULL is fine */

/* ---- row_set.c ---- */

/* Compares the rows of two places. A store may change the order of members and the spelling of
 * numbers, so a row with a uuid is compared by the uuid, and any other row by its contents,
 * regardless of the order of members. Two rows with the same contents are different rows. */

/* Adds a row to the set. *is_new is true if the set did not contain it. */
MUST_CHECK enum err_code row_set_add(struct idset *set, struct slice row, bool *is_new);
/* Sets *number to that of the row in the set, or to IDSET_NONE. `passed` has a byte for each number, which is not 0 if that
 * row was found before: a second row with the same contents is another row. */
MUST_CHECK enum err_code row_set_find(const struct idset *set, const uint8_t *passed,
                                      struct slice row, uint32_t *number);
/* Returns true if this is a row about a request to the model, which Claude Code keeps on its own machine: the vendor's
 * mirror never adds such rows, so they make neither side newer. */
bool row_is_request(struct slice row);
/* A hash of a JSON value that does not depend on the order of members and the spelling of strings and numbers. */
struct id128 row_contents(struct slice value, struct arena *a);

#endif
