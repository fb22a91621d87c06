#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/api/env.h"
#include "store/systems/plugin/plugin.h"

/* ---- a call ---- */

struct calling {
    const struct plugin_store *p;
    const atomic_bool *cancel; /* may be NULL */
    bool writes;               /* it is not interrupted */
    bool anew;                 /* asks a server again that did not answer a moment ago */
    struct reprise_plugin_call call;
    enum err_code own; /* the result of a callback of ours */
    int64_t heard_ms;  /* when the server answered last, or the call began */
    bool silent;       /* it is counted in link->silent */
    /* The time that the call took without that of our callbacks, and the size of its answer. */
    int64_t waited_ms, mark_ms;
    size_t handed, bytes, repeated;
    struct id128 last; /* session */
    const char *over;  /* which limit was exceeded; NULL: none */
};

enum { SILENT_MS = 1000, LOCK_TICK_MS = 50 };

/* A server that keeps sending is never silent, so a call has limits of its own, whatever the plug-in does. It may wait
 * for three timeouts, and a millisecond longer for each 64 bytes that come. */
enum {
    TIMEOUTS_MOST = 3,
    BYTES_PER_MS = 64,
    SESSIONS_MOST = 500000,
    REPEATED_MOST = 1000, /* the same session one after the other */
    NAMES_MOST = 100000,
    LIST_BYTES_MOST = INT32_MAX, /* bytes, of which a list keeps ENDS_MOST */
    ROWS_BYTES_MOST = 512 << 20, /* bytes of one session */
    ROW_COST = 16,               /* what a row counts besides its bytes */
    NAME_COST = 64,              /* a session or the name of a sub-agent */
};

/* The server answered, or the call is over. */
static void hear(struct calling *c)
{
    c->heard_ms = time_clock_ms(CLOCK_MONOTONIC);
    if (c->silent)
        atomic_fetch_sub(&c->p->link->silent, 1);
    c->silent = false;
}

/* Called several times a second while a call waits. */
static bool is_unwanted(struct calling *c)
{
    if (!c->silent && time_clock_ms(CLOCK_MONOTONIC) - c->heard_ms >= SILENT_MS) {
        c->silent = true;
        atomic_fetch_add(&c->p->link->silent, 1);
    }
    return !c->writes &&
           (atomic_load(&c->p->link->interrupted) || (c->cancel && atomic_load(c->cancel)));
}

/* The plug-in's stopped(). */
static int is_stopped(void *arg)
{
    struct calling *c = arg;

    if (!c->writes) {
        int64_t now = time_clock_ms(CLOCK_MONOTONIC);

        c->waited_ms += now - c->mark_ms;
        c->mark_ms = now;
        if (!c->over &&
            c->waited_ms > TIMEOUTS_MOST * c->call.timeout_ms + (int64_t)(c->bytes / BYTES_PER_MS))
            c->over =
                "the server answers too slowly or without end; `timeout` in the configuration "
                "allows more time";
    }
    return is_unwanted(c) || c->over;
}

static void calling_init(struct calling *c, const struct plugin_store *p, const atomic_bool *cancel)
{
    *c = (struct calling){ .p = p, .cancel = cancel, .heard_ms = time_clock_ms(CLOCK_MONOTONIC) };
    c->mark_ms = c->heard_ms;
    c->call = (struct reprise_plugin_call){
        .size = sizeof c->call, .stopped = is_stopped, .arg = c, .timeout_ms = p->timeout_ms
    };
}

static enum err_code plugin_code_of(int rc)
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

static enum err_code plugin_result_of(struct calling *c, int answer, const char *what,
                                      struct err *e)
{
    enum err_code rc = plugin_code_of(answer);

    hear(c);
    bool late =
        c->over || (rc == ERR_IO && c->waited_ms + c->heard_ms - c->mark_ms >= c->call.timeout_ms);

    atomic_store(&c->p->link->gone_ms, late ? c->heard_ms : 0);
    if (rc == ERR_OK)
        return ERR_OK;
    if (c->own == ERR_NOMEM || rc == ERR_NOMEM)
        return err_nomem(e);
    if (c->over)
        return err_set(e, ERR_IO, c->p->base.path, "%s: %s", what, c->over);
    if (rc == ERR_CANCELLED)
        return c->own ? err_set(e, c->own, c->p->base.path, "%s", what)
                      : err_set(e, ERR_CANCELLED, c->p->base.path, "%s", what);

    /* Make one line of printable text; whoever shows it does the rest of the cleaning. */
    char *text = c->call.error;

    text[REPRISE_PLUGIN_ERROR - 1] = '\0';
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = ' ';
    size_t n = strlen(text);

    while (n && (text[n - 1] == ' ' || text[n - 1] == '.'))
        text[--n] = '\0';

    return err_set(e, rc, c->p->base.path, "%s: %s", what,
                   c->call.error[0] ? c->call.error : "the plug-in gives no reason");
}

/* ---- opening ---- */

/* Another thread may hold the lock while it waits for a silent server, so waiting for the lock can
 * be stopped, too. */
static enum err_code lock_call(struct calling *c, struct err *e)
{
    struct timespec until;

    while (pthread_mutex_trylock(&c->p->link->call)) {
        if (is_unwanted(c)) {
            hear(c);
            return err_set(e, ERR_CANCELLED, c->p->base.path, "wait for another call");
        }
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOCK_TICK_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_mutex_timedlock(&c->p->link->call, &until) == 0)
            break;
    }
    c->mark_ms = time_clock_ms(CLOCK_MONOTONIC);
    return ERR_OK;
}

/* Opens the store with the first call that needs it; later calls get the same handle. */
static enum err_code open_once(struct calling *c, void **opened, struct err *e)
{
    struct plugin_link *link = c->p->link;
    enum err_code rc = lock_call(c, e);

    if (rc)
        return rc;
    *opened = link->opened;
    if (!*opened) {
        const struct plugin_config *config = &c->p->config;
        struct arena a = { 0 };
        struct reprise_plugin_option *option =
            arena_alloc(&a, (config->options + 1) * sizeof *option);
        int answer = REPRISE_PLUGIN_NO_MEMORY;

        for (size_t i = 0; option && i < config->options; i++)
            option[i] =
                (struct reprise_plugin_option){ config->option[i].name, config->option[i].value };
        if (option)
            answer = c->p->table.open(config->path, option, config->options, &c->call, opened);

        /* A plug-in that reports success without a store has failed. */
        if (answer == REPRISE_PLUGIN_OK && !*opened)
            answer = REPRISE_PLUGIN_FAILED;
        arena_fini(&a);
        rc = plugin_result_of(c, answer, "open store", e);

        if (!rc) {
            link->opened = *opened;
        } else if (!c->p->base.path[0]) { /* the error has no place to name */
            char name[80];

            snprintf(name, sizeof name, "\"%.70s\"", config->name);
            (void)err_at(e, rc, name);
        }
    }
    pthread_mutex_unlock(&link->call);
    return rc;
}

/* Opens the place if necessary, and locks the plug-in for this thread unless it supports several. */
static enum err_code plugin_begin(struct calling *c, void **opened, struct err *e)
{
    int64_t gone_ms = atomic_load(&c->p->link->gone_ms);

    /* Otherwise each of a thousand listed sessions would wait for a timeout of its own. */
    if (!c->anew && gone_ms && c->mark_ms - gone_ms < c->p->timeout_ms)
        return err_set(e, ERR_IO, c->p->base.path, "the server did not answer a moment ago");
    TRY(open_once(c, opened, e));
    if (!(c->p->table.flags & REPRISE_PLUGIN_THREADS))
        TRY(lock_call(c, e));
    return ERR_OK;
}

static enum err_code end(struct calling *c, int answer, const char *what, struct err *e)
{
    if (!(c->p->table.flags & REPRISE_PLUGIN_THREADS))
        pthread_mutex_unlock(&c->p->link->call);
    return plugin_result_of(c, answer, what, e);
}

enum err_code plugin_connect(const struct plugin_store *p, struct err *e)
{
    struct calling c;
    void *opened;

    calling_init(&c, p, NULL);
    return open_once(&c, &opened, e);
}

bool plugin_silent(const struct store *st)
{
    return atomic_load(&plugin_of(st)->link->silent) > 0;
}

/* ---- callbacks ---- */

struct handing {
    struct calling *c;
    plugin_session_fn *session;
    plugin_row_fn *row;
    plugin_name_fn *name;
    void *arg;
};

/* Our own work is not the server's time. */
static int stop_if(struct handing *h, enum err_code rc)
{
    h->c->own = rc;
    h->c->mark_ms = time_clock_ms(CLOCK_MONOTONIC);
    return rc != ERR_OK;
}

/* Counts what came; returns true if the call must stop. */
static bool count_handed(struct calling *c, size_t bytes, size_t handed_most, size_t bytes_most,
                         const char *over)
{
    hear(c);
    c->handed++;
    c->bytes = bytes < SIZE_MAX - c->bytes ? c->bytes + bytes : SIZE_MAX;
    if (c->handed > handed_most || c->bytes > bytes_most)
        c->over = over;
    return is_stopped(c);
}

/* Members that the plug-in does not know are 0. Without its names a session cannot be requested. */
static int plugin_hand_session(const struct reprise_plugin_session *s, void *arg)
{
    struct handing *h = arg;
    struct reprise_plugin_session full = { 0 };

    memcpy(&full, s, s->size < sizeof full ? s->size : sizeof full);
    if (!full.project || !full.session || !full.session[0])
        return 0;
    struct id128 id = id128_of(slice_of(full.session));

    h->c->repeated = id128_eq(id, h->c->last) ? h->c->repeated + 1 : 0;
    h->c->last = id;
    if (h->c->repeated > REPEATED_MOST)
        h->c->over = "the list repeats itself";
    if (count_handed(h->c,
                     NAME_COST + strlen(full.project) + strlen(full.session) + full.head.n +
                         full.tail.n,
                     SESSIONS_MOST, LIST_BYTES_MOST, "the list is too long"))
        return 1;
    return stop_if(h, h->session(&full, h->arg));
}

static int plugin_hand_row(int64_t position, struct reprise_plugin_text row, void *arg)
{
    struct handing *h = arg;

    if (count_handed(h->c, row.n + ROW_COST, SIZE_MAX, ROWS_BYTES_MOST,
                     "the session is larger than 512 MB"))
        return 1;
    return stop_if(h, h->row(position, (struct slice){ row.p ? row.p : "", row.n }, h->arg));
}

static int plugin_hand_name(const char *name, void *arg)
{
    struct handing *h = arg;

    if (count_handed(h->c, NAME_COST + strlen(name), NAMES_MOST, ROWS_BYTES_MOST,
                     "the session has too many sub-agents"))
        return 1;
    return stop_if(h, h->name(name, h->arg));
}

/* ---- the calls ---- */

enum err_code plugin_list(const struct plugin_store *p, const struct scope *scope,
                          const char *session, plugin_session_fn *fn, void *arg, struct err *e)
{
    struct calling c;
    struct handing h = { .c = &c, .session = fn, .arg = arg };
    struct reprise_plugin_query query = { .size = sizeof query, .session = session };
    AUTO_ARENA a = { 0 };
    void *opened;

    calling_init(&c, p, scope ? scope->cancel : NULL);
    c.anew = true;
    if (scope && scope->patience_ms > 0 && scope->patience_ms < c.call.timeout_ms)
        c.call.timeout_ms = scope->patience_ms;
    if (scope && !session) {
        query.since_ms = scope->stored_since_ms;
        query.newest = scope->newest;
        if (!scope->all && !(query.project = plugin_projects_of(scope, &a, &query.projects)))
            return err_nomem(e);
    }
    TRY(plugin_begin(&c, &opened, e));
    return end(&c, p->table.list(opened, &query, plugin_hand_session, &h, &c.call), "list sessions",
               e);
}

enum err_code plugin_read(const struct plugin_store *p, const struct reprise_plugin_key *key,
                          int64_t after, const atomic_bool *cancel, plugin_row_fn *fn, void *arg,
                          struct err *e)
{
    struct calling c;
    struct handing h = { .c = &c, .row = fn, .arg = arg };
    void *opened;

    calling_init(&c, p, cancel);
    TRY(plugin_begin(&c, &opened, e));
    return end(&c, p->table.read(opened, key, after, plugin_hand_row, &h, &c.call),
               "read the session", e);
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
    TRY(plugin_begin(&c, &opened, e));
    return end(&c, p->table.ids(opened, key, plugin_hand_row, &h, &c.call), "compare the session",
               e);
}

enum err_code plugin_page(const struct plugin_store *p, const struct reprise_plugin_key *key,
                          int64_t before, size_t rows, size_t bytes, const atomic_bool *cancel,
                          plugin_row_fn *fn, void *arg, struct err *e)
{
    struct calling c;
    struct handing h = { .c = &c, .row = fn, .arg = arg };
    void *opened;

    calling_init(&c, p, cancel);
    TRY(plugin_begin(&c, &opened, e));
    return end(&c, p->table.page(opened, key, before, rows, bytes, plugin_hand_row, &h, &c.call),
               "read the end of the session", e);
}

enum err_code plugin_find_row(const struct plugin_store *p, const struct reprise_plugin_key *key,
                              const char *uuid, int64_t *position, const atomic_bool *cancel,
                              struct err *e)
{
    struct calling c;
    void *opened;

    calling_init(&c, p, cancel);
    TRY(plugin_begin(&c, &opened, e));
    return end(&c, p->table.find(opened, key, uuid, position, &c.call), "find a row", e);
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
    TRY(plugin_begin(&c, &opened, e));
    return end(&c, p->table.subkeys(opened, key, plugin_hand_name, &h, &c.call), "list sub-agents",
               e);
}

enum err_code plugin_append(const struct plugin_store *p, const struct reprise_plugin_key *key,
                            int64_t after, const struct reprise_plugin_text *row, size_t n,
                            int64_t *last, size_t *bad, struct err *e)
{
    struct calling c;
    void *opened;

    *last = 0;
    calling_init(&c, p, NULL);
    c.writes = c.anew = true;
    TRY(plugin_begin(&c, &opened, e));
    enum err_code rc =
        end(&c, p->table.append(opened, key, after, row, n, last, &c.call), "append rows", e);

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
    c.writes = c.anew = true;
    TRY(plugin_begin(&c, &opened, e));
    return end(&c, p->table.remove(opened, key, &c.call), "delete the session", e);
}
