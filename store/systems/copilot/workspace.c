#include <string.h>

#include "lite/base/buf.h"
#include "lite/json/json.h"
#include "store/systems/copilot/copilot.h"

/* workspace.yaml is a flat map of short texts. Only what the program writes there is read: anchors, tags, flow
 * collections and nested maps are not. */

static struct slice trim(struct slice s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = (struct slice){ s.p + 1, s.n - 1 };
    while (s.n && (unsigned char)s.p[s.n - 1] <= ' ')
        s.n--;
    return s;
}

static struct slice single_quoted(struct slice value, struct arena *a)
{
    char *out = arena_alloc(a, value.n + 1);
    size_t n = 0;

    if (!out || value.n < 2 || value.p[value.n - 1] != '\'')
        return (struct slice){ NULL, 0 };
    for (size_t i = 1; i + 1 < value.n; i++) {
        out[n++] = value.p[i];
        if (value.p[i] == '\'' && i + 2 < value.n && value.p[i + 1] == '\'')
            i++;
    }
    return (struct slice){ out, n };
}

/* The escapes of JSON are decoded; a text with any other escape is ignored. */
static struct slice double_quoted(struct slice value, struct arena *a)
{
    struct slice text = { NULL, 0 };

    if (!json_valid(value) || !json_text(value, a, &text))
        text = (struct slice){ NULL, 0 };
    return text;
}

/* A plain text must not begin with a character that has a special meaning, and ends at a comment. */
static struct slice plain(struct slice value, struct arena *a)
{
    const char *comment;

    if (!value.n || strchr("&*!|>%@`{}[],#", value.p[0]))
        return (struct slice){ NULL, 0 };
    comment = slice_find(value.p, value.n, " #", 2);
    if (comment)
        value.n = (size_t)(comment - value.p);
    return arena_copy(a, trim(value));
}

static struct slice scalar(struct slice value, struct arena *a)
{
    value = trim(value);
    if (value.n && value.p[0] == '\'')
        return single_quoted(value, a);
    if (value.n && value.p[0] == '"')
        return double_quoted(value, a);
    return plain(value, a);
}

static bool is_indented(struct slice text)
{
    return text.n && (text.p[0] == ' ' || text.p[0] == '\t');
}

/* The value with the indented lines below it: a long text is folded, and its lines are joined by blanks. */
static struct slice with_folds(struct slice value, struct slice *rest, struct arena *a)
{
    struct buf all = { 0 };
    struct slice line;
    bool torn, block = value.n && strchr("|>", value.p[0]), ok = true;
    char joint = value.n && value.p[0] == '|' ? '\n' : ' ';

    ok = block || !buf_add(&all, value);
    while (ok && is_indented(*rest) && slice_line(rest, &line, &torn))
        ok = (!all.n || !buf_add_byte(&all, joint)) && !buf_add(&all, trim(line));
    a->failed |= !ok;
    struct slice text = arena_copy(a, buf_slice(&all));

    buf_fini(&all);
    return block ? text : scalar(text, a);
}

void copilot_workspace_read(struct slice yaml, struct arena *a, struct copilot_workspace *out)
{
    struct slice line, value;
    bool torn;

    *out = (struct copilot_workspace){ .named = false };
    while (slice_line(&yaml, &line, &torn)) {
        const char *colon = line.n ? memchr(line.p, ':', line.n) : NULL;
        struct slice key = { line.p, colon ? (size_t)(colon - line.p) : 0 };

        if (!key.n || is_indented(line) || key.p[0] == '#')
            continue;
        value = trim((struct slice){ colon + 1, line.n - key.n - 1 });
        if (slice_eq(key, SLICE("name")))
            out->name = with_folds(value, &yaml, a);
        else if (slice_eq(key, SLICE("cwd")))
            out->cwd = with_folds(value, &yaml, a);
        else if (slice_eq(key, SLICE("branch")))
            out->branch = with_folds(value, &yaml, a);
        else if (slice_eq(key, SLICE("user_named")))
            out->named = slice_eq(value, SLICE("true"));
    }
}
