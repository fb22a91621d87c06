#include <stdio.h>
#include <string.h>

#include "store/api/store.h"
#include "tui/screens/list/list.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"

/* The row of a session: a pointer and a mark, the age, the title and, if the width allows, its
 * directory, branch and state. A column has the same position in every row, whatever its content. */
enum {
    POINTER_W = 1,
    MARK_W = 1,
    AGE_W = HUMAN_AGE_COLUMNS - 1, /* "Jan 2025" begins in the blank before it */
    GAP = 2,
    TITLE_X = POINTER_W + MARK_W + 1 + AGE_W + GAP,
    TITLE_MIN = 24,
    TITLE_LEAST = 20, /* if the project needs the rest */
    TITLE_FAIR = 40,  /* the width that columns leave for the title, if possible */
    TITLE_WORDS = 30, /* the width that words of flags and wide columns leave for it */
    SIZE_W = 7,
    WORDS_LEAST = sizeof "12 files" - 1, /* a column for fewer words has signs only */
    WORDS_GOOD = sizeof "3 files  fork" - 1,
    WORDS_SHARE = 3,  /* words behind a title take at most this part of its line */
    SYSTEM_COLS = 60, /* in a narrower row the preview beside it names the system */
    TIGHT_COLS = 76,
    TIGHT_DIR = 10,
    TIGHT_SYSTEM = 8, /* of most agents, the whole name */
    TAG_LEAST = 3,    /* "#a…" */
    TEXT_MAX = 14,    /* columns of a branch or a directory */
    TEXT_WIDE = 24,   /* in wide rows */
    WIDE_COLS = 110,
    FORK_INDENT_MAX = 6, /* maximum indent of forks of forks, in steps */
    TITLE_BYTES = 1024,  /* matches in a longer title are not highlighted */
};

static int wider(int w, struct slice text)
{
    int mine = frame_width(text);

    return mine > w ? mine : w;
}

enum { SYSTEM_TEXT = 40 };

/* "claude"; "claude+team" for a session that is local and in the store of a team. `list --json` names the dialect. */
static struct slice system_text(const struct session_row *row, char out[SYSTEM_TEXT])
{
    const struct store *also = row->ref.also;

    snprintf(out, SYSTEM_TEXT, "%s%s%s", row->ref.store->ops->name, also ? "+" : "",
             also ? also->ops->name : "");
    return slice_of(out);
}

/* The last part of its directory, else what its agent calls the project. */
static struct slice row_project(const struct session_row *row)
{
    return row->cwd.n ? text_path_last(row->cwd) : row->ref.folder;
}

/* The first system has the style of all text of this kind; the others take turns with six colours. */
static enum style system_style(const struct session_row *row)
{
    const char *format = store_format(row->ref.store->ops);
    size_t i = 0;

    while (store_systems[i] && strcmp(store_systems[i]->name, format) != 0)
        i++;
    return i == 0 || !store_systems[i]
               ? STYLE_SYSTEM
               : (enum style)(STYLE_AGENT_1 + (i - 1) % (STYLE_AGENT_6 - STYLE_AGENT_1 + 1));
}

void list_widths_include(struct list_widths *w, const struct session_row *row)
{
    const struct store_ops *system = row->ref.store->ops;
    char text[SYSTEM_TEXT];

    w->several = w->several || (w->only && w->only != system);
    w->alike = w->alike || system->format;
    w->only = system;
    w->dir = wider(w->dir, row_project(row));
    w->branch = wider(w->branch, session_row_branch(row));
    w->system = wider(w->system, system_text(row, text));
    struct list_flag flag[LIST_FLAGS];
    list_row_flags(row, LIST_FLAG_SIGNS, flag);
    int signs = list_flags_width(flag, 1);
    w->signs = signs > w->signs ? signs : w->signs;
    list_row_flags(row, LIST_FLAG_WORDS, flag);
    int words = list_flags_width(flag, GAP);
    w->words = words > w->words ? words : w->words;
}

static int at_most(int w, int limit)
{
    return w < limit ? w : limit;
}

/* The widest words of flags in the rows of the frame. */
static int frame_words_width(const struct list *l, const struct list_layout *lay)
{
    struct list_flag flag[LIST_FLAGS];
    int widest = 0;

    for (size_t at = l->top; at < l->top + lay->items && at < l->filter.hits; at++) {
        const struct session_row *row = l->sessions.entry[l->filter.hit[at]].row;

        if (!row)
            continue;
        list_row_flags(row, LIST_FLAG_WORDS, flag);
        int w = list_flags_width(flag, GAP);
        widest = w > widest ? w : widest;
    }
    return widest;
}

/* A filter may leave the sessions of one system only; that one of them is in a team's store, too, is shown still. */
static bool several_systems(const struct list *l)
{
    const struct store_ops *first = NULL;

    for (size_t i = 0; l->widths.several && i < l->filter.hits; i++) {
        const struct session_ref *ref = &l->sessions.entry[l->filter.hit[i]].ref;

        if (ref->also || (first && first != ref->store->ops))
            return true;
        first = ref->store->ops;
    }
    return false;
}

/* The title's least width. For the project (dir_w) and the signs of all projects, it gives way, and a little for the
 * system. */
static int title_least(const struct list_widths *widest, int w, int dir_w, int system_w)
{
    int least = w < 2 * TITLE_FAIR ? w * 2 / 5 : TITLE_FAIR;

    if (widest->alike && system_w > 0) { /* the system is as important as the project */
        dir_w += system_w + GAP;
        system_w = 0;
    }
    int rest = w - TITLE_X - 1 - dir_w - GAP - widest->signs - GAP;

    least = least > TITLE_MIN ? least : TITLE_MIN;
    if (rest - system_w - GAP >= TITLE_WORDS)
        rest -= system_w + GAP;
    return dir_w == 0 || rest >= least ? least : rest > TITLE_LEAST ? rest : TITLE_LEAST;
}

/* A column is as wide as its widest text, up to a limit; an empty one is not shown. As the width decreases, columns first
 * shrink to their minimum and then disappear: the branch first, then the system, and last the flags. The directory stays:
 * without it, rows of all projects are hard to tell apart. Flags become words before other columns get more than their
 * minimum; if those of a row in the frame do not fit, all rows have signs: a column of both is hard to read. */
struct list_columns list_columns(const struct list *l, const struct list_layout *lay, int w)
{
    struct list_columns c = { .title = TITLE_X, .several = several_systems(l) };
    const bool one_line = lay->item == 1, all = l->scope == SCOPE_ALL;
    const struct list_widths *widest = &l->widths;
    const int limit = w >= WIDE_COLS ? TEXT_WIDE : TEXT_MAX;
    const bool named = c.several && one_line && (widest->alike || !lay->beside || w >= SYSTEM_COLS);
    const bool tight = (widest->alike || named) && all && w < TIGHT_COLS; /* both names are cut */
    const struct {
        int *w, want, least;
        bool wanted;
    } wants[] = {
        { &c.dir_w, at_most(widest->dir, limit), at_most(widest->dir, tight ? TIGHT_DIR : TEXT_MAX),
          all && one_line },
        { &c.flags_w, widest->signs, widest->signs, one_line },
        { &c.size_w, SIZE_W, SIZE_W, l->sort == SORT_SIZE && one_line },
        { &c.system_w, widest->system,
          at_most(widest->system, tight ? TIGHT_SYSTEM : widest->system), named },
        { &c.branch_w, at_most(widest->branch, limit), at_most(widest->branch, TEXT_MAX),
          one_line },
    };
    const size_t n = sizeof wants / sizeof *wants;
    int title_min = title_least(widest, w, wants[0].wanted ? wants[0].least : 0,
                                wants[3].wanted ? wants[3].least : 0);
    int spare = w - c.title - title_min - 1;
    int title_more = title_min < TITLE_WORDS ? TITLE_WORDS - title_min : 0;

    for (size_t i = 0; i < n; i++) {
        if (wants[i].w == &c.branch_w && c.flags_w > 0) { /* words are of more use than it */
            int room = c.flags_w + spare - title_more, words = widest->words;

            if (words > room)
                words = room >= WORDS_GOOD ? WORDS_GOOD : WORDS_LEAST;
            if (words > c.flags_w && words <= room) {
                spare -= words - c.flags_w;
                c.flags_w = words;
            }
        }
        if (!wants[i].wanted || wants[i].least == 0)
            continue;
        if (spare < wants[i].least + GAP)
            break;
        *wants[i].w = wants[i].least;
        spare -= wants[i].least + GAP;
    }
    for (size_t i = 0; i < n; i++) {
        int more = at_most(wants[i].want - *wants[i].w, spare - title_more);

        if (*wants[i].w == 0 || more <= 0)
            continue;
        *wants[i].w += more;
        spare -= more;
    }
    c.words = frame_words_width(l, lay) <= (one_line ? c.flags_w : (w - c.title) / WORDS_SHARE);
    if (!c.words && c.flags_w > widest->signs) { /* the words of a row do not fit */
        spare += c.flags_w - widest->signs;
        c.flags_w = widest->signs;
    }
    c.title_w = title_min + (spare > 0 ? spare : 0);
    if (c.title + c.title_w > w)
        c.title_w = w - c.title;
    return c;
}

static void list_row_draw_age(const struct list *l, struct frame *f, int y, int x,
                              const struct session_entry *e)
{
    char age[HUMAN_AGE];

    if (e->row && (e->row->flags & SESSION_LIVE)) {
        frame_puts(f, y, x + AGE_W - 3, 3, STYLE_LIVE, "NOW");
        return;
    }
    human_age(*l->now_ms, session_entry_time(e), age);
    int len = (int)strlen(age);

    frame_puts(f, y, x + AGE_W - len, len, STYLE_AGE, age);
}

/* Colours the columns of a drawn text in which bytes matched. */
static void draw_hits(struct frame *f, struct rect r, struct slice text, const bool *hit)
{
    for (size_t i = 0; i < text.n;) {
        size_t from = i;

        while (i < text.n && hit[i] == hit[from])
            i++;
        if (!hit[from])
            continue;
        int x = frame_width((struct slice){ text.p, from });
        int end = frame_width((struct slice){ text.p, i });

        if (x >= r.w)
            return;
        frame_style(f, (struct rect){ r.y, r.x + x, 1, (end < r.w ? end : r.w) - x }, STYLE_MATCH);
    }
}

static void draw_row_title(const struct list *l, struct frame *f, struct rect r,
                           const struct session_entry *e)
{
    struct slice title = session_entry_title(e);

    if (!e->row) { /* not read yet: only its name is known */
        frame_text_cut(f, r.y, r.x, r.w, STYLE_DIM, e->ref.id);
        return;
    }
    enum style style = e->row->flags & SESSION_ARCHIVED ? STYLE_DIM
                       : e->row->custom_title.n > 0     ? STYLE_STRONG
                                                        : STYLE_TEXT;
    int used = frame_text_cut(f, r.y, r.x, r.w, style, title);

    if (l->filter.query.n > 0 && title.n <= TITLE_BYTES) {
        bool hit[TITLE_BYTES] = { false };

        doc_highlight(&l->filter.query, title, hit);
        draw_hits(f, (struct rect){ r.y, r.x, 1, used }, title, hit);
    }
}

/* Draws the line that leads from the parent to a fork. Returns the remaining rectangle for the
 * title. */
static struct rect draw_fork_indent(const struct list *l, struct frame *f, struct rect r,
                                    uint32_t entry)
{
    int depth = (int)order_forks_depth(&l->fork_tree, entry),
        in = 2 * (depth < FORK_INDENT_MAX ? depth : FORK_INDENT_MAX);

    if (depth == 0 || in >= r.w)
        return r;
    frame_puts(f, r.y, r.x + in - 2, 2, STYLE_BRANCH, f->ascii ? "`-" : "└╴");
    return (struct rect){ r.y, r.x + in, r.h, r.w - in };
}

/* Where nothing is between the title and the flags, the title of a row without flags has their room. */
static int title_over_flags(const struct list_columns *c, const struct session_entry *e)
{
    struct list_flag flag[LIST_FLAGS];

    if (!e->row || c->flags_w == 0 || c->size_w || c->dir_w || c->system_w || c->branch_w)
        return c->title_w;
    list_row_flags(e->row, LIST_FLAG_SIGNS, flag);
    return list_flags_width(flag, 1) > 0 ? c->title_w : c->title_w + GAP + c->flags_w;
}

/* At the end of the first of two lines, after the name of the system if the second line has no room for it. Returns the
 * width that the title has. */
static int draw_flags_behind(struct frame *f, struct rect r, const struct list_columns *c,
                             const struct session_entry *e, bool name_system)
{
    struct list_flag flag[LIST_FLAGS];
    char system[SYSTEM_TEXT];
    int end = r.x + r.w - 1, room = end - r.x - c->title, gap = c->words ? GAP : 1;

    if (!e->row)
        return room;
    list_row_flags(e->row,
                   c->words   ? LIST_FLAG_WORDS
                   : f->ascii ? LIST_FLAG_ASCII
                              : LIST_FLAG_SIGNS,
                   flag);
    int w = list_flags_width(flag, gap);

    if (w > 0) {
        list_flags_draw(f, r.y, end - w, flag, gap);
        room -= w + GAP;
        end -= w + GAP;
    }
    if (name_system) {
        struct slice name = system_text(e->row, system);

        w = at_most(frame_width(name), TEXT_MAX);
        frame_text_cut(f, r.y, end - w, w, system_style(e->row), name);
        room -= w + GAP;
    }
    return room;
}

bool list_row_fits_title(const struct list *l, const struct list_layout *lay, uint32_t entry)
{
    const struct session_entry *e = &l->sessions.entry[entry];
    const struct list_columns c = list_columns(l, lay, lay->rows.w - 1);
    struct list_flag flag[LIST_FLAGS];
    char left[HUMAN_TIME_LEFT];
    int room = lay->item > 1 ? lay->rows.w - 2 - c.title : c.title_w;

    if (!e->row)
        return false;
    if (lay->item > 1) {
        list_row_flags(e->row, c.words ? LIST_FLAG_WORDS : LIST_FLAG_SIGNS, flag);
        room -= list_flags_width(flag, c.words ? GAP : 1) + GAP;
    } else if (e->row->tag.n) {
        room -= 1 + frame_width(e->row->tag) + GAP;
    }
    if (lay->item == 1 && human_time_left(*l->now_ms, e->row->expires_ms, left))
        room -= frame_width(slice_of(left)) + GAP;
    if (l->tree)
        room -= 2 * at_most((int)order_forks_depth(&l->fork_tree, entry), FORK_INDENT_MAX);
    return frame_width(session_entry_title(e)) <= room;
}

/* Draws the tag at the end of the title, in what that leaves, or in a third of the room. Returns the remaining rectangle. */
static struct rect draw_tag(struct frame *f, struct rect r, const struct session_entry *e)
{
    const struct session_row *row = e->row;
    int w = row && row->tag.n ? 1 + frame_width(row->tag) : 0;
    int most = r.w - GAP - frame_width(session_entry_title(e));

    if (r.w >= TITLE_WORDS && most < r.w / 3) /* else the preview beside it names the tag, too */
        most = r.w / 3;
    w = at_most(w, most);
    if (w < TAG_LEAST)
        return r;
    int x = r.x + r.w - w, used = frame_puts(f, r.y, x, w, STYLE_TAG, "#");

    frame_text_cut(f, r.y, x + used, w - used, STYLE_TAG, row->tag);
    return (struct rect){ r.y, r.x, r.h, r.w - w - GAP };
}

static void draw_columns(struct frame *f, struct rect r, const struct list_columns *c,
                         const struct session_entry *e)
{
    const struct session_row *row = e->row;
    struct slice branch = session_row_branch(row);
    char system[SYSTEM_TEXT];
    int x = r.x + c->title + c->title_w;

    if (c->size_w > 0) {
        char size[HUMAN_SIZE] = "-";

        if (store_has_size(&e->ref))
            human_size(session_entry_bytes(e), size);
        const int used = (int)strlen(size);

        frame_puts(f, r.y, x + GAP + (used < c->size_w ? c->size_w - used : 0), c->size_w,
                   STYLE_TEXT, size);
        x += c->size_w + GAP;
    }
    if (c->dir_w > 0) {
        frame_text_cut(f, r.y, x + GAP, c->dir_w, STYLE_DIM, row_project(row));
        x += c->dir_w + GAP;
    }
    if (c->system_w > 0) {
        frame_text_cut(f, r.y, x + GAP, c->system_w, system_style(row), system_text(row, system));
        x += c->system_w + GAP;
    }
    if (c->branch_w > 0) {
        frame_text_cut(f, r.y, x + GAP, c->branch_w, STYLE_BRANCH, branch.n ? branch : SLICE("-"));
        x += c->branch_w + GAP;
    }
    if (c->flags_w > 0) {
        struct list_flag flag[LIST_FLAGS];

        list_row_flags(row,
                       c->words   ? LIST_FLAG_WORDS
                       : f->ascii ? LIST_FLAG_ASCII
                                  : LIST_FLAG_SIGNS,
                       flag);
        list_flags_draw(f, r.y, x + GAP, flag, c->words ? GAP : 1);
    }
}

enum { DOT_W = 3, FACT_LEAST = 4 }; /* fewer cells of a fact are of no use */

/* A fact of the second line, separated from the previous one by a dot. The line ends before a fact without room. */
static int draw_fact(struct frame *f, struct rect r, int x, enum style style, struct slice text)
{
    int least = frame_width(text) < FACT_LEAST ? frame_width(text) : FACT_LEAST;

    if (text.n == 0 || x >= r.x + r.w)
        return x;
    if (x > r.x && x + DOT_W + least > r.x + r.w)
        return r.x + r.w;
    if (x > r.x)
        x += frame_puts(f, r.y, x, r.x + r.w - x, STYLE_DIM, f->ascii ? " - " : " · ");
    return x + frame_text_cut(f, r.y, x, r.x + r.w - x, style, text);
}

/* The second line: where the session belongs and its last prompt, without what columns of the first line show. */
static void draw_second(const struct list *l, struct frame *f, struct rect r,
                        const struct session_entry *e, const struct list_columns *c, bool tag_shown)
{
    const struct session_row *row = e->row;
    char size[HUMAN_SIZE], system[SYSTEM_TEXT], left[HUMAN_TIME_LEFT], pr[LIST_PULL_REQUEST];
    struct list_flag flag[LIST_FLAGS];
    int x = r.x;

    size[0] = '\0';
    if (store_has_size(&e->ref))
        human_size(session_entry_bytes(e), size);
    if (l->scope == SCOPE_ALL) {
        char room[512];
        struct slice dir = text_path_short(row->cwd.n ? row->cwd : row->ref.folder,
                                           l->settings->home, room, sizeof room);
        const int most = r.w * 2 / 3;

        /* A long directory leaves a third of the line for what follows, and keeps its last name. */
        if (frame_width(dir) <= most)
            x = draw_fact(f, r, x, STYLE_DIM, dir);
        else
            x += frame_text_middle(f, r.y, x, most, STYLE_DIM, dir);
    }
    x = draw_fact(f, r, x, STYLE_WARN, list_activity(row));
    if (c->several && c->system_w == 0)
        x = draw_fact(f, r, x, system_style(row), system_text(row, system));
    if (c->branch_w < frame_width(session_row_branch(row)))
        x = draw_fact(f, r, x, STYLE_BRANCH, session_row_branch(row));
    if (row->tag.n > 0 && !tag_shown && x + 4 < r.x + r.w) {
        x = draw_fact(f, r, x, STYLE_TAG, SLICE("#"));
        x += frame_text_cut(f, r.y, x, r.x + r.w - x, STYLE_TAG, row->tag);
    }
    x = draw_fact(f, r, x, STYLE_DIM, list_pull_request(row, pr));
    if (c->flags_w > 0 && !c->words) { /* what their signs mean */
        list_row_flags(row, LIST_FLAG_WORDS, flag);
        for (size_t i = 0; i < LIST_FLAGS; i++)
            x = draw_fact(f, r, x, flag[i].style, slice_of(flag[i].text));
    }
    x = draw_fact(f, r, x, STYLE_DIM, slice_of(size));
    if (human_time_left(*l->now_ms, row->expires_ms, left))
        x = draw_fact(f, r, x, STYLE_WARN, slice_of(left));
    draw_fact(f, r, x, STYLE_DIM,
              slice_eq(row->last_prompt, row->summary) ? (struct slice){ 0 } : row->last_prompt);
}

/* In a search through conversations: the number of lines with the text, and the best one. */
static void draw_content(struct frame *f, struct rect r, const struct content_hit *hit)
{
    char count[24];
    bool marked[CONTENT_SNIPPET] = { false };
    const char *more = f->ascii ? "..." : "…";
    size_t from, to;
    int used;

    snprintf(count, sizeof count, "%u%s ", hit->lines, f->ascii ? "x" : "×");
    used = frame_puts(f, r.y, r.x, r.w, STYLE_KEY, count);
    r.x += used;
    r.w -= used;
    for (size_t i = 0; i < hit->ranges; i++)
        memset(marked + hit->range[i].from, true, hit->range[i].to - hit->range[i].from);
    list_content_fit(hit, r.w, frame_width(slice_of(more)), &from, &to);
    if (from > 0 || hit->cut_before) {
        used = frame_puts(f, r.y, r.x, r.w, STYLE_DIM, more);
        r.x += used;
        r.w -= used;
    }
    struct slice part = { hit->snippet.p + from, to - from };

    used = frame_text_cut(f, r.y, r.x, r.w, STYLE_DIM, part);
    draw_hits(f, (struct rect){ r.y, r.x, 1, used }, part, marked + from);
    if (to < hit->snippet.n || hit->cut_after)
        frame_puts(f, r.y, r.x + used, r.w - used, STYLE_DIM, more);
}

void list_draw_row(const struct list *l, struct frame *f, struct rect r, size_t at,
                   const struct list_layout *lay, struct list_columns c)
{
    uint32_t i = l->filter.hit[at];
    const struct session_entry *e = &l->sessions.entry[i];
    bool marked = i < l->marked_cap && l->marked[i];

    if (i == l->selected)
        for (int y = 0; y < r.h; y++)
            frame_puts(f, r.y + y, r.x, POINTER_W, STYLE_KEY, f->ascii ? ">" : "▌");
    if (marked)
        frame_puts(f, r.y, r.x + POINTER_W, MARK_W, STYLE_MARK, f->ascii ? "+" : "◆");
    else if (l->sessions.sort_key[i].pinned)
        frame_puts(f, r.y, r.x + POINTER_W, MARK_W, STYLE_TAG, f->ascii ? "^" : "▴");
    list_row_draw_age(l, f, r.y, r.x + POINTER_W + MARK_W + 1, e);
    const struct content_hit *hit =
        e->row && list_content_text(l).n ? list_content_hit(l, i) : NULL;
    int title_w = title_over_flags(&c, e);

    if (lay->item > 1)
        title_w = draw_flags_behind(f, r, &c, e, hit && c.several);
    struct rect title = { r.y, r.x + c.title, 1, title_w };
    char left[HUMAN_TIME_LEFT];

    /* The time that is left is at the end of the title, if the session expires soon. */
    if (e->row && !list_has_two_lines(l, l->cols) && title.w >= TITLE_FAIR &&
        human_time_left(*l->now_ms, e->row->expires_ms, left)) {
        const int w = frame_width(slice_of(left));

        frame_puts(f, r.y, title.x + title.w - w, w, STYLE_WARN, left);
        title.w -= w + GAP;
    }
    const int without_tag = title.w;

    if (lay->item == 1)
        title = draw_tag(f, title, e);
    const bool tag_shown = e->row && without_tag - title.w == 1 + frame_width(e->row->tag) + GAP;

    draw_row_title(l, f, draw_fork_indent(l, f, title, i), e);
    if (e->row) {
        draw_columns(f, r, &c, e);
        struct rect second = { r.y + 1, r.x + c.title, 1, r.w - c.title - 1 };

        if (r.h > 1 && hit && l->scope == SCOPE_ALL) {
            struct slice project = row_project(e->row);
            int w = frame_text_cut(f, second.y, second.x, TEXT_MAX, STYLE_DIM, project);

            second = (struct rect){ second.y, second.x + w + 1, 1, second.w - w - 1 };
        }
        if (r.h > 1 && hit)
            draw_content(f, second, hit);
        else if (r.h > 1)
            draw_second(l, f, second, e, &c, tag_shown);
    }
    if (i == l->selected)
        frame_select(f, r);
}
