#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/app/view.h"
#include "tui/screens/maintenance/cleanup.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/styled_text.h"

/* The items in the chosen order. */

struct ranked {
    const struct sweep_item *item;
    int64_t project_bytes; /* the size of all items of its project; only for that order */
    uint32_t i;
};

/* The directory of the session, else the folder of its transcript. */
static struct slice cleanup_project(const struct sweep_item *item)
{
    if (item->cwd.n > 0)
        return item->cwd;
    return item->orphan && item->ref.folder.n == 0 ? SLICE("of an unknown project")
                                                   : item->ref.folder;
}

static int compare_position(const struct ranked *a, const struct ranked *b)
{
    return (a->i > b->i) - (a->i < b->i);
}

/* Sessions that cannot be moved follow the others. */
static int by_size(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;
    int64_t x = a->item->usage.bytes, y = b->item->usage.bytes;

    if (!a->item->stays != !b->item->stays)
        return a->item->stays ? 1 : -1;
    return x != y ? (x < y) - (x > y) : compare_position(a, b);
}

static int by_age(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;
    int64_t x = a->item->activity_ms, y = b->item->activity_ms;

    if (!a->item->stays != !b->item->stays)
        return a->item->stays ? 1 : -1;
    return x != y ? (x > y) - (x < y) : compare_position(a, b);
}

static int by_project(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;

    if (a->project_bytes != b->project_bytes)
        return a->project_bytes < b->project_bytes ? 1 : -1;
    int cmp = slice_compare(cleanup_project(a->item), cleanup_project(b->item));

    return cmp ? cmp : by_size(pa, pb);
}

/* ---- what is shown of them ---- */

bool cleanup_is_open(const struct cleanup *c, size_t head)
{
    struct slice project = cleanup_project(&c->sweep->item[c->line[head].item]);

    for (size_t i = 0; i < c->opened.n; i++)
        if (slice_eq(c->opened.name[i], project))
            return true;
    return false;
}

/* With heads, only the sessions of open projects are shown. */
static void cleanup_lines_choose_shown(struct cleanup *c)
{
    bool open = true;

    c->shown_n = 0;
    for (size_t i = 0; i < c->lines; i++) {
        if (c->line[i].head)
            open = cleanup_is_open(c, i);
        if (c->line[i].head || open)
            c->shown[c->shown_n++] = (uint32_t)i;
    }
}

bool cleanup_open_project(struct cleanup *c, size_t head, bool open)
{
    struct slice project = cleanup_project(&c->sweep->item[c->line[head].item]);
    struct name_list opened = { .n = 0 };
    bool ok = true;

    for (size_t i = 0; ok && i < c->opened.n; i++)
        ok = slice_eq(c->opened.name[i], project) || name_list_add(&opened, c->opened.name[i]);
    ok = ok && (!open || name_list_add(&opened, project));
    if (!ok) {
        name_list_fini(&opened);
        return false;
    }
    name_list_fini(&c->opened);
    c->opened = opened;
    cleanup_lines_choose_shown(c);
    return true;
}

size_t cleanup_head_of(const struct cleanup *c, size_t line)
{
    size_t head = line;

    while (head > 0 && !c->line[head].head)
        head--;
    return c->line[head].head ? head : line;
}

size_t cleanup_row_of(const struct cleanup *c, size_t line)
{
    size_t head = cleanup_head_of(c, line), place = 0;

    for (size_t i = 0; i < c->shown_n; i++) {
        if (c->shown[i] == line)
            return i;
        place = c->shown[i] == head ? i : place;
    }
    return place;
}

/* ---- together ---- */

bool cleanup_arrange(struct cleanup *c)
{
    size_t n = c->sweep ? c->sweep->n : 0;
    struct ranked *r = calloc(n + 1, sizeof *r);
    struct cleanup_line *line = calloc(2 * n + 1, sizeof *line);
    uint32_t *shown = calloc(2 * n + 1, sizeof *shown);

    if (!r || !line || !shown) {
        free(r);
        free(line);
        free(shown);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        r[i] = (struct ranked){ .item = &c->sweep->item[i], .i = (uint32_t)i };
    if (c->sort == CLEANUP_PROJECT) {
        /* Sorting once without totals brings the items of a project together; then the totals are
         * known and used for the second sort. */
        qsort(r, n, sizeof *r, by_project);
        for (size_t i = 0, end; i < n; i = end) {
            int64_t bytes = 0;

            for (end = i;
                 end < n && slice_eq(cleanup_project(r[end].item), cleanup_project(r[i].item));
                 end++)
                bytes += r[end].item->usage.bytes;
            for (size_t k = i; k < end; k++)
                r[k].project_bytes = bytes;
        }
        qsort(r, n, sizeof *r, by_project);
    } else
        qsort(r, n, sizeof *r, c->sort == CLEANUP_LARGEST ? by_size : by_age);
    free(c->line);
    free(c->shown);
    c->line = line;
    c->shown = shown;

    bool heads = c->sort == CLEANUP_PROJECT;

    c->lines = 0;
    for (size_t i = 0; i < n; i++) {
        bool first =
            i == 0 || !slice_eq(cleanup_project(r[i].item), cleanup_project(r[i - 1].item));

        if (heads && first)
            c->line[c->lines++] = (struct cleanup_line){ .head = true, .item = r[i].i };
        c->line[c->lines++] = (struct cleanup_line){ .item = r[i].i };
    }

    cleanup_lines_choose_shown(c);
    free(r);
    return true;
}

size_t cleanup_group_end(const struct cleanup *c, size_t head)
{
    size_t end = head + 1;

    while (end < c->lines && !c->line[end].head)
        end++;
    return end;
}

struct cleanup_sum cleanup_sum(const struct cleanup *c, size_t first, size_t end)
{
    struct cleanup_sum sum = { 0 };

    for (size_t i = first; i < end; i++) {
        const struct sweep_item *item = &c->sweep->item[c->line[i].item];

        if (c->line[i].head)
            continue;
        sum.n++;
        sum.bytes += item->usage.bytes;
        sum.kept += item->stays != NULL;
        sum.ticked += sweep_is_chosen(item);
        sum.ticked_bytes += sweep_is_chosen(item) ? item->usage.bytes : 0;
    }
    return sum;
}

/* From top to bottom: the totals to be moved to the trash, the rules, the sessions that they
 * select, a line about the selected one. */
enum { NAME_W = 16, TICK_W = 4, AGE_W = 8, SIZE_W = 9, GAP = 2, PLACE_COLS = 70, TITLE_KEPT = 16 };
enum {
    BAR_W = 4,
    BAR_WIDE_W = 10,
    WIDE_COLS = 100,
    TAG_MAX = 14,
    CHECKBOX_GAP = 2,
    NARROW_COLS = 58,
    NARROW_NAME_W = 6
};

size_t cleanup_fit(int rows)
{
    return rows > CLEANUP_LIST_Y + 3 ? (size_t)(rows - CLEANUP_LIST_Y - 2) : 1;
}

static void draw_cleanup_title(const struct model *m, struct frame *f)
{
    const struct cleanup *c = m->cleanup;
    struct cleanup_sum sum = cleanup_sum(c, 0, c->lines);
    char text[120], size[HUMAN_SIZE];
    static const char *const sorts[] = {
        [CLEANUP_LARGEST] = "largest first",
        [CLEANUP_OLDEST] = "oldest first",
        [CLEANUP_PROJECT] = "by project",
    };
    const char *sort = sorts[c->sort];
    int x = 1 + frame_puts(f, 0, 1, f->cols, STYLE_TITLE, "clean up") + 2;
    int end = f->cols - (int)strlen(sort) - 1;

    if (c->asked != 0 && frame_spinner_shows(c->asked_ms, m->now_ms)) {
        frame_puts(f, 0, x, 1, STYLE_KEY, frame_spinner_sign(m->now_ms, f->ascii));
        frame_puts(f, 0, x + 2, end - x - 2, STYLE_DIM, "checking the sessions");
        return;
    }
    if (c->lines == 0)
        return;

    human_size(sum.ticked_bytes, size);
    snprintf(text, sizeof text, "%zu of %zu %s ticked, %s", sum.ticked, sum.n,
             c->rules.orphans ? "left behind"
             : sum.n == 1     ? "session"
                              : "sessions",
             size);
    x += frame_puts(f, 0, x, f->cols - x, STYLE_TEXT, text) + GAP;
    size_t tagged = sweep_kept(c->sweep, SWEEP_TAGGED), named = sweep_kept(c->sweep, SWEEP_NAMED);

    if (tagged + named) {
        int n = snprintf(text, sizeof text, "kept: ");

        if (tagged)
            n += snprintf(text + n, sizeof text - (size_t)n, "%zu tagged%s", tagged,
                          named ? ", " : "");
        if (named)
            snprintf(text + n, sizeof text - (size_t)n, "%zu named", named);

        /* This is left out rather than cut. */
        x += x + (int)strlen(text) <= f->cols ? frame_puts(f, 0, x, f->cols - x, STYLE_TAG, text)
                                              : 0;
    }
    if (x + 2 <= end)
        frame_puts(f, 0, end, f->cols - end, STYLE_DIM, sort);
}

/* "only   [ ] empty  [x] archived" */
int cleanup_checkbox_x(int cols, enum cleanup_rule rule)
{
    enum cleanup_rule first =
        rule >= CLEANUP_RULE_TAGGED ? CLEANUP_RULE_TAGGED : CLEANUP_RULE_EMPTY;
    int x = 3 + (cols < NARROW_COLS ? NARROW_NAME_W : NAME_W);

    for (; first < rule; first++)
        x += TICK_W + (int)strlen(cleanup_rule_name(first)) + CHECKBOX_GAP;
    return x;
}

/* The first one also writes the name of its line. */
static void draw_checkbox(const struct model *m, struct frame *f, enum cleanup_rule rule)
{
    bool set = cleanup_rule_is_set(&m->cleanup->rules, rule);
    int y = CLEANUP_RULES_Y + cleanup_rule_line(rule), x = cleanup_checkbox_x(f->cols, rule);
    const char *name = cleanup_rule_name(rule);

    if (rule == CLEANUP_RULE_EMPTY || rule == CLEANUP_RULE_TAGGED)
        frame_puts(f, y, 3, NAME_W, STYLE_TEXT, rule == CLEANUP_RULE_EMPTY ? "only" : "keep");
    frame_puts(f, y, x, 3, set ? STYLE_STRONG : STYLE_DIM, set ? "[x]" : "[ ]");
    frame_puts(f, y, x + TICK_W, f->cols - x - TICK_W, set ? STYLE_TEXT : STYLE_DIM, name);
    if (m->cleanup->at == rule)
        frame_point(f, (struct rect){ y, x - 2, 1, TICK_W + (int)strlen(name) + 3 });
}

static void draw_rule(const struct model *m, struct frame *f, enum cleanup_rule rule)
{
    const struct cleanup_rules *r = &m->cleanup->rules;
    struct rect line = { CLEANUP_RULES_Y + cleanup_rule_line(rule), 0, 1, f->cols };
    bool set = cleanup_rule_is_set(r, rule), here = m->cleanup->at == rule;
    char value[CLEANUP_RULE_TEXT + 8];
    int x = 3;

    if (rule >= CLEANUP_RULE_EMPTY) {
        draw_checkbox(m, f, rule);
        return;
    }
    frame_puts(f, line.y, x, NAME_W, set ? STYLE_TEXT : STYLE_DIM, cleanup_rule_name(rule));
    x += NAME_W;
    cleanup_rule_value(r, rule, value, sizeof value);
    if (here)
        frame_puts(f, line.y, x - 2, 1, STYLE_KEY, f->ascii ? "<" : "‹");
    x += frame_puts(f, line.y, x, f->cols - x - 3, set ? STYLE_STRONG : STYLE_DIM, value);
    if (here) {
        frame_puts(f, line.y, x + 1, 1, STYLE_KEY, f->ascii ? ">" : "›");
        frame_point(f, line);
    }
}

static int cleanup_lines_draw_right(struct frame *f, int y, int x, int w, enum style style,
                                    const char *text)
{
    int used = frame_width(slice_of(text));

    frame_puts(f, y, x + (used < w ? w - used : 0), w, style, text);
    return x + w;
}

static void draw_sweep_item(const struct model *m, struct frame *f, struct rect r,
                            const struct sweep_item *item, int64_t most)
{
    char age[HUMAN_AGE], size[HUMAN_SIZE];
    bool noted = item->stays || m->cleanup->sort != CLEANUP_PROJECT;
    int note_w = noted && r.w >= PLACE_COLS ? r.w / (r.w < WIDE_COLS ? 4 : 3) : 0;
    enum style plain = sweep_is_chosen(item) ? STYLE_TEXT : STYLE_DIM;
    int x = r.x + 2 + TICK_W;

    frame_puts(f, r.y, r.x + 2, 3, sweep_is_chosen(item) ? STYLE_MARK : STYLE_DIM,
               item->stays    ? " - "
               : item->chosen ? "[x]"
                              : "[ ]");
    human_age(m->now_ms, item->activity_ms, age);
    if (item->usage.bytes > 0 || (store_has_size(&item->ref) && !item->stays))
        human_size(item->usage.bytes, size);
    else
        snprintf(size, sizeof size, "-");
    x = cleanup_lines_draw_right(f, r.y, x, AGE_W, STYLE_AGE, age);
    x = cleanup_lines_draw_right(f, r.y, x, SIZE_W, plain, size) + GAP;
    if (r.w >= PLACE_COLS) {
        const int w = r.w < WIDE_COLS ? BAR_W : BAR_WIDE_W;

        frame_bar(f, (struct rect){ r.y, x, 1, w }, item->usage.bytes, most);
        x += w + GAP;
    }
    struct slice title = item->title.n ? item->title : item->ref.id;
    /* a reason to keep it names its tag */
    int tag_w = item->tag.n && !item->kept ? 1 + frame_width(item->tag) : 0;

    tag_w = tag_w > TAG_MAX ? TAG_MAX : tag_w;
    /* A reason takes what the title leaves free, which keeps a fifth of a wide row. */
    if (item->stays && note_w > 0) {
        const int title_w = frame_width(title), wanted = frame_width(slice_of(item->stays)),
                  kept = r.w / 5 > TITLE_KEPT ? r.w / 5 : TITLE_KEPT,
                  room = r.w - 1 - x - GAP - (title_w < kept ? title_w : kept),
                  got = wanted < room ? wanted : room;

        note_w = got > note_w ? got : note_w;
    }
    int end = r.x + r.w - 1 - (note_w > 0 ? note_w + GAP : 0);

    tag_w = end - x - tag_w - GAP < TITLE_KEPT ? 0 : tag_w;
    frame_text_cut(f, r.y, x, end - x - (tag_w ? tag_w + GAP : 0), plain, title);
    /* What follows the title. */
    if (item->tag.n && tag_w > 2) {
        frame_puts(f, r.y, end - tag_w, 1, STYLE_TAG, "#");
        frame_text_cut(f, r.y, end - tag_w + 1, tag_w - 1, STYLE_TAG, item->tag);
    }
    char dir[512];

    if (note_w > 0 && item->stays)
        frame_text_cut(f, r.y, end + GAP, note_w, STYLE_WARN, slice_of(item->stays));
    else if (note_w > 0)
        frame_text_middle(
            f, r.y, end + GAP, note_w, STYLE_DIM,
            text_path_short(cleanup_project(item), m->settings->home, dir, sizeof dir));
}

/* "~/src/shop  12 sessions": the size is in the same column as those of its sessions. */
static void draw_project_head(const struct model *m, struct frame *f, struct rect r, size_t line)
{
    const struct cleanup *c = m->cleanup;
    struct cleanup_sum sum = cleanup_sum(c, line, cleanup_group_end(c, line));
    char dir[512], size[HUMAN_SIZE], count[64];
    int x = r.x + 2;

    snprintf(count, sizeof count, "%zu session%s", sum.n, sum.n == 1 ? "" : "s");
    frame_puts(f, r.y, x, 3, sum.ticked > 0 ? STYLE_MARK : STYLE_DIM,
               sum.ticked == 0                  ? "[ ]"
               : sum.ticked == sum.n - sum.kept ? "[x]"
                                                : "[~]");
    human_size(sum.bytes, size);
    x = cleanup_lines_draw_right(f, r.y, x + TICK_W + AGE_W, SIZE_W, STYLE_HEADING, size) + GAP;
    const char *sign = cleanup_is_open(c, line) ? f->ascii ? "-" : "▾" : f->ascii ? "+" : "▸";

    x += frame_puts(f, r.y, x, 2, STYLE_DIM, sign) + 1;
    int room = r.w - x - 1 - (int)strlen(count) - GAP;

    x += frame_text_middle(f, r.y, x, room, STYLE_HEADING,
                           text_path_short(cleanup_project(&c->sweep->item[c->line[line].item]),
                                           m->settings->home, dir, sizeof dir));
    frame_puts(f, r.y, x + GAP, r.w - x - GAP, STYLE_DIM, count);
}

static void draw_cleanup_lines(const struct model *m, struct frame *f)
{
    const struct cleanup *c = m->cleanup;
    size_t fit = cleanup_fit(f->rows);
    int64_t most = 0;

    for (size_t i = 0; c->sweep && i < c->sweep->n; i++)
        most = c->sweep->item[i].usage.bytes > most ? c->sweep->item[i].usage.bytes : most;
    for (size_t i = c->top; i < c->shown_n && i < c->top + fit; i++) {
        struct rect r = { CLEANUP_LIST_Y + (int)(i - c->top), 0, 1, f->cols };
        size_t line = c->shown[i];

        if (c->line[line].head)
            draw_project_head(m, f, r, line);
        else
            draw_sweep_item(m, f, r, &c->sweep->item[c->line[line].item], most);
        if (c->asked != 0) /* they may not match the present rules */
            frame_style(f, r, STYLE_DIM);
        if (c->at == CLEANUP_RULE_COUNT + i)
            frame_point(f, r);
    }
}

/* The details that do not fit into a line. */
static void draw_detail(const struct model *m, struct frame *f)
{
    const struct cleanup *c = m->cleanup;
    struct rect r = { f->rows - 2, 1, 1, f->cols - 2 };
    char text[600], path[512];

    if (c->at < CLEANUP_RULE_COUNT)
        frame_text_cut(f, r.y, r.x, r.w, STYLE_DIM,
                       slice_of(cleanup_rule_help((enum cleanup_rule)c->at)));
    if (c->at < CLEANUP_RULE_COUNT || c->at - CLEANUP_RULE_COUNT >= c->shown_n)
        return;

    const struct cleanup_line *line = &c->line[c->shown[c->at - CLEANUP_RULE_COUNT]];
    const struct sweep_item *item = &c->sweep->item[line->item];

    if (line->head) {
        keymap_text(&m->settings->keys, IN_CLEANUP, f->ascii,
                    "{accept} shows or hides its sessions; {mark} ticks all of them", text,
                    sizeof text);
        frame_text_cut(f, r.y, r.x, r.w, STYLE_DIM, slice_of(text));
        return;
    }
    int n =
        snprintf(text, sizeof text, "%s%s; %lld file%s; %.*s", item->stays ? "stays: " : "",
                 item->stays ? item->stays : item->why, (long long)item->usage.files,
                 item->usage.files == 1 ? "" : "s",
                 SLICE_ARG(text_path_short(item->ref.path, m->settings->home, path, sizeof path)));

    if (n > 0)
        frame_text_cut(f, r.y, r.x, r.w, item->stays ? STYLE_WARN : STYLE_DIM, slice_of(text));
}

static void draw_cleanup_empty(const struct model *m, struct frame *f)
{
    const struct cleanup *c = m->cleanup;
    char text[400];
    int y = CLEANUP_LIST_Y + 1;

    if (c->error.code) {
        text_wrap_draw_error(f, (struct rect){ y, 3, 3, f->cols - 4 }, &c->error);
    } else if (c->sweep && c->asked == 0) {
        frame_puts(f, y, 3, f->cols - 4, STYLE_STRONG,
                   c->rules.orphans ? "Deleted sessions left nothing behind"
                                    : "No session matches these rules");
        if (y + 2 < f->rows - 2)
            frame_puts(f, y + 2, 3, f->cols - 4, STYLE_DIM,
                       keymap_text(&m->settings->keys, IN_CLEANUP, f->ascii,
                                   "{previous-value} and {next-value} change a rule, {accept} lets "
                                   "you type a value.",
                                   text, sizeof text));
    }
}

const char *cleanup_old_text(const struct cleanup *c, char out[CLEANUP_OLD_TEXT])
{
    char size[HUMAN_SIZE], records[48] = "", snapshots[48] = "";

    human_size(c->undo_bytes, size);
    if (c->undo_records)
        snprintf(records, sizeof records, "%zu old undo record%s, %s", c->undo_records,
                 c->undo_records == 1 ? "" : "s", size);
    if (c->old_snapshots)
        snprintf(snapshots, sizeof snapshots, "%zu old snapshot%s", c->old_snapshots,
                 c->old_snapshots == 1 ? "" : "s");
    snprintf(out, CLEANUP_OLD_TEXT, "%s%s%s", records, records[0] && snapshots[0] ? ", and " : "",
             snapshots);
    return out;
}

void cleanup_draw(const struct model *m, struct frame *f)
{
    char text[200], how[60], old[CLEANUP_OLD_TEXT];

    draw_cleanup_title(m, f);
    for (int rule = 0; rule < CLEANUP_RULE_COUNT; rule++)
        draw_rule(m, f, (enum cleanup_rule)rule);

    /* The line between the rules and the sessions. */
    const struct cleanup *c = m->cleanup;

    int x = 3;

    if (c->undo_records || c->old_snapshots) {
        snprintf(text, sizeof text, "%s: %s", cleanup_old_text(c, old),
                 keymap_text(&m->settings->keys, IN_CLEANUP, f->ascii, "{prune} removes them", how,
                             sizeof how));
        x += frame_puts(f, CLEANUP_LIST_Y - 1, x, f->cols - x - 1, STYLE_WARN, text) + 2;
    }
    if (c->held_snapshots) {
        const bool one = c->held_snapshots == 1;

        snprintf(text, sizeof text, "%zu old snapshot%s stay%s for a day: the clock has jumped",
                 c->held_snapshots, one ? "" : "s", one ? "s" : "");
        frame_text_cut(f, CLEANUP_LIST_Y - 1, x, f->cols - x - 1, STYLE_DIM, slice_of(text));
    }

    draw_cleanup_lines(m, f);
    draw_detail(m, f);
    if (m->cleanup->lines == 0)
        draw_cleanup_empty(m, f);
}
