#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/common/session_dirs.h"
#include "store/systems/common/usage_rows.h"

/* The sessions of Mistral Vibe (docs/formats/vibe.md): its path is $VIBE_HOME or ~/.vibe, with
 *
 *   logs/session/<prefix>_<day>_<time>_<id8>/messages.jsonl   the log: one message per line, without times
 *   logs/session/<prefix>_<day>_<time>_<id8>/meta.json        id, title, directory, times, sums of tokens
 *   logs/session/<prefix>_<day>_<time>_<id8>/agents/          sub-agents, each as such a directory
 *
 * A session is identified by the 8 digits in the name of its directory, as in Vibe itself. Only
 * read. The store is a struct jsonl_store. */

extern const struct store_ops vibe_ops;

static const struct session_dirs vibe_dirs;

enum { ID_DIGITS = 8, NAME_MOST = 200, META_MOST = 16 << 20 };

/* The rows of a log: {"role": "user" | "assistant" | "tool", "content", "message_id", "tool_calls",
 * ...}. Rows have no times; the times of the session are in meta.json, which is rewritten after
 * each turn. */

enum kind { KIND_OTHER, KIND_USER, KIND_ASSISTANT, KIND_TOOL };
static const char *const kinds[] = { "user", "assistant", "tool", NULL };
static const struct index_keys keys = { .type = "role", .id = "message_id", .kinds = kinds };

/* A text, or in other versions a list of parts with texts. */
static struct slice content_of(struct slice row, const char *name, struct arena *a)
{
    struct slice part, text, all = SLICE("");
    struct json_iter it;

    if (json_get_text(row, name, a, &text))
        return text;
    json_list_open(&it, row, name);
    while (json_list_next(&it, &part))
        if (json_get_text(part, "text", a, &text))
            all = arena_join(a, all, "\n", text);
    return all;
}

/* Returns true for a person's prompt, but not for what Vibe itself adds for the model. */
static bool is_prompt(struct slice row)
{
    return json_get_is(row, "role", "user") && !json_get_true(row, "injected");
}

/* ---- for lists ---- */

static enum err_code read_row_facts(struct slice row, struct arena *a, struct jsonl_row_facts *out)
{
    if (!json_valid(row) || json_type(row) != JSON_OBJECT)
        return ERR_FORMAT;
    out->time_ms = TIME_NONE;
    out->waits = json_get_is(row, "role", "user") || json_get_is(row, "role", "tool");
    out->speaks = out->waits || json_get_is(row, "role", "assistant");
    if (is_prompt(row))
        out->prompt = content_of(row, "content", a);
    return a->failed ? ERR_NOMEM : ERR_OK;
}

static void read_text(struct slice meta, const char *name, struct arena *a, struct slice *out)
{
    struct slice text;

    if (json_get_text(meta, name, a, &text))
        *out = arena_copy(a, text);
}

static void read_meta(struct slice meta, struct session_row *row, struct arena *a)
{
    struct slice environment;
    int64_t end = json_time_at(meta, "end_time", a);

    read_text(meta, "session_id", a, &row->recorded_id);
    read_text(meta, "parent_session_id", a, &row->parent_id);
    read_text(meta, "title", a, &row->custom_title);
    read_text(meta, "git_branch", a, &row->git_branch);
    if (json_get(meta, "environment", &environment))
        read_text(environment, "working_directory", a, &row->cwd);
    row->model = json_copy_at(meta, "config.active_model", a);
    if (json_get_is(meta, "title_source", "auto"))
        row->flags |= SESSION_AI_TITLE;
    row->flags |= row->parent_id.n ? SESSION_FORK : 0u;
    row->created_ms = json_time_at(meta, "start_time", a);
    if (end != TIME_NONE)
        row->activity_ms = end;
}

/* Vibe lists sessions that have messages and a metadata file. */
static enum err_code complete_row(const struct store *st, const struct scope *scope,
                                  struct session_row *row, struct arena *a, struct err *e)
{
    struct buf meta = { 0 };
    enum err_code rc = session_dirs_json(&row->ref, "meta.json", META_MOST, &meta);

    (void)st;
    if (!rc && meta.n)
        read_meta(buf_slice(&meta), row, a);
    if (!rc && !row->hidden) {
        row->can = CAN_RESUME;
        if (!meta.n || (!row->first_prompt.n && !row->custom_title.n && !row->last_prompt.n))
            row->hidden = HIDDEN_EMPTY;
        else if (!config_dir_in_scope(scope, row->cwd, a))
            row->hidden = HIDDEN_COLLISION;
    }
    buf_fini(&meta);
    return rc || a->failed ? err_nomem(e) : ERR_OK;
}

static enum err_code judge_row(struct logfile *log, size_t line, struct message *m, bool *keep,
                               struct err *e)
{
    static const uint8_t kind_of[] = { [KIND_OTHER] = MESSAGE_SYSTEM,
                                       [KIND_USER] = MESSAGE_USER,
                                       [KIND_ASSISTANT] = MESSAGE_ASSISTANT,
                                       [KIND_TOOL] = MESSAGE_TOOL };
    const struct index_line *ix = &log->index.line[line];
    struct slice row;

    (void)keep;
    m->kind = MESSAGE_OTHER;
    m->flags = MESSAGE_BROKEN;
    if (ix->state == LINE_BROKEN)
        return ERR_OK;
    m->kind = kind_of[ix->kind <= KIND_TOOL ? ix->kind : KIND_OTHER];
    m->flags = 0;
    if (m->kind != MESSAGE_USER)
        return ERR_OK;
    enum err_code rc = logfile_row(log, line, &row, e);

    if (!rc && !is_prompt(row))
        m->flags = MESSAGE_META;
    return rc;
}

static bool is_id(struct slice id)
{
    return slice_is_of(id, "0123456789abcdef") && id.n == ID_DIGITS;
}

static const struct jsonl_format vibe_format = { .keys = &keys,
                                                 .judge = judge_row,
                                                 .read = read_row_facts,
                                                 .prompt_needle = "\"user\"",
                                                 .complete = complete_row,
                                                 .is_id = is_id,
                                                 .id_name = "the 8 digits of a Vibe session",
                                                 .dirs = &vibe_dirs,
                                                 .variable = "VIBE_HOME",
                                                 .home = ".vibe" };

/* ---- blocks ---- */

static void put_images(struct block_list *b, struct slice row)
{
    struct slice image;
    struct json_iter it;

    json_list_open(&it, row, "images");
    while (json_list_next(&it, &image))
        transcript_block_put(b, (struct block){ .kind = BLOCK_IMAGE });
}

static void put_result(struct block_list *b, struct slice row)
{
    struct block block = { .kind = BLOCK_TOOL_RESULT };

    json_get_text(row, "tool_call_id", &b->arena, &block.call_id);
    json_get_text(row, "name", &b->arena, &block.name);
    block.text = content_of(row, "content", &b->arena);
    block.failed =
        slice_starts(block.text, "<tool_error>") || slice_starts(block.text, "<user_cancellation>");
    transcript_block_put(b, block);
}

static enum err_code vibe_blocks(const struct store *st, struct slice row, struct block_list *out,
                                 struct err *e)
{
    struct arena *a = &out->arena;

    (void)st;
    if (!json_valid(row) || json_type(row) != JSON_OBJECT) {
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    } else if (json_get_is(row, "role", "tool")) {
        put_result(out, row);
    } else if (json_get_is(row, "role", "assistant")) {
        transcript_block_put_text(out, BLOCK_THINKING, content_of(row, "reasoning_content", a));
        transcript_block_put_text(out, BLOCK_TEXT, content_of(row, "content", a));
        jsonl_put_tool_calls(out, row);
    } else {
        transcript_block_put_text(out, is_prompt(row) ? BLOCK_PROMPT : BLOCK_NOTE,
                                  content_of(row, "content", a));
        put_images(out, row);
    }
    return a->failed ? err_nomem(e) : ERR_OK;
}

/* ---- edits ---- */

/* The result of a tool lists its members, and the first member of each tool is known. The result of
 * a call that failed or was refused has another text. */
static void check_done(struct slice row, struct arena *a, struct edit *edit, bool *counts)
{
    static const char *const first[][2] = { { "write_file", "path: " },
                                            { "edit", "file: " },
                                            { "search_replace", "file: " },
                                            { "bash", "command: " } };
    struct slice text = content_of(row, "content", a);

    *counts = false;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        *counts |= slice_eq(edit->tool, slice_of(first[i][0])) && slice_starts(text, first[i][1]);
}

static enum err_code vibe_edits(const struct store *st, const struct session_ref *ref,
                                const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    return tool_edits_rows(st, ref, jsonl_load, q, check_done, fn, arg, e);
}

static enum err_code vibe_open(const struct store_env *env, const char *path, struct store **out,
                               struct err *e)
{
    return session_dirs_open(&vibe_ops, &vibe_format, env, path, "logs/session", out, e);
}

/* ---- the sessions ---- */

static bool name_id(const char *name, struct slice *id)
{
    size_t n = strlen(name);

    if (n <= ID_DIGITS || name[n - ID_DIGITS - 1] != '_')
        return false;
    *id = (struct slice){ name + n - ID_DIGITS, ID_DIGITS };
    return vibe_format.is_id(*id);
}

static const struct session_dirs vibe_dirs = { .log = "/messages.jsonl", .name_id = name_id };

/* ---- sub-agents: their ids are the names of their directories ---- */

static bool is_agent_id(struct slice id)
{
    struct slice digits;

    for (size_t i = 0; i < id.n; i++)
        if (id.p[i] == '/' || (unsigned char)id.p[i] <= ' ' || id.p[i] == 0x7f)
            return false;
    return id.n > 0 && id.n <= NAME_MOST && id.p[0] != '.' && name_id(id.p, &digits);
}

static bool name_agent(const char *name, struct slice *id)
{
    *id = slice_of(name);
    return is_agent_id(*id);
}

static enum err_code vibe_subagents(const struct store *st, const struct session_ref *ref,
                                    struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    (void)st;
    return session_dirs_names(ref, "agents", name_agent, a, ids, n, e);
}

static enum err_code vibe_subagent(const struct store *st, const struct session_ref *ref,
                                   struct slice agent, struct arena *a, struct session_ref *out,
                                   struct err *e)
{
    struct slice parent = session_dirs_of(ref), id = arena_copy(a, agent);

    if (!id.p)
        return err_nomem(e);
    if (!is_agent_id(id))
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "no such sub-agent");
    return jsonl_ref_at(
        st, arena_format(a, "%.*s/agents/%.*s%s", SLICE_ARG(parent), SLICE_ARG(id), vibe_dirs.log),
        id, a, out, e);
}

/* ---- tokens: the sums of a session, as one answer at its end ---- */

static enum err_code hand_over(const struct session_ref *ref, struct slice agent, usage_fn *fn,
                               void *arg, struct err *e)
{
    struct usage_record u = usage_record_empty();
    struct buf meta = { 0 };
    struct arena a = { 0 };
    struct slice all, stats, end, config;
    enum err_code rc = session_dirs_json(ref, "meta.json", META_MOST, &meta);

    all = buf_slice(&meta);
    if (!rc && all.n && json_get(all, "stats", &stats)) {
        u.input = usage_count(stats, "session_prompt_tokens");
        u.output = usage_count(stats, "session_completion_tokens");
        u.agent = agent;
        json_get_text(all, "session_id", &a, &u.answer);
        u.request = u.answer;
        if (json_get(all, "config", &config))
            json_get_text(config, "active_model", &a, &u.model);
        if (!json_get_text(all, "end_time", &a, &end) || !time_parse(end, &u.time_ms))
            u.time_ms = session_modified_ms(&ref->file);
        if (u.input || u.output)
            rc = a.failed ? ERR_NOMEM : fn(&u, arg, e);
    }
    buf_fini(&meta);
    arena_fini(&a);
    return rc == ERR_NOMEM ? err_nomem(e) : rc;
}

static enum err_code vibe_usage(const struct store *st, const struct session_ref *ref,
                                const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct arena a = { 0 };
    struct session_ref agent;
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = hand_over(ref, SLICE(""), fn, arg, e);

    if (!rc)
        rc = vibe_subagents(st, ref, &a, &ids, &n, e);
    for (size_t i = 0; i < n && !rc; i++)
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "read token usage");
        else if (!vibe_subagent(st, ref, ids[i], &a, &agent, NULL))
            rc = hand_over(&agent, ids[i], fn, arg, e);
    arena_fini(&a);
    return rc;
}

const struct store_ops vibe_ops = {
    .name = "vibe",
    .label = "Mistral Vibe",
    .folders = "logs/session",
    .resume_command = "vibe --resume {id}",
    .open = vibe_open,
    .close = session_dirs_close,
    .enumerate = session_dirs_enumerate,
    .describe = jsonl_describe,
    .find = session_dirs_find,
    .find_each = store_find_each_listed,
    .at_path = session_dirs_at_path,
    .tail = jsonl_tail,
    .load = jsonl_load,
    .blocks = vibe_blocks,
    .messages = block_messages,
    .subagents = vibe_subagents,
    .subagent = vibe_subagent,
    .agent_variable = jsonl_agent_variable,
    .usage = vibe_usage,
    .edits = vibe_edits,
    .why = {
        [ABILITY_RENAME] = "Vibe writes its titles itself: use /rename in it",
        [ABILITY_NAME_FORK] = "Vibe writes its titles itself: use /rename in it",
        [ABILITY_TAG] = "Vibe sessions have no tags",
        [ABILITY_ARCHIVE] = "Vibe sessions cannot be archived",
        [ABILITY_DELETE] = "delete it in Vibe, which may have it open",
        [ABILITY_FORK] = "Vibe forks sessions only on its own screen",
        [ABILITY_RESUME_AT] = "Vibe continues after the last message: use /rewind in it",
        [ABILITY_REWIND] = "Vibe keeps its copies of files only in memory",
        [ABILITY_TOMBSTONE] = "a Vibe log is the only copy of its messages",
        [ABILITY_REAPPEND] = "Vibe keeps its titles beside the logs",
        [ABILITY_RETRIEVE] = "Vibe's logs are already where it looks for them",
        [ABILITY_HAVE_BRANCHES] = "Vibe logs have no branches",
        [ABILITY_SET] = "Vibe sessions have no settings",
    },
};
