#include "store/systems/common/config_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/arena.h"
#include "lite/base/array.h"
#include "lite/base/utf8.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/api/session.h"
#include "store/api/store.h"

void config_dir_variable(const struct store *st, char *usual, const char *variable,
                         const char **name, const char **value)
{
    bool is_usual = usual && strcmp(usual, st->path) == 0;

    free(usual);
    *name = is_usual ? NULL : variable;
    *value = is_usual ? NULL : st->path;
}

char *config_dir_join(const char *dir, const char *name)
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

char *config_dir_file(char *dir, const char *name)
{
    char *path = dir ? config_dir_join(dir, name) : NULL;

    free(dir);
    return path;
}

char *config_dir_absolute(const struct store_env *env, const char *path)
{
    return path[0] == '/' ? config_dir_join(path, "") : config_dir_join(env->cwd, path);
}

char *config_dir_usual(const struct store_env *env, const char *variable, const char *name)
{
    const char *named = variable ? env_variable(env, variable) : NULL;

    if (named)
        return config_dir_absolute(env, named);
    return env->home ? config_dir_join(env->home, name) : NULL;
}

char *config_dir_data(const struct store_env *env, const char *name)
{
    if (env->xdg_data_home && env->xdg_data_home[0] == '/')
        return config_dir_join(env->xdg_data_home, name);
    char *data = env->home ? config_dir_join(env->home, ".local/share") : NULL,
         *path = data ? config_dir_join(data, name) : NULL;

    free(data);
    return path;
}

enum err_code config_dir_default(const struct store_env *env, char **out, struct err *e)
{
    struct arena a = { 0 };
    struct slice nfc = { 0 };
    char *path = NULL;
    enum err_code rc = ERR_OK;

    if (env->claude_config_dir) {
        const char *dir = env->claude_config_dir;
        if (utf8_nfc(slice_of(dir), &a, &nfc))
            nfc = arena_copy(&a, nfc);
        path = nfc.p ? config_dir_absolute(env, nfc.p) : NULL;
    } else if (env->home) {
        path = config_dir_join(env->home, ".claude");
    } else {
        rc = err_set(e, ERR_NOT_FOUND, "", "find the configuration: HOME is not set");
    }
    if (!rc && !path)
        rc = err_nomem(e);
    arena_fini(&a);
    *out = path;
    return rc;
}

enum err_code config_dir_named(const struct store_env *env, const char *path, char **out,
                               struct err *e)
{
    if (!path)
        return config_dir_default(env, out, e);
    *out = config_dir_absolute(env, path);
    return *out ? ERR_OK : err_nomem(e);
}

char *config_dir_expand(const struct store_env *env, const char *path)
{
    if (strncmp(path, "~/", 2) != 0)
        return config_dir_absolute(env, path);
    return env->home ? config_dir_join(env->home, path + 2) : NULL;
}

char *config_dir_of_settings(const struct store_env *env, const char *dir, const char *member)
{
    enum { SETTINGS_MOST = 4 << 20 };
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct slice named = { NULL, 0 };
    const char *file = arena_format(&a, "%s/settings.json", dir);
    char *path = NULL;

    if (file && !file_read_all(AT_FDCWD, file, FILE_FOLLOW, SETTINGS_MOST, &text, NULL) &&
        json_valid(buf_slice(&text)))
        named = json_copy_at(buf_slice(&text), member, &a);
    if (named.n && !memchr(named.p, '\0', named.n))
        path = config_dir_expand(env, named.p);
    buf_fini(&text);
    arena_fini(&a);
    return path;
}

enum err_code config_dir_require(const char *path, struct err *e)
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

static bool kept(uint32_t cp)
{
    return (cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z') || (cp >= '0' && cp <= '9');
}

struct slice config_dir_flatten(struct slice path, struct arena *a)
{
    char *name = arena_alloc(a, path.n + 1);
    size_t n = 0;

    if (!name)
        return (struct slice){ NULL, 0 };
    /* A character never has more UTF-16 units than bytes, so the name is no longer than the path. */
    while (path.n) {
        uint32_t cp = utf8_next(&path, true);

        if (cp > 0xFFFF)
            name[n++] = '-';
        name[n++] = kept(cp) ? (char)cp : '-';
    }
    name[n] = '\0';
    return (struct slice){ name, n };
}

/* JavaScript's classic string hash: h * 31 + unit in 32 bits, over UTF-16 units. */
static uint32_t hash_add(uint32_t h, uint32_t unit)
{
    return h * 31 + unit;
}

static uint32_t path_hash(struct slice path)
{
    uint32_t h = 0;

    while (path.n) {
        uint32_t cp = utf8_next(&path, true);

        if (cp > 0xFFFF) {
            h = hash_add(h, 0xD800 + ((cp - 0x10000) >> 10));
            cp = 0xDC00 + (cp & 0x3FF);
        }
        h = hash_add(h, cp);
    }
    return h & UINT32_C(0x80000000) ? ~h + 1 : h; /* absolute value; INT32_MIN fits unsigned */
}

struct slice config_dir_project_name(struct slice path, struct arena *a)
{
    struct slice flat = config_dir_flatten(path, a);
    char hash[8];

    if (!flat.p || flat.n <= CONFIG_DIR_PROJECT_NAME_MAX)
        return flat;

    /* A long name is cut, and ends with the hash of the whole path in base 36. */
    uint32_t rest = path_hash(path);
    char digits[8];
    size_t n = 0;

    do
        digits[n++] = "0123456789abcdefghijklmnopqrstuvwxyz"[rest % 36];
    while (rest /= 36);
    for (size_t i = 0; i < n; i++)
        hash[i] = digits[n - 1 - i];
    hash[n] = '\0';
    size_t size = CONFIG_DIR_PROJECT_NAME_MAX + 1 + n;
    char *name = arena_alloc(a, size + 1);

    if (!name)
        return (struct slice){ NULL, 0 };
    snprintf(name, size + 1, "%.*s-%s", CONFIG_DIR_PROJECT_NAME_MAX, flat.p, hash);
    return (struct slice){ name, size };
}

/* The next unit of a flattened path, -1 at its end; *pending: a second '-' is due. */
static int flat_unit(struct slice *path, bool *pending)
{
    if (*pending) {
        *pending = false;
        return '-';
    }
    if (!path->n)
        return -1;
    uint32_t cp = utf8_next(path, true);

    *pending = cp > 0xFFFF;
    return kept(cp) ? (int)cp : '-';
}

bool config_dir_same_project(struct slice a, struct slice b)
{
    bool a_pending = false, b_pending = false;
    int unit;

    do {
        unit = flat_unit(&a, &a_pending);
        if (unit != flat_unit(&b, &b_pending))
            return false;
    } while (unit >= 0);
    return true;
}

const char *config_dir_project_ancestor(struct slice folder, struct slice path, struct arena *a)
{
    const size_t cut = CONFIG_DIR_PROJECT_NAME_MAX + 1; /* with the '-' after it */

    while (path.n) {
        struct slice name = config_dir_project_name(path, a);

        if (!name.p)
            return NULL;
        if (slice_eq(name, folder) ||
            (name.n > cut && folder.n > cut && memcmp(name.p, folder.p, cut) == 0))
            return arena_copy(a, path).p;
        const char *slash = memrchr(path.p, '/', path.n);

        path.n = slash ? (size_t)(slash - path.p) : 0;
    }
    return NULL;
}

bool config_dir_in_scope(const struct scope *scope, struct slice cwd, struct arena *a)
{
    char real[PATH_MAX];

    if (scope->all || session_scope_has(scope, cwd))
        return true;
    if (!cwd.n || memchr(cwd.p, '\0', cwd.n))
        return false;
    cwd = arena_copy(a, cwd);
    return cwd.p && realpath(cwd.p, real) && session_scope_has(scope, slice_of(real));
}

bool config_dir_has_hash(struct slice digits, enum digest_kind kind, struct slice path)
{
    const size_t n = kind == DIGEST_MD5 ? MD5_BYTES : SHA256_BYTES;
    uint8_t hash[DIGEST_MOST];
    char hex[2 * DIGEST_MOST + 1];

    if (!digits.n || digits.n > 2 * n || !digest_of(kind, path, hash))
        return false;
    digest_hex(hash, n, hex);
    return memcmp(digits.p, hex, digits.n) == 0;
}

struct slice config_dir_of_hash(const struct scope *scope, enum digest_kind kind,
                                struct slice digits)
{
    if (scope->all)
        return SLICE("");
    if (config_dir_has_hash(digits, kind, scope->project))
        return scope->project;
    for (size_t i = 0; i < scope->trees; i++)
        if (config_dir_has_hash(digits, kind, scope->tree[i]))
            return scope->tree[i];
    return SLICE("");
}

enum err_code folder_places_add(struct folder_places *seen, int fd, bool *first)
{
    struct stat sb;

    *first = fstat(fd, &sb) == 0;
    for (size_t i = 0; i < seen->n && *first; i++)
        *first = seen->place[i].dev != sb.st_dev || seen->place[i].ino != sb.st_ino;
    if (!*first)
        return ERR_OK;
    if (!array_reserve(seen->place, seen->cap, seen->n + 1))
        return ERR_NOMEM;
    seen->place[seen->n++] = (struct folder_place){ sb.st_dev, sb.st_ino };
    return ERR_OK;
}

void folder_places_fini(struct folder_places *seen)
{
    free(seen->place);
    *seen = (struct folder_places){ .n = 0 };
}
