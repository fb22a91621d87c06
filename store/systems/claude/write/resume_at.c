#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/systems/claude/chain/leaf.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/show/restore.h"
#include "store/systems/claude/write/reappend.h"

/* Resume at a message, in place: a last-prompt row that names it and says that this was meant. Clients of both
 * generations go on from there, dead branches included, until another such row or a later answer says otherwise
 * (claude.md C3). */

/* The row's bytes; leaf empty: the conversation begins anew. */
static enum err_code write_last_prompt_row(const struct session_ref *ref, struct slice leaf,
                                           struct buf *out)
{
    struct jsonout j;

    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("last-prompt"));
    jsonout_key(&j, "leafUuid");
    if (leaf.n)
        jsonout_text(&j, leaf);
    else
        jsonout_null(&j);
    jsonout_key(&j, "explicit");
    jsonout_bool(&j, true);
    jsonout_member(&j, "sessionId", ref->id);
    jsonout_close(&j, '}');
    return j.rc ? j.rc : buf_add_byte(out, '\n');
}

/* The uuid of a node as its row writes it; in the arena. */
static enum err_code uuid_of_node(struct claude_log *log, uint32_t node, struct arena *a,
                                  struct slice *id, struct err *e)
{
    struct slice row, text;
    enum err_code rc = claude_log_row(log, log->chain.node[node].line, &row, e);

    if (rc)
        return rc;
    if (!json_get_text(row, "uuid", a, &text))
        return err_nomem(e);
    *id = arena_copy(a, text);
    return id->p ? ERR_OK : err_nomem(e);
}

/* The client goes on only with what it loads. Rows of sub-agents are in no conversation of its. */
static enum err_code check_reachable(const struct claude_log *log, uint32_t node, struct err *e)
{
    if (claude_line_has(claude_node_line(log, node), MARK_SIDECHAIN))
        return err_set(e, ERR_UNSUPPORTED, log->file.path,
                       "resume at: that is a message of a sub-agent");
    if (!claude_is_compacted(log, node))
        return ERR_OK;
    return err_set(e, ERR_UNSUPPORTED, log->file.path,
                   "resume at: that message is before the last compaction, and the agent does not "
                   "load it; fork there instead");
}

/* Where it is to go on, and where it would have gone on. */
static enum err_code find_leaves(const struct session_ref *ref, struct slice message,
                                 struct arena *a, struct slice *leaf, struct slice *before,
                                 struct err *e)
{
    const struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS };
    struct claude_log log;
    uint32_t node;
    bool cleared;
    enum err_code rc = claude_log_open(&log, ref->path.p, &want, e);

    if (rc)
        return rc;
    rc = claude_relink(&log, e);
    if (!rc && message.n) {
        rc = claude_find_message(&log, message, &node, e);
        if (!rc)
            rc = check_reachable(&log, node, e);
        if (!rc)
            rc = uuid_of_node(&log, node, a, leaf, e);
    }
    if (!rc)
        rc = claude_resume_leaf(&log, &node, &cleared, e);
    if (!rc && node != CHAIN_NONE)
        rc = uuid_of_node(&log, node, a, before, e);
    claude_log_close(&log);
    return rc;
}

enum err_code claude_resume_at(const struct store *st, const struct session_ref *ref,
                               struct slice message, struct change *c, struct err *e)
{
    struct arena a = { 0 };
    struct metarows m;
    struct buf row = { 0 }, opposite = { 0 };
    struct slice leaf = { NULL, 0 }, before = { NULL, 0 };
    size_t more;
    enum err_code rc = find_leaves(ref, message, &a, &leaf, &before, e);

    (void)st;
    if (!rc)
        rc = metarows_of(ref->path.p, &a, &m, e);
    if (!rc &&
        (write_last_prompt_row(ref, leaf, &row) || write_last_prompt_row(ref, before, &opposite) ||
         reappend_rows(&m, row.n, METAROW_LAST_PROMPT, &row, &more)))
        rc = err_nomem(e);
    if (!rc)
        rc = change_add(c,
                        &(struct step){ .kind = STEP_APPEND,
                                        .path = ref->path.p,
                                        .bytes = buf_slice(&row),
                                        .opposite = buf_slice(&opposite),
                                        .follow = true,
                                        .mtime_ns = MTIME_NOW },
                        e);
    buf_fini(&row);
    buf_fini(&opposite);
    arena_fini(&a);
    return rc;
}
