#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/codex/codex.h"
#include "store/systems/codex/rollout.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/inferred.h"
#include "store/systems/common/patches/patch_log.h"

/* The edits of a thread are those that its logs record as done: whole texts of files that were
 * added or deleted, and diffs of the others. The log does not record the changes by shell commands.
 * Old logs contain only the calls of apply_patch and of commands, with texts as results. */

struct walk {
    struct tool_edits edits;
    struct arena arena; /* owns the texts of one change */
};

static void codex_set_turn(struct walk *w, const struct patch_log *c, const struct patch_change *x,
                           bool by_time)
{
    w->edits.now = (struct edit){ .time_ms = x->time_ms,
                                  .message = x->call,
                                  .agent = w->edits.now.agent,
                                  .copied = x->inherited };
    for (size_t i = 0; i < c->points; i++)
        if (by_time ? c->point[i].time_ms <= x->time_ms : c->point[i].at < x->at) {
            w->edits.now.turn = c->point[i].id;
            w->edits.now.prompt = c->point[i].text;
        }
}

static enum err_code codex_put(struct walk *w, const struct patch_change *x, struct err *e)
{
    struct edit edit = { .path = x->path, .call = x->call, .tool = SLICE("apply_patch") };

    if (x->kind == PATCH_ARRIVED) {
        struct edit rename = edit;

        rename.kind = EDIT_RENAME;
        rename.path = x->other;
        rename.to = x->path;
        enum err_code rc = tool_edits_put(&w->edits, &rename, e);

        if (rc || !x->text.n)
            return rc;
    }
    switch (x->kind) {
    case PATCH_ADDED:
        edit.kind = EDIT_WRITE;
        edit.after_known = EDIT_TEXT;
        edit.after = x->text;
        break;
    case PATCH_DELETED:
        edit.kind = EDIT_DELETE;
        edit.before_known = EDIT_TEXT;
        edit.before = x->text;
        break;
    case PATCH_UNSURE:
    case PATCH_LEFT: return ERR_OK; /* the other half has it all */
    case PATCH_ARRIVED:
    case PATCH_UPDATED: edit.kind = EDIT_REPLACE; inferred_edit(x->text, &w->arena, &edit);
    }
    return w->arena.failed ? err_nomem(e) : tool_edits_put(&w->edits, &edit, e);
}

/* points: those of the session; the turn of a sub-agent's change is the one that was running at the
 * time. */
static enum err_code put_all(struct walk *w, const struct patch_log *c,
                             const struct patch_log *points, struct err *e)
{
    enum err_code rc = ERR_OK;

    w->edits.cwd = c->cwd;
    for (size_t i = 0; i < c->changes && !rc; i++) {
        codex_set_turn(w, points, &c->change[i], c != points);
        rc = codex_put(w, &c->change[i], e);
        arena_reset(&w->arena);
        arena_reset(&w->edits.scratch);
    }
    return rc;
}

/* ---- what commands show ---- */

static enum err_code codex_put_seen(struct walk *w, const struct patch_log *c,
                                    const struct patch_log *points, size_t at, struct edit seen,
                                    struct err *e)
{
    const struct patch_change where = { .at = at, .time_ms = c->line_ms[at] };

    if (where.time_ms == INT64_MIN) /* no line above has a time */
        return ERR_OK;
    codex_set_turn(w, points, &where, c != points);
    seen.kind = EDIT_SEEN;
    seen.call = seen.tool = SLICE("command");
    return tool_edits_put(&w->edits, &seen, e);
}

/* For one path of the query: the listings that show it, and the commands that may have changed it. */
static enum err_code put_commands(struct walk *w, const struct patch_log *c,
                                  const struct patch_log *points, const char *path, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < c->listings && !rc; i++) {
        const struct patch_listing *x = &c->listing[i];
        enum listed listed = listed_by_command(x->command, x->dir, x->output, path);
        const struct edit seen = { .path = path,
                                   .after_known =
                                       listed == LISTED_ABSENT ? EDIT_ABSENT : EDIT_SOME };

        if (listed != LISTED_UNKNOWN)
            rc = codex_put_seen(w, c, points, x->at, seen, e);
    }
    for (size_t i = 0; i < c->commands && !rc; i++)
        if (patch_commands_between(c, c->command[i].at, c->command[i].at + 1, path))
            rc = codex_put_seen(w, c, points, c->command[i].at,
                                (struct edit){ .path = path, .command = c->command[i].text }, e);
    return rc;
}

static enum err_code put_all_seen(struct walk *w, const struct patch_log *c,
                                  const struct patch_log *points, struct err *e)
{
    const struct edit_query *q = w->edits.q;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; q->reads && i < c->seen_n && !rc; i++) {
        const struct patch_seen *x = &c->seen[i];
        const struct edit seen = { .path = x->path,
                                   .after_known = x->gone    ? EDIT_ABSENT
                                                  : x->whole ? EDIT_TEXT
                                                             : EDIT_SOME,
                                   .after = x->text };

        rc = codex_put_seen(w, c, points, x->at, seen, e);
    }
    for (size_t i = 0; q->reads && i < q->paths && !rc; i++)
        rc = put_commands(w, c, points, q->path[i], e);
    arena_reset(&w->edits.scratch);
    return rc;
}

/* ---- old logs ---- */

/* The result of a call is a text (in the oldest logs inside JSON) with the outcome of the command. */
static bool succeeded(struct slice text, struct arena *a)
{
    static const char *const well[] = { "Success. Updated the following files", "Exit code: 0\n" };
    struct slice code, line;
    bool torn;

    if (json_type(text) == JSON_OBJECT && json_valid(text))
        return json_at(text, "metadata.exit_code", &code)
                   ? slice_eq(code, SLICE("0"))
                   : json_get_text(text, "output", a, &line) && slice_starts(line, well[0]);
    if (slice_starts(text, well[0]) || slice_starts(text, well[1]))
        return true;
    for (int i = 0; i < 4 && slice_line(&text, &line, &torn); i++)
        if (slice_eq(line, SLICE("Process exited with code 0")))
            return true;
    return false;
}

static void check_done(struct slice line, struct arena *a, struct edit *edit, bool *counts)
{
    struct codex_row row;
    struct slice text;

    (void)edit;
    *counts = codex_row_read(line, a, &row) && json_get_text(row.item, "output", a, &text) &&
              succeeded(text, a);
}

static enum err_code codex_add_call(struct walk *w, const struct store *st,
                                    const struct patch_log *c, struct slice line, size_t at,
                                    struct err *e)
{
    struct patch_change where = { .at = at, .inherited = at >= c->copied_at && at < c->copied_end };
    struct block_list blocks = { 0 };
    struct codex_row row;
    enum err_code rc = ERR_OK;

    if (!codex_row_read(line, &w->arena, &row) ||
        (row.kind != CODEX_CALL && row.kind != CODEX_RESULT))
        return ERR_OK;
    if (!time_parse(row.time, &where.time_ms))
        where.time_ms = TIME_NONE;
    where.call = codex_row_id(&row, &w->arena);
    codex_set_turn(w, c, &where, false);

    /* Paths are relative to the directory that a call names. */
    struct arena *a = &w->arena;
    struct slice input, dir;

    w->edits.cwd = c->cwd;
    if (json_get_text(row.item, "arguments", a, &input) &&
        json_get_text(input, "workdir", a, &dir) && dir.n && dir.p[0] == '/' &&
        !memchr(dir.p, '\0', dir.n))
        w->edits.cwd = arena_copy(a, dir).p;

    w->edits.row = line;
    rc = codex_blocks(st, line, &blocks, e);
    if (!rc)
        rc = tool_edits_blocks(&w->edits, &blocks, e);
    transcript_blocks_fini(&blocks);
    return rc;
}

static enum err_code codex_put_calls(struct walk *w, const struct store *st,
                                     const struct session_ref *ref, const struct patch_log *c,
                                     struct err *e)
{
    struct buf text = { 0 };
    struct slice rest, line;
    bool torn;
    enum err_code rc = rollout_compose_done(st->path, ref->path.p, &text, e);

    w->edits.fill = check_done;
    rest = buf_slice(&text);
    for (size_t at = 0; !rc && slice_line(&rest, &line, &torn); at++) {
        if (w->edits.q->cancel && atomic_load_explicit(w->edits.q->cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "read edits");
        else if (slice_has(line, "_call"))
            rc = codex_add_call(w, st, c, line, at, e);
        if (!rc && w->arena.failed)
            rc = err_nomem(e);
        arena_reset(&w->arena);
    }
    buf_fini(&text);
    return rc;
}

enum err_code codex_edits(const struct store *st, const struct session_ref *ref,
                          const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    struct walk w = { .edits = { .q = q, .fn = fn, .arg = arg } };
    struct patch_log c;

    TRY(codex_read_patches(st, ref, true, &c, e));
    enum err_code rc = c.calls_only ? codex_put_calls(&w, st, ref, &c, e) : put_all(&w, &c, &c, e);

    if (!rc)
        rc = put_all_seen(&w, &c, &c, e);
    /* The changes of the sub-agents. */
    struct arena a = { 0 };
    struct slice *ids = NULL;
    size_t n = 0;

    if (!rc)
        rc = codex_subagents(st, ref, &a, &ids, &n, e);
    for (size_t i = 0; i < n && !rc; i++) {
        struct session_ref agent;
        struct patch_log own;

        if (codex_subagent(st, ref, ids[i], &a, &agent, NULL) ||
            codex_read_patches(st, &agent, true, &own, NULL))
            continue;
        w.edits.now.agent = ids[i];
        rc = put_all(&w, &own, &c, e);
        if (!rc)
            rc = put_all_seen(&w, &own, &c, e);
        patch_log_fini(&own);
    }
    arena_fini(&a);
    tool_edits_fini(&w.edits);
    arena_fini(&w.arena);
    patch_log_fini(&c);
    return rc;
}
