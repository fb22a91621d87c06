#include "store/systems/claude/claude.h"

#include <stdlib.h>
#include <uuid/uuid.h>

#include "lite/jsonout.h"
#include "lite/time.h"
#include "store/systems/claude/leaf.h"
#include "store/systems/claude/list.h"
#include "store/systems/claude/revival.h"

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
static enum err_code find_leaf(struct claude_restoring *r, struct slice at, uint32_t *leaf,
                               struct err *e)
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

static enum err_code find_path(struct claude_restoring *r, struct slice at, struct err *e)
{
    uint32_t leaf = CHAIN_NONE;
    enum err_code rc = claude_relink(&r->log, e);

    if (!rc)
        rc = claude_bridge(&r->log, e);
    if (!rc)
        rc = find_leaf(r, at, &leaf, e);
    if (!rc && leaf != CHAIN_NONE)
        rc = chain_walk(&r->log.chain, leaf, NODE_LISTED, &r->path, &r->n, e);
    if (!rc && leaf != CHAIN_NONE)
        rc = claude_parallel(&r->log, &r->path, &r->n, e);
    return rc;
}

static enum err_code revive_node(struct claude_restoring *r, uint32_t node, struct err *e)
{
    const struct index_line *line = claude_node_line(&r->log, node);
    struct claude_revived *out = &r->revival.row[r->revival.n];
    struct slice row;

    if (claude_line_is(line, CLAUDE_PROGRESS))
        return ERR_OK;
    enum err_code rc = claude_log_row(&r->log, r->log.chain.node[node].line, &row, e);

    if (rc)
        return rc;
    row = arena_copy(&r->out.arena, row);
    if (!row.p)
        return ERR_NOMEM;
    *out = (struct claude_revived){ .id = chain_id(&r->log.chain, node), .kind = line->kind };
    rc = claude_migrate(row, line->kind, r->out.cwd, &r->out.arena, &out->row);
    if (!rc)
        r->revival.n++;
    return rc;
}

static enum err_code revive(struct claude_restoring *r, struct err *e)
{
    enum err_code rc = ERR_OK;

    r->revival = (struct claude_revival){ .arena = &r->out.arena };
    r->revival.row = arena_alloc(&r->out.arena, (r->n + 1) * sizeof *r->revival.row);
    if (!r->revival.row)
        return ERR_NOMEM;
    for (size_t i = 0; !rc && i < r->n; i++)
        rc = revive_node(r, r->path[i], e);
    return rc ? rc : claude_leave_out(&r->revival);
}

static enum err_code add_messages(struct claude_restoring *r)
{
    struct claude_values values = { 0 };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < r->revival.n; i++)
        if (!r->revival.row[i].left_out)
            rc = claude_values_add(&values, &r->out.arena, r->revival.row[i].row);
    r->out.messages_json = values.p;
    r->out.messages = values.n;
    return rc;
}

/* What the client says in the person's place when a turn was cut. */
static void write_continuation(const struct claude_restoring *r, struct jsonout *j)
{
    char id[UUID_STR_LEN], time[TIME_TEXT];
    uuid_t random;

    uuid_generate_random(random);
    uuid_unparse_lower(random, id);
    time_format(r->store->env->now_ms, time);
    jsonout_open(j, '{');
    jsonout_member(j, "type", SLICE("user"));
    jsonout_key(j, "message");
    jsonout_open(j, '{');
    jsonout_member(j, "role", SLICE("user"));
    jsonout_member(j, "content", SLICE("Continue from where you left off."));
    jsonout_close(j, '}');
    jsonout_key(j, "isMeta");
    jsonout_bool(j, true);
    jsonout_member(j, "uuid", (struct slice){ id, strlen(id) });
    jsonout_member(j, "timestamp", (struct slice){ time, strlen(time) });
    jsonout_member(j, "sessionId", r->ref->id);
    jsonout_close(j, '}');
}

static enum err_code add_continuation(struct claude_restoring *r)
{
    struct claude_values values = { r->out.messages_json, r->out.messages, r->out.messages };
    struct buf text = { 0 };
    struct jsonout j;

    jsonout_init(&j, &text);
    write_continuation(r, &j);
    enum err_code rc = j.rc;
    struct slice copy =
        rc ? (struct slice){ NULL, 0 } : arena_copy(&r->out.arena, buf_slice(&text));

    buf_fini(&text);
    if (!copy.p)
        return ERR_NOMEM;
    rc = claude_values_add(&values, &r->out.arena, copy);
    r->out.messages_json = values.p;
    r->out.messages = values.n;
    return rc;
}

static enum err_code make(struct claude_restoring *r, struct slice at, struct err *e)
{
    struct claude_values history = { 0 };
    enum err_code rc = claude_restore_facts(r, e);

    if (!rc)
        rc = find_path(r, at, e);
    if (!rc)
        rc = revive(r, e);
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
    r->out.interruption = claude_interruption(&r->revival, &r->out.prompt_json);
    return r->out.interruption == INTERRUPTION_TURN ? add_continuation(r) : ERR_OK;
}

enum err_code claude_restore(const struct store *st, const struct session_ref *ref, struct slice at,
                             struct restore *out, struct err *e)
{
    struct claude_restoring r = { .store = st, .ref = ref };
    /* A message that is asked for may lie in the part that a compaction made unreachable. */
    struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS, .skip_precompact = at.n == 0 };
    struct err why = { 0 };
    enum err_code rc = claude_log_open(&r.log, ref->path.p, &want, e);

    if (rc)
        return err_wrap(e, rc, "restore the session");
    rc = make(&r, at, &why);
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
