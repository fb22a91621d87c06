#ifndef TUI_APP_KEY_H
#define TUI_APP_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"
#include "tui/app/action.h"

/* One key press, independent of how a terminal sends it. term/ makes these; keymaps and line
 * editors read them. (curses owns the names KEY_*.)
 *
 * A letter is its code point as typed, without MOD_SHIFT: 'G', not shift+'g'. With MOD_CTRL a
 * letter is lower case: Ctrl+A is { 'a', MOD_CTRL }. The bytes of Enter, Tab, Backspace
 * and Esc always become the named key; Ctrl+J (byte 10) is { 'j', MOD_CTRL }. Only named keys can
 * have MOD_SHIFT: Shift+Tab is { KEYCODE_TAB, MOD_SHIFT }. */
enum key_code {
    KEYCODE_NONE = 0,
    KEYCODE_ENTER = 0x110000, /* after the last code point */
    KEYCODE_TAB,
    KEYCODE_BACKSPACE,
    KEYCODE_DELETE,
    KEYCODE_ESC,
    KEYCODE_UP,
    KEYCODE_DOWN,
    KEYCODE_LEFT,
    KEYCODE_RIGHT,
    KEYCODE_HOME,
    KEYCODE_END,
    KEYCODE_PAGE_UP,
    KEYCODE_PAGE_DOWN,
    KEYCODE_INSERT,
    KEYCODE_F1, /* F12 is KEYCODE_F1 + 11 */
    KEYCODE_F12 = KEYCODE_F1 + 11,
};

enum key_mods {
    MOD_CTRL = 1 << 0,
    MOD_ALT = 1 << 1,
    MOD_SHIFT = 1 << 2,
};

struct key {
    uint32_t code; /* a code point or enum key_code */
    uint8_t mods;  /* enum key_mods */
};

enum mouse_event { MOUSE_CLICK, MOUSE_DOUBLE_CLICK, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN };

struct mouse {
    enum mouse_event event; /* a double click follows the click that began it */
    int y, x;
};

static inline bool key_eq(struct key a, struct key b)
{
    return a.code == b.code && a.mods == b.mods;
}

/* Returns true for a key that inserts text when it is typed into a query. */
static inline bool key_is_text(struct key k)
{
    return k.mods == 0 && k.code >= ' ' && k.code != 0x7f && k.code < KEYCODE_ENTER;
}

/* How the key is written in the footer and in help: "^A", "Alt+b", "Enter", "↑", "F1", "q". */
enum { KEY_NAME = 24 };
void key_label(struct key k, bool ascii, char out[KEY_NAME]);
/* Reads such a name in upper or lower case, also "ctrl-a", "alt+b" and "page-up". If it returns
 * false, *why is the reason. */
bool key_parse(struct slice word, struct key *out, const char **why);

/* One table maps keys to actions by context. It is searched from the top, and the first row that
 * fits is used; the rows of the context itself come before those that apply everywhere.
 *
 * Contexts where text is entered (the list in the default scheme, the filter, prompts) bind no
 * plain letter, so typing there never triggers an action. */
#define KEY_CONTEXTS(X)                                                                            \
    X(LIST, "list")                                                                                \
    X(FILTER, "filter")                                                                            \
    X(TRANSCRIPT, "transcript")                                                                    \
    X(REWIND, "rewind")                                                                            \
    X(TREE, "tree")                                                                                \
    X(SEARCH, "search")                                                                            \
    X(MENU, "menu")                                                                                \
    X(DIALOG, "dialog")                                                                            \
    X(TRASH, "trash")                                                                              \
    X(LOG, "log")                                                                                  \
    X(BOARD, "board")                                                                              \
    X(COMPARE, "compare")                                                                          \
    X(USAGE, "usage")                                                                              \
    X(CLEANUP, "cleanup")                                                                          \
    X(DAMAGED, "damaged")                                                                          \
    X(DOCTOR, "doctor")                                                                            \
    X(BLAME, "blame")                                                                              \
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

enum key_scheme { KEYS_DEFAULT, KEYS_VIM };

/* A key that the configuration binds to an action in a context, which replaces the keys of the
 * table. KEYCODE_NONE: no key. */
struct key_binding {
    enum key_context place;
    enum action action;
    struct key key;
    int line; /* the line of the configuration */
};

/* The keys in force. A zeroed struct is the default. The bindings of the configuration come first: those of the
 * context, then those that apply everywhere. */
struct keymap {
    enum key_scheme scheme;
    const struct key_binding *bound;
    size_t bounds;
};

/* Returns true for the key that always quits. It cannot be bound, so that there is always a way
 * out. */
static inline bool key_is_exit(struct key k)
{
    return k.code == 'c' && k.mods == MOD_CTRL;
}

/* ACT_NONE: the key has no action here (and is text if text is being entered). */
enum action keymap_find(const struct keymap *k, enum key_context place, struct key key);
/* The first key of an action in a context, for the footer. Returns false if it has no key there. */
bool keymap_key_of(const struct keymap *k, enum key_context place, enum action a, struct key *out);
/* Returns true if the configuration sets the keys of the action there. */
bool keymap_is_bound(const struct keymap *k, enum key_context place, enum action a);
/* Returns true if the action is meaningful in a context, even without a key there. */
bool keymap_has(enum key_context place, enum action a);
/* The keys that reach an action through the menu: "^X x"; "" if the menu of this context lacks
 * it. */
enum { KEYMAP_MENU_KEYS = 2 * KEY_NAME };
void keymap_menu_keys(const struct keymap *k, enum key_context place, enum action a, bool ascii,
                      char out[KEYMAP_MENU_KEYS]);
/* All keys of an action in a context, written out: "↑ ^P ^K". The text is cut to fit. */
void keymap_keys_of(const struct keymap *k, enum key_context place, enum action a, bool ascii,
                    char *out, size_t cap);
/* "{back} goes back.": the text with the first key of each action in braces. Returns out. */
const char *keymap_text(const struct keymap *k, enum key_context place, bool ascii,
                        const char *text, char *out, size_t cap);
/* Returns true if letters typed in the context are text. */
bool keymap_is_text(const struct keymap *k, enum key_context place);

#endif
