#include "store/systems/claude/fork.h"

#include <stdlib.h>
#include <string.h>

#include "lite/json.h"
#include "store/systems/claude/facts.h"
#include "store/systems/claude/leaf.h"

/* A fork up to a message is the file up to its first row, less what would make a reader of the copy end elsewhere
 * or lose what came before (claude.md 4):
 *
 *   1. a compaction at the very end goes, with what is no message behind it
 *   2. the summary of a compaction stands for all before it: what that compaction kept comes later
 *   3. compactions that the way to the message does not pass go, with all that followed them
 *   4. rows that stand before the message although they follow it go, as long as a reader would end there
 *
 * All of that is asked of a view of the log in which the lines that are left out cannot be read. */
struct cut {
    struct fork *f;
    struct claude_log view; /* shares the open file */
    size_t end;             /* line of the last row */
};

/* ---- the view ---- */

static enum err_code view_open(struct cut *c, struct err *e)
{
    const struct index *ix = &c->f->log.file.index;
    struct index_line *line = malloc((ix->n + 1) * sizeof *line);

    c->view = c->f->log;
    c->view.file.bytes = (struct buf){ 0 };
    c->view.chain = (struct chain){ 0 };
    c->view.arena = (struct arena){ 0 };
    c->view.file.index.line = line;
    if (!line)
        return err_set(e, ERR_NOMEM, c->f->ref->path.p, "fork: out of memory");
    memcpy(line, ix->line, ix->n * sizeof *line);
    return claude_voice_rows(&c->view, e);
}

static void view_close(struct cut *c)
{
    chain_fini(&c->view.chain);
    buf_fini(&c->view.file.bytes);
    arena_fini(&c->view.arena);
    free(c->view.stand_in);
    free(c->view.file.index.line);
}

static enum err_code view_link(struct cut *c, bool follow, struct err *e)
{
    chain_fini(&c->view.chain);
    enum err_code rc = chain_build(&c->view.chain, &c->view.file.index, 0, CLAUDE_MAIN_KINDS, e);

    return rc || !follow ? rc : claude_relink(&c->view, e);
}

static void leave_out(struct cut *c, size_t line)
{
    c->view.file.index.line[line].state = LINE_BROKEN;
    c->f->keep[line] = 0;
}

static bool in_view(const struct cut *c, size_t line)
{
    const struct index_line *l = claude_line(&c->view, line);

    return l->state == LINE_OK && l->kind < 64 && (CLAUDE_MAIN_KINDS >> l->kind & 1) &&
           !id128_none(l->id);
}

static bool speaks(const struct cut *c, size_t line)
{
    return in_view(c, line) && claude_line_speaks(claude_line(&c->view, line)) &&
           !claude_line_has(claude_line(&c->view, line), MARK_SIDECHAIN);
}

/* ---- boundaries ---- */

struct boundary {
    bool is;             /* a compaction, or a person's going back, which is written the same way */
    bool going_back;     /* takes no time and hangs on itself */
    bool void_list;      /* names kept rows that are not there, and so keeps nothing */
    struct id128 anchor; /* behind which row the kept ones come */
};

static bool all_known(const struct cut *c, struct slice uuids)
{
    struct json_iter it;
    struct slice key, value;
    bool known = true;

    for (bool more = json_iter_open(&it, uuids);
         known && more && json_iter_next(&it, &key, &value);) {
        struct arena a = { 0 };
        struct id128 id = claude_id(value, &a);
        uint32_t node = id128_none(id) ? CHAIN_NONE : chain_find(&c->view.chain, id);

        known = node != CHAIN_NONE && chain_has_row(&c->view.chain, node);
        arena_fini(&a);
    }
    return known;
}

static enum err_code read_boundary(struct cut *c, size_t line, struct boundary *b, struct err *e)
{
    static const char *const kept[] = { "preservedMessages", "preservedSegment" };
    struct slice row, metadata, value;
    int64_t took;

    *b = (struct boundary){ .is = false };
    if (!in_view(c, line) || !claude_line_is(claude_line(&c->view, line), CLAUDE_SYSTEM))
        return ERR_OK;
    enum err_code rc = claude_log_row(&c->view, line, &row, e);

    if (rc || !claude_is_boundary(row))
        return rc;
    b->is = true;
    if (!json_get(row, "compactMetadata", &metadata))
        return ERR_OK;
    for (size_t i = 0; i < 2 && id128_none(b->anchor); i++)
        if (json_get(metadata, kept[i], &value) && claude_truthy(value))
            b->anchor = claude_id_at(value, "anchorUuid", &c->view.arena);
    b->void_list = json_at(metadata, "preservedMessages.uuids", &value) && !all_known(c, value);
    b->going_back = json_get(metadata, "durationMs", &value) && json_int(value, &took) &&
                    took == 0 && !id128_none(b->anchor) &&
                    id128_eq(b->anchor, claude_line(&c->view, line)->id);
    return ERR_OK;
}

/* ---- the steps ---- */

/* The row with the id, or the queued command that carries it. */
static enum err_code find_end(struct cut *c, struct slice at, struct err *e)
{
    const struct index *ix = &c->view.file.index;
    struct id128 id = id128_of(at);

    for (size_t i = 0; i < ix->n; i++) {
        if (in_view(c, i) && !claude_line_has(&ix->line[i], MARK_SIDECHAIN) &&
            id128_eq(ix->line[i].id, id)) {
            c->end = i;
            return ERR_OK;
        }
    }
    for (size_t i = 0; i < ix->n; i++) {
        struct slice row;

        if (!in_view(c, i) || !claude_line_is(&ix->line[i], CLAUDE_ATTACHMENT))
            continue;
        enum err_code rc = claude_log_row(&c->view, i, &row, e);

        if (rc)
            return rc;
        if (claude_is_queued_command(row) &&
            id128_eq(claude_id_at(row, "attachment.source_uuid", &c->view.arena), id)) {
            c->end = i;
            return ERR_OK;
        }
    }
    return err_set(e, ERR_NOT_FOUND, c->f->ref->id.p, "fork: message %.*s is not in the session",
                   SLICE_ARG(at));
}

/* Step 1. Where there is no message at all before it, the compaction stays. */
static enum err_code drop_last_compaction(struct cut *c, struct err *e)
{
    size_t message = c->end + 1, first = SIZE_MAX;
    bool any = false;

    while (message > 0 && !speaks(c, message - 1))
        message--;
    for (size_t i = message; i <= c->end && first == SIZE_MAX; i++) {
        struct boundary b;
        enum err_code rc = read_boundary(c, i, &b, e);

        if (rc)
            return rc;
        if (b.is && !b.going_back)
            first = i;
    }
    for (size_t i = 0; i < first && i <= c->end; i++)
        any = any || c->f->keep[i];
    if (first == SIZE_MAX || !any)
        return ERR_OK;
    for (size_t i = first; i <= c->end; i++)
        leave_out(c, i);
    while (!in_view(c, first))
        first--;
    c->end = first;
    return ERR_OK;
}

/* Step 2. A compaction that had to stay may be the last row itself. */
static enum err_code strip_summary(struct cut *c, struct err *e)
{
    const struct index_line *l = claude_line(&c->view, c->end);
    uint32_t up = id128_none(l->parent) ? CHAIN_NONE : chain_find(&c->view.chain, l->parent);
    size_t lines[] = { c->end, c->end };
    enum err_code rc = ERR_OK;

    if (up != CHAIN_NONE && chain_has_row(&c->view.chain, up))
        lines[1] = c->view.chain.node[up].line;
    for (size_t i = 0; i < 2 && !rc && c->f->summarised == SIZE_MAX; i++) {
        struct boundary b;

        rc = read_boundary(c, lines[i], &b, e);
        if (rc || !b.is || b.going_back || !id128_eq(b.anchor, l->id))
            continue;
        c->f->summarised = lines[i];
        c->view.file.index.line[lines[i]].marks &= (uint16_t)~MARK_COMPACT;
    }
    return rc;
}

/* Marks the boundaries that stand behind the beginning of the way to the last row and are not passed by it. */
static enum err_code mark_passed_over(struct cut *c, uint8_t *gone, bool *any, struct err *e)
{
    struct chain *chain = &c->view.chain;
    uint32_t *path = NULL;
    size_t n = 0;
    enum err_code rc = chain_walk(chain, chain_find(chain, claude_line(&c->view, c->end)->id),
                                  NODE_LISTED, &path, &n, e);
    size_t root = !rc && n ? chain->node[path[0]].line : SIZE_MAX;

    for (size_t i = root; !rc && i < c->end; i++) {
        struct boundary b;
        uint32_t node;

        rc = read_boundary(c, i, &b, e);
        if (rc || !b.is || b.void_list)
            continue;
        node = chain_find(chain, claude_line(&c->view, i)->id);
        if (!(chain->mark[node] & NODE_LISTED))
            gone[node] = *any = true;
    }
    free(path);
    return rc;
}

/* Everything that follows a marked row is marked, by any row with its id. Rows mostly stand behind those they
 * follow, so that a pass or two will do; a file that is turned round is not worth more than some. */
static void mark_below(const struct cut *c, uint8_t *gone)
{
    enum { PASSES = 32 };
    const struct chain *chain = &c->view.chain;
    bool more = true;

    for (int pass = 0; pass < PASSES && more; pass++) {
        more = false;
        for (size_t i = 0; i < c->end; i++) {
            const struct index_line *l = claude_line(&c->view, i);
            uint32_t up =
                in_view(c, i) && !id128_none(l->parent) ? chain_find(chain, l->parent) : CHAIN_NONE;
            uint32_t node = up != CHAIN_NONE && gone[up] ? chain_find(chain, l->id) : CHAIN_NONE;

            if (node != CHAIN_NONE && !gone[node])
                gone[node] = more = true;
        }
    }
}

/* Step 3. Which rows follow a boundary is asked of the file as it is written. */
static enum err_code drop_passed_over(struct cut *c, struct err *e)
{
    bool any = false;
    uint8_t *gone = calloc(c->view.chain.n + 1, 1);
    enum err_code rc = gone ? mark_passed_over(c, gone, &any, e)
                            : err_set(e, ERR_NOMEM, c->f->ref->path.p, "fork: out of memory");

    if (!rc && any)
        mark_below(c, gone);
    if (!rc && any) {
        for (size_t i = 0; i < c->end; i++)
            if (in_view(c, i) && gone[chain_find(&c->view.chain, claude_line(&c->view, i)->id)])
                leave_out(c, i);
        rc = view_link(c, true, e);
    }
    free(gone);
    return rc;
}

/* Does the way up from a node pass the other one? */
static bool passes(const struct chain *chain, uint32_t node, uint32_t other)
{
    for (size_t steps = 0; steps <= chain->n && node != CHAIN_NONE; steps++) {
        if (node == other)
            return true;
        node = chain_up(chain, node);
    }
    return false;
}

static void drop_node(struct cut *c, uint32_t node)
{
    struct id128 id = chain_id(&c->view.chain, node);

    for (size_t i = 0; i < c->end; i++)
        if (in_view(c, i) && id128_eq(claude_line(&c->view, i)->id, id))
            leave_out(c, i);
    chain_relink(&c->view.chain, node, CHAIN_NONE);
    c->view.chain.node[node].line = CHAIN_NONE;
}

/* Step 4. What hangs on a person's going back are the messages it kept: the copy is to end with them. */
static enum err_code drop_followers(struct cut *c, struct err *e)
{
    struct boundary b;
    enum err_code known = read_boundary(c, c->end, &b, e);

    if (known || b.is)
        return known;
    struct chain *chain = &c->view.chain;
    uint32_t end = chain_find(chain, claude_line(&c->view, c->end)->id);

    for (;;) {
        uint32_t leaf = CHAIN_NONE;
        enum err_code rc = claude_message_leaf(&c->view, &leaf, e);

        for (size_t i = 0; i < chain->n; i++)
            chain->mark[i] &= (uint8_t)~NODE_CLIMBED;
        if (rc || leaf == CHAIN_NONE || leaf == end || !passes(chain, leaf, end))
            return rc;
        drop_node(c, leaf);
    }
}

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
        rc = find_end(&c, at, e);
    if (rc)
        goto done;
    for (size_t i = c.end + 1; i < lines; i++)
        leave_out(&c, i);
    rc = drop_last_compaction(&c, e);
    if (!rc)
        rc = view_link(&c, false, e);
    if (!rc)
        rc = strip_summary(&c, e);
    if (!rc)
        rc = view_link(&c, true, e);
    if (!rc)
        rc = drop_passed_over(&c, e);
    if (!rc)
        rc = drop_followers(&c, e);
    if (!rc)
        rc = forget_left_out(&c, e);
done:
    view_close(&c);
    return rc;
}
