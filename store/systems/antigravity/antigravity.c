#include <fcntl.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/log/log_damage.h"
#include "store/systems/common/row_table.h"
#include "store/systems/common/session_about.h"
#include "store/systems/common/session_dirs.h"

/* The sessions of Google's Antigravity CLI, `agy` (docs/formats/antigravity.md): its path is ~/.gemini/antigravity-cli, with
 *
 *   brain/<id>/.system_generated/logs/transcript.jsonl    the log: a step per line
 *   history.jsonl                                         the prompts, with the directories in which they were typed
 *
 * From public descriptions only; no session was seen. Only read. */

extern const struct store_ops antigravity_ops;

static const char *const antigravity_types[] = { "USER_INPUT", "PLANNER_RESPONSE", NULL };
static const struct index_keys antigravity_keys = { .type = "type",
                                                    .time = "created_at",
                                                    .kinds = antigravity_types };

/* One element has what a person typed; others have the time and changed settings. */
static struct slice antigravity_prompt(struct slice row, struct arena *a)
{
    static const char open[] = "<USER_REQUEST>", end[] = "</USER_REQUEST>";
    struct slice text = json_text_at(row, "content", a);
    const char *from = slice_find(text.p, text.n, open, sizeof open - 1);
    const char *to =
        from ? slice_find(from, text.n - (size_t)(from - text.p), end, sizeof end - 1) : NULL;

    if (!to)
        return text;
    from += sizeof open - 1;
    while (from < to && (*from == '\n' || *from == '\r'))
        from++;
    while (to > from && (to[-1] == '\n' || to[-1] == '\r'))
        to--;
    return (struct slice){ from, (size_t)(to - from) };
}

/* clang-format off */
static const struct row_kind antigravity_rows[] = {
    { "USER_INPUT", MESSAGE_USER, .when = "source=USER_EXPLICIT", .prompt = antigravity_prompt, .untyped = MESSAGE_SYSTEM,
      .blocks = { { BLOCK_PROMPT, .read = antigravity_prompt } } },
    { "PLANNER_RESPONSE", MESSAGE_ASSISTANT, .when = "source=MODEL",
      .blocks = { { BLOCK_THINKING, .text = "thinking" }, { BLOCK_TEXT, .text = "content" },
                  { BLOCK_TOOL_CALL, .each = "tool_calls", .name = "name", .input = "args" } } },
    { NULL, MESSAGE_TOOL, .when = "source=MODEL&content:text", .blocks = { { BLOCK_TOOL_RESULT, "content", .name = "type" } } },
    { NULL, MESSAGE_SYSTEM, .when = "content:text", .blocks = { { BLOCK_NOTE, "content", .name = "type" } } },
};
static const struct row_table antigravity_table = { .kind = antigravity_rows,
                                                    .n = sizeof antigravity_rows / sizeof *antigravity_rows };
/* clang-format on */

/* The history is shared by all sessions; a line near its end is found without reading all of it. */
static void antigravity_complete(const struct scope *scope, struct slice document,
                                 struct session_row *row, struct arena *a)
{
    enum { NEAR = 256 << 10, HISTORY_MOST = 8 << 20 };
    const char *path = arena_format(a, "%s/history.jsonl", row->ref.store->path);
    AUTO_BUF text = { 0 };
    struct file f;

    (void)scope, (void)document;
    if (!path || file_open(AT_FDCWD, path, 0, &f, NULL))
        return;
    for (int64_t n = NEAR; !row->cwd.n && n; n = n == NEAR && f.id.size > NEAR ? HISTORY_MOST : 0) {
        int64_t from = f.id.size > n ? f.id.size - n : 0;

        if (!file_read_part(&f, from, (size_t)(f.id.size - from), &text, NULL)) {
            /* The directory in a line of the history about this session; empty: none. */
            struct slice history = buf_slice(&text);
            static const char scheme[] = "file://";
            struct slice line, workspace, found = SLICE("");
            bool torn;

            while (slice_line(&history, &line, &torn))
                if (slice_find(line.p, line.n, row->ref.id.p, row->ref.id.n) && json_valid(line) &&
                    slice_eq(json_text_at(line, "conversationId", a), row->ref.id)) {
                    workspace = json_text_at(line, "workspace", a);
                    if (slice_starts(workspace, scheme))
                        workspace = (struct slice){ workspace.p + sizeof scheme - 1,
                                                    workspace.n - (sizeof scheme - 1) };
                    if (workspace.n && workspace.p[0] == '/')
                        found = workspace;
                }

            row->cwd = arena_copy(a, found);
        }
    }
    file_close(&f);
}

static enum err_code antigravity_shared(const struct store *st, const struct session_ref *ref,
                                        bool all, struct arena *a, const char ***part, size_t *n,
                                        struct err *e)
{
    (void)ref, (void)all;
    *part = NULL;
    *n = 0;
    NEED(arena_add_text(a, part, n, arena_format(a, "%s/history.jsonl", st->path)));
    return ERR_OK;
}

static const struct session_about antigravity_about = { .needs_prompt = true,
                                                        .complete = antigravity_complete };

static bool antigravity_is_id(struct slice id)
{
    return slice_is_of(id, "0123456789abcdefABCDEF-") && id.n >= 32 && id.n <= 36;
}

static const struct session_dirs antigravity_dirs = {
    .log = "/.system_generated/logs/transcript.jsonl"
};
static const struct jsonl_format antigravity_format = { .keys = &antigravity_keys,
                                                        .rows = &antigravity_table,
                                                        .about = &antigravity_about,
                                                        .prompt_needle = "\"USER_INPUT\"",
                                                        .is_id = antigravity_is_id,
                                                        .id_name = "an Antigravity conversation id",
                                                        .dirs = &antigravity_dirs,
                                                        .home = ".gemini/antigravity-cli" };

static enum err_code antigravity_open(const struct store_env *env, const char *path,
                                      struct store **out, struct err *e)
{
    return jsonl_store_open(&antigravity_ops, &antigravity_format, env, path, "brain", out, e);
}

const struct store_ops antigravity_ops = {
    .name = "antigravity",
    .label = "Antigravity CLI",
    .folders = "brain",
    .resume_command = "agy --conversation {id}",
    SESSION_DIRS_OPS,
    .check = jsonl_check,
    .log_rules = &log_rules_unknown,
    .files = session_dirs_parts,
    .shared = antigravity_shared,
    .open = antigravity_open,
    .why = {
        [ABILITY_RENAME] = "Antigravity keeps its conversations in databases that only it writes",
        [ABILITY_NAME_FORK] = "Antigravity keeps its conversations in databases that only it writes",
        [ABILITY_TAG] = "Antigravity conversations are not known to have tags",
        [ABILITY_ARCHIVE] = "Antigravity conversations are not known to have an archive",
        [ABILITY_DELETE] = "Antigravity keeps its conversations in databases that only it writes",
        [ABILITY_FORK] = "no Antigravity command that forks a conversation is known",
        [ABILITY_RESUME_AT] = "Antigravity continues after the last step",
        [ABILITY_REWIND] = "Antigravity is not known to keep copies of files that can be read",
        [ABILITY_TOMBSTONE] = "the transcript is not what Antigravity continues from",
        [ABILITY_MOVE] = "where Antigravity keeps the directory is not known",
        [ABILITY_REAPPEND] = "Antigravity transcripts have no metadata to append again",
        [ABILITY_RETRIEVE] = "Antigravity's transcripts are already where it writes them",
        [ABILITY_HAVE_AGENTS] = "no link from a sub-agent to its conversation is known",
        [ABILITY_HAVE_BRANCHES] = "Antigravity transcripts are not known to have branches",
        [ABILITY_SET] = "Antigravity conversations have no settings that other programs may write",
    },
};
