#ifndef TUI_APP_KEYMAP_H
#define TUI_APP_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/app/action.h"
#include "tui/app/key.h"
#include "tui/config/settings.h"

/* Which key does what where: one table, read top down, the first row that fits wins. A place's own rows are
 * asked first, then those that hold anywhere.
 *
 * Places where text is entered (the list in the default scheme, the filter, prompts) bind no plain letter:
 * what is typed there can never act. */
#define KEY_CONTEXTS(X)                                                                            \
    X(LIST, "list")                                                                                \
    X(FILTER, "filter")                                                                            \
    X(TRANSCRIPT, "transcript")                                                                    \
    X(REWIND, "rewind")                                                                            \
    X(SEARCH, "search")                                                                            \
    X(MENU, "menu")                                                                                \
    X(DIALOG, "dialog")                                                                            \
    X(TRASH, "trash")                                                                              \
    X(CLEANUP, "cleanup")                                                                          \
    X(DAMAGED, "damaged")                                                                          \
    X(DOCTOR, "doctor")                                                                            \
    X(PROMPT, "prompt")                                                                            \
    X(HELP, "help")                                                                                \
    X(ANY, "everywhere")

enum key_context {
#define X(id, name) IN_##id,
    KEY_CONTEXTS(X)
#undef X
        IN_COUNT
};

const char *keymap_context_name(enum key_context p);

/* ACT_NONE: the key does nothing here (and is text, where text is entered). */
enum action keymap_find(enum key_scheme scheme, enum key_context place, struct key key);
/* The first key of an action at a place, for the footer; false: it has none there. */
bool keymap_key_of(enum key_scheme scheme, enum key_context place, enum action a, struct key *out);
/* The way to an action through the menu of a place: "^X x"; "" where there is none. */
enum { KEYMAP_MENU_KEYS = 2 * KEY_NAME };
void keymap_menu_keys(enum key_scheme scheme, enum key_context place, enum action a, bool ascii,
                      char out[KEYMAP_MENU_KEYS]);
/* All keys of an action at a place, written out: "↑ ^P ^K". The text is cut to what fits. */
void keymap_keys_of(enum key_scheme scheme, enum key_context place, enum action a, bool ascii,
                    char *out, size_t cap);
/* Whether what is typed at the place is text. */
bool keymap_is_text(enum key_scheme scheme, enum key_context place);

#endif
