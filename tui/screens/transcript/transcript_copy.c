#include "store/show/tool_call.h"
#include "tui/screens/transcript/transcript_internal.h"
#include "tui/widgets/markdown.h"

/* Copying from the conversation: the message under the cursor, or a part of it: a block of code, an
 * edit as a diff, a command, an output. If there is more than one thing to copy, a list asks. */

enum { COPIES_MAX = 40, LABEL_MAX = 120 };

/* What can be copied; a failure sticks. */
struct copies {
    struct name_list *names, *texts; /* owned */
    bool failed;
};

static void transcript_copy_offer(struct copies *c, const char *kind, struct slice what,
                                  struct slice text)
{
    struct buf label = { 0 };
    struct slice line = tool_call_first_line(what);

    line.n = line.n < LABEL_MAX ? line.n : LABEL_MAX;
    if (text.n == 0 || c->failed || c->names->n == COPIES_MAX)
        return;
    c->failed = buf_addf(&label, "%-10s  ", kind) || buf_add(&label, line) ||
                !name_list_add(c->names, buf_slice(&label)) || !name_list_add(c->texts, text);
    buf_fini(&label);
}

static void offer_code(void *arg, struct slice code)
{
    transcript_copy_offer(arg, "code", code, code);
}

/* ---- tools ---- */

/* The result of a call, as far as the rows below it were read. */
static const struct block *transcript_copy_result_of(const struct transcript_view *v,
                                                     const struct block *call)
{
    for (size_t i = v->cursor.message;
         transcript_window_slot(&v->window, i) && i < v->cursor.message + 64; i++) {
        const struct block_list *list = &transcript_window_slot(&v->window, i)->passage.blocks;

        for (size_t k = 0; k < list->n; k++)
            if (list->block[k].kind == BLOCK_TOOL_RESULT && call->call_id.n &&
                slice_eq(list->block[k].call_id, call->call_id))
                return &list->block[k];
    }
    return NULL;
}

/* As patch(1) reads it. */
static bool diff_text(const struct hunks *d, struct slice path, struct buf *out)
{
    bool ok = d->rc == ERR_OK;

    if (path.n)
        ok = ok && !buf_add(out, SLICE("--- ")) && !buf_add(out, path) &&
             !buf_add(out, SLICE("\n+++ ")) && !buf_add(out, path) && !buf_add_byte(out, '\n');
    for (size_t i = 0; ok && i < d->n; i++) {
        const struct hunk_line *l = &d->line[i];

        if (l->sign == '@' && l->text.n == 0)
            ok = !buf_add(out, SLICE("@@"));
        else if (l->sign != '@')
            ok = !buf_add_byte(out, l->sign);
        ok = ok && !buf_add(out, l->text) && !buf_add_byte(out, '\n');
    }
    return ok;
}

static void offer_call(struct copies *c, const struct transcript_view *v, const struct block *call)
{
    const struct block *result = transcript_copy_result_of(v, call);
    struct arena a = { 0 };
    struct hunks d = { 0 };
    struct buf diff = { 0 };
    struct slice command;
    bool is_path;
    struct slice subject = tool_call_subject(call, &a, &is_path);

    if (tool_call_command(call, &a, &command))
        transcript_copy_offer(c, "command", command, command);
    tool_call_hunks(&d, call, result);
    if (d.n && !diff_text(&d, is_path ? subject : (struct slice){ NULL, 0 }, &diff))
        c->failed = true;
    if (d.n)
        transcript_copy_offer(c, "diff", subject, buf_slice(&diff));
    if (result)
        transcript_copy_offer(c, "output", tool_call_result(result), tool_call_result(result));
    if (is_path)
        transcript_copy_offer(c, "path", subject, subject);
    transcript_copy_offer(c, "input", call->input, call->input);
    buf_fini(&diff);
    hunks_fini(&d);
    arena_fini(&a);
}

/* ---- the message ---- */

/* All texts of the message, if it has several. */
static void offer_message(struct copies *c, const struct block_list *list)
{
    struct buf all = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < list->n && !c->failed; i++) {
        const enum block_kind kind = list->block[i].kind;

        if (kind != BLOCK_TEXT && kind != BLOCK_PROMPT && kind != BLOCK_COMMAND)
            continue;
        c->failed = (n++ > 0 && buf_add(&all, SLICE("\n\n"))) || buf_add(&all, list->block[i].text);
    }
    if (n > 1)
        transcript_copy_offer(c, "message", buf_slice(&all), buf_slice(&all));
    buf_fini(&all);
}

static void offer_all(struct copies *c, const struct transcript_view *v)
{
    const struct slot *s = transcript_view_cursor_slot(v);
    const struct block *b = transcript_view_block(v);

    if (!s || !b)
        return;
    if (b->kind == BLOCK_TOOL_CALL) {
        offer_call(c, v, b);
        return;
    }
    transcript_copy_offer(c,
                          b->kind == BLOCK_PROMPT ? "prompt"
                          : b->kind == BLOCK_TEXT ? "reply"
                                                  : "text",
                          b->text, b->text.n ? b->text : b->input);
    if (b->kind == BLOCK_TEXT || b->kind == BLOCK_PROMPT)
        c->failed = c->failed || markdown_code_blocks(b->text, offer_code, c);
    offer_message(c, &s->passage.blocks);
}

void transcript_view_copy(struct transcript_view *v, struct effects *fx)
{
    struct copies c = { .names = name_list_new(), .texts = name_list_new() };

    const struct transcript_position at = v->cursor;

    /* A line without a text of its own, such as the tokens of a turn, belongs to what is above it. */
    for (;;) {
        const struct block *b = transcript_view_block(v);

        if ((b && (b->kind == BLOCK_TOOL_CALL || b->text.n || b->input.n)) ||
            !transcript_view_step(v, &v->cursor, -1))
            break;
    }
    c.failed = !c.names || !c.texts;
    if (!c.failed)
        offer_all(&c, v);
    v->cursor = at;
    if (c.failed)
        transcript_view_notify_no_memory(v);
    else if (c.texts->n == 0)
        transcript_view_refuse(v, "no text here");
    else if (c.texts->n == 1)
        transcript_view_copy_text(v, c.texts->name[0], fx);
    if (c.failed || c.texts->n < 2) {
        name_list_free(c.names);
        name_list_free(c.texts);
        return;
    }
    transcript_view_choice_close(v);
    v->choice.names = c.names;
    v->choice.copies = c.texts;
}

void transcript_view_copy_text(struct transcript_view *v, struct slice text, struct effects *fx)
{
    struct buf copy = { 0 };

    if (buf_add(&copy, text)) {
        transcript_view_notify_no_memory(v);
        return;
    }
    effect_add(fx, EFFECT_COPY, v->requester)->text = copy;
}
