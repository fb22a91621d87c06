#include "lite/json/json.h"
#include "store/systems/plugin/plugin.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The end of the string that begins at p, after its closing quote. */
static const char *end_of_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\' && p + 1 < end)
            p++;
    return p < end ? p + 1 : end;
}

/* Appends a value without the blanks between its parts. */
static enum err_code add_compact(struct buf *out, struct slice value)
{
    const char *p = value.p, *end = value.p + value.n;
    enum err_code rc = buf_reserve(out, value.n);

    while (!rc && p < end) {
        const char *from = p;

        if (is_blank(*p)) {
            p++;
            continue;
        }
        while (p < end && !is_blank(*p))
            p = *p == '"' ? end_of_string(p, end) : p + 1;
        rc = buf_add(out, (struct slice){ from, (size_t)(p - from) });
    }
    return rc;
}

static enum err_code add_member(struct buf *out, struct slice key, struct slice value)
{
    enum err_code rc = ERR_OK;

    if (out->n && out->p[out->n - 1] != '{')
        rc = buf_add_byte(out, ',');
    if (!rc)
        rc = buf_add(out, key);
    if (!rc)
        rc = buf_add_byte(out, ':');
    return rc ? rc : add_compact(out, value);
}

static enum err_code add_type_first(struct buf *out, struct slice row)
{
    struct json_iter it;
    struct slice key, value, type;
    bool typed = json_get(row, "type", &type);
    enum err_code rc = buf_add_byte(out, '{');

    if (!rc && typed)
        rc = add_member(out, SLICE("\"type\""), type);
    json_iter_open(&it, row);
    while (!rc && json_iter_next(&it, &key, &value))
        if (!typed || !json_string_is(key, "type"))
            rc = add_member(out, key, value);
    return rc ? rc : buf_add_byte(out, '}');
}

/* A row that does not parse is kept as a broken line. */
static enum err_code add_on_one_line(struct buf *out, struct slice row)
{
    size_t at = out->n;
    enum err_code rc = buf_add(out, row);

    for (; !rc && at < out->n; at++)
        if (out->p[at] == '\n')
            out->p[at] = ' ';
    return rc;
}

enum err_code plugin_row_add(struct buf *out, struct slice row, bool type_first)
{
    size_t before = out->n;
    bool lines = row.n && memchr(row.p, '\n', row.n);
    enum err_code rc;

    if (!type_first && !lines)
        rc = buf_add(out, row);
    else if (!json_valid(row))
        rc = add_on_one_line(out, row);
    else if (type_first && json_type(row) == JSON_OBJECT)
        rc = add_type_first(out, row);
    else
        rc = add_compact(out, row);
    if (!rc)
        rc = buf_add_byte(out, '\n');
    if (rc)
        out->n = before;
    return rc;
}

enum err_code plugin_rows_add(struct buf *out, struct slice lines, bool type_first)
{
    struct slice line;
    bool torn;
    enum err_code rc = ERR_OK;

    while (!rc && slice_line(&lines, &line, &torn))
        if (line.n)
            rc = plugin_row_add(out, line, type_first);
    return rc;
}
