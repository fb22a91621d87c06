#include "store/systems/claude/fork/fork.h"

#include <stdlib.h>
#include <string.h>

#include "lite/json/json.h"
#include "store/systems/claude/chain/conversation_path.h"
#include "store/systems/claude/chain/row_facts.h"

enum err_code fork_view_open(struct fork_view *c, struct err *e)
{
    const struct index *ix = &c->f->log.file.index;
    struct index_line *line =
        malloc((ix->n + 1) * sizeof *line); /* one more for the row that fork_cut.c adds */

    c->log = c->f->log;
    c->log.file.bytes = (struct buf){ 0 };
    c->log.chain = (struct chain){ 0 };
    c->log.arena = (struct arena){ 0 };
    c->log.kept = (struct idset){ 0 };
    c->log.file.index.line = line;
    if (!line)
        return err_nomem(e);
    memcpy(line, ix->line, ix->n * sizeof *line);
    return ERR_OK;
}

void fork_view_close(struct fork_view *c)
{
    chain_fini(&c->log.chain);
    buf_fini(&c->log.file.bytes);
    arena_fini(&c->log.arena);
    idset_fini(&c->log.kept);
    free(c->log.file.index.line);
}

void fork_view_leave_out(struct fork_view *c, size_t line)
{
    c->log.file.index.line[line].state = LINE_BROKEN;
    c->f->keep[line] = FORK_NOT;
}

bool fork_view_has(const struct fork_view *c, size_t line)
{
    const struct index_line *l = claude_line(&c->log, line);

    return l->state == LINE_OK && l->kind < 64 && (CLAUDE_MAIN_KINDS >> l->kind & 1) &&
           !id128_none(l->id);
}

enum err_code fork_view_shown(struct fork_view *c, struct fork_shown *out, struct err *e)
{
    struct claude_log *view = &c->log;
    uint32_t leaf = CHAIN_NONE, terminal = CHAIN_NONE, *path = NULL;
    size_t n = 0;

    *out = (struct fork_shown){ .id = NULL };

    /* Rows may have been left out since the chain was built. */
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
    if (!rc) {
        out->id = malloc((n + 1) * sizeof *out->id);
        if (!out->id)
            rc = err_nomem(e);
        else {
            for (size_t i = 0; i < n; i++)
                out->id[i] = chain_id(&c->log.chain, path[i]);
            out->n = n;
        }
    }
    if (!rc && terminal != CHAIN_NONE)
        out->terminal = chain_id(&view->chain, terminal);
    free(path);
    return rc;
}

/* ---- boundaries ---- */

static enum err_code claude_add_kept(struct fork_view *c, struct fork_boundary *b,
                                     struct slice value)
{
    struct id128 id = claude_id(value, &c->log.arena);

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

static enum err_code read_kept(struct fork_view *c, struct slice metadata, struct fork_boundary *b)
{
    struct slice list = { NULL, 0 }, segment, key, value;
    struct json_iter it;

    if (!json_at(metadata, "preservedMessages.uuids", &list) || json_type(list) != JSON_ARRAY)
        list = (struct slice){ NULL, 0 };
    b->kept = arena_alloc(&c->log.arena, (count_elements(list) + 2) * sizeof *b->kept);
    if (!b->kept)
        return ERR_NOMEM;
    for (bool more = json_iter_open(&it, list); more && json_iter_next(&it, &key, &value);)
        claude_add_kept(c, b, value);
    if (!json_get(metadata, "preservedSegment", &segment) || json_type(segment) != JSON_OBJECT)
        return ERR_OK;
    if (json_get(segment, "headUuid", &value))
        claude_add_kept(c, b, value);
    if (json_get(segment, "tailUuid", &value))
        claude_add_kept(c, b, value);
    return ERR_OK;
}

enum err_code fork_boundary_read(struct fork_view *c, size_t line, struct fork_boundary *b,
                                 struct err *e)
{
    static const char *const kept[] = { "preservedMessages", "preservedSegment" };
    struct slice row, metadata, value;
    bool named = false;
    int64_t took;

    *b = (struct fork_boundary){ .is = false };
    if (!fork_view_has(c, line) || !claude_line_is(claude_line(&c->log, line), CLAUDE_SYSTEM))
        return ERR_OK;
    enum err_code rc = claude_log_row(&c->log, line, &row, e);

    if (rc || !claude_is_boundary(row))
        return rc;
    b->is = true;
    if (c->f->keep[line] == FORK_STRIPPED || !json_get(row, "compactMetadata", &metadata) ||
        json_type(metadata) != JSON_OBJECT)
        return ERR_OK;

    /* If both forms are there the first one counts, even without an anchor. */
    for (size_t i = 0; i < 2 && !named; i++)
        if (json_get(metadata, kept[i], &value) && json_type(value) != JSON_NULL) {
            b->anchor = claude_id_at(value, "anchorUuid", &c->log.arena);
            named = true;
        }
    b->going_back = json_get(metadata, "durationMs", &value) && json_int(value, &took) &&
                    took == 0 && !id128_none(b->anchor) &&
                    id128_eq(b->anchor, claude_line(&c->log, line)->id);
    return read_kept(c, metadata, b) ? err_nomem(e) : ERR_OK;
}

bool fork_boundary_keeps(const struct fork_boundary *b, struct id128 id)
{
    for (size_t i = 0; i < b->n; i++)
        if (id128_eq(b->kept[i], id))
            return true;
    return false;
}
