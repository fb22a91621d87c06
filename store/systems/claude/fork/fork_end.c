#include <stdlib.h>

#include "store/systems/claude/fork/fork_cut.h"

/* A reader goes by the last row that nothing follows, so a copy of the rows up to a message need not end with that
 * message: rows that stand before it may follow it, or be the end of a branch. The vendor's answer (asked of its SDK,
 * row by row):
 *
 *   wanted   what a reader would show if one more row followed the last one
 *   live     the wanted rows, the last row, and all above them
 *   loose    any other row from where the wanted ones begin
 *
 *   1. a loose compaction goes, unless it keeps a live row
 *   2. while a reader would show something else than what is wanted: the row it goes by goes, if it is loose
 *
 * What goes takes the loose rows above it along, and those that follow any of them, in one pass down the file. */
enum { WANTED = 1 << 0, LIVE = 1 << 1, LEFT = 1 << 2 };

/* Each round takes a look through the whole file. A session with more loose ends than this is no session of the
 * agent's; its copy may end at another row. */
enum { ROUNDS_MOST = 1000 };

struct ending {
    struct fork_cut *c;
    struct chain all; /* as the file is written, compactions not followed; nothing left out yet */
    uint8_t *is;      /* by node of it */
    size_t wanted;    /* rows */
    size_t start;     /* line of the first of them */
};

static const struct index *lines(const struct ending *x)
{
    return &x->c->f->log.file.index;
}

static uint32_t node_of(const struct ending *x, struct id128 id)
{
    return id128_none(id) ? CHAIN_NONE : chain_find(&x->all, id);
}

static void mark_live(struct ending *x, uint32_t node)
{
    for (; node != CHAIN_NONE && !(x->is[node] & LIVE); node = chain_parent(&x->all, node))
        x->is[node] |= LIVE;
}

/* What a reader shows of the view with one more row behind the last one. */
static enum err_code shown_with_one_more(struct ending *x, struct fork_shown *shown, struct err *e)
{
    struct index *view = &x->c->view.file.index;
    struct index_line *more = &view->line[view->n];
    const struct index_line *last = claude_line(&x->c->f->log, x->c->end);
    uuid_t id;

    uuid_generate_random(id);
    *more = *last;
    more->id = id128_of((struct slice){ (const char *)id, sizeof id });
    more->parent = last->id;
    more->kind = CLAUDE_SYSTEM;
    more->marks = MARK_PARENT;
    view->n++;
    enum err_code rc = fork_cut_shown(x->c, shown, e);

    view->n--;
    return rc;
}

/* False (and nothing to do): a reader would show nothing. */
static enum err_code mark_shown_rows(struct ending *x, bool *any, struct err *e)
{
    struct fork_shown shown;
    enum err_code rc = shown_with_one_more(x, &shown, e);

    if (rc)
        return rc;
    *any = shown.n > 0;
    x->wanted = shown.n;
    mark_live(x, node_of(x, claude_line(&x->c->f->log, x->c->end)->id));
    for (size_t i = 0; i < shown.n; i++) {
        uint32_t node = node_of(x, shown.id[i]);

        x->is[node] |= WANTED;
        if (i == 0)
            x->start = x->all.node[node].first;
        mark_live(x, node);
    }
    free(shown.id);
    return ERR_OK;
}

static bool is_loose(const struct ending *x, uint32_t node)
{
    return !(x->is[node] & LIVE) && x->all.node[node].first >= x->start;
}

static void leave_out(struct ending *x, uint32_t node)
{
    for (; node != CHAIN_NONE && is_loose(x, node) && !(x->is[node] & LEFT);
         node = chain_parent(&x->all, node))
        x->is[node] |= LEFT;
    for (size_t i = 0; i <= x->c->end; i++) {
        const struct index_line *l = &lines(x)->line[i];
        uint32_t own = node_of(x, l->id), up = node_of(x, l->parent);

        if (own != CHAIN_NONE && up != CHAIN_NONE && (x->is[up] & LEFT))
            x->is[own] |= LEFT;
    }
    for (size_t i = 0; i <= x->c->end; i++)
        if (fork_cut_has(x->c, i) && (x->is[node_of(x, lines(x)->line[i].id)] & LEFT))
            fork_cut_leave_out(x->c, i);
}

static bool keeps_live(const struct ending *x, const struct fork_boundary *b)
{
    for (size_t i = 0; i < b->n; i++) {
        uint32_t node = node_of(x, b->kept[i]);

        if (node != CHAIN_NONE && (x->is[node] & LIVE))
            return true;
    }
    return false;
}

/* Which of them go is decided by what is live alone; so all are asked before the first one goes. */
static enum err_code drop_compactions(struct ending *x, struct err *e)
{
    uint8_t *gone = calloc(x->c->end + 1, 1);
    enum err_code rc = gone ? ERR_OK : err_nomem(e);

    for (size_t i = 0; i <= x->c->end && !rc; i++) {
        struct fork_boundary b;

        rc = fork_boundary_read(x->c, i, &b, e);
        if (!rc && b.is)
            gone[i] = is_loose(x, node_of(x, lines(x)->line[i].id)) && !keeps_live(x, &b);
    }
    for (size_t i = 0; i <= x->c->end && !rc; i++)
        if (gone[i])
            leave_out(x, node_of(x, lines(x)->line[i].id));
    free(gone);
    return rc;
}

static bool as_wanted(const struct ending *x, const struct fork_shown *shown)
{
    bool same = shown->n == x->wanted;

    for (size_t i = 0; i < shown->n && same; i++)
        same = x->is[node_of(x, shown->id[i])] & WANTED;
    return same;
}

static enum err_code drop_ends(struct ending *x, struct err *e)
{
    for (int round = 0; round < ROUNDS_MOST; round++) {
        struct fork_shown shown;
        enum err_code rc = fork_cut_shown(x->c, &shown, e);

        if (rc)
            return rc;
        uint32_t terminal = node_of(x, shown.terminal);
        bool fine = as_wanted(x, &shown);

        free(shown.id);
        if (fine || terminal == CHAIN_NONE || !is_loose(x, terminal))
            break;
        leave_out(x, terminal);
    }
    return ERR_OK;
}

enum err_code fork_end(struct fork_cut *c, struct err *e)
{
    struct ending x = { .c = c };
    bool any = false;
    enum err_code rc = chain_build(&x.all, &c->view.file.index, 0, CLAUDE_MAIN_KINDS, e);

    if (rc)
        return rc;
    /* The copy's rows have no team, no side and no named source. */
    c->view.plain = true;
    for (size_t i = 0; i <= c->end; i++)
        c->view.file.index.line[i].marks &= (uint16_t)~MARK_TEAM;
    x.is = calloc(x.all.n + 1, 1);
    if (!x.is)
        rc = err_nomem(e);
    if (!rc)
        rc = mark_shown_rows(&x, &any, e);
    if (!rc && any)
        rc = drop_compactions(&x, e);
    if (!rc && any)
        rc = drop_ends(&x, e);
    chain_fini(&x.all);
    free(x.is);
    return rc;
}
