#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/screens/list/list.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"
#include "tui/widgets/styled_text.h"

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

/* A model that begins with the name of its agent, as "claude-" does, is shown without it beside the agent. */
static struct slice preview_model(const struct list *l, const struct session_entry *e)
{
    struct slice model = e->row ? e->row->model : (struct slice){ 0 };
    const char *name = store_format(e->ref.store->ops);
    size_t n = strlen(name);

    if (l->widths.several && model.n > n && memcmp(model.p, name, n) == 0 && model.p[n] == '-')
        model = (struct slice){ model.p + n + 1, model.n - n - 1 };
    return model;
}

/* Its agent if there are several, its model, and the disk usage of the session, with the files beside its transcript once it is
 * known. */
static void draw_disk_usage(const struct list *l, struct frame *f, struct rect r)
{
    enum { BOTH_COLS = 35 };
    const struct session_entry *e = &l->sessions.entry[l->viewed];
    char all[HUMAN_SIZE], own[HUMAN_SIZE], text[80];
    const char *name = l->widths.several ? e->ref.store->ops->name : "";
    int used = frame_puts(f, r.y, r.x, r.w, STYLE_DIM, name);

    const char *dot = f->ascii ? " - " : " · ";
    struct slice model = preview_model(l, e);

    if (used > 0 && model.n > 0)
        used += frame_puts(f, r.y, r.x + used, r.w - used, STYLE_DIM, dot);
    used += frame_text_cut(f, r.y, r.x + used, r.w - used, STYLE_DIM, model);
    human_size(session_entry_bytes(e), all);
    human_size(e->ref.file.size, own);
    if (e->ref.store->ops->remote)
        snprintf(text, sizeof text, "in %s", e->ref.store->ops->name);
    else if (!store_has_size(&e->ref))
        snprintf(text, sizeof text, "in a database");
    else if (e->bytes == 0)
        snprintf(text, sizeof text, "transcript %s", own);
    else if (strcmp(all, own) == 0 || r.w - used < BOTH_COLS)
        snprintf(text, sizeof text, "%s on disk", all);
    else
        snprintf(text, sizeof text, "%s on disk, transcript %s", all, own);
    if (used == 0)
        dot = "";
    if (used + frame_width(slice_of(dot)) + frame_width(slice_of(text)) <= r.w) {
        used += frame_puts(f, r.y, r.x + used, r.w - used, STYLE_DIM, dot);
        used += frame_puts(f, r.y, r.x + used, r.w - used, STYLE_DIM, text);
    }

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

/* In a row above the preview, the second line already shows facts, unless it shows what a search found. */
static bool row_shows_facts(const struct list *l, const struct list_layout *lay)
{
    return !lay->beside && (lay->second || lay->item > 1) && list_content_text(l).n == 0;
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

/* Facts in lines of a width; a fact that does not fit begins the next line. */
struct fact_lines {
    struct buf *out;
    const char *dot;
    int w, used;
};

static bool fact_lines_add(struct fact_lines *lines, struct slice fact)
{
    const int w = frame_width(fact), dot_w = frame_width(slice_of(lines->dot));
    const bool fits = lines->used + dot_w + w <= lines->w;

    if (fact.n == 0)
        return true;
    if (lines->used > 0 && buf_add(lines->out, slice_of(fits ? lines->dot : "\n")))
        return false;
    lines->used = w + (lines->used > 0 && fits ? lines->used + dot_w : 0);
    return !buf_add(lines->out, fact);
}

/* What is to be told about a session. */
struct preview_subject {
    const struct list *l;
    const struct session_entry *e;
    bool in_row; /* the row above shows most facts itself */
    bool signs;  /* the row beside has signs for its flags */
    int w;
};

static bool join_facts(const struct preview_subject *p, enum brevity brevity, struct buf *out)
{
    enum { DAY = sizeof "2026-11-22" - 1, MAX_FACTS = 9 };
    const struct list *l = p->l;
    const struct session_entry *e = p->e;
    const bool in_row = p->in_row;
    struct fact_lines lines = { out, l->settings->ascii ? " - " : " · ", p->w, 0 };
    char tokens[LIST_TOKENS];
    char room[512], date[HUMAN_DATE], pr[LIST_PULL_REQUEST], tag[80] = "";
    struct slice dir = text_path_short(session_entry_cwd(e), l->settings->home, room, sizeof room);
    struct slice when = slice_of(human_date(session_entry_time(e), date)), phase = { 0 };

    if (brevity >= WITH_DAY && when.n > DAY)
        when.n = DAY;
    /* Idle sessions are not marked. */
    if (e->row && e->row->phase && strcmp(e->row->phase, "idle") != 0)
        phase = slice_of(e->row->phase);
    if (e->row && e->row->tag.n && e->row->tag.n < sizeof tag - 1)
        snprintf(tag, sizeof tag, "#%.*s", SLICE_ARG(e->row->tag));

    const struct slice fact[MAX_FACTS] = {
        e->row && !in_row ? list_activity(e->row) : (struct slice){ 0 },
        in_row && l->scope == SCOPE_ALL ? (struct slice){ 0 }
        : brevity < WITH_NAME           ? dir
                                        : text_path_last(dir),
        in_row ? preview_model(l, e) : (struct slice){ 0 },
        e->row && !in_row ? session_row_branch(e->row) : (struct slice){ 0 },
        in_row ? (struct slice){ 0 } : slice_of(tag),
        e->row && !in_row && brevity < WITHOUT_PULL_REQUEST ? list_pull_request(e->row, pr)
                                                            : (struct slice){ 0 },
        phase,
        brevity < WITHOUT_TOKENS ? tokens_of(l, e, tokens) : (struct slice){ 0 },
        brevity == WITHOUT_DAY ? (struct slice){ 0 } : when,
    };
    enum { PHASE = 6 };

    out->n = 0;
    for (size_t i = 0; i < MAX_FACTS; i++) {
        if (i == PHASE && p->signs) { /* what the signs mean: "3 files · fork" */
            struct list_flag flag[LIST_FLAGS];

            list_row_flags(e->row, LIST_FLAG_WORDS, flag);
            for (size_t k = 0; k < LIST_FLAGS; k++)
                if (!fact_lines_add(&lines, slice_of(flag[k].text)))
                    return false;
        }
        if (!fact_lines_add(&lines, fact[i]))
            return false;
    }
    return true;
}

/* The directory, branch, phase and time below the title: "~/code/shop - main - active - 2026-11-22
 * 14:03". If that needs a second line, the time, the parent directories and the pull request are
 * left out; then the day, which the list also shows, or else the tokens. In a high preview the second line is rather
 * used than the tokens left out. */
static bool preview_facts(const struct list *l, const struct list_layout *lay,
                          const struct session_entry *e, int w, struct buf *out)
{
    enum { TWO_LINES_H = 20 };
    const struct preview_subject p = {
        .l = l,
        .e = e,
        .in_row = row_shows_facts(l, lay),
        .signs = e->row && lay->beside && !list_columns(l, lay, lay->rows.w - 1).words,
        .w = w,
    };
    const bool two = !p.in_row && lay->preview.h >= TWO_LINES_H;
    const enum brevity end = two ? WITHOUT_TOKENS : BREVITIES;

    for (int lines = 1; lines <= 1 + two; lines++)
        for (enum brevity b = WITH_TIME; b < end; b++) {
            if (!join_facts(&p, b, out))
                return false;
            if (text_wrap_height(buf_slice(out), w) <= lines)
                return true;
        }
    return p.in_row || join_facts(&p, WITH_TIME, out);
}

/* The lines of the title and of the facts, limited so that the conversation gets most of the space. The row above already
 * shows the title if it fits there, and often facts; then the border shows the others. */
struct head {
    int title, facts;
};

static struct head head_lines(const struct list *l, const struct list_layout *lay,
                              struct slice facts, struct rect r)
{
    const struct session_entry *e = &l->sessions.entry[l->viewed];
    const bool in_row = row_shows_facts(l, lay);
    const bool titled = !lay->beside && list_row_fits_title(l, lay, l->viewed);
    int most = (r.h - 1) / 3, title = text_wrap_height(session_entry_title(e), r.w);
    int below = in_row ? 0 : text_wrap_height(facts, r.w);

    if (most < 2)
        return (struct head){ 0, 0 };
    if (titled)
        return (struct head){ 0, below < most ? below : most };
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

    if (e && r.w > 0 && preview_facts(l, lay, e, r.w, &facts)) {
        struct head head = head_lines(l, lay, buf_slice(&facts), r);

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

    if (preview_facts(l, lay, e, r.w, &facts)) {
        struct head head = head_lines(l, lay, buf_slice(&facts), r);

        text_wrap_draw(f, (struct rect){ r.y, r.x, head.title, r.w }, STYLE_STRONG,
                       session_entry_title(e));
        text_wrap_draw(f, (struct rect){ r.y + head.title, r.x, head.facts, r.w }, STYLE_DIM,
                       buf_slice(&facts));
    }
    buf_fini(&facts);
}

/* The facts that the row above does not show, in the border. */
static void draw_border_facts(const struct list *l, struct frame *f, const struct list_layout *lay,
                              struct rect r)
{
    struct buf facts = { 0 };

    if (preview_facts(l, lay, &l->sessions.entry[l->viewed], r.w, &facts)) {
        struct slice line = buf_slice(&facts);
        const char *end = line.n ? memchr(line.p, '\n', line.n) : NULL;

        line.n = end ? (size_t)(end - line.p) : line.n;
        int used = frame_text_cut(f, r.y, r.x, r.w, STYLE_DIM, line);

        frame_puts(f, r.y, r.x - 1, 1, STYLE_DIM, " ");
        frame_puts(f, r.y, r.x + used, 1, STYLE_DIM, " ");
    }
    buf_fini(&facts);
}

/* The border above the conversation shows its disk usage, or facts. */
void list_draw_preview(const struct list *l, struct frame *f, const struct list_layout *lay)
{
    struct rect r = lay->preview;
    int y = f->cursor_y, x = f->cursor_x;

    if (r.w <= 0)
        return;
    draw_border(f, lay);
    if (l->viewed == ENTRY_NONE)
        return;
    int end = draw_match_number(l, f, (struct rect){ r.y, r.x, 1, r.w - 1 });

    const struct rect in_border = { r.y, r.x + 3, 1, r.w - 6 - end };

    if (row_shows_facts(l, lay))
        draw_border_facts(l, f, lay, in_border);
    else
        draw_disk_usage(l, f, in_border);
    draw_preview_head(l, f, lay);
    transcript_view_draw(l->view, f, list_conversation_rect(l, lay));
    f->cursor_y = y;
    f->cursor_x = x;
}
