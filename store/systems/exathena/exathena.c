#include "store/systems/exathena/exathena.h"

#include <assert.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "lite/io/file.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "store/systems/common/config_dir.h"

enum { DIRECTORY_MODE = 0755, FIRST_LINE = 64 << 10 };

static const char store_name[] = ".exathena";

const struct exathena *exathena_of(const struct store *st)
{
    assert(st->ops->open == exathena_ops.open);
    return (const struct exathena *)st;
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* One in 64 ids that the library generates begins with '-'. */
static bool is_drawn(struct slice id)
{
    if (id.n != EXATHENA_ID)
        return false;
    for (size_t i = 0; i < id.n; i++)
        if (!id.p[i] || !strchr(digits, id.p[i]))
            return false;
    return true;
}

bool exathena_is_id(struct slice id)
{
    if (!(host_id_is_plain(id) || is_drawn(id)) || id.n > 255 - (sizeof JSONL_SUFFIX - 1))
        return false;
    for (size_t i = 0; i < id.n; i++)
        if ((unsigned char)id.p[i] < ' ' || id.p[i] == 0x7f)
            return false;
    return true;
}

void exathena_generate_id(char *out, size_t n)
{
    unsigned char random[64];
    /* bits of the last digit that belong to no byte are zero */
    unsigned spare = (unsigned)(n * 6 % 8);

    assert(n < sizeof random);
    if (n >= sizeof random)
        n = sizeof random - 1;
    if (getentropy(random, n))
        memset(random, 0, n); /* the fixed id then exists already, which is reported */
    random[n - 1] &= (unsigned char)(63u >> spare << spare);
    for (size_t i = 0; i < n; i++)
        out[i] = digits[random[i] & 63];
    if (out[0] == '-') /* would be an option on a command line */
        out[0] = '_';
    out[n] = '\0';
}

const char *exathena_side_path(const struct session_ref *ref, const char *rest, struct arena *a)
{
    size_t stem = ref->path.n - (sizeof JSONL_SUFFIX - 1);

    return arena_format(a, "%.*s%s%s", (int)stem, ref->path.p, *rest ? "/" : "", rest);
}

/* ---- where the store is ---- */

/* The .exathena of the directory or of its nearest ancestor that has one. */
static enum err_code exathena_nearest(const char *from, char **out, struct err *e)
{
    char *dir = strdup(from);
    enum err_code rc = ERR_NOMEM;

    while (dir) {
        char *path = config_dir_join(dir, store_name), *slash;

        if (!path)
            break;
        if (!config_dir_require(path, NULL)) {
            *out = path;
            rc = ERR_OK;
            break;
        }
        free(path);
        slash = strrchr(dir, '/');
        if (!slash || !slash[1]) {
            rc = ERR_NOT_FOUND;
            break;
        }

        /* The root keeps its slash and is the last one to be tried. */
        slash[slash == dir] = '\0';
    }
    free(dir);
    if (rc == ERR_NOMEM)
        return err_nomem(e);
    return rc ? err_set(e, rc, from, "open store: no .exathena here or above") : ERR_OK;
}

/* Returns true for a root that a host chose: logs directly in it, or nothing yet, and no sessions/. */
static bool is_own_root(const char *path)
{
    char *inside = config_dir_join(path, "sessions");
    const char *slash = strrchr(path, '/');
    bool other = !inside || !config_dir_require(inside, NULL), found = false;
    bool empty = strcmp(slash ? slash + 1 : path, store_name) != 0;
    DIR *dir = other ? NULL : opendir(path);
    const struct dirent *entry;

    while (dir && !found && (entry = readdir(dir))) {
        /* A log has an event in its first line. Any directory may contain JSONL that is no log. */
        struct file f;
        struct slice id;
        char *text =
            jsonl_id_of_name(entry->d_name, exathena_is_id, &id) ? malloc(FIRST_LINE) : NULL;
        size_t got = 0;

        if (text && file_open(dirfd(dir), entry->d_name, 0, &f, NULL) == ERR_OK) {
            if (file_read(&f, 0, text, FIRST_LINE, &got, NULL))
                got = 0;
            file_close(&f);
        }

        const char *end = got ? memchr(text, '\n', got) : NULL;
        struct slice line = { text, end ? (size_t)(end - text) : got };
        found = slice_has(line, "\"event\"") && slice_has(line, "\"data\"");

        free(text);

        empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    }
    found |= dir && empty;
    if (dir)
        closedir(dir);
    free(inside);
    return found;
}

/* The path may also be the project's. */
static enum err_code named(const struct store_env *env, const char *path, char **out, struct err *e)
{
    char *given = config_dir_absolute(env, path), *inside;

    inside = given ? config_dir_join(given, store_name) : NULL;
    if (inside && !config_dir_require(inside, NULL)) {
        char *swap = given;

        given = inside;
        inside = swap;
    }
    if (!inside) {
        free(given);
        return err_nomem(e);
    }
    free(inside);

    /* The path of a store in a project's .exathena is that of the .exathena, without
     * sessions/. */
    static const char usual[] = "/.exathena/sessions";
    size_t n = strlen(given), k = sizeof usual - 1;

    if (n > k && strcmp(given + n - k, usual) == 0)
        given[n - sizeof "sessions"] = '\0';

    *out = given;
    return ERR_OK;
}

enum err_code exathena_make(const struct store_env *env, const char *path, struct err *e)
{
    char *dir = NULL, *sessions;
    enum err_code rc = path ? named(env, path, &dir, e) : exathena_nearest(env->cwd, &dir, NULL);

    if (rc == ERR_NOT_FOUND) {
        dir = config_dir_join(env->cwd, store_name);
        rc = ERR_OK;
    }
    if (rc)
        return rc;
    if (dir && is_own_root(dir)) {
        free(dir);
        return ERR_OK;
    }
    sessions = dir ? config_dir_join(dir, "sessions") : NULL;
    rc = sessions ? disk_make_dir(sessions, DIRECTORY_MODE, e) : err_nomem(e);
    free(sessions);
    free(dir);
    return rc;
}

/* ---- open, close ---- */

static void exathena_close(struct store *st)
{
    struct exathena *x = (struct exathena *)st;

    jsonl_store_fini(&x->jsonl);
    free(x->history);
    free(x->project);
    free(x);
}

/* Sets the three paths of a store. */
static bool exathena_name_places(struct exathena *x, const char *dir)
{
    char parent[PATH_MAX];

    x->history = config_dir_join(dir, "file-history");
    x->project = path_parent(dir, parent) ? strdup(parent) : NULL;
    x->jsonl.pool = window_pool_new();
    if (!x->jsonl.folder)
        x->jsonl.folder = config_dir_join(dir, "sessions");
    return x->jsonl.folder && x->history && x->project && x->jsonl.pool;
}

static enum err_code find_places(struct exathena *x, struct err *e)
{
    char *near = NULL;
    enum err_code rc = ERR_OK;

    x->own_root = is_own_root(x->jsonl.base.path);
    if (x->own_root) {
        x->jsonl.folder = strdup(x->jsonl.base.path);
        rc = exathena_nearest(x->jsonl.base.path, &near, e);
        if (rc == ERR_NOT_FOUND)
            rc = exathena_nearest(x->jsonl.base.env->cwd, &near, e);
        x->no_project = rc == ERR_NOT_FOUND;
        if (x->no_project)
            rc = (near = config_dir_join(x->jsonl.base.env->cwd, store_name)) ? ERR_OK : ERR_NOMEM;
    }
    if (!rc && !((!x->own_root || x->jsonl.folder) &&
                 exathena_name_places(x, near ? near : x->jsonl.base.path)))
        rc = ERR_NOMEM;
    free(near);
    return rc == ERR_NOMEM ? err_nomem(e) : rc;
}

static enum err_code exathena_open(const struct store_env *env, const char *path,
                                   struct store **out, struct err *e)
{
    struct exathena *x = calloc(1, sizeof *x);

    if (!x)
        return err_nomem(e);
    x->jsonl.base = (struct store){ .ops = &exathena_ops, .env = env };
    x->jsonl.format = &exathena_format;
    enum err_code rc = path ? named(env, path, &x->jsonl.base.path, e)
                            : exathena_nearest(env->cwd, &x->jsonl.base.path, e);

    if (!rc)
        rc = config_dir_require(x->jsonl.base.path, e);
    if (!rc)
        rc = find_places(x, e);
    if (rc)
        exathena_close(&x->jsonl.base);
    else
        *out = &x->jsonl.base;
    return rc;
}

/* Rename, tag and archive are missing because the format has no place for them (exathena.h);
 * resume-at because the whole log is the conversation; tombstone because the row is the message's
 * only copy, and the library does not support blanked rows. */
const struct store_ops exathena_ops = {
    .name = "exathena",
    .label = "ExAthena",
    .folders = NULL,
    .row_keys = &exathena_keys,
    .open = exathena_open,
    .close = exathena_close,
    .enumerate = jsonl_enumerate,
    .unreadable = jsonl_unreadable,
    .describe = jsonl_describe,
    .find = jsonl_find,
    .at_path = exathena_at_path,
    .tail = jsonl_tail,
    .load = jsonl_load,
    .blocks = exathena_blocks,
    .messages = exathena_messages,
    .subagents = exathena_subagents,
    .describe_subagents = exathena_describe_subagents,
    .subagent = exathena_subagent,
    .restore = exathena_restore,
    .fork = exathena_fork,
    .parts = exathena_parts,
    .copies = exathena_copies,
    .live = exathena_live,
    .check = exathena_check,
    .check_store = exathena_check_store,
    .leftovers = exathena_leftovers,
    .edits = exathena_edits,
    .checkpoints = exathena_checkpoints,
    .plan = exathena_plan,
    .plan_inferred = exathena_plan_inferred,
    .plan_conversation = exathena_plan_conversation,
    .why = {
        [ABILITY_RENAME] = "ExAthena sessions have no title: they are named by their first prompt",
        [ABILITY_NAME_FORK] = "ExAthena sessions have no title: they are named by their first prompt",
        [ABILITY_TAG] = "ExAthena sessions have no tags",
        [ABILITY_ARCHIVE] = "ExAthena sessions cannot be archived",
        [ABILITY_RESUME_AT] = "ExAthena continues after the last event: fork at this one instead",
        [ABILITY_TOMBSTONE] = "an ExAthena log is the only copy of its events: none can be removed",
        [ABILITY_REAPPEND] = "ExAthena logs have no metadata to append again",
        [ABILITY_RETRIEVE] = "ExAthena logs are already where the library looks for them",
        [ABILITY_MOVE] = "an ExAthena session is where its host keeps it",
        [ABILITY_HAVE_BRANCHES] = "ExAthena logs have no branches",
        [ABILITY_SET] = "ExAthena sessions have no settings",
    },
    .make = exathena_make,
    .create = exathena_create,
    .append = exathena_append,
    .host_row = exathena_host_row,
    .drain_ms = 250, /* its store's flush_interval_ms: seed 001 */
    .checkpoint = exathena_checkpoint,
};
