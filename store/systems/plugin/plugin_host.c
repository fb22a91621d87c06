#include <stdlib.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/api/host.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/write/host_write.h"
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

static void keep_known(const struct plugin_store *p, struct plugin_known *k)
{
    pthread_mutex_lock(&p->link->lock);
    struct plugin_known *other = p->link->known;

    p->link->known = k;
    pthread_mutex_unlock(&p->link->lock);
    plugin_known_free(other);
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

/* A row of the conversation is the one that the next row follows. */
static enum err_code learn_row(int64_t position, struct slice row, void *arg)
{
    struct plugin_known *k = arg;
    AUTO_ARENA a = { 0 };
    struct appending w = { .a = &a };
    struct incoming_row g;
    struct slice text = { NULL, 0 };

    TRY(learn_id(position, row, k));
    if (claude_incoming_row_read(&w, row, &g, NULL))
        return a.failed ? ERR_NOMEM : ERR_OK;
    if (g.named && g.message)
        TRY(replace_text(&k->before, g.id));
    if (!claude_incoming_row_text(row, "cwd", &a, &text) || (text.n && replace_text(&k->cwd, text)))
        return ERR_NOMEM;
    text.n = 0;
    if (!claude_incoming_row_text(row, CLAUDE_CREATED_TITLE, &a, &text))
        return ERR_NOMEM;
    return text.n ? replace_text(&k->title, text) : ERR_OK;
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

struct plugin_appending {
    const struct plugin_store *p;
    struct appending w;
    struct reprise_plugin_key key;
    struct slice agent; /* whose rows are appended; empty: the session's own */
};

static enum err_code complete_row(const struct plugin_appending *x, const struct incoming_row *g,
                                  const struct plugin_known *k, struct buf *out)
{
    struct arena *a = x->w.a;
    char now[TIME_TEXT];

    time_format(env_now_ms(x->w.st->env), now);
    const struct slice cwd = k->cwd.n ? buf_slice(&k->cwd) : slice_of(x->w.st->env->cwd);
    const struct json_edit member[] = {
        { .name = "sessionId", .value = claude_incoming_row_quote(x->w.ref->id, a) },
        { .name = "parentUuid",
          .value =
              k->before.n ? claude_incoming_row_quote(buf_slice(&k->before), a) : SLICE("null") },
        { .name = "isSidechain", .value = x->agent.n ? SLICE("true") : SLICE("false") },
        { .name = "uuid", .value = claude_incoming_row_quote(g->id, a) },
        { .name = "timestamp", .value = claude_incoming_row_quote(slice_of(now), a) },
        { .name = "userType", .value = SLICE("\"external\"") },
        { .name = "cwd", .value = claude_incoming_row_quote(cwd, a) },
    };

    return claude_incoming_row_complete(g, member, g->message ? sizeof member / sizeof *member : 1,
                                        out);
}

/* Writes the rows that the store lacks, one after the other, each to follow the one before; from[i] is where row i
 * begins. Afterwards k describes the end with these rows. */
static enum err_code complete_rows(const struct plugin_appending *x, struct plugin_known *k,
                                   struct buf *rows, size_t *from, size_t *n, size_t *present)
{
    struct slice title = buf_slice(&k->title);
    size_t before;

    *n = *present = 0;
    for (size_t i = 0; i < x->w.n; i++) {
        const struct incoming_row *g = &x->w.given[i];

        if (g->left_out || !slice_eq(g->agent, x->agent))
            continue;
        if (g->id.n) {
            before = k->ids.n;
            TRY(idset_add(&k->ids, id128_of(g->id), &(uint32_t){ 0 }));
            if (k->ids.n == before) {
                ++*present;
                continue;
            }
        }
        /* A session that was created with a title gets it with its first message. */
        from[(*n)++] = rows->n;
        if (g->message && !k->before.n && title.n && !x->agent.n) {
            TRY(plugin_write_title(x->p, title, x->w.ref->id, rows));
            from[(*n)++] = rows->n;
        }
        TRY(complete_row(x, g, k, rows));
        if (g->message)
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
    size_t *from = arena_alloc(x->w.a, (x->w.n + 2) * sizeof *from);
    struct reprise_plugin_text *row = arena_alloc(x->w.a, (x->w.n + 1) * sizeof *row);

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
    struct slice given = x->w.ref->path;
    const char *path = arena_format(x->w.a, "%.*s %.*s", SLICE_ARG(given), SLICE_ARG(x->agent));
    enum err_code rc = ERR_STALE;
    size_t present = 0;
    int64_t seen = 0;
    bool named = false;

    for (size_t i = 0; i < x->w.n; i++)
        named |= x->w.given[i].named && slice_eq(x->w.given[i].agent, x->agent);
    for (int i = 0; path && i < TRIES_WITHOUT_NEWS && rc == ERR_STALE; i++) {
        struct plugin_known *k = take_known(x->p, path);

        rc = k ? learn_rows(x->p, &x->key, named, k, e) : err_nomem(e);
        if (!rc && k->last != seen) { /* another program was first */
            seen = k->last;
            i = 0;
        }
        if (!rc)
            rc = append_once(x, k, &present, e);
        if (!rc && k->last)
            keep_known(x->p, k);
        else
            plugin_known_free(k);
    }
    x->w.present += present;
    return path ? rc : err_nomem(e);
}

static bool begins_agent(const struct appending *w, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (slice_eq(w->given[k].agent, w->given[i].agent))
            return false;
    return w->given[i].agent.n > 0;
}

/* The rows of sub-agents come first, so that a conversation that names them finds them. */
static enum err_code append_keys(struct plugin_appending *x, struct err *e)
{
    bool own = false;

    for (size_t i = 0; i < x->w.n; i++) {
        own |= !x->w.given[i].agent.n && !x->w.given[i].left_out;
        if (!begins_agent(&x->w, i))
            continue;
        x->agent = x->w.given[i].agent;
        x->key.subpath = arena_format(x->w.a, "subagents/agent-%.*s", SLICE_ARG(x->agent));
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
    struct plugin_appending x = { .p = plugin_of(st),
                                  .w = { .st = st, .ref = ref, .a = a, .n = req->n } };
    struct slice *id = arena_zalloc(a, req->n * sizeof *id);

    x.w.given = arena_zalloc(a, req->n * sizeof *x.w.given);
    if (!id || !x.w.given)
        return err_nomem(e);
    if (req->transcript)
        return err_at(e, claude_incoming_row_refuse_stream(e), ref->path.p);
    TRY(plugin_key_of(x.p, ref, a, &x.key, e));
    for (size_t i = 0; i < req->n; i++) {
        TRY(claude_incoming_row_read(&x.w, req->row[i], &x.w.given[i], e));
        if (!x.w.given[i].left_out)
            id[i] = x.w.given[i].id;
    }
    enum err_code rc = append_keys(&x, e);

    plugin_forget(x.p, ref);
    if (!rc)
        *out = (struct host_appended){
            .n = req->n, .present = x.w.present, .left_out = x.w.left_out, .id = id
        };
    return rc;
}

/* ---- creating a session ---- */

/* A store has a session as soon as it has a row, which is the one that a local session begins with. */
enum err_code plugin_create(const struct store *st, const struct host_create *req, struct arena *a,
                            struct host_created *out, struct err *e)
{
    const struct plugin_store *p = plugin_of(st);
    const struct scope everywhere = { .all = true };
    struct reprise_plugin_key key = { .project = plugin_option(p, "project") };
    struct session_ref there;
    char drawn[HOST_ID];
    AUTO_BUF row = { 0 };
    int64_t last;

    host_generate_id(drawn);
    struct slice id = arena_copy(a, req->id.n ? req->id : slice_of(drawn));

    if (!key.project)
        key.project = config_dir_project_name(req->cwd, a).p;
    if (!id.p || !key.project || claude_write_first_row(id, req->cwd, req->title, &row))
        return err_nomem(e);
    if (!claude_is_uuid(id))
        return err_set(e, ERR_USAGE, "", "create: the id of a session in this store is a UUID");
    enum err_code rc = plugin_find(st, &everywhere, id, a, &there, e);

    if (!rc)
        return err_set(e, ERR_STALE, there.path.p, "create: a session with this id exists");
    if (rc != ERR_NOT_FOUND)
        return rc;
    key.session = id.p;
    rc = plugin_append(p, &key, 0, &(struct reprise_plugin_text){ row.p, row.n - 1 }, 1, &last,
                       NULL, e);
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
