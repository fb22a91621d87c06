#include "store/systems/claude/fork/fork.h"

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/claude/chain/row_facts.h"

#define SESSION_TYPE SLICE("\"claude_code_session\"")
#define VIA_FORK SLICE("\"fork\"")

enum { NAME_MOST = 256 };

static bool copy_source_value(struct fork_derived *d, struct slice *value)
{
    if (value->n == 0)
        return true;
    *value = arena_copy(&d->arena, *value);
    return value->p != NULL;
}

static enum err_code add_source(struct fork_derived *d, struct fork_source s)
{
    for (size_t i = 0; i < d->n; i++)
        if (slice_eq(d->source[i].type, s.type) && slice_eq(d->source[i].id, s.id) &&
            slice_eq(d->source[i].via, s.via) && slice_eq(d->source[i].started, s.started))
            return ERR_OK;
    struct fork_source *more = arena_grow(&d->arena, d->source, d->n, sizeof *more);

    if (!more)
        return ERR_NOMEM;
    d->source = more;
    if (!copy_source_value(d, &s.type) || !copy_source_value(d, &s.id) ||
        !copy_source_value(d, &s.via) || !copy_source_value(d, &s.started))
        return ERR_NOMEM;
    d->source[d->n++] = s;
    return ERR_OK;
}

/* Returns true for a string of a reasonable length without control characters. */
static bool claude_is_name(struct slice value)
{
    struct arena a = { 0 };
    struct slice text;
    bool fine = json_type(value) == JSON_STRING && json_text(value, &a, &text) && text.n > 0 &&
                text.n <= NAME_MOST;

    for (size_t i = 0; fine && i < text.n; i++)
        fine = (unsigned char)text.p[i] >= 0x20 && text.p[i] != 0x7f;
    arena_fini(&a);
    return fine;
}

static bool claude_read_source(struct slice entry, struct fork_source *s)
{
    static const char *const types[] = { "claude_code_session", "unknown", NULL };
    static const char *const vias[] = { "clear",    "fork",     "branch", "background", "cloud",
                                        "teleport", "teammate", "launch", "subprocess", "resume",
                                        "import",   "compact",  NULL };

    *s = (struct fork_source){ .started = { NULL, 0 } };
    if (json_type(entry) != JSON_OBJECT || !json_get(entry, "type", &s->type) ||
        !claude_string_in(s->type, types) || !json_get(entry, "via", &s->via) ||
        !claude_string_in(s->via, vias) || !json_get(entry, "id", &s->id))
        return false;
    if (!json_get(entry, "started", &s->started) || !claude_is_name(s->started))
        s->started = (struct slice){ NULL, 0 };
    return json_string_is(s->type, "unknown") ? json_type(s->id) == JSON_NULL
                                              : claude_is_name(s->id);
}

enum err_code fork_derived_read(struct fork_derived *d, struct slice row, bool *damaged)
{
    struct json_iter it;
    struct slice list = { NULL, 0 }, key, value, version;
    struct fork_source s;
    int64_t v = 0;
    bool known = json_get(row, "v", &version) && json_int(version, &v) && v == 1 &&
                 json_get(row, "sessions", &list) && json_type(list) == JSON_ARRAY;
    enum err_code rc = ERR_OK;

    if (!known)
        list = (struct slice){ NULL, 0 };
    *damaged = !known;
    for (bool more = json_iter_open(&it, list); more && json_iter_next(&it, &key, &value);)
        *damaged = *damaged || !claude_read_source(value, &s);
    if (!*damaged)
        d->n = 0;
    d->any = true;
    for (bool more = json_iter_open(&it, list); more && json_iter_next(&it, &key, &value) && !rc;)
        if (claude_read_source(value, &s))
            rc = add_source(d, s);
    return rc;
}

enum err_code fork_derived_copied(struct fork_derived *d, struct slice row)
{
    struct slice from, id;

    if (!json_get(row, "forkedFrom", &from) || json_type(from) != JSON_OBJECT ||
        !json_get(from, "sessionId", &id) || !claude_is_name(id))
        return ERR_OK;
    for (size_t i = 0; i < d->n; i++)
        if (slice_eq(d->source[i].id, id))
            return ERR_OK;
    return add_source(d, (struct fork_source){ .type = SESSION_TYPE, .id = id, .via = VIA_FORK });
}

enum err_code fork_derived_write(struct fork_derived *d, struct slice from, struct jsonout *j)
{
    AUTO_BUF quoted = { 0 };
    struct jsonout text;

    jsonout_init(&text, &quoted);
    jsonout_text(&text, from);
    const struct slice id = arena_copy(&d->arena, buf_slice(&quoted));
    enum err_code rc =
        text.rc || !id.p
            ? ERR_NOMEM
            : add_source(d,
                         (struct fork_source){ .type = SESSION_TYPE, .id = id, .via = VIA_FORK });

    jsonout_open(j, '[');
    for (size_t i = 0; i < d->n && !rc; i++) {
        const struct fork_source *s = &d->source[i];

        jsonout_open(j, '{');
        claude_write_value(j, "type", s->type);
        claude_write_value(j, "id", s->id);
        claude_write_value(j, "via", s->via);
        claude_write_value(j, "started", s->started);
        jsonout_close(j, '}');
    }
    jsonout_close(j, ']');
    return rc ? rc : j->rc;
}

void fork_derived_fini(struct fork_derived *d)
{
    arena_fini(&d->arena);
    *d = (struct fork_derived){ 0 };
}

/* Why a record is incomplete, in the SDK's codes. */
enum {
    LOST_UNKNOWN = 1,
    LOST_UNWATCHED = 11,
    LOST_DAMAGED = 12,
    LOST_COMPACTED = 13,
    LOST_CODES = 64
};

struct flow {
    struct fork *f;
    struct arena arena;
    struct buf records;       /* the elements of the list */
    struct idset tools;       /* tool ids in the list */
    uint64_t lost;            /* bit c: code c is in `code` */
    uint8_t code[LOST_CODES]; /* in the order in which they were noted */
    size_t codes;
    struct fork_derived derived;
    bool flows;
    bool compacted; /* since the last summing-up row */
    enum err_code rc;
};

static void note_lost_code(struct flow *w, int64_t code)
{
    if (code < 0 || code >= LOST_CODES)
        code = LOST_UNKNOWN;
    if (w->lost >> code & 1)
        return;
    w->lost |= UINT64_C(1) << code;
    w->code[w->codes++] = (uint8_t)code;
}

static void claude_add_record(struct flow *w, struct slice record)
{
    struct slice name, call, text;
    size_t before = w->tools.n;
    uint32_t number;
    struct jsonout j;

    if (json_type(record) != JSON_OBJECT || !json_get(record, "tool_name", &name) ||
        json_type(name) != JSON_STRING || !json_get(record, "tool_use_id", &call) ||
        json_type(call) != JSON_STRING || !json_text(call, &w->arena, &text)) {
        note_lost_code(w, LOST_DAMAGED);
        return;
    }
    if (idset_add(&w->tools, id128_of(text), &number))
        w->rc = ERR_NOMEM;
    if (w->rc || w->tools.n == before)
        return;
    jsonout_init(&j, &w->records);
    j.comma = w->records.n > 0;
    jsonout_open(&j, '{');
    claude_write_value(&j, "tool_name", name);
    claude_write_value(&j, "tool_use_id", call);
    jsonout_close(&j, '}');
    w->rc = j.rc;
}

/* A row with `snapshot` replaces all before it. */
static void claude_read_records(struct flow *w, struct slice row)
{
    struct json_iter it;
    struct slice list, key, value;

    w->flows = true;
    if (json_get_true(row, "snapshot")) {
        w->compacted = false;
        idset_fini(&w->tools);
        w->tools = (struct idset){ 0 };
        w->records.n = 0;
    }
    if (!json_get(row, "records", &list) || json_type(list) != JSON_ARRAY) {
        note_lost_code(w, LOST_DAMAGED);
        return;
    }
    for (bool more = json_iter_open(&it, list);
         more && json_iter_next(&it, &key, &value) && !w->rc;)
        claude_add_record(w, value);
}

static void read_lost(struct flow *w, struct slice row)
{
    struct json_iter it;
    struct slice list, key, value;
    int64_t code;

    w->flows = true;
    if (!json_get(row, "codes", &list) || json_type(list) != JSON_ARRAY) {
        note_lost_code(w, LOST_UNKNOWN);
        return;
    }
    for (bool more = json_iter_open(&it, list); more && json_iter_next(&it, &key, &value);)
        note_lost_code(w, json_int(value, &code) ? code : LOST_UNKNOWN);
}

/* For the SDK only a row with an id is a message. */
static bool row_has_uuid(struct slice row)
{
    struct slice id;

    return json_get(row, "uuid", &id) && json_type(id) == JSON_STRING;
}

/* Notes if a message was read while data flows were not recorded. */
static enum err_code claude_read_message(struct flow *w, size_t line, struct err *e)
{
    const struct index_line *l = &w->f->log.file.index.line[line];
    bool watched =
        !w->flows || (w->lost >> LOST_UNWATCHED & 1) || claude_line_has(l, MARK_SIDECHAIN);
    struct slice row;

    if (watched && l->kind != CLAUDE_SYSTEM)
        return ERR_OK;
    enum err_code rc = claude_log_row(&w->f->log, line, &row, e);

    if (rc || !row_has_uuid(row))
        return rc;
    if (l->kind == CLAUDE_SYSTEM && claude_is_boundary(row) &&
        !claude_line_has(l, MARK_SIDECHAIN) && claude_value_is(row, "sessionId", w->f->ref->id.p))
        w->compacted = true;
    if (!watched && !json_get_true(row, "dataFlowOn"))
        note_lost_code(w, LOST_UNWATCHED);
    return ERR_OK;
}

/* Messages that a fork up to a message leaves out count too, because the records are about the
 * whole session. */
static bool claude_is_message(const struct index_line *l)
{
    return l->kind > 0 && l->kind < 64 && (CLAUDE_MAIN_KINDS >> l->kind & 1);
}

static bool is_flow(const struct index_line *l)
{
    return claude_line_is(l, CLAUDE_DATA_FLOW) || claude_line_is(l, CLAUDE_DATA_LOST) ||
           claude_line_is(l, CLAUDE_DERIVED);
}

static enum err_code read_flow_row(struct flow *w, size_t line, struct err *e)
{
    const struct index_line *l = &w->f->log.file.index.line[line];
    struct slice row;
    bool damaged;

    if (claude_is_message(l))
        return claude_read_message(w, line, e);
    if (!is_flow(l))
        return ERR_OK;
    enum err_code rc = claude_log_row(&w->f->log, line, &row, e);

    if (rc || !claude_value_is(row, "sessionId", w->f->ref->id.p))
        return rc;
    switch (l->kind) {
    case CLAUDE_DATA_FLOW: claude_read_records(w, row); break;
    case CLAUDE_DATA_LOST: read_lost(w, row); break;
    default:
        w->rc = fork_derived_read(&w->derived, row, &damaged);
        if (damaged) {
            w->flows = true;
            note_lost_code(w, LOST_DAMAGED);
        }
        break;
    }
    return ERR_OK;
}

/* Most sessions have no such rows, so their messages need not be read. */
static enum err_code claude_read_rows(struct flow *w, struct err *e)
{
    const struct index *ix = &w->f->log.file.index;
    enum err_code rc = ERR_OK;
    size_t i = 0;

    while (i < ix->n && !is_flow(&ix->line[i]))
        i++;
    if (i == ix->n)
        return ERR_OK;
    for (i = 0; i < ix->n && !rc && !w->rc; i++)
        rc = read_flow_row(w, i, e);
    if (w->flows && w->compacted)
        note_lost_code(w, LOST_COMPACTED);
    return rc;
}

/* ---- the rows of the fork ---- */

static void claude_open_row(struct flow *w, struct jsonout *j, const char *type)
{
    j->comma = false;
    jsonout_open(j, '{');
    jsonout_member(j, "type", slice_of(type));
    jsonout_int_member(j, "v", 1);
    jsonout_member(j, "sessionId", slice_of(w->f->id));
}

static enum err_code read_copied(struct flow *w, struct err *e)
{
    const struct index *ix = &w->f->log.file.index;

    for (size_t i = 0; i < ix->n && !w->rc; i++) {
        struct slice row;

        if (!claude_is_message(&ix->line[i]))
            continue;
        enum err_code rc = claude_log_row(&w->f->log, i, &row, e);

        if (rc)
            return rc;
        if (row_has_uuid(row))
            w->rc = fork_derived_copied(&w->derived, row);
    }
    return ERR_OK;
}

enum err_code fork_flow(struct fork *f, struct buf *out, struct err *e)
{
    struct flow w = { .f = f };
    struct jsonout j;
    enum err_code rc = claude_read_rows(&w, e);

    jsonout_init(&j, out);
    if (!rc && !w.rc && w.flows) {
        if (w.codes) {
            claude_open_row(&w, &j, "data-flow-incomplete");
            jsonout_key(&j, "codes");
            jsonout_open(&j, '[');
            for (size_t i = 0; i < w.codes; i++)
                jsonout_int(&j, w.code[i]);
            jsonout_close(&j, ']');
            claude_end_row(&j);
        }
        claude_open_row(&w, &j, "data-flow-records");
        jsonout_key(&j, "records");
        jsonout_open(&j, '[');
        if (w.records.n)
            jsonout_raw(&j, buf_slice(&w.records));
        jsonout_close(&j, ']');
        jsonout_bool_member(&j, "snapshot", true);
        claude_end_row(&j);
    }
    if (!rc && !w.rc && (w.flows || w.derived.any)) {
        rc = read_copied(&w, e);
        claude_open_row(&w, &j, "derived-from");
        jsonout_key(&j, "sessions");
        if (!rc && !w.rc)
            w.rc = fork_derived_write(&w.derived, w.f->ref->id, &j);
        claude_end_row(&j);
    }
    if (!rc && (w.rc || j.rc))
        rc = err_nomem(e);
    idset_fini(&w.tools);
    fork_derived_fini(&w.derived);
    buf_fini(&w.records);
    arena_fini(&w.arena);
    return rc;
}
