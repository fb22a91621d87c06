#ifndef STORE_LOG_CHAIN_H
#define STORE_LOG_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/scan/index.h"

/* The parent chain of a log whose rows have an id and name their parent row.
 *
 * - Every id is one node, even if several rows have it: the last row has the content of the id, the first one its place
 *   in the order of ids.
 * - An id that only occurs as a parent, and has no row in the file, is a node without a row.
 * - Rows may come before their parents, name themselves, or form circles: every walk here takes each node at most
 *   once, and nothing recurses.
 *
 * Cost: 41 bytes a node and up to 16 for the look-up. */
#define CHAIN_NONE UINT32_MAX

struct chain_node {
    uint32_t line;              /* the last row with this id; CHAIN_NONE if there is no row */
    uint32_t first;             /* the first row with this id */
    uint32_t parent;            /* a node, perhaps without a row; CHAIN_NONE for a root */
    uint32_t child, next, prev; /* first child and siblings, in no order; CHAIN_NONE ends them */
};

struct chain {
    const struct index *index; /* borrowed */
    struct idset ids;          /* a node is the number of its id */
    struct chain_node *node;   /* owned; n of them */
    uint8_t *mark;             /* one for each node, 0 at first; for walks */
    size_t n, cap, mark_cap;
    size_t first_line; /* lines before it are ignored */
    size_t again;      /* rows whose id had a row before */
};

/* The rows are the LINE_OK lines from first_line on that have an id and a kind in `kinds` (bit 1 << kind). On failure
 * nothing is left to free. */
MUST_CHECK enum err_code chain_build(struct chain *c, const struct index *ix, size_t first_line,
                                     uint64_t kinds, struct err *e);
void chain_fini(struct chain *c);

/* Returns the node of an id, or CHAIN_NONE. */
uint32_t chain_find(const struct chain *c, struct id128 id);
/* The same, but adds a node without a row if the id is new. Moves c->node and c->mark. */
MUST_CHECK enum err_code chain_add_id(struct chain *c, struct id128 id, uint32_t *node);
/* Returns the parent of a node if that has a row, or CHAIN_NONE. */
uint32_t chain_parent(const struct chain *c, uint32_t node);
struct id128 chain_id(const struct chain *c, uint32_t node);
bool chain_has_row(const struct chain *c, uint32_t node);
/* Gives a node another parent (CHAIN_NONE makes it a root). */
void chain_relink(struct chain *c, uint32_t node, uint32_t parent);

/* Returns the nodes from the root to the leaf. The walk up ends at a root, at a parent without a row, and at a node
 * that was visited before. `mark` is set on each of them; none may have it before. The caller owns *path. */
MUST_CHECK enum err_code chain_walk(struct chain *c, uint32_t leaf, uint8_t mark, uint32_t **path,
                                    size_t *n, struct err *e);

#endif
