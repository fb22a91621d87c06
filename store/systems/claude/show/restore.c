#include "store/systems/claude/claude.h"

#include <stdlib.h>

#include "store/systems/claude/chain/leaf.h"
#include "store/systems/claude/show/item_list.h"
#include "store/systems/claude/show/restore.h"

/* Everything that a host needs to go on with a session (seed 002): the conversation as the client would
 * load it, how its last turn ended, and what the client would put back beside it. */

enum err_code claude_values_add(struct claude_values *values, struct arena *a, struct slice value)
{
    if (values->n == values->cap) {
        size_t cap = values->cap ? 2 * values->cap : 16;
        struct slice *more =
            cap > SIZE_MAX / sizeof *more ? NULL : arena_alloc(a, cap * sizeof *more);

        if (!more)
            return ERR_NOMEM;
        if (values->n)
            memcpy(more, values->p, values->n * sizeof *more);
        values->p = more;
        values->cap = cap;
    }
    values->p[values->n++] = value;
    return ERR_OK;
}

/* Where the conversation is to end: with the message that was asked for, or where the client would go on.
 * CHAIN_NONE: the session says that it begins anew. */
static enum err_code find_restore_leaf(struct claude_restore_state *r, struct slice at,
                                       uint32_t *leaf, struct err *e)
{
    bool cleared = false;
    enum err_code rc;

    if (at.n)
        return claude_find_message(&r->log, at, leaf, e);
    rc = claude_resume_leaf(&r->log, leaf, &cleared, e);
    if (!rc && *leaf == CHAIN_NONE && !cleared)
        rc = err_set(e, ERR_NOT_FOUND, r->ref->path.p, "find the conversation: there is none");
    return rc;
}

/* A message that is asked for ends the conversation, also where other calls of its answer follow. */
static void cut_behind(struct claude_restore_state *r, uint32_t leaf)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->path[i] == leaf)
            r->n = i + 1;
}

static enum err_code find_path(struct claude_restore_state *r, struct slice at, struct err *e)
{
    uint32_t leaf = CHAIN_NONE;
    enum err_code rc = claude_relink(&r->log, e);

    if (!rc)
        rc = find_restore_leaf(r, at, &leaf, e);
    if (!rc && at.n == 0)
        claude_unload(&r->log);
    if (rc || leaf == CHAIN_NONE)
        return rc;
    rc = claude_resume_path(&r->log, leaf, &r->path, &r->n, e);
    if (!rc)
        rc = claude_parallel(&r->log, &r->path, &r->n, e);
    if (!rc && at.n)
        cut_behind(r, leaf);
    return rc;
}

static enum err_code load_node_row(struct claude_restore_state *r, uint32_t node, struct err *e)
{
    const struct index_line *line = claude_node_line(&r->log, node);
    struct claude_restore_row *out = &r->restore_rows.row[r->restore_rows.n];
    struct slice row;

    if (claude_line_is(line, CLAUDE_PROGRESS))
        return ERR_OK;
    enum err_code rc = claude_log_row(&r->log, r->log.chain.node[node].line, &row, e);

    if (rc)
        return rc;
    row = arena_copy(&r->out.arena, row);
    if (!row.p)
        return ERR_NOMEM;
    *out = (struct claude_restore_row){ .id = chain_id(&r->log.chain, node), .kind = line->kind };
    rc = claude_migrate_row(row, line->kind, r->out.cwd, &r->out.arena, &out->row);
    if (!rc)
        r->restore_rows.n++;
    return rc;
}

static enum err_code load_rows(struct claude_restore_state *r, struct err *e)
{
    enum err_code rc = ERR_OK;

    r->restore_rows = (struct claude_restore_rows){ .arena = &r->out.arena };
    r->restore_rows.row = arena_alloc(&r->out.arena, (r->n + 1) * sizeof *r->restore_rows.row);
    if (!r->restore_rows.row)
        return ERR_NOMEM;
    for (size_t i = 0; !rc && i < r->n; i++)
        rc = load_node_row(r, r->path[i], e);
    return rc ? rc : claude_hide_rows(&r->restore_rows, &r->unanswered);
}

static enum err_code add_messages(struct claude_restore_state *r)
{
    struct claude_values values = { 0 };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < r->restore_rows.n; i++)
        if (!r->restore_rows.row[i].left_out)
            rc = claude_values_add(&values, &r->out.arena, r->restore_rows.row[i].row);
    r->out.messages_json = values.p;
    r->out.messages = values.n;
    return rc;
}

static enum err_code build_bundle(struct claude_restore_state *r, struct slice at, struct err *e)
{
    struct claude_values history = { 0 };
    enum err_code rc = claude_restore_facts(r, e);

    if (!rc)
        rc = find_path(r, at, e);
    if (!rc)
        rc = load_rows(r, e);
    if (!rc)
        rc = add_messages(r);
    if (!rc)
        rc = claude_restore_extras(r);
    if (!rc)
        rc = claude_snapshots(&r->log, r->path, r->n, &r->out.arena, &history, e);
    if (rc)
        return rc;
    r->out.file_history_json = history.p;
    r->out.file_history = history.n;
    r->out.interruption = claude_interruption(&r->restore_rows, &r->out.prompt_json);
    /* What is asked for ends there. */
    return at.n ? ERR_OK : claude_restore_end(r);
}

enum err_code claude_restore(const struct store *st, const struct session_ref *ref, struct slice at,
                             struct restore *out, struct err *e)
{
    struct claude_restore_state r = { .store = st, .ref = ref };
    /* A message that is asked for may lie in the part that a compaction made unreachable. */
    struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS, .skip_precompact = at.n == 0 };
    struct err why = { 0 };
    enum err_code rc = claude_log_open(&r.log, ref->path.p, &want, e);

    if (rc)
        return err_wrap(e, rc, "restore the session");
    rc = build_bundle(&r, at, &why);
    claude_log_close(&r.log);
    free(r.path);
    if (!rc) {
        *out = r.out;
        return ERR_OK;
    }
    restore_fini(&r.out);
    /* A failure that was got over may have left its words. */
    if (why.code != rc)
        return err_set(e, rc, ref->path.p, "restore the session");
    if (e)
        *e = why;
    return err_wrap(e, rc, "restore the session");
}
