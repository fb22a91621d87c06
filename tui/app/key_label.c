#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lite/base/utf8.h"
#include "tui/app/key.h"

/* The first row of a code is the name that is shown; the configuration accepts all of them. */
static const struct {
    uint32_t code;
    const char *sign, *ascii;
} key_names[] = {
    { KEYCODE_ENTER, "Enter", "Enter" },
    { KEYCODE_ENTER, "Return", "Return" },
    { KEYCODE_TAB, "Tab", "Tab" },
    { KEYCODE_BACKSPACE, "Bksp", "Bksp" },
    { KEYCODE_BACKSPACE, "Backspace", "Backspace" },
    { KEYCODE_DELETE, "Del", "Del" },
    { KEYCODE_DELETE, "Delete", "Delete" },
    { KEYCODE_ESC, "Esc", "Esc" },
    { KEYCODE_ESC, "Escape", "Escape" },
    { KEYCODE_UP, "↑", "Up" },
    { KEYCODE_DOWN, "↓", "Down" },
    { KEYCODE_LEFT, "←", "Left" },
    { KEYCODE_RIGHT, "→", "Right" },
    { KEYCODE_HOME, "Home", "Home" },
    { KEYCODE_END, "End", "End" },
    { KEYCODE_PAGE_UP, "PgUp", "PgUp" },
    { KEYCODE_PAGE_UP, "PageUp", "Page-Up" },
    { KEYCODE_PAGE_DOWN, "PgDn", "PgDn" },
    { KEYCODE_PAGE_DOWN, "PageDown", "Page-Down" },
    { KEYCODE_INSERT, "Ins", "Ins" },
    { KEYCODE_INSERT, "Insert", "Insert" },
    { ' ', "Space", "Space" },
};

enum { KEY_NAMES = sizeof key_names / sizeof *key_names };

void key_label(struct key k, bool ascii, char out[KEY_NAME])
{
    const char *word = NULL;
    char own[8] = "";

    /* Only named keys and the blank have a word. */
    for (size_t i = 0; i < KEY_NAMES && !word; i++)
        if (key_names[i].code == k.code)
            word = ascii ? key_names[i].ascii : key_names[i].sign;

    if (k.code >= KEYCODE_F1 && k.code <= KEYCODE_F12)
        snprintf(own, sizeof own, "F%u", (unsigned)(k.code - KEYCODE_F1 + 1));
    else if (!word && k.code < KEYCODE_ENTER) {
        bool letter = k.code >= 'a' && k.code <= 'z';
        uint32_t shown = (k.mods & MOD_CTRL) && letter ? k.code - 'a' + 'A' : k.code;

        own[utf8_encode(own, shown)] = '\0';
    }
    snprintf(out, KEY_NAME, "%s%s%s%s", k.mods & MOD_SHIFT ? "Shift+" : "",
             k.mods & MOD_ALT ? "Alt+" : "",
             !(k.mods & MOD_CTRL) ? ""
             : word               ? "Ctrl+"
                                  : "^",
             word ? word : own);
}

/* ---- reading ---- */

static bool key_label_is_name(struct slice word, const char *name)
{
    return strlen(name) == word.n && strncasecmp(name, word.p, word.n) == 0;
}

/* Takes "ctrl-", "ctrl+" or "^" from the front. */
static bool parse_modifier(struct slice *word, uint8_t *mods)
{
    static const struct {
        const char *name;
        enum key_mods mod;
    } modifiers[] = { { "ctrl", MOD_CTRL }, { "alt", MOD_ALT }, { "shift", MOD_SHIFT } };

    if (word->n > 1 && word->p[0] == '^') {
        *mods |= MOD_CTRL;
        *word = (struct slice){ word->p + 1, word->n - 1 };
        return true;
    }
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++) {
        size_t n = strlen(modifiers[i].name);

        if (word->n < n + 2 || (word->p[n] != '-' && word->p[n] != '+') ||
            strncasecmp(word->p, modifiers[i].name, n) != 0)
            continue;
        *mods |= (uint8_t)modifiers[i].mod;
        *word = (struct slice){ word->p + n + 1, word->n - n - 1 };
        return true;
    }
    return false;
}

static uint32_t key_label_code_of(struct slice word)
{
    for (size_t i = 0; i < KEY_NAMES; i++)
        if (key_label_is_name(word, key_names[i].ascii) ||
            key_label_is_name(word, key_names[i].sign))
            return key_names[i].code;
    for (unsigned n = 1; n <= 12; n++) {
        char name[8];

        snprintf(name, sizeof name, "f%u", n);
        if (key_label_is_name(word, name))
            return KEYCODE_F1 + n - 1;
    }
    uint32_t code = utf8_next(&word, false);
    return word.n == 0 && code > ' ' && code != 0x7f && code != UTF8_REPLACEMENT ? code
                                                                                 : KEYCODE_NONE;
}

/* A terminal has no byte for these: Ctrl+I is Tab, and Alt+[ begins a sequence. */
static const char *unsendable(struct key k)
{
    bool character = k.code < KEYCODE_ENTER && k.code != ' ';

    if (character && k.mods & MOD_SHIFT)
        return "a terminal sends the character itself: G, not shift-g";
    if (character && k.mods & MOD_ALT && k.code < 0x80 && strchr("[]^_", (int)k.code))
        return "a terminal cannot send it";
    if (!character || !(k.mods & MOD_CTRL))
        return NULL;
    if (k.code == 'i')
        return "in a terminal it is Tab";
    if (k.code == 'm')
        return "in a terminal it is Enter";
    if (k.code == 'h')
        return "in a terminal it is Backspace";
    return (k.code >= 'a' && k.code <= 'z') || k.code == '\\' || k.code == ']' || k.code == '^' ||
                   k.code == '_'
               ? NULL
               : "a terminal cannot send it";
}

bool key_parse(struct slice word, struct key *out, const char **why)
{
    struct key k = { 0 };

    while (parse_modifier(&word, &k.mods))
        ;
    k.code = word.n ? key_label_code_of(word) : KEYCODE_NONE;
    if (k.mods & MOD_CTRL && k.code >= 'A' && k.code <= 'Z')
        k.code |= 0x20; /* the terminal sends the same byte, or we read the same key */
    *why = k.code ? unsendable(k) : "no key has this name";
    if (*why)
        return false;
    *out = k;
    return true;
}
