#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tui/app/model.h"
#include "tui/app/view.h"

/* The keys worth knowing in each context, most useful first. Those that do not fit or are not
 * possible now are left out, except help, the way back and, where letters are text, the menu, because
 * they lead to the rest. */
static const enum action in_list[] = {
    ACT_RESUME, ACT_VIEW,   ACT_SEARCH_NEXT, ACT_SEARCH_PREV, ACT_MARK,    ACT_SCOPE,
    ACT_FORK,   ACT_RENAME, ACT_MENU,        ACT_SORT,        ACT_PREVIEW, ACT_NONE,
};
static const enum action in_filter[] = { ACT_ACCEPT, ACT_BACK, ACT_UP, ACT_DOWN, ACT_NONE };
static const enum action in_transcript[] = {
    ACT_BACK,           ACT_SEARCH_NEXT, ACT_SEARCH_PREV, ACT_PROMPT_PREV, ACT_PROMPT_NEXT,
    ACT_UNFOLD_OR_PAGE, ACT_SEARCH,      ACT_RESUME_AT,   ACT_REWIND_AT,   ACT_COPY,
    ACT_THINKING,       ACT_SUBAGENTS,   ACT_MENU,        ACT_NONE,
};
static const enum action in_rewind[] = {
    ACT_APPLY, ACT_TICK, ACT_MARK_ALL, ACT_PANE,    ACT_MODE, ACT_UNDO,   ACT_REDO,
    ACT_BACK,  ACT_ONLY, ACT_INFERRED, ACT_TOUCHED, ACT_TREE, ACT_BISECT, ACT_NONE,
};
static const enum action in_blame[] = { ACT_VIEW,   ACT_PANE, ACT_SIDE_RIGHT, ACT_SIDE_LEFT,
                                        ACT_SEARCH, ACT_LINE, ACT_BACK,       ACT_NONE };
static const enum action in_search[] = { ACT_ACCEPT, ACT_SEARCH_NEXT, ACT_SEARCH_PREV, ACT_BACK,
                                         ACT_NONE };
static const enum action in_choice[] = { ACT_ACCEPT, ACT_UP, ACT_DOWN, ACT_BACK, ACT_NONE };
static const enum action in_trash[] = { ACT_RESTORE, ACT_MARK, ACT_SEARCH, ACT_EMPTY,
                                        ACT_UNDO,    ACT_REDO, ACT_BACK,   ACT_NONE };
static const enum action in_damaged[] = { ACT_FIX,   ACT_VIEW, ACT_DOCTOR, ACT_SCOPE,
                                          ACT_TRASH, ACT_MENU, ACT_BACK,   ACT_NONE };
static const enum action in_doctor[] = { ACT_FIX,  ACT_VIEW, ACT_EDIT, ACT_UNDO,
                                         ACT_REDO, ACT_BACK, ACT_NONE };
static const enum action in_help[] = { ACT_UP, ACT_DOWN, ACT_PAGE_DOWN, ACT_BACK, ACT_NONE };

enum { GAP = 2 };

static const enum action *actions_of(enum key_context place)
{
    switch (place) {
    case IN_LIST: return in_list;
    case IN_FILTER: return in_filter;
    case IN_TRANSCRIPT: return in_transcript;
    case IN_REWIND: return in_rewind;
    case IN_SEARCH: return in_search;
    case IN_BLAME: return in_blame;
    case IN_TRASH: return in_trash;
    case IN_DAMAGED: return in_damaged;
    case IN_DOCTOR: return in_doctor;
    case IN_HELP: return in_help;
    default: return in_choice;
    }
}

/* The key as the footer shows it. In the list `?` opens help, although it is text once something is
 * typed. */
static bool footer_key(const struct model *m, enum key_context place, enum action a, bool ascii,
                       char out[KEY_NAME])
{
    const struct view_ops *top = m->views[view_top(m)];
    struct key key;

    if (!keymap_key_of(&m->settings->keys, place, a, &key))
        return false;
    if (a == ACT_HELP && top->sign_helps && top->sign_helps(m))
        key = (struct key){ '?', 0 };
    key_label(key, ascii, out);
    return true;
}

/* Actions that are called something else in one place. */
static const struct {
    enum key_context place;
    enum action action;
    const char *title;
} titled_here[] = {
    { IN_BLAME, ACT_PANE, "turns or lines" },
    { IN_COMPARE, ACT_PREVIEW_DOWN, "text down" },
    { IN_COMPARE, ACT_PREVIEW_UP, "text up" },
    { IN_SEARCH, ACT_ACCEPT, "find" },
    { IN_TREE, ACT_ACCEPT, "open" },
    { IN_TREE, ACT_PANE, "all or differing" },
    { IN_TREE, ACT_PROMPT_PREV, "earlier" },
    { IN_TREE, ACT_PROMPT_NEXT, "later" },
    { IN_TREE, ACT_PREVIEW_DOWN, "file down" },
    { IN_TREE, ACT_PREVIEW_UP, "file up" },
    { IN_USAGE, ACT_ACCEPT, "its sessions" },
    { IN_USAGE, ACT_VALUE_NEXT, "next grouping" },
    { IN_USAGE, ACT_VALUE_PREV, "previous grouping" },
};

/* The title of the action; "" if the key already names it: "Up", not "Up up". */
static const char *title_beside(enum key_context place, const char *key, enum action a)
{
    const char *title = action_title(a);

    for (size_t i = 0; i < sizeof titled_here / sizeof *titled_here; i++)
        if (titled_here[i].place == place && titled_here[i].action == a)
            title = titled_here[i].title;

    return strcasecmp(key, title) == 0 ? "" : title;
}

static void draw_entry(struct frame *f, int y, int x, const char *key, const char *title)
{
    x += frame_puts(f, y, x, f->cols - x, STYLE_KEY, key) + 1;
    frame_puts(f, y, x, f->cols - x, STYLE_DIM, title);
}

/* Returns whether the last change of this run may be undone, or redone. The rewind view knows those of its session. */
static bool is_offered(const struct model *m, enum key_context place, enum action a)
{
    return (a != ACT_UNDO && a != ACT_REDO) || place == IN_REWIND || m->way_back == a;
}

/* The width of an action in the footer, with the gap before the next; 0 if it is not shown. */
static int entry_width(const struct model *m, enum key_context place, enum action a, bool ascii)
{
    char key[KEY_NAME];

    if (!is_offered(m, place, a) || view_unavailable(m, a) || !footer_key(m, place, a, ascii, key))
        return 0;

    const char *title = title_beside(place, key, a);

    return (frame_width(slice_of(key)) + (*title != '\0') + (int)strlen(title)) + GAP;
}

/* The room for those of the coming actions that are shown at every width: the way back and, where letters are text, the
 * menu. */
static int width_kept(const struct model *m, enum key_context place, const enum action *coming,
                      bool ascii)
{
    bool is_text = keymap_is_text(&m->settings->keys, place);
    int w = 0;

    for (; *coming != ACT_NONE; coming++)
        if (*coming == ACT_BACK || (is_text && *coming == ACT_MENU))
            w += entry_width(m, place, *coming, ascii);
    return w;
}

enum { ROWS_MIN = 12, COLS_MIN = 50 };

static bool render_draw_status(const struct model *m, struct frame *f, struct rect r)
{
    for (size_t i = 0; i < VIEW_COUNT; i++)
        if (m->views[i]->status && m->views[i]->status(m, f, r))
            return true;
    return false;
}

void render(const struct model *m, struct frame *f)
{
    char text[80];

    frame_clear(f);
    if (f->rows < ROWS_MIN || f->cols < COLS_MIN) {
        int n = snprintf(text, sizeof text, "%dx%d is too small: reprise needs %dx%d", f->cols,
                         f->rows, COLS_MIN, ROWS_MIN);

        if (n > f->cols)
            snprintf(text, sizeof text, "needs %dx%d", COLS_MIN, ROWS_MIN);
        frame_puts(f, f->rows / 2, 0, f->cols, STYLE_WARN, text);
        f->cursor_y = f->rows / 2;
        f->cursor_x = 0;

        return;
    }
    size_t from = m->depth - 1;

    while (from > 0 && m->views[m->stack[from]]->overlay)
        from--;
    m->views[m->stack[from]]->draw(m, f);

    int h = toast_height(&m->toast, f->cols);
    struct rect r = { f->rows - h, 0, h, f->cols };

    frame_fill(f, r, STYLE_TEXT); /* on the smallest screens, views may extend to this line */
    if (!toast_draw(&m->toast, f, r)) {
        int used = 0;

        if (m->silent) {
            snprintf(text, sizeof text, "no answer from %.40s yet", m->silent);
            used = frame_puts(f, r.y, r.x + 1, r.w - 1, STYLE_WARN, text) + GAP;
        }
        r = (struct rect){ r.y, r.x + used, r.h, r.w - used };
        if (!render_draw_status(m, f, r)) {
            /* The keys that fit into the line; help comes last, and always has room. */
            enum key_context place = view_key_context(m);
            const struct view_ops *top = m->views[view_top(m)];
            const enum action *own = top->footer ? top->footer(m) : NULL,
                              *actions = own ? own : actions_of(place);
            int help_w = entry_width(m, place, ACT_HELP, f->ascii);
            int x = r.x + 1, end = r.x + r.w - 1 + GAP; /* the last one needs none */
            char key[KEY_NAME];

            for (const enum action *a = actions; *a != ACT_NONE; a++) {
                int w = entry_width(m, place, *a, f->ascii);

                if (w == 0 || x + w + width_kept(m, place, a + 1, f->ascii) + help_w > end ||
                    !footer_key(m, place, *a, f->ascii, key))
                    continue;
                draw_entry(f, r.y, x, key, title_beside(place, key, *a));
                x += w;
            }
            if (help_w > 0 && x + help_w <= end && footer_key(m, place, ACT_HELP, f->ascii, key))
                draw_entry(f, r.y, x, key, title_beside(place, key, ACT_HELP));
        }
    }

    for (size_t i = from + 1; i < m->depth; i++)
        m->views[m->stack[i]]->draw(m, f);
}
