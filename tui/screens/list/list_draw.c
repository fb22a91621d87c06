#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/app/key.h"
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

static bool has_preview(const struct list *l, int rows, int cols)
{
    switch (l->preview) {
    case PREVIEW_ON: return true;
    case PREVIEW_OFF: return false;
    case PREVIEW_AUTO: break;
    }
    return cols >= BESIDE_COLS || rows >= BELOW_ROWS;
}

/* In one-line lists, the selected session has its second line unless the preview's head beside the list shows the
 * same facts. */
static bool selected_has_second_line(const struct list *l, const struct list_layout *lay, int cols)
{
    return l->density == DENSITY_AUTO && !list_has_two_lines(l, cols) && !lay->beside &&
           lay->rows.h > 1;
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

    if (has_preview(l, rows, cols)) {
        if (cols >= BESIDE_COLS)
            split_beside(l, &out);
        else
            split_below(&out);
    }
    out.second = selected_has_second_line(l, &out, cols);
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
    const size_t n = list_total(l), shown = list_shown(l);
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
    char text[160] = "";
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

    if (l->filter.hits == 0) {
        list_draw_empty(l, f, r);
        return;
    }
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

/* The border above the conversation, and beside it if the preview is beside the list. */
static void draw_border(struct frame *f, const struct list_layout *lay)
{
    struct rect r = lay->preview;

    frame_rule(f, r.y, r.x, r.w);
    if (!lay->beside)
        return;
    frame_edge(f, r.y + 1, r.x, r.h - 1);
    frame_puts(f, r.y, r.x, 1, STYLE_BORDER, f->ascii ? "+" : "┌");
}

struct slice list_activity(const struct session_row *row)
{
    if (row->flags & SESSION_SHELL)
        return SLICE("a command runs");
    if (!(row->flags & SESSION_WAITS))
        return (struct slice){ 0 };
    return row->waits_for.n ? row->waits_for : SLICE("waits for you");
}

struct slice list_pull_request(const struct session_row *row, char text[LIST_PULL_REQUEST])
{
    int repository = row->pr_repository.n < LIST_PULL_REQUEST / 2 ? (int)row->pr_repository.n : 0;

    if (!row->pr_number)
        return (struct slice){ 0 };
    snprintf(text, LIST_PULL_REQUEST, "%.*s#%" PRId64, repository, row->pr_repository.p,
             row->pr_number);
    return slice_of(text);
}

/* Its agent if there are several, its model, and the disk usage of the session, with the files beside its transcript once it is
 * known. */
static void draw_disk_usage(const struct list *l, struct frame *f, struct rect r)
{
    enum { SIZE_COLS = 18, BOTH_COLS = 44 };
    const struct session_entry *e = &l->sessions.entry[l->viewed];
    char all[HUMAN_SIZE], own[HUMAN_SIZE], text[80];
    const char *name = l->widths.several ? e->ref.store->ops->name : "";
    int used = frame_puts(f, r.y, r.x, r.w, STYLE_DIM, name);

    const char *dot = f->ascii ? " - " : " · ";
    struct slice model = e->row ? e->row->model : (struct slice){ 0 };

    size_t n = strlen(name);

    /* A model that begins with the name of its agent, as "claude-" does, is shown without it. */
    if (n > 0 && model.n > n && memcmp(model.p, name, n) == 0 && model.p[n] == '-')
        model = (struct slice){ model.p + n + 1, model.n - n - 1 };
    if (used > 0)
        used += frame_puts(f, r.y, r.x + used, r.w - used, STYLE_DIM, dot);
    if (model.n > 0 && used + frame_width(model) + SIZE_COLS <= r.w) {
        used += frame_text(f, r.y, r.x + used, r.w - used, STYLE_DIM, model);
        used += frame_puts(f, r.y, r.x + used, r.w - used, STYLE_DIM, dot);
    }

    human_size(session_entry_bytes(e), all);
    human_size(e->ref.file.size, own);
    if (e->ref.store->ops->remote)
        snprintf(text, sizeof text, "in %s", e->ref.store->ops->name);
    else if (!store_has_size(&e->ref))
        snprintf(text, sizeof text, "in a database");
    else if (e->bytes == 0)
        snprintf(text, sizeof text, "transcript %s", own);
    else if (strcmp(all, own) == 0 || r.w - used < BOTH_COLS - SIZE_COLS / 2)
        snprintf(text, sizeof text, "%s on disk", all);
    else
        snprintf(text, sizeof text, "%s on disk, transcript %s", all, own);
    used += frame_puts(f, r.y, r.x + used, r.w - used, STYLE_DIM, text);

    frame_puts(f, r.y, r.x - 1, 1, STYLE_DIM, " ");
    frame_puts(f, r.y, r.x + used, 1, STYLE_DIM, " ");
}

/* The number of the match of a search in conversations that the preview shows. Returns its width. */
static int draw_match_number(const struct list *l, struct frame *f, struct rect r)
{
    char state[64], text[80];

    transcript_view_search_state(l->view, state, sizeof state);
    if (l->content.previewed.n == 0 || !strstr(state, " of "))
        return 0;
    snprintf(text, sizeof text, " match %s ", state);
    int w = frame_width(slice_of(text));

    frame_puts(f, r.y, r.x + r.w - w, w, STYLE_KEY, text);
    return w;
}

enum brevity {
    WITH_TIME,
    WITH_DAY,
    WITH_NAME,
    WITHOUT_PULL_REQUEST,
    WITHOUT_DAY,
    WITHOUT_TOKENS,
    BREVITIES
};

/* "active" or "ended"; idle sessions are not marked. */
static struct slice phase_of(const struct session_row *row)
{
    bool told = row && row->phase && strcmp(row->phase, "idle") != 0;

    return told ? slice_of(row->phase) : (struct slice){ 0 };
}

enum { LIST_TOKENS = 64 };

/* "166k tokens, $0.93"; or that a session which takes a moment is being read. */
static struct slice tokens_of(const struct list *l, const struct session_entry *e,
                              char out[LIST_TOKENS])
{
    enum { LARGE = 128 << 20 };
    const struct usage_sum *sum = transcript_view_usage(l->view);
    char count[HUMAN_COUNT], cost[32] = "";

    if (l->viewed == ENTRY_NONE || e != &l->sessions.entry[l->viewed])
        return (struct slice){ NULL, 0 };
    if (!sum && transcript_view_sums_usage(l->view) && e->ref.file.size >= LARGE)
        return SLICE("summing up tokens");
    if (!sum || usage_sum_is_empty(sum))
        return (struct slice){ NULL, 0 };
    human_count(usage_sum_total(sum), count);
    if (sum->has_cost && sum->cost > 0)
        snprintf(cost, sizeof cost, sum->cost < 0.995 ? ", $%.4f%s" : ", $%.2f%s", sum->cost,
                 sum->unpriced ? "+" : "");
    snprintf(out, LIST_TOKENS, "%s tokens%s", count, cost);
    return slice_of(usage_sum_total(sum) == 0 && cost[0] ? strchr(out, '$') : out);
}

static bool join_facts(const struct list *l, const struct session_entry *e, enum brevity brevity,
                       struct buf *out)
{
    enum { DAY = sizeof "2026-11-22" - 1 };
    const char *dot = l->settings->ascii ? " - " : " · ";
    char tokens[LIST_TOKENS];
    char room[512], date[HUMAN_DATE], pr[LIST_PULL_REQUEST], tag[80] = "";
    struct slice dir = text_path_short(session_entry_cwd(e), l->settings->home, room, sizeof room);
    struct slice when = slice_of(human_date(session_entry_time(e), date));

    if (brevity >= WITH_DAY && when.n > DAY)
        when.n = DAY;
    if (e->row && e->row->tag.n && e->row->tag.n < sizeof tag - 1)
        snprintf(tag, sizeof tag, "#%.*s", SLICE_ARG(e->row->tag));

    struct slice fact[] = {
        e->row ? list_activity(e->row) : (struct slice){ 0 },
        brevity < WITH_NAME ? dir : text_path_last(dir),
        e->row ? session_row_branch(e->row) : (struct slice){ 0 },
        slice_of(tag),
        e->row && brevity < WITHOUT_PULL_REQUEST ? list_pull_request(e->row, pr)
                                                 : (struct slice){ 0 },
        phase_of(e->row),
        brevity < WITHOUT_TOKENS ? tokens_of(l, e, tokens) : (struct slice){ 0 },
        brevity == WITHOUT_DAY ? (struct slice){ 0 } : when,
    };

    out->n = 0;
    for (size_t i = 0; i < sizeof fact / sizeof *fact; i++)
        if (fact[i].n > 0 && ((out->n > 0 && buf_add(out, slice_of(dot))) || buf_add(out, fact[i])))
            return false;
    return true;
}

/* The directory, branch, phase and time below the title: "~/code/shop - main - active - 2026-11-22
 * 14:03". If that needs a second line, the time, the parent directories and the pull request are
 * left out; then the day, which the list also shows, or else the tokens. */
static bool head_facts(const struct list *l, const struct session_entry *e, int w, struct buf *out)
{
    for (enum brevity b = WITH_TIME; b < BREVITIES; b++) {
        if (!join_facts(l, e, b, out))
            return false;
        if (text_wrap_height(buf_slice(out), w) <= 1)
            return true;
    }
    return join_facts(l, e, WITH_TIME, out);
}

/* The lines of the title and of the facts, limited so that the conversation gets most of the
 * space. */
struct head {
    int title, facts;
};

static struct head head_lines(const struct session_entry *e, struct slice facts, struct rect r)
{
    int most = (r.h - 1) / 3, title = text_wrap_height(session_entry_title(e), r.w);
    int below = text_wrap_height(facts, r.w);

    if (most < 2)
        return (struct head){ 0, 0 };
    below = below < most - 1 ? below : most - 1;
    return (struct head){ title < most - below ? title : most - below, below };
}

static struct rect inside_preview(const struct list_layout *lay)
{
    struct rect r = lay->preview;

    return (struct rect){ r.y + 1, r.x + (lay->beside ? 2 : 1), r.h - 1, r.w - 2 };
}

struct rect list_conversation_rect(const struct list *l, const struct list_layout *lay)
{
    struct rect r = inside_preview(lay);
    struct buf facts = { 0 };
    const struct session_entry *e = l->viewed == ENTRY_NONE ? NULL : &l->sessions.entry[l->viewed];

    if (e && r.w > 0 && head_facts(l, e, r.w, &facts)) {
        struct head head = head_lines(e, buf_slice(&facts), r);

        r.y += head.title + head.facts;
        r.h -= head.title + head.facts;
    }
    buf_fini(&facts);
    return r;
}

static void draw_preview_head(const struct list *l, struct frame *f, const struct list_layout *lay)
{
    const struct session_entry *e = &l->sessions.entry[l->viewed];
    struct rect r = inside_preview(lay);
    struct buf facts = { 0 };

    if (head_facts(l, e, r.w, &facts)) {
        struct head head = head_lines(e, buf_slice(&facts), r);

        text_wrap_draw(f, (struct rect){ r.y, r.x, head.title, r.w }, STYLE_STRONG,
                       session_entry_title(e));
        text_wrap_draw(f, (struct rect){ r.y + head.title, r.x, head.facts, r.w }, STYLE_DIM,
                       buf_slice(&facts));
    }
    buf_fini(&facts);
}

/* The border above the conversation shows its disk usage. */
static void list_draw_preview(const struct list *l, struct frame *f, const struct list_layout *lay)
{
    struct rect r = lay->preview;
    int y = f->cursor_y, x = f->cursor_x;

    if (r.w <= 0)
        return;
    draw_border(f, lay);
    if (l->viewed == ENTRY_NONE)
        return;
    int end = draw_match_number(l, f, (struct rect){ r.y, r.x, 1, r.w - 1 });

    draw_disk_usage(l, f, (struct rect){ r.y, r.x + 3, 1, r.w - 6 - end });
    draw_preview_head(l, f, lay);
    transcript_view_draw(l->view, f, list_conversation_rect(l, lay));
    f->cursor_y = y;
    f->cursor_x = x;
}

void list_draw(const struct list *l, struct frame *f)
{
    struct list_layout lay = list_layout(l, f->rows, f->cols);

    draw_title_line(l, f, lay.title);
    draw_query_line(l, f, lay.query);
    if (l->order.n == 0) { /* there is nothing to preview */
        list_draw_empty(l, f, (struct rect){ lay.rows.y, 0, f->rows - lay.rows.y - 1, f->cols });
        return;
    }
    list_draw_rows(l, f, &lay);
    list_draw_preview(l, f, &lay);
}
