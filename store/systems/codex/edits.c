#include "store/systems/codex/changes.h"
#include "store/systems/codex/codex.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/inferred.h"

/* The edits of a thread are those that its logs record as done: whole texts of files that were added or deleted, and diffs of
 * the rest. The log does not record the work of shell commands. */

struct walk {
    struct tool_edits edits;
    struct arena arena; /* of one change */
};

static void set_turn(struct walk *w, const struct codex_changes *c, const struct codex_change *x,
                     bool by_time)
{
    w->edits.now =
        (struct edit){ .time_ms = x->time_ms, .message = x->call, .agent = w->edits.now.agent };
    for (size_t i = 0; i < c->points; i++)
        if (by_time ? c->point[i].time_ms <= x->time_ms : c->point[i].at < x->at) {
            w->edits.now.turn = c->point[i].id;
            w->edits.now.prompt = c->point[i].text;
        }
}

static enum err_code put(struct walk *w, const struct codex_change *x, struct err *e)
{
    struct edit edit = {
        .path = x->path, .call = x->call, .tool = SLICE("apply_patch"), .copied = x->inherited
    };
    struct edit rename = edit;
    enum err_code rc = ERR_OK;

    switch (x->kind) {
    case CODEX_ADDED:
        edit.kind = EDIT_WRITE;
        edit.after_known = EDIT_TEXT;
        edit.after = x->text;
        break;
    case CODEX_DELETED:
        edit.kind = EDIT_DELETE;
        edit.before_known = EDIT_TEXT;
        edit.before = x->text;
        break;
    case CODEX_UNSURE:
    case CODEX_LEFT: return ERR_OK; /* the other half has it all */
    case CODEX_ARRIVED:
        rename.kind = EDIT_RENAME;
        rename.path = x->other;
        rename.to = x->path;
        rc = tool_edits_put(&w->edits, &rename, e);
        if (rc || !x->text.n)
            return rc;
        /* fall through */
    case CODEX_UPDATED: edit.kind = EDIT_REPLACE; inferred_edit(x->text, &w->arena, &edit);
    }
    return w->arena.failed ? err_nomem(e) : tool_edits_put(&w->edits, &edit, e);
}

/* points: those of the session; the turn of a sub-agent's change is the one that was running then. */
static enum err_code put_all(struct walk *w, const struct codex_changes *c,
                             const struct codex_changes *points, struct err *e)
{
    enum err_code rc = ERR_OK;

    w->edits.cwd = c->cwd;
    for (size_t i = 0; i < c->changes && !rc; i++) {
        set_turn(w, points, &c->change[i], c != points);
        rc = put(w, &c->change[i], e);
        arena_reset(&w->arena);
        arena_reset(&w->edits.scratch);
    }
    return rc;
}

static enum err_code put_agents(struct walk *w, const struct store *st,
                                const struct session_ref *ref, const struct codex_changes *points,
                                struct err *e)
{
    struct arena a = { 0 };
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = codex_subagents(st, ref, &a, &ids, &n, e);

    for (size_t i = 0; i < n && !rc; i++) {
        struct session_ref agent;
        struct codex_changes c;

        if (codex_subagent(st, ref, ids[i], &a, &agent, NULL) ||
            codex_changes_read(st, &agent, true, &c, NULL))
            continue;
        w->edits.now.agent = ids[i];
        rc = put_all(w, &c, points, e);
        codex_changes_fini(&c);
    }
    arena_fini(&a);
    return rc;
}

enum err_code codex_edits(const struct store *st, const struct session_ref *ref,
                          const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    struct walk w = { .edits = { .q = q, .fn = fn, .arg = arg } };
    struct codex_changes c;
    enum err_code rc = codex_changes_read(st, ref, true, &c, e);

    if (rc)
        return rc;
    rc = put_all(&w, &c, &c, e);
    if (!rc)
        rc = put_agents(&w, st, ref, &c, e);
    tool_edits_fini(&w.edits);
    arena_fini(&w.arena);
    codex_changes_fini(&c);
    return rc;
}
