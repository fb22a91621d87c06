#include "tui/app/key.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"

/* `reprise help keys`: every key of both schemes, with the name of its action in the configuration. The manual is made
 * from it. */

enum { KEYS_TEXT = 96, KEYS_COLUMNS = 18, NAME_COLUMNS = 15 };

static void write_line(struct out *o, const char *keys, enum action a, const char *vim)
{
    out_addf(o, "  ");
    session_line_column(slice_of(keys), KEYS_COLUMNS, o);
    out_addf(o, "  %-*s  %s%s%s%s\n", NAME_COLUMNS, action_name(a), action_help(a),
             vim[0] ? " (vim: " : "", vim, vim[0] ? ")" : "");
}

/* Different keys of the second scheme follow the action. Without a key, the keys through the menu
 * are shown. */
static void write_action(struct out *o, const struct keymap *bound, enum key_context place,
                         enum action a)
{
    const struct keymap first = { KEYS_DEFAULT, bound->bound, bound->bounds };
    const struct keymap second = { KEYS_VIM, bound->bound, bound->bounds };
    char usual[KEYS_TEXT], vim[KEYS_TEXT], menu[KEYMAP_MENU_KEYS];

    keymap_keys_of(&first, place, a, o->ascii, usual, sizeof usual);
    keymap_keys_of(&second, place, a, o->ascii, vim, sizeof vim);
    keymap_menu_keys(&first, place, a, o->ascii, menu);
    if (usual[0] || vim[0] || (menu[0] && keymap_is_bound(bound, place, a)))
        write_line(o, usual[0] ? usual : menu, a, strcmp(usual, vim) ? vim : "");
}

void help_keys_write(const struct keymap *bound, struct out *o)
{
    for (int place = 0; place < IN_COUNT; place++) {
        out_addf(o, "%s%s:\n", place ? "\n" : "", keymap_context_name((enum key_context)place));
        for (int a = ACT_NONE + 1; a < ACT_COUNT; a++)
            write_action(o, bound, (enum key_context)place, (enum action)a);
    }
}
