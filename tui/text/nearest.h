#ifndef TUI_TEXT_NEAREST_H
#define TUI_TEXT_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the known word that was probably meant by a mistyped one:
 *
 *     const char *near = NULL;
 *     size_t best = nearest_limit(typed);
 *
 *     for each known word
 *         if (nearest_is_nearer(typed, known, &best))
 *             near = known;
 * */

/* The distance of a mistyped word from a known one, in insertions, deletions, substitutions and swaps of neighbours.
 * Words are cut at NEAREST_WORD. */
enum { NEAREST_WORD = 32 };
size_t nearest_distance(const char *typed, const char *known);

/* The largest distance at which a suggestion is not a guess. */
size_t nearest_limit(const char *typed);

/* Returns true if the known word is within *best of the typed one, and makes *best smaller for the next. */
bool nearest_is_nearer(const char *typed, const char *known, size_t *best);

#endif
