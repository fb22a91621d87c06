#include "store/systems/goat/goat.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/api/host.h"
#include "store/systems/common/config_dir.h"

const struct goat *goat_of(const struct store *st)
{
    assert(st->ops->open == goat_ops.open);
    return (const struct goat *)st;
}

static bool is_component(struct slice id)
{
    if (id.n == 0 || id.n > NAME_MAX || id.p[0] == '.' || id.p[0] == '-')
        return false;
    for (size_t i = 0; i < id.n; i++)
        if (id.p[i] == '/' || (unsigned char)id.p[i] < 0x20 || id.p[i] == 0x7f)
            return false;
    return true;
}

/* The directory that all checkpoints may share contains contents, and no manifest (goat.md B9). */
bool goat_is_point_id(struct slice id)
{
    return is_component(id) && !slice_eq(id, SLICE("blobs"));
}

/* See goat.md B5. */
bool goat_is_memory(struct slice id)
{
    static const char suffix[] = "-memory";
    size_t n = sizeof suffix - 1;

    return slice_eq(id, SLICE("memory")) || (id.n > n && memcmp(id.p + id.n - n, suffix, n) == 0);
}

bool goat_is_id(struct slice id)
{
    return is_component(id) && !goat_is_memory(id);
}

bool goat_is_file(struct slice name)
{
    return slice_eq(name, SLICE(GOAT_METADATA)) || slice_eq(name, SLICE(GOAT_MESSAGES_LOG)) ||
           slice_eq(name, SLICE(GOAT_TRANSCRIPT_LOG));
}

const char *goat_path(const struct session_ref *ref, const char *rest, struct arena *a)
{
    const char *slash = memrchr(ref->path.p, '/', ref->path.n);
    size_t n = slash ? (size_t)(slash - ref->path.p) : 0;

    if (slash && !goat_is_file((struct slice){ slash + 1, ref->path.n - n - 1 }))
        n = ref->path.n;
    return arena_format(a, "%.*s%s%s", (int)n, ref->path.p, rest[0] ? "/" : "", rest);
}

static void goat_close(struct store *st)
{
    struct goat *g = (struct goat *)st;

    jsonl_store_fini(&g->jsonl);
    free(g);
}

static bool is_dir_below(int dirfd, const char *name)
{
    struct stat sb;

    return fstatat(dirfd, name, &sb, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(sb.st_mode);
}

static bool is_dir_entry(DIR *dir, const struct dirent *entry)
{
    if (entry->d_name[0] == '.')
        return false;
    return entry->d_type == DT_UNKNOWN ? is_dir_below(dirfd(dir), entry->d_name)
                                       : entry->d_type == DT_DIR;
}

static enum goat_path_kind goat_path_kind_of(const char *path)
{
    char below[PATH_MAX];
    const char *slash = strrchr(path, '/');

    if (slash && strcmp(slash, "/sessions") == 0)
        return GOAT_SESSIONS;
    if (snprintf(below, sizeof below, "%s/projects", path) < (int)sizeof below &&
        is_dir_below(AT_FDCWD, below))
        return GOAT_CONFIG;
    if (snprintf(below, sizeof below, "%s/sessions", path) < (int)sizeof below &&
        is_dir_below(AT_FDCWD, below))
        return GOAT_PROJECT;
    /* A directory of projects has directories with a folder "sessions". */
    char name[NAME_MAX + sizeof "/sessions"];
    DIR *dir = opendir(path);
    struct dirent *entry;
    bool found = false;

    while (dir && !found && (entry = readdir(dir))) {
        snprintf(name, sizeof name, "%s/sessions", entry->d_name);
        found = is_dir_entry(dir, entry) && is_dir_below(dirfd(dir), name);
    }
    if (dir)
        closedir(dir);
    return found ? GOAT_PROJECTS : GOAT_SESSIONS;
}

static void each_project(const char *projects, goat_base_fn *fn, void *arg)
{
    char path[PATH_MAX];
    DIR *dir = opendir(projects);
    struct dirent *entry;
    bool more = true;

    while (dir && more && (entry = readdir(dir))) {
        int n = snprintf(path, sizeof path, "%s/%s/sessions", projects, entry->d_name);

        if (is_dir_entry(dir, entry) && n < (int)sizeof path && is_dir_below(AT_FDCWD, path))
            more = fn(path, slice_of(entry->d_name), arg);
    }
    if (dir)
        closedir(dir);
}

/* The name of the directory that contains a folder of sessions. */
static struct slice project_of(const char *sessions)
{
    const char *end = strrchr(sessions, '/'), *begin = end;

    if (!end || strcmp(end, "/sessions") != 0)
        return SLICE("");
    while (begin > sessions && begin[-1] != '/')
        begin--;
    return (struct slice){ begin, (size_t)(end - begin) };
}

void goat_each_base(const struct goat *g, goat_base_fn *fn, void *arg)
{
    char path[PATH_MAX];

    switch (g->place) {
    case GOAT_CONFIG:
        if (snprintf(path, sizeof path, "%s/projects", g->jsonl.base.path) < (int)sizeof path)
            each_project(path, fn, arg);
        break;
    case GOAT_PROJECTS: each_project(g->jsonl.base.path, fn, arg); break;
    case GOAT_PROJECT:
        if (snprintf(path, sizeof path, "%s/sessions", g->jsonl.base.path) < (int)sizeof path)
            fn(path, project_of(path), arg);
        break;
    case GOAT_SESSIONS: fn(g->jsonl.base.path, project_of(g->jsonl.base.path), arg); break;
    }
}

static bool look_for_session(const char *sessions, struct slice folder, void *arg)
{
    bool *found = arg;
    char name[NAME_MAX + sizeof "/" GOAT_METADATA];
    DIR *dir = opendir(sessions);
    struct dirent *entry;

    (void)folder;
    while (dir && !*found && (entry = readdir(dir))) {
        snprintf(name, sizeof name, "%s/" GOAT_METADATA, entry->d_name);
        *found = is_dir_entry(dir, entry) && faccessat(dirfd(dir), name, F_OK, 0) == 0;
    }
    if (dir)
        closedir(dir);
    return !*found;
}

static enum err_code goat_open(const struct store_env *env, const char *path, struct store **out,
                               struct err *e)
{
    enum err_code rc = ERR_OK;
    struct goat *g = calloc(1, sizeof *g);
    char place[PATH_MAX];

    if (!g)
        return err_nomem(e);
    g->jsonl.base = (struct store){ .ops = &goat_ops, .env = env };
    g->jsonl.format = &goat_format;
    if (!path)
        rc = config_dir_default(env, &g->jsonl.base.path, e);
    else if (!(g->jsonl.base.path = config_dir_absolute(env, path)))
        rc = err_nomem(e);
    if (!rc)
        rc = config_dir_require(g->jsonl.base.path, e);
    if (!rc && !(g->jsonl.pool = window_pool_new()))
        rc = err_nomem(e);
    if (!rc && !path) {
        /* Without a path, the store is the agent's configuration directory, and is only used if it
         * contains a session. */
        struct arena a = { 0 };
        const char *own =
            goat_base_for(GOAT_CONFIG, g->jsonl.base.path, g->jsonl.base.env->cwd, &a);
        /* It exists without a session if goat_make made it for the first one. */
        bool made = own && access(own, F_OK) == 0;

        bool found = made;

        arena_fini(&a);
        g->place = GOAT_CONFIG;
        if (!found)
            goat_each_base(g, look_for_session, &found);
        if (!found) {
            snprintf(place, sizeof place, "%s/projects/*/sessions", g->jsonl.base.path);
            rc = err_set(e, ERR_NOT_FOUND, place, "open store: there are no sessions");
        }
    } else if (!rc)
        g->place = goat_path_kind_of(g->jsonl.base.path);
    if (rc)
        goat_close(&g->jsonl.base);
    else
        *out = &g->jsonl.base;
    return rc;
}

/* The documents have no members for these (goat.md B1), and a host would not see anything kept
 * elsewhere. */
const struct store_ops goat_ops = {
    .name = "goat",
    .resume_command = "goat --resume {id}",
    .label = "Go directory sessions (`goat`)",
    .folders = "projects",
    .row_keys = &goat_keys,
    .has_dialects = true,
    .accepts_fork_id = true,
    .ties_ascending = true, /* sessions of the same time are listed by id upwards */
    .open = goat_open,
    .close = goat_close,
    .enumerate = goat_enumerate,
    .unreadable = goat_unreadable,
    .describe = jsonl_describe,
    .find = goat_find,
    .find_each = store_find_each_listed,
    .at_path = goat_at_path,
    .tail = jsonl_tail,
    .load = jsonl_load,
    .blocks = goat_blocks,
    .facts = goat_facts,
    .messages = goat_messages,
    .subagents = goat_subagents,
    .describe_subagents = goat_describe_subagents,
    .subagent = goat_subagent,
    .usage = goat_usage,
    .restore = goat_restore,
    .rename = goat_rename,
    .fork = goat_fork,
    .parts = goat_parts,
    .live = goat_live,
    .check = goat_check,
    .check_store = goat_check_store,
    .edits = goat_edits,
    .checkpoints = goat_checkpoints,
    .count_lines = goat_count_lines,
    .plan = goat_plan,
    .plan_conversation = goat_plan_conversation,
    .why = {
        [ABILITY_TAG] = "Go sessions have no tags",
        [ABILITY_ARCHIVE] = "Go sessions cannot be archived",
        [ABILITY_RESUME_AT] = "Go hosts continue after the last message: fork at this one instead",
        [ABILITY_TOMBSTONE] = "a Go host loads every message: fork before this one instead",
        [ABILITY_REAPPEND] = "Go metadata is in its own file, where it is always found",
        [ABILITY_RETRIEVE] = "Go sessions are already where their host looks for them",
        [ABILITY_MOVE] = "its host decides where a Go session is",
        [ABILITY_HAVE_BRANCHES] = "Go conversations have no branches: forks are separate sessions",
    },
    .make = goat_make,
    .create = goat_create,
    .append = goat_append,
    .has_documents = true,
    .host_row = goat_host_row,
    .drain_ms =
        HOST_AT_ONCE, /* its writer takes rows as they come, from a queue of 256 (seed 004) */
    .queue_rows = 256,
    .checkpoint = goat_checkpoint,
    .set = goat_set,
};
