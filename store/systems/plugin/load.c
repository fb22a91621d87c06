#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/proc/process.h"
#include "store/systems/plugin/plugin.h"

/* A plug-in runs with the rights of the user, so only the user or the administrator may be able to
 * write to its file and its directory. Then no one else can replace the file between the check and
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

static enum err_code check_folder(const char *path, struct arena *a, struct err *e)
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

static enum err_code check_file(const char *path, struct arena *a, struct err *e)
{
    struct stat sb;

    if (lstat(path, &sb) != 0)
        return err_sys(e, path, "load plug-in");
    if (S_ISLNK(sb.st_mode))
        return err_set(e, ERR_UNSAFE, path, "load plug-in: it is a link");
    if (!S_ISREG(sb.st_mode))
        return err_set(e, ERR_UNSAFE, path, "load plug-in: not a regular file");
    enum err_code rc = check_owner(&sb, "the file", path, e);

    return rc ? rc : check_folder(path, a, e);
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

/* Reports the loader's reason, which begins with the path. */
static enum err_code not_loaded(const char *path, struct err *e)
{
    const char *why = dlerror();
    size_t n = strlen(path);

    if (!why)
        why = "unknown reason";
    if (strncmp(why, path, n) == 0 && why[n] == ':')
        why += n + 1;
    return err_set(e, ERR_FORMAT, path, "load plug-in: %s", why + strspn(why, " "));
}

static enum err_code load_file(struct plugin_store *p, const char *path, struct err *e)
{
    enum err_code rc = check_file(path, &p->arena, e);

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
    return p->library ? read_table(p, path, e) : not_loaded(path, e);
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

static bool is_plain_name(const char *name)
{
    return name[0] && name[0] != '.' && !strchr(name, '/');
}

/* The first of the two that exists; NULL: neither. */
static const char *find_by_name(const struct store_env *env, const char *name, struct arena *a)
{
    const char *folder[] = { env->data_dir ? arena_format(a, "%s/stores", env->data_dir) : NULL,
                             installed_folder(a) };

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
        if (!is_plain_name(name))
            return err_set(e, ERR_UNSAFE, name,
                           "load plug-in: needs an absolute path, or a name without /");
        path = find_by_name(p->base.env, name, &p->arena);
        if (p->arena.failed)
            return err_nomem(e);
        if (!path)
            return err_set(e, ERR_NOT_FOUND, name,
                           "load plug-in: no plug-in with this name is installed");
    }
    return load_file(p, path, e);
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
    return out->name != NULL;
}
