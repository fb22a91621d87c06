#include "store/systems/claude/log.h"

#include <stdlib.h>

#include "lite/json.h"
#include "store/systems/claude/facts.h"

/* A compaction may keep messages that lie before its boundary. They are not written again: the boundary
 * says which they are and behind which row (the anchor) they belong, and what followed the anchor then
 * follows the last of them (claude.md 3.2). */

struct kept {
    uint32_t anchor, first, last; /* nodes; CHAIN_NONE where the boundary names none */
};

/* The node of an id, made when the file has no such row; CHAIN_NONE for what is no id. */
static enum err_code name(struct claude_log *log, struct slice object, const char *key,
                          uint32_t *node)
{
    struct id128 id = claude_id_at(object, key, &log->arena);

    *node = CHAIN_NONE;
    return id128_none(id) ? ERR_OK : chain_name(&log->chain, id, node);
}

/* What followed the anchor follows the last kept row now. */
static void move_behind(struct chain *c, const struct kept *k)
{
    if (k->anchor == CHAIN_NONE || k->anchor == k->last)
        return;
    for (uint32_t at = c->node[k->anchor].child, next; at != CHAIN_NONE; at = next) {
        next = c->node[at].next;
        if (at != k->first)
            chain_relink(c, at, k->last);
    }
}

/* The rows of an id list, or nothing unless all of them are in the file. */
static enum err_code known_rows(struct claude_log *log, struct slice uuids, uint32_t **nodes,
                                size_t *n)
{
    struct json_iter it;
    struct slice key, value;
    size_t cap = 0;

    for (bool more = json_iter_open(&it, uuids); more && json_iter_next(&it, &key, &value);) {
        struct id128 id = claude_id(value, &log->arena);
        uint32_t node = id128_none(id) ? CHAIN_NONE : chain_find(&log->chain, id);

        if (node == CHAIN_NONE || !chain_has_row(&log->chain, node)) {
            *n = 0;
            return ERR_OK;
        }
        if (*n == cap) {
            cap = cap ? 2 * cap : 64;
            uint32_t *grown = realloc(*nodes, cap * sizeof *grown);

            if (!grown)
                return ERR_NOMEM;
            *nodes = grown;
        }
        (*nodes)[(*n)++] = node;
    }
    return ERR_OK;
}

static enum err_code relink_list(struct claude_log *log, struct slice kept)
{
    struct chain *c = &log->chain;
    struct slice uuids;
    uint32_t *node = NULL, anchor;
    size_t n = 0;
    enum err_code rc = ERR_OK;

    if (json_get(kept, "uuids", &uuids) && json_type(uuids) == JSON_ARRAY)
        rc = known_rows(log, uuids, &node, &n);
    if (!rc && n)
        rc = name(log, kept, "anchorUuid", &anchor);
    if (!rc && n) {
        uint32_t parent = anchor;

        for (size_t i = 0; i < n; i++) {
            chain_relink(c, node[i], parent);
            parent = node[i];
        }
        move_behind(c, &(struct kept){ anchor, node[0], node[n - 1] });
    }
    free(node);
    return rc;
}

static enum err_code relink_segment(struct claude_log *log, struct slice kept)
{
    struct kept k;
    enum err_code rc = name(log, kept, "anchorUuid", &k.anchor);

    if (!rc)
        rc = name(log, kept, "headUuid", &k.first);
    if (!rc)
        rc = name(log, kept, "tailUuid", &k.last);
    if (rc)
        return rc;
    if (k.first != CHAIN_NONE && chain_has_row(&log->chain, k.first))
        chain_relink(&log->chain, k.first, k.anchor);
    move_behind(&log->chain, &k);
    return ERR_OK;
}

static enum err_code relink_boundary(struct claude_log *log, struct slice row)
{
    struct slice metadata, kept;

    if (!claude_is_boundary(row) || !json_get(row, "compactMetadata", &metadata))
        return ERR_OK;
    if (json_get(metadata, "preservedMessages", &kept) && claude_truthy(kept))
        return relink_list(log, kept);
    if (json_get(metadata, "preservedSegment", &kept) && claude_truthy(kept))
        return relink_segment(log, kept);
    return ERR_OK;
}

enum err_code claude_relink(struct claude_log *log, struct err *e)
{
    size_t rows = log->chain.n; /* naming an anchor may add nodes */

    for (size_t i = 0; i < rows; i++) {
        struct slice row;

        if (!chain_has_row(&log->chain, (uint32_t)i) ||
            !claude_line_is(claude_node_line(log, (uint32_t)i), CLAUDE_SYSTEM) ||
            !claude_line_has(claude_node_line(log, (uint32_t)i), MARK_COMPACT))
            continue;
        enum err_code rc = claude_log_row(log, log->chain.node[i].line, &row, e);

        if (rc)
            return rc;
        rc = relink_boundary(log, row);
        if (rc)
            return err_set(e, rc, log->file.path, "follow a compaction");
    }
    return ERR_OK;
}
