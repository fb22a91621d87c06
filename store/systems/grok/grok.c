#include "store/systems/grok/grok.h"
#include "store/log/log_damage.h"

#include <fcntl.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/jsonl.h"

enum { NAME_MOST = 16 << 10 };

static enum err_code grok_open(const struct store_env *env, const char *path, struct store **out,
                               struct err *e)
{
    return jsonl_store_open(&grok_ops, &grok_format, env, path, "sessions", out, e);
}

/* ---- folders ---- */

/* Empty if it is not the percent-encoded form of an absolute path. */
static struct slice grok_decode(const char *folder, struct arena *a)
{
    size_t n = strlen(folder), k = 0;
    char *out = arena_alloc(a, n + 1);

    for (size_t i = 0; out && i < n; i++) {
        int high = folder[i] == '%' ? slice_hex_digit(folder[i + 1]) : -1;
        int low = high >= 0 ? slice_hex_digit(folder[i + 2]) : -1;
        char c = low >= 0 ? (char)(high * 16 + low) : folder[i];

        if (!c)
            return SLICE("");
        out[k++] = c;
        i += low >= 0 ? 2 : 0;
    }
    if (out)
        out[k] = '\0';
    return out && out[0] == '/' ? (struct slice){ out, k } : SLICE("");
}

struct slice grok_directory(const struct jsonl_store *s, const char *folder, struct arena *a)
{
    struct slice name = grok_decode(folder, a);
    struct buf text = { 0 };
    const char *path = name.n ? NULL : arena_format(a, "%s/%s/.cwd", s->folder, folder);

    if (path && !file_read_all(AT_FDCWD, path, 0, NAME_MOST, &text, NULL)) {
        while (text.n && (unsigned char)text.p[text.n - 1] <= ' ')
            text.n--;
        name = arena_copy(a, buf_slice(&text));
        if (!name.n || name.p[0] != '/' || memchr(name.p, '\0', name.n))
            name = SLICE("");
    }
    buf_fini(&text);
    return name;
}

static bool grok_is_in_scope(const struct jsonl_store *s, const struct scope *scope,
                             const char *folder)
{
    struct arena a = { 0 };
    bool is = scope->all || config_dir_in_scope(scope, grok_directory(s, folder, &a), &a);

    arena_fini(&a);
    return is;
}

/* The directory of a folder whose name does not say it. */
static enum err_code grok_shared(const struct store *st, const struct session_ref *ref, bool all,
                                 struct arena *a, const char ***part, size_t *n, struct err *e)
{
    const struct jsonl_store *s = (const struct jsonl_store *)st;

    (void)all;
    *part = NULL;
    *n = 0;
    NEED(arena_add_text(a, part, n,
                        arena_format(a, "%s/%.*s/.cwd", s->folder, SLICE_ARG(ref->folder))));
    return ERR_OK;
}

/* ---- the sessions ---- */

const struct session_dirs grok_dirs = { .log = "/updates.jsonl", .in_scope = grok_is_in_scope };

/* ---- sub-agents: separate sessions whose names the session contains ---- */

enum err_code grok_subagents(const struct store *st, const struct session_ref *ref, struct arena *a,
                             struct slice **ids, size_t *n, struct err *e)
{
    (void)st;
    return session_dirs_names(ref, "subagents", NULL, a, ids, n, e);
}

enum err_code grok_subagent(const struct store *st, const struct session_ref *ref,
                            struct slice agent, struct arena *a, struct session_ref *out,
                            struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = grok_subagents(st, ref, a, &ids, &n, e);

    for (size_t i = 0; i < n && !rc; i++)
        if (slice_eq(ids[i], agent))
            return session_dirs_find(st, &everywhere, agent, a, out, e);
    return rc ? rc
              : err_set(e, ERR_NOT_FOUND, ref->path.p,
                        "read sub-agent: no such sub-agent; see reprise subagents");
}

static char *grok_hooks_path(const struct store_env *env)
{
    return config_dir_file(jsonl_usual_path(&grok_format, env), "hooks/reprise.json");
}

/* From the manual in Grok Build 1.0.41. StopCancelled is left out: it may come after the next prompt. */
#define GROK_COMMAND(event)                                                                        \
    "[{ \"hooks\": [{ \"type\": \"command\", \"command\": \"% snapshot --agent grok "              \
    "--event " event "\", \"timeout\": 5 }] }]"

static const struct agent_hooks grok_hooks = {
    .form = HOOK_FILE,
    .path = grok_hooks_path,
    .documented = true,
    .text = "{\n  \"hooks\": {\n    \"UserPromptSubmit\": " GROK_COMMAND(
        "prompt") ",\n    \"Stop\": " GROK_COMMAND("end") "\n  }\n}\n",
    .session = "sessionId",
    .turn = "promptId",
    .prompt = "prompt",
    .cwd = "cwd",
    .subagent = "subagentType",
};

/* Grok leaves out lines that do not parse (storage/jsonl/mod.rs), so it loses nothing by their repair. */
static const struct log_rules grok_log_rules = { .unknown = false };

const struct store_ops grok_ops = {
    .name = "grok",
    .label = "Grok Build",
    .folders = "sessions",
    .resume_command = "grok --resume {id}",
    .hooks = &grok_hooks,
    .fork_command = "grok --resume {id} --fork-session",
    .change_command = { [STORE_COMMAND_DELETE] = "grok sessions delete {id}" },
    .deleted_parts = session_dirs_parts,
    .shared = grok_shared,
    .open = grok_open,
    SESSION_DIRS_LIST,
    .describe = jsonl_describe,
    .tail = grok_tail,
    .load = grok_load,
    .blocks = grok_blocks,
    .messages = block_messages,
    .subagents = grok_subagents,
    .subagent = grok_subagent,
    .agent_variable = jsonl_agent_variable,
    .check = jsonl_check,
    .log_rules = &grok_log_rules,
    .usage = grok_usage,
    .edits = grok_edits,
    .checkpoints = grok_checkpoints,
    .plan = grok_plan,
    .why = {
        [ABILITY_RENAME] = "Grok keeps its titles beside the logs: use /rename in it",
        [ABILITY_NAME_FORK] = "Grok keeps its titles beside the logs: use /rename in it",
        [ABILITY_TAG] = "Grok sessions have no tags",
        [ABILITY_ARCHIVE] = "Grok sessions cannot be archived",
        [ABILITY_DELETE] = "delete it in Grok, which keeps an index of its sessions",
        [ABILITY_FORK] = "Grok forks itself: grok --resume ID --fork-session",
        [ABILITY_RESUME_AT] = "Grok continues after the last message: use /rewind in it",
        [ABILITY_TOMBSTONE] = "a Grok log is the only copy of its messages",
        [ABILITY_REAPPEND] = "Grok keeps its titles beside the logs",
        [ABILITY_RETRIEVE] = "Grok's logs are already where it looks for them",
        [ABILITY_MOVE] = "whether Grok follows a moved directory is not known: resume it by its id",
        [ABILITY_HAVE_BRANCHES] = "Grok logs have no branches: what is rewound is dropped",
        [ABILITY_SET] = "Grok sessions have no settings that other programs may write",
    },
};
