#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "store/api/host.h"
#include "store/api/plugin.h"
#include "store/library/call.h"
#include "store/query/resolve.h"

/* ---- the environment ---- */

/* The host may change its environment later, so everything is copied. Returns NULL if out of memory. */
static const char *const *copy_environment(const char *const *environment, struct arena *a)
{
    size_t n = 0;
    const char **copy;

    while (environment && environment[n])
        n++;
    copy = arena_zalloc(a, (n + 1) * sizeof *copy);
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = arena_copy_text(a, environment[i]);
    return a->failed ? NULL : copy;
}

static const char *current_directory(struct arena *a)
{
    char cwd[PATH_MAX];

    return arena_copy_text(a, getcwd(cwd, sizeof cwd) ? cwd : "/");
}

/* ---- stores ---- */

static enum err_code library_open_one(struct reprise *r, const struct store_ops *ops,
                                      const char *path, struct err *e)
{
    TRY(ops->open(&r->env, path, &r->store[r->n], e));
    r->n++;
    return ERR_OK;
}

static enum err_code library_read_settings(const char *const *settings, struct arena *a,
                                           struct plugin_config *config, struct err *e)
{
    struct plugin_option *option = NULL;
    size_t n = 0;

    for (; settings && settings[n]; n++) {
        const char *sign = strchr(settings[n], '=');

        if (!sign || sign == settings[n])
            return err_set(e, ERR_USAGE, settings[n], "open store: expected NAME=value");
        option = arena_grow(a, option, n, sizeof *option);
        if (!option)
            return err_nomem(e);
        option[n].name = arena_format(a, "%.*s", (int)(sign - settings[n]), settings[n]);
        option[n].value = sign + 1;
    }
    config->option = option;
    config->options = n;
    return a->failed ? err_nomem(e) : ERR_OK;
}

const struct store_ops *call_system(struct slice name)
{
    if (slice_eq(name, slice_of(noop_store_ops.name)))
        return &noop_store_ops;
    return slice_eq(name, slice_of(memory_store_ops.name)) ? &memory_store_ops : store_system(name);
}

static enum err_code check_options(const struct reprise_options *o, struct err *e)
{
    if (o->flags & ~(uint32_t)REPRISE_OPEN_CREATE || o->reserved)
        return err_set(e, ERR_USAGE, "", "open store: unknown flag");
    if (o->plugin && !o->system && o->plugin[0] == '/')
        return err_set(e, ERR_USAGE, o->plugin,
                       "open store: the system must be a name for the store");
    if (o->plugin || (!o->system && o->path && strstr(o->path, "://")))
        return ERR_OK;
    if (o->path && o->path[0] != '/')
        return err_set(e, ERR_USAGE, o->path, "open store: the path is not absolute");
    if (!o->system && (o->path || o->flags & REPRISE_OPEN_CREATE))
        return err_set(e, ERR_USAGE, "", "open store: needs a system");
    return ERR_OK;
}

static enum err_code library_open_stores(struct reprise *r, const struct reprise_options *o,
                                         struct err *e)
{
    struct plugin_config plugin;
    size_t most = 0;

    TRY(check_options(o, e));

    const char *const *given = o->environment ? o->environment : (const char *const *)environ;
    const char *const *environment = copy_environment(given, &r->arena);
    const char *cwd =
        o->directory ? arena_copy_text(&r->arena, o->directory) : current_directory(&r->arena);
    if (!environment || !cwd)
        return err_nomem(e);
    if (cwd[0] != '/')
        return err_set(e, ERR_USAGE, cwd, "open stores: the directory is not absolute");
    r->in_project = o->directory != NULL;
    r->env = env_read(environment, cwd, time_clock_ms(CLOCK_REALTIME), &r->arena);
    if (r->arena.failed)
        return err_nomem(e);

    while (store_systems[most])
        most++;
    NEED(r->store = arena_zalloc(&r->arena, (most + 1) * sizeof(struct store *)));

    /* By a plug-in, which is loaded only because the host named it. */
    plugin = (struct plugin_config){ .name = o->system ? o->system : o->plugin,
                                     .plugin = o->plugin,
                                     .path = o->path };

    if (o->plugin || (!o->system && o->path && plugin_config_of_url(o->path, &r->arena, &plugin))) {
        TRY(library_read_settings(o->settings, &r->arena, &plugin, e));

        TRY(plugin_store_open(&r->env, &plugin, true, &r->store[r->n], e));
        r->n++;
        return ERR_OK;
    }
    if (o->settings && o->settings[0])
        return err_set(e, ERR_USAGE, o->settings[0], "open store: only a plug-in has settings");
    if (!o->system && o->path)
        return err_set(e, ERR_USAGE, o->path, "open store: needs a system");

    if (o->system) {
        const struct store_ops *ops = call_system(slice_of(o->system));

        if (!ops)
            return err_set(e, ERR_USAGE, o->system, "open store: no such system");
        if (o->flags & REPRISE_OPEN_CREATE && ops->make)
            TRY(host_make(ops, &r->env, o->path, e));
        return library_open_one(r, ops, o->path, e);
    }
    /* As in the program, a default store that does not exist or cannot be read is left out. */
    enum err_code rc = ERR_OK;

    for (size_t i = 0; store_systems[i] && rc != ERR_NOMEM; i++)
        rc = library_open_one(r, store_systems[i], NULL, e);
    return rc == ERR_NOMEM ? rc : ERR_OK;
}

static enum err_code library_make(const struct reprise_options *options, struct reprise **out,
                                  struct err *e)
{
    struct reprise_options o;
    enum err_code rc = call_options(options, &o, sizeof o, e);
    struct reprise *r = rc ? NULL : calloc(1, sizeof *r);

    if (rc || !r)
        return rc ? rc : err_nomem(e);
    rc = library_open_stores(r, &o, e);
    if (rc)
        reprise_close(r);
    else
        *out = r;
    return rc;
}

int reprise_open(const struct reprise_options *options, struct reprise **out,
                 struct reprise_error *error)
{
    if (!out)
        return call_refuse(error);
    CALL_RETURN(error, library_make(options, out, e));
}

void reprise_close(struct reprise *r)
{
    struct call c;

    if (!r)
        return;
    call_begin(&c);
    for (size_t i = 0; i < r->n; i++)
        store_close(r->store[i]);
    arena_fini(&r->arena);
    free(r);
    call_end(&c, ERR_OK, NULL);
}

size_t reprise_stores(const struct reprise *r)
{
    return r ? r->n : 0;
}

const char *reprise_store_system(const struct reprise *r, size_t i)
{
    return r && i < r->n ? r->store[i]->ops->name : NULL;
}

const char *reprise_store_path(const struct reprise *r, size_t i)
{
    return r && i < r->n ? r->store[i]->path : NULL;
}

/* ---- sessions ---- */

/* The texts that a host gets are NUL-terminated; those of a ref need not be. */
enum err_code session_handle_finish(struct reprise_session *s, enum err_code rc,
                                    struct reprise_session **out, struct err *e)
{
    const struct session_ref found = s->ref;

    if (!rc && !session_ref_copy(&s->arena, &found, &s->ref))
        rc = err_nomem(e);
    if (rc)
        reprise_session_close(s);
    else
        *out = s;
    return rc;
}

/* Looks up a session in the stores and makes a handle of it. */
static enum err_code session_handle(const struct reprise *r, struct slice name,
                                    struct reprise_session **out, struct err *e)
{
    const struct scope everywhere = { .all = true, .implied_all = r->in_project };
    struct reprise_session *s = calloc(1, sizeof *s);

    if (!s)
        return err_nomem(e);
    s->stores = r;
    enum err_code rc = resolve_session(r->store, r->n, &everywhere, name, &s->arena, &s->ref, e);

    return session_handle_finish(s, rc, out, e);
}

/* By its path, because copies in several folders may have the same id. */
enum err_code session_now(const struct reprise_session *s, struct arena *a, struct session_ref *out,
                          struct err *e)
{
    const struct scope everywhere = { .all = true };
    const struct store *st = s->ref.store;

    return st->ops->at_path ? st->ops->at_path(st, s->ref.path, a, out, e)
                            : st->ops->find(st, &everywhere, s->ref.id, a, out, e);
}

int reprise_session_open(const struct reprise *r, const char *name, struct reprise_session **out,
                         struct reprise_error *error)
{
    if (!r || !name || !out)
        return call_refuse(error);
    CALL_RETURN(error, session_handle(r, call_text(name), out, e));
}

void reprise_session_close(struct reprise_session *s)
{
    if (s)
        arena_fini(&s->arena);
    free(s);
}

const char *reprise_session_id(const struct reprise_session *s)
{
    return s ? s->ref.id.p : NULL;
}

const char *reprise_session_system(const struct reprise_session *s)
{
    return s ? s->ref.store->ops->name : NULL;
}

const char *reprise_session_path(const struct reprise_session *s)
{
    return s ? s->ref.path.p : NULL;
}

const char *reprise_session_warning(const struct reprise_session *s)
{
    return s ? s->warning : NULL;
}
