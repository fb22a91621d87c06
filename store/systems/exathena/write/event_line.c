#include "store/systems/exathena/write/event_line.h"

#include <stdio.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"

static const char *const names[EVENT_KEYS] = {
    [KEY_DATA] = "data", [KEY_TS] = "ts", [KEY_EVENT] = "event", [KEY_UUID] = "uuid"
};

static bool event_key_of(struct slice quoted, enum event_key *key)
{
    for (int k = 0; k < EVENT_KEYS; k++)
        if (json_string_is(quoted, names[k])) {
            *key = (enum event_key)k;
            return true;
        }
    return false;
}

struct event_order event_order_default(void)
{
    return (struct event_order){ { KEY_DATA, KEY_TS, KEY_EVENT, KEY_UUID } };
}

struct event_order event_order_of(struct slice line)
{
    struct event_order order;
    struct json_iter it;
    struct slice key, value;
    unsigned seen = 0, n = 0;
    bool more = json_valid(line) && json_iter_open(&it, line) && it.object;

    while (more && n < EVENT_KEYS && json_iter_next(&it, &key, &value)) {
        enum event_key k;

        if (!event_key_of(key, &k) || seen >> k & 1)
            continue;
        seen |= 1U << k;
        order.key[n++] = k;
    }
    return n == EVENT_KEYS ? order : event_order_default();
}

void event_time(int64_t ms, char out[EVENT_TIME])
{
    char text[TIME_TEXT];

    time_format(ms, text); /* "...:58.343Z" */
    snprintf(out, EVENT_TIME, "%.*s000Z", (int)strcspn(text, "Z"), text);
}

static void write_rest(struct jsonout *j, struct slice object)
{
    struct json_iter it;
    struct slice key, value;
    enum event_key known;

    if (!object.n || !json_iter_open(&it, object))
        return;
    while (json_iter_next(&it, &key, &value))
        if (!event_key_of(key, &known)) {
            jsonout_raw_key(j, key);
            jsonout_raw(j, value);
        }
}

enum err_code event_write(const struct event_draft *d, const struct event_order *order,
                          struct buf *out)
{
    struct jsonout j;

    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    for (int i = 0; i < EVENT_KEYS; i++) {
        jsonout_key(&j, names[order->key[i]]);
        switch (order->key[i]) {
        case KEY_DATA: jsonout_raw(&j, d->data); break;
        case KEY_TS: jsonout_text(&j, d->ts); break;
        case KEY_EVENT: jsonout_text(&j, d->kind); break;
        default: jsonout_text(&j, d->id); break;
        }
    }
    write_rest(&j, d->rest);
    jsonout_close(&j, '}');
    return j.rc ? j.rc : buf_add_byte(out, '\n');
}
