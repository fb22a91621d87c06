#include "tui/commands/session.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "store/api/host.h"
#include "store/api/plugin.h"
#include "store/bundle/bundle.h"
#include "store/keep/keep.h"
#include "store/query/resolve.h"
#include "tui/commands/out.h"
#include "tui/data/findings.h"
#include "tui/text/nearest.h"

/* If the newest store was already opened by another path or under another name, its sessions would be listed twice, and
 * their ids would be ambiguous: only one of both stays open, the one with a name of its own. */
static void leave_same_store(struct sessions *s)
{
    struct store *newest = s->store[s->n - 1];
    struct stat a, b;

    if (newest->ops->remote || stat(newest->path, &a) != 0)
        return;
    for (size_t i = 0; i + 1 < s->n; i++) {
        struct store *st = s->store[i];

        if (st->ops->remote || strcmp(store_format(newest->ops), store_format(st->ops)) != 0 ||
            stat(st->path, &b) != 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino)
            continue;
        s->store[i] = newest->ops->format ? newest : st;
        store_close(newest->ops->format ? st : newest);
        s->n--;
        return;
    }
}

/* Makes "~/x" and "x" absolute: the shell does not expand ~ after a colon. */
static const char *command_session_absolute(const struct store_env *env, const char *path,
                                            struct arena *a)
{
    if (path[0] == '/')
        return path;
    if (path[0] == '~' && (path[1] == '/' || path[1] == '\0') && env->home)
        return arena_format(a, "%s%s", env->home, path + 1);
    return arena_format(a, "%s/%s", env->cwd, path);
}

static enum err_code note_looked_in(struct sessions *s, const char *system, const char *path,
                                    struct err *e)
{
    if (s->looked_in_count == OPTION_STORES_MAX)
        return ERR_OK;
    const char *line = arena_format(&s->arena, "%s  %s", system, path);

    NEED(line);
    s->looked_in[s->looked_in_count++] = line;
    return ERR_OK;
}

static bool is_wanted_system(const struct invocation *in, const char *name)
{
    return !in->options.system || strcmp(in->options.system, name) == 0;
}

enum err_code sessions_unknown_agent(const struct config *config, const char *named, struct err *e)
{
    char word[NEAREST_WORD + 1];
    const char *near;
    size_t best;

    snprintf(word, sizeof word, "%.*s", (int)strcspn(named, ":"), named);
    best = nearest_limit(word);
    near = config_nearest_store(config, word, &best);
    return near ? err_set(e, ERR_USAGE, "",
                          "\"%s\" is not an agent that reprise knows; did you mean %s?", word, near)
                : err_set(e, ERR_USAGE, "",
                          "\"%s\" is not an agent that reprise knows; see reprise help agents",
                          word);
}

/* Parses "SYSTEM:PATH" or "SYSTEM"; *ops is NULL if there is no such system, *path for its default place. */
static enum err_code read_name(const struct invocation *in, const char *named, struct sessions *s,
                               const struct store_ops **ops, const char **path, struct err *e)
{
    size_t word = strcspn(named, ":");

    *ops = store_system((struct slice){ named, word });
    *path = NULL;
    if (word == 0 || strcmp(named + word, ":") == 0)
        return err_set(e, ERR_USAGE, "", "\"%.80s\" is not SYSTEM:PATH", named);
    if (!named[word])
        return ERR_OK;
    *path = command_session_absolute(&in->world->env, named + word + 1, &s->arena);
    return *path ? ERR_OK : err_nomem(e);
}

/* ---- stores of the configuration, and of plug-ins ---- */

/* The store that "NAME" or "NAME:" names. */
static const struct config_store *find_configured(const struct config *config, const char *named)
{
    size_t word = strcspn(named, ":");

    return named[word] == '\0' || named[word + 1] == '\0'
               ? config_store(config, (struct slice){ named, word })
               : NULL;
}

/* Finds the store that "NAME", "NAME:" or a URL names. Returns false if it is not the store of a
 * plug-in. */
static bool find_plugin(const struct config *config, const char *named, struct sessions *s,
                        struct plugin_config *out)
{
    const struct config_store *found = find_configured(config, named);

    if (found)
        *out = found->plugin;
    return found ? !found->format : plugin_config_of_url(named, &s->arena, out);
}

static enum err_code command_session_open_plugin(const struct invocation *in,
                                                 const struct plugin_config *plugin, bool connect,
                                                 struct sessions *s, struct err *e)
{
    if (!is_wanted_system(in, plugin->name))
        return ERR_OK;
    enum err_code rc = plugin_store_open(&in->world->env, plugin, connect, &s->store[s->n], e);

    s->n += rc == ERR_OK;
    return rc ? rc : note_looked_in(s, plugin->name, plugin->path ? plugin->path : "", e);
}

static enum err_code open_configured_one(const struct invocation *in,
                                         const struct config_store *store, bool connect,
                                         struct sessions *s, struct err *e)
{
    if (!store->format)
        return command_session_open_plugin(in, &store->plugin, connect, s, e);
    /* Open a store in the format of a system. */
    const struct store_env *env = &in->world->env;
    const char *name = store->plugin.name;

    if (!is_wanted_system(in, name))
        return ERR_OK;
    if (!store->plugin.path)
        return err_set(e, ERR_USAGE, name, "open store: the configuration names no path");
    const char *path = command_session_absolute(env, store->plugin.path, &s->arena);
    enum err_code rc =
        path ? store_open_named(store->format, env, path, name, &s->arena, &s->store[s->n], e)
             : err_nomem(e);

    s->n += rc == ERR_OK;
    return rc ? rc : note_looked_in(s, name, path, e);
}

/* A store that cannot be opened is a warning, which names it; the screen shows it, too. */
static enum err_code note_unopened(const struct invocation *in, struct sessions *s,
                                   const char *name, struct err *problem, struct err *e)
{
    const char *kept = arena_copy_text(&s->arena, name);
    char quoted[80];

    if (strncmp(problem->text, "store \"", 7) != 0) {
        snprintf(quoted, sizeof quoted, "\"%.70s\"", name);
        (void)err_at(problem, problem->code, quoted);
    }
    out_report(in->err_fd, problem);
    if (!s->unopened)
        s->unopened = problem_list_new();
    NEED(kept && s->unopened && problem_list_add(s->unopened, kept, problem));
    return ERR_OK;
}

/* Opens the stores of the configuration. */
static enum err_code open_configured(const struct invocation *in, const struct config *config,
                                     struct sessions *s, struct err *e)
{
    for (size_t i = 0; i < config->stores && s->n < OPTION_STORES_MAX; i++) {
        struct err problem = { 0 };
        size_t before = s->n;
        enum err_code rc = open_configured_one(in, &config->store[i], false, s, &problem);

        if (rc == ERR_NOMEM)
            return err_nomem(e);
        if (rc)
            TRY(note_unopened(in, s, config->store[i].plugin.name, &problem, e));
        else if (s->n > before)
            leave_same_store(s);
    }
    return ERR_OK;
}

static enum err_code command_session_open_named(const struct invocation *in,
                                                const struct config *config, const char *named,
                                                struct sessions *s, struct err *e)
{
    const struct store_ops *ops;
    const char *path;
    const struct config_store *store = find_configured(config, named);
    const bool connect = in->options.stores == 1;
    struct plugin_config plugin;

    if (store)
        return open_configured_one(in, store, connect, s, e);
    if (plugin_config_of_url(named, &s->arena, &plugin))
        return command_session_open_plugin(in, &plugin, connect, s, e);
    enum err_code rc = read_name(in, named, s, &ops, &path, e);

    if (!rc && !ops)
        rc = sessions_unknown_agent(config, named, e);
    if (!rc && !path)
        rc = err_set(e, ERR_USAGE, "", "\"%.80s\" is not SYSTEM:PATH", named);
    if (rc || !is_wanted_system(in, ops->name))
        return rc;
    rc = ops->open(&in->world->env, path, &s->store[s->n], e);
    s->n += rc == ERR_OK;
    return rc ? rc : note_looked_in(s, ops->name, path, e);
}

/* Opens the default store of a system. It need not exist; if it cannot be read, this is a warning. */
static enum err_code open_default(const struct invocation *in, const struct store_ops *ops,
                                  struct sessions *s, struct err *e)
{
    struct err problem = { 0 };

    if (!is_wanted_system(in, ops->name))
        return ERR_OK;
    enum err_code rc = ops->open(&in->world->env, NULL, &s->store[s->n], &problem);

    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (rc == ERR_OK)
        return note_looked_in(s, ops->name, s->store[s->n++]->path, e);
    if (rc != ERR_NOT_FOUND)
        TRY(note_unopened(in, s, ops->name, &problem, e));
    return note_looked_in(s, ops->name, problem.path, e);
}

/* Opens a store that the user named. If several were named, a failure is a warning. */
static enum err_code command_session_open_wanted(const struct invocation *in,
                                                 const struct config *config, const char *named,
                                                 struct sessions *s, struct err *e)
{
    struct err problem = { 0 };
    size_t before = s->n;
    enum err_code rc = command_session_open_named(in, config, named, s, &problem);

    if (!rc && s->n > before)
        leave_same_store(s);
    if (rc && rc != ERR_USAGE && rc != ERR_NOMEM && in->options.stores > 1) {
        TRY(note_unopened(in, s, named, &problem, e));
        return note_looked_in(s, "", named, e);
    }
    if (rc && e)
        *e = problem;
    return rc;
}

static enum err_code command_session_open_defaults(const struct invocation *in, struct sessions *s,
                                                   struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; rc == ERR_OK && store_systems[i]; i++)
        rc = open_default(in, store_systems[i], s, e);
    return rc;
}

static enum err_code command_session_open_all(const struct invocation *in,
                                              const struct config *config, struct sessions *s,
                                              struct err *e)
{
    const char *system = in->options.system;
    enum err_code rc = ERR_OK;

    if (system && !store_system(option_text(system)) && !config_store(config, option_text(system)))
        return sessions_unknown_agent(config, system, e);
    for (size_t i = 0; rc == ERR_OK && i < in->options.stores; i++)
        rc = command_session_open_wanted(in, config, in->options.store[i], s, e);
    if (!rc && in->options.stores > 1 && s->n == 0 && !system)
        rc = err_set(e, ERR_NOT_FOUND, in->options.store[0],
                     "open stores: none of these stores can be read");
    if (in->options.stores)
        return rc;
    if (rc == ERR_OK)
        rc = command_session_open_defaults(in, s, e);
    return rc || in->demo ? rc : open_configured(in, config, s, e);
}

/* Returns true if one of the open stores is of this agent. */
static bool has_store_of(const struct sessions *s, const struct store_ops *ops)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->store[i]->ops->open == ops->open)
            return true;
    return false;
}

/* Takes over a store of kept sessions, or NULL. If it cannot be read, this is a warning. */
static enum err_code add_kept(const struct invocation *in, struct sessions *s, enum err_code rc,
                              struct store *kept, const struct err *problem, struct err *e)
{
    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (rc)
        out_report(in->err_fd, problem);
    if (kept)
        s->store[s->n++] = kept;
    return ERR_OK;
}

/* Opens what was kept of the sessions of the open stores, and of agents whose own store is gone. */
static enum err_code open_kept(const struct invocation *in, struct sessions *s, struct err *e)
{
    const size_t n = s->n;

    for (size_t i = 0; i < n && s->n < OPTION_STORES_MAX; i++) {
        struct err problem = { 0 };
        struct store *kept = NULL;
        const enum err_code rc = keep_store_open(s->store[i], &s->arena, &kept, &problem);

        TRY(add_kept(in, s, rc, kept, &problem, e));
    }
    for (size_t i = 0; !in->options.stores && store_systems[i] && s->n < OPTION_STORES_MAX; i++) {
        const struct store_ops *ops = store_systems[i];
        struct err problem = { 0 };
        struct store *kept = NULL;
        const enum err_code rc =
            is_wanted_system(in, ops->name) && !has_store_of(s, ops)
                ? keep_store_open_alone(ops, &in->world->env, &s->arena, &kept, &problem)
                : ERR_OK;

        TRY(add_kept(in, s, rc, kept, &problem, e));
    }
    return ERR_OK;
}

static enum err_code command_session_open_stores(const struct invocation *in, struct sessions *s,
                                                 struct err *e)
{
    struct config config;

    if (in->options.bundle) {
        /* Opens the sessions of a bundle instead of those of this machine. */
        const struct options *o = &in->options;

        if (o->stores)
            return err_set(e, ERR_USAGE, "--store", "does not go with --bundle");
        TRY(bundle_view_open(o->bundle, &in->world->env, &s->bundle, e));
        for (size_t i = 0; i < s->bundle->n; i++) {
            struct store *st = s->bundle->store[i];

            if (!is_wanted_system(in, st->ops->name))
                continue;
            if (s->n == OPTION_STORES_MAX)
                return err_set(e, ERR_UNSUPPORTED, o->bundle,
                               "read the bundle: more than %d copies of sessions",
                               OPTION_STORES_MAX);
            s->store[s->n++] = st;
        }
        return note_looked_in(s, "bundle", o->bundle, e);
    }
    TRY(command_stores(in, &config, e));
    enum err_code rc = command_session_open_all(in, &config, s, e);

    for (size_t i = 0; i < s->n && !rc; i++)
        rc = config_use_changes(&config, s->store[i], &s->arena, e);
    if (!rc && !in->demo)
        rc = open_kept(in, s, e);
    config_fini(&config);
    return rc;
}

static enum err_code choose_scope(const struct invocation *in, bool everywhere, struct sessions *s,
                                  struct err *e)
{
    const struct options *o = &in->options;
    const char *dir = o->project ? o->project : in->world->env.cwd;
    bool worktrees = !option_given(o, OPTION_NO_WORKTREES);
    enum err_code rc = ERR_OK;

    if (!o->project && (everywhere || o->bundle || option_given(o, OPTION_ALL)))
        s->scope.all = true;
    else
        rc = session_scope_of(dir, worktrees, &s->arena, &s->scope, e);
    s->scope.implied_all = s->scope.all && !option_given(o, OPTION_ALL);
    s->scope.leave_worktrees = !worktrees;
    s->scope.runs_agents = true;
    s->scope.all_kinds = option_given(o, OPTION_ALL_KINDS);
    s->scope.leave_programmatic = option_given(o, OPTION_NO_PROGRAMMATIC);
    s->scope.leave_links = (int)o->sort == OPTION_SORT_MODIFIED;
    return rc;
}

enum err_code sessions_open(struct invocation *in, bool everywhere, struct sessions *out,
                            struct err *e)
{
    *out = (struct sessions){ .no_home = !in->world->env.home };
    enum err_code rc = choose_scope(in, everywhere, out, e);

    if (rc == ERR_OK)
        rc = command_session_open_stores(in, out, e);
    if (rc)
        sessions_close(out);
    return rc;
}

enum err_code sessions_open_to(struct invocation *in, const char *named, bool everywhere,
                               struct sessions *out, struct store **to, struct err *e)
{
    struct config config;
    struct plugin_config plugin;

    *out = (struct sessions){ 0 };
    TRY(command_stores(in, &config, e));
    enum err_code rc = choose_scope(in, everywhere, out, e);

    if (!rc) {
        /* Opens the local stores that --store names, or the default ones. */
        for (size_t i = 0; rc == ERR_OK && i < in->options.stores; i++)
            rc = command_session_open_wanted(in, &config, in->options.store[i], out, e);
        rc = rc || in->options.stores ? rc : command_session_open_defaults(in, out, e);
    }
    if (!rc && !find_plugin(&config, named, out, &plugin))
        rc = err_set(
            e, ERR_USAGE, "",
            "\"%.80s\" is no store of the configuration and no URL; see reprise help teams", named);
    if (!rc && out->n == OPTION_STORES_MAX)
        rc = err_set(e, ERR_USAGE, named, "too many stores");
    if (!rc)
        rc = plugin_store_open(&in->world->env, &plugin, true, &out->store[out->n], e);
    if (!rc)
        *to = out->store[out->n++];
    config_fini(&config);
    if (rc)
        sessions_close(out);
    return rc;
}

enum err_code sessions_make(struct invocation *in, const char *named, struct sessions *out,
                            struct err *e)
{
    const struct store_env *env = &in->world->env;
    const struct store_ops *ops;
    struct plugin_config plugin;
    struct config config;
    const char *path;

    *out = (struct sessions){ 0 };
    TRY(command_stores(in, &config, e));
    enum err_code rc = ERR_OK;

    /* A store of the configuration comes before an agent with the same name. */
    if (find_configured(&config, named) || plugin_config_of_url(named, &out->arena, &plugin)) {
        rc = command_session_open_named(in, &config, named, out, e);
    } else {
        rc = read_name(in, named, out, &ops, &path, e);
        if (!rc && !ops)
            rc = sessions_unknown_agent(&config, named, e);
        if (!rc && ops->make)
            rc = host_make(ops, env, path, e);
        if (!rc)
            rc = ops->open(env, path, &out->store[0], e);
        out->n = !rc;
    }

    config_fini(&config);
    if (rc)
        sessions_close(out);
    return rc;
}

void sessions_close(struct sessions *s)
{
    for (size_t i = 0; i < s->n && !s->bundle; i++)
        store_close(s->store[i]);
    bundle_view_close(s->bundle);
    idset_fini(&s->named);
    problem_list_free(s->unopened);
    arena_fini(&s->arena);
    *s = (struct sessions){ 0 };
}

size_t sessions_count_here(const struct sessions *s)
{
    size_t n = 0;

    while (n < s->n && !s->store[n]->ops->remote)
        n++;
    return n;
}

const char *sessions_none(const struct sessions *s, const char *text)
{
    return s->n == 0 && s->no_home ? SESSIONS_NO_HOME : text;
}

enum err_code sessions_find(struct sessions *s, const char *id, struct session_ref *ref,
                            struct err *e)
{
    enum err_code rc =
        resolve_session(s->store, s->n, &s->scope, option_text(id), &s->arena, ref, e);

    if (rc == ERR_NOT_FOUND && s->n == 0 && s->no_home)
        return err_set(e, rc, "", SESSIONS_NO_HOME);
    return rc;
}

enum err_code sessions_find_all(struct sessions *s, char *const *ids, size_t n,
                                struct session_ref **ref, struct err *e)
{
    struct slice *text = arena_alloc(&s->arena, (n + 1) * sizeof *text);
    struct session_ref *found = arena_zalloc(&s->arena, (n + 1) * sizeof *found);

    if (!text || !found)
        return err_nomem(e);
    for (size_t i = 0; i < n; i++)
        text[i] = option_text(ids[i]);
    enum err_code rc = resolve_sessions(s->store, s->n, &s->scope, text, n, &s->arena, found, e);

    for (size_t i = 0; i < n && !rc; i++)
        if (!found[i].store)
            rc = sessions_find(s, ids[i], &found[i], e);
    if (!rc)
        *ref = found;
    return rc;
}

enum err_code sessions_is_first(struct sessions *s, const struct session_ref *ref, bool *once,
                                struct err *e)
{
    size_t before = s->named.n;
    struct id128 name = id128_of(ref->id);
    uint32_t number;

    name.hi ^= ref->file.ino; /* copies in different folders have the same id */
    if (idset_add(&s->named, name, &number))
        return err_nomem(e);
    *once = s->named.n > before;
    return ERR_OK;
}

void sessions_name_typed(const struct session_ref *ref, const char *typed, struct err *e)
{
    bool by_request =
        e->code == ERR_USAGE || e->code == ERR_NOT_FOUND || e->code == ERR_UNSUPPORTED;
    size_t n = strlen(e->path);

    if (by_request && !e->sys && n > 0 && ref->path.n >= n &&
        memcmp(ref->path.p + ref->path.n - n, e->path, n) == 0)
        snprintf(e->path, sizeof e->path, "%s", typed);
}

enum err_code command_with_session(struct invocation *in, command_session_fn *use, struct err *e)
{
    struct sessions s;
    struct session_ref ref;

    TRY(sessions_open(in, true, &s, e));
    enum err_code rc = sessions_find(&s, in->argv[0], &ref, e);

    if (!rc) {
        rc = use(in, &s, &ref, e);
        if (rc)
            sessions_name_typed(&ref, in->argv[0], e);
    }
    sessions_close(&s);
    return rc;
}

void session_warn_expired(const struct invocation *in, const struct sessions *s,
                          const struct session_placed *placed, const char *next)
{
    static const struct scope everywhere = { .all = true };
    CLEANUP(session_row_free_at) struct session_row *row = session_row_new();
    AUTO_ARENA a = { 0 };
    struct session_ref ref;

    for (size_t i = 0; row && i < s->n; i++) {
        const struct store *st = s->store[i];

        if (st->ops->remote || keep_store_is(st) ||
            strcmp(store_format(st->ops), placed->system) != 0)
            continue;
        /* Finding one of thousands by its id may read all of them. */
        if ((st->ops->at_path ? st->ops->at_path(st, slice_of(placed->path), &a, &ref, NULL)
                              : st->ops->find(st, &everywhere, placed->id, &a, &ref, NULL)) ||
            st->ops->describe(st, &everywhere, &ref, row, NULL))
            continue;
        if (row->expires_ms != TIME_NONE && row->expires_ms <= in->world->env.now_ms)
            command_warn(in, ERR_OK, NULL,
                         "its agent may remove it again at its next start, because it is that old; "
                         "%s",
                         next);
        return;
    }
}
