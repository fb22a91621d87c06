#include <fcntl.h>

#include "lite/base/cleanup.h"
#include "lite/base/utf8.h"
#include "lite/io/window.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/fork/fork.h"
#include "store/systems/claude/list/discover.h"

/* Rows of a session that are not messages but are kept in its fork, rewritten as by the SDK. They are taken from the
 * whole source, even if the fork ends earlier. */

struct carry {
    struct fork *f;
    struct jsonout j;
    struct arena arena;
};

/* Called for each row of a kind, in file order. */
typedef bool carry_fn(struct carry *c, struct slice row);

static bool claude_is_own(const struct carry *c, struct slice row)
{
    return claude_value_is(row, "sessionId", c->f->ref->id.p);
}

static enum err_code each(struct carry *c, enum claude_kind kind, carry_fn *fn, struct err *e)
{
    const struct index *ix = &c->f->log.file.index;
    bool more = true;

    for (size_t i = 0; i < ix->n && more; i++) {
        struct slice row;

        if (!claude_line_is(&ix->line[i], kind))
            continue;
        TRY(claude_log_row(&c->f->log, i, &row, e));
        more = fn(c, row);
    }
    return ERR_OK;
}

/* Returns true for values that the SDK's readers accept. */
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

/* The last row of a kind in which the member has the type; its value is in the arena. */
static enum err_code last_own(struct carry *c, enum claude_kind kind, const char *key,
                              enum json_type type, struct slice *value, struct err *e)
{
    const struct index *ix = &c->f->log.file.index;

    *value = (struct slice){ NULL, 0 };
    for (size_t i = ix->n; i-- > 0;) {
        struct slice row, found;

        if (!claude_line_is(&ix->line[i], kind))
            continue;
        TRY(claude_log_row(&c->f->log, i, &row, e));
        if (!claude_is_own(c, row) || !json_get(row, key, &found) || json_type(found) != type ||
            !is_carried(c, kind, found))
            continue;
        *value = arena_copy(&c->arena, found);
        return value->p ? ERR_OK : err_nomem(e);
    }
    return ERR_OK;
}

static void claude_fork_metadata_open_row(struct carry *c, const char *type)
{
    c->j.comma = false;
    jsonout_open(&c->j, '{');
    jsonout_member(&c->j, "type", slice_of(type));
    jsonout_member(&c->j, "sessionId", slice_of(c->f->id));
}

static enum err_code claude_finish(struct carry *c, enum err_code rc, struct err *e)
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
    claude_fork_metadata_open_row(c, "history-suppression");
    jsonout_member(&c->j, "cause", SLICE("fork_inherit"));
    jsonout_member(&c->j, "ts", slice_of(c->f->now));
    claude_end_row(&c->j);
    return false;
}

struct organizations {
    struct carry c;
    struct idset seen;
};

/* Each organization once, whichever session it was recorded for. */
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
    claude_fork_metadata_open_row(c, "hybrid-organization");
    claude_write_value(&c->j, "organizationUuid", value);
    claude_end_row(&c->j);
    return true;
}

enum err_code fork_metadata_before(struct fork *f, struct buf *out, struct err *e)
{
    struct organizations o = { .c = { .f = f } };

    jsonout_init(&o.c.j, out);
    enum err_code rc = each(&o.c, CLAUDE_SUPPRESSION, write_suppression, e);

    if (!rc)
        rc = each(&o.c, CLAUDE_ORGANIZATION, write_organization, e);
    idset_fini(&o.seen);
    return claude_finish(&o.c, rc, e);
}

/* ---- after the messages ---- */

struct replacements {
    struct carry c;
    struct buf list;
    struct jsonout items;
};

/* The replacements that the agent sees in place of long tool results; without them a fork would
 * send the results again in full. */
static bool claude_add_replacements(struct carry *c, struct slice row)
{
    struct replacements *r = (struct replacements *)c;
    struct slice list, key, value;
    struct json_iter it;

    if (!claude_is_own(c, row) || !json_get(row, "replacements", &list) ||
        json_type(list) != JSON_ARRAY)
        return true;
    for (bool more = json_iter_open(&it, list); more && json_iter_next(&it, &key, &value);)
        if (json_type(value) == JSON_OBJECT)
            jsonout_raw(&r->items, value);
    return true;
}

/* Copies the newest row of a kind whose member is a text. */
static enum err_code write_last_text(struct fork *f, enum claude_kind kind, const char *type,
                                     const char *key, struct buf *out, struct err *e)
{
    struct carry c = { .f = f };
    struct slice value;

    jsonout_init(&c.j, out);
    enum err_code rc = last_own(&c, kind, key, JSON_STRING, &value, e);

    if (!rc && value.n) {
        claude_fork_metadata_open_row(&c, type);
        claude_write_value(&c.j, key, value);
        claude_end_row(&c.j);
    }
    return claude_finish(&c, rc, e);
}

/* Only non-empty strings are names. */
static enum err_code write_tools(struct fork *f, struct buf *out, struct err *e)
{
    struct carry c = { .f = f };
    struct json_iter it;
    struct slice tools, key, value;

    jsonout_init(&c.j, out);
    enum err_code rc = last_own(&c, CLAUDE_TOOLS_USED, "tools", JSON_ARRAY, &tools, e);

    if (!rc && tools.n) {
        claude_fork_metadata_open_row(&c, "tools-used");
        jsonout_key(&c.j, "tools");
        jsonout_open(&c.j, '[');
        for (bool more = json_iter_open(&it, tools); more && json_iter_next(&it, &key, &value);)
            if (json_type(value) == JSON_STRING && claude_truthy(value))
                jsonout_raw(&c.j, value);
        jsonout_close(&c.j, ']');
        claude_end_row(&c.j);
    }
    return claude_finish(&c, rc, e);
}

enum err_code fork_metadata_after(struct fork *f, struct buf *out, struct err *e)
{
    struct replacements r = { .c = { .f = f } };
    char id[UUID_STR_LEN];

    jsonout_init(&r.c.j, out);
    jsonout_init(&r.items, &r.list);
    jsonout_open(&r.items, '[');
    enum err_code rc = each(&r.c, CLAUDE_REPLACEMENT, claude_add_replacements, e);
    bool any = r.list.n > 1;

    jsonout_close(&r.items, ']');
    r.c.j.rc = r.items.rc;
    if (!rc && any) {
        fork_generate_id(id);
        claude_fork_metadata_open_row(&r.c, "content-replacement");
        jsonout_raw_member(&r.c.j, "replacements", buf_slice(&r.list));
        jsonout_member(&r.c.j, "uuid", slice_of(id));
        jsonout_member(&r.c.j, "timestamp", slice_of(f->now));
        claude_end_row(&r.c.j);
    }
    buf_fini(&r.list);
    TRY(claude_finish(&r.c, rc, e));

    TRY(write_last_text(f, CLAUDE_ATIS_LATCH, "atis-latch", "atis", out, e));
    TRY(write_tools(f, out, e));
    TRY(fork_flow(f, out, e));
    return write_last_text(f, CLAUDE_RELOCATED, "relocated", "relocatedCwd", out, e);
}

/* The title of a fork: the requested one, or one made from the title that a list would show for the source. */

/* If the title was removed (an empty one is near the end), no other title is used. */
static bool given_title(struct fork *f, const struct claude_titles *tail,
                        const struct claude_titles *head, struct arena *a, struct slice *title)
{
    *title = tail->custom;
    if (tail->has_custom)
        return true;
    if (!sidecar_title(f->ref, a, title))
        return false;
    if (title->n == 0)
        *title = head->custom;
    return true;
}

static bool source_title(struct fork *f, struct window *w, struct arena *a, struct slice *title)
{
    struct claude_titles tail, head;
    struct prompt prompt = { 0 };

    if (!claude_titles_read(f->c, w->tail, a, &tail) ||
        !claude_titles_read(f->c, w->head, a, &head) || !given_title(f, &tail, &head, a, title))
        return false;
    if (title->n == 0)
        *title = tail.ai;
    if (title->n == 0)
        *title = head.ai;
    if (title->n)
        return true;
    if (!prompt_first(w->head, a, &prompt))
        return false;
    *title = prompt_or_command(&prompt);
    if (title->n == 0)
        *title = SLICE("Forked session");
    return true;
}

static enum err_code claude_fork_metadata_read_source(struct fork *f, struct arena *a,
                                                      struct slice *title, struct err *e)
{
    struct window w;

    TRY(window_init(&w, e));
    enum err_code rc = window_open(&w, AT_FDCWD, f->ref->path.p, FILE_FOLLOW, e);

    if (!rc)
        rc = window_widen(&w, e);
    if (!rc && !source_title(f, &w, a, title))
        rc = err_nomem(e);
    if (!rc) {
        *title = arena_copy(a, *title); /* the window is closed */
        if (!title->p)
            rc = err_nomem(e);
    }
    window_fini(&w);
    return rc;
}

enum err_code fork_title(struct fork *f, struct slice title, struct buf *out, struct err *e)
{
    AUTO_ARENA a = { 0 };
    AUTO_BUF whole = { 0 };
    struct slice text = utf8_js_trim(title), suffix = SLICE("");
    char id[UUID_STR_LEN];
    struct jsonout j;

    if (text.n == 0) {
        suffix = SLICE(" (fork)");
        TRY(claude_fork_metadata_read_source(f, &a, &text, e));
    }
    fork_generate_id(id);
    NEED(!buf_add(&whole, text) && !buf_add(&whole, suffix));
    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("custom-title"));
    jsonout_member(&j, "sessionId", slice_of(f->id));
    jsonout_member(&j, "customTitle", buf_slice(&whole));
    jsonout_member(&j, "uuid", slice_of(id));
    jsonout_member(&j, "timestamp", slice_of(f->now));
    claude_end_row(&j);
    return j.rc ? err_nomem(e) : ERR_OK;
}
