#include "store/systems/claude/chain/leaf.h"

#include <stdlib.h>

#include "lite/base/time.h"

/* A row that names a parent which is lost, was not loaded or is on the path already goes on from the row of the nearest
 * earlier time, as the client does (claude.md D): at most five seconds before, of the same side, of any type,
 * not on the path yet, and of rows of one time the first. A later row would make an answer its own past. */

enum { GAP_MOST_MS = 5000 };

struct claude_timed {
    int64_t time_ms;
    uint32_t first; /* where its id stands in the order of ids */
    uint32_t node;
    size_t next; /* place that may still be free: taken ones are skipped in one step */
};

static int latest_first(const void *a, const void *b)
{
    const struct claude_timed *x = a, *y = b;

    if (x->time_ms != y->time_ms)
        return x->time_ms > y->time_ms ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static bool is_side(const struct claude_log *log, uint32_t node)
{
    return claude_line_has(claude_node_line(log, node), MARK_SIDECHAIN);
}

static size_t collect_rows(const struct claude_log *log, bool side, struct claude_timed *row)
{
    const struct chain *c = &log->chain;
    size_t n = 0;

    for (uint32_t i = 0; i < c->n; i++) {
        int64_t time_ms = chain_has_row(c, i) ? claude_node_line(log, i)->time_ms : TIME_NONE;

        if (time_ms != TIME_NONE && is_side(log, i) == side)
            row[n++] = (struct claude_timed){ time_ms, c->node[i].first, i, 0 };
    }
    return n;
}

static enum err_code sort_rows(struct claude_gaps *g, const struct claude_log *log, bool side)
{
    struct claude_timed *row = malloc((log->chain.n + 1) * sizeof *row);

    if (!row)
        return ERR_NOMEM;
    size_t n = collect_rows(log, side, row);

    if (n)
        qsort(row, n, sizeof *row, latest_first);
    for (size_t i = 0; i < n; i++)
        row[i].next = i;
    g->row[side] = row;
    g->n[side] = n;
    return ERR_OK;
}

/* The first place from `at` on whose row is not on the path; n: there is none. */
static size_t free_place(struct claude_timed *row, size_t n, const struct chain *c, size_t at)
{
    size_t end = at;

    while (end < n && (row[end].next != end || c->mark[row[end].node] & NODE_LISTED)) {
        if (row[end].next == end)
            row[end].next = end + 1;
        end = row[end].next;
    }
    while (at < end) {
        size_t next = row[at].next;

        row[at].next = end;
        at = next;
    }
    return end;
}

static size_t first_not_after(const struct claude_timed *row, size_t n, int64_t time_ms)
{
    size_t lo = 0, hi = n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (row[mid].time_ms > time_ms)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

enum err_code claude_gaps_find(struct claude_gaps *g, const struct claude_log *log, uint32_t node,
                               uint32_t *before)
{
    int64_t time_ms = claude_node_line(log, node)->time_ms;
    bool side = is_side(log, node);

    *before = CHAIN_NONE;
    if (time_ms == TIME_NONE)
        return ERR_OK;
    if (!g->row[side] && sort_rows(g, log, side))
        return ERR_NOMEM;
    struct claude_timed *row = g->row[side];
    size_t at = free_place(row, g->n[side], &log->chain, first_not_after(row, g->n[side], time_ms));

    if (at < g->n[side] && row[at].time_ms >= time_ms - GAP_MOST_MS)
        *before = row[at].node;
    return ERR_OK;
}

void claude_gaps_fini(struct claude_gaps *g)
{
    free(g->row[0]);
    free(g->row[1]);
}

enum err_code claude_resume_parent(struct claude_gaps *g, const struct claude_log *log,
                                   uint32_t node, uint32_t *before)
{
    const struct chain *c = &log->chain;

    *before = chain_parent(c, node);
    if (!claude_follows(log, node) || (*before != CHAIN_NONE && !(c->mark[*before] & NODE_LISTED)))
        return ERR_OK;
    return claude_gaps_find(g, log, node, before);
}

enum err_code claude_resume_path(struct claude_log *log, uint32_t leaf, uint32_t **path, size_t *n,
                                 struct err *e)
{
    struct claude_gaps gaps = { 0 };
    uint32_t *node = malloc((log->chain.n + 1) * sizeof *node);
    size_t count = 0;
    enum err_code rc = node ? ERR_OK : ERR_NOMEM;

    for (uint32_t at = leaf; !rc && at != CHAIN_NONE;) {
        log->chain.mark[at] |= NODE_LISTED;
        node[count++] = at;
        rc = claude_resume_parent(&gaps, log, at, &at);
    }
    claude_gaps_fini(&gaps);
    if (rc) {
        free(node);
        return err_nomem(e);
    }
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t other = node[i];

        node[i] = node[count - 1 - i];
        node[count - 1 - i] = other;
    }
    *path = node;
    *n = count;
    return ERR_OK;
}
