#include "store/systems/claude/fork/fork_cut.h"

#include <stdlib.h>
#include <string.h>

#include "lite/json/json.h"
#include "store/systems/claude/chain/leaf.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/show/item_list.h"

/* A fork up to a message is the file up to its first row, less what would make a reader of the copy end elsewhere
 * or lose what came before (claude.md 4):
 *
 *   1. a compaction at the very end goes, with what is no message behind it
 *   2. the summary of a compaction stands for all before it: what that compaction kept comes later
 *   3. branches that a reader would end with instead (fork_end.c) */

/* ---- the view ---- */

static enum err_code view_open(struct fork_cut *c, struct err *e)
{
    const struct index *ix = &c->f->log.file.index;
    struct index_line *line = malloc((ix->n + 1) * sizeof *line); /* one more: fork_end.c */

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

static void view_close(struct fork_cut *c)
{
    chain_fini(&c->view.chain);
    buf_fini(&c->view.file.bytes);
    arena_fini(&c->view.arena);
    idset_fini(&c->view.kept);
    free(c->view.file.index.line);
}

void fork_cut_leave_out(struct fork_cut *c, size_t line)
{
    c->view.file.index.line[line].state = LINE_BROKEN;
    c->f->keep[line] = FORK_NOT;
}

bool fork_cut_has(const struct fork_cut *c, size_t line)
{
    const struct index_line *l = claude_line(&c->view, line);

    return l->state == LINE_OK && l->kind < 64 && (CLAUDE_MAIN_KINDS >> l->kind & 1) &&
           !id128_none(l->id);
}

static enum err_code take_ids(struct fork_cut *c, const uint32_t *path, size_t n,
                              struct fork_shown *out, struct err *e)
{
    out->id = malloc((n + 1) * sizeof *out->id);
    if (!out->id)
        return err_nomem(e);
    for (size_t i = 0; i < n; i++)
        out->id[i] = chain_id(&c->view.chain, path[i]);
    out->n = n;
    return ERR_OK;
}

enum err_code fork_cut_shown(struct fork_cut *c, struct fork_shown *out, struct err *e)
{
    struct claude_log *view = &c->view;
    uint32_t leaf = CHAIN_NONE, terminal = CHAIN_NONE, *path = NULL;
    size_t n = 0;

    *out = (struct fork_shown){ .id = NULL };
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

static enum err_code add_kept(struct fork_cut *c, struct fork_boundary *b, struct slice value)
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

static enum err_code read_kept(struct fork_cut *c, struct slice metadata, struct fork_boundary *b)
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

enum err_code fork_boundary_read(struct fork_cut *c, size_t line, struct fork_boundary *b,
                                 struct err *e)
{
    static const char *const kept[] = { "preservedMessages", "preservedSegment" };
    struct slice row, metadata, value;
    bool named = false;
    int64_t took;

    *b = (struct fork_boundary){ .is = false };
    if (!fork_cut_has(c, line) || !claude_line_is(claude_line(&c->view, line), CLAUDE_SYSTEM))
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

bool fork_boundary_keeps(const struct fork_boundary *b, struct id128 id)
{
    for (size_t i = 0; i < b->n; i++)
        if (id128_eq(b->kept[i], id))
            return true;
    return false;
}

/* ---- where it ends ---- */

/* The id that a queued command carries, and the voice row that one was folded into. */
static enum err_code source_of(struct fork_cut *c, size_t line, struct id128 *source, struct err *e)
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

static size_t first_with(const struct fork_cut *c, struct id128 id)
{
    for (size_t i = 0; i < c->view.file.index.n; i++)
        if (fork_cut_has(c, i) && id128_eq(claude_line(&c->view, i)->id, id))
            return i;
    return SIZE_MAX;
}

/* What was asked for, among the rows that carry it. */
struct asked {
    size_t row;     /* the first with the id; SIZE_MAX: none */
    size_t *source; /* owned; rows whose queued command carries it */
    size_t n;
};

static enum err_code find_asked(struct fork_cut *c, struct id128 id, struct asked *a, struct err *e)
{
    const struct index *ix = &c->view.file.index;
    enum err_code rc = ERR_OK;

    *a = (struct asked){ .row = first_with(c, id) };
    for (size_t i = 0; i < ix->n && !rc; i++) {
        struct id128 source;

        if (!fork_cut_has(c, i))
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
static enum err_code choose_shown(struct fork_cut *c, const struct asked *a, struct err *e)
{
    struct fork_shown shown;
    const struct chain *chain = &c->view.chain;
    size_t behind = 0, source = SIZE_MAX;
    bool row_shown = false;
    enum err_code rc = fork_cut_shown(c, &shown, e);

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
        if (!fork_cut_has(c, i))
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

static enum err_code find_cut_line(struct fork_cut *c, struct slice at, struct err *e)
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
static size_t last_kept(const struct fork_cut *c, size_t before, const struct fork_boundary *b,
                        struct id128 other)
{
    for (size_t i = before; i-- > 0;) {
        struct id128 id = claude_line(&c->view, i)->id;

        if (fork_cut_has(c, i) && (fork_boundary_keeps(b, id) || id128_eq(id, other)))
            return i;
    }
    return SIZE_MAX;
}

/* The first compaction behind the last message; SIZE_MAX: there is none. */
static enum err_code last_compaction(struct fork_cut *c, size_t *line, struct fork_boundary *b,
                                     struct err *e)
{
    size_t i = c->end + 1;
    enum err_code rc = ERR_OK;

    while (i > 0 &&
           !(fork_cut_has(c, i - 1) && claude_line_is_message(claude_line(&c->view, i - 1))))
        i--;
    for (*line = SIZE_MAX; i <= c->end && *line == SIZE_MAX && !rc; i++) {
        rc = fork_boundary_read(c, i, b, e);
        if (!rc && b->is && !b->going_back)
            *line = i;
    }
    return rc;
}

/* Where the rows that a compaction kept were kept by one before it already, they stand behind that one's anchor. */
static enum err_code last_anchor(struct fork_cut *c, size_t before, struct id128 kept,
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

/* Step 1. Where nothing would remain before it, the compaction stays. */
static enum err_code drop_last_compaction(struct fork_cut *c, struct err *e)
{
    struct fork_boundary b, kept = { .n = 0 };
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
    for (rows = last + 1; !fork_cut_has(c, rows - 1);)
        rows--;
    for (size_t i = rows; i <= c->end; i++)
        fork_cut_leave_out(c, i);
    c->end = rows - 1;
    return ERR_OK;
}

/* Step 2. */
static enum err_code strip_summaries(struct fork_cut *c, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i <= c->end && !rc; i++) {
        struct fork_boundary b;

        rc = fork_boundary_read(c, i, &b, e);
        if (rc || !b.is || b.going_back || id128_none(b.anchor) || !id128_eq(b.anchor, c->asked))
            continue;
        c->f->keep[i] = FORK_STRIPPED;
        c->view.file.index.line[i].marks &= (uint16_t)~MARK_COMPACT;
    }
    return rc;
}

/* What was left out is not there for the copy either: nothing follows it, and it bridges nothing. */
static enum err_code forget_left_out(struct fork_cut *c, struct err *e)
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
    struct fork_cut c = { .f = f };
    const size_t lines = f->log.file.index.n;
    enum err_code rc = view_open(&c, e);

    if (!rc)
        rc = find_cut_line(&c, at, e);
    if (rc)
        goto done;
    for (size_t i = c.end + 1; i < lines; i++)
        fork_cut_leave_out(&c, i);
    rc = drop_last_compaction(&c, e);
    if (!rc)
        rc = strip_summaries(&c, e);
    if (!rc)
        rc = fork_end(&c, e);
    if (!rc)
        rc = forget_left_out(&c, e);
done:
    view_close(&c);
    return rc;
}
