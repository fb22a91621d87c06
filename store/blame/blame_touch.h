#ifndef STORE_BLAME_BLAME_TOUCH_H
#define STORE_BLAME_BLAME_TOUCH_H

#include "store/blame/blame_history.h"

/* Which files a session touched, and which sessions touched a file or directory: one entry for each turn and file. */

enum blame_touched {
    BLAME_CREATED = 1 << 0, /* there was no file before */
    BLAME_EDITED = 1 << 1,
    BLAME_DELETED = 1 << 2,
    BLAME_RENAMED = 1 << 3, /* to `to` */
};

struct blame_touch {
    size_t session; /* index into `ref` */
    const char *path, *to;
    struct slice turn, prompt; /* may be empty */
    struct slice message;      /* of the first edit; may be empty */
    struct slice agent;        /* the sub-agent of the first edit; may be empty */
    int64_t time_ms;           /* of the last edit; TIME_NONE: unknown */
    unsigned did;              /* enum blame_touched */
    size_t edits;
    uint64_t added, removed; /* lines */
};

struct blame_touches {
    struct arena arena; /* owns everything but the arrays */
    struct blame_touch *touch;
    size_t n, cap;
    const struct session_ref **ref;
    size_t refs, ref_cap;
};

/* What one session did, in the order of its turns. */
MUST_CHECK enum err_code blame_touches_of(const struct session_ref *ref, const atomic_bool *cancel,
                                          struct blame_touches *out, struct err *e);
/* What all sessions of the query did to its paths, and below them, newest first. An edit that several sessions record,
 * because one was copied from the other, belongs to the older one. */
MUST_CHECK enum err_code blame_touches_read(struct store *const stores[], size_t n,
                                            const struct blame_query *q, struct blame_touches *out,
                                            struct err *e);
void blame_touches_fini(struct blame_touches *t);

#endif
