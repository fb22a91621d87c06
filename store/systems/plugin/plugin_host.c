#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/plugin/plugin.h"

/* Sessions that a host keeps in the store of a plug-in. Rows are those of Claude Code, and lack the same members as the
 * ones that a host appends to a local session. Each append names the row that it follows, so programs that append at
 * once take turns, and the conversation is not forked. */

enum { NEWEST_ROWS = 64, NEWEST_BYTES = 1 << 18, TRIES_WITHOUT_NEWS = 8 };

/* The end of the key that was appended to last. The link keeps it, so that a writer requests only the rows that other
 * programs added. */
struct plugin_known {
    char *path; /* owned */
    struct buf before, cwd, title;
    struct idset ids;
    int64_t last;  /* position of the newest row; 0 for an empty key */
    bool complete; /* ids has the ids of all rows, and not only of the newest ones */
};

void plugin_known_free(struct plugin_known *k)
{
    if (!k)
        return;
    free(k->path);
    buf_fini(&k->before);
    buf_fini(&k->cwd);
    buf_fini(&k->title);
    idset_fini(&k->ids);
    free(k);
}

static struct plugin_known *take_known(const struct plugin_store *p, const char *path)
{
    struct plugin_known *k;

    pthread_mutex_lock(&p->link->lock);
    k = p->link->known;
    p->link->known = NULL;
    pthread_mutex_unlock(&p->link->lock);
    if (k && strcmp(k->path, path) == 0)
        return k;
    plugin_known_free(k);
    k = calloc(1, sizeof *k);
    if (k && !(k->path = strdup(path))) {
        free(k);
        return NULL;
    }
    return k;
}

/* ---- the rows of the store ---- */

static enum err_code replace_text(struct buf *out, struct slice text)
{
    out->n = 0;
    return buf_add(out, text);
}

static enum err_code learn_id(int64_t position, struct slice row, void *arg)
{
    struct plugin_known *k = arg;
    AUTO_ARENA a = { 0 };
    struct slice uuid;

    k->last = position > k->last ? position : k->last;
    if (!json_get_text(row, "uuid", &a, &uuid) || !uuid.n)
        return a.failed ? ERR_NOMEM : ERR_OK;
    return idset_add(&k->ids, id128_of(uuid), &(uint32_t){ 0 });
}

static bool is_message(struct slice row)
{
    return json_get_is(row, "type", "user") || json_get_is(row, "type", "assistant") ||
           json_get_is(row, "type", "system") || json_get_is(row, "type", "attachment");
}

/* Replaces a text by that of the row, unless the row has none. */
static enum err_code learn_text(struct slice row, const char *key, struct buf *out)
{
    AUTO_ARENA a = { 0 };
    struct slice text;

    return json_get_text(row, key, &a, &text) && text.n ? replace_text(out, text)
           : a.failed                                   ? ERR_NOMEM
                                                        : ERR_OK;
}

/* The next row follows the last one of the conversation. */
static enum err_code learn_row(int64_t position, struct slice row, void *arg)
{
    struct plugin_known *k = arg;

    TRY(learn_id(position, row, k));
    if (is_message(row))
        TRY(learn_text(row, "uuid", &k->before));
    TRY(learn_text(row, "cwd", &k->cwd));
    return learn_text(row, HOST_CREATED_TITLE, &k->title);
}

/* The newest rows, or those that were added since. named: all ids are needed, because the host repeats some. */
static enum err_code learn_rows(const struct plugin_store *p, const struct reprise_plugin_key *key,
                                bool named, struct plugin_known *k, struct err *e)
{
    if (k->last)
        TRY(plugin_read(p, key, k->last, NULL, learn_row, k, e));
    else if (p->table.page)
        TRY(plugin_page(p, key, 0, NEWEST_ROWS, NEWEST_BYTES, NULL, learn_row, k, e));
    else
        TRY(plugin_read(p, key, 0, NULL, learn_row, k, e));
    if (!named || k->complete)
        return ERR_OK;

    /* A row that is added meanwhile is newer than `last`, so the append is refused and the row is read. */
    int64_t last = k->last;

    TRY(plugin_ids(p, key, learn_id, k, e));
    k->last = last;
    k->complete = true;
    return ERR_OK;
}

/* ---- the rows of the host ---- */

struct host_given {
    struct slice row;   /* complete, except for what depends on the rows before it */
    struct slice id;    /* empty: it has none */
    struct slice agent; /* the sub-agent whose rows it belongs to; empty: the session's own */
    bool named;         /* the id is the caller's */
    bool left_out;      /* a progress row, which the agent shows and does not keep */
};

struct plugin_appending {
    const struct plugin_store *p;
    const struct session_ref *ref;
    struct arena *a;
    struct host_given *given;
    size_t n, present, left_out;
    struct reprise_plugin_key key;
    struct slice agent; /* whose rows are appended; empty: the session's own */
};

enum err_code plugin_host_row(const struct store *st, struct slice row, bool transcript,
                              struct arena *a, struct slice *complete, struct slice *id,
                              struct err *e)
{
    const struct plugin_store *p = plugin_of(st);

    return claude_ops.host_row(p->claude, row, transcript, a, complete, id, e);
}

static struct slice quoted(struct slice text, struct arena *a)
{
    AUTO_BUF out = { 0 };
    struct jsonout j;

    jsonout_init(&j, &out);
    jsonout_text(&j, text);
    return j.rc ? (struct slice){ NULL, 0 } : arena_copy(a, buf_slice(&out));
}

/* Writes the row with the members that it lacks. */
static enum err_code complete_row(const struct plugin_appending *x, const struct host_given *g,
                                  const struct plugin_known *k, struct buf *out)
{
    const struct slice cwd = k->cwd.n ? buf_slice(&k->cwd) : slice_of(x->p->base.env->cwd);
    const struct json_edit member[] = {
        { .name = "sessionId", .value = quoted(x->ref->id, x->a) },
        { .name = "parentUuid",
          .value = k->before.n ? quoted(buf_slice(&k->before), x->a) : SLICE("null") },
        { .name = "isSidechain", .value = x->agent.n ? SLICE("true") : SLICE("false") },
        { .name = "userType", .value = SLICE("\"external\"") },
        { .name = "cwd", .value = quoted(cwd, x->a) },
    };
    const size_t most = is_message(g->row) ? sizeof member / sizeof *member : 1;
    struct json_edit lacking[sizeof member / sizeof *member];
    struct slice there;
    size_t n = 0;

    for (size_t i = 0; i < most; i++) {
        if (!member[i].value.p)
            return ERR_NOMEM;
        if (!json_get(g->row, member[i].name, &there))
            lacking[n++] = member[i];
    }
    return n ? json_edit(out, g->row, lacking, n) : buf_add(out, g->row);
}

/* Writes the rows that the store lacks, one after the other, each to follow the one before; from[i] is where row i
 * begins. Afterwards k describes the end with these rows. */
static enum err_code complete_rows(const struct plugin_appending *x, struct plugin_known *k,
                                   struct buf *rows, size_t *from, size_t *n, size_t *present)
{
    struct slice title = buf_slice(&k->title);

    *n = *present = 0;
    for (size_t i = 0; i < x->n; i++) {
        const struct host_given *g = &x->given[i];
        const bool message = is_message(g->row);
        size_t before = k->ids.n;

        if (g->left_out || !slice_eq(g->agent, x->agent))
            continue;
        if (g->id.n)
            TRY(idset_add(&k->ids, id128_of(g->id), &(uint32_t){ 0 }));
        if (g->id.n && k->ids.n == before) {
            ++*present;
            continue;
        }
        /* A session that was created with a title gets it with its first message. */
        from[(*n)++] = rows->n;
        if (message && !k->before.n && title.n && !x->agent.n) {
            TRY(plugin_write_title(x->p, title, x->ref->id, rows));
            from[(*n)++] = rows->n;
        }
        TRY(complete_row(x, g, k, rows));
        if (message)
            TRY(replace_text(&k->before, g->id));
    }
    from[*n] = rows->n;
    return ERR_OK;
}

static enum err_code append_once(struct plugin_appending *x, struct plugin_known *k,
                                 size_t *present, struct err *e)
{
    AUTO_BUF rows = { 0 };
    size_t n, bad = 0;
    int64_t last = 0;
    size_t *from = arena_alloc(x->a, (x->n + 2) * sizeof *from);
    struct reprise_plugin_text *row = arena_alloc(x->a, (x->n + 1) * sizeof *row);

    if (!from || !row || complete_rows(x, k, &rows, from, &n, present))
        return err_nomem(e);
    if (!n)
        return ERR_OK;
    for (size_t i = 0; i < n; i++)
        row[i] = (struct reprise_plugin_text){ rows.p + from[i], from[i + 1] - from[i] };
    TRY(plugin_append(x->p, &x->key, k->last, row, n, &last, &bad, e));
    k->last = last;
    k->title.n = 0;
    return ERR_OK;
}

/* The rows of one key. After a failure nothing is known, because it may have been appended all the same. */
static enum err_code append_key(struct plugin_appending *x, struct err *e)
{
    struct slice given = x->ref->path;
    const char *path = arena_format(x->a, "%.*s %.*s", SLICE_ARG(given), SLICE_ARG(x->agent));
    enum err_code rc = ERR_STALE;
    size_t present = 0;
    int64_t seen = 0;
    bool named = false;

    for (size_t i = 0; i < x->n; i++)
        named |= x->given[i].named && slice_eq(x->given[i].agent, x->agent);
    for (int i = 0; path && i < TRIES_WITHOUT_NEWS && rc == ERR_STALE; i++) {
        struct plugin_known *k = take_known(x->p, path);

        rc = k ? learn_rows(x->p, &x->key, named, k, e) : err_nomem(e);
        if (!rc && k->last != seen) { /* another program was first */
            seen = k->last;
            i = 0;
        }
        if (!rc)
            rc = append_once(x, k, &present, e);
        if (!rc && k->last) {
            const struct plugin_store *p = x->p;

            pthread_mutex_lock(&p->link->lock);
            struct plugin_known *other = p->link->known;

            p->link->known = k;
            pthread_mutex_unlock(&p->link->lock);
            plugin_known_free(other);
        } else
            plugin_known_free(k);
    }
    x->present += present;
    return path ? rc : err_nomem(e);
}

static bool begins_agent(const struct plugin_appending *x, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (slice_eq(x->given[k].agent, x->given[i].agent))
            return false;
    return x->given[i].agent.n > 0;
}

/* The rows of sub-agents come first, so that a conversation that names them finds them. */
static enum err_code append_keys(struct plugin_appending *x, struct err *e)
{
    bool own = false;

    for (size_t i = 0; i < x->n; i++) {
        own |= !x->given[i].agent.n && !x->given[i].left_out;
        if (!begins_agent(x, i))
            continue;
        x->agent = x->given[i].agent;
        x->key.subpath = arena_format(x->a, "subagents/agent-%.*s", SLICE_ARG(x->agent));
        TRY(x->key.subpath ? append_key(x, e) : err_nomem(e));
    }
    x->agent.n = 0;
    x->key.subpath = NULL;
    return own ? append_key(x, e) : ERR_OK;
}

enum err_code plugin_host_append(const struct store *st, const struct session_ref *ref,
                                 const struct host_append *req, struct arena *a,
                                 struct host_appended *out, struct err *e)
{
    struct plugin_appending x = { .p = plugin_of(st), .ref = ref, .a = a, .n = req->n };
    struct slice *id = arena_zalloc(a, req->n * sizeof *id);

    x.given = arena_zalloc(a, req->n * sizeof *x.given);
    if (!id || !x.given)
        return err_nomem(e);
    if (req->transcript)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                       "append: Claude Code sessions have only one stream");
    TRY(plugin_key_of(x.p, ref, a, &x.key, e));
    for (size_t i = 0; i < req->n; i++) {
        struct slice uuid, side;

        TRY(claude_ops.host_row(x.p->claude, req->row[i], false, x.a, &x.given[i].row,
                                &x.given[i].id, e));
        x.given[i].left_out = json_get_is(req->row[i], "type", "progress");
        x.left_out += x.given[i].left_out;
        x.given[i].named = json_get_text(req->row[i], "uuid", x.a, &uuid) && uuid.n;
        if (!json_get_text(req->row[i], "agentId", x.a, &x.given[i].agent) ||
            (json_get(req->row[i], "isSidechain", &side) && slice_eq(side, SLICE("false"))))
            x.given[i].agent.n = 0;
        if (x.given[i].agent.n && !host_id_is_plain(x.given[i].agent))
            return err_set(e, ERR_USAGE, "", "append: not a valid id of a sub-agent");
        if (x.a->failed)
            return err_nomem(e);

        if (!x.given[i].left_out)
            id[i] = x.given[i].id;
    }
    enum err_code rc = append_keys(&x, e);

    /* Rows may have been added even if the call failed. */
    plugin_forget(x.p, ref);
    if (!rc)
        *out = (struct host_appended){
            .n = req->n, .present = x.present, .left_out = x.left_out, .id = id
        };
    return rc;
}

/* ---- creating a session ---- */

/* A store has a session as soon as it has a row, which is the one that a local session begins with. */
enum err_code plugin_create(const struct store *st, const struct host_create *req, struct arena *a,
                            struct host_created *out, struct err *e)
{
    const struct plugin_store *p = plugin_of(st);

    struct reprise_plugin_key key = { .project = plugin_option(p, "project") };

    char drawn[HOST_ID];
    AUTO_BUF row = { 0 };
    int64_t last;

    host_generate_id(drawn);
    struct slice id = arena_copy(a, req->id.n ? req->id : slice_of(drawn));

    if (!key.project)
        key.project = config_dir_project_name(req->cwd, a).p;
    if (!id.p || !key.project || host_first_row(id, req->cwd, req->title, &row))
        return err_nomem(e);
    if (id.n != HOST_ID - 1 || !id128_uuid(id.p, &(struct id128){ 0 }))
        return err_set(e, ERR_USAGE, "", "create: the id of a session in this store is a UUID");

    /* The id must be new in all projects, not only in this one. */
    TRY(host_id_is_new(st, id, a, "create", e));

    /* The row is added only if the session has none yet, in case another program creates it at this moment. */
    key.session = id.p;
    enum err_code rc =
        plugin_append(p, &key, 0, &(struct reprise_plugin_text){ row.p, row.n }, 1, &last, NULL, e);
    if (rc == ERR_STALE)
        return err_set(e, ERR_STALE, "", "create: a session with this id exists");
    if (rc)
        return rc;

    struct slice folder = slice_of(key.project), path = plugin_path_of(p, folder, id, a);

    if (!path.p)
        return err_nomem(e);
    *out = (struct host_created){ .id = id,
                                  .path = path,
                                  .folder = folder,
                                  .unsaved = (req->model.n ? HOST_MODEL : 0U) |
                                             (req->parent.n ? HOST_PARENT : 0U) };
    return ERR_OK;
}
