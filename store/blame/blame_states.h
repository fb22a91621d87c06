#ifndef STORE_BLAME_BLAME_STATES_H
#define STORE_BLAME_BLAME_STATES_H

#include "store/blame/blame_text.h"

/* The contents that a file had while its edits are replayed (blame_text.state). Private to store/blame/. */

/* Remembers the present content, if it is known. */
MUST_CHECK enum err_code blame_states_keep(struct blame_text *t, struct err *e);
void blame_states_fini(struct blame_text *t);

/* The newest state with this content, or with this hash; NULL if the file never had it. */
const struct blame_state *blame_states_find(const struct blame_text *t, struct slice content,
                                            size_t lines);
const struct blame_state *blame_states_with_hash(const struct blame_text *t,
                                                 const uint8_t sha256[SHA256_BYTES]);

/* The lines of a text as a set. */
MUST_CHECK enum err_code blame_states_lines(struct slice text, struct slice_set *out);
/* The visible characters of a text. */
size_t blame_states_visible(struct slice s);
/* Those of its lines that are in the set too (NULL: of all), each line once. */
MUST_CHECK enum err_code blame_states_common(struct slice text, const struct slice_set *lines,
                                             size_t *out);
/* The newest of the states that have most in common with the lines, and how much; NULL: they have nothing in common. */
MUST_CHECK enum err_code blame_states_most_alike(const struct blame_text *t,
                                                 const struct slice_set *lines, size_t *best,
                                                 const struct blame_state **state);

#endif
