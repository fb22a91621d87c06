#include "store/systems/claude/claude.h"

#include <stdlib.h>

#include "store/systems/claude/facts.h"
#include "store/systems/claude/leaf.h"
#include "store/systems/claude/list.h"
#include "store/systems/claude/log.h"

/* The conversation as a person reads it: what a resume would continue, and all that came before it. So the
 * way up goes on above a compaction boundary, and where the chain is broken it goes on with the row
 * before in the file. */

enum { TAIL_GROWS = 16 }; /* how much more than asked for a tail may take to hold one row at all */

struct loading {
    struct claude_log log;
    uint32_t *path; /* owned; first from the leaf up, then turned round */
    size_t n, cap;
    uint8_t *gap; /* owned; by node: its parent is missing */
    bool partial;
};

static enum err_code add_node(struct loading *l, uint32_t node, struct err *e)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap + l->cap / 2 : 256;
        uint32_t *more =
            cap > SIZE_MAX / sizeof *more ? NULL : realloc(l->path, cap * sizeof *more);

        if (!more)
            return err_set(e, ERR_NOMEM, l->log.file.path, "follow the conversation");
        l->path = more;
        l->cap = cap;
    }
    l->path[l->n++] = node;
    l->log.chain.mark[node] |= NODE_LISTED;
    return ERR_OK;
}

/* The nearest message above this line that is not on the way yet. */
static uint32_t before_in_file(const struct claude_log *log, uint32_t node)
{
    const struct chain *c = &log->chain;

    for (size_t i = c->node[node].line; i-- > 0;) {
        const struct index_line *line = claude_line(log, i);
        uint32_t at = claude_line_speaks(line) && !(line->marks & (MARK_SIDECHAIN | MARK_TEAM)) &&
                              !id128_none(line->id)
                          ? chain_find(c, line->id)
                          : CHAIN_NONE;

        if (at != CHAIN_NONE && c->node[at].line == i && !(c->mark[at] & NODE_LISTED))
            return at;
    }
    return CHAIN_NONE;
}

/* Where the way goes on above a node. A boundary whose past is not named, a parent that is not there and a
 * circle are all left by the row before in the file, which in a tail may lie outside. */
static enum err_code step(struct loading *l, uint32_t *node, struct err *e)
{
    struct chain *c = &l->log.chain;
    uint32_t at = *node;
    bool root = c->node[at].parent == CHAIN_NONE;
    enum err_code rc = claude_before(&l->log, at, node, e);

    if (rc || (*node != CHAIN_NONE && !(c->mark[*node] & NODE_LISTED)))
        return rc;
    bool seam = root && claude_line_is(claude_node_line(&l->log, at), CLAUDE_SYSTEM) &&
                (claude_node_line(&l->log, at)->marks & (MARK_COMPACT | MARK_LOGICAL));

    *node = CHAIN_NONE;
    if (l->partial || (root && !seam))
        return ERR_OK;
    if (!root)
        l->gap[at] = 1;
    *node = before_in_file(&l->log, at);
    return ERR_OK;
}

static void turn_round(uint32_t *node, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t t = node[i];

        node[i] = node[n - 1 - i];
        node[n - 1 - i] = t;
    }
}

static enum err_code find_leaf(struct loading *l, uint32_t *leaf, struct err *e)
{
    bool cleared;
    enum err_code rc = claude_resume_leaf(&l->log, leaf, &cleared, e);

    /* A person wants to read what is there, also when a resume would begin anew. */
    if (!rc && *leaf == CHAIN_NONE)
        rc = claude_message_leaf(&l->log, leaf, e);
    return rc;
}

static enum err_code climb(struct loading *l, uint32_t leaf, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (uint32_t at = leaf; !rc && at != CHAIN_NONE;) {
        rc = add_node(l, at, e);
        if (!rc)
            rc = step(l, &at, e);
    }
    turn_round(l->path, l->n);
    return rc;
}

/* Marks the rows of the way from which something leaves that is not shown. */
static void mark_forks(struct claude_log *log)
{
    struct chain *c = &log->chain;

    for (uint32_t i = 0; i < c->n; i++)
        c->mark[i] &= (uint8_t)~NODE_BRANCH;
    for (uint32_t i = 0; i < c->n; i++) {
        if (!chain_has_row(c, i) || c->mark[i] & NODE_LISTED)
            continue;
        const struct index_line *line = claude_node_line(log, i);
        uint32_t at = i;

        if (!claude_line_speaks(line) || line->marks & (MARK_SIDECHAIN | MARK_TEAM))
            continue;
        while (at != CHAIN_NONE && !(c->mark[at] & (NODE_LISTED | NODE_BRANCH))) {
            c->mark[at] |= NODE_BRANCH;
            at = chain_up(c, at);
        }
        if (at != CHAIN_NONE && c->mark[at] & NODE_LISTED)
            c->mark[at] |= NODE_FORK;
    }
}

static uint8_t kind_of(const struct index_line *line)
{
    switch (line->kind) {
    case CLAUDE_USER: return MESSAGE_USER;
    case CLAUDE_ASSISTANT: return MESSAGE_ASSISTANT;
    case CLAUDE_SYSTEM: return MESSAGE_SYSTEM;
    case CLAUDE_ATTACHMENT: return MESSAGE_ATTACHMENT;
    default: return MESSAGE_OTHER;
    }
}

static enum err_code is_seam(struct claude_log *log, uint32_t line, bool *seam, struct err *e)
{
    const struct index_line *l = claude_line(log, line);
    struct slice row;

    *seam = false;
    if (!claude_line_is(l, CLAUDE_SYSTEM) ||
        (claude_line_has(l, MARK_PARENT) && !claude_line_has(l, MARK_COMPACT)))
        return ERR_OK;
    enum err_code rc = claude_log_row(log, line, &row, e);

    *seam = !rc && claude_is_boundary(row);
    return rc;
}

static enum err_code add_message(struct loading *l, struct transcript *t, uint32_t line,
                                 struct err *e)
{
    const struct index_line *ix = claude_line(&l->log, line);
    uint32_t node = id128_none(ix->id) ? CHAIN_NONE : chain_find(&l->log.chain, ix->id);
    struct message m = { .offset = ix->offset,
                         .length = ix->length,
                         .line = line,
                         .time_ms = ix->time_ms,
                         .id = ix->id,
                         .kind = kind_of(ix) };
    bool seam;
    enum err_code rc = is_seam(&l->log, line, &seam, e);
    unsigned flags = 0;

    flags |= claude_line_has(ix, MARK_META) ? MESSAGE_META : 0;
    flags |= claude_line_has(ix, MARK_SUMMARY) ? MESSAGE_SUMMARY : 0;
    flags |= !rc && seam ? MESSAGE_SEAM : 0;
    if (ix->state == LINE_BROKEN) {
        flags = MESSAGE_BROKEN;
        m.kind = MESSAGE_OTHER;
    } else if (node != CHAIN_NONE) {
        flags |= l->log.chain.mark[node] & NODE_FORK ? MESSAGE_BRANCHED : 0;
        flags |= node < l->log.chain.n && l->gap[node] ? MESSAGE_GAP : 0;
    }
    m.flags = (uint8_t)flags;
    t->message[t->n++] = m;
    return rc;
}

static bool is_broken(const struct index *ix, size_t line)
{
    bool torn = ix->torn_tail && line + 1 == ix->n;

    return ix->line[line].state == LINE_BROKEN && !torn;
}

/* The rows of the way and what hangs behind it, with the lines that nobody can read in their places. */
static enum err_code fill(struct loading *l, const struct claude_list *behind, struct transcript *t,
                          struct err *e)
{
    const struct index *ix = &l->log.file.index;
    size_t broken = 0, n = l->n + behind->n;
    enum err_code rc = ERR_OK;

    t->message = malloc((n + t->broken + 1) * sizeof *t->message);
    if (!t->message)
        return err_set(e, ERR_NOMEM, t->path, "load the conversation");
    for (size_t i = 0; !rc && i < n; i++) {
        uint32_t line = i < l->n ? l->log.chain.node[l->path[i]].line : behind->item[i - l->n].line;

        for (; !rc && broken < line; broken++)
            if (is_broken(ix, broken))
                rc = add_message(l, t, (uint32_t)broken, e);
        if (!rc && !claude_line_is(&ix->line[line], CLAUDE_PROGRESS))
            rc = add_message(l, t, line, e);
    }
    for (; !rc && broken < ix->n; broken++)
        if (is_broken(ix, broken))
            rc = add_message(l, t, (uint32_t)broken, e);
    return rc;
}

static enum err_code make(struct loading *l, struct transcript *t, struct err *e)
{
    struct claude_list behind = { 0 };
    const struct index *ix = &l->log.file.index;
    uint32_t leaf = CHAIN_NONE;
    enum err_code rc = find_leaf(l, &leaf, e);

    l->gap = calloc(l->log.chain.n + 1, 1);
    if (!l->gap)
        rc = err_set(e, ERR_NOMEM, t->path, "load the conversation");
    if (!rc)
        rc = climb(l, leaf, e);
    if (!rc && leaf != CHAIN_NONE)
        rc = claude_parallel(&l->log, &l->path, &l->n, e);
    if (!rc && leaf != CHAIN_NONE)
        rc = claude_trailing(&l->log, leaf, &behind, e);
    if (!rc) {
        mark_forks(&l->log);
        t->partial = l->partial;
        t->torn_tail = ix->torn_tail;
        t->lines = ix->n;
        for (size_t i = 0; i < ix->n; i++)
            t->broken += is_broken(ix, i);
        t->id = l->log.file.file.id;
        t->size = t->id.size;
        rc = fill(l, &behind, t, e);
    }
    claude_list_fini(&behind);
    return rc;
}

static enum err_code load(const struct session_ref *ref, const struct claude_log_want *want,
                          struct transcript **out, struct err *e)
{
    struct loading l = { 0 };
    struct transcript *t = calloc(1, sizeof *t);
    enum err_code rc = ERR_OK;

    if (!t || !(t->path = strdup(ref->path.p)))
        rc = err_set(e, ERR_NOMEM, ref->path.p, "load the conversation");
    if (rc)
        goto done;
    rc = claude_log_open(&l.log, t->path, want, e);
    if (rc)
        goto done;
    const struct index *ix = &l.log.file.index;

    l.partial = want->tail && (ix->n ? ix->line[0].offset > 0 : l.log.file.file.id.size > 0);
    rc = make(&l, t, e);
    claude_log_close(&l.log);
    free(l.path);
    free(l.gap);
done:
    if (rc)
        transcript_free(t);
    else
        *out = t;
    return rc ? err_wrap(e, rc, "load the conversation") : ERR_OK;
}

enum err_code claude_load(const struct store *st, const struct session_ref *ref,
                          const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)st;
    return load(ref, &(struct claude_log_want){ .kinds = CLAUDE_MAIN_KINDS, .stop = cancel }, out,
                e);
}

/* One row may be larger than the window: then the window grows, up to a limit. */
enum err_code claude_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                          struct transcript **out, struct err *e)
{
    struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS, .tail = bytes ? bytes : 1 };
    size_t most = want.tail < SIZE_MAX / TAIL_GROWS ? want.tail * TAIL_GROWS : want.tail;

    (void)st;
    for (;;) {
        struct transcript *t;
        enum err_code rc = load(ref, &want, &t, e);

        if (rc)
            return rc;
        if (t->n || !t->partial || want.tail >= most) {
            *out = t;
            return ERR_OK;
        }
        transcript_free(t);
        want.tail = want.tail > most / 4 ? most : want.tail * 4;
    }
}
