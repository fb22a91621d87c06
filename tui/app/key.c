#include "tui/app/key.h"

#include <stdio.h>

#include "lite/base/utf8.h"

static const struct {
    uint32_t code;
    const char *sign, *ascii;
} names[] = {
    { KEYCODE_ENTER, "Enter", "Enter" },
    { KEYCODE_TAB, "Tab", "Tab" },
    { KEYCODE_BACKSPACE, "Bksp", "Bksp" },
    { KEYCODE_DELETE, "Del", "Del" },
    { KEYCODE_ESC, "Esc", "Esc" },
    { KEYCODE_UP, "↑", "Up" },
    { KEYCODE_DOWN, "↓", "Down" },
    { KEYCODE_LEFT, "←", "Left" },
    { KEYCODE_RIGHT, "→", "Right" },
    { KEYCODE_HOME, "Home", "Home" },
    { KEYCODE_END, "End", "End" },
    { KEYCODE_PAGE_UP, "PgUp", "PgUp" },
    { KEYCODE_PAGE_DOWN, "PgDn", "PgDn" },
    { KEYCODE_INSERT, "Ins", "Ins" },
    { ' ', "Space", "Space" },
};

/* Named keys and the blank; NULL: the key is written as the character it is. */
static const char *named_key(uint32_t code, bool ascii)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            return ascii ? names[i].ascii : names[i].sign;
    return NULL;
}

void key_name(struct key k, bool ascii, char out[KEY_NAME])
{
    const char *word = named_key(k.code, ascii);
    char own[8] = "";

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
