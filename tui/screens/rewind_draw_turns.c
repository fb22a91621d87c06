#include <stdio.h>

#include "tui/screens/rewind_draw.h"
#include "tui/when.h"

/* The left side of the rewind view: the turns. */

/* "3 files", or "3f" where room is short; a turn that cannot be restored has none to offer. */
static void files_text(const struct checkpoint *c, bool wide, bool ascii, char *out, size_t cap)
{
    out[0] = '\0';
    if (c->why)
        snprintf(out, cap, "%s", ascii ? "x" : "✗");
    else if (c->files > 0 && wide)
        snprintf(out, cap, "%zu file%s", c->files, c->files == 1 ? " " : "s");
    else if (c->files > 0)
        snprintf(out, cap, "%zuf", c->files);
}

/* In front of what is no turn of its own: a commit, a sub-agent's task, the end of the session. */
static const char *sign_of(const struct checkpoint *c, bool ascii)
{
    switch (c->kind) {
    case CHECKPOINT_COMMIT: return ascii ? "*" : "●";
    case CHECKPOINT_TASK: return ascii ? ">" : "↳";
    case CHECKPOINT_SESSION_END: return ascii ? "#" : "■";
    default: return "";
    }
}

enum { LINES_FROM_W = 52, LINES_W = 12 };

/* "+48 -12" in columns of its own; answers where the room for the rest ends. */
static int draw_lines(struct frame *f, int y, int end, const struct checkpoint *c)
{
    char plus[16], minus[16];
    int at = end;

    if (c->counted && (c->insertions || c->deletions)) {
        snprintf(plus, sizeof plus, "+%u", c->insertions);
        snprintf(minus, sizeof minus, "-%u", c->deletions);
        at = rewind_put_right(f, y, end, STYLE_DELETE, minus) - 1;
        rewind_put_right(f, y, at, STYLE_ADD, plus);
    }
    return end - LINES_W;
}

static void draw_turn(const struct rewind_view *v, struct frame *f, struct rect r, size_t i)
{
    const struct checkpoint *c = &v->turns->checkpoint[i];
    bool wide = r.w >= 48;
    char age[WHEN_AGE], files[32];
    int end = r.x + r.w - 1;

    when_age(v->now_ms, c->time_ms, age);
    if (!wide)
        *strchrnul(age, ' ') = '\0'; /* "2h" */
    files_text(c, wide, f->ascii, files, sizeof files);
    if (r.w >= LINES_FROM_W)
        end = draw_lines(f, r.y, end, c);
    rewind_put_right(f, r.y, end, c->why ? STYLE_WARN : STYLE_TEXT, files);
    end -= wide ? 9 : 4;
    if (c->shell)
        frame_puts(f, r.y, end - 1, 1, STYLE_WARN, "$");
    end -= 2;
    rewind_put_right(f, r.y, end, STYLE_AGE, age);
    end -= wide ? WHEN_AGE_COLUMNS + 1 : 5;
    frame_puts(f, r.y, r.x, 1, STYLE_DIM, sign_of(c, f->ascii));
    frame_text_cut(f, r.y, r.x + 2, end - r.x - 2,
                   c->why         ? STYLE_DIM
                   : i == v->turn ? STYLE_STRONG
                                  : STYLE_TEXT,
                   c->prompt.n ? c->prompt : SLICE("(no prompt)"));
    if (i == v->turn)
        rewind_select_line(v, PANE_TURNS, f, (struct rect){ r.y, r.x, 1, r.w });
}

void rewind_draw_turns(const struct rewind_view *v, struct frame *f, struct rect r)
{
    size_t n = v->turns ? v->turns->n : 0;

    if (!v->turns)
        rewind_draw_spinner(v, f, r, "reading the turns");
    for (int i = 0; i < r.h && v->turn_top + (size_t)i < n; i++)
        draw_turn(v, f, (struct rect){ r.y + i, r.x, 1, r.w }, v->turn_top + (size_t)i);
}

static const char *moment_of(const struct checkpoint *c)
{
    if (!c->after)
        return "before this was answered";
    return c->kind == CHECKPOINT_COMMIT ? "this commit" : "when this had been answered";
}

/* What one has to know about a turn before going back to it. */
static enum style about(const struct rewind_view *v, const struct checkpoint *c, char *out,
                        size_t cap)
{
    if (v->mode == REWIND_CONVERSATION)
        snprintf(out, cap, "the conversation goes back to %s; files stay",
                 c->after ? "where this was answered" : "before this was said");
    else if (v->mode == REWIND_TURN && !c->why)
        snprintf(out, cap, "only what this turn did is taken back; what came after it stays");
    else if (c->why)
        snprintf(out, cap, "cannot be restored: %s", c->why);
    else if (rewind_is_current(v) && v->prospect->plan.notes > 0)
        snprintf(out, cap, "%s", v->prospect->plan.note[0]);
    else if (c->shell)
        snprintf(out, cap,
                 "commands ran in this turn: what they changed in other files is not covered");
    else
        snprintf(out, cap, "going back to %s", moment_of(c));
    if (v->mode == REWIND_CONVERSATION)
        return STYLE_DIM;
    return c->why || c->shell || (rewind_is_current(v) && v->prospect->plan.notes > 0) ? STYLE_WARN
                                                                                       : STYLE_DIM;
}

/* Below all turns: the selected one in full, as far as there is room, and what one has to know about it. */
void rewind_draw_note(const struct rewind_view *v, struct frame *f, struct rect r)
{
    enum { ABOUT_H = 3 };
    const struct checkpoint *c = rewind_turn(v);
    struct rect in = { r.y + 1, r.x + 2, r.h - 1, r.w - 3 };
    char text[300];

    if (r.h == 0 || !c)
        return;
    for (int x = r.x + 1; x < r.x + r.w; x++)
        frame_puts(f, r.y, x, 1, STYLE_BORDER, f->ascii ? "-" : "─");
    if (in.h > ABOUT_H) {
        int used = rewind_put_words(f, (struct rect){ in.y, in.x, in.h - ABOUT_H, in.w },
                                    STYLE_PROMPT, c->prompt);

        in.y += used;
        in.h -= used;
    }
    if (c->counted && in.h > 1 && r.w < LINES_FROM_W) {
        snprintf(text, sizeof text, "this turn: %zu file%s +%u -%u", c->files,
                 c->files == 1 ? "" : "s", c->insertions, c->deletions);
        rewind_put_words(f, in, STYLE_DIM, rewind_text(text));
        in.y++;
        in.h--;
    }
    enum style style = about(v, c, text, sizeof text);

    rewind_put_words(f, in, style, rewind_text(text));
}
