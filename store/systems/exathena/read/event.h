#ifndef STORE_SYSTEMS_EXATHENA_READ_EVENT_H
#define STORE_SYSTEMS_EXATHENA_READ_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "lite/scan/index.h"

/* One line of a log, read. Keys come in any order; of duplicate keys the first counts, as the library's reader has
 * it; unknown keys and kinds are kept and shown. Texts borrow from the line or live in the arena. */
struct event {
    struct slice kind;    /* decoded; empty: the line has none, or it is no text */
    struct slice id;      /* uuid, decoded; may be empty */
    struct slice ts;      /* as it is written, decoded */
    struct slice data;    /* raw; empty: none */
    struct slice message; /* data.message where that is an object: raw, else empty */
    struct slice role;    /* of the message, decoded; it says who speaks, the kind does not */
    struct slice content; /* of the message, raw; empty: none */
};

/* Kinds that are told apart in the index; the order is that of exathena_keys.kinds. */
enum event_kind {
    EVENT_OTHER,
    EVENT_USER,
    EVENT_ASSISTANT,
    EVENT_TOOL,
    EVENT_SYSTEM,
    EVENT_START,
    EVENT_RESUME,
};
extern const struct index_keys exathena_keys;

/* Is the line an event? It is none when it is no JSON object. A byte order mark in front is passed over. */
bool event_read(struct slice line, struct arena *a, struct event *out);

/* The first member of this name; false (and *value empty) when there is none. */
bool event_member(struct slice object, const char *name, struct slice *value);
/* The same for a text; empty when it is none. False without memory only. */
bool event_text(struct slice object, const char *name, struct arena *a, struct slice *text);

/* What a message says: its content when that is a text, else the texts of its parts. False without memory. */
bool event_said(const struct event *ev, struct arena *a, struct slice *text);

#endif
