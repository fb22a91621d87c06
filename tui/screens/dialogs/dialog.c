#include "tui/screens/dialogs/dialog.h"

#include <stdarg.h>
#include <stdio.h>

#include "tui/app/view.h"
#include "tui/screens/flows/flows.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/list_cursor.h"
#include "tui/widgets/styled_text.h"

enum { DIALOG_W = 72, TYPED_LEAST = 24 };

void dialog_begin(struct dialog *d, const char *title, dialog_answer_fn *answer)
{
    *d = (struct dialog){ .answer = answer };
    snprintf(d->title, sizeof d->title, "%s", title);
}

void dialog_line(struct dialog *d, const char *fmt, ...)
{
    va_list args;

    if (d->lines == DIALOG_LINES)
        return;
    va_start(args, fmt);
    vsnprintf(d->line[d->lines++], DIALOG_TEXT, fmt, args);
    va_end(args);
}

void dialog_offer(struct dialog *d, enum dialog_choice choice, const char *fmt, ...)
{
    va_list args;

    if (d->choices == DIALOG_CHOICES)
        return;
    va_start(args, fmt);
    vsnprintf(d->label[d->choices], DIALOG_TEXT, fmt, args);
    va_end(args);
    d->choice[d->choices++] = choice;
}

static const char consent[] = "yes";

void dialog_want_yes(struct dialog *d)
{
    d->wants_yes = true;
}

static void draw_dialog(const struct model *m, struct frame *f)
{
    const struct dialog *d = m->dialog;
    int answers = (int)d->choices + d->wants_yes;
    int w = f->cols - 4 < DIALOG_W ? f->cols - 4 : DIALOG_W;
    int h = 0; /* the lines of its text in w columns */

    for (size_t i = 0; i < d->lines; i++)
        h += text_wrap_height(slice_of(d->line[i]), w + 1);
    struct rect r = frame_box(f, h + 1 + answers, w, slice_of(d->title));
    int y = r.y + r.h - answers;
    char hint[80];

    /* On a small screen the text is cut, so that every choice is visible. */
    int line = r.y, end = y - (r.h > answers + 3);

    for (size_t i = 0; i < d->lines && line < end; i++)
        line += text_wrap_draw(f, (struct rect){ line, r.x, end - line, r.w + 1 }, STYLE_TEXT,
                               slice_of(d->line[i]));
    for (size_t i = 0; i < d->choices; i++) {
        snprintf(hint, sizeof hint, "%zu", i + 1);
        frame_puts(f, y, r.x + 2, 2, STYLE_KEY, hint);
        frame_text_middle(f, y, r.x + 5, r.w - 6, STYLE_TEXT, slice_of(d->label[i]));
        if (i == d->at)
            frame_point(f, (struct rect){ y, r.x, 1, r.w });
        y++;
    }
    if (d->wants_yes) {
        int x = r.x + 5;

        x += frame_puts(f, y, x, r.w - 5, STYLE_TEXT,
                        keymap_text(&m->settings->keys, IN_DIALOG, f->ascii,
                                    "or type yes and press {accept}: ", hint, sizeof hint));
        frame_text(f, y, x, 3, STYLE_STRONG, (struct slice){ consent, d->typed });
    }
}

static void dialog_choose(struct model *m, size_t i)
{
    enum dialog_choice choice = m->dialog->choice[i];

    m->dialog->at = i;
    view_pop(m);
    m->dialog->answer(m, choice);
}

/* People press Enter after a word by habit, so the word alone has no effect, and the Enter never
 * reaches the view below. */
static void dialog_accept(struct model *m)
{
    struct dialog *d = m->dialog;

    if (d->typed < sizeof consent - 1) {
        dialog_choose(m, d->at);
        return;
    }
    view_pop(m);
    d->answer(m, CHOICE_DO);
}

/* Any other key starts the word again. */
static void type_yes(struct dialog *d, struct key k)
{
    d->typed = k.mods == 0 && k.code == (unsigned char)consent[d->typed] ? d->typed + 1 : 0;
}

/* Where there are several ways to go on, none of them is "yes", unless the other one only leads to a choice. */
static bool dialog_takes_yes(const struct dialog *d)
{
    return !d->wants_yes && d->choice[0] == CHOICE_CANCEL &&
           (d->choices == 2 || (d->choices == 3 && d->choice[2] == CHOICE_HUNKS));
}

/* Where the word is wanted, y only begins it. */
static void dialog_yes(struct model *m)
{
    struct dialog *d = m->dialog;

    if (d->wants_yes)
        type_yes(d, (struct key){ 'y', 0 });
    else if (dialog_takes_yes(d))
        dialog_choose(m, 1);
}

static const enum action *dialog_footer(const struct model *m)
{
    static const enum action question[] = { ACT_ACCEPT, ACT_YES,  ACT_UP,
                                            ACT_DOWN,   ACT_BACK, ACT_NONE };

    return dialog_takes_yes(m->dialog) ? question : NULL;
}

static bool dialog_act(struct model *m, enum action a)
{
    struct dialog *d = m->dialog;

    if (a != ACT_ACCEPT && a != ACT_YES) /* moving to another choice cancels the word */
        d->typed = 0;
    if (list_cursor_wrap(&d->at, d->choices, a))
        return true;
    switch (a) {
    case ACT_ACCEPT: dialog_accept(m); return true;
    case ACT_YES: dialog_yes(m); return true;
    case ACT_BACK:
        view_pop(m);
        d->answer(m, CHOICE_CANCEL);
        return true;
    default: return false;
    }
}

static void dialog_key(struct model *m, struct key k)
{
    if (m->dialog->wants_yes)
        type_yes(m->dialog, k);
    if (k.mods == 0 && k.code >= '1' && k.code < '1' + m->dialog->choices)
        dialog_choose(m, k.code - '1');
}

const struct view_ops view_dialog = {
    .name = "dialog",
    .overlay = true,
    .context = IN_DIALOG,
    .draw = draw_dialog,
    .act = dialog_act,
    .footer = dialog_footer,
    .key = dialog_key,
};

void dialog_prompt(struct model *m, const char *label, struct slice text, prompt_answer_fn *answer)
{
    struct prompt *p = m->prompt;

    *p = (struct prompt){ .answer = answer };
    snprintf(p->label, sizeof p->label, "%s", label);
    line_editor_set(&p->edit, text);
    view_push(m, VIEW_PROMPT);
}

/* Why Enter was refused, or the keys as a footer names them. Returns where the room of the text ends. */
static int dialog_draw_note(const struct model *m, struct frame *f, int y)
{
    const struct prompt *p = m->prompt;
    static const struct {
        enum style style;
        const char *text;
    } hint[] = { { STYLE_KEY, "{accept}" },
                 { STYLE_DIM, " OK  " },
                 { STYLE_KEY, "{back}" },
                 { STYLE_DIM, " cancel" } };
    enum { HINTS = sizeof hint / sizeof *hint };
    char text[HINTS][40];
    int w = p->note[0] ? frame_width(slice_of(p->note)) : 0;

    for (size_t i = 0; i < HINTS && !p->note[0]; i++)
        w += frame_width(slice_of(keymap_text(&m->settings->keys, IN_PROMPT, f->ascii, hint[i].text,
                                              text[i], sizeof text[i])));
    int typed = frame_width(line_editor_text(&p->edit));

    typed = (typed < TYPED_LEAST ? typed : TYPED_LEAST) + frame_width(slice_of(p->label)) +
            7; /* margins, sign, cursor */

    /* On a narrow screen a hint gives way to what is typed; a reason does not. */
    if (w > f->cols / 2 || (!p->note[0] && typed + w > f->cols))
        return f->cols;
    int x = f->cols - w - 1;

    if (p->note[0])
        frame_puts(f, y, x, w, STYLE_WARN, p->note);
    for (size_t i = 0; i < HINTS && !p->note[0]; i++)
        x += frame_puts(f, y, x, w, hint[i].style, text[i]);
    return f->cols - w - 2;
}

/* The typed line replaces the footer. */
static void draw_prompt(const struct model *m, struct frame *f)
{
    const struct prompt *p = m->prompt;
    int y = f->rows - 1, x = 1;

    frame_fill(f, (struct rect){ y, 0, 1, f->cols }, STYLE_TEXT);
    int end = dialog_draw_note(m, f, y);

    x += frame_puts(f, y, x, f->cols / 2, STYLE_PROMPT, p->label);
    x += frame_puts(f, y, x, 2, STYLE_PROMPT, f->ascii ? "> " : "› ");
    line_editor_draw(&p->edit, f, (struct rect){ y, x, 1, end - x - 1 }, STYLE_STRONG, true);
    frame_select(f, (struct rect){ y, f->cursor_x, 1, 1 });
}

static bool prompt_act(struct model *m, enum action a)
{
    switch (a) {
    case ACT_ACCEPT: {
        struct line_editor typed = m->prompt->edit;

        view_pop(m); /* first, so that an answer may ask further */
        const char *why = m->prompt->answer(m, line_editor_text(&typed));

        if (why) {
            snprintf(m->prompt->note, sizeof m->prompt->note, "%s", why);
            view_push(m, VIEW_PROMPT);
        }
    }
        return true;
    case ACT_BACK:
        view_pop(m);
        change_flow_clear(m);
        return true;
    default: return false;
    }
}

static void prompt_key(struct model *m, struct key k)
{
    m->prompt->note[0] = '\0';
    line_editor_key(&m->prompt->edit, k);
}

static void prompt_paste(struct model *m, struct slice text)
{
    m->prompt->note[0] = '\0';
    line_editor_insert(&m->prompt->edit, text);
}

const struct view_ops view_prompt = {
    .name = "prompt",
    .overlay = true,
    .context = IN_PROMPT,
    .draw = draw_prompt,
    .act = prompt_act,
    .key = prompt_key,
    .paste = prompt_paste,
};
