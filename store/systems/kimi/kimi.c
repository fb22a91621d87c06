#include "store/systems/kimi/kimi.h"

#include <fcntl.h>
#include <string.h>

#include "lite/io/file.h"
#include "store/log/log_damage.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/session_dirs.h"

/* ---- open, close ---- */

static enum err_code kimi_open(const struct store_env *env, const char *path, struct store **out,
                               struct err *e)
{
    return jsonl_store_open(&kimi_ops, &kimi_format, env, path, "sessions", out, e);
}

/* ---- folders ---- */

bool kimi_is_folder_of(struct slice folder, struct slice directory)
{
    const size_t skip = folder.n > KIMI_HASH_DIGITS ? folder.n - KIMI_HASH_DIGITS : 0;

    return skip && folder.p[skip - 1] == '_' &&
           config_dir_has_hash((struct slice){ folder.p + skip, KIMI_HASH_DIGITS }, DIGEST_SHA256,
                               directory);
}

static bool kimi_is_in_scope(const struct jsonl_store *s, const struct scope *scope,
                             const char *name)
{
    struct slice folder = slice_of(name);

    (void)s;
    if (scope->all || kimi_is_folder_of(folder, scope->project))
        return true;
    for (size_t i = 0; i < scope->trees; i++)
        if (kimi_is_folder_of(folder, scope->tree[i]))
            return true;
    return false;
}

const struct session_dirs kimi_dirs = { .log = "/agents/main/wire.jsonl",
                                        .in_scope = kimi_is_in_scope };

struct slice kimi_session_dir(const struct session_ref *ref)
{
    static const char agents[] = "/agents/";
    const char *at = strstr(ref->path.p, agents);

    for (const char *next = at; next; next = strstr(next + 1, agents))
        at = next;
    return at ? (struct slice){ ref->path.p, (size_t)(at - ref->path.p) } : ref->path;
}

/* ---- state.json ---- */

static void kimi_read_text(struct slice object, const char *name, struct arena *a,
                           struct slice *out)
{
    struct slice text;

    if (json_get_text(object, name, a, &text))
        *out = arena_copy(a, text);
}

void kimi_state_read(const struct session_ref *ref, struct arena *a, struct kimi_state *out)
{
    struct slice dir = kimi_session_dir(ref), all;
    const char *path = arena_format(a, "%.*s/state.json", SLICE_ARG(dir));
    struct buf text = { 0 };

    *out = (struct kimi_state){ .archived = false };
    if (path && !file_read_all(AT_FDCWD, path, 0, KIMI_STATE_MOST, &text, NULL) &&
        json_valid(all = buf_slice(&text))) {
        kimi_read_text(all, "cwd", a, &out->cwd);
        if (!out->cwd.n)
            kimi_read_text(all, "workDir", a, &out->cwd);
        if (!out->cwd.n) /* for sessions that other programs made */
            out->cwd = json_copy_at(all, "custom.cwd", a);
        kimi_read_text(all, "title", a, &out->title);
        kimi_read_text(all, "lastPrompt", a, &out->last_prompt);
        kimi_read_text(all, "forkedFrom", a, &out->forked_from);
        out->archived = json_get_true(all, "archived");
        out->known = true;
    }
    buf_fini(&text);
}

/* ---- sub-agents ---- */

/* The names of sub-agents' directories. */
static bool kimi_is_agent_id(struct slice id)
{
    return slice_is_of(id, JSONL_ID_CHARACTERS) && id.n > 0 && id.n <= 128 &&
           !slice_eq(id, SLICE("main"));
}

static bool agent_name(const char *name, struct slice *id)
{
    *id = slice_of(name);
    return kimi_is_agent_id(*id);
}

enum err_code kimi_subagents(const struct store *st, const struct session_ref *ref, struct arena *a,
                             struct slice **ids, size_t *n, struct err *e)
{
    (void)st;
    return session_dirs_names(ref, "agents", agent_name, a, ids, n, e);
}

enum err_code kimi_subagent(const struct store *st, const struct session_ref *ref,
                            struct slice agent, struct arena *a, struct session_ref *out,
                            struct err *e)
{
    struct slice dir = kimi_session_dir(ref);

    if (!kimi_is_agent_id(agent))
        return err_set(e, ERR_NOT_FOUND, ref->path.p,
                       "read sub-agent: no such sub-agent; see reprise subagents");
    return jsonl_ref_at(
        st, arena_format(a, "%.*s/agents/%.*s/wire.jsonl", SLICE_ARG(dir), SLICE_ARG(agent)), agent,
        a, out, e);
}

static const struct log_sent kimi_sent[] = {
    { "context.append_message", "message" },
    { "context.append_loop_event", "event" },
    { NULL, NULL },
};
static const struct log_rules kimi_log_rules = { .refused = log_refused_texts,
                                                 .sent = kimi_sent,
                                                 .half = LOG_HALF_REFUSED };

const struct store_ops kimi_ops = {
    .name = "kimi",
    .label = "Kimi Code",
    .folders = "sessions",
    .row_keys = &kimi_keys,
    .resume_command = "kimi --session {id}",
    /* `kimi fork` prints "Forked to ID (...)" and ends; the fork is opened by a second command. */
    .fork_command = "sh -c 'new=$(kimi fork -y \"$1\" | sed -n \"s/^Forked to \\([^ ]*\\).*/\\1/p\") && "
                    "[ \"$new\" ] && shift && exec kimi --session \"$new\" \"$@\"' kimi {id}",
    .hooks = &kimi_hooks,
    .mcp = &kimi_mcp,
    .files = session_dirs_parts,
    .open = kimi_open,
    SESSION_DIRS_LIST,
    .describe = jsonl_describe,
    .tail = jsonl_tail,
    .load = jsonl_load,
    .blocks = row_table_blocks,
    .messages = jsonl_messages,
    .subagents = kimi_subagents,
    .subagent = kimi_subagent,
    .folder_of = kimi_folder_of,
    .set_directory = kimi_set_directory,
    .agent_variable = jsonl_agent_variable,
    .check = jsonl_check,
    .log_rules = &kimi_log_rules,
    .checkpoints = kimi_checkpoints,
    .plan = kimi_plan,
    .usage = kimi_usage,
    .edits = kimi_edits,
    .why = {
        [ABILITY_RENAME] = "Kimi Code keeps an index of its titles: use /title in it",
        [ABILITY_ARCHIVE] = "Kimi Code keeps an index of its sessions: archive it there",
        [ABILITY_DELETE] = "Kimi Code keeps an index of its sessions: delete it there",
        [ABILITY_TAG] = "Kimi Code sessions have no tags",
        [ABILITY_FORK] = "Kimi Code forks itself: kimi fork ID",
        [ABILITY_RESUME_AT] = "Kimi Code continues after the last record: use its own /undo",
        [ABILITY_TOMBSTONE] = "a Kimi Code log is the only copy of its messages",
        [ABILITY_REAPPEND] = "Kimi Code keeps its titles beside the logs",
        [ABILITY_RETRIEVE] = "Kimi Code's logs are already where it looks for them",
        [ABILITY_HAVE_BRANCHES] = "Kimi Code logs have no branches",
        [ABILITY_SET] = "Kimi Code sessions have no settings",
    },
};
