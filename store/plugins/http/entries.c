#include "store/plugins/http/http.h"

/* The answer to /load is not kept: each entry of its list is handed over when it is complete, and 0 takes its place in the
 * rest, which is checked at the end as any other answer is. So a session takes the memory of its largest row. */

static const char entries_key[] = "\"entries\":[";

static bool http_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Anything but an object is no row, but counts as one. */
static bool http_hand_entry(struct http_entries *x)
{
    struct slice entry = buf_slice(&x->entry);

    while (entry.n && http_is_blank(entry.p[0]))
        entry = (struct slice){ entry.p + 1, entry.n - 1 };
    if (!entry.n)
        return true;
    if (!json_valid(entry))
        x->failed = HTTP_ENTRY_BAD;
    else if (buf_add_byte(x->rest, '0'))
        x->failed = HTTP_ENTRY_NO_MEMORY;
    else if (++x->at > x->after && json_type(entry) == JSON_OBJECT &&
             x->fn(x->at, (struct reprise_plugin_text){ entry.p, entry.n }, x->arg))
        x->failed = HTTP_ENTRY_STOPPED;
    x->entry.n = 0;
    return !x->failed;
}

static bool http_add(struct http_entries *x, struct buf *to, struct slice bytes)
{
    if (x->rest->n + x->entry.n + bytes.n > SERVER_ANSWER_MOST || x->at > HTTP_ROWS_MOST)
        x->failed = HTTP_ENTRY_TOO_MUCH;
    else if (buf_add(to, bytes))
        x->failed = HTTP_ENTRY_NO_MEMORY;
    return !x->failed;
}

bool http_entries_add(struct http_entries *x, struct slice bytes)
{
    size_t from = 0; /* bytes before it were added */

    for (size_t i = 0; i < bytes.n; i++) {
        const char c = bytes.p[i];
        const struct slice before = { bytes.p + from, i - from };

        /* The list is the array after the key `entries` of the outermost object. x->matched counts the bytes of this
         * beginning, which does not begin inside of a string, with a quote that is escaped. */
        if (!x->inside && (x->string || !http_is_blank(c))) {
            if (x->depth == 1 && (x->matched || !x->string) && c == entries_key[x->matched])
                x->matched++;
            else
                x->matched = x->depth == 1 && c == '"' && !x->string;
        }
        if (x->string) {
            x->string = x->escaped || c != '"';
            x->escaped = !x->escaped && c == '\\';
            continue;
        }
        x->string = c == '"';
        if (x->inside && x->depth == 2 && (c == ',' || c == ']' || c == '}')) {
            if (!http_add(x, &x->entry, before) || !http_hand_entry(x))
                return false;
            x->inside = c == ',';
            from = i;
            if (x->inside && !http_add(x, x->rest, (struct slice){ bytes.p + from++, 1 }))
                return false;
        } else if (x->matched == sizeof entries_key - 1) {
            if (!http_add(x, x->rest, (struct slice){ before.p, before.n + 1 }))
                return false;
            x->inside = x->found = true;
            x->matched = 0;
            from = i + 1;
        }
        if (c == '[' || c == '{')
            x->depth++;
        else if ((c == ']' || c == '}') && x->depth > 0)
            x->depth--;
    }
    return http_add(x, x->inside ? &x->entry : x->rest,
                    (struct slice){ bytes.p + from, bytes.n - from });
}
