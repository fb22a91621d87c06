#include "store/systems/common/configdir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/arena.h"
#include "lite/base/utf8.h"

char *configdir_join(const char *dir, const char *name)
{
    size_t n = strlen(dir), m = strlen(name);
    char *path = malloc(n + m + 2);

    if (!path)
        return NULL;
    while (n > 1 && dir[n - 1] == '/')
        n--;
    memcpy(path, dir, n);
    if (n && path[n - 1] != '/' && m)
        path[n++] = '/';
    memcpy(path + n, name, m + 1);
    return path;
}

char *configdir_absolute(const struct store_env *env, const char *path)
{
    return path[0] == '/' ? configdir_join(path, "") : configdir_join(env->cwd, path);
}

enum err_code configdir_default(const struct store_env *env, char **out, struct err *e)
{
    struct arena a = { 0 };
    struct slice nfc = { 0 };
    char *path = NULL;
    enum err_code rc = ERR_OK;

    if (env->claude_config_dir) {
        const char *dir = env->claude_config_dir;
        if (utf8_nfc(slice_of(dir), &a, &nfc))
            nfc = arena_copy(&a, nfc);
        path = nfc.p ? configdir_absolute(env, nfc.p) : NULL;
    } else if (env->home) {
        path = configdir_join(env->home, ".claude");
    } else {
        rc = err_set(e, ERR_NOT_FOUND, "", "find the configuration: HOME is not set");
    }
    if (!rc && !path)
        rc = err_nomem(e);
    arena_fini(&a);
    *out = path;
    return rc;
}

enum err_code configdir_named(const struct store_env *env, const char *path, char **out,
                              struct err *e)
{
    if (!path)
        return configdir_default(env, out, e);
    *out = configdir_absolute(env, path);
    return *out ? ERR_OK : err_nomem(e);
}

enum err_code configdir_require(const char *path, struct err *e)
{
    struct stat sb;

    if (stat(path, &sb) != 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? err_set(e, ERR_NOT_FOUND, path, "open store: no such directory")
                   : err_sys(e, path, "open store");
    if (!S_ISDIR(sb.st_mode))
        return err_set(e, ERR_NOT_FOUND, path, "open store: not a directory");
    return ERR_OK;
}
