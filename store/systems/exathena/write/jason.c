#include "store/systems/exathena/write/jason.h"

#include <string.h>

#include "lite/base/utf8.h"
#include "lite/json/json.h"

static enum err_code add_control(struct buf *out, unsigned char c)
{
    switch (c) {
    case '"': return buf_add(out, SLICE("\\\""));
    case '\\': return buf_add(out, SLICE("\\\\"));
    case '\b': return buf_add(out, SLICE("\\b"));
    case '\t': return buf_add(out, SLICE("\\t"));
    case '\n': return buf_add(out, SLICE("\\n"));
    case '\f': return buf_add(out, SLICE("\\f"));
    case '\r': return buf_add(out, SLICE("\\r"));
    default: return c < 0x20 ? buf_addf(out, "\\u%04X", c) : buf_add_byte(out, (char)c);
    }
}

/* The length of the text at the front, with its quotes. */
static size_t text_length(struct slice rest)
{
    size_t n = 1;

    while (n < rest.n && rest.p[n] != '"')
        n += rest.p[n] == '\\' ? 2 : 1;
    return n < rest.n ? n + 1 : rest.n;
}

static enum err_code add_escaped_text(struct buf *out, struct slice quoted, struct arena *a)
{
    struct slice text;
    bool ok = json_text(quoted, a, &text) && utf8_repair(text, a, &text);
    enum err_code rc = ok ? buf_add_byte(out, '"') : ERR_NOMEM;

    for (size_t i = 0; !rc && i < text.n; i++)
        rc = add_control(out, (unsigned char)text.p[i]);
    return rc ? rc : buf_add_byte(out, '"');
}

enum err_code jason_compact(struct buf *out, struct slice value, struct arena *a)
{
    enum err_code rc = ERR_OK;

    while (value.n && !rc) {
        char c = value.p[0];
        size_t n = c == '"' ? text_length(value) : 1;

        if (c == '"')
            rc = add_escaped_text(out, (struct slice){ value.p, n }, a);
        else if (!strchr(" \t\r\n", c))
            rc = buf_add_byte(out, c);
        value = (struct slice){ value.p + n, value.n - n };
    }
    return rc;
}
