#ifndef STORE_SYSTEMS_ENTIRE_GODOC_H
#define STORE_SYSTEMS_ENTIRE_GODOC_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/buf.h"
#include "lite/slice.h"

/* JSON documents as Go's encoder writes them with an indent of two blanks (entire.md 2.1): Entire's metadata and state
 * are compared byte by byte. Strings and numbers of a document that is written again stay as they stand. The first
 * failure (memory) sticks in rc. */
struct godoc {
    struct buf *out;
    enum err_code rc;
    int depth;
    bool filled; /* something stands on this level already */
};

void godoc_init(struct godoc *g, struct buf *out);
void godoc_open(struct godoc *g, char bracket);
void godoc_close(struct godoc *g, char bracket);
void godoc_key(struct godoc *g, const char *key);
/* Behind a key, or an element of an array. */
void godoc_text(struct godoc *g, struct slice text);
void godoc_int(struct godoc *g, int64_t n);
void godoc_value(struct godoc *g, struct slice json); /* any value, laid out anew */

/* key and text; nothing when it is empty */
void godoc_member(struct godoc *g, const char *key, struct slice text);
/* The newline at the end of a document. */
void godoc_end(struct godoc *g);

/* A change of a document's top level. */
struct godoc_set {
    const char *key;
    struct slice value; /* JSON; empty: the member goes */
};
/* The object with these members changed, all others as they are and in their order; new ones take the place that `order`
 * (NULL-terminated) gives them. An empty object makes a new document. Ends in a newline. Where the document has <, > and &
 * as they are, and nowhere escaped, the new members have them so too: versions differ in it (entire.md 2.1). */
MUST_CHECK enum err_code godoc_edit(struct slice object, const char *const order[],
                                    const struct godoc_set set[], size_t n, struct buf *out);

#endif
