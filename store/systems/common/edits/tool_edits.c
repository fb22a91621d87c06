#include "store/systems/common/edits/tool_edits.h"

#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/show/tool_call.h"
#include "store/systems/common/inferred.h"

/* A call without a result within this many rows was cut off. */
enum { CALLS_MAX = 256, ROWS_MAX = 4096 };

struct tool_edits_call {
    struct slice id, name, input;
    const char *cwd;
    size_t row;
};

/* ---- calls ---- */

static void drop_call(struct tool_edits *t, size_t i)
{
    memmove(&t->call[i], &t->call[i + 1], (t->calls - i - 1) * sizeof *t->call);
    if (--t->calls == 0) {
        t->call = NULL;
        arena_reset(&t->arena);
    }
}

static enum err_code tool_edits_keep_call(struct tool_edits *t, const struct block *b,
                                          struct err *e)
{
    struct tool_inputs in = { .a = &t->scratch };
    struct tool_edits_call *list;
    struct slice text;

    while (t->calls && (t->calls >= CALLS_MAX || t->rows - t->call[0].row > ROWS_MAX))
        drop_call(t, 0);
    /* A call counts if it is an edit that the query matches, as far as its input shows, a read or a command. */
    if (b->call_id.n)
        tool_inputs_read(b->name, b->input, &in);
    if (!b->call_id.n ||
        (in.n == 0 &&
         !(t->q->reads && (read_call_path(b->name, b->input, &t->scratch, &text) ||
                           tool_inputs_command(b->name, b->input, &t->scratch, &text)))))
        return t->scratch.failed ? err_nomem(e) : ERR_OK;
    list = arena_grow(&t->arena, t->call, t->calls, sizeof *list);
    if (!list)
        return err_nomem(e);
    t->call = list;
    list[t->calls++] = (struct tool_edits_call){ .id = arena_copy(&t->arena, b->call_id),
                                                 .name = arena_copy(&t->arena, b->name),
                                                 .input = arena_copy(&t->arena, b->input),
                                                 .cwd = arena_copy_text(&t->arena, t->cwd),
                                                 .row = t->rows };
    return t->arena.failed ? err_nomem(e) : ERR_OK;
}

bool tool_edits_waits_for(const struct tool_edits *t, struct slice row)
{
    for (size_t i = 0; i < t->calls; i++)
        if (slice_find(row.p, row.n, t->call[i].id.p, t->call[i].id.n))
            return true;
    return false;
}

/* ---- edits ---- */

static const char *tool_edits_absolute(struct tool_edits *t, const char *path, const char *cwd)
{
    if (path[0] == '/')
        return path_normalize("", path, &t->scratch);
    return cwd && cwd[0] == '/' ? path_normalize(cwd, path, &t->scratch) : NULL;
}

static enum err_code tool_edits_put_in(struct tool_edits *t, const struct edit *given,
                                       const char *cwd, struct err *e)
{
    struct edit edit = *given;
    enum err_code rc = ERR_OK;
    struct stat st;

    edit.path = tool_edits_absolute(t, given->path, cwd);
    if (given->to)
        edit.to = tool_edits_absolute(t, given->to, cwd);
    if (t->scratch.failed)
        return err_nomem(e);
    if (!edit.path || (given->to && !edit.to))
        return ERR_OK;
    if (edit.to) {
        /* "mv a b" moves into b if that is a directory. */
        const char *name = strrchr(edit.path, '/');
        const char *inside = name ? arena_format(&t->scratch, "%s%s", edit.to, name) : NULL;

        edit.to = inside && lstat(inside, &st) == 0 ? inside : edit.to;
    }
    edit.turn = t->now.turn;
    edit.prompt = t->now.prompt;
    edit.message = t->now.message;
    edit.agent = t->now.agent;
    edit.copied |= t->now.copied;
    bool saved = given->kind == EDIT_SEEN && !given->call.n;

    if (!saved)
        edit.time_ms = t->now.time_ms;
    if (!edit_wanted(t->q, &edit) || (saved && !t->q->seen))
        return ERR_OK;
    if (t->turn && !saved)
        rc = t->turn(t->turn_arg, &edit, e);
    return rc ? rc : t->fn(&edit, t->arg, e);
}

enum err_code tool_edits_put(struct tool_edits *t, const struct edit *edit, struct err *e)
{
    return tool_edits_put_in(t, edit, t->cwd, e);
}

/* Reports what a call read, or that there was nothing to read. */
static enum err_code tool_edits_put_read(struct tool_edits *t, const struct tool_edits_call *call,
                                         const struct block *result, struct err *e)
{
    struct edit seen = { .kind = EDIT_SEEN, .after_known = EDIT_TEXT };
    struct slice path;

    if (!t->q->reads || !read_call_path(call->name, call->input, &t->scratch, &path) ||
        (result->failed ? !read_call_is_missing(result->text, path)
                        : read_call_is_repeated(result->text)))
        return ERR_OK;
    seen.path = arena_copy(&t->scratch, path).p;
    seen.call = call->id;
    seen.tool = call->name;
    if (result->failed)
        seen.after_known = EDIT_ABSENT;
    else
        seen.after = read_call_text(result->text, &t->scratch);
    return t->scratch.failed ? err_nomem(e) : tool_edits_put_in(t, &seen, call->cwd, e);
}

/* ---- commands ---- */

/* The call has no member that chooses another directory, and waits for the end of the command. */
static bool is_in_cwd(struct slice input, struct arena *a)
{
    static const char *const members[] = { "command", "cmd", "description", "timeout" };
    struct slice key, value, name = { NULL, 0 };
    struct json_iter it;

    if (!json_iter_open(&it, input))
        return false;
    while (json_iter_next(&it, &key, &value)) {
        bool known = false;

        for (size_t i = 0; i < sizeof members / sizeof *members; i++)
            known |= json_text(key, a, &name) && slice_eq(name, slice_of(members[i]));
        known |= slice_eq(name, SLICE("is_background")) && slice_eq(value, SLICE("false"));
        if (!known)
            return false;
    }
    return true;
}

static enum err_code tool_edits_put_seen(struct tool_edits *t, const char *path, struct slice call,
                                         struct slice command, enum edit_known known, struct err *e)
{
    const struct edit seen = { .kind = EDIT_SEEN,
                               .path = path,
                               .call = call,
                               .tool = SLICE("command"),
                               .command = command,
                               .after_known = known };

    return tool_edits_put_in(t, &seen, NULL, e);
}

/* Reports the files that a command may change, when it begins (no result) and when it ends, and those that it listed. */
static enum err_code put_command(struct tool_edits *t, const struct tool_edits_call *call,
                                 const struct block *result, struct err *e)
{
    static const enum edit_known known[] = {
        [LISTED_ABSENT] = EDIT_ABSENT, [LISTED_PRESENT] = EDIT_SOME
    };
    struct slice command;
    enum err_code rc = ERR_OK;

    if (!t->q->reads || !tool_inputs_command(call->name, call->input, &t->scratch, &command))
        return ERR_OK;
    /* a shell that is kept open stays in the directory of the last cd */
    bool kept = slice_eq(call->name, SLICE("bash"));
    const char *dir = (kept && t->moved) || !is_in_cwd(call->input, &t->scratch) ? NULL : call->cwd;

    for (size_t i = 0; i < t->q->paths && !rc; i++) {
        const char *path = t->q->path[i];
        enum listed listed = dir && result && !result->failed && listed_is_whole(result->text)
                                 ? listed_by_command(command, dir, result->text, path)
                                 : LISTED_UNKNOWN;

        if (listed)
            rc = tool_edits_put_seen(t, path, call->id, SLICE(""), known[listed], e);
        else if (dir ? inferred_may_change(command, dir, path) : !inferred_only_reads(command))
            rc = tool_edits_put_seen(t, path, call->id, command, EDIT_UNKNOWN, e);
    }
    t->moved |= result && kept && slice_has(command, "cd");
    return rc;
}

static enum err_code tool_edits_read_result(struct tool_edits *t, const struct block *b,
                                            struct err *e)
{
    struct tool_inputs in = { .a = &t->scratch };
    enum err_code rc = ERR_OK;
    size_t i = 0;

    while (i < t->calls && !slice_eq(t->call[i].id, b->call_id))
        i++;
    if (i == t->calls)
        return ERR_OK;
    if (!b->failed)
        tool_inputs_read(t->call[i].name, t->call[i].input, &in);
    for (size_t k = 0; k < in.n && !rc; k++) {
        in.edit[k].call = t->call[i].id;
        in.edit[k].tool = t->call[i].name;

        /* The texts before and after are preferred if the row has both, because a person may have
         * changed what the agent had proposed. */
        struct edit *edit = &in.edit[k];
        const char *cwd = t->call[i].cwd;
        bool counts = true;

        if (t->fill)
            t->fill(t->row, &t->scratch, edit, &counts);
        if (t->scratch.failed)
            rc = err_nomem(e);
        else
            rc = counts ? tool_edits_put_in(t, edit, cwd, e) : ERR_OK;
    }
    if (!rc)
        rc = tool_edits_put_read(t, &t->call[i], b, e);
    if (!rc)
        rc = put_command(t, &t->call[i], b, e);
    drop_call(t, i);
    return rc ? rc : t->scratch.failed ? err_nomem(e) : ERR_OK;
}

enum err_code tool_edits_blocks(struct tool_edits *t, const struct block_list *blocks,
                                struct err *e)
{
    enum err_code rc = ERR_OK;

    t->rows++;
    for (size_t i = 0; i < blocks->n && !rc; i++) {
        const struct block *b = &blocks->block[i];

        if (b->kind == BLOCK_TOOL_CALL) {
            const struct tool_edits_call call = {
                .id = b->call_id, .name = b->name, .input = b->input, .cwd = t->cwd
            };

            rc = tool_edits_keep_call(t, b, e);
            if (!rc && b->call_id.n)
                rc = put_command(t, &call, NULL, e);
        } else if (b->kind == BLOCK_TOOL_RESULT)
            rc = tool_edits_read_result(t, b, e);
    }
    arena_reset(&t->scratch);
    return rc;
}

void tool_edits_fini(struct tool_edits *t)
{
    arena_fini(&t->arena);
    arena_fini(&t->scratch);
    *t = (struct tool_edits){ 0 };
}
