/* The complete store (complete_store.c), with one promise of the interface broken: BROKEN names it, BROKEN_STORE_OF the
 * plug-in to break. For `reprise doctor --plugin`. */
#define _GNU_SOURCE
#include <reprise_plugin.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct reprise_plugin *whole;

static int is(const char *kind)
{
    const char *broken = getenv("BROKEN");

    return broken && strcmp(broken, kind) == 0;
}

static int broken_open(const char *path, const struct reprise_plugin_option *option, size_t options,
                       struct reprise_plugin_call *call, void **store)
{
    void *library = dlopen(getenv("BROKEN_STORE_OF"), RTLD_NOW | RTLD_LOCAL);

    whole = library ? dlsym(library, REPRISE_PLUGIN_SYMBOL) : NULL;
    if (!whole || is("refuses")) {
        strcpy(call->error, "broken\033[31m for a test");
        return REPRISE_PLUGIN_REFUSED;
    }
    return whole->open(path, option, options, call, store);
}

static void broken_close(void *store)
{
    whole->close(store);
}

/* ---- the list ---- */

struct relisting {
    reprise_plugin_session_fn *fn;
    void *arg;
};

static int relist(const struct reprise_plugin_session *s, void *arg)
{
    struct relisting *l = arg;
    struct reprise_plugin_session other = *s;

    if (is("list forgets") && strstr(s->session, "-7-b"))
        return 0;
    if (is("list in seconds"))
        other.mtime_ms /= 1000;
    if (is("list goes back") && s->bytes > 60)
        other.mtime_ms -= 100000;
    return l->fn(&other, l->arg);
}

static int broken_list(void *store, const struct reprise_plugin_query *query,
                       reprise_plugin_session_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    struct relisting l = { fn, arg };

    if (is("list ends the process"))
        _exit(3);
    if (is("list names sub-agents") && query->project) {
        char id[128];
        const char *dash = strstr(*query->project, "-8-proj");
        struct reprise_plugin_session s = {
            .size = sizeof s, .project = *query->project, .session = id, .mtime_ms = 1700000000000
        };

        strcpy(id, "agent-alone");
        if (dash && fn(&s, arg))
            return REPRISE_PLUGIN_STOPPED;
    }
    return whole->list(store, query, relist, &l, call);
}

/* ---- rows ---- */

struct rereading {
    reprise_plugin_row_fn *fn;
    void *arg;
    const struct reprise_plugin_key *key;
    int64_t last;
    int rows;
};

static int reread(int64_t position, struct reprise_plugin_text row, void *arg)
{
    struct rereading *r = arg;

    r->rows++;
    if (is("read cuts large rows") && row.n > 1000000)
        row.n = 1000;
    if (is("positions repeat") && r->rows > 1)
        position = r->last;
    r->last = position;
    if (is("read goes on")) {
        r->fn(position, row, r->arg);
        return 0;
    }
    return r->fn(position, row, r->arg);
}

static int read_key(void *store, const struct reprise_plugin_key *key, int64_t after,
                    reprise_plugin_row_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    struct rereading r = { fn, arg, key, 0, 0 };

    return whole->read(store, key, after, reread, &r, call);
}

static int broken_read(void *store, const struct reprise_plugin_key *key, int64_t after,
                       reprise_plugin_row_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    static const struct reprise_plugin_text made = { "{}", 2 };

    if (is("read invents") && (strstr(key->session, "nope") || key->subpath))
        return fn(1, made, arg) ? REPRISE_PLUGIN_STOPPED : REPRISE_PLUGIN_OK;
    if (is("read hangs") && after)
        for (;;)
            pause();
    if (is("read from the start"))
        after = 0;
    return read_key(store, key, after, fn, arg, call);
}

static int broken_page(void *store, const struct reprise_plugin_key *key, int64_t before,
                       size_t rows, size_t bytes, reprise_plugin_row_fn *fn, void *arg,
                       struct reprise_plugin_call *call)
{
    return whole->page(store, key, is("page from the end") ? 0 : before, rows, bytes, fn, arg,
                       call);
}

static int skip_row(int64_t position, struct reprise_plugin_text row, void *arg)
{
    const struct rereading *r = arg;

    return memmem(row.p, row.n, "uuid", 4) ? r->fn(position, row, r->arg) : 0;
}

static int broken_ids(void *store, const struct reprise_plugin_key *key, reprise_plugin_row_fn *fn,
                      void *arg, struct reprise_plugin_call *call)
{
    struct rereading r = { fn, arg, key, 0, 0 };

    return is("ids without rows") ? whole->ids(store, key, skip_row, &r, call)
                                  : whole->ids(store, key, fn, arg, call);
}

static int broken_find(void *store, const struct reprise_plugin_key *key, const char *uuid,
                       int64_t *position, struct reprise_plugin_call *call)
{
    int code = whole->find(store, key, uuid, position, call);

    if (is("find invents") && *position == 0)
        *position = 1;
    return code;
}

static int broken_subkeys(void *store, const struct reprise_plugin_key *key,
                          reprise_plugin_name_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    if (is("subkeys of others") && strstr(key->session, "-12-") && fn("subagents/agent-x", arg))
        return REPRISE_PLUGIN_STOPPED;
    if (is("subkeys name the session") && strstr(key->session, "-13-") && fn("", arg))
        return REPRISE_PLUGIN_STOPPED;
    return whole->subkeys(store, key, fn, arg, call);
}

/* ---- changes ---- */

static int broken_append(void *store, const struct reprise_plugin_key *key, int64_t after,
                         const struct reprise_plugin_text *row, size_t rows, int64_t *last,
                         struct reprise_plugin_call *call)
{
    static const struct reprise_plugin_text more = { "{}", 2 };
    struct reprise_plugin_text other[1000];
    struct reprise_plugin_key where = *key;

    if (rows)
        memcpy(other, row, rows * sizeof *row);
    if (is("append crashes"))
        raise(SIGABRT);
    if (is("append reverses"))
        for (size_t i = 0; i < rows; i++)
            other[i] = row[rows - 1 - i];
    if (is("append adds to nothing") && rows == 0)
        return whole->append(store, key, after, &more, 1, last, call);
    if (is("sub-agents join"))
        where.subpath = NULL;
    if (is("projects join")) {
        char *b = strdup(key->project), *at = strstr(b, "-6-B");

        if (at)
            at[3] = 'A';
        where.project = b; /* never freed: the process ends with its rule */
    }
    if (is("append blind"))
        after = -1;
    if (is("append drops") && rows > 200)
        rows = 200;
    if (is("append in part") && call->stopped(call->arg) && rows > 1) {
        whole->append(store, &where, after, other, rows / 2, last, call);
        return REPRISE_PLUGIN_STOPPED;
    }
    if (is("append names no row"))
        for (size_t i = 0; i < rows; i++)
            if (memmem(row[i].p, row[i].n, "\\u0000", 6)) {
                call->row = 0;
                return REPRISE_PLUGIN_BAD_ROW;
            }
    if (is("threads collide") && rows == 1 && memmem(row->p, row->n, "\"2-3\"", 5))
        return REPRISE_PLUGIN_OK;
    return whole->append(store, &where, after, other, rows, last, call);
}

static int broken_remove(void *store, const struct reprise_plugin_key *key,
                         struct reprise_plugin_call *call)
{
    if (is("remove does nothing"))
        return REPRISE_PLUGIN_OK;
    if (is("remove wants a key") && strstr(key->session, "never")) {
        strcpy(call->error, "no such session");
        return REPRISE_PLUGIN_FAILED;
    }
    if (is("remove takes the session") && key->subpath) {
        struct reprise_plugin_key all = { key->project, key->session, NULL };

        return whole->remove(store, &all, call);
    }
    if (is("remove keeps sub-agents") && !key->subpath) {
        /* adds them again */
        struct reprise_plugin_key sub = { key->project, key->session, "subagents/agent-1" };
        static const struct reprise_plugin_text row = { "{}", 2 };
        int64_t last;
        int code = whole->remove(store, key, call);

        return code || strcmp(key->session + strlen(key->session) - 8, "-10-sess") != 0 ||
                       strstr(key->project, "other")
                   ? code
                   : whole->append(store, &sub, -1, &row, 1, &last, call);
    }
    return whole->remove(store, key, call);
}

const struct reprise_plugin reprise_plugin = {
    .abi = REPRISE_PLUGIN_ABI,
    .size = sizeof(struct reprise_plugin),
    .flags = REPRISE_PLUGIN_THREADS,
    .name = "broken",
    .open = broken_open,
    .close = broken_close,
    .list = broken_list,
    .read = broken_read,
    .page = broken_page,
    .ids = broken_ids,
    .subkeys = broken_subkeys,
    .append = broken_append,
    .remove = broken_remove,
    .find = broken_find,
};
