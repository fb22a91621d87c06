#include <string.h>

#include "tui/app/view.h"
#include "tui/screens/rewind/rewind.h"
#include "tui/text/human.h"
#include "tui/widgets/frame.h"

/* What a bisect does, over the rewind view: the command runs in a copy of the project, its output and the verdicts are
 * shown as they come, and Esc ends it. The turn that was found is selected when the panel is closed.
 *
 *     prompt -> EFFECT_BISECT -> MSG_BISECT_OUTPUT... -> MSG_BISECTED or MSG_FAILED
 */
enum { BISECT_KEPT = 64 << 10, BISECT_MARGIN = 2 };

static const char *const verdicts[] = { "good: ", "bad: ", "skip: ", "the first bad turn" };

void bisect_view_fini(struct bisect_view *v)
{
    buf_fini(&v->command);
    buf_fini(&v->output);
    buf_fini(&v->turn);
    *v = (struct bisect_view){ 0 };
}

const char *bisect_view_begin(struct model *m, const struct ref_list *session, struct slice command)
{
    struct bisect_view *v = m->bisect;
    struct ref_list *refs = command.n ? ref_list_copy(session) : NULL;

    if (!command.n)
        return "a command, such as: make test";
    bisect_view_fini(v);
    struct effect *e = refs ? effect_add(&m->fx, EFFECT_BISECT, REQUESTER_REWIND) : NULL;

    if (!e || buf_add(&e->text, command) || buf_add(&v->command, command)) {
        ref_list_free(e ? NULL : refs);
        toast_no_memory(&m->toast);
        return NULL;
    }
    e->refs = refs;
    v->asked = e->generation;
    view_push(m, VIEW_BISECT);
    return NULL;
}

/* The last part of it, from the beginning of a line on. */
static void bisect_view_add(struct model *m, struct slice text)
{
    struct bisect_view *v = m->bisect;
    struct buf *out = &v->output;

    if (buf_add(out, text)) {
        toast_no_memory(&m->toast);
        return;
    }
    if (out->n <= 2 * BISECT_KEPT)
        return;
    const char *end = memchr(out->p + out->n - BISECT_KEPT, '\n', BISECT_KEPT);
    const size_t cut = end ? (size_t)(end + 1 - out->p) : out->n - BISECT_KEPT;

    memmove(out->p, out->p + cut, out->n - cut);
    out->n -= cut;
}

static size_t bisect_lines(const struct bisect_view *v)
{
    size_t n = 0;

    for (size_t i = 0; i < v->output.n; i++)
        n += v->output.p[i] == '\n';
    return n + (v->output.n > 0 && v->output.p[v->output.n - 1] != '\n');
}

/* A program that draws its progress goes back to the beginning of the line: its last state is shown. */
static struct slice last_state(struct slice line)
{
    while (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    for (size_t i = line.n; i-- > 0;)
        if (line.p[i] == '\r')
            return (struct slice){ line.p + i + 1, line.n - i - 1 };
    return line;
}

static void draw_bisect(const struct model *m, struct frame *f)
{
    const struct bisect_view *v = m->bisect;
    const struct rect r =
        frame_box(f, f->rows - 2 * BISECT_MARGIN, f->cols - 2 * BISECT_MARGIN, SLICE("bisect"));
    const size_t h = r.h > 2 ? (size_t)r.h - 2 : 1, n = bisect_lines(v);
    const size_t hidden = n > h ? n - h : 0, top = hidden - (v->back < hidden ? v->back : hidden);
    struct slice rest = buf_slice(&v->output), line;
    char ended[96] = "It has ended.";
    bool torn;

    if (v->turn.n)
        keymap_text(&m->settings->keys, IN_DIALOG, f->ascii,
                    "It has ended. {accept} selects that turn.", ended, sizeof ended);
    frame_text_cut(f, r.y, r.x, r.w, STYLE_PROMPT, buf_slice(&v->command));
    frame_puts(f, r.y + 1, r.x, r.w, STYLE_DIM,
               v->asked ? "It runs in a copy of the project; the first bad turn is sought."
                        : ended);
    for (size_t i = 0; slice_line(&rest, &line, &torn) && i < top + h; i++) {
        enum style style = STYLE_TEXT;

        for (size_t k = 0; k < sizeof verdicts / sizeof *verdicts; k++)
            style = slice_starts(line, verdicts[k]) ? STYLE_STRONG : style;
        if (i >= top)
            frame_text_cut(f, r.y + 2 + (int)(i - top), r.x, r.w, style, last_state(line));
    }
    frame_scrollbar(f, (struct rect){ r.y + 2, r.x, r.h - 2, r.w + 1 }, top, n, h);
}

/* Ends what runs, or goes back to the turns with the one that was found. */
static void bisect_leave(struct model *m)
{
    struct bisect_view *v = m->bisect;

    view_pop(m);
    if (v->asked) {
        effect_cancel(&m->fx, REQUESTER_REWIND, &v->asked);
        toast_info(&m->toast, m->now_ms, "the bisect was ended; nothing was changed");
    } else if (v->why.code) {
        toast_error(&m->toast, &v->why);
    } else {
        rewind_bisected(m, buf_slice(&v->turn));
    }
}

static bool bisect_act(struct model *m, enum action a)
{
    struct bisect_view *v = m->bisect;
    const size_t n = bisect_lines(v);

    switch (a) {
    case ACT_UP: v->back += v->back < n; return true;
    case ACT_DOWN: v->back -= v->back > 0; return true;
    case ACT_ACCEPT:
        if (!v->asked)
            bisect_leave(m);
        return true;
    case ACT_BACK: bisect_leave(m); return true;
    case ACT_YES: return true;
    default: return false;
    }
}

static bool bisect_message(struct model *m, const struct msg *msg)
{
    struct bisect_view *v = m->bisect;

    if (!v->asked || msg->generation != v->asked)
        return false;
    if (msg->kind == MSG_BISECT_OUTPUT) {
        struct buf text = msg->u.text;

        bisect_view_add(m, buf_slice(&text));
        buf_fini(&text);
        return true;
    }
    v->asked = 0;
    if (msg->kind == MSG_BISECTED)
        v->turn = msg->u.text;
    else if (msg->kind == MSG_FAILED)
        v->why = msg->u.error;
    if (v->why.code) {
        char why[400];

        err_sentence(&v->why, why, sizeof why);
        bisect_view_add(m, slice_of(why));
    }
    return true;
}

static const enum action *bisect_footer(const struct model *m)
{
    static const enum action running[] = { ACT_UP, ACT_DOWN, ACT_BACK, ACT_NONE };
    static const enum action ended[] = { ACT_ACCEPT, ACT_UP, ACT_DOWN, ACT_BACK, ACT_NONE };

    return m->bisect->asked ? running : ended;
}

const struct view_ops view_bisect = {
    .name = "bisect",
    .overlay = true,
    .context = IN_DIALOG,
    .draw = draw_bisect,
    .act = bisect_act,
    .message = bisect_message,
    .footer = bisect_footer,
};
