#include "store/systems/droid/droid.h"

#include <fcntl.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/common/session_dirs.h"
#include "store/systems/common/usage_rows.h"

enum { SETTINGS_MOST = 1 << 20 };

char *droid_usual_path(const struct store_env *env)
{
    return env->home ? config_dir_join(env->home, ".factory") : NULL;
}

static enum err_code droid_open(const struct store_env *env, const char *path, struct store **out,
                                struct err *e)
{
    return session_dirs_open(&droid_ops, &droid_format, env, path, "sessions", out, e);
}

/* ---- the sessions ---- */

static const char *const inside[] = { "", NULL };
const struct project_logs droid_logs = { .folder_of = config_dir_flatten, .inside = inside };

/* It is not known whether Droid replaces only slashes in the name of a folder, so names are
 * compared as if all other characters were replaced too. The first line of a session contains its
 * directory. */
struct choosing {
    const struct scope *scope;
    session_ref_fn *fn;
    void *arg;
    struct arena arena;
};

static bool is_of(struct slice folder, struct slice directory, struct arena *a)
{
    return slice_eq(config_dir_flatten(folder, a), config_dir_flatten(directory, a));
}

static bool choose(const struct session_ref *ref, void *arg)
{
    struct choosing *c = arg;
    bool wanted =
        c->scope->all || !ref->folder.n || is_of(ref->folder, c->scope->project, &c->arena);

    for (size_t i = 0; i < c->scope->trees && !wanted; i++)
        wanted = is_of(ref->folder, c->scope->tree[i], &c->arena);
    arena_reset(&c->arena);
    return !wanted || c->fn(ref, c->arg);
}

static enum err_code droid_enumerate(const struct store *st, const struct scope *scope,
                                     session_ref_fn *fn, void *arg, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct choosing c = { .scope = scope, .fn = fn, .arg = arg };
    enum err_code rc = project_logs_enumerate(st, &everywhere, choose, &c, e);

    arena_fini(&c.arena);
    return rc;
}

static enum err_code droid_find(const struct store *st, const struct scope *scope, struct slice id,
                                struct arena *a, struct session_ref *ref, struct err *e)
{
    const struct scope everywhere = { .all = true };

    (void)scope;
    return project_logs_find(st, &everywhere, id, a, ref, e);
}

/* ---- settings, and the sums of tokens in them, which count as one answer ---- */

enum err_code droid_settings(const struct session_ref *ref, struct buf *out)
{
    static const size_t suffix = sizeof JSONL_SUFFIX - 1;
    struct arena a = { 0 };
    const char *path =
        arena_format(&a, "%.*s.settings.json",
                     (int)(ref->path.n > suffix ? ref->path.n - suffix : 0), ref->path.p);
    enum err_code rc =
        path ? file_read_all(AT_FDCWD, path, 0, SETTINGS_MOST, out, NULL) : ERR_NOMEM;

    arena_fini(&a);
    if (rc || !json_valid(buf_slice(out)) || json_type(buf_slice(out)) != JSON_OBJECT)
        out->n = 0;
    return rc == ERR_NOMEM ? rc : ERR_OK;
}

static enum err_code droid_usage(const struct store *st, const struct session_ref *ref,
                                 const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct usage_record u = usage_record_empty();
    struct buf settings = { 0 };
    struct arena a = { 0 };
    struct slice tokens;
    enum err_code rc = droid_settings(ref, &settings);

    (void)st, (void)cancel;
    if (!rc && settings.n && json_get(buf_slice(&settings), "tokenUsage", &tokens)) {
        u.answer = u.request = ref->id;
        u.input = usage_count(tokens, "inputTokens");
        u.output = usage_count(tokens, "outputTokens") + usage_count(tokens, "thinkingTokens");
        u.cache_read = usage_count(tokens, "cacheReadTokens");
        u.cache_write = usage_count(tokens, "cacheCreationTokens");
        u.time_ms = session_modified_ms(&ref->file);
        json_get_text(buf_slice(&settings), "model", &a, &u.model);
        if (!a.failed && (u.input || u.output || u.cache_read || u.cache_write))
            rc = fn(&u, arg, e);
        rc = a.failed ? ERR_NOMEM : rc;
    }
    buf_fini(&settings);
    arena_fini(&a);
    return rc == ERR_NOMEM ? err_nomem(e) : rc;
}

static const char *droid_cannot(unsigned ability)
{
    switch (ability) {
    case CAN_RENAME:
    case CAN_NAME_FORK: return "Droid writes the titles of its sessions itself";
    case CAN_TAG: return "Droid sessions have no tags";
    case CAN_ARCHIVE: return "archive it in Droid";
    case CAN_DELETE: return "delete it in Droid, which may have it open";
    case CAN_FORK: return "no Droid command that forks a session is known";
    case CAN_RESUME_AT: return "Droid continues after the last message";
    case CAN_REWIND: return "Droid is not known to keep copies of files";
    case CAN_TOMBSTONE: return "a Droid log is the only copy of its messages";
    case CAN_REAPPEND: return "Droid keeps its metadata in the first line of a log";
    case CAN_RETRIEVE: return "Droid's logs are already where it looks for them";
    case CAN_HAVE_AGENTS: return "no link from a sub-agent to its session is known in Droid's logs";
    case CAN_HAVE_BRANCHES: return "Droid logs are not known to have branches";
    case CAN_SET: return "Droid sessions have no settings that other programs may write";
    default: return NULL;
    }
}

const struct store_ops droid_ops = {
    .name = "droid",
    .label = "Factory Droid",
    .folders = "sessions",
    .resume_command = "droid --resume {id}",
    .open = droid_open,
    .close = session_dirs_close,
    .enumerate = droid_enumerate,
    .describe = jsonl_describe,
    .find = droid_find,
    .at_path = project_logs_at_path,
    .tail = jsonl_tail,
    .load = jsonl_load,
    .blocks = droid_blocks,
    .messages = block_messages,
    .usage = droid_usage,
    .edits = tool_edits_logged,
    .unsupported = droid_cannot,
};
