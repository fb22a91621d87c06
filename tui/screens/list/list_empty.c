#include <stdio.h>
#include <string.h>

#include "tui/app/key.h"
#include "tui/screens/list/list.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/styled_text.h"

/* Shown if there are no rows: the reason, the folders that were searched, and the key that helps. */
struct pen {
    struct frame *f;
    struct rect r;
    int y;
};

static void line_text(struct pen *pen, enum style style, const char *text)
{
    struct rect r = { pen->y, pen->r.x + 3, pen->r.y + pen->r.h - pen->y, pen->r.w - 3 };
    int used = text_wrap_draw(pen->f, r, style, slice_of(text));

    pen->y += used > 1 ? used : 1;
}

static void draw_named(struct pen *pen, const char *name, const char *what)
{
    if (pen->y < pen->r.y + pen->r.h) {
        frame_puts(pen->f, pen->y, pen->r.x + 3, 6, STYLE_KEY, name);
        frame_puts(pen->f, pen->y, pen->r.x + 10, pen->r.w - 11, STYLE_TEXT, what);
    }
    pen->y++;
}

/* A key and what it does. */
static void line_key(struct pen *pen, const struct list *l, enum action a, const char *what)
{
    struct key key;
    char name[KEY_NAME];

    if (keymap_key_of(&l->settings->keys, IN_LIST, a, &key)) {
        key_label(key, pen->f->ascii, name);
        draw_named(pen, name, what);
    }
}

static void offer_wider_scope(struct pen *pen, const struct list *l)
{
    if (l->scope == SCOPE_ALL)
        return;
    line_key(pen, l, ACT_SCOPE,
             l->scope == SCOPE_HERE ? "include the repository's other worktrees"
                                    : "look in all projects");
}

static void draw_no_match(const struct list *l, struct pen *pen)
{
    char text[96];

    /* Without a query only archived sessions are hidden. */
    if (l->query.n == 0) {
        line_text(pen, STYLE_STRONG, "All sessions here are archived");
        line_text(pen, STYLE_DIM, "Type is:archived to see them");
        return;
    }
    if (l->content.asked || l->content.ask_ms != TIME_NONE) {
        line_text(pen, STYLE_DIM, "Searching the conversations ...");
        return;
    }

    line_text(pen, STYLE_STRONG, "No matches");
    pen->y++;
    if (list_content_text(l).n) {
        snprintf(text, sizeof text, "%zu conversations searched: prompts, replies and tools",
                 l->order.n);
        line_text(pen, STYLE_DIM, text);
        pen->y++;
        line_key(pen, l, ACT_BACK, "clear the query");
        offer_wider_scope(pen, l);
        line_key(pen, l, ACT_HELP, "how to search");
        pen->y++;
        line_text(pen, STYLE_DIM,
                  "A conversation must contain every word; quotes search for a phrase.");
        return;
    }

    snprintf(text, sizeof text, "%zu %s searched: title, prompts, branch, tag, directory",
             l->order.n, l->order.n == 1 ? "session" : "sessions");
    line_text(pen, STYLE_DIM, text);
    if (!list_settled(l))
        line_text(pen, STYLE_DIM, "and some are still loading");
    pen->y++;
    line_key(pen, l, ACT_BACK, "clear the query");
    offer_wider_scope(pen, l);
    line_key(pen, l, ACT_HELP, "how to filter");
    draw_named(pen, "//", "before the words searches in the conversations");
    pen->y++;
    line_text(pen, STYLE_DIM, "Fields: agent: project: branch: tag: id: before: after: size: is:");
}

/* "claude  /home/u/.claude" */
static struct slice split_place(const char *place, struct slice *path)
{
    const char *gap = strstr(place, "  ");
    size_t n = gap ? (size_t)(gap - place) : 0;

    *path = slice_of(gap ? gap + 2 : place);
    return (struct slice){ place, n };
}

/* One place per line, or one after the other if there are not enough lines. */
static void draw_looked_in(const struct list *l, struct pen *pen)
{
    const struct settings *s = l->settings;
    bool fits = pen->y + (int)s->looked_in_count <= pen->r.y + pen->r.h;
    struct buf text = { 0 };
    struct slice path;
    int w = 0;

    /* The places are in a column of their own. */
    for (size_t i = 0; fits && i < s->looked_in_count; i++) {
        const int n = (int)split_place(s->looked_in[i], &path).n;

        w = n > w ? n : w;
    }
    for (size_t i = 0; i < s->looked_in_count; i++) {
        struct slice system = split_place(s->looked_in[i], &path);
        char dir[512];

        path = text_path_short(path, s->home, dir, sizeof dir);
        if (buf_addf(&text, "%s%-*.*s%s%.*s",
                     !i     ? ""
                     : fits ? "\n"
                            : ", ",
                     w, SLICE_ARG(system), fits ? "  " : " ", SLICE_ARG(path)))
            break;
    }
    if (buf_cstr(&text))
        line_text(pen, STYLE_DIM, buf_cstr(&text));
    buf_fini(&text);
}

static void draw_no_sessions(const struct list *l, struct pen *pen)
{
    char dir[512], text[600];
    struct slice here = text_path_short(l->settings->project, l->settings->home, dir, sizeof dir);

    line_text(pen, STYLE_STRONG,
              l->scope == SCOPE_ALL ? "There are no sessions yet"
                                    : "There are no sessions here yet");
    pen->y++;
    for (size_t i = 0; l->problems && i < l->problems->n; i++) {
        err_sentence(&l->problems->problem[i].err, text, sizeof text);
        line_text(pen, STYLE_ERROR, text);
    }
    offer_wider_scope(pen, l);
    line_key(pen, l, ACT_REFRESH, "reload");
    pen->y++;
    line_text(pen, STYLE_TEXT, "Start your agent here, and its sessions appear.");
    line_text(pen, STYLE_TEXT, "To try everything on a sample: reprise demo");
    pen->y++;
    if (l->scope == SCOPE_ALL)
        line_text(pen, STYLE_DIM, "Searched for sessions of all projects:");
    else {
        snprintf(text, sizeof text, "Searched for sessions of %.*s%s:", SLICE_ARG(here),
                 l->scope == SCOPE_WORKTREES ? " and its worktrees" : "");
        line_text(pen, STYLE_DIM, text);
    }
    draw_looked_in(l, pen);
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
