#ifndef STORE_SYSTEMS_EXATHENA_WRITE_EVENT_LINE_H
#define STORE_SYSTEMS_EXATHENA_WRITE_EVENT_LINE_H

#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/slice.h"

/* New events, as the library writes them: compact, and in the order of keys that the log has already. The order is
 * not defined and differs between versions of Erlang; a reader takes any. */
enum event_key { KEY_DATA, KEY_TS, KEY_EVENT, KEY_UUID, EVENT_KEYS };

struct event_order {
    enum event_key key[EVENT_KEYS];
};

/* data, ts, event, uuid. */
struct event_order event_order_default(void);
/* That of a line; the default where it is no whole event. */
struct event_order event_order_of(struct slice line);

/* "2026-11-21T20:21:58.343000Z": always six digits. */
enum { EVENT_TIME = 40 };
void event_time(int64_t ms, char out[EVENT_TIME]);

struct event_draft {
    struct slice kind; /* a text */
    struct slice data; /* one JSON value */
    struct slice ts;   /* texts */
    struct slice id;
    struct slice rest; /* an object whose other members come along, as they stand; may be empty */
};

/* Adds the line with its newline. */
MUST_CHECK enum err_code event_write(const struct event_draft *d, const struct event_order *order,
                                     struct buf *out);

#endif
