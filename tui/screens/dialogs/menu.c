#include <stdio.h>
#include <string.h>

#include "tui/app/view.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/list/list.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/list_cursor.h"

static const enum action items[] = {
    ACT_RESUME,  ACT_VIEW,    ACT_FORK,    ACT_REWIND, ACT_RENAME,   ACT_TAG,    ACT_ARCHIVE,
    ACT_TRASH,   ACT_COPY,    ACT_EDIT,    ACT_PRINT,  ACT_BRANCHES, ACT_DOCTOR, ACT_DAMAGED,
    ACT_CLEANUP, ACT_TRASHED, ACT_DENSITY, ACT_UNDO,   ACT_REDO,
};

enum { ITEMS = sizeof items / sizeof *items, LETTER_W = 4, TITLE_W = 16, MENU_W = 66 };

static void draw_menu_item(const struct model *m, struct frame *f, struct rect r, size_t i)
{
    enum action a = items[i];
    const char *why = view_unavailable(m, a);
    struct key key;
    char name[KEY_NAME] = "";
    enum style plain = why ? STYLE_DIM : STYLE_TEXT;

    if (keymap_key_of(m->settings->keys, IN_MENU, a, &key))
        key_name(key, f->ascii, name);
    frame_puts(f, r.y, r.x + 1, LETTER_W, why ? STYLE_DIM : STYLE_KEY, name);
    frame_puts(f, r.y, r.x + LETTER_W, TITLE_W, plain, action_title(a));
    const char *text = why ? why : action_help(a);

    frame_text_cut(f, r.y, r.x + LETTER_W + TITLE_W, r.w - LETTER_W - TITLE_W, STYLE_DIM,
                   slice_of(text));
    if (i == m->menu->at)
        frame_point(f, r);
}

/* As wide as the longest reason, which is longer than any help line. */
static int width(const struct model *m)
{
    size_t most = MENU_W;

    for (size_t i = 0; i < ITEMS; i++) {
        const char *why = view_unavailable(m, items[i]);
        size_t n = why ? LETTER_W + TITLE_W + strlen(why) : 0;

        most = n > most ? n : most;
    }
    return (int)most;
}

static struct slice menu_title(const struct model *m, char *out, size_t cap)
{
    const struct session_entry *e = list_selection_session(m);

    if (m->list->marks > 1 && view_base(m) == VIEW_LIST) {
        snprintf(out, cap, "%zu marked sessions", m->list->marks);
        return slice_of(out);
    }
    return e && session_entry_title(e).n ? session_entry_title(e) : SLICE("actions");
}

static void draw_menu(const struct model *m, struct frame *f)
{
    char title[64];
    struct rect r = frame_box(f, (int)ITEMS, width(m), menu_title(m, title, sizeof title));
    size_t fit = r.h > 0 ? (size_t)r.h : 1;
    size_t top = list_cursor_top(0, m->menu->at, ITEMS, fit);

    for (size_t i = 0; i < fit && top + i < ITEMS; i++)
        draw_menu_item(m, f, (struct rect){ r.y + (int)i, r.x, 1, r.w }, top + i);
}

/* The menu closes first, so that the action applies to the view below and its toast is visible. */
static void menu_choose(struct model *m, enum action a)
{
    view_pop(m);
    update_perform(m, a);
}

static bool menu_act(struct model *m, enum action a)
{
    if (list_cursor_wrap(&m->menu->at, ITEMS, a))
        return true;
    switch (a) {
    case ACT_FIRST: m->menu->at = 0; return true;
    case ACT_LAST: m->menu->at = ITEMS - 1; return true;
    case ACT_ACCEPT: menu_choose(m, items[m->menu->at]); return true;
    case ACT_BACK: view_pop(m); return true;
    default: break;
    }
    for (size_t i = 0; i < ITEMS; i++)
        if (items[i] == a) {
            menu_choose(m, a);
            return true;
        }
    return false;
}

static bool menu_perform(struct model *m, enum action a)
{
    if (a != ACT_MENU)
        return false;
    if (view_top(m) != VIEW_MENU) {
        m->menu->at = 0;
        view_push(m, VIEW_MENU);
    }
    return true;
}

const struct view_ops view_menu = {
    .name = "menu",
    .overlay = true,
    .context = IN_MENU,
    .draw = draw_menu,
    .act = menu_act,
    .perform = menu_perform,
};
