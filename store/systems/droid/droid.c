#include <fcntl.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/common/memory_rows.h"
#include "store/systems/common/session_dirs.h"
#include "store/systems/common/usage_rows.h"

/* The sessions of Factory's Droid (docs/formats/droid.md): its path is ~/.factory, with
 *
 *   sessions/<directory, flattened>/<id>.jsonl           the log: a first line about the session, then messages
 *   sessions/<directory, flattened>/<id>.settings.json   model and sums of tokens
 *
 * Only read. The store is a struct jsonl_store. */

extern const struct store_ops droid_ops;

/* The rows of a log: session_start {id, title, cwd}, then message {id, timestamp, message{role, content[]}} with
 * contents in the form of Anthropic's API. Results of tools, and reminders that Droid adds for the model, are messages
 * of the user's role. */

static const char *const kinds[] = { "session_start", "message", NULL };
enum { KIND_START = 1, KIND_MESSAGE = 2 };
static const struct index_keys keys = {
    .type = "type", .id = "id", .time = "timestamp", .kinds = kinds
};

static bool role_is(struct slice row, const char *role)
{
    struct slice value;

    return json_at(row, "message.role", &value) && json_string_is(value, role);
}

/* What a text contains after Droid's reminders. */
static struct slice without_reminder(struct slice text)
{
    static const char open[] = "<system-reminder>", end[] = "</system-reminder>";

    while (slice_starts(text, open)) {
        const char *at = slice_find(text.p, text.n, end, sizeof end - 1);

        if (!at)
            return SLICE("");
        at += sizeof end - 1;
        text = (struct slice){ at, (size_t)(text.p + text.n - at) };
        while (text.n && (unsigned char)text.p[0] <= ' ')
            text = (struct slice){ text.p + 1, text.n - 1 };
    }
    return text;
}

static bool parts_of(struct slice row, struct json_iter *it)
{
    struct slice content;

    return json_at(row, "message.content", &content) && json_type(content) == JSON_ARRAY &&
           json_iter_open(it, content);
}

/* The texts of a message, a line for each. */
static struct slice prompt_of(struct slice row, struct arena *a)
{
    struct slice key, part, text, all = SLICE("");
    struct json_iter it;

    if (!role_is(row, "user"))
        return all;
    if (json_at(row, "message.content", &part) && json_type(part) == JSON_STRING)
        return json_text(part, a, &text) ? without_reminder(text) : all;
    if (!parts_of(row, &it))
        return all;
    while (json_iter_next(&it, &key, &part)) {
        if (!json_get_is(part, "type", "text") || !json_get_text(part, "text", a, &text))
            continue;
        text = without_reminder(text);
        if (text.n)
            all = arena_join(a, all, "\n", text);
    }
    return all;
}

/* ---- for lists ---- */

static enum err_code read_row_facts(struct slice row, struct arena *a, struct jsonl_row_facts *out)
{
    if (!json_valid(row) || json_type(row) != JSON_OBJECT)
        return ERR_FORMAT;
    out->time_ms = json_time_at(row, "timestamp", a);
    if (json_get_is(row, "type", "session_start")) {
        out->names = json_get_text(row, "title", a, &out->title);
        json_get_text(row, "cwd", a, &out->cwd);
    } else if (json_get_is(row, "type", "message")) {
        out->waits = role_is(row, "user");
        out->speaks = out->waits || role_is(row, "assistant");
        out->prompt = prompt_of(row, a);
    }
    return a->failed ? ERR_NOMEM : ERR_OK;
}

enum { SETTINGS_MOST = 1 << 20 };

static enum err_code droid_settings(const struct session_ref *ref, struct buf *out)
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

/* Sub-agents have logs of their own, whose titles begin so. */
static enum err_code complete_row(const struct store *st, const struct scope *scope,
                                  struct session_row *row, struct arena *a, struct err *e)
{
    struct buf settings = { 0 };
    struct slice model;
    enum err_code rc = droid_settings(&row->ref, &settings);

    (void)st;
    if (!rc && settings.n && json_get_text(buf_slice(&settings), "model", a, &model))
        row->model = arena_copy(a, model);
    row->flags |= SESSION_AI_TITLE;
    if (!rc && !row->hidden) {
        row->can = CAN_RESUME;
        if (slice_starts(row->custom_title, "# Task Tool Invocation"))
            row->hidden = HIDDEN_SIDECHAIN;
        else if (!row->first_prompt.n && !row->last_prompt.n)
            row->hidden = HIDDEN_EMPTY;
        else if (!config_dir_in_scope(scope, row->cwd, a))
            row->hidden = HIDDEN_COLLISION;
    }
    buf_fini(&settings);
    return rc || a->failed ? err_nomem(e) : ERR_OK;
}

static enum err_code judge_row(struct logfile *log, size_t line, struct message *m, bool *keep,
                               struct err *e)
{
    const struct index_line *ix = &log->index.line[line];
    struct arena a = { 0 };
    struct slice row;

    m->kind = MESSAGE_OTHER;
    m->flags = MESSAGE_BROKEN;
    if (ix->state == LINE_BROKEN)
        return ERR_OK;
    m->flags = 0;
    *keep = ix->kind == KIND_MESSAGE;
    enum err_code rc = *keep ? logfile_row(log, line, &row, e) : ERR_OK;

    if (!rc && *keep) {
        m->kind = role_is(row, "assistant") ? MESSAGE_ASSISTANT
                  : !role_is(row, "user")   ? MESSAGE_SYSTEM
                  : prompt_of(row, &a).n    ? MESSAGE_USER
                                            : MESSAGE_TOOL;
        rc = a.failed ? err_nomem(e) : ERR_OK;
    }
    arena_fini(&a);
    return rc;
}

static bool is_id(struct slice id)
{
    return slice_is_of(id, "0123456789abcdef-") && id.n >= 32 && id.n <= 36;
}

static const char *const inside[] = { "", NULL };

static const struct project_logs droid_logs = { .folder_of = config_dir_flatten, .inside = inside };

static char *droid_usual_path(const struct store_env *env)
{
    return env->home ? config_dir_join(env->home, ".factory") : NULL;
}

static const struct jsonl_format droid_format = { .keys = &keys,
                                                  .judge = judge_row,
                                                  .read = read_row_facts,
                                                  .prompt_needle = "\"user\"",
                                                  .title_needle = "\"session_start\"",
                                                  .complete = complete_row,
                                                  .is_id = is_id,
                                                  .id_name = "a Droid session id",
                                                  .logs = &droid_logs,
                                                  .usual = droid_usual_path };

/* ---- blocks ---- */

/* Droid's reminders, and what follows them. */
static void put_message(struct block_list *b, struct slice text)
{
    struct slice typed = without_reminder(text);

    if (typed.n < text.n)
        transcript_block_put(
            b, (struct block){ .kind = BLOCK_NOTE, .text = { text.p, text.n - typed.n } });
    if (typed.n)
        transcript_block_put(b, (struct block){ .kind = BLOCK_PROMPT, .text = typed });
}

static enum err_code droid_blocks(const struct store *st, struct slice row, struct block_list *out,
                                  struct err *e)
{
    struct slice content;

    (void)st;
    if (!json_valid(row) || json_type(row) != JSON_OBJECT)
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    else if (json_at(row, "message.content", &content))
        content_blocks_put(out, content, role_is(row, "user") ? put_message : content_put_text);
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}

static enum err_code droid_open(const struct store_env *env, const char *path, struct store **out,
                                struct err *e)
{
    return session_dirs_open(&droid_ops, &droid_format, env, path, "sessions", out, e);
}

/* ---- the sessions ---- */

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
    .find_each = store_find_each_listed,
    .at_path = project_logs_at_path,
    .tail = jsonl_tail,
    .load = jsonl_load,
    .blocks = droid_blocks,
    .messages = block_messages,
    .usage = droid_usage,
    .edits = tool_edits_logged,
    .why = {
        [ABILITY_RENAME] = "Droid writes the titles of its sessions itself",
        [ABILITY_NAME_FORK] = "Droid writes the titles of its sessions itself",
        [ABILITY_TAG] = "Droid sessions have no tags",
        [ABILITY_ARCHIVE] = "archive it in Droid",
        [ABILITY_DELETE] = "delete it in Droid, which may have it open",
        [ABILITY_FORK] = "no Droid command that forks a session is known",
        [ABILITY_RESUME_AT] = "Droid continues after the last message",
        [ABILITY_REWIND] = "Droid is not known to keep copies of files",
        [ABILITY_TOMBSTONE] = "a Droid log is the only copy of its messages",
        [ABILITY_REAPPEND] = "Droid keeps its metadata in the first line of a log",
        [ABILITY_RETRIEVE] = "Droid's logs are already where it looks for them",
        [ABILITY_HAVE_AGENTS] = "no link from a sub-agent to its session is known in Droid's logs",
        [ABILITY_HAVE_BRANCHES] = "Droid logs are not known to have branches",
        [ABILITY_SET] = "Droid sessions have no settings that other programs may write",
    },
};
