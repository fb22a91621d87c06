#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/row_table.h"
#include "store/systems/copilot/copilot.h"

/* workspace.yaml is a flat map of short texts. Only what the program writes there is read: anchors, tags, flow
 * collections and nested maps are not. */

static struct slice copilot_trim(struct slice s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = (struct slice){ s.p + 1, s.n - 1 };
    while (s.n && (unsigned char)s.p[s.n - 1] <= ' ')
        s.n--;
    return s;
}

static struct slice copilot_scalar(struct slice value, struct arena *a)
{
    const char *comment;

    value = copilot_trim(value);
    if (value.n && value.p[0] == '\'') {
        char *out = arena_alloc(a, value.n + 1);
        size_t n = 0;

        if (!out || value.n < 2 || value.p[value.n - 1] != '\'')
            return (struct slice){ NULL, 0 };
        for (size_t i = 1; i + 1 < value.n; i++) {
            out[n++] = value.p[i];
            if (value.p[i] == '\'' && i + 2 < value.n && value.p[i + 1] == '\'')
                i++;
        }
        return (struct slice){ out, n };
    }
    if (value.n && value.p[0] == '"') {
        /* The escapes of JSON are decoded; a text with any other escape is ignored. */
        struct slice text = { NULL, 0 };

        if (!json_valid(value) || !json_text(value, a, &text))
            text = (struct slice){ NULL, 0 };
        return text;
    }

    /* A plain text must not begin with a character that has a special meaning, and ends at a
     * comment. */
    if (!value.n || strchr("&*!|>%@`{}[],#", value.p[0]))
        return (struct slice){ NULL, 0 };
    comment = slice_find(value.p, value.n, " #", 2);
    if (comment)
        value.n = (size_t)(comment - value.p);
    return arena_copy(a, copilot_trim(value));
}

static bool is_indented(struct slice text)
{
    return text.n && (text.p[0] == ' ' || text.p[0] == '\t');
}

/* The value with the indented lines below it: a long text is folded, and its lines are joined by blanks. */
static struct slice with_folds(struct slice value, struct slice *rest, struct arena *a)
{
    struct buf all = { 0 };
    struct slice line;
    bool torn, block = value.n && strchr("|>", value.p[0]), ok = true;
    char joint = value.n && value.p[0] == '|' ? '\n' : ' ';

    ok = block || !buf_add(&all, value);
    while (ok && is_indented(*rest) && slice_line(rest, &line, &torn))
        ok = (!all.n || !buf_add_byte(&all, joint)) && !buf_add(&all, copilot_trim(line));
    a->failed |= !ok;
    struct slice text = arena_copy(a, buf_slice(&all));

    buf_fini(&all);
    return block ? text : copilot_scalar(text, a);
}

void copilot_workspace_read(struct slice yaml, struct arena *a, struct copilot_workspace *out)
{
    struct slice line, value;
    bool torn;

    *out = (struct copilot_workspace){ .named = false };
    while (slice_line(&yaml, &line, &torn)) {
        const char *colon = line.n ? memchr(line.p, ':', line.n) : NULL;
        struct slice key = { line.p, colon ? (size_t)(colon - line.p) : 0 };

        if (!key.n || is_indented(line) || key.p[0] == '#')
            continue;
        value = copilot_trim((struct slice){ colon + 1, line.n - key.n - 1 });
        if (slice_eq(key, SLICE("name")))
            out->name = with_folds(value, &yaml, a);
        else if (slice_eq(key, SLICE("cwd")))
            out->cwd = with_folds(value, &yaml, a);
        else if (slice_eq(key, SLICE("branch")))
            out->branch = with_folds(value, &yaml, a);
        else if (slice_eq(key, SLICE("user_named")))
            out->named = slice_eq(value, SLICE("true"));
    }
}

static const char log_name[] = "/events.jsonl";

bool copilot_is_id(struct slice id)
{
    return jsonl_is_uuid(id);
}

const char *copilot_directory(const struct session_ref *ref, struct arena *a)
{
    size_t n = sizeof log_name - 1;

    if (ref->path.n <= n || memcmp(ref->path.p + ref->path.n - n, log_name, n) != 0)
        return NULL;
    return arena_copy(a, (struct slice){ ref->path.p, ref->path.n - n }).p;
}

/* ---- enumerate, find ---- */

struct walk {
    const struct store *store;
    const struct scope *scope;
    session_ref_fn *fn;
    void *arg;
    bool more;
};

enum err_code copilot_enumerate(const struct store *st, const struct scope *scope,
                                session_ref_fn *fn, void *arg, struct err *e)
{
    const char *folder = ((const struct jsonl_store *)st)->folder;
    struct walk w = { st, scope, fn, arg, true };
    const struct dirent *entry = NULL;
    enum err_code rc = ERR_OK;
    DIR *dir = opendir(folder);

    while (dir && !rc && w.more && (errno = 0, entry = readdir(dir))) {
        /* A directory without a log has no conversation. */
        struct arena a = { 0 };
        struct session_ref ref = { .store = w.store, .folder = SLICE("") };
        struct stat sb;
        struct slice id = slice_of(entry->d_name);
        bool flat = jsonl_id_of_name(entry->d_name, copilot_is_id, &id);
        const char *log = arena_format(&a, "%s%s", entry->d_name, flat ? "" : log_name);
        const char *path = log ? arena_format(&a, "%s/%s", folder, log) : NULL;

        if (!path || !(flat || copilot_is_id(id))) {
            /* not a session */
        } else if (fstatat(dirfd(dir), log, &sb, AT_SYMLINK_NOFOLLOW) != 0) {
            session_scope_left_out(w.scope, path);
        } else if (!S_ISDIR(sb.st_mode)) {
            ref.id = id;
            ref.path = slice_of(path);
            ref.file = file_id_of(&sb);
            w.more = w.fn(&ref, w.arg);
        }
        arena_fini(&a);

        rc = path ? ERR_OK : ERR_NOMEM;
    }
    if (!entry && errno)
        session_scope_left_out(scope, folder);
    if (dir)
        closedir(dir);
    return rc ? err_nomem(e) : ERR_OK;
}

enum err_code copilot_find(const struct store *st, const struct scope *scope, struct slice id,
                           struct arena *a, struct session_ref *ref, struct err *e)
{
    const char *folder = ((const struct jsonl_store *)st)->folder;

    (void)scope;
    if (!copilot_is_id(id))
        return err_set(e, ERR_USAGE, "", "find session: not a Copilot session id");
    enum err_code rc = jsonl_ref_at(
        st, arena_format(a, "%s/%.*s%s", folder, SLICE_ARG(id), log_name), id, a, ref, e);

    if (rc == ERR_NOT_FOUND)
        rc = jsonl_ref_at(st, arena_format(a, "%s/%.*s" JSONL_SUFFIX, folder, SLICE_ARG(id)), id, a,
                          ref, e);
    return rc;
}

enum err_code copilot_at_path(const struct store *st, struct slice path, struct arena *a,
                              struct session_ref *ref, struct err *e)
{
    struct slice dir = path, id;
    size_t n = sizeof log_name - 1;
    const char *slash;

    if (dir.n > n && memcmp(dir.p + dir.n - n, log_name, n) == 0)
        dir.n -= n;
    slash = memrchr(dir.p, '/', dir.n);
    id = (struct slice){ slash ? slash + 1 : dir.p,
                         slash ? (size_t)(dir.p + dir.n - slash - 1) : dir.n };
    if (copilot_is_id(id))
        return jsonl_ref_at(st, arena_format(a, "%.*s%s", SLICE_ARG(dir), log_name), id, a, ref, e);
    if (jsonl_id_of_name(arena_copy(a, id).p, copilot_is_id, &id))
        return jsonl_ref_at(st, arena_copy(a, path).p, id, a, ref, e);
    return err_set(e, ERR_NOT_FOUND, path.p, "open session: no such session");
}

/* ---- the rows: those of sub-agents are among them ---- */

static const char *const kinds[] = {
    "user.message",
    "assistant.message",
    "tool.execution_complete",
    "session.compaction_complete",
    "session.error",
    "session.snapshot_rewind",
    NULL,
};
static const char *const marks[] = { "agentId", NULL };
static const struct index_keys keys = {
    .type = "type", .id = "id", .time = "timestamp", .kinds = kinds, .marks = marks
};

static void copilot_read_waiting(struct slice row, struct arena *a, struct jsonl_row_facts *out)
{
    struct slice calls;

    (void)a;
    out->waits =
        json_at(row, "data.toolRequests", &calls) && json_type(calls) == JSON_ARRAY && calls.n > 2;
}

static void copilot_put_summary(struct block_list *b, struct slice row)
{
    transcript_block_put_compaction(b, json_text_at(row, "data.summaryContent", &b->arena));
}

static struct slice copilot_result(struct slice row, struct arena *a)
{
    struct slice text = json_text_at(row, "data.result.content", a);

    return text.n ? text : json_text_at(row, "data.error.message", a);
}

/* clang-format off */
static const struct row_block copilot_event[] = {
    { BLOCK_NOTE, "data.message", .name = "type", .empty = true }, ROW_BLOCKS_END
};
static const struct row_kind copilot_rows[] = {
    { "user.message", MESSAGE_USER, .blocks = { { .kind = BLOCK_PROMPT, .text = "data.content" } } },
    { "assistant.message", MESSAGE_ASSISTANT, .read = copilot_read_waiting, .facts = { ROW_FACT(model, "data.model") },
      .blocks = { { .kind = BLOCK_THINKING, .text = "data.reasoningText" }, { .kind = BLOCK_TEXT, .text = "data.content" },
                  { BLOCK_TOOL_CALL, .each = "data.toolRequests", .call = "toolCallId", .name = "name", .input = "arguments" } } },
    { "tool.execution_complete", MESSAGE_TOOL,
      .blocks = { { BLOCK_TOOL_RESULT, .read = copilot_result, .call = "data.toolCallId", .failed = "data.success:false" } } },
    { "session.compaction_complete", MESSAGE_SYSTEM, MESSAGE_SEAM, .put = copilot_put_summary },
    { "session.error", .kind = MESSAGE_SYSTEM },
    { "session.snapshot_rewind", MESSAGE_OTHER, MESSAGE_CLEARED, .shown = true },
    { .kind = MESSAGE_OTHER },
};
static const struct row_table copilot_table = { .kind = copilot_rows, .n = sizeof copilot_rows / sizeof *copilot_rows,
                                                .otherwise = copilot_event, .contents = "data", .agent = "agentId" };
/* clang-format on */

/* Older sessions, and those whose workspace.yaml is gone: the first event names the directory. */
static void read_start(const char *path, struct session_row *row, struct arena *a)
{
    enum { FIRST = 16 << 10 };
    struct file f;
    struct buf text = { 0 };

    if (file_open(AT_FDCWD, path, 0, &f, NULL))
        return;
    if (!file_read_part(&f, 0, FIRST, &text, NULL)) {
        size_t mark = slice_starts(buf_slice(&text), "\xef\xbb\xbf") ? 3 : 0;
        struct slice line = arena_copy(a, (struct slice){ text.p + mark, text.n - mark });

        row->cwd = json_text_at(line, "data.context.cwd", a);
        row->git_branch = json_text_at(line, "data.context.branch", a);
    }
    file_close(&f);
    buf_fini(&text);
}

static enum err_code copilot_complete_row(const struct store *st, const struct scope *scope,
                                          struct session_row *row, struct arena *a, struct err *e)
{
    enum { YAML_MAX = 1 << 20 };
    const char *dir = copilot_directory(&row->ref, a);
    const char *path = dir ? arena_format(a, "%s/workspace.yaml", dir) : NULL;
    struct copilot_workspace w = { .named = false };
    struct buf yaml = { 0 };

    (void)st, (void)e;
    if (row->hidden)
        return ERR_OK;
    if (path && !file_read_all(AT_FDCWD, path, 0, YAML_MAX, &yaml, NULL))
        copilot_workspace_read(buf_slice(&yaml), a, &w);
    buf_fini(&yaml);
    row->cwd = w.cwd;
    row->git_branch = w.branch;
    if (!w.cwd.n)
        read_start(row->ref.path.p, row, a);
    if (w.named)
        row->custom_title = w.name;
    row->summary = row->custom_title.n ? row->custom_title : row->first_prompt;
    if (!row->summary.n)
        row->summary = w.name;
    row->can = CAN_RESUME | CAN_REWIND;

    /* A known directory outside of the scope hides even an empty session; an unknown one hides only the others. */
    const bool elsewhere = !config_dir_in_scope(scope, row->cwd, a);

    if (elsewhere && row->cwd.n)
        row->hidden = HIDDEN_COLLISION;
    else if (!row->first_prompt.n && !row->last_prompt.n && !w.named)
        row->hidden = HIDDEN_EMPTY;
    else if (elsewhere)
        row->hidden = HIDDEN_COLLISION;
    return a->failed ? ERR_NOMEM : ERR_OK;
}

const struct jsonl_format copilot_format = { .keys = &keys,
                                             .rows = &copilot_table,
                                             .prompt_needle = "\"user.message",
                                             .complete = copilot_complete_row,
                                             .is_id = copilot_is_id,
                                             .id_name = "a Copilot session id",
                                             .variable = "COPILOT_HOME",
                                             .home = ".copilot",
                                             .needs_folder = true };

enum err_code copilot_files(const struct store *st, const struct session_ref *ref, bool all,
                            struct arena *a, const char ***part, size_t *n, struct err *e)
{
    const char *dir = copilot_directory(ref, a);

    (void)st, (void)all;
    *part = NULL;
    *n = 0;
    NEED(!a->failed && arena_add_text(a, part, n, dir ? dir : ref->path.p));
    return ERR_OK;
}
