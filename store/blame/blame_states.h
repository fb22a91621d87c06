#ifndef STORE_BLAME_BLAME_STATES_H
#define STORE_BLAME_BLAME_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/base/slice.h"
#include "store/fs/hasher.h"

/* The texts that a file had while its edits are replayed. Private to store/blame/. */

/* A text that the file had, and the owners of its lines. */
struct blame_state {
    struct id128 hash;
    uint32_t *owner;
    size_t lines;
    struct buf text;
};

/* A zeroed struct has no state. */
struct blame_states {
    struct blame_state *state; /* owned; newest last */
    size_t n, cap, bytes;
    bool wanted; /* texts are remembered */
};

/* Remembers a text. */
MUST_CHECK enum err_code blame_states_keep(struct blame_states *s, struct slice text,
                                           const uint32_t *owner, size_t lines, struct err *e);
void blame_states_fini(struct blame_states *s);

/* Returns the newest state with this text or hash; NULL if the file never had it. */
const struct blame_state *blame_states_find(const struct blame_states *s, struct slice content,
                                            size_t lines);
const struct blame_state *blame_states_with_hash(const struct blame_states *s,
                                                 const uint8_t sha256[SHA256_BYTES]);

/* Returns the lines of a text as a set. */
MUST_CHECK enum err_code blame_states_lines(struct slice text, struct slice_set *out);
/* Counts the visible characters of a text. */
size_t blame_states_visible(struct slice s);
/* Counts those of the lines that are also in the set (NULL: of all lines), each line once. */
MUST_CHECK enum err_code blame_states_common(struct slice text, const struct slice_set *lines,
                                             size_t *out);
/* Finds the state that has most in common with the lines (the newest of equals), and how much. NULL: they have nothing
 * in common. */
MUST_CHECK enum err_code blame_states_most_alike(const struct blame_states *s,
                                                 const struct slice_set *lines, size_t *best,
                                                 const struct blame_state **state);

#endif
