#include "store/systems/claude/chain/conversation_path.h"

#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/discover.h"

/* If a row names a parent that is lost, was not loaded or is already on the path, the conversation continues with the
 * row of the nearest earlier time, as in the client (claude.md D): at most five seconds earlier, of the same side, of
 * any type, not yet on the path, and the first of several rows with the same time. A later row would put an answer
 * before itself. */

enum { GAP_MOST_MS = 5000 };

struct claude_timed {
    int64_t time_ms;
    uint32_t first; /* place of its id in the order of ids */
    uint32_t node;
    size_t next; /* index that may still be free, so that used ones are skipped in one step */
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

static enum err_code sort_rows(struct claude_gaps *g, const struct claude_log *log, bool side)
{
    struct claude_timed *row = malloc((log->chain.n + 1) * sizeof *row);

    if (!row)
        return ERR_NOMEM;

    const struct chain *c = &log->chain;
    size_t n = 0;

    for (uint32_t i = 0; i < c->n; i++) {
        int64_t time_ms = chain_has_row(c, i) ? claude_node_line(log, i)->time_ms : TIME_NONE;

        if (time_ms != TIME_NONE && is_side(log, i) == side)
            row[n++] = (struct claude_timed){ time_ms, c->node[i].first, i, 0 };
    }

    if (n)
        qsort(row, n, sizeof *row, latest_first);
    for (size_t i = 0; i < n; i++)
        row[i].next = i;
    g->row[side] = row;
    g->n[side] = n;
    return ERR_OK;
}

/* The first place from `at` on whose row is not on the path; n: none. */
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

static enum err_code find_in_gap(struct claude_gaps *g, const struct claude_log *log, uint32_t node,
                                 uint32_t *before)
{
    int64_t time_ms = claude_node_line(log, node)->time_ms;
    bool side = is_side(log, node);

    *before = CHAIN_NONE;
    if (time_ms == TIME_NONE)
        return ERR_OK;
    if (!g->row[side] && sort_rows(g, log, side))
        return ERR_NOMEM;
    struct claude_timed *row = g->row[side]; /* from the newest to the oldest */
    size_t lo = 0, hi = g->n[side];

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (row[mid].time_ms > time_ms)
            lo = mid + 1;
        else
            hi = mid;
    }
    size_t at = free_place(row, g->n[side], &log->chain, lo);

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
    if (!claude_has_parent(log, node) ||
        (*before != CHAIN_NONE && !(c->mark[*before] & NODE_LISTED)))
        return ERR_OK;
    *before = CHAIN_NONE;
    return log->partial ? ERR_OK : find_in_gap(g, log, node, before);
}

static void reverse_nodes(uint32_t *node, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t t = node[i];

        node[i] = node[n - 1 - i];
        node[n - 1 - i] = t;
    }
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
    reverse_nodes(node, count);
    *path = node;
    *n = count;
    return ERR_OK;
}

/* Continues the path above a node. A missing parent and a cycle are bridged as the client bridges them. Where the
 * client would start over, and above a boundary without a link to earlier rows, the path continues with the previous
 * row in the file, because a person wants to read it. In a tail that row may be outside. */
static enum err_code step_up(struct claude_conversation_path *walk, uint32_t *node, struct err *e)
{
    struct chain *c = &walk->log.chain;
    uint32_t at = *node;
    bool root = !claude_has_parent(&walk->log, at);
    enum err_code rc = claude_logical_parent(&walk->log, at, node, e);

    if (rc || (*node != CHAIN_NONE && !(c->mark[*node] & NODE_LISTED)))
        return rc;
    bool seam = root && claude_line_is(claude_node_line(&walk->log, at), CLAUDE_SYSTEM) &&
                (claude_node_line(&walk->log, at)->marks & (MARK_COMPACT | MARK_LOGICAL));

    *node = CHAIN_NONE;
    if (walk->partial || (root && !seam))
        return ERR_OK;
    if (!root) {
        walk->gap[at] = 1;
        if (find_in_gap(&walk->gaps, &walk->log, at, node))
            return err_nomem(e);
    }
    /* The nearest message above this line that is not on the path yet. */
    for (size_t i = c->node[at].line; *node == CHAIN_NONE && i-- > 0;) {
        const struct index_line *line = claude_line(&walk->log, i);

        if (!claude_line_is_message(line) || line->marks & (MARK_SIDECHAIN | MARK_TEAM))
            continue;
        uint32_t above = claude_line_node(&walk->log, i);

        if (above != CHAIN_NONE && c->node[above].line == i && !(c->mark[above] & NODE_LISTED))
            *node = above;
    }
    return ERR_OK;
}

enum err_code claude_conversation_path_open(struct claude_conversation_path *walk, const char *path,
                                            const struct claude_log_want *want, struct err *e)
{
    struct claude_conversation_path w = { .leaf = CHAIN_NONE };
    enum err_code rc = claude_log_open(&w.log, path, want, e);

    if (rc)
        return rc;
    w.partial = w.log.partial;
    w.gap = calloc(w.log.chain.n + 1, 1);
    rc = w.gap ? claude_resume_leaf(&w.log, &w.leaf, &w.cleared, e) : err_nomem(e);

    /* A person wants to read the conversation even if a resume would start over. */
    if (!rc && w.leaf == CHAIN_NONE)
        rc = claude_message_leaf(&w.log, &w.leaf, e);
    if (rc)
        claude_conversation_path_close(&w);
    else
        *walk = w;
    return rc;
}

void claude_conversation_path_close(struct claude_conversation_path *walk)
{
    claude_log_close(&walk->log);
    free(walk->path);
    free(walk->gap);
}

enum err_code claude_conversation_path_go_to(struct claude_conversation_path *walk, uint32_t leaf,
                                             struct err *e)
{
    for (size_t i = 0; i < walk->log.chain.n; i++)
        walk->log.chain.mark[i] &= (uint8_t)~NODE_LISTED;
    walk->n = 0;

    enum err_code rc = ERR_OK;

    for (uint32_t at = leaf; !rc && at != CHAIN_NONE;) {
        if (!array_reserve(walk->path, walk->cap, walk->n + 1))
            rc = err_nomem(e);
        else {
            walk->path[walk->n++] = at;
            walk->log.chain.mark[at] |= NODE_LISTED;
            rc = ERR_OK;
        }
        if (!rc)
            rc = step_up(walk, &at, e);
    }
    reverse_nodes(walk->path, walk->n);

    claude_gaps_fini(&walk->gaps);
    walk->gaps = (struct claude_gaps){ 0 };
    if (rc || leaf == CHAIN_NONE)
        return rc;
    rc = claude_parallel(&walk->log, &walk->path, &walk->n, e);
    walk->cap =
        walk->n; /* the path may have been replaced by one that is just as long as it has to be */
    return rc;
}

/* Returns true if the node is a message of the conversation, not of a sub-agent, and not on the
 * path. */
static bool claude_conversation_path_lacks(const struct claude_conversation_path *walk,
                                           uint32_t node)
{
    const struct chain *c = &walk->log.chain;

    if (!chain_has_row(c, node) || c->mark[node] & NODE_LISTED)
        return false;
    const struct index_line *line = claude_node_line(&walk->log, node);

    return claude_line_is_message(line) && !(line->marks & (MARK_SIDECHAIN | MARK_TEAM));
}

bool claude_conversation_path_mark_branches(struct claude_conversation_path *walk)
{
    struct chain *c = &walk->log.chain;
    bool any = false;

    for (uint32_t i = 0; i < c->n; i++)
        c->mark[i] &= (uint8_t) ~(NODE_BRANCH | NODE_FORK);
    for (uint32_t i = 0; i < c->n; i++) {
        if (!claude_conversation_path_lacks(walk, i))
            continue;
        uint32_t at = chain_parent(c, i);

        any = true;
        while (at != CHAIN_NONE && !(c->mark[at] & (NODE_LISTED | NODE_BRANCH))) {
            c->mark[at] |= NODE_BRANCH;
            at = chain_parent(c, at);
        }
        if (at != CHAIN_NONE && c->mark[at] & NODE_LISTED)
            c->mark[at] |= NODE_FORK;
    }
    return any;
}

/* ---- branches ---- */

/* A message that is not on the path, and that no other such message follows, is the end of a branch. Branches may have
 * branches of their own; each is described from where it leaves the path. */

enum {
    FIRST_MESSAGES = 8, /* rows to read in search of the prompt with which a branch begins */
    LAST_ROWS = 64,     /* user rows to read in search of its last prompt */
    BRANCHES_MAX = 500, /* the newest ones; each of them is walked on its own */
};

struct branch_search {
    struct claude_conversation_path walk;
    struct branch_list *list; /* the result */
};

/* Finds the message of the path above a node; CHAIN_NONE: the branch has a root of its own, or is a circle. *messages
 * is the number of messages in between; `first` receives the uppermost *firsts of them, uppermost first. */
static uint32_t climb_to_path(const struct branch_search *f, uint32_t node, size_t *messages,
                              uint32_t *first, size_t *firsts)
{
    const struct chain *c = &f->walk.log.chain;
    uint32_t ring[FIRST_MESSAGES];
    size_t n = 0;

    for (size_t steps = 0; node != CHAIN_NONE && !(c->mark[node] & NODE_LISTED) && steps < c->n;
         steps++) {
        if (claude_conversation_path_lacks(&f->walk, node))
            ring[n++ % FIRST_MESSAGES] = node;
        node = chain_parent(c, node);
    }
    *messages = n;
    *firsts = n < FIRST_MESSAGES ? n : FIRST_MESSAGES;
    for (size_t i = 0; i < *firsts; i++)
        first[i] = ring[(n - 1 - i) % FIRST_MESSAGES];
    return node;
}

/* The prompt in a user row; empty if the row is a tool result or the like. */
static enum err_code claude_read_row(struct branch_search *f, uint32_t node, struct slice *out,
                                     struct err *e)
{
    struct claude_log *log = &f->walk.log;
    struct prompt p = { .text = { 0 } };
    struct slice row;
    enum err_code rc = claude_node_row(log, node, &row, e);

    if (!rc && !prompt_of_row(row, &f->list->arena, &p))
        rc = err_nomem(e);
    if (rc || (p.text.n == 0 && p.command.n == 0))
        return rc;
    *out = arena_copy(&f->list->arena,
                      prompt_or_command(&p)); /* the row is overwritten by the next one */
    return out->p ? ERR_OK : err_nomem(e);
}

static enum err_code claude_read_id(struct branch_search *f, uint32_t node, struct slice *out,
                                    struct err *e)
{
    struct slice row, id;
    enum err_code rc = claude_node_row(&f->walk.log, node, &row, e);

    if (rc || !json_get_text(row, "uuid", &f->list->arena, &id))
        return rc;
    *out = arena_copy(&f->list->arena, id);
    return out->p ? ERR_OK : err_nomem(e);
}

static enum err_code claude_add_branch(struct branch_search *f, uint32_t leaf, struct err *e)
{
    const struct chain *c = &f->walk.log.chain;
    struct branch_list *list = f->list;
    struct branch b = { .leaf = chain_id(c, leaf),
                        .time_ms = claude_node_line(&f->walk.log, leaf)->time_ms };
    uint32_t first[FIRST_MESSAGES];
    size_t firsts;
    uint32_t from = climb_to_path(f, leaf, &b.messages, first, &firsts);

    if (from != CHAIN_NONE)
        b.from = chain_id(c, from);

    /* The first prompt among these rows. */
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < firsts && !rc && b.prompt.n == 0; i++)
        if (claude_node_line(&f->walk.log, first[i])->kind == CLAUDE_USER)
            rc = claude_read_row(f, first[i], &b.prompt, e);

    /* The last prompt at or above the leaf, on the branch or before it. */
    int read = 0;
    uint32_t at = leaf;

    for (size_t steps = 0; at != CHAIN_NONE && steps < c->n && read < LAST_ROWS && !rc && !b.last.n;
         steps++, at = chain_parent(c, at))
        if (claude_node_line(&f->walk.log, at)->kind == CLAUDE_USER) {
            rc = claude_read_row(f, at, &b.last, e);
            read++;
        }
    if (!rc)
        rc = claude_read_id(f, leaf, &b.leaf_name, e);
    if (!rc && from != CHAIN_NONE)
        rc = claude_read_id(f, from, &b.from_name, e);
    struct branch *more = arena_grow(&list->arena, list->branch, list->n, sizeof *more);

    if (rc || !more)
        return rc ? rc : err_nomem(e);
    list->branch = more;
    list->branch[list->n++] = b;
    return ERR_OK;
}

enum err_code claude_branches(const struct store *st, const struct session_ref *ref,
                              const atomic_bool *cancel, struct branch_list *out, struct err *e)
{
    const struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS, .stop = cancel };
    struct branch_list list = { 0 };
    struct branch_search f = { .list = &list };
    enum err_code rc = claude_conversation_path_open(&f.walk, ref->path.p, &want, e);

    (void)st;
    if (rc)
        return err_wrap(e, rc, "look for branches");
    rc = claude_conversation_path_go_to(&f.walk, f.walk.leaf, e);
    claude_conversation_path_mark_branches(&f.walk);
    const struct chain *c = &f.walk.log.chain;

    for (size_t i = c->n;
         i-- > 0 && !rc && list.n < BRANCHES_MAX;) { /* the newest are last in the file */
        if (cancel && atomic_load(cancel))
            rc = ERR_CANCELLED;
        else if (claude_conversation_path_lacks(&f.walk, (uint32_t)i) &&
                 !(c->mark[i] & NODE_BRANCH))
            rc = claude_add_branch(&f, (uint32_t)i, e);
    }
    claude_conversation_path_close(&f.walk);
    if (rc)
        branch_list_fini(&list);
    else
        *out = list;
    return rc ? err_wrap(e, rc, "look for branches") : ERR_OK;
}
