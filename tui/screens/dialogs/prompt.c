#include "tui/screens/dialogs/prompt.h"

#include <stdio.h>
#include <string.h>

#include "tui/app/state.h"

void prompt_open(struct model *m, const char *label, struct slice text,
                 const char *(*answer)(struct model *m, struct slice text))
{
    struct prompt *p = &m->prompt;

    *p = (struct prompt){ .answer = answer };
    snprintf(p->label, sizeof p->label, "%s", label);
    line_editor_set(&p->edit, text);
    view_push(m, VIEW_PROMPT);
}

static enum key_context prompt_key_context(const struct model *m)
{
    (void)m;
    return IN_PROMPT;
}

static int draw_note(const struct prompt *p, struct frame *f, int y)
{
    const char *text = p->note[0] ? p->note : "Enter: OK   Esc: cancel";
    enum style style = p->note[0] ? STYLE_WARN : STYLE_DIM;
    int w = frame_width(slice_of(text));

    int typed = frame_width(slice_of(p->label)) + frame_width(line_editor_text(&p->edit)) +
                7; /* margins, sign, cursor */

    /* A hint gives way to what is typed; a reason does not. */
    if (w > f->cols / 2 || (!p->note[0] && typed + w > f->cols))
        return f->cols;
    frame_puts(f, y, f->cols - w - 1, w, style, text);
    return f->cols - w - 2;
}

/* The line that is typed takes the place of the footer. */
static void draw_prompt(const struct model *m, struct frame *f)
{
    const struct prompt *p = &m->prompt;
    int y = f->rows - 1, x = 1;

    frame_fill(f, (struct rect){ y, 0, 1, f->cols }, STYLE_TEXT);
    int end = draw_note(p, f, y);

    x += frame_puts(f, y, x, f->cols / 2, STYLE_PROMPT, p->label);
    x += frame_puts(f, y, x, 2, STYLE_PROMPT, f->ascii ? "> " : "› ");
    line_editor_draw(&p->edit, f, (struct rect){ y, x, 1, end - x - 1 }, STYLE_STRONG, true);
    frame_select(f, (struct rect){ y, f->cursor_x, 1, 1 });
}

static void prompt_accept(struct model *m)
{
    struct line_editor typed = m->prompt.edit;

    view_pop(m); /* first, so that an answer may ask further */
    const char *why = m->prompt.answer(m, line_editor_text(&typed));

    if (!why)
        return;
    snprintf(m->prompt.note, sizeof m->prompt.note, "%s", why);
    view_push(m, VIEW_PROMPT);
}

static bool prompt_act(struct model *m, enum action a)
{
    switch (a) {
    case ACT_ACCEPT: prompt_accept(m); return true;
    case ACT_BACK:
        view_pop(m);
        pending_change_clear(m);
        return true;
    default: return false;
    }
}

static void prompt_key(struct model *m, struct key k)
{
    m->prompt.note[0] = '\0';
    line_editor_key(&m->prompt.edit, k);
}

static void prompt_paste(struct model *m, struct slice text)
{
    m->prompt.note[0] = '\0';
    line_editor_insert(&m->prompt.edit, text);
}

const struct view_ops view_prompt = {
    .name = "prompt",
    .overlay = true,
    .place = prompt_key_context,
    .draw = draw_prompt,
    .act = prompt_act,
    .key = prompt_key,
    .paste = prompt_paste,
};
