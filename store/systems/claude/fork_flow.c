#include "store/systems/claude/fork_flow.h"

#include "lite/json.h"
#include "lite/jsonout.h"
#include "store/systems/claude/facts.h"

/* Why a record is not complete, in the vendor's numbers. */
enum { LOST_UNKNOWN = 1, LOST_DAMAGED = 12, LOST_CODES = 64 };

struct flow {
    struct fork *f;
    struct arena arena;
    struct buf records;       /* the elements of the list */
    struct idset tools;       /* calls that are in it */
    uint64_t lost;            /* bit c: code c is noted ... */
    uint8_t code[LOST_CODES]; /* ... in this order */
    size_t codes;
    struct slice sessions; /* of the newest derived-from row; in the arena */
    bool flows, derives;
    enum err_code rc;
};

static void note(struct flow *w, int64_t code)
{
    if (code < 0 || code >= LOST_CODES)
        code = LOST_UNKNOWN;
    if (w->lost >> code & 1)
        return;
    w->lost |= UINT64_C(1) << code;
    w->code[w->codes++] = (uint8_t)code;
}

static void add_record(struct flow *w, struct slice record)
{
    struct slice name, call, text;
    size_t before = w->tools.n;
    uint32_t number;
    struct jsonout j;

    if (json_type(record) != JSON_OBJECT || !json_get(record, "tool_name", &name) ||
        json_type(name) != JSON_STRING || !json_get(record, "tool_use_id", &call) ||
        json_type(call) != JSON_STRING || !json_text(call, &w->arena, &text)) {
        note(w, LOST_DAMAGED);
        return;
    }
    if (idset_add(&w->tools, id128_of(text), &number))
        w->rc = ERR_NOMEM;
    if (w->rc || w->tools.n == before)
        return;
    jsonout_init(&j, &w->records);
    j.comma = w->records.n > 0;
    jsonout_open(&j, '{');
    jsonout_key(&j, "tool_name");
    jsonout_raw(&j, name);
    jsonout_key(&j, "tool_use_id");
    jsonout_raw(&j, call);
    jsonout_close(&j, '}');
    w->rc = j.rc;
}

/* A row that sums up takes the place of all before it. */
static void read_records(struct flow *w, struct slice row)
{
    struct json_iter it;
    struct slice list, key, value;

    w->flows = true;
    if (json_get_true(row, "snapshot")) {
        idset_fini(&w->tools);
        w->tools = (struct idset){ 0 };
        w->records.n = 0;
    }
    if (!json_get(row, "records", &list) || json_type(list) != JSON_ARRAY) {
        note(w, LOST_DAMAGED);
        return;
    }
    for (bool more = json_iter_open(&it, list);
         more && json_iter_next(&it, &key, &value) && !w->rc;)
        add_record(w, value);
}

static void read_lost(struct flow *w, struct slice row)
{
    struct json_iter it;
    struct slice list, key, value;
    int64_t code;

    w->flows = true;
    if (!json_get(row, "codes", &list) || json_type(list) != JSON_ARRAY) {
        note(w, LOST_UNKNOWN);
        return;
    }
    for (bool more = json_iter_open(&it, list); more && json_iter_next(&it, &key, &value);)
        note(w, json_int(value, &code) ? code : LOST_UNKNOWN);
}

static bool is_session(struct slice value)
{
    struct slice id, via;

    return claude_says(value, "type", "claude_code_session") && json_get(value, "id", &id) &&
           json_type(id) == JSON_STRING && json_get(value, "via", &via) &&
           json_type(via) == JSON_STRING;
}

/* A list with one entry that is not understood is damaged as a whole. */
static void read_derived(struct flow *w, struct slice row)
{
    struct json_iter it;
    struct slice list, key, value, version;
    int64_t v = 0;
    bool fine = json_get(row, "v", &version) && json_int(version, &v) && v == 1 &&
                json_get(row, "sessions", &list) && json_type(list) == JSON_ARRAY;

    if (fine)
        for (bool more = json_iter_open(&it, list); more && json_iter_next(&it, &key, &value);)
            fine = fine && is_session(value);
    w->derives = true;
    if (!fine) {
        w->flows = true;
        note(w, LOST_DAMAGED);
        return;
    }
    w->sessions = arena_copy(&w->arena, list);
    if (!w->sessions.p)
        w->rc = ERR_NOMEM;
}

static enum err_code read_rows(struct flow *w, struct err *e)
{
    const struct index *ix = &w->f->log.file.index;

    for (size_t i = 0; i < ix->n && !w->rc; i++) {
        const struct index_line *l = &ix->line[i];
        struct slice row;

        if (!claude_line_is(l, CLAUDE_DATA_FLOW) && !claude_line_is(l, CLAUDE_DATA_LOST) &&
            !claude_line_is(l, CLAUDE_DERIVED))
            continue;
        enum err_code rc = claude_log_row(&w->f->log, i, &row, e);

        if (rc)
            return rc;
        if (!claude_says(row, "sessionId", w->f->ref->id.p))
            continue;
        switch (l->kind) {
        case CLAUDE_DATA_FLOW: read_records(w, row); break;
        case CLAUDE_DATA_LOST: read_lost(w, row); break;
        default: read_derived(w, row); break;
        }
    }
    return ERR_OK;
}

/* ---- what the fork says ---- */

static void open_row(struct flow *w, struct jsonout *j, const char *type)
{
    j->comma = false;
    jsonout_open(j, '{');
    jsonout_member(j, "type", (struct slice){ type, strlen(type) });
    jsonout_key(j, "v");
    jsonout_int(j, 1);
    jsonout_member(j, "sessionId", (struct slice){ w->f->id, strlen(w->f->id) });
}

static void close_row(struct jsonout *j)
{
    jsonout_close(j, '}');
    if (!j->rc)
        j->rc = buf_add_byte(j->out, '\n');
}

static void write_flow(struct flow *w, struct jsonout *j)
{
    if (w->codes) {
        open_row(w, j, "data-flow-incomplete");
        jsonout_key(j, "codes");
        jsonout_open(j, '[');
        for (size_t i = 0; i < w->codes; i++)
            jsonout_int(j, w->code[i]);
        jsonout_close(j, ']');
        close_row(j);
    }
    open_row(w, j, "data-flow-records");
    jsonout_key(j, "records");
    jsonout_open(j, '[');
    if (w->records.n)
        jsonout_raw(j, buf_slice(&w->records));
    jsonout_close(j, ']');
    jsonout_key(j, "snapshot");
    jsonout_bool(j, true);
    close_row(j);
}

static void write_session(struct jsonout *j, struct slice id, struct slice via)
{
    jsonout_open(j, '{');
    jsonout_member(j, "type", SLICE("claude_code_session"));
    jsonout_key(j, "id");
    jsonout_raw(j, id);
    jsonout_key(j, "via");
    jsonout_raw(j, via);
    jsonout_close(j, '}');
}

static void write_derived(struct flow *w, struct jsonout *j)
{
    struct json_iter it;
    struct slice key, value, id, via;
    bool named = false;

    open_row(w, j, "derived-from");
    jsonout_key(j, "sessions");
    jsonout_open(j, '[');
    for (bool more = json_iter_open(&it, w->sessions); more && json_iter_next(&it, &key, &value);) {
        if (!json_get(value, "id", &id) || !json_get(value, "via", &via))
            continue;
        write_session(j, id, via);
        named = named || json_string_is(id, w->f->ref->id.p);
    }
    if (!named) {
        jsonout_open(j, '{');
        jsonout_member(j, "type", SLICE("claude_code_session"));
        jsonout_member(j, "id", w->f->ref->id);
        jsonout_member(j, "via", SLICE("fork"));
        jsonout_close(j, '}');
    }
    jsonout_close(j, ']');
    close_row(j);
}

enum err_code fork_flow(struct fork *f, struct buf *out, struct err *e)
{
    struct flow w = { .f = f };
    struct jsonout j;
    enum err_code rc = read_rows(&w, e);

    jsonout_init(&j, out);
    if (!rc && !w.rc && w.flows)
        write_flow(&w, &j);
    if (!rc && !w.rc && (w.flows || w.derives))
        write_derived(&w, &j);
    if (!rc && (w.rc || j.rc))
        rc = err_set(e, ERR_NOMEM, f->ref->path.p, "fork: out of memory");
    idset_fini(&w.tools);
    buf_fini(&w.records);
    arena_fini(&w.arena);
    return rc;
}
