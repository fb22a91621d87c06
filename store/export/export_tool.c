#include "lite/json/json.h"
#include "store/export/export_internal.h"

/* The parts of a tool call that a document has. */

/* "name: value"; a value of several lines is below its name. */
static void add_member(struct buf *out, struct slice name, struct slice value, struct arena *a,
                       enum err_code *rc)
{
    struct slice text = value, line;
    bool torn;

    if (json_type(value) == JSON_STRING)
        json_text(value, a, &text);
    json_text(name, a, &name);
    if (*rc || (*rc = buf_add(out, name)))
        return;
    if (text.n == 0 || !memchr(text.p, '\n', text.n)) {
        *rc = buf_add(out, SLICE(": "));
        *rc = *rc ? *rc : buf_add(out, text);
        *rc = *rc ? *rc : buf_add_byte(out, '\n');
        return;
    }
    *rc = buf_add(out, SLICE(": |\n"));
    while (!*rc && slice_line(&text, &line, &torn)) {
        *rc = buf_add(out, SLICE("  "));
        *rc = *rc ? *rc : buf_add(out, line);
        *rc = *rc ? *rc : buf_add_byte(out, '\n');
    }
}

static enum err_code gather_input(const struct block *call, bool has_diff, struct arena *a,
                                  struct buf *out)
{
    struct json_iter it;
    struct slice key, value;
    enum err_code rc = ERR_OK;

    if (json_type(call->input) != JSON_OBJECT || !json_iter_open(&it, call->input))
        return json_type(call->input) == JSON_NONE ? ERR_OK : buf_add(out, call->input);
    while (!rc && json_iter_next(&it, &key, &value))
        if (key.n && !tool_call_shows(call, key, has_diff))
            add_member(out, key, value, a, &rc);
    return rc;
}

static struct slice below_root(struct slice path, struct slice root)
{
    if (root.n > 1 && path.n > root.n + 1 && memcmp(path.p, root.p, root.n) == 0 &&
        path.p[root.n] == '/')
        return (struct slice){ path.p + root.n + 1, path.n - root.n - 1 };
    return path;
}

enum err_code export_tool_describe(struct export_tool *t, struct slice root, struct arena *a,
                                   struct buf *input)
{
    const struct block *call = t->call;
    bool is_path;

    tool_call_hunks(&t->hunks, call, t->result);
    t->subject = tool_call_subject(call, a, &is_path);
    t->subject = is_path ? below_root(t->subject, root) : tool_call_first_line(t->subject);
    tool_call_command(call, a, &t->command);
    enum err_code rc = gather_input(call, t->hunks.n > 0, a, input);

    t->input = buf_slice(input);
    return rc;
}
