#ifndef TUI_COMMANDS_NEAREST_H
#define TUI_COMMANDS_NEAREST_H

#include <stddef.h>

/* How far a mistyped word is from a known one: insertions, deletions, substitutions and swaps of
 * neighbours. Words are cut at OPTION_WORD. */
enum { OPTION_WORD = 32 };
size_t option_distance(const char *typed, const char *known);
/* From which distance on a suggestion would be a guess. */
size_t option_distance_limit(const char *typed);

#endif
