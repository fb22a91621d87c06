#include <fcntl.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "lite/scan/index.h"
#include "store/api/edit.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/rewind/file_history.h"
#include "store/systems/common/edits/tool_edits.h"

/* The edits of a session: the results of Edit, MultiEdit, Write and NotebookEdit record the file before the edit, and
 * the replaced text as it was in the file. */

/* The text as it was in the file, which may differ from the requested one. */
static void fill_replacement(struct slice result, struct arena *a, struct edit *edit)
{
    struct edit_replacement *one = arena_zalloc(a, sizeof *one);

    if (edit->replacements != 1 || !one || !json_get_text(result, "oldString", a, &one->old_text) ||
        !json_get_text(result, "newString", a, &one->new_text) || !one->old_text.n)
        return;
    one->all = json_get_true(result, "replaceAll");
    edit->replacement = one;
}

/* What the file became when a person had changed the proposal. */
static void fill_by_person(struct slice result, struct arena *a, struct edit *edit)
{
    struct edit found = *edit;
    struct edit_replacement *proposal;
    struct buf text = { 0 };
    bool done = false;

    edit->by_person = true;
    if (edit->kind == EDIT_WRITE) {
        proposal = arena_zalloc(a, sizeof *proposal);
        if (proposal)
            proposal->new_text = edit->after;
        edit->replacement = proposal;
        edit->replacements = proposal != NULL;
        return;
    }
    fill_replacement(result, a, &found);
    if (edit->before_known == EDIT_TEXT && found.replacements == 1 &&
        edit_replace(edit->before, found.replacement, &text, &done) == ERR_OK && done) {
        edit->after = arena_copy(a, buf_slice(&text));
        edit->after_known = EDIT_TEXT;
    }
    buf_fini(&text);
}

static void claude_fill(struct slice row, struct arena *a, struct edit *edit, bool *counts)
{
    struct slice result, text, v;

    edit->copied = json_get(row, "forkedFrom", &v) && json_type(v) == JSON_OBJECT;
    if (!json_get(row, "toolUseResult", &result) || json_type(result) != JSON_OBJECT ||
        edit->kind == EDIT_RENAME || edit->kind == EDIT_DELETE)
        return;
    if (json_get(result, "new_source", &v)) {
        *counts = !json_get_text(result, "error", a, &text) || !text.n;
        edit->kind = EDIT_REPLACE;
        edit->replacements = 0;
        if (json_get_text(result, "original_file", a, &text)) {
            edit->before = text;
            edit->before_known = EDIT_TEXT;
        }
        if (json_get_text(result, "updated_file", a, &text)) {
            edit->after = text;
            edit->after_known = EDIT_TEXT;
        }
        return;
    }

    /* The file before the edit, and then the change, which the person may have edited. */
    if (json_get_text(result, "originalFile", a, &text) ||
        json_get_text(result, "originalFileContents", a, &text)) {
        edit->before = text;
        edit->before_known = EDIT_TEXT;
    } else if (json_get(result, "originalFile", &v) && json_type(v) == JSON_NULL &&
               json_get_is(result, "type", "create")) {
        edit->before_known = EDIT_ABSENT;
    }
    if (json_get_true(result, "userModified"))
        fill_by_person(result, a, edit);
    else
        fill_replacement(result, a, edit);
    if (edit->kind == EDIT_WRITE && json_get_text(result, "content", a, &text))
        edit->after = text;
}

/* ---- saved copies ---- */

/* The client saves a file before the session's first edit of it and, where it changed, at each prompt. */
struct copies {
    const struct claude *claude;
    const struct session_ref *ref;
    struct tool_edits edits;
    struct slice_set seen; /* names of copies */
    struct arena arena;    /* owns the texts of those names, and of the directory */
    struct arena scratch;  /* owns the texts of one row */
    struct buf row, bytes;
};

enum { COPY_MAX = 16 << 20, SNAPSHOT = 1 };

static enum err_code claude_add_copy(struct copies *c, struct slice key, struct slice backup,
                                     struct err *e)
{
    struct slice path, name = { NULL, 0 }, stamp, v;
    int64_t time_ms;

    if (!json_text(key, &c->scratch, &path) || !path.n || memchr(path.p, '\0', path.n) ||
        !json_get_text(backup, "backupTime", &c->scratch, &stamp) || !time_parse(stamp, &time_ms) ||
        !json_get(backup, "backupFileName", &v))
        return ERR_OK;
    if (json_type(v) != JSON_NULL &&
        (!json_text(v, &c->scratch, &name) || !file_history_is_backup_name(name)))
        return ERR_OK;

    /* Snapshots repeat the copies of those before. */
    const char *copy = arena_format(&c->arena, "%.*s %.*s %lld", SLICE_ARG(path), SLICE_ARG(name),
                                    (long long)time_ms);
    size_t before = c->seen.n;
    uint32_t number;

    if (!copy || slice_set_add(&c->seen, slice_of(copy), &number) || c->seen.n <= before)
        return ERR_OK;

    struct edit edit = { .kind = EDIT_SEEN,
                         .path = arena_copy(&c->scratch, path).p,
                         .time_ms = time_ms,
                         .after_known = EDIT_ABSENT };
    const char *file;

    if (name.p) {
        file = arena_format(&c->scratch, "%s/file-history/%.*s/%.*s", c->claude->base.path,
                            SLICE_ARG(c->ref->id), SLICE_ARG(name));
        c->bytes.n = 0;
        if (!file || file_read_all(AT_FDCWD, file, 0, COPY_MAX, &c->bytes, NULL))
            return file ? ERR_OK : err_nomem(e);
        edit.after = buf_slice(&c->bytes);
        edit.after_known = EDIT_TEXT;
    }
    return edit.path ? tool_edits_put(&c->edits, &edit, e) : err_nomem(e);
}

static enum err_code add_history_row(struct copies *c, struct slice row, bool snapshot,
                                     struct err *e)
{
    struct slice object, files, key, value;
    struct json_iter it;
    enum err_code rc = ERR_OK;

    if (!snapshot)
        return json_get(row, "trackingPath", &key) && json_get(row, "backup", &value)
                   ? claude_add_copy(c, key, value, e)
                   : ERR_OK;
    if (!json_get(row, "snapshot", &object) || !json_get(object, "trackedFileBackups", &files) ||
        !json_iter_open(&it, files))
        return ERR_OK;
    while (!rc && json_iter_next(&it, &key, &value))
        rc = claude_add_copy(c, key, value, e);
    return rc;
}

/* A history that cannot be read is ignored. */
static enum err_code put_copies(struct copies *c, struct err *e)
{
    static const char *const kinds[] = { "file-history-snapshot", "file-history-delta", NULL };
    static const struct index_keys keys = { .type = "type", .kinds = kinds };
    struct index ix = { 0 };
    struct file f;
    enum err_code rc = ERR_OK;

    if (file_open(AT_FDCWD, c->ref->path.p, FILE_FOLLOW, &f, NULL))
        return ERR_OK;

    /* The relative paths of the history are below the session's directory. */
    const struct scope everywhere = { .all = true };
    struct session_row *row = session_row_new();

    if (row && claude_describe(&c->claude->base, &everywhere, c->ref, row, NULL) == ERR_OK &&
        row->cwd.n)
        c->edits.cwd = arena_copy(&c->arena, row->cwd).p;
    session_row_free(row);

    if (index_build(&ix, &f, &keys, 0, c->edits.q->cancel, NULL) == ERR_OK) {
        rc = ERR_OK;

        for (size_t i = 0; i < ix.n && !rc; i++) {
            const struct index_line *line = &ix.line[i];

            if (!line->kind || line->state != LINE_OK || line->length > COPY_MAX)
                continue;
            rc = file_read_part(&f, line->offset, line->length, &c->row, e);
            if (!rc && edit_may_name(c->edits.q, buf_slice(&c->row)) &&
                json_valid(buf_slice(&c->row)))
                rc = add_history_row(c, buf_slice(&c->row), line->kind == SNAPSHOT, e);
            arena_reset(&c->scratch);
        }
    }
    index_fini(&ix);
    file_close(&f);
    tool_edits_fini(&c->edits);
    slice_set_fini(&c->seen);
    arena_fini(&c->arena);
    arena_fini(&c->scratch);
    buf_fini(&c->row);
    buf_fini(&c->bytes);
    return rc;
}

/* ---- the member ---- */

struct counted {
    edit_fn *fn;
    void *arg;
    size_t n;
};

static enum err_code claude_count_edit(const struct edit *edit, void *arg, struct err *e)
{
    struct counted *c = arg;

    c->n++;
    return c->fn(edit, c->arg, e);
}

/* The copies of a session that edited the file, if the store is Claude Code's own. */
enum err_code claude_edits(const struct store *st, const struct session_ref *ref,
                           const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    struct counted counted = { fn, arg, 0 };
    enum err_code rc =
        tool_edits_files(&claude_ops, ref, q, claude_fill, claude_count_edit, &counted, e);

    if (rc || !counted.n || !q->seen || st->ops->open != claude_ops.open)
        return rc;
    struct copies c = { .claude = claude_of(st),
                        .ref = ref,
                        .edits = { .q = q, .fn = fn, .arg = arg } };

    return put_copies(&c, e);
}
