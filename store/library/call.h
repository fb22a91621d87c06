#ifndef STORE_LIBRARY_CALL_H
#define STORE_LIBRARY_CALL_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/cleanup.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/host.h"
#include "store/api/store.h"
#include "store/fs/file_at.h"
#include "store/library/reprise.h"
#include "store/query/listing.h"

/* What every function of reprise.h does first and last. Nothing below this folder includes reprise.h; its types and
 * codes are translated here, so that they are stable while the internals change. */

/* A call in a host's thread. Signals that a write may raise are blocked during it, also in threads that the call
 * starts, which inherit the mask. */
struct call {
    struct signal_hold pipe, size;
    struct err err;
};

void call_begin(struct call *c);
/* Returns rc as a code of reprise.h, and fills in *error if the call failed and error is not NULL. */
int call_end(struct call *c, enum err_code rc, struct reprise_error *error);

/* The end of a function of reprise.h: returns the result of an expression that reports its failure to `e`. */
#define CALL_RETURN(error, expression)                                                             \
    do {                                                                                           \
        struct call call;                                                                          \
        struct err *e = &call.err;                                                                 \
                                                                                                   \
        call_begin(&call);                                                                         \
        return call_end(&call, (expression), (error));                                             \
    } while (0)

/* Fails with REPRISE_USAGE because a handle or another argument that the call needs is NULL. Every function checks its
 * own arguments before it does anything else. */
int call_refuse(struct reprise_error *error);

/* Copies a struct that a caller filled in, whose first member is its size, into one of this version; members that the
 * caller does not know become zero. given may be NULL: all zero. ERR_USAGE: the size is not set, or the caller set
 * members that this version does not know. */
MUST_CHECK enum err_code call_options(const void *given, void *out, size_t size, struct err *e);
/* Copies as much of a result as fits into a struct of the caller; out may be NULL. ERR_USAGE: the size is not set. */
MUST_CHECK enum err_code call_result(const void *result, size_t size, void *out, struct err *e);

/* Checks, before anything is written, that a result (which may be NULL) can be filled in later. */
MUST_CHECK enum err_code call_check_result(const void *out, struct err *e);

/* Fills in an error of reprise.h. */
void call_describe_error(const struct err *e, struct reprise_error *out);

/* The system with this name. The two that are not on disk, which the program's list does not have, are among them. */
const struct store_ops *call_system(struct slice name);

struct slice call_text(const char *text); /* empty for NULL */
/* A NUL-terminated copy; "" if the text is empty. Sets a->failed if out of memory. */
const char *call_copy(struct arena *a, struct slice text);

/* ---- requests that several functions take ---- */

/* The sessions that a query asks for; NULL: all. Texts are in the arena or borrowed. */
MUST_CHECK enum err_code call_query(const struct reprise_query *given, struct arena *a,
                                    struct listing_query *out, struct err *e);

MUST_CHECK enum err_code call_create_request(const struct reprise *r,
                                             const struct reprise_create_request *given,
                                             struct host_create *out, struct err *e);
/* "KEY=VALUE" texts as settings, an array in the arena that borrows from them. */
MUST_CHECK enum err_code call_settings(const char *const *texts, size_t n, struct arena *a,
                                       struct host_setting **out, struct err *e);
/* A longer text of a host is a mistake about its length. */
enum { CALL_TEXT_MOST = 1 << 30 };
/* Appends the rows of a text through a function, and copies their ids. */
typedef enum err_code call_append_fn(const void *session, const struct host_append *req,
                                     struct arena *a, struct host_appended *done, struct err *e);
MUST_CHECK enum err_code call_append(call_append_fn *to, const void *session, struct slice text,
                                     uint32_t flags, struct reprise_texts **ids, struct err *e);

/* ---- answers ---- */

/* What a function of reprise.h returns as a list: an array of public structs, whose texts are in the arena. All kinds
 * of lists are this one struct, and ANSWER defines what a host does with its kind. */
struct answer {
    struct arena arena; /* owns everything */
    char *item;
    size_t n, size; /* the number of items, and the size of one */
};

/* The functions for a list of items, reprise_KIND_count, reprise_KIND_at and reprise_KIND_free. */
#define ANSWER(kind, type)                                                                         \
    struct reprise_##kind {                                                                        \
        struct answer of;                                                                          \
    };                                                                                             \
                                                                                                   \
    size_t reprise_##kind##_count(const struct reprise_##kind *list)                               \
    {                                                                                              \
        return list ? list->of.n : 0;                                                              \
    }                                                                                              \
                                                                                                   \
    const struct type *reprise_##kind##_at(const struct reprise_##kind *list, size_t i)            \
    {                                                                                              \
        return list && i < list->of.n ? (const struct type *)(const void *)list->of.item + i       \
                                      : NULL;                                                      \
    }                                                                                              \
                                                                                                   \
    void reprise_##kind##_free(struct reprise_##kind *list)                                        \
    {                                                                                              \
        answer_free((struct answer *)list);                                                        \
    }                                                                                              \
    struct reprise_##kind

/* The end of a function that returns such a list: an expression fills it, as `x`, and reports its failure to `e`. */
#define ANSWER_RETURN(kind, type, out, error, fill)                                                \
    do {                                                                                           \
        struct answer *x = answer_new(sizeof(struct type));                                        \
        struct call call;                                                                          \
        struct err *e = &call.err;                                                                 \
                                                                                                   \
        call_begin(&call);                                                                         \
        enum err_code rc = answer_finish(x, x ? (fill) : ERR_NOMEM, e);                            \
                                                                                                   \
        if (!rc)                                                                                   \
            *(out) = (struct reprise_##kind *)x;                                                   \
        return call_end(&call, rc, (error));                                                       \
    } while (0)

struct answer *answer_new(size_t size);
/* A new item at the end, all zero; NULL if out of memory. Items move when the next one is added. */
void *answer_add(struct answer *x);
/* Frees the answer if rc is an error, or if it ran out of memory, which then is the error. */
enum err_code answer_finish(struct answer *x, enum err_code rc, struct err *e);
void answer_free(struct answer *x);

/* ---- handles ---- */

struct reprise {
    struct arena arena;
    struct store_env env;
    struct store **store; /* owned */
    size_t n;
    bool in_project; /* the host named its directory */
};

/* The environment with the present time. In that of the stores it is the time at which they were opened. */
struct store_env call_env(const struct reprise *r);

struct reprise_session {
    struct arena arena;
    const struct reprise *stores;
    struct session_ref ref;
    const char *warning; /* A warning about its beginning, in the arena; NULL: none. */
};

/* Returns a handle whose ref was found, or closes it if rc is an error. */
enum err_code session_handle_finish(struct reprise_session *s, enum err_code rc,
                                    struct reprise_session **out, struct err *e);

/* Finds the session again, in the arena: rows may have been appended since, and the first of them may have changed the
 * path of the transcript. */
MUST_CHECK enum err_code session_now(const struct reprise_session *s, struct arena *a,
                                     struct session_ref *out, struct err *e);

struct reprise_texts {
    struct arena arena;
    struct slice *text;
    size_t n;
};

/* The end of a function that returns texts: an expression fills them, as `texts`, and reports its failure to `e`. */
#define TEXTS_RETURN(out, error, fill)                                                             \
    do {                                                                                           \
        struct reprise_texts *texts = texts_new();                                                 \
                                                                                                   \
        CALL_RETURN(error, texts_finish(texts, texts ? (fill) : err_nomem(e), (out)));             \
    } while (0)

struct reprise_texts *texts_new(void);
MUST_CHECK enum err_code texts_add(struct reprise_texts *t, struct slice text, struct err *e);
/* Adds each row of a transcript. */
MUST_CHECK enum err_code texts_add_rows(struct reprise_texts *t, const struct transcript *rows,
                                        struct err *e);
/* Adds the text of a writer that has finished. */
MUST_CHECK enum err_code texts_add_json(struct reprise_texts *t, const struct jsonout *j,
                                        struct err *e);
/* Returns the texts, or frees them if rc is an error. */
enum err_code texts_finish(struct reprise_texts *t, enum err_code rc, struct reprise_texts **out);

#endif
