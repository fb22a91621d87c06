#include "store/systems/codex/codex.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "store/log/log_damage.h"
#include "store/proc/process.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/jsonl.h"

const struct codex *codex_of(const struct store *st)
{
    assert(st->ops->open == codex_ops.open);
    return (const struct codex *)st;
}

static void codex_close(struct store *st)
{
    struct codex *x = (struct codex *)st;

    jsonl_store_fini(&x->jsonl);
    codex_names_free(x->names);
    codex_threads_free(x->threads);
    codex_places_free(x->places);
    free(x);
}

static enum err_code codex_open(const struct store_env *env, const char *path, struct store **out,
                                struct err *e)
{
    struct store *st = NULL;

    TRY(jsonl_store_open(&codex_ops, &codex_format, env, path, "sessions", &st, e));

    struct codex *x = (struct codex *)st;

    x->names = codex_names_new(st->path);
    x->threads = codex_threads_new(st->path);
    x->places = codex_places_new(st->path);
    if (!x->names || !x->threads || !x->places) {
        codex_close(st);
        return err_nomem(e);
    }
    *out = st;
    return ERR_OK;
}

/* ---- whether a session is in use ---- */

enum err_code codex_live(const struct store *st, const struct session_ref *ref, struct live *out,
                         struct err *e)
{
    struct arena a = { 0 };
    struct stat sb;
    const char *proc = st->env->proc_dir ? st->env->proc_dir : proc_table();
    const char *lock =
        arena_format(&a, "%s/thread-writer-locks/%.*s.lock", st->path, SLICE_ARG(ref->id));

    *out = (struct live){ .state = LIVE_QUIET };
    /* The program that has a thread open locks its lock file as long as it runs; a stale lock file is
     * not locked. */
    switch (lock && lstat(lock, &sb) == 0 ? proc_lock_of(proc, &sb, &out->pid) : PROC_LOCK_NONE) {
    case PROC_LOCK_HELD:
        out->state = LIVE_RUNNING;
        out->why = "Codex has it open";
        break;
    case PROC_LOCK_LIKELY:
        out->state = LIVE_UNKNOWN;
        out->why = "Codex may have it open";
        break;
    case PROC_LOCK_UNKNOWN:
        out->state = LIVE_UNKNOWN;
        out->why = "its lock cannot be looked up";
        break;
    case PROC_LOCK_NONE: break;
    }
    arena_fini(&a);
    return lock ? ERR_OK : err_nomem(e);
}

/* The date in the name of a rollout is that of its folder. */
enum err_code codex_place(const struct store *st, const struct session_ref *ref, struct slice cwd,
                          struct arena *a, const char **to, struct err *e)
{
    static const size_t prefix = sizeof "rollout-" - 1;
    const char *name = strrchr(ref->path.p, '/') + 1, *date = name + prefix;

    (void)cwd;
    NEED(*to = arena_format(a, "%s/sessions/%.4s/%.2s/%.2s/%s", st->path, date, date + 5, date + 8,
                            name));
    return ERR_OK;
}

/* A rollout that continues another one names the number of its bytes. */
static const struct log_sent codex_sent[] = {
    { "session_meta", "payload" },
    { "response_item", "payload" },
    { "compacted", "payload" },
    { NULL, NULL },
};
static const struct log_rules codex_log_rules = {
    .has_offsets = true,
    .refused = log_refused_texts,
    .sent = codex_sent,
    .half = "half of a pair of surrogates in a text: Codex leaves the row out"
};

/* Archiving and deleting are done by the program, which keeps an index in a database that only it writes. It has no
 * command that renames. */
const struct store_ops codex_ops = {
    .name = "codex",
    .label = "Codex CLI",
    .folders = "sessions",
    .resume_command = "codex resume {id}",
    .fork_command = "codex fork {id}",
    .change_command = { [STORE_COMMAND_ARCHIVE] = "codex archive {id}",
                        [STORE_COMMAND_UNARCHIVE] = "codex unarchive {id}",
                        [STORE_COMMAND_DELETE] = "codex delete --force {id}" },
    .deleted_parts = codex_deleted_parts,
    .shared = codex_shared,
    .hooks = &codex_hooks,
    .compose = &codex_compose,
    .mcp = &codex_mcp,
    .open = codex_open,
    .close = codex_close,
    .enumerate = codex_enumerate,
    .unreadable = codex_unreadable,
    .describe = codex_describe,
    .find = codex_find,
    .at_path = codex_at_path,
    .place = codex_place,
    .tail = codex_tail,
    .load = codex_load,
    .blocks = codex_blocks,
    .messages = block_messages,
    .subagents = codex_subagents,
    .subagent = codex_subagent,
    .usage = codex_usage,
    .edits = codex_edits,
    .live = codex_live,
    .check = jsonl_check,
    .log_rules = &codex_log_rules,
    .checkpoints = codex_checkpoints,
    .plan = codex_plan,
    .agent_variable = jsonl_agent_variable,
    .why = {
        [ABILITY_RENAME] = "Codex keeps names in its own database: use /rename in Codex",
        [ABILITY_NAME_FORK] = "Codex keeps names in its own database: use /rename in Codex",
        [ABILITY_TAG] = "Codex sessions have no tags",
        [ABILITY_ARCHIVE] = "Codex keeps its index in a database: use codex archive ID",
        [ABILITY_DELETE] = "Codex keeps its index in a database: use codex delete ID",
        [ABILITY_FORK] = "forks of Codex sessions refer to their parents: use codex fork ID",
        [ABILITY_RESUME_AT] = "Codex continues after the last turn: go back in Codex itself",
        [ABILITY_TOMBSTONE] = "Codex counts the bytes of its logs: nothing can be removed from them",
        [ABILITY_REAPPEND] = "Codex logs have no metadata to append again",
        [ABILITY_RETRIEVE] = "Codex logs are already where Codex looks for them",
        [ABILITY_MOVE] = "Codex finds it from any directory: codex resume ID; its list follows with the next prompt there",
        [ABILITY_HAVE_BRANCHES] = "a Codex log has no branches: a fork is a separate session",
        [ABILITY_SET] = "Codex sessions have no settings that other programs may write",
    },
};
