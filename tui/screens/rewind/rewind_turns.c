#include "tui/screens/rewind/rewind_internal.h"

#include <stdio.h>

#include "tui/text/clean.h"
#include "tui/text/human.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/styled_text.h"

/* The left side of the rewind view: the turns. */

/* The sign before entries that are not turns: a commit, a sub-agent's task, the end of the
 * session. */
static const char *rewind_turns_sign_of(const struct checkpoint *c, bool ascii)
{
    switch (c->kind) {
    case CHECKPOINT_COMMIT: return ascii ? "*" : "●";
    case CHECKPOINT_TASK: return ascii ? ">" : "↳";
    case CHECKPOINT_SESSION_END: return ascii ? "#" : "■";
    default: return "";
    }
}

enum { LINES_FROM_W = 52, LINES_W = 12 };

static struct slice rewind_turns_title_of(const struct checkpoint *c)
{
    if (c->prompt.n)
        return c->prompt;
    return c->kind == CHECKPOINT_SESSION_END ? SLICE("(end of the session)") : SLICE("(no prompt)");
}

void rewind_draw_turn(const struct rewind_view *v, struct frame *f, struct rect r, size_t i)
{
    const struct checkpoint *c = &v->turns->checkpoint[i];
    bool wide = r.w >= 48;
    char age[HUMAN_AGE], files[32];
    int end = r.x + r.w - 1;

    if (wide)
        human_age(v->now_ms, c->time_ms, age);
    else
        human_age_short(v->now_ms, c->time_ms, age);

    /* "3 files", or "3f" if space is short; nothing for a turn that cannot be restored. */
    bool ascii = f->ascii;
    size_t cap = sizeof files;

    files[0] = '\0';
    if (c->why)
        snprintf(files, cap, "%s", ascii ? "x" : "✗");
    else if (c->files > 0 && wide)
        snprintf(files, cap, "%zu file%s", c->files, c->files == 1 ? " " : "s");
    else if (c->files > 0)
        snprintf(files, cap, "%zuf", c->files);

    if (r.w >= LINES_FROM_W) { /* "+48 -12" in separate columns */
        char lines[16];

        if (c->counted && (c->insertions || c->deletions)) {
            snprintf(lines, sizeof lines, "-%u", c->deletions);
            const int at = frame_puts_right(f, r.y, end, STYLE_DELETE, lines) - 1;

            snprintf(lines, sizeof lines, "+%u", c->insertions);
            frame_puts_right(f, r.y, at, STYLE_ADD, lines);
        }
        end -= LINES_W;
    }
    frame_puts_right(f, r.y, end, c->why ? STYLE_WARN : STYLE_TEXT, files);
    end -= wide ? 9 : 4;
    if (c->shell)
        frame_puts(f, r.y, end - 1, 1, STYLE_WARN, "$");
    if (c->counted && c->removed)
        frame_puts(f, r.y, end, 1, STYLE_DELETE, "D");
    end -= 2;
    frame_puts_right(f, r.y, end, STYLE_AGE, age);
    /* A date takes the room that it needs from the title of its row. */
    const int age_w = strlen(age) > 4 ? HUMAN_AGE_SHORT_COLUMNS : 4;

    end -= (wide ? HUMAN_AGE_COLUMNS : age_w) + 1;
    frame_puts(f, r.y, r.x, 1, STYLE_DIM, rewind_turns_sign_of(c, f->ascii));
    frame_text_cut(f, r.y, r.x + 2, end - r.x - 2,
                   c->why            ? STYLE_DIM
                   : i == v->turn.at ? STYLE_STRONG
                                     : STYLE_TEXT,
                   rewind_turns_title_of(c));
    if (i == v->turn.at)
        rewind_select_line(v, PANE_TURNS, f, (struct rect){ r.y, r.x, 1, r.w });
}

static const char *moment_of(const struct checkpoint *c)
{
    if (!c->after)
        return "before this prompt was answered";
    return c->kind == CHECKPOINT_COMMIT ? "this commit" : "after this prompt was answered";
}

/* The note about a turn if its plan has none. */
static enum style describe_turn(const struct rewind_view *v, const struct checkpoint *c, char *out,
                                size_t cap)
{
    const struct rewind_conversation *conversation =
        v->mode == REWIND_CONVERSATION && rewind_is_current(v) ? rewind_conversation_of(v) : NULL;

    /* Where the other side is not on the screen, the note says how much goes. */
    if (conversation && v->w < REWIND_SPLIT_W)
        snprintf(out, cap, "the last %zu message%s go%s, %zu stay%s; files are not changed",
                 conversation->dropped, conversation->dropped == 1 ? "" : "s",
                 conversation->dropped == 1 ? "es" : "", conversation->kept,
                 conversation->kept == 1 ? "s" : "");
    else if (v->mode == REWIND_CONVERSATION)
        snprintf(out, cap, "rewinds the conversation to %s; files are not changed",
                 c->after ? "after this prompt was answered" : "before this prompt");
    else if (v->mode == REWIND_TURN && !c->why)
        snprintf(out, cap, "undoes only this turn's changes and keeps the later ones");
    else if (c->why)
        snprintf(out, cap, "cannot be restored: %s", c->why);
    else if (c->shell)
        snprintf(out, cap,
                 "shell commands ran in this turn; their changes to other files cannot be rewound");
    else
        snprintf(out, cap, "rewinds the files to %s", moment_of(c));
    return v->mode != REWIND_CONVERSATION && (c->why || c->shell) ? STYLE_WARN : STYLE_DIM;
}

/* The number of the plan's notes; 0 if describe_turn() is to be shown. */
static size_t notes_of(const struct rewind_view *v, const struct checkpoint *c)
{
    bool of_plan = v->mode != REWIND_CONVERSATION && v->mode != REWIND_TURN && !c->why;

    return of_plan && rewind_is_current(v) ? v->preview->plan.notes : 0;
}

enum { BULLET_W = 2 };

static int notes_lines(const struct rewind_view *v, size_t n, int w)
{
    int lines = 0;

    for (size_t i = 0; i < n; i++)
        lines += text_wrap_height(slice_of(v->preview->plan.note[i]), w - (n > 1 ? BULLET_W : 0));
    return lines;
}

/* Draws as many notes as fit, and the number of the others. */
static void draw_notes(const struct rewind_view *v, struct frame *f, struct rect in, size_t n)
{
    char text[48];

    if (n > 1) { /* each after a sign, to separate them */
        in.x += BULLET_W;
        in.w -= BULLET_W;
    }
    for (size_t i = 0; i < n && in.h > 0; i++) {
        struct slice note = slice_of(v->preview->plan.note[i]);
        size_t behind = n - i - 1;
        int need = text_wrap_height(note, in.w), room = in.h - (behind > 0);

        if (i > 0 && need > room) {
            snprintf(text, sizeof text, "and %zu more", behind + 1);
            frame_puts(f, in.y, in.x, in.w, STYLE_WARN, text);
            return;
        }
        int used = text_wrap_draw(f, (struct rect){ in.y, in.x, room > 0 ? room : 1, in.w },
                                  STYLE_WARN, note);

        if (n > 1)
            frame_puts(f, in.y, in.x - BULLET_W, 1, STYLE_WARN, f->ascii ? "-" : "·");
        in.y += used;
        in.h -= used;
    }
}

enum { ABOUT_H = 3 };

int rewind_note_height(const struct rewind_view *v, int w, bool whole)
{
    const struct checkpoint *c = rewind_turn(v);
    size_t n = c ? notes_of(v, c) : 0;
    bool counted = c && c->counted && w < LINES_FROM_W;
    char text[300];

    if (!c || (!n && !whole))
        return 0;
    describe_turn(v, c, text, sizeof text);
    /* The line above, the prompt, the counts, and the notes. */
    return 1 + (whole ? text_wrap_height(c->prompt, w - 3) : 1) + counted +
           (n ? notes_lines(v, n, w - 3) : text_wrap_height(slice_of(text), w - 3));
}

/* Draws the selected turn below all turns: as much of its prompt as fits, and the notes about it. */
void rewind_draw_note(const struct rewind_view *v, struct frame *f, struct rect r)
{
    const struct checkpoint *c = rewind_turn(v);
    struct rect in = { r.y + 1, r.x + 2, r.h - 1, r.w - 3 };
    char text[300];

    if (r.h == 0 || !c)
        return;
    size_t notes = notes_of(v, c);
    bool counted = c->counted && r.w < LINES_FROM_W;
    int below = notes ? notes_lines(v, notes, in.w) + counted : ABOUT_H;
    int above = in.h - (below > ABOUT_H ? below : ABOUT_H);
    frame_rule(f, r.y, r.x + 1, r.w - 1);
    if (in.h > ABOUT_H) {
        int used = text_wrap_draw(f, (struct rect){ in.y, in.x, above > 1 ? above : 1, in.w },
                                  STYLE_PROMPT, c->prompt);

        in.y += used;
        in.h -= used;
    }
    if (counted && in.h > 1) {
        /* Files whose lines are not known, or that changed only their mode, have no figures. */
        char lines[32] = "";

        if (c->insertions || c->deletions)
            snprintf(lines, sizeof lines, " +%u -%u", c->insertions, c->deletions);
        if (c->files && c->removed) /* in one line of a narrow pane */
            snprintf(text, sizeof text, "%zu file%s, %u deleted%s", c->files,
                     c->files == 1 ? "" : "s", c->removed, lines);
        else if (c->files)
            snprintf(text, sizeof text, "this turn: %zu file%s%s", c->files,
                     c->files == 1 ? "" : "s", lines);
        else
            snprintf(text, sizeof text, "this turn changed no files");
        text_wrap_draw(f, in, STYLE_DIM, slice_of(text));
        in.y++;
        in.h--;
    }
    if (notes) {
        draw_notes(v, f, in, notes);
        return;
    }
    enum style style = describe_turn(v, c, text, sizeof text);

    text_wrap_draw(f, in, style, slice_of(text));
}
