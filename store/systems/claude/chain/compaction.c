#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/systems/claude/chain/log.h"
#include "store/systems/claude/chain/row_facts.h"

/* In a large file the SDK's reader starts at the last compaction boundary that kept no messages. It
 * looks for boundaries block by block and misses some; to return the same rows, this code must miss
 * the same boundaries (claude.md 3.6):
 *  - if a line ends in the block in which it begins, the key has to be within its first 256 bytes;
 *  - if a line crosses the end of a block, it has to begin with {"type":"system", unless hardly anything of it is
 *    before that end: then it is treated like the others. */
enum { SKIP_ABOVE = 5242880, BLOCK = 1048576, KEY_WITHIN = 256, HARDLY_ANYTHING = 30 };

static bool found_by_sdk(const struct index_line *line, struct slice row)
{
    static const char key[] = "\"compact_boundary\"", front[] = "{\"type\":\"system\"";
    int64_t last_block = (line->offset + line->length) / BLOCK * BLOCK;

    if (last_block - line->offset >= HARDLY_ANYTHING)
        return row.n >= sizeof front - 1 && memcmp(row.p, front, sizeof front - 1) == 0;
    if (row.n > KEY_WITHIN + sizeof key - 2)
        row.n = KEY_WITHIN + sizeof key - 2;
    return memmem(row.p, row.n, key, sizeof key - 1) != NULL;
}

static bool keeps_messages(struct slice row)
{
    struct slice metadata;

    return json_get(row, "compactMetadata", &metadata) && json_type(metadata) == JSON_OBJECT &&
           (claude_key_truthy(metadata, "preservedMessages") ||
            claude_key_truthy(metadata, "preservedSegment"));
}

enum err_code claude_first_visible_line(struct claude_log *log, size_t *first_line, struct err *e)
{
    const struct index *ix = &log->file.index;
    size_t complete = ix->n - (ix->n && ix->torn_tail);

    *first_line = 0;
    if (log->file.file.id.size <= SKIP_ABOVE)
        return ERR_OK;
    for (size_t i = complete; i-- > 0;) {
        struct slice row;

        if (!claude_line_is(&ix->line[i], CLAUDE_SYSTEM))
            continue;
        /* This needs the bytes of the line and not the row, because a control byte at the beginning
         * hides a boundary. */
        TRY(logfile_row(&log->file, i, &row, e));
        if (found_by_sdk(&ix->line[i], row) && claude_is_boundary(row) && !keeps_messages(row) &&
            json_type(row) == JSON_OBJECT) {
            *first_line = i;
            return ERR_OK;
        }
    }
    return ERR_OK;
}

/* ---- what a boundary kept ---- */

/* A compaction may keep messages that are before its boundary. They are not written again: the
 * boundary lists them and names the row (the anchor) after which they belong, and the rows that
 * followed the anchor then follow the last of them (claude.md 3.2). */

struct kept {
    uint32_t anchor, first, last; /* nodes; CHAIN_NONE if the boundary names none */
};

/* Finds the node of an id, which is added if the file has no such row; CHAIN_NONE if the value is not an id. */
static enum err_code add_named_id(struct claude_log *log, struct slice object, const char *key,
                                  uint32_t *node)
{
    struct id128 id = claude_id_at(object, key, &log->arena);

    *node = CHAIN_NONE;
    return id128_none(id) ? ERR_OK : chain_add_id(&log->chain, id, node);
}

/* The rows that followed the anchor now follow the last kept row. */
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

/* The rows of an id list, or none unless all of them are in the file. */
static enum err_code claude_known_rows(struct claude_log *log, struct slice uuids, uint32_t **nodes,
                                       size_t *n, bool *unknown)
{
    struct json_iter it;
    struct slice key, value;
    size_t cap = 0;

    for (bool more = json_iter_open(&it, uuids); more && json_iter_next(&it, &key, &value);) {
        struct id128 id = claude_id(value, &log->arena);
        uint32_t node = id128_none(id) ? CHAIN_NONE : chain_find(&log->chain, id);

        if (node == CHAIN_NONE || !chain_has_row(&log->chain, node)) {
            *n = 0;
            *unknown = true;
            return ERR_OK;
        }
        if (!array_reserve(*nodes, cap, *n + 1))
            return ERR_NOMEM;
        (*nodes)[(*n)++] = node;
    }
    return ERR_OK;
}

static enum err_code keep_row(struct claude_log *log, uint32_t node)
{
    uint32_t number;

    log->kept_last = node;
    return idset_add(&log->kept, chain_id(&log->chain, node), &number);
}

static enum err_code relink_list(struct claude_log *log, struct slice kept)
{
    struct chain *c = &log->chain;
    struct slice uuids;
    uint32_t *node = NULL, anchor;
    size_t n = 0;
    bool unknown = false;
    enum err_code rc = ERR_OK;

    if (json_get(kept, "uuids", &uuids) && json_type(uuids) == JSON_ARRAY)
        rc = claude_known_rows(log, uuids, &node, &n, &unknown);
    if (!rc && !unknown)
        log->loaded_from = log->boundary;
    for (size_t i = 0; !rc && i < n; i++)
        rc = keep_row(log, node[i]);
    if (!rc && n)
        rc = add_named_id(log, kept, "anchorUuid", &anchor);
    if (!rc && n) {
        /* The kept rows follow the anchor in the order of the list, whatever their parents are. */
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

static enum err_code relink_boundary(struct claude_log *log, uint32_t node, struct slice row)
{
    struct slice metadata, kept;

    if (!claude_is_boundary(row))
        return ERR_OK;

    /* The only rows before a boundary that remain are those that the last boundary kept. */
    size_t line = log->chain.node[node].line;

    if (line >= log->boundary) {
        log->boundary = line;
        if (log->loaded_from)
            log->loaded_from = line;
        idset_fini(&log->kept);
        log->kept = (struct idset){ 0 };
        log->kept_last = CHAIN_NONE;
    }

    if (!json_get(row, "compactMetadata", &metadata))
        return ERR_OK;
    bool list = json_get(metadata, "preservedMessages", &kept) && claude_truthy(kept);

    if (!list && !(json_get(metadata, "preservedSegment", &kept) && claude_truthy(kept)))
        return ERR_OK;
    log->keeps = true;
    if (list)
        return relink_list(log, kept);

    struct kept k;

    TRY(add_named_id(log, kept, "anchorUuid", &k.anchor));
    TRY(add_named_id(log, kept, "headUuid", &k.first));
    TRY(add_named_id(log, kept, "tailUuid", &k.last));

    /* Keep the rows of a segment, from its last one upwards. */
    const struct chain *c = &log->chain;
    enum err_code rc = ERR_OK;

    for (uint32_t at = k.last;
         !rc && at != CHAIN_NONE && chain_has_row(c, at) && !idset_has(&log->kept, chain_id(c, at));
         at = chain_parent(c, at)) {
        rc = keep_row(log, at);
        if (at == k.first)
            break;
    }
    log->kept_last = k.last;
    if (rc)
        return rc;

    log->loaded_from = log->boundary;
    if (k.first != CHAIN_NONE && chain_has_row(&log->chain, k.first))
        chain_relink(&log->chain, k.first, k.anchor);
    move_behind(&log->chain, &k);
    return ERR_OK;
}

enum err_code claude_relink(struct claude_log *log, struct err *e)
{
    size_t rows = log->chain.n; /* adding an anchor may add nodes */

    /* A view is relinked again after rows were left out of it, and boundaries may be among them. */
    idset_fini(&log->kept);
    log->boundary = log->loaded_from = 0;
    log->keeps = false;
    log->relinked = true;
    log->kept_last = CHAIN_NONE;
    for (size_t i = 0; i < rows; i++) {
        struct slice row;

        if (!chain_has_row(&log->chain, (uint32_t)i) ||
            !claude_line_is(claude_node_line(log, (uint32_t)i), CLAUDE_SYSTEM) ||
            !claude_line_has(claude_node_line(log, (uint32_t)i), MARK_COMPACT))
            continue;
        TRY(claude_node_row(log, (uint32_t)i, &row, e));
        enum err_code rc = relink_boundary(log, (uint32_t)i, row);

        if (rc)
            return err_set(e, rc, log->file.path, "follow a compaction");
    }
    return ERR_OK;
}

void claude_unlink(struct claude_log *log)
{
    struct chain *c = &log->chain;

    for (uint32_t i = 0; i < c->n; i++) {
        if (!chain_has_row(c, i))
            continue;
        struct id128 id = claude_node_line(log, i)->parent;
        uint32_t parent = id128_none(id) ? CHAIN_NONE : chain_find(c, id);

        if (parent != c->node[i].parent)
            chain_relink(c, i, parent);
    }
    log->relinked = false;
}

bool claude_is_compacted(const struct claude_log *log, uint32_t node)
{
    return log->chain.node[node].line < log->boundary &&
           !idset_has(&log->kept, chain_id(&log->chain, node));
}

bool claude_is_loaded(const struct claude_log *log, uint32_t node)
{
    return log->chain.node[node].line >= log->loaded_from || !claude_is_compacted(log, node);
}

void claude_remove_unloaded(struct claude_log *log)
{
    struct chain *c = &log->chain;

    for (uint32_t i = 0; log->loaded_from && i < c->n; i++) {
        if (!chain_has_row(c, i) || claude_is_loaded(log, i))
            continue;
        /* The rows that followed it now follow the last kept row, as was observed in the client. */
        for (uint32_t at = c->node[i].child, next; at != CHAIN_NONE; at = next) {
            next = c->node[at].next;
            chain_relink(c, at, log->kept_last == at ? CHAIN_NONE : log->kept_last);
        }
        chain_relink(c, i, CHAIN_NONE);
        c->node[i].line = CHAIN_NONE;
    }
}
