#ifndef STORE_SYSTEMS_EXATHENA_EVENT_H
#define STORE_SYSTEMS_EXATHENA_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/json/json.h"
#include "lite/scan/index.h"
#include "store/api/store.h"

/* One parsed line of a log. Keys may be in any order; if a key occurs twice, the first one is used, as in the library's
 * reader; unknown keys and kinds are kept and shown. Texts borrow from the line or are in the arena. */
struct event {
    struct slice kind;    /* decoded; empty: missing, or not a text */
    struct slice id;      /* uuid, decoded; may be empty */
    struct slice ts;      /* as written, decoded */
    struct slice data;    /* raw; empty: none */
    struct slice message; /* data.message if that is an object: raw, else empty */
    /* the role of the message, decoded; names the speaker, which the kind does not */
    struct slice role;
    struct slice content; /* the content of the message, raw; empty: none */
};

/* Kinds that the index distinguishes, in the order of exathena_keys.kinds. */
enum event_kind {
    EVENT_OTHER,
    EVENT_USER,
    EVENT_ASSISTANT,
    EVENT_TOOL,
    EVENT_SYSTEM,
    EVENT_START,
    EVENT_RESUME,
};

/* Returns true if the line is an event, that is, a JSON object. A leading byte order mark is
 * skipped. */
bool event_read(struct slice line, struct arena *a, struct event *out);

/* The first member with this name; empty if it is missing. */
struct slice event_member(struct slice object, const char *name);
/* The same for a text, decoded: borrowed or in the arena. Empty if it is missing or not a text; or out of memory, and
 * then the arena has failed. */
struct slice event_text(struct slice object, const char *name, struct arena *a);
/* Opens a member that is a list. Returns false if it is missing or anything else. */
bool event_list(struct slice object, const char *name, struct json_iter *it);

/* The text of a message: its content if that is a text, else the texts of its parts. If out of
 * memory, the arena has failed. */
struct slice event_message_text(const struct event *ev, struct arena *a);

/* New events, as the library writes them: compact, and with the keys in the order of the existing
 * log. The order is not defined and differs between versions of Erlang; readers accept any order. */
enum event_key { KEY_DATA, KEY_TS, KEY_EVENT, KEY_UUID, EVENT_KEYS };

struct event_order {
    enum event_key key[EVENT_KEYS];
};

/* data, ts, event, uuid. */
struct event_order event_order_default(void);
/* The order of a line; the default if it is not a complete event. */
struct event_order event_order_of(struct slice line);

/* "2026-11-21T20:21:58.343000Z": always six digits. */
enum { EVENT_TIME = 40 };
void event_time(int64_t ms, char out[EVENT_TIME]);

struct event_draft {
    struct slice kind; /* a text */
    struct slice data; /* one JSON value */
    struct slice ts;   /* texts */
    struct slice id;
    struct slice rest; /* an object whose other members are copied as written; may be empty */
};

/* Adds the line with its newline. */
MUST_CHECK enum err_code event_write(const struct event_draft *d, const struct event_order *order,
                                     struct buf *out);

/* A valid JSON value as the library's encoder writes it (exathena.md A2): no blanks between its
 * parts, only the required escapes in texts; numbers are copied as written. Half a surrogate pair,
 * which the library cannot read, becomes U+FFFD. The only error is ERR_NOMEM. */
MUST_CHECK enum err_code event_compact(struct buf *out, struct slice value, struct arena *a);

/* An event of a log, found by its uuid: the position of its line, and the numbers of lines before
 * it. If several events have the uuid, it is the first one, as in the library's rewind. */
struct point {
    struct slice id; /* as written, decoded; in the arena */
    size_t line;     /* from 0 */
    int64_t offset;  /* the offset of its line */
    int64_t size;    /* the size of the log when it was read */
    int64_t blank;   /* offset of the first blank line before it; -1: no blank line */
    int64_t time_ms;
    size_t before, total; /* lines that are not blank: before it, and all of them */
};

/* id: a uuid, or the unique beginning of one. ERR_NOT_FOUND: no such event. ERR_USAGE: several begin so. */
MUST_CHECK enum err_code exathena_point(const struct session_ref *ref, struct slice id,
                                        struct arena *a, struct point *out, struct err *e);

#endif
