#include <assert.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs/path.h"
#include "store/proc/process.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/plugin/plugin.h"

/* A plug-in runs with the rights of the user, so only the user or the administrator may be able to
 * write to its file, its directory and those above. Then no one else can replace the file between the check and
 * the loading. (The checked descriptor cannot be loaded by its name in /proc, because the loader
 * would take the next file with the same number for the one that it has already loaded.) */

/* Refuses a file that others can write to, or that they could replace in its directory. */
static enum err_code check_owner(const struct stat *sb, const char *what, const char *path,
                                 struct err *e)
{
    if (sb->st_uid != 0 && sb->st_uid != geteuid())
        return err_set(e, ERR_UNSAFE, path, "load plug-in: %s belongs to another user", what);
    if (sb->st_mode & (S_IWGRP | S_IWOTH))
        return err_set(e, ERR_UNSAFE, path, "load plug-in: %s can be written by others", what);
    return ERR_OK;
}

static enum err_code plugin_check_folder(const char *path, struct arena *a, struct err *e)
{
    const char *slash = strrchr(path, '/');
    const char *dir = arena_format(a, "%.*s", slash > path ? (int)(slash - path) : 1, path);
    struct stat sb;

    if (!dir)
        return err_nomem(e);
    if (stat(dir, &sb) != 0)
        return err_sys(e, dir, "load plug-in");
    return check_owner(&sb, "its directory", path, e);
}

/* ---- the table ---- */

static enum err_code read_table(struct plugin_store *p, const char *path, struct err *e)
{
    const struct reprise_plugin *t = dlsym(p->library, REPRISE_PLUGIN_SYMBOL);

    if (!t)
        return err_set(e, ERR_FORMAT, path, "load plug-in: it exports no table \"%s\"",
                       REPRISE_PLUGIN_SYMBOL);
    if (t->abi != REPRISE_PLUGIN_ABI)
        return err_set(
            e, ERR_UNSUPPORTED, path,
            "load plug-in: it is made for version %u of the interface, not for version %d",
            (unsigned)t->abi, REPRISE_PLUGIN_ABI);
    if (t->size < offsetof(struct reprise_plugin, page) || t->size % sizeof(void *))
        return err_set(e, ERR_FORMAT, path, "load plug-in: its table is too short");
    memcpy(&p->table, t, t->size < sizeof p->table ? t->size : sizeof p->table);
    if (!p->table.open || !p->table.close || !p->table.list || !p->table.read)
        return err_set(e, ERR_FORMAT, path, "load plug-in: open, close, list or read is missing");
    return ERR_OK;
}

/* ---- where it is ---- */

/* The folder of the installed program: <bin>/../<lib>/reprise/stores. */
static const char *installed_folder(struct arena *a)
{
    char exe[4096];

    if (!proc_program(exe, sizeof exe))
        return NULL;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(exe, '/');

        if (!slash)
            return NULL;
        *slash = '\0';
    }
    return arena_format(a, "%s/" REPRISE_LIBDIR "/reprise/stores", exe);
}

/* The library may be in another prefix than the program that uses it: <lib>/reprise/stores beside libreprise. */
static const char *folder_beside(struct arena *a)
{
    Dl_info self;
    char file[PATH_MAX];

    if (!dladdr(&plugin_ops, &self) || !self.dli_fname || !realpath(self.dli_fname, file))
        return NULL;
    return arena_format(a, "%.*s/reprise/stores", (int)(strrchr(file, '/') - file), file);
}

/* The first one that exists; NULL: none. */
static const char *find_by_name(const struct store_env *env, const char *name, struct arena *a)
{
    const char *folder[] = { env->data_dir ? arena_format(a, "%s/stores", env->data_dir) : NULL,
                             folder_beside(a), installed_folder(a) };

    for (size_t i = 0; i < sizeof folder / sizeof *folder; i++) {
        const char *path = folder[i] ? arena_format(a, "%s/%s.so", folder[i], name) : NULL;

        if (path && access(path, F_OK) == 0)
            return path;
    }
    return NULL;
}

enum err_code plugin_load(struct plugin_store *p, struct err *e)
{
    const char *name = p->config.plugin, *path = name;

    if (name[0] != '/') {
        if (!name[0] || name[0] == '.' || strchr(name, '/'))
            return err_set(e, ERR_UNSAFE, name,
                           "load plug-in: needs an absolute path, or a name without /");

        path = find_by_name(p->base.env, name, &p->arena);
        if (p->arena.failed)
            return err_nomem(e);
        if (!path)
            return err_set(e, ERR_NOT_FOUND, "",
                           "store \"%s\" needs the plug-in \"%s\", which is not installed "
                           "(package reprise-%s; set by plugin = in [store.%s])",
                           p->config.name, name, name, p->config.name);
    }
    struct stat sb;

    if (lstat(path, &sb) != 0)
        return err_sys(e, path, "load plug-in");
    if (S_ISLNK(sb.st_mode))
        return err_set(e, ERR_UNSAFE, path, "load plug-in: it is a link");
    if (!S_ISREG(sb.st_mode))
        return err_set(e, ERR_UNSAFE, path, "load plug-in: not a regular file");
    enum err_code rc = check_owner(&sb, "the file", path, e);

    if (!rc)
        rc = plugin_check_folder(path, &p->arena, e);
    if (!rc && (rc = path_trusted("/", path, e)))
        err_wrap(e, rc, "load plug-in");
    if (rc)
        return rc;

#ifdef REPRISE_STATIC
    /* The loader of a static program would need the C library that it was linked with. */
    return err_set(e, ERR_UNSUPPORTED, path,
                   "load plug-in: the static build of reprise cannot load plug-ins");
#endif
    /* The plug-in stays in memory, because its libraries may have registered code that runs when
     * the process exits. */
    p->library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

    if (p->library)
        return read_table(p, path, e);
    /* Report the loader's reason, which begins with the path. */
    const char *why = dlerror();
    size_t n = strlen(path);

    if (!why)
        why = "unknown reason";
    if (strncmp(why, path, n) == 0 && why[n] == ':')
        why += n + 1;
    return err_set(e, ERR_FORMAT, path, "load plug-in: %s", why + strspn(why, " "));
}

static const char scheme_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789+-";

bool plugin_config_of_url(const char *url, struct arena *a, struct plugin_config *out)
{
    size_t n = strspn(url, scheme_letters);

    if (n == 0 || strncmp(url + n, "://", 3) != 0)
        return false;
    *out = (struct plugin_config){ .name = arena_format(a, "%.*s", (int)n, url), .path = url };
    out->plugin = out->name;
    if (out->plugin && strcmp(out->plugin, "postgres") == 0)
        out->plugin = out->name = "postgresql";
    if (out->plugin && strcmp(out->plugin, "rediss") == 0) /* which reports that it has no TLS */
        out->plugin = out->name = "redis";
    if (out->plugin && strcmp(out->plugin, "https") == 0)
        out->plugin = out->name = "http";
    return out->name != NULL;
}

/* Opening and closing, and the table of operations. */

enum { TIMEOUT_S = 10, TIMEOUT_S_MOST = 3600 };

const struct plugin_store *plugin_of(const struct store *st)
{
    assert(st->ops->open == plugin_ops.open);
    return (const struct plugin_store *)st;
}

/* ---- the configuration ---- */

const char *plugin_option(const struct plugin_store *p, const char *name)
{
    for (size_t i = 0; i < p->config.options; i++)
        if (strcmp(p->config.option[i].name, name) == 0)
            return p->config.option[i].value;
    return NULL;
}

/* The part of a path that must not be shown; NULL: it contains no password. */
static const char *password_in(const char *path)
{
    static const char *const names[] = { "password=", "secret_access_key=", "session_token=" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *named = strstr(path, names[i]); /* "?password=…", "host=… password=…" */

        if (named)
            return named;
    }
    for (const char *host = path;
         (host = strstr(host, "://"));) { /* a parameter may be another URL */
        host += 3;
        const char *at = memchr(host, '@', strcspn(host, "/?"));
        const char *colon = at ? memchr(host, ':', (size_t)(at - host)) : NULL;

        if (colon && colon + 1 < at)
            return colon + 1;
    }
    return NULL;
}

static enum err_code copy_config(struct plugin_store *p, const struct plugin_config *config,
                                 struct err *e)
{
    const char *path = config->path ? config->path : "";

    if (password_in(path))
        return err_set(e, ERR_UNSAFE, config->name,
                       "open store: its path contains a password; keep that where the server's own "
                       "programs look for it");
    if (!config->plugin)
        return err_set(e, ERR_USAGE, config->name,
                       "open store: the configuration names neither a plug-in nor a format; add "
                       "format = claude, say, or plugin = postgresql");
    p->config = (struct plugin_config){ .name = arena_copy_text(&p->arena, config->name),
                                        .plugin = arena_copy_text(&p->arena, config->plugin),
                                        .path = arena_copy_text(&p->arena, path) };

    /* The options, which the plug-in keeps. */
    struct plugin_option *option = arena_zalloc(&p->arena, (config->options + 1) * sizeof *option);

    for (size_t i = 0; option && i < config->options; i++)
        option[i] = (struct plugin_option){ arena_copy_text(&p->arena, config->option[i].name),
                                            arena_copy_text(&p->arena, config->option[i].value) };
    p->config.option = option;
    p->config.options = config->options;

    if (!option || p->arena.failed || !(p->base.path = strdup(path)))
        return err_nomem(e);

    /* `timeout` is an option of reprise: the seconds that a server may be silent. */
    const char *value = plugin_option(p, "timeout");
    char *end = NULL;
    int64_t s = value ? strtoll(value, &end, 10) : TIMEOUT_S;

    if (value && (*end || end == value || s < 1 || s > TIMEOUT_S_MOST))
        return err_set(e, ERR_USAGE, p->config.name, "open store: timeout needs seconds, 1 to %d",
                       TIMEOUT_S_MOST);
    p->timeout_ms = s * 1000;
    return ERR_OK;
}

/* ---- what it can do ---- */

/* Sessions are continued by Claude Code, from a local copy. */
static const char *plugin_agent(const struct store *st, const struct session_ref *ref)
{
    (void)st, (void)ref;
    return claude_ops.name;
}

static void plugin_interrupt(const struct store *st, bool on)
{
    atomic_store(&plugin_of(st)->link->interrupted, on);
}

/* ---- opening ---- */

static void plugin_close(struct store *st)
{
    struct plugin_store *p = (struct plugin_store *)st;

    if (p->link) {
        if (p->link->opened)
            p->table.close(p->link->opened);
        plugin_catalog_free(p->link->catalog);
        plugin_catalog_free(p->link->found);
        plugin_end_free(p->link->end);
        plugin_known_free(p->link->known);
        pthread_mutex_destroy(&p->link->call);
        pthread_mutex_destroy(&p->link->again);
        pthread_mutex_destroy(&p->link->lock);
        free(p->link);
    }
    store_close(p->claude);
    if (p->library)
        dlclose(p->library);
    free(p->base.path);
    arena_fini(&p->arena);
    free(p);
}

enum err_code plugin_store_open(const struct store_env *env, const struct plugin_config *config,
                                bool connect, struct store **out, struct err *e)
{
    struct plugin_store *p = calloc(1, sizeof *p);

    if (!p)
        return err_nomem(e);
    p->base = (struct store){ .ops = &plugin_ops, .env = env };
    enum err_code rc = copy_config(p, config, e);

    if (!rc) {
        p->link = calloc(1, sizeof *p->link);
        if (!p->link)
            rc = err_nomem(e);
        else {
            pthread_mutex_init(&p->link->call, NULL);
            pthread_mutex_init(&p->link->again, NULL);
            pthread_mutex_init(&p->link->lock, NULL);
        }
    }
    if (!rc)
        rc = plugin_load(p, e);
    if (!rc) /* any directory will do */
        rc = claude_ops.open(env, "/", &p->claude, e);
    if (!rc) {
        p->ops = plugin_ops;
        p->ops.name = p->config.name;
        p->ops.begins = claude_ops.begins;
        p->ops.host_row = plugin_host_row;
        p->base.ops = &p->ops;
        if (!p->table.append) {
            p->ops.create = NULL;
            p->ops.append = NULL;
            p->ops.set = NULL;
        }
        if (!p->table.remove) {
            p->ops.remove = NULL;
            p->ops.why[ABILITY_DELETE] = "its store cannot delete sessions";
        }
        if (!p->table.subkeys) {
            p->ops.subagents = NULL;
            p->ops.describe_subagents = NULL;
            p->ops.subagent = NULL;
        }

        rc = connect ? plugin_connect(p, e) : ERR_OK;
    }
    if (rc)
        plugin_close(&p->base);
    else
        *out = &p->base;
    return rc;
}

/* The list of systems opens stores only by a path; stores of plug-ins also need their
 * configuration. */
static enum err_code plugin_open(const struct store_env *env, const char *path, struct store **out,
                                 struct err *e)
{
    (void)env, (void)out;
    return err_set(e, ERR_UNSUPPORTED, path ? path : "", "open store: it must be configured");
}

const struct store_ops plugin_ops = {
    .name = "plugin",
    .remote = true,
    .open = plugin_open,
    .close = plugin_close,
    .enumerate = plugin_enumerate,
    .unreadable = plugin_unreadable,
    .describe = plugin_describe,
    .find = plugin_find,
    .tail = plugin_tail,
    .around = plugin_around,
    .load = plugin_conversation,
    .branches = plugin_branches,
    .load_branch = plugin_load_branch,
    .messages = plugin_messages,
    .subagents = plugin_subagents,
    .describe_subagents = plugin_describe_subagents,
    .subagent = plugin_subagent,
    .blocks = plugin_blocks,
    .restore = plugin_restore,
    .retrieve = plugin_retrieve,
    .agent = plugin_agent,
    .fork = plugin_fork,
    .why = {
        [ABILITY_REWIND] = "the saved copies of its files are only on the machine where the agent ran",
        [ABILITY_ARCHIVE] = "it is in a team's store: retrieve it, and change the local session",
        [ABILITY_RESUME_AT] = "it is in a team's store: retrieve it, and change the local session",
        [ABILITY_TOMBSTONE] = "it is in a team's store: retrieve it, and change the local session",
        [ABILITY_REAPPEND] = "it is in a team's store: retrieve it, and change the local session",
        [ABILITY_RENAME] = "its store is read-only",
        [ABILITY_TAG] = "its store is read-only",
        [ABILITY_SET] = "its store is read-only",
        [ABILITY_DELETE] = "its store has no trash; reprise delete --permanently deletes it there",
    },
    .remove = plugin_remove,
    .interrupt = plugin_interrupt,
    .silent = plugin_silent,
    .create = plugin_create,
    .append = plugin_host_append,
    .set = plugin_set,
};
