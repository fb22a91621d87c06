#include "store/systems/claude/list/subagent_about.h"

#include <fcntl.h>
#include <string.h>

#include "lite/base/utf8.h"
#include "lite/io/line.h"
#include "lite/json/json.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/prompt.h"

enum { META_BYTES = 64 * 1024, LAST_ROWS = 200, OUTCOME_BYTES = 400 };

struct about {
    struct arena *a;
    struct subagent *out;
    bool went_on; /* something that is no answer comes after what was found */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static struct slice first_line(struct slice text)
{
    while (text.n && is_space(*text.p))
        text = (struct slice){ text.p + 1, text.n - 1 };
    const char *end = text.n ? memchr(text.p, '\n', text.n) : NULL;

    if (end)
        text.n = (size_t)(end - text.p);
    if (text.n > OUTCOME_BYTES)
        text.n = utf8_valid_prefix((struct slice){ text.p, OUTCOME_BYTES });
    return text;
}

static void see_block(struct about *x, const struct block *b)
{
    struct slice line = first_line(b->text);

    if (b->kind == BLOCK_TEXT && line.n) {
        x->out->outcome = arena_copy(x->a, line);
        if (!x->went_on)
            x->out->end = SUBAGENT_DONE;
    }
    if (b->kind == BLOCK_PROMPT || b->kind == BLOCK_TOOL_CALL || b->kind == BLOCK_TOOL_RESULT)
        x->went_on = true;
}

static enum err_code see_row(struct about *x, struct slice row)
{
    struct block_list list = { .n = 0 };
    struct slice value;
    enum err_code rc = claude_blocks(NULL, row, &list, NULL);

    for (size_t i = list.n; !rc && i-- > 0 && !x->out->outcome.n;)
        see_block(x, &list.block[i]);
    transcript_blocks_fini(&list);
    if (!rc && x->out->end == SUBAGENT_DONE && json_get(row, "isApiErrorMessage", &value) &&
        slice_eq(value, SLICE("true")))
        x->out->end = SUBAGENT_FAILED;
    return rc == ERR_NOMEM ? rc : ERR_OK;
}

/* From the end to the last words. A line that is being written, or begins before the window, is none. */
static enum err_code see_tail(struct about *x, const struct window *w)
{
    bool whole = w->head.p == w->tail.p, torn;
    struct slice rest = w->tail, row;
    enum err_code rc = ERR_OK;

    for (int i = 0; i < LAST_ROWS && !rc && !x->out->outcome.n && line_last(&rest, &row, &torn);
         i++)
        if (!torn && (whole || rest.n) && json_valid(row))
            rc = see_row(x, row);
    return rc;
}

/* Without a readable file nobody knows, and that is no error. */
static void read_meta(struct about *x, struct slice transcript)
{
    struct slice stem = { transcript.p, transcript.n - (sizeof ".jsonl" - 1) };
    const char *name = arena_format(x->a, "%.*s.meta.json", SLICE_ARG(stem));
    struct buf bytes = { 0 };

    if (name && !file_read_all(AT_FDCWD, name, FILE_FOLLOW, META_BYTES, &bytes, NULL) &&
        json_valid(buf_slice(&bytes))) {
        struct slice text;

        if (json_get_text(buf_slice(&bytes), "agentType", x->a, &text))
            x->out->type = arena_copy(x->a, first_line(text));
        if (json_get_text(buf_slice(&bytes), "description", x->a, &text))
            x->out->task = arena_copy(x->a, first_line(text));
    }
    buf_fini(&bytes);
}

enum err_code claude_about_subagent(struct slice path, struct window *w, struct arena *a,
                                    struct subagent *out, struct err *e)
{
    struct about x = { .a = a, .out = out };
    struct prompt prompt = { .text = { 0 } };
    enum err_code rc = window_open(w, AT_FDCWD, path.p, 0, e);

    if (!rc)
        rc = window_widen(w, e);
    if (rc == ERR_NOMEM)
        return rc;
    read_meta(&x, path);
    if (rc) /* it is gone, or not to be read: its name is all there is */
        return ERR_OK;
    out->bytes = w->file.id.size;
    out->time_ms = w->file.id.mtime_ns / 1000000;
    rc = see_tail(&x, w);
    if (!rc && !out->task.n && !prompt_first(w->head, a, &prompt))
        rc = ERR_NOMEM;
    if (!out->task.n)
        out->task =
            arena_copy(a, prompt.text.n ? prompt.text : prompt.command); /* the window goes */
    window_close(w);
    return rc || a->failed ? err_nomem(e) : ERR_OK;
}
