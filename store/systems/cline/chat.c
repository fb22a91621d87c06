#include <stdio.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/cline/cline.h"
#include "store/systems/common/memory_rows.h"

enum { SESSION_MOST = 16 << 20 };

static const struct document_format cline_document = { .list = "messages" };

/* ---- the document ---- */

enum err_code cline_session_read(const struct session_ref *ref, struct buf *out)
{
    AUTO_ARENA a = { 0 };
    const char *name = arena_format(&a, "%.*s.json", SLICE_ARG(ref->id));

    return name ? session_dirs_json(ref, name, SESSION_MOST, out) : ERR_NOMEM;
}

/* The prompt is a JSON string there, as in a message. */
static enum err_code cline_read_prompt(struct buf *lines, const struct session_ref *ref)
{
    static const char head[] = "{\"role\":\"user\",\"content\":";
    AUTO_BUF session = { 0 };
    struct slice prompt;

    TRY(cline_session_read(ref, &session));
    if (json_get(buf_slice(&session), "prompt", &prompt) && json_type(prompt) == JSON_STRING &&
        (buf_add(lines, SLICE(head)) || buf_add(lines, prompt) || buf_add(lines, SLICE("}\n"))))
        return ERR_NOMEM;
    return ERR_OK;
}

enum err_code cline_chat_read(const struct session_ref *ref, size_t most, struct document_rows *out,
                              struct err *e)
{
    TRY(document_rows_read(ref->path.p, &cline_document, most, out, e));
    if (!out->lines.n && out->whole && cline_read_prompt(&out->lines, ref)) {
        document_rows_fini(out);
        return err_nomem(e);
    }
    return ERR_OK;
}

/* ---- one message ---- */

bool cline_role_is(struct slice message, const char *role)
{
    return json_get_is(message, "role", role);
}

bool cline_is_result(struct slice message)
{
    struct slice content;

    return json_get(message, "content", &content) && content_has(content, "tool_result");
}

int64_t cline_time(struct slice message)
{
    struct slice value;
    int64_t ms;

    return json_get(message, "ts", &value) && json_int(value, &ms) && ms > 0 ? ms : TIME_NONE;
}

/* Finds the first element with this name: its beginning, its content and its end. */
static bool find_element(struct slice text, const char *name, const char **at, struct slice *inner,
                         const char **after)
{
    char open[32], close[32];
    int n = snprintf(open, sizeof open, "<%s", name),
        m = snprintf(close, sizeof close, "</%s>", name);
    const char *end = text.p + text.n, *from, *to;

    *at = text.n ? slice_find(text.p, text.n, open, (size_t)n) : NULL;
    from = *at ? memchr(*at, '>', (size_t)(end - *at)) : NULL;
    if (!from || ((*at)[n] != '>' && (*at)[n] != ' '))
        return false;
    to = ++from < end ? slice_find(from, (size_t)(end - from), close, (size_t)m) : NULL;
    if (!to)
        return false;
    *inner = (struct slice){ from, (size_t)(to - from) };
    *after = to + m;
    return true;
}

static void append(char *out, size_t *n, struct slice text)
{
    if (text.n)
        memcpy(out + *n, text.p, text.n);
    *n += text.n;
}

/* Removes the elements with this name from a text, but not their content if it is to be kept. */
static struct slice without_element(struct slice text, const char *name, bool keep, struct arena *a)
{
    const char *at, *after;
    struct slice inner;
    char *out = NULL;
    size_t n = 0;

    while (find_element(text, name, &at, &inner, &after)) {
        if (!out && !(out = arena_alloc(a, text.n)))
            return text;
        append(out, &n, (struct slice){ text.p, (size_t)(at - text.p) });
        append(out, &n, keep ? inner : SLICE(""));
        text = (struct slice){ after, (size_t)(text.p + text.n - after) };
    }
    if (!out)
        return text;
    append(out, &n, text);
    return (struct slice){ out, n };
}

struct slice cline_typed(struct slice text, struct arena *a)
{
    text = without_element(text, "user_input", true, a);
    text = without_element(text, "user_command", true, a);
    return slice_trim(without_element(text, "mode_notice", false, a));
}

struct slice cline_prompt(struct slice message, struct arena *a)
{
    struct slice content, text;

    if (!cline_role_is(message, "user") || !json_get(message, "content", &content) ||
        content_has(content, "tool_result"))
        return SLICE("");
    text = cline_typed(content_texts(content, a), a);
    /* Messages of the user's role that Cline writes itself have a kind. */
    struct slice kind;

    return (json_at(message, "metadata.kind", &kind) && json_type(kind) == JSON_STRING) ||
                   slice_starts(text, "[TASK RESUMPTION]")
               ? SLICE("")
               : text;
}
