#include <stdio.h>
#include <string.h>

#include "tui/app/state.h"
#include "tui/screens/maintenance/damaged.h"
#include "tui/text/path.h"
#include "tui/text/when.h"
#include "tui/widgets/spinner.h"
#include "tui/widgets/text_wrap.h"

/* One row a thing; below them where the selected one lies, and what is wrong with it in full. */
enum {
    AGE_W = WHEN_AGE_COLUMNS,
    SYSTEM_W = 8,
    GAP = 2,
    AGE_COLS = 70, /* narrower than this nobody's age is shown */
    ID_W = 8,      /* the beginning of an id, by which the list finds it */
    ID_COLS = 90,
    PANEL_H = 4, /* a rule, the path, two lines of why */
    TALL_ROWS = 16,
    WIDE_COLS = 120,
};

static int panel_height(int rows)
{
    return rows < TALL_ROWS ? PANEL_H - 1 : PANEL_H;
}

size_t damaged_fit(int rows)
{
    int fit = rows - DAMAGED_ROWS_Y - panel_height(rows) - 1;

    return fit > 1 ? (size_t)fit : 1;
}

/* Where was looked, and what was found. */
static void draw_damaged_title(const struct model *m, struct frame *f)
{
    const struct damaged_view *v = &m->damaged;
    size_t files = v->n - v->sessions;
    char text[96] = "";
    int x = 1 + frame_puts(f, 0, 1, f->cols, STYLE_TITLE, "damaged") + 2, n = 0;

    if (v->sessions > 0)
        n = snprintf(text, sizeof text, "%zu session%s", v->sessions, v->sessions == 1 ? "" : "s");
    if (files > 0 && n >= 0)
        snprintf(text + n, sizeof text - (size_t)n, "%s%zu file%s", n ? ", " : "", files,
                 files == 1 ? "" : "s");
    int w = frame_width(slice_of(text)), end = f->cols - w - 1;

    frame_puts(f, 0, end, w, STYLE_DIM, text);
    if (list_busy(&m->list) || (v->asked != 0 && spinner_shows(v->asked_ms, m->now_ms))) {
        end -= 2;
        frame_puts(f, 0, end, 1, STYLE_KEY, spinner_sign(m->now_ms, f->ascii));
    }
    list_draw_scope(&m->list, f, (struct rect){ 0, x, 1, end - x - 2 });
}

/* The most room is for what is wrong. */
static void draw_damage(const struct model *m, struct frame *f, int y, const struct damage *d)
{
    struct damage_words w;
    char age[WHEN_AGE];
    int x = 1;

    damaged_describe(m, d, &w);
    if (f->cols >= AGE_COLS) {
        if (d->source == DAMAGE_SESSION) {
            when_age(m->now_ms, d->time_ms, age);
            frame_puts(f, y, x + AGE_W - (int)strlen(age), AGE_W, STYLE_AGE, age);
        }
        x += AGE_W;
    }
    x += GAP;
    frame_puts(f, y, x, SYSTEM_W, STYLE_SYSTEM, w.system);
    x += SYSTEM_W + GAP;
    if (f->cols >= ID_COLS) {
        frame_text(f, y, x, ID_W, STYLE_DIM, w.id);
        x += ID_W + GAP;
    }
    int room = f->cols - x - 1, name_w = f->cols >= WIDE_COLS ? room / 2 : room * 2 / 5;

    frame_text_cut(f, y, x, name_w, d->source == DAMAGE_SESSION ? STYLE_TEXT : STYLE_STRONG,
                   w.name);
    frame_text_cut(f, y, x + name_w + GAP, room - name_w - GAP, STYLE_WARN, w.why);
}

static void draw_damage_panel(const struct model *m, struct frame *f)
{
    const struct damaged_view *v = &m->damaged;
    int h = panel_height(f->rows), y = f->rows - 1 - h;
    struct damage_words w;
    char path[DAMAGE_TEXT];

    for (int x = 0; x < f->cols; x++)
        frame_puts(f, y, x, 1, STYLE_BORDER, f->ascii ? "-" : "─");
    damaged_describe(m, &v->item[v->pick.at], &w);
    frame_text_middle(f, y + 1, 2, f->cols - 3, STYLE_TEXT,
                      path_short(w.path, m->settings->home, path, sizeof path));
    text_wrap_draw(f, (struct rect){ y + 2, 2, h - 2, f->cols - 3 }, STYLE_WARN, w.why);
}

static void draw_key(const struct model *m, struct frame *f, int y, enum action a, const char *what)
{
    struct key key;
    char name[KEY_NAME];

    if (!keymap_key_of(m->settings->keys, IN_DAMAGED, a, &key))
        return;
    key_name(key, f->ascii, name);
    frame_puts(f, y, 3, 6, STYLE_KEY, name);
    frame_puts(f, y, 10, f->cols - 11, STYLE_TEXT, what);
}

static void draw_damaged_empty(const struct model *m, struct frame *f)
{
    struct rect r = { DAMAGED_ROWS_Y + 1, 3, 2, f->cols - 4 };
    char text[160], menu_keys[KEYMAP_MENU_KEYS];
    size_t n = m->list.sessions.n;

    f->cursor_y = DAMAGED_ROWS_Y;
    f->cursor_x = 0;
    if (!list_settled(&m->list) || m->damaged.asked != 0) {
        frame_puts(f, r.y, r.x, r.w, STYLE_DIM, "Checking ...");
        return;
    }
    frame_puts(f, r.y, r.x, r.w, STYLE_STRONG, "Nothing here is damaged");
    keymap_menu_keys(m->settings->keys, IN_LIST, ACT_DOCTOR, f->ascii, menu_keys);
    snprintf(text, sizeof text,
             "%zu session%s looked at, at the beginning and at the end. %s in the list looks "
             "through all of one.",
             n, n == 1 ? " was" : "s were", menu_keys);
    r.y += 2;
    r.y += text_wrap_draw(f, r, STYLE_DIM, slice_of(text)) + 1;
    if (m->list.scope != SCOPE_ALL)
        draw_key(m, f, r.y, ACT_SCOPE, "check more projects");
}

void damaged_draw(const struct model *m, struct frame *f)
{
    const struct damaged_view *v = &m->damaged;
    size_t fit = damaged_fit(f->rows);

    draw_damaged_title(m, f);
    if (v->n == 0) {
        draw_damaged_empty(m, f);
        return;
    }
    for (size_t i = 0; i < fit && v->pick.top + i < v->n; i++) {
        struct rect r = { DAMAGED_ROWS_Y + (int)i, 0, 1, f->cols };

        draw_damage(m, f, r.y, &v->item[v->pick.top + i]);
        if (v->pick.top + i == v->pick.at)
            frame_point(f, r);
    }
    draw_damage_panel(m, f);
}
