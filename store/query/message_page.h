#ifndef STORE_QUERY_MESSAGE_PAGE_H
#define STORE_QUERY_MESSAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/store.h"
#include "store/api/transcript.h"

/* A conversation page by page, backwards: its newest messages, then those before a message. A store on a server, or of
 * long files, reads only as much of its end as the page needs. */

struct message_page {
    struct message_query query; /* without limit, offset and reach */
    bool spoken;                /* only messages of type user and assistant count */
    size_t most;                /* the most messages of the page; 0: all before the message */
    /* NULL: the store's own form of messages, whose ids are the member `uuid`; else the one of which they are `id` */
    store_messages_fn *read;
    size_t *found; /* NULL, or set to the number of messages before the first is handed over */
    struct message_reach reach; /* how far back was read; zeroed at first */
};

/* Finds a message by its id or a unique beginning of it: the whole id, in the arena, and its place among those that
 * count, which is valid if the page has no limit. ERR_NOT_FOUND; ERR_USAGE: several messages begin like this. */
MUST_CHECK enum err_code message_page_find(struct message_page *p, const struct session_ref *ref,
                                           struct slice id, struct arena *a, struct slice *found,
                                           size_t *at, struct err *e);
/* Hands over the newest messages before the one with this whole id, oldest first; an empty id is the end of the
 * conversation. At most MESSAGE_PAGE_MOST at once. */
enum { MESSAGE_PAGE_MOST = 1000 };
MUST_CHECK enum err_code message_page_read(struct message_page *p, const struct session_ref *ref,
                                           struct slice before, json_fn *fn, void *arg,
                                           struct err *e);
/* Hands over all messages after the one with this whole id, oldest first. The time that it takes depends on their number. */
MUST_CHECK enum err_code message_page_after(struct message_page *p, const struct session_ref *ref,
                                            struct slice after, json_fn *fn, void *arg,
                                            struct err *e);
/* Returns true if a message is of type user or assistant. */
bool message_page_is_spoken(struct slice json);

#endif
