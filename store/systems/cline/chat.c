#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/cline/cline.h"
#include "store/systems/common/memory_rows.h"

enum { SESSION_MOST = 16 << 20 };

/* ---- the document ---- */

static enum err_code cline_read_text(const char *path, size_t most, struct buf *text,
                                     struct buf *end, struct err *e)
{
    struct file f;
    enum err_code rc = file_open(AT_FDCWD, path, 0, &f, e);

    if (rc)
        return rc;
    int64_t size = f.id.size;
    bool whole = size <= (int64_t)most * 2;

    rc = file_read_part(&f, 0, whole ? (size_t)size : most, text, e);
    if (!rc && !whole)
        rc = file_read_part(&f, size - (int64_t)most, most, end, e);
    file_close(&f);
    return err_at(e, rc, path);
}

static bool is_line(struct slice line, const char *text)
{
    return slice_eq(line, slice_of(text));
}

/* Reads a part of a document, or a damaged one. JSON.stringify indents it by two blanks, so the
 * first and the last line of a message differ from all lines within it. */
static enum err_code cline_read_lines(struct cline_chat *c, struct slice text, bool ends)
{
    struct slice line, message = { NULL, 0 };
    enum err_code rc = ERR_OK;
    bool torn;

    while (!rc && slice_line(&text, &line, &torn)) {
        bool begins = is_line(line, "    {");

        if (message.p && (begins || is_line(line, "    }") || is_line(line, "    },"))) {
            message.n = (size_t)(line.p - message.p) + (begins ? 0 : 5);
            rc = memory_rows_line(&c->lines, message);
            c->damaged |= begins;
            message.p = NULL;
        }
        if (begins)
            message.p = line.p;
    }
    c->torn |= ends && message.p;
    return rc;
}

enum err_code cline_session_read(const struct session_ref *ref, struct buf *out)
{
    AUTO_ARENA a = { 0 };
    const char *name = arena_format(&a, "%.*s.json", SLICE_ARG(ref->id));

    return name ? session_dirs_json(ref, name, SESSION_MOST, out) : ERR_NOMEM;
}

/* The prompt is a JSON string there, as in a message. */
static enum err_code cline_read_prompt(struct cline_chat *c, const struct session_ref *ref)
{
    static const char head[] = "{\"role\":\"user\",\"content\":";
    AUTO_BUF session = { 0 };
    struct slice prompt;

    TRY(cline_session_read(ref, &session));
    if (json_get(buf_slice(&session), "prompt", &prompt) && json_type(prompt) == JSON_STRING &&
        (buf_add(&c->lines, SLICE(head)) || buf_add(&c->lines, prompt) ||
         buf_add(&c->lines, SLICE("}\n"))))
        return ERR_NOMEM;
    return ERR_OK;
}

enum err_code cline_chat_read(const struct session_ref *ref, size_t most, struct cline_chat *out,
                              struct err *e)
{
    struct cline_chat c = { .damaged = false };
    struct buf text = { 0 }, end = { 0 };
    enum err_code rc = cline_read_text(ref->path.p, most, &text, &end, e);

    if (!rc && !end.n && json_valid(buf_slice(&text))) {
        struct slice document = buf_slice(&text);
        struct slice message;
        struct json_iter it;

        rc = ERR_OK;
        json_list_open(&it, document, "messages");
        while (!rc && json_list_next(&it, &message))
            rc = memory_rows_line(&c.lines, message);

        if (!rc && !c.lines.n)
            rc = cline_read_prompt(&c, ref);
    } else if (!rc) {
        c.damaged = !end.n && text.n > 0;
        rc = cline_read_lines(&c, buf_slice(&text), !end.n);
        if (!rc)
            rc = cline_read_lines(&c, buf_slice(&end), true);
    }
    buf_fini(&text);
    buf_fini(&end);
    if (rc)
        cline_chat_fini(&c);
    else
        *out = c;
    return rc == ERR_NOMEM ? err_nomem(e) : rc;
}

void cline_chat_fini(struct cline_chat *c)
{
    buf_fini(&c->lines);
    *c = (struct cline_chat){ .damaged = false };
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

/* Messages of the user's role that Cline writes itself have a kind. */
static bool cline_is_own(struct slice message, struct slice text)
{
    struct slice kind;

    return (json_at(message, "metadata.kind", &kind) && json_type(kind) == JSON_STRING) ||
           slice_starts(text, "[TASK RESUMPTION]");
}

struct slice cline_prompt(struct slice message, struct arena *a)
{
    struct slice content, text;

    if (!cline_role_is(message, "user") || !json_get(message, "content", &content) ||
        content_has(content, "tool_result"))
        return SLICE("");
    text = cline_typed(content_texts(content, a), a);
    return cline_is_own(message, text) ? SLICE("") : text;
}
