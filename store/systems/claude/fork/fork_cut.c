#include <stdlib.h>
#include <string.h>

#include "lite/json/json.h"
#include "store/systems/claude/chain/leaf.h"
#include "store/systems/claude/chain/parallel.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/fork/fork.h"

/* A fork up to a message is the file up to its first row, less what would make a reader of the copy end elsewhere
 * or lose what came before (claude.md 4):
 *
 *   1. a compaction at the very end goes, with what is no message behind it
 *   2. the summary of a compaction stands for all before it: what that compaction kept comes later
 *   3. branches that a reader would end with instead (drop_other_ends.c) */

/* Everything is asked of a view of the log in which the lines that are left out cannot be read. */
struct cut {
    struct fork *f;
    struct claude_log view; /* shares the open file */
    struct id128 asked;     /* of the row that was asked for */
    size_t end;             /* line of the last row */
};

/* The conversation that a reader of the view would show. */
struct shown {
    struct id128 *id; /* owned; in its order */
    size_t n;
    struct id128
        terminal; /* the row without followers whose message it ends with; none: there is none */
};

/* A compaction, or a person's going back, which is written in the same way. */
struct boundary {
    bool is;
    bool going_back;     /* takes no time and is its own anchor */
    struct id128 anchor; /* the kept rows follow this one */
    struct id128 *kept;  /* in the view's arena */
    size_t n;
};

/* ---- the view ---- */

static enum err_code view_open(struct cut *c, struct err *e)
{
    const struct index *ix = &c->f->log.file.index;
    struct index_line *line = malloc((ix->n + 1) * sizeof *line); /* one more: drop_other_ends.c */

    c->view = c->f->log;
    c->view.file.bytes = (struct buf){ 0 };
    c->view.chain = (struct chain){ 0 };
    c->view.arena = (struct arena){ 0 };
    c->view.kept = (struct idset){ 0 };
    c->view.file.index.line = line;
    if (!line)
        return err_nomem(e);
    memcpy(line, ix->line, ix->n * sizeof *line);
    return ERR_OK;
}

static void view_close(struct cut *c)
{
    chain_fini(&c->view.chain);
    buf_fini(&c->view.file.bytes);
    arena_fini(&c->view.arena);
    idset_fini(&c->view.kept);
    free(c->view.file.index.line);
}

static void leave_out_line(struct cut *c, size_t line)
{
    c->view.file.index.line[line].state = LINE_BROKEN;
    c->f->keep[line] = FORK_NOT;
}

static bool has_row(const struct cut *c, size_t line)
{
    const struct index_line *l = claude_line(&c->view, line);

    return l->state == LINE_OK && l->kind < 64 && (CLAUDE_MAIN_KINDS >> l->kind & 1) &&
           !id128_none(l->id);
}

static enum err_code take_ids(struct cut *c, const uint32_t *path, size_t n, struct shown *out,
                              struct err *e)
{
    out->id = malloc((n + 1) * sizeof *out->id);
    if (!out->id)
        return err_nomem(e);
    for (size_t i = 0; i < n; i++)
        out->id[i] = chain_id(&c->view.chain, path[i]);
    out->n = n;
    return ERR_OK;
}

static enum err_code find_shown(struct cut *c, struct shown *out, struct err *e)
{
    struct claude_log *view = &c->view;
    uint32_t leaf = CHAIN_NONE, terminal = CHAIN_NONE, *path = NULL;
    size_t n = 0;

    *out = (struct shown){ .id = NULL };
    chain_fini(&view->chain);
    enum err_code rc = chain_build(&view->chain, &view->file.index, 0, CLAUDE_MAIN_KINDS, e);

    if (!rc)
        rc = claude_relink(view, e);
    if (!rc)
        rc = claude_message_end(view, &leaf, &terminal, e);
    if (!rc && leaf != CHAIN_NONE)
        rc = chain_walk(&view->chain, leaf, NODE_LISTED, &path, &n, e);
    if (!rc && leaf != CHAIN_NONE)
        rc = claude_parallel(view, &path, &n, e);
    if (!rc)
        rc = take_ids(c, path, n, out, e);
    if (!rc && terminal != CHAIN_NONE)
        out->terminal = chain_id(&view->chain, terminal);
    free(path);
    return rc;
}

/* ---- boundaries ---- */

static enum err_code add_kept(struct cut *c, struct boundary *b, struct slice value)
{
    struct id128 id = claude_id(value, &c->view.arena);

    if (!id128_none(id))
        b->kept[b->n++] = id;
    return ERR_OK;
}

static size_t count_elements(struct slice list)
{
    struct json_iter it;
    struct slice key, value;
    size_t n = 0;

    for (bool more = json_iter_open(&it, list); more && json_iter_next(&it, &key, &value);)
        n++;
    return n;
}

static enum err_code read_kept(struct cut *c, struct slice metadata, struct boundary *b)
{
    struct slice list = { NULL, 0 }, segment, key, value;
    struct json_iter it;

    if (!json_at(metadata, "preservedMessages.uuids", &list) || json_type(list) != JSON_ARRAY)
        list = (struct slice){ NULL, 0 };
    b->kept = arena_alloc(&c->view.arena, (count_elements(list) + 2) * sizeof *b->kept);
    if (!b->kept)
        return ERR_NOMEM;
    for (bool more = json_iter_open(&it, list); more && json_iter_next(&it, &key, &value);)
        add_kept(c, b, value);
    if (!json_get(metadata, "preservedSegment", &segment) || json_type(segment) != JSON_OBJECT)
        return ERR_OK;
    if (json_get(segment, "headUuid", &value))
        add_kept(c, b, value);
    if (json_get(segment, "tailUuid", &value))
        add_kept(c, b, value);
    return ERR_OK;
}

static enum err_code read_boundary(struct cut *c, size_t line, struct boundary *b, struct err *e)
{
    static const char *const kept[] = { "preservedMessages", "preservedSegment" };
    struct slice row, metadata, value;
    bool named = false;
    int64_t took;

    *b = (struct boundary){ .is = false };
    if (!has_row(c, line) || !claude_line_is(claude_line(&c->view, line), CLAUDE_SYSTEM))
        return ERR_OK;
    enum err_code rc = claude_log_row(&c->view, line, &row, e);

    if (rc || !claude_is_boundary(row))
        return rc;
    b->is = true;
    if (c->f->keep[line] == FORK_STRIPPED || !json_get(row, "compactMetadata", &metadata) ||
        json_type(metadata) != JSON_OBJECT)
        return ERR_OK;
    for (size_t i = 0; i < 2 && !named; i++)
        if (json_get(metadata, kept[i], &value) && json_type(value) != JSON_NULL) {
            b->anchor = claude_id_at(value, "anchorUuid", &c->view.arena);
            named = true;
        }
    b->going_back = json_get(metadata, "durationMs", &value) && json_int(value, &took) &&
                    took == 0 && !id128_none(b->anchor) &&
                    id128_eq(b->anchor, claude_line(&c->view, line)->id);
    return read_kept(c, metadata, b) ? err_nomem(e) : ERR_OK;
}

static bool boundary_keeps(const struct boundary *b, struct id128 id)
{
    for (size_t i = 0; i < b->n; i++)
        if (id128_eq(b->kept[i], id))
            return true;
    return false;
}

/* ---- where it ends ---- */

/* The id that a queued command carries, and the voice row that one was folded into. */
static enum err_code source_of(struct cut *c, size_t line, struct id128 *source, struct err *e)
{
    const struct index_line *l = claude_line(&c->view, line);
    struct slice row;

    *source = (struct id128){ 0, 0 };
    if (!claude_line_is(l, CLAUDE_ATTACHMENT) && !claude_line_is(l, CLAUDE_SYSTEM))
        return ERR_OK;
    enum err_code rc = claude_log_row(&c->view, line, &row, e);

    if (rc)
        return rc;
    if (claude_line_is(l, CLAUDE_ATTACHMENT) && claude_is_queued_command(row))
        *source = claude_id_at(row, "attachment.source_uuid", &c->view.arena);
    else if (claude_line_is(l, CLAUDE_SYSTEM) && claude_row_says(row, "subtype", "voice_call_talk"))
        *source = claude_id_at(row, "fold.command.source_uuid", &c->view.arena);
    return ERR_OK;
}

static size_t first_with(const struct cut *c, struct id128 id)
{
    for (size_t i = 0; i < c->view.file.index.n; i++)
        if (has_row(c, i) && id128_eq(claude_line(&c->view, i)->id, id))
            return i;
    return SIZE_MAX;
}

/* What was asked for, among the rows that carry it. */
struct asked {
    size_t row;     /* the first with the id; SIZE_MAX: none */
    size_t *source; /* owned; rows whose queued command carries it */
    size_t n;
};

static enum err_code find_asked(struct cut *c, struct id128 id, struct asked *a, struct err *e)
{
    const struct index *ix = &c->view.file.index;
    enum err_code rc = ERR_OK;

    *a = (struct asked){ .row = first_with(c, id) };
    for (size_t i = 0; i < ix->n && !rc; i++) {
        struct id128 source;

        if (!has_row(c, i))
            continue;
        rc = source_of(c, i, &source, e);
        if (rc || !id128_eq(source, id))
            continue;
        size_t *more = realloc(a->source, (a->n + 1) * sizeof *more);

        if (!more)
            rc = err_nomem(e);
        else
            (a->source = more)[a->n++] = i;
    }
    return rc;
}

static bool is_source(const struct asked *a, size_t line)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->source[i] == line)
            return true;
    return false;
}

/* Among several the one that is shown, or comes behind all that is. */
static enum err_code choose_shown(struct cut *c, const struct asked *a, struct err *e)
{
    struct shown shown;
    const struct chain *chain = &c->view.chain;
    size_t behind = 0, source = SIZE_MAX;
    bool row_shown = false;
    enum err_code rc = find_shown(c, &shown, e);

    for (size_t i = 0; i < shown.n && !rc; i++) {
        const struct chain_node *node = &chain->node[chain_find(chain, shown.id[i])];

        if (node->first >= behind)
            behind = node->first + 1;
        row_shown = row_shown || (a->row != SIZE_MAX && node->first == a->row);
        if (source == SIZE_MAX && is_source(a, node->line))
            source = node->first;
    }
    free(shown.id);
    for (size_t i = behind; i < c->view.file.index.n; i++) {
        if (!has_row(c, i))
            continue;
        if (a->row != SIZE_MAX &&
            id128_eq(claude_line(&c->view, i)->id, claude_line(&c->view, a->row)->id))
            row_shown = true;
        if (source == SIZE_MAX && is_source(a, i))
            source = first_with(c, claude_line(&c->view, i)->id);
    }
    if (a->row != SIZE_MAX && (row_shown || source == SIZE_MAX))
        source = a->row;
    c->end = source == SIZE_MAX ? a->source[0] : source;
    return rc;
}

static enum err_code find_cut_line(struct cut *c, struct slice at, struct err *e)
{
    struct asked a;
    enum err_code rc = find_asked(c, id128_of(at), &a, e);

    if (!rc && a.row == SIZE_MAX && a.n == 0)
        rc = err_set(e, ERR_NOT_FOUND, c->f->ref->id.p, "fork: message %.*s is not in the session",
                     SLICE_ARG(at));
    else if (!rc && a.n == 0)
        c->end = a.row;
    else if (!rc)
        rc = choose_shown(c, &a, e);
    free(a.source);
    if (!rc)
        c->asked = claude_line(&c->view, c->end)->id;
    return rc;
}

/* ---- a compaction at the end ---- */

/* The last row before a line that a test wants; SIZE_MAX: none. */
static size_t last_kept(const struct cut *c, size_t before, const struct boundary *b,
                        struct id128 other)
{
    for (size_t i = before; i-- > 0;) {
        struct id128 id = claude_line(&c->view, i)->id;

        if (has_row(c, i) && (boundary_keeps(b, id) || id128_eq(id, other)))
            return i;
    }
    return SIZE_MAX;
}

/* The first compaction behind the last message; SIZE_MAX: there is none. */
static enum err_code last_compaction(struct cut *c, size_t *line, struct boundary *b, struct err *e)
{
    size_t i = c->end + 1;
    enum err_code rc = ERR_OK;

    while (i > 0 && !(has_row(c, i - 1) && claude_line_is_message(claude_line(&c->view, i - 1))))
        i--;
    for (*line = SIZE_MAX; i <= c->end && *line == SIZE_MAX && !rc; i++) {
        rc = read_boundary(c, i, b, e);
        if (!rc && b->is && !b->going_back)
            *line = i;
    }
    return rc;
}

/* Where the rows that a compaction kept were kept by one before it already, they stand behind that one's anchor. */
static enum err_code last_anchor(struct cut *c, size_t before, struct id128 kept, size_t *anchor,
                                 struct err *e)
{
    struct boundary b = { .is = false };
    enum err_code rc = ERR_OK;

    *anchor = SIZE_MAX;
    for (size_t i = before; i-- > 0 && !b.is && !rc;)
        rc = read_boundary(c, i, &b, e);
    if (!rc && b.is && !b.going_back && boundary_keeps(&b, kept) && !id128_none(b.anchor))
        *anchor = last_kept(c, before, &(struct boundary){ .n = 0 }, b.anchor);
    return rc;
}

/* Step 1. Where nothing would remain before it, the compaction stays. */
static enum err_code drop_last_compaction(struct cut *c, struct err *e)
{
    struct boundary b, kept = { .n = 0 };
    struct id128 logical = { 0, 0 };
    struct slice row;
    size_t line, last, anchor = SIZE_MAX;
    enum err_code rc = last_compaction(c, &line, &b, e);

    if (rc || line == SIZE_MAX)
        return rc;
    if (id128_none(b.anchor) || !id128_eq(b.anchor, claude_line(&c->view, line)->id)) {
        kept = b;
        rc = claude_log_row(&c->view, line, &row, e);
        if (!rc)
            logical = claude_id_at(row, "logicalParentUuid", &c->view.arena);
    }
    last = last_kept(c, line, &kept, logical);
    if (!rc && last != SIZE_MAX)
        rc = last_anchor(c, line, claude_line(&c->view, last)->id, &anchor, e);
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
    for (rows = last + 1; !has_row(c, rows - 1);)
        rows--;
    for (size_t i = rows; i <= c->end; i++)
        leave_out_line(c, i);
    c->end = rows - 1;
    return ERR_OK;
}

/* Step 2. */
static enum err_code strip_summaries(struct cut *c, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i <= c->end && !rc; i++) {
        struct boundary b;

        rc = read_boundary(c, i, &b, e);
        if (rc || !b.is || b.going_back || id128_none(b.anchor) || !id128_eq(b.anchor, c->asked))
            continue;
        c->f->keep[i] = FORK_STRIPPED;
        c->view.file.index.line[i].marks &= (uint16_t)~MARK_COMPACT;
    }
    return rc;
}

/* ---- other ends ---- */

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
    struct cut *c;
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
static enum err_code shown_with_one_more(struct ending *x, struct shown *shown, struct err *e)
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
    enum err_code rc = find_shown(x->c, shown, e);

    view->n--;
    return rc;
}

/* False (and nothing to do): a reader would show nothing. */
static enum err_code mark_shown_rows(struct ending *x, bool *any, struct err *e)
{
    struct shown shown;
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
        if (has_row(x->c, i) && (x->is[node_of(x, lines(x)->line[i].id)] & LEFT))
            leave_out_line(x->c, i);
}

static bool keeps_live(const struct ending *x, const struct boundary *b)
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
        struct boundary b;

        rc = read_boundary(x->c, i, &b, e);
        if (!rc && b.is)
            gone[i] = is_loose(x, node_of(x, lines(x)->line[i].id)) && !keeps_live(x, &b);
    }
    for (size_t i = 0; i <= x->c->end && !rc; i++)
        if (gone[i])
            leave_out(x, node_of(x, lines(x)->line[i].id));
    free(gone);
    return rc;
}

static bool as_wanted(const struct ending *x, const struct shown *shown)
{
    bool same = shown->n == x->wanted;

    for (size_t i = 0; i < shown->n && same; i++)
        same = x->is[node_of(x, shown->id[i])] & WANTED;
    return same;
}

static enum err_code drop_ends(struct ending *x, struct err *e)
{
    for (int round = 0; round < ROUNDS_MOST; round++) {
        struct shown shown;
        enum err_code rc = find_shown(x->c, &shown, e);

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

static enum err_code drop_other_ends(struct cut *c, struct err *e)
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

/* ---- together ---- */

/* What was left out is not there for the copy either: nothing follows it, and it bridges nothing. */
static enum err_code forget_left_out(struct cut *c, struct err *e)
{
    struct index *ix = &c->f->log.file.index;

    for (size_t i = 0; i < ix->n; i++)
        if (ix->line[i].kind < 64 && (CLAUDE_MAIN_KINDS >> ix->line[i].kind & 1))
            ix->line[i].state = claude_line(&c->view, i)->state;
    chain_fini(&c->f->log.chain);
    return chain_build(&c->f->log.chain, ix, 0, CLAUDE_MAIN_KINDS, e);
}

enum err_code fork_cut(struct fork *f, struct slice at, struct err *e)
{
    struct cut c = { .f = f };
    const size_t lines = f->log.file.index.n;
    enum err_code rc = view_open(&c, e);

    if (!rc)
        rc = find_cut_line(&c, at, e);
    if (rc)
        goto done;
    for (size_t i = c.end + 1; i < lines; i++)
        leave_out_line(&c, i);
    rc = drop_last_compaction(&c, e);
    if (!rc)
        rc = strip_summaries(&c, e);
    if (!rc)
        rc = drop_other_ends(&c, e);
    if (!rc)
        rc = forget_left_out(&c, e);
done:
    view_close(&c);
    return rc;
}
