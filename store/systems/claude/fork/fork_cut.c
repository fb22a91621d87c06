#include <stdlib.h>

#include "lite/base/array.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/fork/fork.h"

/* A fork up to a message is the file up to the first row of the message, without what would make a reader of the copy
 * end elsewhere or lose what came before (claude.md 4):
 *
 *   1. a compaction at the very end is dropped, with the rows after it that are not messages
 *   2. the summary of a compaction replaces all before it, so what that compaction kept is dropped: it comes later
 *   3. branches with which a reader would end instead are dropped (below) */

/* ---- the last row ---- */

/* The id of a queued command, and that of a command that was folded into a voice row. */
static enum err_code claude_source_of(struct fork_view *c, size_t line, struct id128 *source,
                                      struct err *e)
{
    const struct index_line *l = claude_line(&c->log, line);
    struct slice row;

    *source = (struct id128){ 0, 0 };
    if (!claude_line_is(l, CLAUDE_ATTACHMENT) && !claude_line_is(l, CLAUDE_SYSTEM))
        return ERR_OK;
    TRY(claude_log_row(&c->log, line, &row, e));
    if (claude_line_is(l, CLAUDE_ATTACHMENT) && claude_is_queued_command(row))
        *source = claude_id_at(row, "attachment.source_uuid", &c->log.arena);
    else if (claude_line_is(l, CLAUDE_SYSTEM) && claude_value_is(row, "subtype", "voice_call_talk"))
        *source = claude_id_at(row, "fold.command.source_uuid", &c->log.arena);
    return ERR_OK;
}

static size_t first_with(const struct fork_view *c, struct id128 id)
{
    for (size_t i = 0; i < c->log.file.index.n; i++)
        if (fork_view_has(c, i) && id128_eq(claude_line(&c->log, i)->id, id))
            return i;
    return SIZE_MAX;
}

/* The rows that have the requested id. */
struct asked {
    size_t row;     /* the first row with the id; SIZE_MAX: none */
    size_t *source; /* owned; rows whose queued command has it */
    size_t n, cap;
};

static bool is_source(const struct asked *a, size_t line)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->source[i] == line)
            return true;
    return false;
}

/* If there are several, the fork ends with the one that is shown, or that follows all shown rows. */
static enum err_code claude_choose_shown(struct fork_view *c, const struct asked *a, struct err *e)
{
    struct fork_shown shown;
    const struct chain *chain = &c->log.chain;
    size_t behind = 0, source = SIZE_MAX;
    bool row_shown = false;
    enum err_code rc = fork_view_shown(c, &shown, e);

    for (size_t i = 0; i < shown.n && !rc; i++) {
        const struct chain_node *node = &chain->node[chain_find(chain, shown.id[i])];

        if (node->first >= behind)
            behind = node->first + 1;
        row_shown = row_shown || (a->row != SIZE_MAX && node->first == a->row);
        if (source == SIZE_MAX && is_source(a, node->line))
            source = node->first;
    }
    free(shown.id);
    for (size_t i = behind; i < c->log.file.index.n; i++) {
        if (!fork_view_has(c, i))
            continue;
        if (a->row != SIZE_MAX &&
            id128_eq(claude_line(&c->log, i)->id, claude_line(&c->log, a->row)->id))
            row_shown = true;
        if (source == SIZE_MAX && is_source(a, i))
            source = first_with(c, claude_line(&c->log, i)->id);
    }
    if (a->row != SIZE_MAX && (row_shown || source == SIZE_MAX))
        source = a->row;
    c->end = source == SIZE_MAX ? a->source[0] : source;
    return rc;
}

static enum err_code find_cut_line(struct fork_view *c, struct slice at, struct err *e)
{
    struct asked a;

    /* The row itself, and the rows that a fork copied from it. */
    struct id128 id = id128_of(at);
    const struct index *ix = &c->log.file.index;
    enum err_code rc = ERR_OK;

    a = (struct asked){ .row = first_with(c, id) };
    for (size_t i = 0; i < ix->n && !rc; i++) {
        struct id128 source;

        if (!fork_view_has(c, i))
            continue;
        rc = claude_source_of(c, i, &source, e);
        if (rc || !id128_eq(source, id))
            continue;
        if (array_reserve(a.source, a.cap, a.n + 1))
            a.source[a.n++] = i;
        else
            rc = err_nomem(e);
    }

    if (!rc && a.row == SIZE_MAX && a.n == 0)
        rc = err_set(e, ERR_NOT_FOUND, c->f->ref->id.p,
                     "fork: message %.*s is not in the session; see reprise messages --plain",
                     SLICE_ARG(at));
    else if (!rc && a.n == 0)
        c->end = a.row;
    else if (!rc)
        rc = claude_choose_shown(c, &a, e);
    free(a.source);
    if (!rc)
        c->asked = claude_line(&c->log, c->end)->id;
    return rc;
}

/* ---- a compaction at the end ---- */

/* The last row before a line that the boundary keeps, or that has the other id; SIZE_MAX: none. */
static size_t last_kept(const struct fork_view *c, size_t before, const struct fork_boundary *b,
                        struct id128 other)
{
    for (size_t i = before; i-- > 0;) {
        struct id128 id = claude_line(&c->log, i)->id;

        if (fork_view_has(c, i) && (fork_boundary_keeps(b, id) || id128_eq(id, other)))
            return i;
    }
    return SIZE_MAX;
}

/* If the rows that a compaction kept were already kept by the one before it, they are after the
 * anchor of that one. */
static enum err_code last_anchor(struct fork_view *c, size_t before, struct id128 kept,
                                 size_t *anchor, struct err *e)
{
    struct fork_boundary b = { .is = false };
    enum err_code rc = ERR_OK;

    *anchor = SIZE_MAX;
    for (size_t i = before; i-- > 0 && !b.is && !rc;)
        rc = fork_boundary_read(c, i, &b, e);
    if (!rc && b.is && !b.going_back && fork_boundary_keeps(&b, kept) && !id128_none(b.anchor))
        *anchor = last_kept(c, before, &(struct fork_boundary){ .n = 0 }, b.anchor);
    return rc;
}

/* Step 1. If no row would remain before the compaction, it stays. */
static enum err_code drop_last_compaction(struct fork_view *c, struct err *e)
{
    struct fork_boundary b, kept = { .n = 0 };
    struct id128 logical = { 0, 0 };
    struct slice row;
    size_t line, last, anchor = SIZE_MAX;

    /* The first compaction after the last message; SIZE_MAX: none. */
    size_t at = c->end + 1;
    enum err_code rc = ERR_OK;

    while (at > 0 &&
           !(fork_view_has(c, at - 1) && claude_line_is_message(claude_line(&c->log, at - 1))))
        at--;
    for (line = SIZE_MAX; at <= c->end && line == SIZE_MAX && !rc; at++) {
        rc = fork_boundary_read(c, at, &b, e);
        if (!rc && b.is && !b.going_back)
            line = at;
    }

    if (rc || line == SIZE_MAX)
        return rc;
    if (id128_none(b.anchor) || !id128_eq(b.anchor, claude_line(&c->log, line)->id)) {
        kept = b;
        rc = claude_log_row(&c->log, line, &row, e);
        if (!rc)
            logical = claude_id_at(row, "logicalParentUuid", &c->log.arena);
    }

    /* The conversation ended with the last row that the compaction kept, or its logical parent, else right before it. */
    last = last_kept(c, line, &kept, logical);
    if (!rc && last != SIZE_MAX)
        rc = last_anchor(c, line, claude_line(&c->log, last)->id, &anchor, e);
    if (rc)
        return rc;
    if (last == SIZE_MAX)
        last = line - 1;
    else if (anchor != SIZE_MAX && anchor > last)
        last = anchor;
    size_t rows = line == 0 ? 0 : last + 1;

    while (rows > 0 && !c->f->keep[rows - 1])
        rows--;
    if (rows == 0)
        return ERR_OK;
    for (rows = last + 1; !fork_view_has(c, rows - 1);)
        rows--;
    for (size_t i = rows; i <= c->end; i++)
        fork_view_leave_out(c, i);
    c->end = rows - 1;
    return ERR_OK;
}

/* ---- other ends ---- */

/* A reader goes by the last row without followers, so a copy of the rows up to a message need not end with that
 * message: rows before it may follow it, or end a branch. These rules were found by running the SDK on prepared
 * files, row by row:
 *
 *   wanted   what a reader would show if one more row followed the last one
 *   live     the wanted rows, the last row, and all rows above them
 *   loose    any other row from the first wanted one on
 *
 *   1. a loose compaction is dropped, unless it keeps a live row
 *   2. while a reader would show anything but the wanted rows, the row it goes by is dropped, if it is loose
 *
 * A dropped row takes along the loose rows above it, and those that follow any of them, in one pass down the file. */
enum { WANTED = 1 << 0, LIVE = 1 << 1, LEFT = 1 << 2 };

/* Each round passes through the whole file. No session of the agent has more loose ends than this; in other files the
 * copy may end at another row. */
enum { ROUNDS_MOST = 1000 };

struct ending {
    struct fork_view *c;
    struct chain all; /* the file as written: compactions not followed, no rows left out */
    uint8_t *is;      /* owned; marks by node of `all` */
    size_t wanted;    /* how many rows are wanted */
    size_t start;     /* line of the first wanted row */
};

static const struct index *lines(const struct ending *x)
{
    return &x->c->f->log.file.index;
}

static uint32_t node_of(const struct ending *x, struct id128 id)
{
    return id128_none(id) ? CHAIN_NONE : chain_find(&x->all, id);
}

static void claude_mark_live(struct ending *x, uint32_t node)
{
    for (; node != CHAIN_NONE && !(x->is[node] & LIVE); node = chain_parent(&x->all, node))
        x->is[node] |= LIVE;
}

/* *any is false if a reader would show nothing, so there is nothing to do. */
static enum err_code mark_shown_rows(struct ending *x, bool *any, struct err *e)
{
    struct fork_shown shown;

    /* The rows of the view that a reader would show if one more row followed the last one. */
    struct index *view = &x->c->log.file.index;
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
    enum err_code rc = fork_view_shown(x->c, &shown, e);

    view->n--;
    TRY(rc);

    *any = shown.n > 0;
    x->wanted = shown.n;
    claude_mark_live(x, node_of(x, claude_line(&x->c->f->log, x->c->end)->id));
    for (size_t i = 0; i < shown.n; i++) {
        uint32_t node = node_of(x, shown.id[i]);

        x->is[node] |= WANTED;
        if (i == 0)
            x->start = x->all.node[node].first;
        claude_mark_live(x, node);
    }
    free(shown.id);
    return ERR_OK;
}

static bool is_loose(const struct ending *x, uint32_t node)
{
    return !(x->is[node] & LIVE) && x->all.node[node].first >= x->start;
}

static void claude_leave_out(struct ending *x, uint32_t node)
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
        if (fork_view_has(x->c, i) && (x->is[node_of(x, lines(x)->line[i].id)] & LEFT))
            fork_view_leave_out(x->c, i);
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

static enum err_code drop_ends(struct ending *x, struct err *e)
{
    for (int round = 0; round < ROUNDS_MOST; round++) {
        struct fork_shown shown;

        TRY(fork_view_shown(x->c, &shown, e));
        uint32_t terminal = node_of(x, shown.terminal);

        bool fine = shown.n == x->wanted;

        for (size_t i = 0; i < shown.n && fine; i++)
            fine = x->is[node_of(x, shown.id[i])] & WANTED;

        free(shown.id);
        if (fine || terminal == CHAIN_NONE || !is_loose(x, terminal))
            break;
        claude_leave_out(x, terminal);
    }
    return ERR_OK;
}

static enum err_code drop_other_ends(struct fork_view *c, struct err *e)
{
    struct ending x = { .c = c };
    bool any = false;
    enum err_code rc = chain_build(&x.all, &c->log.file.index, 0, CLAUDE_MAIN_KINDS, e);

    if (rc)
        return rc;
    /* The copy's rows have no team, no side and no named source. */
    c->log.plain = true;
    for (size_t i = 0; i <= c->end; i++)
        c->log.file.index.line[i].marks &= (uint16_t)~MARK_TEAM;
    x.is = calloc(x.all.n + 1, 1);
    if (!x.is)
        rc = err_nomem(e);
    if (!rc)
        rc = mark_shown_rows(&x, &any, e);
    if (!rc && any) {
        /* Which compactions are dropped depends on the live rows alone; so all are judged before
         * the first one is dropped. */
        uint8_t *gone = calloc(x.c->end + 1, 1);
        rc = gone ? ERR_OK : err_nomem(e);

        for (size_t i = 0; i <= x.c->end && !rc; i++) {
            struct fork_boundary b;

            rc = fork_boundary_read(x.c, i, &b, e);
            if (!rc && b.is)
                gone[i] = is_loose(&x, node_of(&x, lines(&x)->line[i].id)) && !keeps_live(&x, &b);
        }
        for (size_t i = 0; i <= x.c->end && !rc; i++)
            if (gone[i])
                claude_leave_out(&x, node_of(&x, lines(&x)->line[i].id));
        free(gone);
    }
    if (!rc && any)
        rc = drop_ends(&x, e);
    chain_fini(&x.all);
    free(x.is);
    return rc;
}

/* ---- all steps ---- */

enum err_code fork_cut(struct fork *f, struct slice at, struct err *e)
{
    struct fork_view c = { .f = f };
    const size_t lines = f->log.file.index.n;
    enum err_code rc = fork_view_open(&c, e);

    if (!rc)
        rc = find_cut_line(&c, at, e);
    if (rc)
        goto done;
    for (size_t i = c.end + 1; i < lines; i++)
        fork_view_leave_out(&c, i);
    rc = drop_last_compaction(&c, e);
    if (!rc) {
        /* Step 2. */
        for (size_t i = 0; i <= c.end && !rc; i++) {
            struct fork_boundary b;

            rc = fork_boundary_read(&c, i, &b, e);
            if (rc || !b.is || b.going_back || id128_none(b.anchor) || !id128_eq(b.anchor, c.asked))
                continue;
            c.f->keep[i] = FORK_STRIPPED;
            c.log.file.index.line[i].marks &= (uint16_t)~MARK_COMPACT;
        }
    }
    if (!rc)
        rc = drop_other_ends(&c, e);
    if (!rc) {
        /* Rows that were left out do not exist in the copy either: no row follows them, and they
         * do not bridge gaps. */
        struct index *ix = &c.f->log.file.index;

        for (size_t i = 0; i < ix->n; i++)
            if (ix->line[i].kind < 64 && (CLAUDE_MAIN_KINDS >> ix->line[i].kind & 1))
                ix->line[i].state = claude_line(&c.log, i)->state;
        chain_fini(&c.f->log.chain);
        rc = chain_build(&c.f->log.chain, ix, 0, CLAUDE_MAIN_KINDS, e);
    }
done:
    fork_view_close(&c);
    return rc;
}
