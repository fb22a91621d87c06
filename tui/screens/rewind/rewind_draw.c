#include "tui/screens/rewind/rewind_internal.h"

#include <stdio.h>

#include "tui/text/clean.h"
#include "tui/text/human.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/styled_text.h"

/* Helpers for the panes of the rewind view. */

void rewind_select_line(const struct rewind_view *v, enum rewind_pane pane, struct frame *f,
                        struct rect r)
{
    if (v->pane == pane)
        frame_point(f, r);
    else
        frame_puts(f, r.y, r.x, 1, STYLE_BORDER, f->ascii ? ">" : "▌");
}

void rewind_draw_spinner(const struct rewind_view *v, struct frame *f, struct rect r,
                         const char *text)
{
    if (!rewind_is_slow(v) || r.h < 1)
        return;
    frame_puts(f, r.y, r.x + 2, 1, STYLE_KEY, frame_spinner_sign(v->now_ms, f->ascii));
    frame_puts(f, r.y, r.x + 4, r.w - 4, STYLE_DIM, text);
}

/* The rewind view in a frame. */

/* ---- title ---- */

/* The state of the view (something was rewound, or not) and the mode. */
static const char *rewind_draw_state_of(const struct rewind_view *v, bool brief, char *out,
                                        size_t cap)
{
    static const char *const parts[REWIND_MODES] = {
        [REWIND_CODE] = "",
        [REWIND_CONVERSATION] = "conversation only",
        [REWIND_BOTH] = "files and conversation",
        [REWIND_TURN] = "this turn only",
        [REWIND_INFERRED] = "inferred state",
    };
    const char *part = parts[v->mode], *comma = part[0] ? ", " : "";
    const char *word = v->undo[0] ? "rewound" : v->redo[0] ? "undone" : "dry run";
    const char *more = v->undo[0]   ? ": u undo"
                       : v->redo[0] ? ": U redo"
                                    : ": nothing has been changed";

    if (brief)
        snprintf(out, cap, "%s%s%s", word, comma, part);
    else
        snprintf(out, cap, "%s%s%s%s", part, comma, word, more);
    return out;
}

static void draw_rewind_title(const struct rewind_view *v, struct frame *f, struct rect r)
{
    char room[96];
    bool brief = r.w < (v->mode == REWIND_CODE ? 72 : 110);
    const char *state = "changing files";

    if (!v->asked_rewind) {
        state = rewind_draw_state_of(v, brief, room, sizeof room);
    } else if (v->total > 0) { /* each file takes two steps: a count would be misleading */
        snprintf(room, sizeof room, "changing files %3d%%", (int)(v->done * 100 / v->total));
        state = room;
    }
    int end = frame_puts_right(f, r.y, r.x + r.w - 1, STYLE_STRONG, state) - 2;
    int x = r.x + 1;

    x += frame_puts(f, r.y, x, 7, STYLE_TITLE, "rewind") + 2;
    frame_text_cut(f, r.y, x, end - x, STYLE_STRONG, v->title);
}

/* ---- files ---- */

enum { HELD_BACK_COLUMNS = 52 }; /* in fewer, the path needs the room */

static const char *short_rule(const struct rewind_entry *x, int width)
{
    switch (x->rule) {
    case REWIND_RULE_EDITED:
        return x->by_command == BY_COMMAND ? "by its command"
               : x->by_command             ? "perhaps its command"
               : !x->seen.exists           ? "deleted since"
               : width < 60                ? "edited since"
                                           : "edited by hand since";
    case REWIND_RULE_UNKNOWN: return "unknown";
    case REWIND_RULE_OUTSIDE: return "outside";
    case REWIND_RULE_SENSITIVE: return "sensitive";
    case REWIND_RULE_PATH: return "not allowed";
    case REWIND_RULE_LINK: return "link";
    case REWIND_RULE_HARD_LINK: return "hard links";
    case REWIND_RULE_TYPE: return "not a file";
    case REWIND_RULE_PARENT: return "moved";
    case REWIND_RULE_SOURCE:
        return x->target->want == REWIND_UNKNOWN  ? "not recorded"
               : x->target->want == REWIND_ABSENT ? "kept"
                                                  : "no backup";
    case REWIND_RULE_CONFLICT: return "conflict";
    case REWIND_RULE_OPEN: return "open";
    case REWIND_RULE_ACCESS: return "no access";
    case REWIND_RULE_NONE: break;
    }
    return "";
}

/* M: other bytes or another mode; A: created; D: deleted; R: held back, shown as a word. */
static char rewind_draw_letter_of(const struct rewind_entry *x, const struct rewind_selection *pick)
{
    switch (x->action == REWIND_REFUSED && !pick->consent ? REWIND_REFUSED : rewind_action_of(x)) {
    case REWIND_RESTORE: return 'M';
    case REWIND_CREATE: return 'A';
    case REWIND_DELETE: return 'D';
    case REWIND_REFUSED: return 'R';
    case REWIND_UNCHANGED: break;
    }
    return 'U';
}

/* "+3 -20" at the right edge. Returns the column where it begins. */
static int rewind_draw_counts(const struct rewind_view *v, struct frame *f, int y, int end,
                              size_t row)
{
    const struct rewind_entry *x = rewind_entry_at(v, row);
    bool partial = rewind_is_partial(rewind_selection_at(v, row));
    const struct lines_changed *part = &v->partial[v->row[row]];
    char plus[16], minus[16];

    if (x->binary || x->mode_only)
        return frame_puts_right(f, y, end, STYLE_DIM, x->binary ? "binary" : "mode");
    if (rewind_has_kind(x))
        return frame_puts_right(f, y, end, STYLE_DIM,
                                rewind_kind_wanted(x) ? rewind_kind_wanted(x) : rewind_kind_now(x));
    if (rewind_action_of(x) == REWIND_REFUSED)
        return end;
    snprintf(plus, sizeof plus, "+%u", partial ? part->insertions : x->insertions);
    snprintf(minus, sizeof minus, "-%u", partial ? part->deletions : x->deletions);
    end = frame_puts_right(f, y, end, STYLE_DELETE, minus) - 1;
    return frame_puts_right(f, y, end, STYLE_ADD, plus);
}

/* later: “Fix the payment…”, 3m ago. In a narrow pane, only the age. The path has its columns first, if it is not long.
 * Returns the column where the text begins. */
static int draw_later(const struct rewind_view *v, struct frame *f, struct rect r, int end,
                      const struct rewind_entry *x)
{
    enum { PATH_X = 16, PATH_MOST = 24, WORDS = 9, AGES = 11, TITLE_LEAST = 12 };
    const struct rewind_other *other = x->later;
    char age[HUMAN_AGE], tail[HUMAN_AGE + 8], path[512];
    struct slice title = slice_of(other->title ? other->title : other->session);
    int width = (int)clean_width(title), path_w = frame_width(rewind_path(v, x, path, sizeof path));

    path_w = path_w < PATH_MOST ? path_w : PATH_MOST;
    const int room = end - r.x - PATH_X - path_w - WORDS - AGES;
    const bool names = room >= (width < TITLE_LEAST ? width : TITLE_LEAST);

    human_age(v->now_ms, other->at_ms, age);
    snprintf(tail, sizeof tail, names ? "”, %s" : "later, %s", age);
    end = frame_puts_right(f, r.y, end, STYLE_WARN, tail);
    if (!names)
        return end;
    width = width < room ? width : room;
    frame_text_cut(f, r.y, end - width, width, STYLE_WARN, title);
    return frame_puts_right(f, r.y, end - width, STYLE_WARN, "later: “");
}

static void draw_file(const struct rewind_view *v, struct frame *f, struct rect r, size_t row)
{
    const struct rewind_entry *x = rewind_entry_at(v, row);
    const struct rewind_selection *pick = rewind_selection_at(v, row);
    char letter[2] = { rewind_draw_letter_of(x, pick), '\0' }, room[512];
    const char *box = !pick->ticked ? "[ ]" : rewind_is_partial(pick) ? "[~]" : "[x]";
    bool can = x->action != REWIND_REFUSED || rewind_may_consent(x);
    enum style style = letter[0] == 'A'   ? STYLE_ADD
                       : letter[0] == 'D' ? STYLE_DELETE
                       : letter[0] == 'R' ? STYLE_WARN
                                          : STYLE_HUNK;
    int end = rewind_draw_counts(v, f, r.y, r.x + r.w - 1, row) - 1;

    /* The facts are placed from the right end on; the path gets the columns between. */
    if (x->rule == REWIND_RULE_NONE && x->held_open)
        end = frame_puts_right(f, r.y, end, STYLE_WARN, "open") - 1;
    if (x->rule == REWIND_RULE_NONE && x->target->other)
        end = frame_puts_right(f, r.y, end, STYLE_WARN, "other session") - 1;
    if (x->rule == REWIND_RULE_EDITED && v->preview->preview.moved)
        end = frame_puts_right(f, r.y, end, STYLE_WARN, "moved") - 1;
    else if (x->later)
        end = draw_later(v, f, r, end, x) - 1;
    else if (x->rule != REWIND_RULE_NONE)
        end = frame_puts_right(f, r.y, end, STYLE_WARN, short_rule(x, r.w)) - 1;

    frame_puts(f, r.y, r.x + 1, 3, pick->ticked ? STYLE_MARK : STYLE_DIM, can ? box : " - ");
    const char *what = letter[0] != 'R' ? letter : r.w < HELD_BACK_COLUMNS ? "held" : "held back";
    int path = r.x + 6 + frame_puts(f, r.y, r.x + 5, 9, style, what);

    frame_text_middle(f, r.y, path, end - path, pick->ticked ? STYLE_TEXT : STYLE_DIM,
                      rewind_path(v, x, room, sizeof room));
    if (row == v->file.at)
        rewind_select_line(v, PANE_FILES, f, r);
}

static void draw_unchanged(const struct rewind_view *v, struct frame *f, int y, struct rect r)
{
    char text[48];

    if (v->unchanged == 0)
        return;
    snprintf(text, sizeof text, "%zu unchanged", v->unchanged);
    frame_puts(f, y, r.x + 5, r.w - 5, STYLE_DIM, text);
}

static void draw_files(const struct rewind_view *v, struct frame *f, struct rect r)
{
    int h = r.h - (v->unchanged > 0), i = 0;

    for (; i < h && v->file.top + (size_t)i < v->rows; i++)
        draw_file(v, f, (struct rect){ r.y + i, r.x, 1, r.w }, v->file.top + (size_t)i);
    draw_unchanged(v, f, r.y + i, r);
    frame_scrollbar(f, (struct rect){ r.y, r.x, h, r.w }, v->file.top, v->rows, (size_t)h);
}

/* ---- the changes of the selected file ---- */

/* The other session whose work would be lost, which is more important than the path, because the
 * list above shows the path. */
static int draw_other(const struct rewind_view *v, struct frame *f, struct rect r,
                      const struct rewind_entry *x)
{
    const struct rewind_other *other = x->target->other;
    char age[HUMAN_AGE];
    int used = frame_puts(f, r.y, r.x, r.w, STYLE_WARN, "also changed by ");

    human_age(v->now_ms, other->at_ms, age);
    if (other->system) {
        used += frame_text_cut(f, r.y, r.x + used, r.w - used, STYLE_WARN, slice_of(other->system));
        used += frame_puts(f, r.y, r.x + used, r.w - used, STYLE_WARN, ": ");
    }
    used += frame_text_cut(f, r.y, r.x + used, r.w - used - 12, STYLE_WARN,
                           slice_of(other->title ? other->title : other->session));
    used += frame_puts(f, r.y, r.x + used, r.w - used, STYLE_WARN, ", ");
    return used + frame_puts(f, r.y, r.x + used, r.w - used, STYLE_WARN, age);
}

/* The line between the files and the changes: the warning about the file, else its path. */
static void draw_changes_head(const struct rewind_view *v, struct frame *f, struct rect r,
                              const char *warning)
{
    const struct rewind_entry *x = rewind_file(v);
    const struct changes *c = &v->changes;
    char room[512], where[48] = "";
    int used;

    frame_rule(f, r.y, r.x, r.w);
    if (!x || r.w < 20)
        return;
    int end = r.x + r.w - 2;

    if (c->comparison && c->styled_text.n > 0 && c->comparison->diff.hunks > 1) {
        snprintf(where, sizeof where, " hunk %u/%zu ", c->styled_text.line[c->cursor.at].block + 1U,
                 c->comparison->diff.hunks);
        end = frame_puts_right(f, r.y, end, STYLE_DIM, where) - 1;
    }

    /* The text interrupts the rule, with a blank on each side. */
    frame_puts(f, r.y, r.x + 1, 1, STYLE_BORDER, " ");
    if (!x->why && x->target->other)
        used = draw_other(v, f, (struct rect){ r.y, r.x + 2, 1, end - r.x - 3 }, x);
    else if (warning)
        used = frame_text_cut(f, r.y, r.x + 2, end - r.x - 3, STYLE_WARN, slice_of(warning));
    else
        used = frame_text_middle(f, r.y, r.x + 2, end - r.x - 3, STYLE_TITLE,
                                 rewind_path(v, x, room, sizeof room));
    frame_puts(f, r.y, r.x + 2 + used, 1, STYLE_BORDER, " ");
}

static void draw_warning(struct frame *f, struct rect r, const char *warning)
{
    text_wrap_draw(f, (struct rect){ r.y, r.x + 2, r.h, r.w - 3 }, STYLE_WARN, slice_of(warning));
}

/* The box of a hunk is after its head, if hunks can be selected at all. */
static void draw_hunk_box(const struct rewind_view *v, struct frame *f, struct rect r, size_t line)
{
    const struct styled_text *s = &v->changes.styled_text;
    const struct rewind_selection *pick = rewind_selection_at(v, v->file.at);
    size_t hunk = s->line[line].block;
    bool head = line == 0 || s->line[line - 1].block != hunk;
    bool on = pick->ticked && (!pick->hunk || (hunk < pick->hunks && pick->hunk[hunk]));

    if (!head || rewind_action_of(rewind_file(v)) != REWIND_RESTORE ||
        rewind_has_kind(rewind_file(v)) || v->changes.comparison->diff.hunks < 2)
        return;
    frame_puts(f, r.y, r.x + r.w - 4, 3, on ? STYLE_MARK : STYLE_DIM, on ? "[x]" : "[ ]");
}

static void draw_change_lines(const struct rewind_view *v, struct frame *f, struct rect r)
{
    const struct changes *c = &v->changes;
    char text[80];
    int i = 0;

    for (; i < r.h && c->cursor.top + (size_t)i < c->styled_text.n; i++) {
        size_t line = c->cursor.top + (size_t)i;
        struct rect at = { r.y + i, r.x, 1, r.w };

        styled_text_draw_line(&c->styled_text, line, f, at.y, at.x + 1, at.w - 2);
        draw_hunk_box(v, f, at, line);
        if (line == c->cursor.at && v->pane == PANE_CHANGES)
            rewind_select_line(v, PANE_CHANGES, f, at);
    }
    if (c->left_out == 0 || i >= r.h)
        return;
    snprintf(text, sizeof text, "%zu more lines are not shown", c->left_out);
    frame_puts(f, r.y + i, r.x + 1, r.w - 1, STYLE_DIM, text);
}

/* Shows why the file has no lines to compare. */
static void no_lines(const struct rewind_view *v, const struct rewind_entry *x, char *out,
                     size_t cap)
{
    char size[HUMAN_SIZE];

    human_size(x->seen.size, size);
    if (x->binary)
        snprintf(out, cap, "binary file (%s now)", x->seen.exists ? size : "missing");
    else if (x->mode_only)
        snprintf(out, cap, "only the mode changes, from %04o to %04o",
                 (unsigned)x->seen.mode & 07777, (unsigned)x->target->mode & 07777);
    else if (rewind_has_kind(x) && x->action != REWIND_REFUSED)
        snprintf(out, cap, "now: %s; then: %s", rewind_kind_now(x) ? rewind_kind_now(x) : "nothing",
                 rewind_kind_wanted(x) ? rewind_kind_wanted(x) : "nothing");
    else if (v->changes_error.code)
        err_sentence(&v->changes_error, out, cap);
    else if (x->action == REWIND_REFUSED && !rewind_may_consent(x))
        snprintf(out, cap, "the file stays as it is");
    else
        snprintf(out, cap, "%s", v->changes.comparison ? "an empty file" : "");
}

static void draw_changes(const struct rewind_view *v, struct frame *f, struct rect r)
{
    const struct rewind_entry *x = rewind_file(v);
    char text[480];

    if (!x || r.h < 1)
        return;
    if (v->changes.styled_text.n > 0) {
        draw_change_lines(v, f, r);
        return;
    }
    no_lines(v, x, text, sizeof text);
    text_wrap_draw(f, (struct rect){ r.y, r.x + 2, r.h, r.w - 3 }, STYLE_DIM, slice_of(text));
    if (v->asked_changes)
        rewind_draw_spinner(v, f, r, "comparing");
}

/* ---- all of it ---- */

static void rewind_draw_empty(struct frame *f, struct rect r)
{
    static const char *const text[] = {
        "This session has no checkpoints.",
        "",
        "Agents keep copies of the files that they change, at each prompt. This session has none: "
        "it "
        "changed no files, the copies are turned off, or they were removed.",
    };
    struct rect in = { r.y + 1, r.x + 2, r.h - 1, r.w - 4 };

    for (size_t i = 0; i < sizeof text / sizeof *text && in.h > 0; i++) {
        int used =
            *text[i] ? text_wrap_draw(f, in, i ? STYLE_DIM : STYLE_STRONG, slice_of(text[i])) : 1;

        in.y += used;
        in.h -= used;
    }
}

/* The conversation's part, above the files. */
static void draw_conversation(const struct rewind_view *v, struct frame *f, struct rect r)
{
    const struct rewind_conversation *t = rewind_conversation_of(v);
    char text[120];

    if (!t || r.h == 0)
        return;
    snprintf(text, sizeof text, "conversation: the last %zu message%s go%s, %zu stay%s", t->dropped,
             t->dropped == 1 ? "" : "s", t->dropped == 1 ? "es" : "", t->kept,
             t->kept == 1 ? "s" : "");
    const char *fits = frame_width(slice_of(text)) > r.w - 5 ? strchr(text, ' ') + 1 : text;

    frame_text_cut(f, r.y, r.x + 5, r.w - 5, STYLE_STRONG, slice_of(fits));
}

/* One prompt, with its fate before it. */
static void draw_fate(struct frame *f, struct rect r, bool goes, const struct checkpoint *c)
{
    int used = frame_puts(f, r.y, r.x, 8, goes ? STYLE_DELETE : STYLE_OK, goes ? "goes" : "stays");

    used = used < 8 ? 8 : used;
    frame_puts(f, r.y, r.x + used, 2, STYLE_PROMPT, f->ascii ? "> " : "❯ ");
    frame_text_cut(f, r.y, r.x + used + 2, r.w - used - 2, goes ? STYLE_DIM : STYLE_TEXT,
                   c->prompt.n ? c->prompt : SLICE("(no prompt)"));
}

/* The prompts around the cut: those that stay above it, those that go below it. */
static void draw_cut(const struct rewind_view *v, struct frame *f, struct rect r)
{
    const struct rewind_conversation *t = rewind_conversation_of(v);
    const struct checkpoint *turn = v->turns->checkpoint;
    size_t n = v->turns->n, cut = v->turn.at + rewind_turn(v)->after;
    const char *fate =
        t->how == CONVERSATION_TRUNCATE
            ? "Files are not changed. The messages that go are cut off; an undo brings them back."
        : t->how == CONVERSATION_RESUME_AT
            ? "Files are not changed. The messages that go stay in the file as a branch; an undo "
              "brings them back."
        : t->how == CONVERSATION_FORK
            ? "Files are not changed. This session stays as it is; a new one ends at the cut."
            : "Files are not changed.";
    int foot = text_wrap_height(slice_of(fate), r.w) + 1, h = r.h - foot - 1;
    size_t room = h > 0 ? (size_t)h : 0, going = n - cut, above = cut;
    char text[64];

    /* If not all prompts fit, those that go get two thirds of the lines; the others get what is left. */
    if (above > room / 3 && going + above > room)
        above = going < room - room / 3 ? room - going : room / 3;
    for (size_t i = cut - above; i < cut; i++, r.y++)
        draw_fate(f, (struct rect){ r.y, r.x, 1, r.w }, false, &turn[i]);
    if (h > 0) {
        frame_rule(f, r.y, r.x, r.w);
        frame_puts(f, r.y++, r.x + 2, 5, STYLE_WARN, " cut ");
    }

    /* The last line is for the number of those that do not fit. */
    size_t below = going <= room - above ? going : room > above ? room - above - 1 : 0;

    for (size_t i = cut; i < cut + below; i++, r.y++)
        draw_fate(f, (struct rect){ r.y, r.x, 1, r.w }, true, &turn[i]);
    if (below < going && room > above) {
        snprintf(text, sizeof text, "goes    %zu more prompt%s", going - below,
                 going - below == 1 ? "" : "s");
        frame_puts(f, r.y++, r.x, r.w, STYLE_DELETE, text);
    }
    text_wrap_draw(f, (struct rect){ r.y + (h > 0), r.x, foot, r.w }, STYLE_DIM, slice_of(fate));
}

static const char *no_rows(const struct rewind_view *v)
{
    if (v->mode == REWIND_CONVERSATION)
        return rewind_conversation_of(v) ? "Files are not changed."
                                         : "Nothing to do: the conversation already ends there.";
    if (v->mode == REWIND_TURN)
        return "Nothing to do: nothing is left of this turn's changes.";
    return rewind_conversation_of(v)
               ? "The files already match: only the conversation would be rewound."
               : "Nothing to do: the files already match.";
}

static void rewind_draw_right(const struct rewind_view *v, struct frame *f,
                              const struct rewind_layout *l)
{
    struct rect r = { l->files.y, l->files.x + 2, 3, l->files.w - 3 };
    const struct checkpoint *c = rewind_turn(v);

    if (v->preview_error.code) {
        if (l->edge >= 0) /* there is nothing else beside the turns */
            r.h = f->rows - 2 - r.y;
        text_wrap_draw_error(f, r, &v->preview_error);
    } else if (c && rewind_turn_why(v, c)) {
        text_wrap_draw(f, r, STYLE_DIM, SLICE("This turn cannot be restored."));
    } else if (!rewind_is_current(v) && (!v->preview || rewind_is_slow(v))) {
        rewind_draw_spinner(v, f, l->files, "checking the files");
    } else if (v->rows == 0) {
        draw_conversation(v, f, l->conversation);
        if (c && v->mode == REWIND_CONVERSATION && rewind_conversation_of(v)) {
            r.h = (l->changes.h > 0 ? l->changes.y + l->changes.h : l->files.y + l->files.h) - r.y;
            draw_cut(v, f, r);
        } else {
            text_wrap_draw(f, r, STYLE_DIM, slice_of(no_rows(v)));
        }
    } else {
        draw_conversation(v, f, l->conversation);
        draw_files(v, f, l->files);
        if (l->changes.h > 0) {
            const char *warning = rewind_file_warning(v);

            draw_changes_head(v, f, l->head, l->warning.h > 0 ? NULL : warning);
            if (l->warning.h > 0)
                draw_warning(f, l->warning, warning);
            draw_changes(v, f, l->changes);
        }
    }
}

void rewind_view_draw(const struct rewind_view *v, struct frame *f, struct rect r)
{
    struct rewind_layout l = rewind_layout(v, r.h, r.w);

    draw_rewind_title(v, f, r);
    if (v->turns_error.code) {
        text_wrap_draw_error(f, (struct rect){ 2, 2, r.h - 3, r.w - 4 }, &v->turns_error);
        return;
    }
    if (v->turns && v->turns->n == 0) {
        rewind_draw_empty(f, (struct rect){ 1, 0, r.h - 1, r.w });
        return;
    }

    if (l.turns.w > 0) {
        const struct rect at = l.turns;

        if (!v->turns)
            rewind_draw_spinner(v, f, at, "loading the turns");
        for (int i = 0; v->turns && i < at.h && v->turn.top + (size_t)i < v->turns->n; i++)
            rewind_draw_turn(v, f, (struct rect){ at.y + i, at.x, 1, at.w },
                             v->turn.top + (size_t)i);
        rewind_draw_note(v, f, l.note);
    }
    if (l.files.w > 0 && v->turns)
        rewind_draw_right(v, f, &l);

    if (l.edge >= 0) {
        frame_edge(f, l.turns.y, l.edge, l.turns.h + l.note.h);
        if (!f->ascii) {
            /* The rules of the note and of the head meet the edge from its two sides, perhaps in the same row. */
            bool head = l.head.w > 0 && v->rows > 0;

            if (l.note.h > 0)
                frame_puts(f, l.note.y, l.edge, 1, STYLE_BORDER,
                           head && l.note.y == l.head.y ? "┼" : "┤");
            if (head && l.head.y != l.note.y)
                frame_puts(f, l.head.y, l.edge, 1, STYLE_BORDER, "├");
        }
    }

    if (l.result >= 0) {
        const enum style style = v->incomplete ? STYLE_ERROR : STYLE_OK;
        const char *sign = v->incomplete ? (f->ascii ? "! " : "✗ ") : (f->ascii ? "- " : "✓ ");
        const int x = 1 + frame_puts(f, l.result, 1, r.w - 1, style, sign);

        frame_text_cut(f, l.result, x, r.w - x, style, slice_of(v->result));
    }
    if (v->asked_rewind && rewind_is_slow(v))
        frame_puts(f, 0, r.w - (v->total > 0 ? 23 : 18), 1, STYLE_KEY,
                   frame_spinner_sign(v->now_ms, f->ascii));
}
