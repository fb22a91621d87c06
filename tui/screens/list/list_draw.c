#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/app/key.h"
#include "tui/app/view.h"
#include "tui/screens/list/list.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/styled_text.h"

/* The preview is beside the list from this width on, else below it from this height on, else shown
 * only on demand. */
enum { BESIDE_COLS = 100, BELOW_ROWS = 30 };

/* Below this width, every session has two lines. */
enum { ONE_LINE_COLS = 80 };

bool list_has_two_lines(const struct list *l, int cols)
{
    return list_content_text(l).n || l->density == DENSITY_TWO_LINES ||
           (l->density == DENSITY_AUTO && cols < ONE_LINE_COLS);
}

/* The list gets the width that its columns can use, the conversation the rest. Rows of all projects name them. */
static void split_beside(const struct list *l, struct list_layout *out)
{
    int w = l->scope == SCOPE_ALL ? out->rows.w * 5 / 8 : out->rows.w * 4 / 7;

    if (w > 120)
        w = 120;
    out->beside = true;
    out->preview = (struct rect){ out->rows.y, out->rows.x + w, out->rows.h, out->rows.w - w };
    out->rows.w = w;
}

static void split_below(struct list_layout *out)
{
    int h = out->rows.h >= 20 ? out->rows.h * 2 / 5 : out->rows.h / 2;

    out->preview = (struct rect){ out->rows.y + h, out->rows.x, out->rows.h - h, out->rows.w };
    out->rows.h = h;
}

struct list_layout list_layout(const struct list *l, int rows, int cols)
{
    struct list_layout out = {
        .title = { 0, 0, 1, cols },
        .query = { 1, 0, 1, cols },
        .rows = { 2, 0, rows - 3, cols },
        .footer = { rows - 1, 0, 1, cols },
        .item = list_has_two_lines(l, cols) ? 2 : 1,
    };

    const bool fits = cols >= BESIDE_COLS || rows >= BELOW_ROWS;

    if (l->preview == PREVIEW_ON || (l->preview == PREVIEW_AUTO && fits)) {
        if (cols >= BESIDE_COLS)
            split_beside(l, &out);
        else
            split_below(&out);
    }
    /* In one-line lists, the selected session has its second line unless the preview's head beside the list shows the same
     * facts. */
    out.second = l->density == DENSITY_AUTO && out.item == 1 && !out.beside && out.rows.h > 1;
    out.items = out.rows.h > 0 ? (size_t)((out.rows.h - out.second) / out.item) : 0;
    if (out.items == 0)
        out.items = 1;
    return out;
}

bool list_row_at(const struct list *l, int y, int x, size_t *at)
{
    struct list_layout lay = list_layout(l, l->rows, l->cols);

    if (!frame_rect_has(lay.rows, y, x))
        return false;
    *at = l->top + (size_t)((y - lay.rows.y) / lay.item);
    if (*at > l->at && lay.second)
        --*at;
    return *at < l->filter.hits;
}

void list_draw_scope(const struct list *l, struct frame *f, struct rect r)
{
    char dir[512], more[48];

    if (l->scope == SCOPE_ALL) {
        frame_puts(f, r.y, r.x, r.w, STYLE_TEXT, "all projects");
        return;
    }
    struct slice here = text_path_short(l->settings->project, l->settings->home, dir, sizeof dir);
    const char *what = "";

    if (l->scope == SCOPE_WORKTREES && l->worktrees > 0) {
        snprintf(more, sizeof more, "+%zu worktree%s", l->worktrees, l->worktrees == 1 ? "" : "s");
        what = more;
    } else if (l->scope == SCOPE_HERE) {
        what = "only";
    }
    /* The worktrees give way to the last two parts of the path; "~/…op" would name nothing. */
    enum { ROOM_LEAST = 12 };
    if (l->scope == SCOPE_WORKTREES && r.w - frame_width(slice_of(what)) - 1 < ROOM_LEAST)
        what = "";
    int room = r.w - (*what ? frame_width(slice_of(what)) + 1 : 0);
    int used = frame_text_middle(f, r.y, r.x, room, STYLE_TEXT, here);

    frame_puts(f, r.y, r.x + used + 1, r.w - used - 1, STYLE_DIM, what);
}

/* "37 of 412 sessions  recent": the matches, the total and the order; preceded by a spinner while work is under
 * way. Without a query, sessions that are not shown are the archived ones. "256+ sessions…": more are still being found;
 * "412 sessions…": they are still being read, so rows may move. */
static int list_draw_counts(const struct list *l, struct frame *f, struct rect r)
{
    enum { WITH_ORDER_COLS = 60, WITH_REASON_COLS = 80 };
    char text[128], size[HUMAN_SIZE], bytes[HUMAN_SIZE + 4] = "";
    bool ranked = query_ranks(&l->filter.query) && l->sort == SORT_RECENT && !l->tree;
    const size_t n = l->order.n, shown = l->filter.hits;
    const bool archived =
        shown < n && l->query.n == 0 && !filter_pending(&l->filter) && r.w >= WITH_REASON_COLS;
    char of[32] = "", rest[40] = "";

    if (l->sort == SORT_SIZE) {
        human_size(l->bytes, size);
        snprintf(bytes, sizeof bytes, "%s  ", size);
    }
    if (shown < n)
        snprintf(of, sizeof of, "%zu of ", shown);
    if (archived)
        snprintf(rest, sizeof rest, " (%zu archived)", n - shown);
    size_t used = (size_t)snprintf(text, sizeof text, "%s%zu%s session%s%s%s", of, n,
                                   l->listed_once || n == 0 ? "" : "+", n == 1 ? "" : "s",
                                   l->read_once ? ""
                                   : f->ascii   ? "..."
                                                : "…",
                                   rest);

    /* On a narrow screen only an order that is not the usual one is named. */
    if (r.w >= WITH_ORDER_COLS || l->sort != SORT_RECENT || ranked || l->tree)
        snprintf(text + used, sizeof text - used, "  %s%s%s%s", bytes, ranked ? "best, " : "",
                 order_sort_name(l->sort), l->tree ? ", tree" : "");

    int w = frame_width(slice_of(text)), x = r.x + r.w - w - 1;

    frame_puts(f, r.y, x, w, STYLE_DIM, text);
    if (list_busy(l)) {
        x -= 2;
        frame_puts(f, r.y, x, 1, STYLE_KEY, frame_spinner_sign(*l->now_ms, f->ascii));
    }
    return x;
}

static void draw_title_line(const struct list *l, struct frame *f, struct rect r)
{
    int end = list_draw_counts(l, f, r);
    int x = r.x + 1;

    x += frame_puts(f, r.y, x, end - x, STYLE_TITLE, "reprise") + 2;
    list_draw_scope(l, f, (struct rect){ r.y, x, 1, end - x - 2 });
}

static void draw_query_hint(const struct list *l, struct frame *f, int y, int x, int w)
{
    char hint[64];

    if (l->settings->keys.scheme == KEYS_VIM && !l->typing)
        frame_puts(f, y, x, w, STYLE_DIM,
                   keymap_text(&l->settings->keys, IN_LIST, f->ascii, "{filter} to filter", hint,
                               sizeof hint));
    else
        frame_puts(f, y, x + 1, w - 1, STYLE_DIM, "type to filter");
}

/* The amount of damage, and where to see it: a warning only if something is missing from the list because of it. A store
 * that cannot be opened or reached is a problem. */
static enum style damage_note(const struct list *l, char *out, size_t cap)
{
    size_t problems = l->problems ? l->problems->n : 0, n = problems + l->sessions.damaged;
    char menu_keys[KEYMAP_MENU_KEYS];

    if (n == 0)
        return STYLE_DIM;
    keymap_menu_keys(&l->settings->keys, IN_LIST, ACT_DAMAGED, l->settings->ascii, menu_keys);
    snprintf(out, cap, "%zu %s: %s", n,
             problems == 0 ? "damaged"
             : n == 1      ? "problem"
                           : "problems",
             menu_keys);
    return problems + l->sessions.unlisted > 0 ? STYLE_WARN : STYLE_DIM;
}

/* The result of the search in conversations so far. */
static enum style content_note(const struct list *l, char *out, size_t cap)
{
    const struct list_content *c = &l->content;
    char size[HUMAN_SIZE], read[64] = "";
    size_t lines = 0, sessions = 0;

    for (size_t i = 0; i < l->filter.hits; i++) {
        const struct content_hit *hit = list_content_hit(l, l->filter.hit[i]);

        sessions += hit != NULL;
        lines += hit ? hit->lines : 0;
    }
    if (c->asked && c->read_sessions) {
        human_size((int64_t)c->read_bytes, size);
        snprintf(read, sizeof read, ", %llu of %zu files, %s", (unsigned long long)c->read_sessions,
                 c->to_search, size);
    }

    if (c->problem[0]) {
        snprintf(out, cap, "%s", c->problem);
        return STYLE_WARN;
    }
    if (list_content_text(l).n == 0)
        snprintf(out, cap, "searches the text of the conversations");
    else if (c->stale || c->ask_ms != TIME_NONE)
        snprintf(out, cap, "searching%s", read);
    else
        snprintf(out, cap, "%zu line%s in %zu session%s%s%s", lines, lines == 1 ? "" : "s",
                 sessions, sessions == 1 ? "" : "s", c->asked ? ", searching" : "", read);
    return STYLE_DIM;
}

static void draw_query_note(const struct list *l, struct frame *f, struct rect r, int used)
{
    char text[256] = "";
    enum style style = STYLE_MARK;

    if (l->filter.query.problem[0]) {
        snprintf(text, sizeof text, "%s", l->filter.query.problem);
        style = STYLE_WARN;
    } else if (l->filter.query.content) {
        style = content_note(l, text, sizeof text);
    } else if (l->marks > 0) {
        snprintf(text, sizeof text, "%zu marked", l->marks);
    } else if (l->query.n == 0) {
        style = damage_note(l, text, sizeof text);
    } else if (list_completion_next(l, text, sizeof text, r.w - used - 4)) {
        style = STYLE_DIM;
    }
    int w = frame_width(slice_of(text)), x = r.x + r.w - w - 1;

    if (x < r.x + used + 2)
        x = r.x + used + 2;
    frame_text_cut(f, r.y, x, r.x + r.w - x - 1, style, slice_of(text));
}

/* The terminal's cursor is on the selected session, where a screen reader looks for it; a block shows where typed
 * text goes. */
static void draw_query_line(const struct list *l, struct frame *f, struct rect r)
{
    bool text = l->settings->keys.scheme == KEYS_DEFAULT || l->typing;
    int x = r.x + frame_puts(f, r.y, r.x, 2, STYLE_PROMPT, "> ");
    int w = r.w - 3, used;

    used = line_editor_draw(&l->query, f, (struct rect){ r.y, x, 1, w }, STYLE_STRONG, true);
    if (text)
        used += frame_text(f, r.y, x + used, w - used, STYLE_DIM, list_completion_rest(l));
    if (text)
        frame_select(f, (struct rect){ r.y, f->cursor_x, 1, 1 });
    if (l->query.n == 0)
        draw_query_hint(l, f, r.y, x + text, w);
    draw_query_note(l, f, r, 2 + (l->query.n ? used : 16));
}

static void list_draw_rows(const struct list *l, struct frame *f, const struct list_layout *lay)
{
    struct rect r = lay->rows;

    const struct list_columns columns = list_columns(l, lay, r.w - 1);

    for (size_t at = l->top, y = (size_t)r.y; at < l->top + lay->items && at < l->filter.hits;
         at++) {
        int room = r.y + r.h - (int)y, h = lay->item + (at == l->at ? lay->second : 0);

        h = h < room ? h : room;
        list_draw_row(l, f, (struct rect){ (int)y, r.x, h, r.w - 1 }, at, lay, columns);
        y += (size_t)h;
    }
    frame_scrollbar(f, r, l->top, l->filter.hits, lay->items);
    f->cursor_y = r.y + (int)(l->at - l->top) * lay->item;
    f->cursor_x = r.x;
}

void list_draw(const struct model *m, struct frame *f)
{
    const struct list *l = m->list;
    struct list_layout lay = list_layout(l, f->rows, f->cols);

    draw_title_line(l, f, lay.title);
    draw_query_line(l, f, lay.query);
    if (l->order.n == 0 || l->filter.hits == 0) { /* there is nothing to preview */
        list_draw_empty(l, f, (struct rect){ lay.rows.y, 0, f->rows - lay.rows.y - 1, f->cols });
        return;
    }
    list_draw_rows(l, f, &lay);
    list_draw_preview(l, f, &lay);
}
