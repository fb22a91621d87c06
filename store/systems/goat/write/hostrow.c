#include "store/systems/goat/write/hostrow.h"

#include "lite/json/json.h"
#include "store/systems/common/go_json.h"
#include "store/systems/goat/members.h"

/* The stream's rows are checked by the host's own reader alone. */
static const char *why_no_message(const struct goat_entry *entry)
{
    if (entry->shape == GOAT_NOTHING || entry->shape == GOAT_STREAM || !entry->role.p)
        return "a row without a role is no message";
    return goat_entry_fault(entry);
}

enum err_code goat_hostrow_check(const struct goat_entry *entry, bool stream, struct err *e)
{
    const char *why = why_no_message(entry);

    if (stream)
        why =
            entry->shape == GOAT_STREAM ? NULL : "a row without a type is none of the SDK's stream";
    return why ? err_set(e, ERR_USAGE, "", "append: %s", why) : ERR_OK;
}

/* ---- as a Go program writes it ---- */

struct object {
    struct buf *out;
    bool begun; /* something stands in it */
};

static enum err_code add_member(struct object *o, struct slice key, struct slice value)
{
    enum err_code rc = o->begun ? buf_add_byte(o->out, ',') : ERR_OK;

    o->begun = true;
    if (!rc)
        rc = go_json_compact(o->out, key);
    if (!rc)
        rc = buf_add_byte(o->out, ':');
    return rc ? rc : go_json_compact(o->out, value);
}

/* What stands in the row beside the members that were written apart. */
static enum err_code add_others(struct object *o, struct slice row, const char *const apart[],
                                size_t n)
{
    struct json_iter it;
    struct slice key, value;
    enum err_code rc = ERR_OK;

    for (bool more = json_iter_open(&it, row); !rc && more && json_iter_next(&it, &key, &value);) {
        bool skip = false;

        for (size_t i = 0; i < n; i++)
            skip |= goat_key_is(key, apart[i]);
        if (!skip)
            rc = add_member(o, key, value);
    }
    return rc;
}

static bool is_set(struct slice value)
{
    return value.p && json_type(value) != JSON_NULL;
}

static enum err_code add_said(struct object *o, const struct goat_entry *m, bool flat)
{
    struct slice content = m->content.p ? m->content : SLICE("null");
    enum err_code rc = add_member(o, SLICE("\"role\""), m->role);

    if (!rc && flat && is_set(m->tool_call_id))
        rc = add_member(o, SLICE("\"tool_call_id\""), m->tool_call_id);
    if (!rc)
        rc = add_member(o, SLICE("\"content\""), content);
    if (!rc && is_set(m->tool_calls))
        rc = add_member(o, SLICE("\"tool_calls\""), m->tool_calls);
    if (!rc && !flat && is_set(m->tool_call_id))
        rc = add_member(o, SLICE("\"tool_call_id\""), m->tool_call_id);
    return rc || !is_set(m->name) ? rc : add_member(o, SLICE("\"name\""), m->name);
}

/* Known members, as goat_entry_read finds them: the wrapping ones first. */
static const char *const known[] = { "uuid",    "timestamp",  "message",      "role",
                                     "content", "tool_calls", "tool_call_id", "name" };
enum { WRAPPING = 3, KNOWN = sizeof known / sizeof known[0] };

enum err_code goat_hostrow_message(struct slice row, const struct goat_entry *entry, bool flat,
                                   struct slice time, struct buf *out)
{
    bool nested = entry->shape == GOAT_NESTED;
    struct object line = { .out = out }, inner = { .out = out };
    struct object *said = flat ? &line : &inner;
    enum err_code rc = buf_add_byte(out, '{');

    if (!rc)
        rc = add_member(&line, SLICE("\"uuid\""), entry->uuid);
    if (!rc)
        rc = add_member(&line, SLICE("\"timestamp\""), time);
    if (!rc && !flat)
        rc = buf_add(out, SLICE(",\"message\":{"));
    if (!rc)
        rc = add_said(said, entry, flat);
    if (!rc)
        rc = nested ? add_others(said, entry->message, known + WRAPPING, KNOWN - WRAPPING)
                    : add_others(said, row, known, KNOWN);
    if (!rc && !flat)
        rc = buf_add_byte(out, '}');
    if (!rc && nested)
        rc = add_others(&line, row, known, flat ? (size_t)KNOWN : (size_t)WRAPPING);
    return rc ? rc : buf_add(out, SLICE("}\n"));
}

enum err_code goat_hostrow_event(struct slice row, const struct goat_entry *entry,
                                 struct slice session_id, struct buf *out)
{
    static const char *const in_front[] = { "uuid", "session_id" };
    struct object line = { .out = out };
    struct buf session = { 0 };
    enum err_code rc = go_json_text(&session, session_id);

    if (!rc)
        rc = buf_add_byte(out, '{');
    if (!rc)
        rc = add_member(&line, SLICE("\"uuid\""), entry->uuid);
    if (!rc)
        rc = add_member(&line, SLICE("\"session_id\""), buf_slice(&session));
    if (!rc)
        rc = add_others(&line, row, in_front, 2);
    buf_fini(&session);
    return rc ? rc : buf_add(out, SLICE("}\n"));
}
