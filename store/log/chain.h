#ifndef STORE_LOG_CHAIN_H
#define STORE_LOG_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/scan/index.h"

/* Who follows whom in a log whose rows have an id and name the row before them.
 *
 *  - Every id is one node, however often a row with it was written: the last row is what the id says,
 *    the first one is where it stands in the order of ids.
 *  - An id that is only named, as a parent that is not in the file, is a node without a row.
 *  - Rows may come before their parents, name themselves, or form circles: everything here takes each
 *    node at most once, and nothing recurses.
 *
 * Cost: 41 bytes a node and up to 16 for the look-up. */
#define CHAIN_NONE UINT32_MAX

struct chain_node {
    uint32_t line;              /* of the last row with this id; CHAIN_NONE: there is no row */
    uint32_t first;             /* of the first row with this id */
    uint32_t parent;            /* node, perhaps one without a row; CHAIN_NONE: a root */
    uint32_t child, next, prev; /* first child and siblings, in no order; CHAIN_NONE ends */
};

struct chain {
    const struct index *index; /* borrowed */
    struct idset ids;          /* a node is the number of its id */
    struct chain_node *node;   /* owned; n of them */
    uint8_t *mark;             /* one a node, 0 at first: for whoever walks */
    size_t n, cap, mark_cap;
    size_t first_line; /* lines before are not looked at */
    size_t again;      /* rows whose id had a row before */
};

/* Rows are the LINE_OK lines from first_line on that have an id and a kind in `kinds` (bit 1 << kind). On
 * failure nothing is left to free. */
MUST_CHECK enum err_code chain_build(struct chain *c, const struct index *ix, size_t first_line,
                                     uint64_t kinds, struct err *e);
void chain_fini(struct chain *c);

/* The node of an id, or CHAIN_NONE. */
uint32_t chain_find(const struct chain *c, struct id128 id);
/* The same, but makes a node without a row where there is none. Moves c->node and c->mark. */
MUST_CHECK enum err_code chain_add_id(struct chain *c, struct id128 id, uint32_t *node);
/* The parent of a node if that has a row, else CHAIN_NONE. */
uint32_t chain_parent(const struct chain *c, uint32_t node);
struct id128 chain_id(const struct chain *c, uint32_t node);
bool chain_has_row(const struct chain *c, uint32_t node);
/* Puts a node under another parent (CHAIN_NONE: makes it a root). */
void chain_relink(struct chain *c, uint32_t node, uint32_t parent);

/* The nodes from the root to the leaf; walking up ends at a root, at a parent without a row, and at a
 * node that was met before. Sets `mark` on each of them; none may carry it yet. *path is owned by the
 * caller. */
MUST_CHECK enum err_code chain_walk(struct chain *c, uint32_t leaf, uint8_t mark, uint32_t **path,
                                    size_t *n, struct err *e);

#endif
