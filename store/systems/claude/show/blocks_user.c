#include "store/systems/claude/show/blocks.h"

#include "lite/base/utf8.h"
#include "lite/json/json.h"

/* Texts in the person's place. The client writes more there than what was typed: commands, what they printed,
 * reminders, notes of an interruption. */

static bool text_starts_with(struct slice text, const char *with)
{
    size_t n = strlen(with);

    return text.n >= n && memcmp(text.p, with, n) == 0;
}

/* What stands between <tag> and </tag>. */
bool blocks_tagged(struct slice text, const char *tag, struct slice *inside)
{
    char open[64], close[64];
    size_t n = strlen(tag);

    if (text.n == 0 || n + 4 > sizeof close)
        return false;
    memcpy(open + 1, tag, n);
    memcpy(close + 2, tag, n);
    open[0] = close[0] = '<';
    close[1] = '/';
    open[n + 1] = close[n + 2] = '>';
    const char *p = memmem(text.p, text.n, open, n + 2);

    if (!p)
        return false;
    p += n + 2;
    const char *end = memmem(p, (size_t)(text.p + text.n - p), close, n + 3);

    if (!end)
        return false;
    *inside = (struct slice){ p, (size_t)(end - p) };
    return true;
}

/* Two texts with something between them, in the arena; either may be empty. */
struct slice blocks_joined(struct blocks *r, struct slice a, const char *between, struct slice b)
{
    size_t n = strlen(between);

    if (a.n == 0 || b.n == 0)
        return a.n ? a : b;
    char *p = arena_alloc(&r->out->arena, a.n + n + b.n);

    if (!p) {
        r->rc = ERR_NOMEM;
        return (struct slice){ NULL, 0 };
    }
    memcpy(p, a.p, a.n);
    memcpy(p + a.n, between, n);
    memcpy(p + a.n + n, b.p, b.n);
    return (struct slice){ p, a.n + n + b.n };
}

/* "/review now": the words of a slash command row. */
static bool add_command(struct blocks *r, struct slice text)
{
    struct slice name, args = { NULL, 0 };

    if (blocks_tagged(text, "bash-input", &name)) {
        blocks_add(r,
                   (struct block){ .kind = BLOCK_COMMAND,
                                   .text = blocks_joined(r, SLICE("!"), " ", utf8_js_trim(name)) });
        return true;
    }
    if (!blocks_tagged(text, "command-name", &name))
        return false;
    blocks_tagged(text, "command-args", &args);
    blocks_add(
        r, (struct block){ .kind = BLOCK_COMMAND,
                           .text = blocks_joined(r, utf8_js_trim(name), " ", utf8_js_trim(args)) });
    return true;
}

/* What a command of the person's printed: two streams, one text. */
static bool add_output(struct blocks *r, struct slice text, const char *out_tag,
                       const char *err_tag)
{
    struct slice out = { NULL, 0 }, err = { NULL, 0 };
    bool found = blocks_tagged(text, out_tag, &out);

    if (!blocks_tagged(text, err_tag, &err) && !found)
        return false;
    blocks_add(r, (struct block){ .kind = BLOCK_NOTE,
                                  .name = SLICE("output"),
                                  .text = blocks_joined(r, out, "\n", err) });
    return true;
}

/* Notes of the client in the person's place; the longer list is in claude.md 3.7. */
static bool is_interruption(struct slice text)
{
    static const char *const notes[] = {
        "[Request interrupted",
        "[This turn ended before it finished",
        "[Agent call interrupted",
        "[Tool call ",
    };

    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        if (text_starts_with(text, notes[i]))
            return true;
    return false;
}

/* Wrappers that the client writes around what is not typed. A prompt that merely begins with a tag stays
 * a prompt. */
static bool is_machine_text(struct slice text)
{
    static const char *const tags[] = {
        "<system-reminder>",
        "<task-notification",
        "<local-command-caveat>",
        "<command-message>",
    };

    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
        if (text_starts_with(text, tags[i]))
            return true;
    return false;
}

void blocks_user_text(struct blocks *r, struct slice text)
{
    struct slice trimmed = utf8_js_trim(text);

    if (trimmed.n == 0)
        return;
    if (json_type(r->top[TOP_SUMMARY]) == JSON_TRUE)
        blocks_note(r, SLICE("summary"), text);
    else if (add_command(r, text) || add_output(r, text, "bash-stdout", "bash-stderr") ||
             add_output(r, text, "local-command-stdout", "local-command-stderr"))
        return;
    else if (is_interruption(trimmed))
        blocks_add(r, (struct block){ .kind = BLOCK_NOTE,
                                      .failed = true,
                                      .name = SLICE("interrupted"),
                                      .text = text });
    else if (json_type(r->top[TOP_META]) == JSON_TRUE || is_machine_text(trimmed))
        blocks_note(r, SLICE("meta"), text);
    else
        blocks_add(r, (struct block){ .kind = BLOCK_PROMPT, .text = text });
}
