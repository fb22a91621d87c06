#include "tui/commands/read/messages_text.h"

#include <string.h>

#include "lite/json/json.h"
#include "store/api/store.h"

/* What of a tool's input is shown on its line. */
enum { INPUT_BYTES = 120 };

static enum err_code write_lines(const char *first, const char *others, struct slice text,
                                 struct out *out, struct err *e)
{
    struct slice line;
    bool torn;
    enum err_code rc = ERR_OK;

    for (const char *lead = first; rc == ERR_OK && slice_line(&text, &line, &torn); lead = others) {
        rc = out_add(out, slice_of(lead), e);
        if (rc == ERR_OK)
            rc = out_text(out, line, e);
        if (rc == ERR_OK)
            rc = out_add(out, SLICE("\n"), e);
    }
    return rc;
}

static enum err_code write_labelled(const char *label, struct slice text, struct out *out,
                                    struct err *e)
{
    enum err_code rc = out_addf(out, e, "%s", label);

    if (rc == ERR_OK)
        rc = out_text(out, text, e);
    return rc ? rc : out_add(out, SLICE("\n"), e);
}

static enum err_code write_call(const struct block *b, struct out *out, struct err *e)
{
    struct slice input = { b->input.p, b->input.n < INPUT_BYTES ? b->input.n : INPUT_BYTES };
    enum err_code rc = out_add(out, SLICE("* "), e);

    if (rc == ERR_OK)
        rc = out_text(out, b->name, e);
    if (rc == ERR_OK)
        rc = out_add(out, SLICE(" "), e);
    if (rc == ERR_OK)
        rc = out_text(out, input, e);
    return rc ? rc : out_add(out, input.n < b->input.n ? SLICE("...\n") : SLICE("\n"), e);
}

static enum err_code write_block(const struct block *b, struct out *out, struct err *e)
{
    switch (b->kind) {
    case BLOCK_PROMPT:
    case BLOCK_COMMAND: return write_lines("> ", "  ", b->text, out, e);
    case BLOCK_TEXT: return write_lines("", "", b->text, out, e);
    case BLOCK_THINKING: return write_lines("~ ", "~ ", b->text, out, e);
    case BLOCK_TOOL_CALL: return write_call(b, out, e);
    case BLOCK_TOOL_RESULT: return b->failed ? write_lines("! ", "! ", b->text, out, e) : ERR_OK;
    case BLOCK_IMAGE: return write_labelled("[image] ", b->name, out, e);
    case BLOCK_DOCUMENT: return write_labelled("[document] ", b->name, out, e);
    case BLOCK_NOTE: return ERR_OK;
    case BLOCK_SEAM: return write_labelled("--- ", b->text, out, e);
    case BLOCK_RAW:
        return write_labelled(json_valid(b->text) ? "[unknown line] " : "[damaged line] ", b->text,
                              out, e);
    }
    return ERR_OK;
}

static bool is_of_tools(const struct block *b)
{
    return b->kind == BLOCK_TOOL_CALL || b->kind == BLOCK_TOOL_RESULT;
}

static enum err_code write_message(const struct store *st, const struct transcript *t, size_t i,
                                   bool spoken, struct out *out, struct err *e)
{
    struct buf row = { 0 };
    struct block_list blocks = { 0 };
    size_t before = out->buf.n;
    enum err_code rc = transcript_read(t, i, &row, e);

    if (rc == ERR_OK)
        rc = st->ops->blocks(st, buf_slice(&row), &blocks, e);
    for (size_t k = 0; rc == ERR_OK && k < blocks.n; k++)
        if (!spoken || !is_of_tools(&blocks.block[k]))
            rc = write_block(&blocks.block[k], out, e);
    if (rc == ERR_OK && out->buf.n > before)
        rc = out_add(out, SLICE("\n"), e);
    transcript_blocks_fini(&blocks);
    buf_fini(&row);
    return rc ? rc : out_row(out, e);
}

static enum err_code write_page(const struct invocation *in, const struct store *st,
                                const struct transcript *t, struct out *out, struct err *e)
{
    const struct options *o = &in->options;
    size_t first = (size_t)o->offset < t->n ? (size_t)o->offset : t->n;
    size_t limit = (size_t)o->limit;
    size_t end = limit && limit < t->n - first ? first + limit : t->n;
    enum err_code rc = ERR_OK;

    if (option_given(o, OPTION_TAIL) && (size_t)o->tail < end - first)
        first = end - (size_t)o->tail;
    for (size_t i = first; rc == ERR_OK && i < end; i++)
        rc = write_message(st, t, i, option_given(o, OPTION_SPOKEN), out, e);
    return rc;
}

static void leave_out(struct transcript *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++)
        if (!(t->message[i].flags & MESSAGE_LEFT_OUT))
            t->message[n++] = t->message[i];
    t->n = n;
}

enum err_code messages_text_write(struct invocation *in, const struct session_ref *ref,
                                  struct arena *a, struct err *e)
{
    const struct store *st = ref->store;
    const char *agent = in->options.agent;
    struct session_ref which = *ref;
    struct transcript *t = NULL;
    enum err_code rc = ERR_OK;

    if (agent)
        rc = st->ops->subagent(st, ref, slice_of(agent), a, &which, e);
    if (rc == ERR_OK)
        rc = st->ops->load(st, &which, NULL, &t, e);
    if (rc == ERR_OK && !option_given(&in->options, OPTION_AS_SDK))
        leave_out(t);
    if (rc == ERR_OK)
        rc = write_page(in, st, t, &in->out, e);
    transcript_free(t);
    return rc;
}
