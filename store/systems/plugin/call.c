#include <string.h>

#include "store/api/env.h"
#include "store/systems/plugin/plugin.h"

/* ---- a call ---- */

struct calling {
    const struct plugin_store *p;
    const atomic_bool *cancel; /* may be NULL */
    bool writes;               /* it is not interrupted */
    struct reprise_plugin_call call;
    enum err_code own; /* of a callback of ours */
};

static int is_stopped(void *arg)
{
    const struct calling *c = arg;

    if (c->writes)
        return 0;
    return atomic_load(&c->p->link->interrupted) || (c->cancel && atomic_load(c->cancel));
}

static void calling_init(struct calling *c, const struct plugin_store *p, const atomic_bool *cancel)
{
    *c = (struct calling){ .p = p, .cancel = cancel };
    c->call = (struct reprise_plugin_call){
        .size = sizeof c->call, .stopped = is_stopped, .arg = c, .timeout_ms = p->timeout_ms
    };
}

static enum err_code code_of(int rc)
{
    switch (rc) {
    case REPRISE_PLUGIN_OK: return ERR_OK;
    case REPRISE_PLUGIN_NOT_FOUND: return ERR_NOT_FOUND;
    case REPRISE_PLUGIN_CHANGED: return ERR_STALE;
    case REPRISE_PLUGIN_BAD_ROW: return ERR_FORMAT;
    case REPRISE_PLUGIN_STOPPED: return ERR_CANCELLED;
    case REPRISE_PLUGIN_NO_MEMORY: return ERR_NOMEM;
    default: return ERR_IO;
    }
}

/* One line of printable text; the rest of the cleaning is done where it is shown. */
static void clean_reason(char *text)
{
    text[REPRISE_PLUGIN_ERROR - 1] = '\0';
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = ' ';
    size_t n = strlen(text);

    while (n && (text[n - 1] == ' ' || text[n - 1] == '.'))
        text[--n] = '\0';
}

static enum err_code result_of(struct calling *c, int answer, const char *what, struct err *e)
{
    enum err_code rc = code_of(answer);

    if (rc == ERR_OK)
        return ERR_OK;
    if (c->own == ERR_NOMEM || rc == ERR_NOMEM)
        return err_nomem(e);
    if (rc == ERR_CANCELLED)
        return c->own ? err_set(e, c->own, c->p->base.path, "%s", what)
                      : err_set(e, ERR_CANCELLED, c->p->base.path, "%s", what);
    clean_reason(c->call.error);
    return err_set(e, rc, c->p->base.path, "%s: %s", what,
                   c->call.error[0] ? c->call.error : "the plug-in gives no reason");
}

/* ---- opening ---- */

static enum err_code open_now(const struct plugin_store *p, void **opened, struct err *e)
{
    const struct plugin_config *config = &p->config;
    struct calling c;
    struct arena a = { 0 };
    struct reprise_plugin_option *option = arena_alloc(&a, (config->options + 1) * sizeof *option);
    int answer = REPRISE_PLUGIN_NO_MEMORY;

    calling_init(&c, p, NULL);
    for (size_t i = 0; option && i < config->options; i++)
        option[i] =
            (struct reprise_plugin_option){ config->option[i].name, config->option[i].value };
    if (option)
        answer = p->table.open(config->path, option, config->options, &c.call, opened);
    if (answer == REPRISE_PLUGIN_OK && !*opened)
        answer = REPRISE_PLUGIN_FAILED;
    arena_fini(&a);
    return result_of(&c, answer, "open store", e);
}

/* With the lock of the calls, or, for a plug-in that takes several, with the other one: it is opened once. */
static enum err_code open_once(const struct plugin_store *p, void **opened, struct err *e)
{
    enum err_code rc = ERR_OK;

    pthread_mutex_lock(&p->link->call);
    *opened = p->link->opened;
    if (!*opened) {
        rc = open_now(p, opened, e);
        if (!rc)
            p->link->opened = *opened;
    }
    pthread_mutex_unlock(&p->link->call);
    return rc;
}

/* Opens the place if necessary, and lets this thread alone call the plug-in unless that takes several. */
static enum err_code begin(struct calling *c, void **opened, struct err *e)
{
    enum err_code rc = open_once(c->p, opened, e);

    if (!rc && !(c->p->table.flags & REPRISE_PLUGIN_THREADS))
        pthread_mutex_lock(&c->p->link->call);
    return rc;
}

static enum err_code end(struct calling *c, int answer, const char *what, struct err *e)
{
    if (!(c->p->table.flags & REPRISE_PLUGIN_THREADS))
        pthread_mutex_unlock(&c->p->link->call);
    return result_of(c, answer, what, e);
}

enum err_code plugin_connect(const struct plugin_store *p, struct err *e)
{
    void *opened;

    return open_once(p, &opened, e);
}

/* ---- callbacks ---- */

struct handing {
    struct calling *c;
    plugin_session_fn *session;
    plugin_row_fn *row;
    plugin_name_fn *name;
    void *arg;
};

static int stop_if(struct handing *h, enum err_code rc)
{
    h->c->own = rc;
    return rc != ERR_OK;
}

/* Members that the plug-in does not know are 0. Without its names a session cannot be asked for. */
static int hand_session(const struct reprise_plugin_session *s, void *arg)
{
    struct handing *h = arg;
    struct reprise_plugin_session full = { 0 };

    memcpy(&full, s, s->size < sizeof full ? s->size : sizeof full);
    if (!full.project || !full.session || !full.session[0])
        return 0;
    return is_stopped(h->c) ? 1 : stop_if(h, h->session(&full, h->arg));
}

static int hand_row(int64_t position, struct reprise_plugin_text row, void *arg)
{
    struct handing *h = arg;

    if (is_stopped(h->c))
        return 1;
    return stop_if(h, h->row(position, (struct slice){ row.p ? row.p : "", row.n }, h->arg));
}

static int hand_name(const char *name, void *arg)
{
    struct handing *h = arg;

    return is_stopped(h->c) ? 1 : stop_if(h, h->name(name, h->arg));
}

/* ---- the calls ---- */

enum err_code plugin_list(const struct plugin_store *p, const char *session, plugin_session_fn *fn,
                          void *arg, struct err *e)
{
    struct calling c;
    struct handing h = { .c = &c, .session = fn, .arg = arg };
    const struct reprise_plugin_query query = { sizeof query, session };
    void *opened;

    calling_init(&c, p, NULL);
    enum err_code rc = begin(&c, &opened, e);

    if (rc)
        return rc;
    return end(&c, p->table.list(opened, &query, hand_session, &h, &c.call), "list sessions", e);
}

enum err_code plugin_read(const struct plugin_store *p, const struct reprise_plugin_key *key,
                          int64_t after, const atomic_bool *cancel, plugin_row_fn *fn, void *arg,
                          struct err *e)
{
    struct calling c;
    struct handing h = { .c = &c, .row = fn, .arg = arg };
    void *opened;

    calling_init(&c, p, cancel);
    enum err_code rc = begin(&c, &opened, e);

    if (rc)
        return rc;
    return end(&c, p->table.read(opened, key, after, hand_row, &h, &c.call), "read the session", e);
}

enum err_code plugin_ids(const struct plugin_store *p, const struct reprise_plugin_key *key,
                         plugin_row_fn *fn, void *arg, struct err *e)
{
    struct calling c;
    struct handing h = { .c = &c, .row = fn, .arg = arg };
    void *opened;

    if (!p->table.ids)
        return plugin_read(p, key, 0, NULL, fn, arg, e);
    calling_init(&c, p, NULL);
    enum err_code rc = begin(&c, &opened, e);

    if (rc)
        return rc;
    return end(&c, p->table.ids(opened, key, hand_row, &h, &c.call), "compare the session", e);
}

enum err_code plugin_page(const struct plugin_store *p, const struct reprise_plugin_key *key,
                          int64_t before, size_t rows, size_t bytes, plugin_row_fn *fn, void *arg,
                          struct err *e)
{
    struct calling c;
    struct handing h = { .c = &c, .row = fn, .arg = arg };
    void *opened;

    calling_init(&c, p, NULL);
    enum err_code rc = begin(&c, &opened, e);

    if (rc)
        return rc;
    return end(&c, p->table.page(opened, key, before, rows, bytes, hand_row, &h, &c.call),
               "read the end of the session", e);
}

enum err_code plugin_subkeys(const struct plugin_store *p, const struct reprise_plugin_key *key,
                             plugin_name_fn *fn, void *arg, struct err *e)
{
    struct calling c;
    struct handing h = { .c = &c, .name = fn, .arg = arg };
    void *opened;

    if (!p->table.subkeys)
        return ERR_OK;
    calling_init(&c, p, NULL);
    enum err_code rc = begin(&c, &opened, e);

    if (rc)
        return rc;
    return end(&c, p->table.subkeys(opened, key, hand_name, &h, &c.call), "list sub-agents", e);
}

enum err_code plugin_append(const struct plugin_store *p, const struct reprise_plugin_key *key,
                            int64_t after, const struct reprise_plugin_text *row, size_t n,
                            int64_t *last, size_t *bad, struct err *e)
{
    struct calling c;
    void *opened;

    *last = 0;
    calling_init(&c, p, NULL);
    c.writes = true;
    enum err_code rc = begin(&c, &opened, e);

    if (rc)
        return rc;
    rc = end(&c, p->table.append(opened, key, after, row, n, last, &c.call), "append rows", e);
    if (bad)
        *bad = c.call.row;
    return rc;
}

enum err_code plugin_remove_key(const struct plugin_store *p, const struct reprise_plugin_key *key,
                                struct err *e)
{
    struct calling c;
    void *opened;

    calling_init(&c, p, NULL);
    c.writes = true;
    enum err_code rc = begin(&c, &opened, e);

    return rc ? rc : end(&c, p->table.remove(opened, key, &c.call), "delete the session", e);
}
