#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/json/json.h"
#include "store/journal/change.h"
#include "store/systems/plugin/plugin.h"

static bool plugin_is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The end of the string that begins at p, after its closing quote. */
static const char *end_of_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\' && p + 1 < end)
            p++;
    return p < end ? p + 1 : end;
}

/* Appends a value without the blanks between its parts. */
static enum err_code add_compact(struct buf *out, struct slice value)
{
    const char *p = value.p, *end = value.p + value.n;
    enum err_code rc = buf_reserve(out, value.n);

    while (!rc && p < end) {
        const char *from = p;

        if (plugin_is_blank(*p)) {
            p++;
            continue;
        }
        while (p < end && !plugin_is_blank(*p))
            p = *p == '"' ? end_of_string(p, end) : p + 1;
        rc = buf_add(out, (struct slice){ from, (size_t)(p - from) });
    }
    return rc;
}

static enum err_code plugin_add_member(struct buf *out, struct slice key, struct slice value)
{
    enum err_code rc = ERR_OK;

    if (out->n && out->p[out->n - 1] != '{')
        rc = buf_add_byte(out, ',');
    if (!rc)
        rc = buf_add(out, key);
    if (!rc)
        rc = buf_add_byte(out, ':');
    return rc ? rc : add_compact(out, value);
}

enum err_code plugin_row_add(struct buf *out, struct slice row, bool type_first)
{
    size_t before = out->n;
    bool lines = row.n && memchr(row.p, '\n', row.n);
    enum err_code rc;
    struct json_iter it;
    struct slice key, value, type;

    if (!type_first && !lines)
        rc = buf_add(out, row);
    else if (!json_valid(row)) {
        /* A row that does not parse is kept as a broken line. */
        size_t at = out->n;

        rc = buf_add(out, row);

        for (; !rc && at < out->n; at++)
            if (out->p[at] == '\n')
                out->p[at] = ' ';
    } else if (type_first && json_type(row) == JSON_OBJECT) {
        bool typed = json_get(row, "type", &type);

        rc = buf_add_byte(out, '{');

        if (!rc && typed)
            rc = plugin_add_member(out, SLICE("\"type\""), type);
        json_iter_open(&it, row);
        while (!rc && json_iter_next(&it, &key, &value))
            if (!typed || !json_string_is(key, "type"))
                rc = plugin_add_member(out, key, value);
        if (!rc)
            rc = buf_add_byte(out, '}');
    } else
        rc = add_compact(out, row);
    if (!rc)
        rc = buf_add_byte(out, '\n');
    if (rc)
        out->n = before;
    return rc;
}

enum err_code plugin_rows_add(struct buf *out, struct slice lines, bool type_first)
{
    struct slice line;
    bool torn;
    enum err_code rc = ERR_OK;

    while (!rc && slice_line(&lines, &line, &torn))
        if (line.n)
            rc = plugin_row_add(out, line, type_first);
    return rc;
}

/* ---- members of a conversation ---- */

enum err_code plugin_load_branch(const struct store *st, const struct session_ref *ref,
                                 struct id128 leaf, const atomic_bool *cancel,
                                 struct transcript **out, struct err *e)
{
    const struct plugin_store *p = plugin_of(st);
    struct transcript *made = NULL;
    struct plugin_text t;

    TRY(plugin_text_open(p, ref, cancel, &t, e));
    enum err_code rc = plugin_text_error(
        &t, claude_ops.load_branch(p->claude, &t.lent, leaf, cancel, &made, e), e);

    if (!rc)
        rc = plugin_text_keep(&t, made, out, e);
    plugin_text_close(&t);
    return rc;
}

enum err_code plugin_conversation(const struct store *st, const struct session_ref *ref,
                                  const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    return plugin_load_branch(st, ref, (struct id128){ 0 }, cancel, out, e);
}

enum err_code plugin_branches(const struct store *st, const struct session_ref *ref,
                              const atomic_bool *cancel, struct branch_list *out, struct err *e)
{
    const struct plugin_store *p = plugin_of(st);
    struct plugin_text t;

    TRY(plugin_text_open(p, ref, cancel, &t, e));
    enum err_code rc =
        plugin_text_error(&t, claude_ops.branches(p->claude, &t.lent, cancel, out, e), e);

    plugin_text_close(&t);
    return rc;
}

enum err_code plugin_blocks(const struct store *st, struct slice row, struct block_list *out,
                            struct err *e)
{
    return claude_ops.blocks(plugin_of(st)->claude, row, out, e);
}

enum err_code plugin_messages(const struct store *st, const struct session_ref *ref,
                              const struct message_query *q, json_fn *fn, void *arg, struct err *e)
{
    const struct plugin_store *p = plugin_of(st);
    struct arena a = { 0 };
    struct session_ref agent;
    struct plugin_text t;
    struct message_query lent = *q;
    bool done = false;
    enum err_code rc = ERR_OK;

    if (q->agent.n) {
        rc = plugin_subagent(st, ref, q->agent, &a, &agent, e);
        ref = &agent;
        lent.ref_is_agent = true;
    }
    if (!rc && q->reach && p->table.page)
        rc = plugin_end_messages(p, ref, &lent, fn, arg, &done, e);
    if (!rc && !done)
        rc = plugin_text_open(p, ref, q->cancel, &t, e);
    if (!rc && !done) {
        rc = plugin_text_error(&t, claude_ops.messages(p->claude, &t.lent, &lent, fn, arg, e), e);
        plugin_text_close(&t);
    }
    arena_fini(&a);
    return rc;
}

enum err_code plugin_restore(const struct store *st, const struct session_ref *ref, struct slice at,
                             struct restore *out, struct err *e)
{
    const struct plugin_store *p = plugin_of(st);
    struct plugin_text t;

    TRY(plugin_text_open(p, ref, NULL, &t, e));
    enum err_code rc = plugin_text_error(&t, claude_ops.restore(p->claude, &t.lent, at, out, e), e);

    plugin_text_close(&t);
    return rc;
}

/* ---- sub-agents ---- */

#define AGENT "agent-"

struct agents_found {
    struct arena *a;
    struct slice *id, *subpath; /* in the arena */
    size_t n;
};

static enum err_code plugin_add_agent(const char *subpath, void *arg)
{
    struct agents_found *f = arg;
    /* The sub-agent of a subpath "subagents/.../agent-ID"; empty if it is something else. */
    const char *slash = strrchr(subpath, '/'), *name = slash ? slash + 1 : subpath;
    struct slice id =
        strncmp(name, AGENT, sizeof AGENT - 1) != 0 ? SLICE("") : slice_of(name + sizeof AGENT - 1);

    if (id.n == 0)
        return ERR_OK;
    struct slice *ids = arena_grow(f->a, f->id, f->n, sizeof *ids),
                 *subpaths = arena_grow(f->a, f->subpath, f->n, sizeof *subpaths);

    if (!ids || !subpaths)
        return ERR_NOMEM;
    f->id = ids;
    f->subpath = subpaths;
    f->id[f->n] = arena_copy(f->a, id);
    f->subpath[f->n++] = arena_copy(f->a, slice_of(subpath));
    return f->a->failed ? ERR_NOMEM : ERR_OK;
}

static enum err_code find_agents(const struct plugin_store *p, const struct session_ref *ref,
                                 struct arena *a, struct agents_found *out, struct err *e)
{
    struct reprise_plugin_key key;
    enum err_code rc = plugin_key_of(p, ref, a, &key, e);

    *out = (struct agents_found){ .a = a };
    key.subpath = NULL;
    return rc ? rc : plugin_subkeys(p, &key, plugin_add_agent, out, e);
}

enum err_code plugin_subagents(const struct store *st, const struct session_ref *ref,
                               struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    struct agents_found f;
    enum err_code rc = find_agents(plugin_of(st), ref, a, &f, e);

    *ids = f.id;
    *n = f.n;
    return rc;
}

static enum err_code ref_of_agent(const struct plugin_store *p, const struct session_ref *ref,
                                  struct slice id, struct slice subpath, struct arena *a,
                                  struct session_ref *out, struct err *e)
{
    struct reprise_plugin_key key;
    enum err_code rc = plugin_key_of(p, ref, a, &key, e);
    const char *path = rc ? NULL
                          : arena_format(a, "%s:%s/%s/%.*s", p->config.name, key.project,
                                         key.session, SLICE_ARG(subpath));

    if (rc)
        return rc;
    *out = *ref;
    out->id = arena_copy(a, id);
    out->path = path ? slice_of(path) : (struct slice){ NULL, 0 };
    return out->id.p && path ? ERR_OK : err_nomem(e);
}

enum err_code plugin_subagent(const struct store *st, const struct session_ref *ref,
                              struct slice agent, struct arena *a, struct session_ref *out,
                              struct err *e)
{
    const struct plugin_store *p = plugin_of(st);
    struct agents_found f;
    enum err_code rc = find_agents(p, ref, a, &f, e);

    for (size_t i = 0; i < f.n && !rc; i++)
        if (slice_eq(f.id[i], agent))
            return ref_of_agent(p, ref, agent, f.subpath[i], a, out, e);
    return rc ? rc
              : err_set(e, ERR_NOT_FOUND, ref->path.p,
                        "read sub-agent %.*s: no such sub-agent; see reprise subagents",
                        SLICE_ARG(agent));
}

enum { ABOUT_BYTES = 32 << 10, ABOUT_ROWS = 64, LINE_BYTES = 400 };

static struct slice plugin_first_line(struct slice text)
{
    const char *end;

    while (text.n && (unsigned char)*text.p <= ' ')
        text = (struct slice){ text.p + 1, text.n - 1 };
    end = text.n ? memchr(text.p, '\n', text.n) : NULL;
    if (end)
        text.n = (size_t)(end - text.p);
    if (text.n > LINE_BYTES) {
        text.n = LINE_BYTES;
        while (text.n && ((unsigned char)text.p[text.n] & 0xc0) == 0x80)
            text.n--;
    }
    return text;
}

/* Reads facts about a sub-agent from the last rows; for each fact the newest row with it is used. */
static enum err_code read_about_agent(const struct plugin_store *p, struct slice rows,
                                      struct arena *a, struct subagent *out)
{
    struct slice row;
    bool torn;
    enum err_code rc = ERR_OK;

    while (!rc && !out->outcome.n && slice_last_line(&rows, &row, &torn)) {
        struct block_list list = { .n = 0 };

        if (row.n && json_valid(row))
            rc = claude_ops.blocks(p->claude, row, &list, NULL);
        for (size_t i = list.n; !rc && i-- > 0 && !out->outcome.n;)
            if (list.block[i].kind == BLOCK_TEXT) {
                out->outcome = arena_copy(a, plugin_first_line(list.block[i].text));
                out->end = SUBAGENT_DONE;
            }
        transcript_blocks_fini(&list);
    }
    return rc == ERR_NOMEM || a->failed ? ERR_NOMEM : ERR_OK;
}

struct about {
    struct subagent *out;
    struct arena *a;
    struct buf rows;
};

/* The document about it is a row like the others here. */
static enum err_code read_agent_row(int64_t position, struct slice row, void *arg)
{
    struct about *x = arg;
    struct slice text;

    (void)position;
    if (!plugin_is_agent_metadata(row))
        return plugin_row_add(&x->rows, row, true);
    if (json_get_text(row, "agentType", x->a, &text))
        x->out->type = arena_copy(x->a, plugin_first_line(text));
    if (json_get_text(row, "description", x->a, &text))
        x->out->task = arena_copy(x->a, plugin_first_line(text));
    return x->a->failed ? ERR_NOMEM : ERR_OK;
}

enum err_code plugin_describe_subagents(const struct store *st, const struct session_ref *ref,
                                        const atomic_bool *cancel, struct subagent_list *out,
                                        struct err *e)
{
    const struct plugin_store *p = plugin_of(st);
    struct subagent_list list = { .n = 0 };
    struct arena a = { 0 };
    struct agents_found f;
    struct reprise_plugin_key key;
    enum err_code rc = find_agents(p, ref, &a, &f, e);

    if (!rc)
        rc = plugin_key_of(p, ref, &a, &key, e);
    list.agent = rc ? NULL : arena_zalloc(&list.arena, (f.n + 1) * sizeof *list.agent);
    if (!rc && !list.agent)
        rc = err_nomem(e);
    for (; !rc && list.n < f.n; list.n++) {
        if (cancel && atomic_load(cancel))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "list sub-agents");
        list.agent[list.n].id = arena_copy(&list.arena, f.id[list.n]);
        key.subpath = f.subpath[list.n].p;
        if (!rc) {
            /* The first rows of the sub-agent describe it. */
            struct about x = { .out = &list.agent[list.n], .a = &list.arena };

            rc = p->table.page ? plugin_page(p, &key, 0, ABOUT_ROWS, ABOUT_BYTES, cancel,
                                             read_agent_row, &x, e)
                               : plugin_read(p, &key, 0, cancel, read_agent_row, &x, e);

            if (!rc && read_about_agent(p, buf_slice(&x.rows), &list.arena, &list.agent[list.n]))
                rc = err_nomem(e);
            list.agent[list.n].bytes = (int64_t)x.rows.n;
            buf_fini(&x.rows);
        }
    }
    arena_fini(&a);
    if (rc)
        subagent_list_fini(&list);
    else
        *out = list;
    return rc;
}
