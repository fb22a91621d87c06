#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "store/log/log_damage.h"
#include "store/systems/claude/chain/conversation_path.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/show/item_list.h"
#include "store/systems/common/lost_path.h"

/* What a resume leaves out although the person did not go back. The client follows the parents from the last row up, and two
 * faults of it break that path: a row names a parent that was never written, or it follows a row from before a compaction
 * that is above it in the file.
 *
 *     1 <- 2 <- 3    boundary <- summary <- 4 <- 5        2 <- 6 <- 7       a resume restores 1 2 6 7
 *     1 <- 2 <- 3    boundary <- summary <- 4 <- 5        ? <- 6 <- 7       a resume restores 6 7
 *
 * A joint lets such a row follow the message above it in the file: 6 follows 5. The path above it may be broken as well,
 * and is searched again. Only the parent in the row changes, so forks and later rows stay as they are. */

enum {
    JOINTS_MOST = 1000
}; /* joints of one session; what is broken more often is no conversation */

struct joint {
    uint32_t node, before;
    uint32_t wrong; /* the row from before a compaction; CHAIN_NONE: the parent is missing */
    size_t left_out;
};

struct lost_parts {
    struct claude_log *log;
    struct joint *joint; /* owned */
    size_t n, cap;
    size_t *boundary; /* owned; their lines, in order */
    size_t boundaries;
};

static void lost_parts_fini(struct lost_parts *l)
{
    free(l->joint);
    free(l->boundary);
}

/* The node of a line that a conversation can go on from: a message that is no sub-agent's, or a boundary. */
static uint32_t lost_spoken(const struct lost_parts *l, size_t line)
{
    const struct index_line *row = claude_line(l->log, line);
    const bool boundary = claude_line_is(row, CLAUDE_SYSTEM) && claude_line_has(row, MARK_COMPACT);
    uint32_t node = CHAIN_NONE;

    if ((claude_line_is_message(row) || boundary) && !(row->marks & (MARK_SIDECHAIN | MARK_TEAM)))
        node = claude_line_node(l->log, line);
    return node != CHAIN_NONE && l->log->chain.node[node].line == line ? node : CHAIN_NONE;
}

static bool lost_is_listed(const struct lost_parts *l, uint32_t node)
{
    return (l->log->chain.mark[node] & NODE_LISTED) != 0;
}

/* Returns true if a boundary that is not on the path is between two lines. */
static bool lost_skips_boundary(const struct lost_parts *l, size_t from, size_t to)
{
    for (size_t i = l->boundaries; i-- > 0 && l->boundary[i] > from;)
        if (l->boundary[i] < to && !lost_is_listed(l, lost_spoken(l, l->boundary[i])))
            return true;
    return false;
}

/* The nearest row above that is not on the path and does not follow the node itself. */
static uint32_t lost_row_before(const struct lost_parts *l, uint32_t node)
{
    const struct chain *c = &l->log->chain;

    for (size_t i = c->node[node].line; i-- > c->first_line;) {
        const uint32_t before = lost_spoken(l, i);
        uint32_t at = before;

        if (before == CHAIN_NONE || lost_is_listed(l, before))
            continue;
        for (size_t steps = 0; at != CHAIN_NONE && at != node && steps < c->n; steps++)
            at = chain_parent(c, at);
        if (at == CHAIN_NONE)
            return before;
    }
    return CHAIN_NONE;
}

/* Finds the last row of the path that follows the wrong row, or whose parent is missing. Its `before` is CHAIN_NONE if
 * nothing is left out above it. Returns false if the path is whole. */
static bool lost_find_joint(const struct lost_parts *l, const uint32_t *path, size_t n,
                            struct joint *out)
{
    const struct chain *c = &l->log->chain;

    for (size_t i = n; i-- > 0;) {
        const uint32_t node = path[i], parent = chain_parent(c, node);
        const bool written = parent != CHAIN_NONE &&
                             id128_eq(claude_node_line(l->log, node)->parent, chain_id(c, parent));

        *out = (struct joint){ .node = node, .wrong = parent };
        if (i == 0 ? parent == CHAIN_NONE && claude_has_parent(l->log, node)
                   : written && parent == path[i - 1] &&
                         lost_skips_boundary(l, c->node[parent].line, c->node[node].line)) {
            out->before = lost_row_before(l, node);
            return true;
        }
    }
    return false;
}

static void lost_unmark(struct chain *c)
{
    for (size_t i = 0; i < c->n; i++)
        c->mark[i] &= (uint8_t)~NODE_LISTED;
}

/* Joins one part after the other, in memory, until the path is whole. */
static enum err_code lost_find_joints(struct lost_parts *l, uint32_t leaf, struct err *e)
{
    struct chain *c = &l->log->chain;
    bool more = true;

    while (more && l->n < JOINTS_MOST) {
        AUTO_FREE uint32_t *path = NULL;
        struct joint joint;
        size_t n;

        lost_unmark(c);
        TRY(claude_resume_path(l->log, leaf, &path, &n, e));
        more = lost_find_joint(l, path, n, &joint) && joint.before != CHAIN_NONE;
        if (!more)
            break;
        for (size_t i = 0; i < l->n && more; i++) /* a row is joined once */
            more = l->joint[i].node != joint.node;
        if (!more)
            break;
        /* Where the parent is missing, what was said before the last compaction would not be restored anyway. */
        size_t from = joint.wrong != CHAIN_NONE ? c->node[joint.wrong].line + 1 : c->first_line;

        for (size_t i = 0; i < l->boundaries && joint.wrong == CHAIN_NONE; i++)
            if (l->boundary[i] < c->node[joint.node].line)
                from = l->boundary[i];
        joint.left_out = 0;
        for (size_t i = from; i < c->node[joint.node].line; i++) {
            const uint32_t node = lost_spoken(l, i);

            joint.left_out += node != CHAIN_NONE && !lost_is_listed(l, node) &&
                              claude_line_is_message(claude_line(l->log, i));
        }
        NEED(array_reserve(l->joint, l->cap, l->n + 1));
        l->joint[l->n++] = joint;
        chain_relink(c, joint.node, joint.before);
    }
    return ERR_OK;
}

/* ---- the repair ---- */

static enum err_code lost_parts_find(struct lost_parts *l, struct err *e)
{
    uint32_t leaf;
    bool cleared;

    TRY(claude_relink(l->log, e));
    TRY(claude_resume_leaf(l->log, &leaf, &cleared, e));
    if (leaf == CHAIN_NONE || cleared)
        return ERR_OK;
    claude_remove_unloaded(l->log);

    l->boundary = calloc(l->log->file.index.n + 1, sizeof *l->boundary);
    NEED(l->boundary);
    for (size_t i = l->log->chain.first_line; i < l->log->file.index.n; i++)
        if (claude_line_is(claude_line(l->log, i), CLAUDE_SYSTEM) &&
            lost_spoken(l, i) != CHAIN_NONE)
            l->boundary[l->boundaries++] = i;

    return lost_find_joints(l, leaf, e);
}

static enum err_code lost_parts_read(struct lost_parts *l, const struct session_ref *ref,
                                     const atomic_bool *cancel, struct err *e)
{
    const struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS, .stop = cancel };

    TRY(claude_log_open(l->log, ref->path.p, &want, e));
    return lost_parts_find(l, e);
}

enum err_code claude_report_lost_parts(const struct session_ref *ref, const atomic_bool *cancel,
                                       finding_fn *fn, void *arg, struct err *e)
{
    CLEANUP(claude_log_close) struct claude_log log = { .file.file.fd = -1 };
    CLEANUP(lost_parts_fini) struct lost_parts l = { .log = &log };

    TRY(lost_parts_read(&l, ref, cancel, e));

    const struct chain *c = &l.log->chain;
    AUTO_ARENA a = { 0 };

    for (size_t i = 0; i < l.n; i++) {
        const struct joint *j = &l.joint[i];
        struct finding f = { .kind = FINDING_LOST_PART,
                             .session = ref->id,
                             .path = ref->path.p,
                             .line = (int64_t)c->node[j->node].line + 1,
                             .offset = claude_node_line(l.log, j->node)->offset };
        const char *s = j->left_out == 1 ? "" : "s";

        f.why = j->wrong == CHAIN_NONE
                    ? arena_format(&a,
                                   "a resume leaves out %zu message%s before it: the row it "
                                   "follows is not in the file",
                                   j->left_out, s)
                    : arena_format(&a,
                                   "a resume leaves out %zu message%s before it: it follows line "
                                   "%lu, from before a compaction",
                                   j->left_out, s, (unsigned long)c->node[j->wrong].line + 1);
        f.repair =
            arena_format(&a, "lets it follow line %lu", (unsigned long)c->node[j->before].line + 1);
        NEED(f.why && f.repair);
        TRY(fn(&f, arg, e));
    }
    return ERR_OK;
}

enum err_code claude_reconnect(const struct store *st, const struct session_ref *ref,
                               struct change *c, const atomic_bool *cancel, struct err *e)
{
    CLEANUP(claude_log_close) struct claude_log log = { .file.file.fd = -1 };
    CLEANUP(lost_parts_fini) struct lost_parts l = { .log = &log };

    (void)st;
    TRY(lost_parts_read(&l, ref, cancel, e));

    /* Each row with another parent, as bytes of its line. */
    if (!l.n)
        return ERR_OK;

    AUTO_ARENA a = { 0 };
    struct log_damage *row = arena_zalloc(&a, l.n * sizeof *row);

    NEED(row);
    for (size_t i = 0; i < l.n; i++) {
        const struct joint *j = &l.joint[i];
        struct slice uuid;

        TRY(claude_node_uuid(l.log, j->before, &a, &uuid, e));
        TRY(lost_path_row(&l.log->file, l.log->chain.node[j->node].line, "parentUuid", uuid, &a,
                          &row[i], e));
    }
    return lost_path_plan(&l.log->file, row, l.n, c, e);
}

/* ---- how much it is ---- */

static enum err_code lost_build_chain(struct claude_log *log, struct err *e)
{
    chain_fini(&log->chain);
    return chain_build(&log->chain, &log->file.index, 0, CLAUDE_MAIN_KINDS, e);
}

enum err_code claude_count_lost(struct claude_log *log, size_t *restored, size_t *lost,
                                struct err *e)
{
    CLEANUP(lost_parts_fini) struct lost_parts l = { .log = log };
    size_t joined, most = 0;

    *restored = *lost = 0;
    TRY(lost_build_chain(log, e));
    TRY(lost_parts_find(&l, e));
    if (!l.n)
        return ERR_OK;

    /* First what a resume of the joined conversation would restore, because the joints are made in this chain. */
    lost_unmark(&log->chain);
    TRY(claude_count_messages(log, &joined, e));
    TRY(lost_build_chain(log, e));
    TRY(claude_count_messages(log, restored, e));

    /* Below a compaction that is avoided a resume would restore the summary instead of the messages. */
    for (size_t i = 0; i < l.n; i++)
        most = l.joint[i].left_out > most ? l.joint[i].left_out : most;
    *lost = joined > *restored ? joined - *restored : most;
    return ERR_OK;
}
