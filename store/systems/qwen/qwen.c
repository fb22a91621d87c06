#include "store/systems/qwen/qwen.h"

#include <assert.h>
#include <stdlib.h>

#include "store/log/log_damage.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/lost_path.h"
#include "store/systems/common/row_table.h"

const struct qwen *qwen_of(const struct store *st)
{
    assert(st->ops->open == qwen_ops.open);
    return (const struct qwen *)st;
}

/* ---- open, close ---- */

static void qwen_close(struct store *st)
{
    struct qwen *q = (struct qwen *)st;

    jsonl_store_fini(&q->jsonl);
    free(q->history);
    live_cache_free(q->live);
    free(q);
}

/* The directory of the program's own files. */
char *qwen_own_path(const struct store_env *env)
{
    const char *named = env_variable(env, "QWEN_HOME");

    if (named)
        return config_dir_expand(env, named);
    return env->home ? config_dir_join(env->home, ".qwen") : NULL;
}

/* Without a directory of the program, no file is opened. */
char *qwen_usual_path(const struct store_env *env)
{
    const char *named = env_variable(env, qwen_format.variable);
    char *own = named ? NULL : qwen_own_path(env);
    char *other = own && !config_dir_require(own, NULL)
                      ? config_dir_of_settings(env, own, "advanced.runtimeOutputDir")
                      : NULL;

    if (other)
        free(own);
    return named ? config_dir_expand(env, named) : other ? other : own;
}

static enum err_code qwen_open(const struct store_env *env, const char *path, struct store **out,
                               struct err *e)
{
    struct store *st = NULL;

    TRY(jsonl_store_open(&qwen_ops, &qwen_format, env, path, "projects", &st, e));

    /* a store that was named has all of its files */
    struct qwen *q = (struct qwen *)st;
    char *own = path ? NULL : qwen_own_path(env);
    const char *beside = own ? own : st->path;

    q->history = config_dir_join(beside, "file-history");
    q->live = live_cache_new(beside);
    free(own);
    if (!q->history || !q->live) {
        qwen_close(st);
        return err_nomem(e);
    }
    *out = st;
    return ERR_OK;
}

/* ---- the sessions ---- */

enum err_code qwen_live(const struct store *st, const struct session_ref *ref, struct live *out,
                        struct err *e)
{
    (void)e;
    *out = live_cache_lookup(qwen_of(st)->live, ref->id);
    return ERR_OK;
}

static const char *const inside[] = { "chats", "chats/archive", NULL };
const struct project_logs qwen_logs = { .folder_of = config_dir_flatten, .inside = inside };

static const struct log_sent qwen_sent[] = {
    { "user", "message" },
    { "assistant", "message" },
    { "tool_result", "message" },
    { NULL, NULL },
};
static const struct log_rules qwen_log_rules = { .refused = log_refused_texts,
                                                 .sent = qwen_sent,
                                                 .half = LOG_HALF_REFUSED };

const struct store_ops qwen_ops = {
    .name = "qwen",
    .label = "Qwen Code",
    .folders = "projects",
    .row_keys = &qwen_keys,
    .resume_command = "qwen --resume {id}",
    .fork_command = "qwen --resume {id} --fork-session",
    .hooks = &qwen_hooks,
    .compose = &qwen_compose,
    .mcp = &qwen_mcp,
    .files = qwen_files,
    .open = qwen_open,
    .close = qwen_close,
    PROJECT_LOGS_OPS,
    .folder_of = project_logs_folder_of,
    .set_directory = project_logs_set_directory,
    .place = project_logs_place,
    .messages = jsonl_messages,
    .subagents = qwen_subagents,
    .describe_subagents = qwen_describe_subagents,
    .subagent = qwen_subagent,
    .agent_variable = jsonl_agent_variable,
    .live = qwen_live,
    .check = lost_path_check,
    .reconnect = lost_path_reconnect,
    .log_rules = &qwen_log_rules,
    .checkpoints = qwen_checkpoints,
    .plan = qwen_plan,
    .usage = qwen_usage,
    .edits = qwen_edits,
    .why = {
        [ABILITY_RENAME] = "Qwen Code names its sessions itself: use /rename in it",
        [ABILITY_ARCHIVE] = "Qwen Code archives a session only through qwen serve",
        [ABILITY_DELETE] = "Qwen Code keeps a session in several places: delete it there",
        [ABILITY_TAG] = "Qwen Code sessions have no tags",
        [ABILITY_FORK] = "Qwen Code forks itself: qwen --resume ID --fork-session",
        [ABILITY_RESUME_AT] = "Qwen Code continues after the last record: use its own /rewind",
        [ABILITY_TOMBSTONE] = "a Qwen Code log is the only copy of its messages",
        [ABILITY_REAPPEND] = "Qwen Code writes its titles again itself",
        [ABILITY_RETRIEVE] = "Qwen Code's logs are already where it looks for them",
        [ABILITY_HAVE_BRANCHES] = "branches of Qwen Code sessions are not read",
        [ABILITY_SET] = "Qwen Code sessions have no settings",
    },
};
