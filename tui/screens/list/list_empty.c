#include <stdio.h>
#include <string.h>

#include "tui/app/keymap.h"
#include "tui/screens/list/list.h"
#include "tui/text/path.h"

/* What stands where no session does: why, where we looked, and which key helps. */
struct pen {
    struct frame *f;
    struct rect r;
    int y;
};

static void line_text(struct pen *pen, enum style style, const char *text)
{
    if (pen->y < pen->r.y + pen->r.h)
        frame_text_cut(pen->f, pen->y, pen->r.x + 3, pen->r.w - 4, style, slice_of(text));
    pen->y++;
}

/* A key and what it does. */
static void line_key(struct pen *pen, const struct list *l, enum action a, const char *what)
{
    struct key key;
    char name[KEY_NAME];

    if (pen->y < pen->r.y + pen->r.h && keymap_key_of(l->settings->keys, IN_LIST, a, &key)) {
        key_name(key, pen->f->ascii, name);
        frame_puts(pen->f, pen->y, pen->r.x + 3, 6, STYLE_KEY, name);
        frame_puts(pen->f, pen->y, pen->r.x + 10, pen->r.w - 11, STYLE_TEXT, what);
    }
    pen->y++;
}

static void offer_wider_scope(struct pen *pen, const struct list *l)
{
    if (l->settings->one_store || l->scope == SCOPE_ALL)
        return;
    line_key(pen, l, ACT_SCOPE,
             l->scope == SCOPE_HERE ? "include the repository's other worktrees"
                                    : "look in all projects");
}

static void draw_no_match(const struct list *l, struct pen *pen)
{
    char text[96];

    if (l->query.n == 0) {
        line_text(pen, STYLE_STRONG, "All sessions here are archived");
        line_text(pen, STYLE_DIM, "Type is:archived to see them");
        return;
    }
    line_text(pen, STYLE_STRONG, "No matches");
    pen->y++;
    snprintf(text, sizeof text, "%zu %s searched: title, prompts, branch, tag, directory",
             l->order.n, l->order.n == 1 ? "session" : "sessions");
    line_text(pen, STYLE_DIM, text);
    if (!list_settled(l))
        line_text(pen, STYLE_DIM, "and some are still loading");
    pen->y++;
    line_key(pen, l, ACT_BACK, "clear the query");
    offer_wider_scope(pen, l);
    line_key(pen, l, ACT_HELP, "help on filters: tag: branch: before: size: is: ...");
}

static void draw_looked_in(const struct list *l, struct pen *pen)
{
    for (size_t i = 0; i < l->settings->looked_in_count; i++) {
        char text[512];

        snprintf(text, sizeof text, "  %s", l->settings->looked_in[i]);
        line_text(pen, STYLE_TEXT, text);
    }
}

static void draw_problems(const struct list *l, struct pen *pen)
{
    for (size_t i = 0; l->problems && i < l->problems->n; i++) {
        char text[400];

        err_format(&l->problems->problem[i].err, text, sizeof text);
        line_text(pen, STYLE_ERROR, text);
    }
}

static void draw_no_sessions(const struct list *l, struct pen *pen)
{
    char dir[512], text[600];
    struct slice here = path_short(l->settings->project, l->settings->home, dir, sizeof dir);

    line_text(pen, STYLE_STRONG,
              l->scope == SCOPE_ALL ? "There are no sessions yet"
                                    : "There are no sessions here yet");
    pen->y++;
    if (l->scope == SCOPE_ALL)
        line_text(pen, STYLE_DIM, "Searched for sessions of all projects in");
    else {
        snprintf(text, sizeof text, "Searched for sessions of %.*s%s in", SLICE_ARG(here),
                 l->scope == SCOPE_WORKTREES ? " and its worktrees" : "");
        line_text(pen, STYLE_DIM, text);
    }
    draw_looked_in(l, pen);
    draw_problems(l, pen);
    pen->y++;
    offer_wider_scope(pen, l);
    line_key(pen, l, ACT_REFRESH, "reload");
    pen->y++;
    line_text(pen, STYLE_DIM, "Start your agent here and its sessions appear by themselves,");
    line_text(pen, STYLE_DIM, "or try everything on a sample:  reprise demo");
}

void list_draw_empty(const struct list *l, struct frame *f, struct rect r)
{
    struct pen pen = { f, r, r.y + (r.h > 14 ? 2 : 1) };

    if (l->order.n > 0)
        draw_no_match(l, &pen);
    else if (l->listed_once && list_settled(l))
        draw_no_sessions(l, &pen);
    else if (list_busy(l))
        line_text(&pen, STYLE_DIM, "Loading sessions ...");
    f->cursor_y = r.y;
    f->cursor_x = 0;
}
