#ifndef STORE_QUERY_LISTING_H
#define STORE_QUERY_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/json/jsonout.h"
#include "store/api/session.h"
#include "store/api/store.h"

/* A session row as the object that `list --json` prints; missing members are left out. The caller checks j->rc once,
 * at the end. */
void listing_row_json(struct jsonout *j, const struct session_row *row);
/* The same members without the braces, for an object that has more of them (`info`). */
void listing_row_json_members(struct jsonout *j, const struct session_row *row);

/* The sessions of one or several stores in order: names, sizes and mtimes are collected first; then rows are described
 * only as far as the page needs, on several threads, and delivered one by one. Rows are not kept, so the memory for
 * 10,000 sessions is that of their names.
 *
 * If a session is in several folders of a store, only its newest copy that can be listed is delivered. */

enum listing_sort {
    LISTING_RECENT,  /* newest last message first; ties by id, as ops->ties_ascending says */
    LISTING_CREATED, /* newest first; unknown last */
    LISTING_SIZE,    /* largest first */
    LISTING_TITLE,   /* by the summary's bytes */
    LISTING_MODIFIED, /* newest file first, as agents themselves sort; ties by id, as ops->ties_ascending says */
};

/* Receives a session that cannot be listed because a document about it is unusable (HIDDEN_DAMAGED, row->problem), or its
 * file cannot be read or is a link (HIDDEN_UNREADABLE); in no order, valid during the call. */
typedef void listing_damaged_fn(const struct session_row *row, void *arg);

/* A row that waits for others can do so as the text that is written of it, which takes less memory, and is made while other
 * threads still read. Both are called on the calling thread, with the argument of listing_each. */
struct listing_texts {
    enum err_code (*make)(const struct session_row *row, struct buf *text, void *arg);
    /* Receives it in the place of its row; as session_row_fn. */
    enum err_code (*write)(struct slice text, void *arg, struct err *e);
};

struct listing_query {
    struct scope scope;
    enum listing_sort sort;
    struct slice tag, branch;    /* exactly this; empty: any */
    int64_t since_ms, before_ms; /* since <= last message < before; TIME_NONE: open */
    bool archived;               /* only sessions marked as archived */
    int64_t limit, offset;       /* in listable sessions; limit <= 0: no limit */
    listing_damaged_fn *damaged; /* may be NULL */
    void *damaged_arg;
    /* Sessions on servers are left out, unless no store is on this machine. */
    bool here;
    /* If there are sessions on this machine, a server is waited for only a second, and then again by listing_late. */
    bool late;
    /* the texts of rows that wait; NULL: they are kept as rows */
    const struct listing_texts *texts;
};

struct listing;

/* Receives a row, in order; it is valid during the call only. A non-zero result ends the walk and is returned;
 * ERR_CANCELLED without an error text is the way to stop early. */
typedef enum err_code session_row_fn(const struct session_row *row, void *arg, struct err *e);

/* Enumerates the stores and sorts the sessions. The stores and the query's texts must outlive the listing. */
MUST_CHECK enum err_code listing_open(struct store *const stores[], size_t n,
                                      const struct listing_query *q, struct listing **out,
                                      struct err *e);
void listing_close(struct listing *l); /* NULL is fine */
/* Waits for servers that had not answered (query.late). Then the listing has only their sessions, without those that are
 * on this machine as well, and its earlier refs are invalid. *more: it has some. */
MUST_CHECK enum err_code listing_late(struct listing *l, bool *more, struct err *e);
DEFINE_CLEANUP(struct listing, listing_close);

/* Which of these copies of a session a listing of the scope shows; *shown is NULL if it shows none. */
MUST_CHECK enum err_code listing_shown_copy(const struct session_ref *copy, size_t n,
                                            const struct scope *scope,
                                            const struct session_ref **shown, struct err *e);

/* All sessions found, newest first, duplicates and unlistable ones included; borrowed. */
const struct session_ref *const *listing_refs(const struct listing *l, size_t *n);
/* Returns true if the id of one of these is in several folders of its store. */
bool listing_has_copies(const struct session_ref *ref);

/* For callers that walk through listing_refs themselves, newest first: return true if the query may match a session of
 * this time, before it is described (a message is not newer than the last change of its file); if it matches this row;
 * and if this is the first copy of its session, which then counts as listed. */
bool listing_wants_time(const struct listing_query *q, const struct session_ref *ref);
bool listing_wants_row(const struct listing_query *q, const struct session_row *row);
bool listing_take(struct listing *l, const struct session_ref *ref);

/* Describes and delivers the rows of the page. May be called again. By the last message, a row is delivered as soon as no
 * session that is left can be newer; only rows of files that were changed later than their last message wait, in
 * memory. */
MUST_CHECK enum err_code listing_each(struct listing *l, session_row_fn *fn, void *arg,
                                      struct err *e);

/* ---- describing (describe_pool.c) ---- */

/* Describes many sessions on several threads and delivers the rows in order. A few rows are made ahead of the one that
 * is due, and their memory is reused, so that memory does not grow with the list. Each thread has one file open at a
 * time. Two threads suffice while the files are in memory; if the first reads are slow, more are started, because the
 * disk is then the bottleneck. */

enum { DESCRIBE_POOL_AHEAD = 256 };

/* Receives the i-th row, valid during the call; NULL if the session is gone. It may be exchanged for another row, in order
 * to keep it. A non-zero result ends the work and is
 * returned. Called on the calling thread. */
typedef enum err_code describe_pool_fn(size_t i, struct session_row *row, void *arg, struct err *e);

/* `ahead` is how many rows may be made that are perhaps not needed (a page that fills early), at most
 * DESCRIBE_POOL_AHEAD. */
MUST_CHECK enum err_code describe_pool_run(const struct scope *scope,
                                           const struct session_ref *const order[], size_t n,
                                           size_t ahead, describe_pool_fn *fn, void *arg,
                                           struct err *e);

#endif
