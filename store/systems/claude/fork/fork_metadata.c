#include "store/systems/claude/fork/fork.h"

#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/fork/fork_data_flow.h"

/* Rows of a session that are no messages and that its fork keeps, each written anew in the vendor's words. They
 * are taken from the whole source, also where the fork ends earlier. */

struct carry {
    struct fork *f;
    struct jsonout j;
    struct arena arena;
};

/* Calls back for each row of a kind, in file order. */
typedef bool carry_fn(struct carry *c, struct slice row);

static bool is_own(const struct carry *c, struct slice row)
{
    return claude_row_says(row, "sessionId", c->f->ref->id.p);
}

static enum err_code each(struct carry *c, enum claude_kind kind, carry_fn *fn, struct err *e)
{
    const struct index *ix = &c->f->log.file.index;
    bool more = true;

    for (size_t i = 0; i < ix->n && more; i++) {
        struct slice row;

        if (!claude_line_is(&ix->line[i], kind))
            continue;
        enum err_code rc = claude_log_row(&c->f->log, i, &row, e);

        if (rc)
            return rc;
        more = fn(c, row);
    }
    return ERR_OK;
}

/* As the vendor's readers demand. */
static bool is_carried(struct carry *c, enum claude_kind kind, struct slice value)
{
    struct slice text;

    if (kind == CLAUDE_RELOCATED)
        return claude_truthy(value);
    if (kind != CLAUDE_ATIS_LATCH)
        return true;
    if (!json_text(value, &c->arena, &text)) {
        c->j.rc = ERR_NOMEM;
        return false;
    }
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < '!' || text.p[i] > '~')
            return false;
    return true;
}

/* The last own row of a kind whose member has a type; its value in the arena. */
static enum err_code last_own(struct carry *c, enum claude_kind kind, const char *key,
                              enum json_type type, struct slice *value, struct err *e)
{
    const struct index *ix = &c->f->log.file.index;

    *value = (struct slice){ NULL, 0 };
    for (size_t i = ix->n; i-- > 0;) {
        struct slice row, found;

        if (!claude_line_is(&ix->line[i], kind))
            continue;
        enum err_code rc = claude_log_row(&c->f->log, i, &row, e);

        if (rc)
            return rc;
        if (!is_own(c, row) || !json_get(row, key, &found) || json_type(found) != type ||
            !is_carried(c, kind, found))
            continue;
        *value = arena_copy(&c->arena, found);
        return value->p ? ERR_OK : err_nomem(e);
    }
    return ERR_OK;
}

static void open_row(struct carry *c, const char *type)
{
    c->j.comma = false;
    jsonout_open(&c->j, '{');
    jsonout_key(&c->j, "type");
    jsonout_text(&c->j, slice_of(type));
    jsonout_member(&c->j, "sessionId", slice_of(c->f->id));
}

static void close_row(struct carry *c)
{
    jsonout_close(&c->j, '}');
    if (!c->j.rc)
        c->j.rc = buf_add_byte(c->j.out, '\n');
}

static void raw_member(struct carry *c, const char *key, struct slice value)
{
    jsonout_key(&c->j, key);
    jsonout_raw(&c->j, value);
}

static enum err_code finish(struct carry *c, enum err_code rc, struct err *e)
{
    arena_fini(&c->arena);
    if (!rc && c->j.rc)
        rc = err_nomem(e);
    return rc;
}

/* ---- before the messages ---- */

static bool write_suppression(struct carry *c, struct slice row)
{
    (void)row;
    open_row(c, "history-suppression");
    jsonout_member(&c->j, "cause", SLICE("fork_inherit"));
    jsonout_member(&c->j, "ts", slice_of(c->f->now));
    close_row(c);
    return false;
}

struct organizations {
    struct carry c;
    struct idset seen;
};

/* Each organization once, whichever session it was noted for. */
static bool write_organization(struct carry *c, struct slice row)
{
    struct organizations *o = (struct organizations *)c;
    struct slice value, text;
    size_t before = o->seen.n;
    uint32_t number;

    if (!json_get(row, "organizationUuid", &value) || json_type(value) != JSON_STRING ||
        !json_text(value, &c->arena, &text) || !claude_is_uuid(text))
        return true;
    if (idset_add(&o->seen, id128_of(text), &number)) {
        c->j.rc = ERR_NOMEM;
        return false;
    }
    if (o->seen.n == before)
        return true;
    open_row(c, "hybrid-organization");
    raw_member(c, "organizationUuid", value);
    close_row(c);
    return true;
}

enum err_code fork_before(struct fork *f, struct buf *out, struct err *e)
{
    struct organizations o = { .c = { .f = f } };

    jsonout_init(&o.c.j, out);
    enum err_code rc = each(&o.c, CLAUDE_SUPPRESSION, write_suppression, e);

    if (!rc)
        rc = each(&o.c, CLAUDE_ORGANIZATION, write_organization, e);
    idset_fini(&o.seen);
    return finish(&o.c, rc, e);
}

/* ---- behind them ---- */

struct replacements {
    struct carry c;
    struct buf list;
    struct jsonout items;
};

/* What the agent sees in place of long tool results: without it a fork would send those again in full. */
static bool add_replacements(struct carry *c, struct slice row)
{
    struct replacements *r = (struct replacements *)c;
    struct slice list, key, value;
    struct json_iter it;

    if (!is_own(c, row) || !json_get(row, "replacements", &list) || json_type(list) != JSON_ARRAY)
        return true;
    for (bool more = json_iter_open(&it, list); more && json_iter_next(&it, &key, &value);)
        if (json_type(value) == JSON_OBJECT)
            jsonout_raw(&r->items, value);
    return true;
}

static enum err_code write_replacements(struct fork *f, struct buf *out, struct err *e)
{
    struct replacements r = { .c = { .f = f } };
    char id[UUID_STR_LEN];

    jsonout_init(&r.c.j, out);
    jsonout_init(&r.items, &r.list);
    jsonout_open(&r.items, '[');
    enum err_code rc = each(&r.c, CLAUDE_REPLACEMENT, add_replacements, e);
    bool any = r.list.n > 1;

    jsonout_close(&r.items, ']');
    r.c.j.rc = r.items.rc;
    if (!rc && any) {
        fork_generate_id(id);
        open_row(&r.c, "content-replacement");
        jsonout_key(&r.c.j, "replacements");
        jsonout_raw(&r.c.j, buf_slice(&r.list));
        jsonout_member(&r.c.j, "uuid", slice_of(id));
        jsonout_member(&r.c.j, "timestamp", slice_of(f->now));
        close_row(&r.c);
    }
    buf_fini(&r.list);
    return finish(&r.c, rc, e);
}

/* The names that are names. */
static void write_tools(struct carry *c, struct slice tools)
{
    struct json_iter it;
    struct slice key, value;

    open_row(c, "tools-used");
    jsonout_key(&c->j, "tools");
    jsonout_open(&c->j, '[');
    for (bool more = json_iter_open(&it, tools); more && json_iter_next(&it, &key, &value);)
        if (json_type(value) == JSON_STRING && claude_truthy(value))
            jsonout_raw(&c->j, value);
    jsonout_close(&c->j, ']');
    close_row(c);
}

static enum err_code write_latches(struct fork *f, struct buf *out, struct err *e)
{
    struct carry c = { .f = f };
    struct slice value;
    enum err_code rc;

    jsonout_init(&c.j, out);
    rc = last_own(&c, CLAUDE_ATIS_LATCH, "atis", JSON_STRING, &value, e);
    if (!rc && value.n) {
        open_row(&c, "atis-latch");
        raw_member(&c, "atis", value);
        close_row(&c);
    }
    if (!rc)
        rc = last_own(&c, CLAUDE_TOOLS_USED, "tools", JSON_ARRAY, &value, e);
    if (!rc && value.n)
        write_tools(&c, value);
    return finish(&c, rc, e);
}

static enum err_code write_relocated(struct fork *f, struct buf *out, struct err *e)
{
    struct carry c = { .f = f };
    struct slice value;
    enum err_code rc;

    jsonout_init(&c.j, out);
    rc = last_own(&c, CLAUDE_RELOCATED, "relocatedCwd", JSON_STRING, &value, e);
    if (!rc && value.n) {
        open_row(&c, "relocated");
        raw_member(&c, "relocatedCwd", value);
        close_row(&c);
    }
    return finish(&c, rc, e);
}

enum err_code fork_behind(struct fork *f, struct buf *out, struct err *e)
{
    enum err_code rc = write_replacements(f, out, e);

    if (!rc)
        rc = write_latches(f, out, e);
    if (!rc)
        rc = fork_flow(f, out, e);
    if (!rc)
        rc = write_relocated(f, out, e);
    return rc;
}
