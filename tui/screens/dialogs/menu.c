#include <stdio.h>
#include <string.h>

#include "tui/app/program.h"
#include "tui/app/view.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/list/list.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/list_cursor.h"
#include "tui/widgets/styled_text.h"

/* The menu has two groups, one above the other: what concerns the session, and what concerns all of them. Each has two
 * columns, the left one first. The line below them explains the selected action, or says why it is not possible. */
static const struct {
    enum action action;
    const char *label;
} items[] = {
    { ACT_RESUME, "resume" },
    { ACT_RESUME_WITH, "resume with other flags" },
    { ACT_FORK, "fork" },
    { ACT_CONTINUE_IN, "continue in another agent" },
    { ACT_VIEW, "read" },
    { ACT_REWIND, "rewind files" },
    { ACT_BRANCHES, "forks and branches" },
    { ACT_COMPARE, "compare two sessions" },
    { ACT_EXPORT, "export" },
    { ACT_BUNDLE, "bundle for another machine" },

    { ACT_RENAME, "rename" },
    { ACT_TAG, "tag" },
    { ACT_PIN, "pin to the top" },
    { ACT_ARCHIVE, "archive" },
    { ACT_KEEP, "keep a copy" },
    { ACT_TRASH, "delete" },
    { ACT_DOCTOR, "check for damage" },
    { ACT_COPY, "copy" },
    { ACT_EDIT, "open in editor" },
    { ACT_PRINT, "print and quit" },

    { ACT_UNDO, "undo" },
    { ACT_REDO, "redo" },
    { ACT_LOG, "log of changes" },
    { ACT_TRASHED, "trash" },
    { ACT_CLEANUP, "clean up" },

    { ACT_BOARD, "running sessions" },
    { ACT_DAMAGED, "damaged sessions" },
    { ACT_USAGE, "usage and cost" },
    { ACT_DENSITY, "one or two lines" },
};

/* The second group begins at ALL. Between their lines is one with the name of the second. */
enum {
    ITEMS = sizeof items / sizeof *items,
    SESSION_LINES = 10,
    ALL = 2 * SESSION_LINES,
    ALL_LINES = (ITEMS - ALL + 1) / 2,
    GRID_LINES = SESSION_LINES + 1 + ALL_LINES,
    LETTER_W = 4,
    MENU_W = 72,
    TEXT_LINES = 3, /* a blank line and the explanation */
};

/* Where an item is in the grid. */
struct menu_cell {
    int line, column;
};

static struct menu_cell cell_of_item(size_t i)
{
    int k = (int)i, first = 0, lines = SESSION_LINES;

    if (i >= ALL) {
        k -= ALL;
        first = SESSION_LINES + 1;
        lines = ALL_LINES;
    }
    return (struct menu_cell){ first + k % lines, k / lines };
}

/* Moves to the other column, in the same line or, where the column is shorter, to its end. */
static bool menu_to_column(struct menu *menu, int column)
{
    struct menu_cell at = cell_of_item(menu->at);
    size_t lines = menu->at < ALL ? SESSION_LINES : ALL_LINES;

    if (at.column == column)
        return false;
    menu->at = column ? menu->at + lines : menu->at - lines;
    if (menu->at >= ITEMS)
        menu->at = ITEMS - 1;
    return true;
}

static const char *item_key(const struct model *m, size_t i, char out[KEY_NAME])
{
    struct key key;

    out[0] = '\0';
    if (keymap_key_of(&m->settings->keys, IN_MENU, items[i].action, &key))
        key_label(key, m->settings->ascii, out);
    return out;
}

/* The key that does it without the menu; none if it is the same one. */
static void direct_key(const struct model *m, size_t i, char out[KEY_NAME])
{
    const struct keymap *keys = &m->settings->keys;
    struct key key;
    char letter[KEY_NAME];

    out[0] = '\0';
    if (view_base(m) == VIEW_LIST && keymap_key_of(keys, IN_LIST, items[i].action, &key))
        key_label(key, m->settings->ascii, out);
    if (strcmp(out, item_key(m, i, letter)) == 0)
        out[0] = '\0';
}

/* The label of the reverse action, if all selected sessions are pinned, archived or only kept; else NULL. */
static const char *reverse_label(const struct model *m, enum action a)
{
    struct list_selection s = list_selection_of(m);
    const bool pins = a == ACT_PIN, archives = a == ACT_ARCHIVE;
    const char *label = NULL;
    uint32_t i;

    while ((pins || archives || a == ACT_KEEP) && list_selection_next(&s, &i)) {
        const struct session_row *row = m->list->sessions.entry[i].row;

        if (pins ? !m->list->sessions.sort_key[i].pinned
                 : !row || !(row->flags & (archives ? SESSION_ARCHIVED : SESSION_KEPT)))
            return NULL;
        label = pins ? "unpin" : archives ? "unarchive" : "put back";
    }
    return label;
}

static void draw_menu_grid(const struct model *m, struct frame *f, struct rect r, int top)
{
    int keys_w = LETTER_W, right = r.w / 2 + 3;
    char name[KEY_NAME];

    /* One letter for each, unless other keys are configured. */
    for (size_t i = 0; i < ITEMS; i++) {
        const int w = frame_width(slice_of(item_key(m, i, name))) + 3;

        keys_w = w > keys_w ? w : keys_w;
    }
    int rule = r.y + SESSION_LINES - top;

    if (rule >= r.y && rule < r.y + r.h) {
        frame_rule(f, rule, r.x, r.w);
        frame_puts(f, rule, r.x + 1, r.w - 1, STYLE_DIM, " all sessions ");
    }
    for (size_t i = 0; i < ITEMS; i++) {
        struct menu_cell at = cell_of_item(i);
        enum style style = view_unavailable(m, items[i].action) ? STYLE_DIM : STYLE_TEXT;
        struct rect c = { r.y + at.line - top, r.x, 1, right - 1 };

        if (c.y < r.y || c.y >= r.y + r.h)
            continue;
        if (at.column)
            c = (struct rect){ c.y, r.x + right, 1, r.w - right };
        frame_puts(f, c.y, c.x + 1, keys_w, style == STYLE_DIM ? STYLE_DIM : STYLE_KEY,
                   item_key(m, i, name));

        const char *reverse = reverse_label(m, items[i].action);
        int used = frame_text_cut(f, c.y, c.x + keys_w, c.w - keys_w, style,
                                  slice_of(reverse ? reverse : items[i].label));

        /* The key that does the same without the menu is shown only if it fits whole. */
        direct_key(m, i, name);
        if (keys_w + used + 2 + frame_width(slice_of(name)) < c.w)
            frame_puts_right(f, c.y, c.x + c.w - 1, STYLE_DIM, name);
        if (i == m->menu->at)
            frame_point(f, c);
    }
}

/* The footer stays visible. On a low screen the grid scrolls, and a long reason takes lines from it. */
static void draw_menu(const struct model *m, struct frame *f)
{
    enum action a = items[m->menu->at].action;
    const char *why = view_unavailable(m, a), *text = why ? why : action_help(a);
    int w = f->cols - 4 < MENU_W ? f->cols - 4 : MENU_W, most = f->rows - 3;
    int h = most < GRID_LINES + TEXT_LINES ? most : GRID_LINES + TEXT_LINES;
    char marked[64];
    const struct session_entry *e = list_selection_session(m);
    struct slice title = e && session_entry_title(e).n ? session_entry_title(e) : SLICE("actions");

    if (m->list->marks > 1 && view_base(m) == VIEW_LIST) {
        snprintf(marked, sizeof marked, "%zu marked sessions", m->list->marks);
        title = slice_of(marked);
    }
    struct rect r = frame_box(f, h, w, title);
    int lines = text_wrap_height(slice_of(text), r.w), line = cell_of_item(m->menu->at).line;

    lines = lines < TEXT_LINES ? lines : TEXT_LINES;
    int fit = r.h - lines < GRID_LINES ? r.h - lines : GRID_LINES;
    int top = (int)list_cursor_top(0, (size_t)line, GRID_LINES, (size_t)fit);

    int blank = r.h - fit - lines > 0;

    draw_menu_grid(m, f, (struct rect){ r.y, r.x, fit, r.w }, top);
    text_wrap_draw(f, (struct rect){ r.y + fit + blank, r.x + 1, lines, r.w },
                   why ? STYLE_WARN : STYLE_DIM, slice_of(text));
    frame_scrollbar(f, (struct rect){ r.y, r.x, fit, r.w + 2 }, (size_t)top, GRID_LINES,
                    (size_t)fit);
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
    case ACT_ACCEPT: menu_choose(m, items[m->menu->at].action); return true;
    case ACT_PANE: menu_to_column(m->menu, 1); return true;
    case ACT_PANE_PREV:
        if (!menu_to_column(m->menu, 0))
            view_pop(m);
        return true;
    case ACT_BACK: view_pop(m); return true;
    default: break;
    }
    for (size_t i = 0; i < ITEMS; i++)
        if (items[i].action == a) {
            menu_choose(m, a);
            return true;
        }
    return false;
}

static bool menu_perform(struct model *m, enum action a)
{
    if (a == ACT_MENU && view_top(m) != VIEW_MENU) {
        m->menu->at = 0;
        m->menu->about = false;
        view_push(m, VIEW_MENU);
        /* The first of those that are possible: marked sessions, for one, cannot be resumed. */
        for (size_t i = 0; i < ITEMS && view_unavailable(m, items[m->menu->at].action); i++)
            m->menu->at = (i + 1) % ITEMS;
    }
    return a == ACT_MENU;
}

static bool menu_holds(const struct model *m, enum action a)
{
    return view_base(m) == VIEW_LIST &&
           list_holds(m, a == ACT_ACCEPT ? items[m->menu->at].action : a);
}

/* A menu is about one session, as soon as the rows are in order; if that leaves the list, the letters do not go to its
 * neighbour. */
static void menu_tick(struct model *m)
{
    struct menu *menu = m->menu;

    if (view_top(m) != VIEW_MENU || m->list->marks > 0)
        return;
    if (list_is_ahead(m->list)) {
        menu->about = false;
        return;
    }
    if (!menu->about) {
        menu->entry = view_entry(m);
        menu->about = menu->entry != ENTRY_NONE;
    }
    if (view_entry(m) == menu->entry || !list_settled(m->list))
        return;
    view_pop(m);
    toast_note(&m->toast, m->now_ms, "the session has gone from the list");
}

const struct view_ops view_menu = {
    .name = "menu",
    .overlay = true,
    .context = IN_MENU,
    .draw = draw_menu,
    .act = menu_act,
    .holds = menu_holds,
    .perform = menu_perform,
    .tick = menu_tick,
};
