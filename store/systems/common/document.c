#include "store/systems/common/document.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/common/memory_rows.h"

/* ---- the members of the document ---- */

/* Adds a member to the row unless its value is a list or an object, whose elements may be anything. */
static enum err_code document_add_member(struct buf *row, struct slice key, struct slice value)
{
    const enum json_type type = json_type(value);

    if (type == JSON_OBJECT || type == JSON_ARRAY || !json_valid(value))
        return ERR_OK;
    return (row->n > 1 && buf_add_byte(row, ',')) || buf_add(row, key) || buf_add_byte(row, ':') ||
                   buf_add(row, value)
               ? ERR_NOMEM
               : ERR_OK;
}

/* A line with a whole member: two blanks, the key, the value, and perhaps a comma. */
static enum err_code document_read_member(struct buf *row, struct slice line)
{
    const char *colon = NULL;

    if (line.n > 4 && memcmp(line.p, "  \"", 3) == 0)
        colon = slice_find(line.p, line.n, "\": ", 3);
    if (!colon)
        return ERR_OK;
    struct slice key = { line.p + 2, (size_t)(colon - line.p) - 1 };
    struct slice value = { colon + 3, line.n - (size_t)(colon - line.p) - 3 };

    if (value.n && value.p[value.n - 1] == ',')
        value.n--;
    return json_valid(key) ? document_add_member(row, key, value) : ERR_OK;
}

/* The elements of the list, in a document that is whole. */
struct document_elements {
    struct arena *arena;
    struct slice *element;
    size_t n;
};

/* One walk finds the members and the elements. */
static enum err_code document_walk(const struct document_format *format, struct slice text,
                                   struct buf *row, struct document_elements *list)
{
    struct json_iter it, elements;
    struct slice key, value, element;

    if (json_type(text) != JSON_OBJECT || !json_iter_open(&it, text))
        return ERR_OK;
    while (json_iter_key(&it, &key)) {
        if (!json_string_is(key, format->list)) {
            if (json_iter_value(&it, &value) && format->members)
                TRY(document_add_member(row, key, value));
            continue;
        }
        list->n = 0;
        const bool is_list = *it.p == '[' && json_iter_into(&it, &elements);

        while (is_list && json_list_next(&elements, &element)) {
            struct slice *more = arena_grow(list->arena, list->element, list->n, sizeof *more);

            if (!more)
                return ERR_NOMEM;
            list->element = more;
            more[list->n++] = element;
        }
        if (is_list)
            json_iter_back(&it, &elements, &value);
        else if (json_iter_value(&it, &value) && format->members)
            TRY(document_add_member(row, key, value));
    }
    return ERR_OK;
}

/* ---- the elements of the list ---- */

static enum err_code document_add_element(struct document_rows *r,
                                          const struct document_format *format,
                                          struct slice element)
{
    struct slice key;
    struct json_iter it;
    bool empty = json_type(element) != JSON_OBJECT || !json_iter_open(&it, element) ||
                 !json_iter_key(&it, &key);

    if (!format->parts || empty)
        return memory_rows_line(&r->lines, element);
    size_t from = 0, n = 0; /* of the element's line, without its part */

    for (size_t i = 0; format->parts[i]; i++) {
        if (buf_add(&r->lines, SLICE("{\"part\":\"")) ||
            buf_add(&r->lines, slice_of(format->parts[i])) || buf_add(&r->lines, SLICE("\",")))
            return ERR_NOMEM;
        if (i) {
            TRY(buf_reserve(&r->lines, n));
            TRY(buf_add(&r->lines, (struct slice){ r->lines.p + from, n }));
            continue;
        }
        from = r->lines.n;
        TRY(memory_rows_line(&r->lines, (struct slice){ element.p + 1, element.n - 1 }));
        n = r->lines.n - from;
    }
    return ERR_OK;
}

static bool document_is_line(struct slice line, const char *text)
{
    return slice_eq(line, slice_of(text));
}

/* Reads a part of a document, or a damaged one. The first and the last line of an element differ from all lines within
 * it, because these are indented further. */
static enum err_code document_read_lines(struct document_rows *r,
                                         const struct document_format *format, struct slice text,
                                         bool ends)
{
    struct slice line, element = { NULL, 0 };
    enum err_code rc = ERR_OK;
    bool torn;

    while (!rc && slice_line(&text, &line, &torn)) {
        bool begins = document_is_line(line, "    {");

        if (element.p &&
            (begins || document_is_line(line, "    }") || document_is_line(line, "    },"))) {
            element.n = (size_t)(line.p - element.p) + (begins ? 0 : 5); /* with the brace */
            rc = document_add_element(r, format, element);
            r->damaged |= begins;
            element.p = NULL;
        }
        if (begins)
            element.p = line.p + 4; /* without the indentation */
    }
    r->torn |= ends && element.p;
    return rc;
}

static enum err_code document_read_rows(struct document_rows *r,
                                        const struct document_format *format, struct slice text,
                                        struct slice end)
{
    AUTO_ARENA a = { 0 };
    struct document_elements list = { .arena = &a };
    AUTO_BUF row = { 0 };
    struct slice rest = text, line;
    bool torn;

    r->whole = r->has_end = !end.n && json_valid(text);
    if (buf_add(&row, SLICE("{")))
        return ERR_NOMEM;
    if (r->whole)
        TRY(document_walk(format, text, &row, &list));
    while (format->members && !r->whole && slice_line(&rest, &line, &torn))
        TRY(torn ? ERR_OK : document_read_member(&row, line));
    if (format->members) {
        TRY(buf_add(&row, SLICE("}")));
        TRY(memory_rows_line(&r->lines, buf_slice(&row)));
    }
    for (size_t i = 0; i < list.n; i++)
        TRY(document_add_element(r, format, list.element[i]));
    if (r->whole)
        return ERR_OK;
    r->damaged = !end.n && text.n > 0;
    TRY(document_read_lines(r, format, text, !end.n));
    const size_t before = r->lines.n;

    TRY(document_read_lines(r, format, end, true));
    r->has_end = !end.n || r->lines.n > before;
    return ERR_OK;
}

enum err_code document_rows_read(const char *path, const struct document_format *format,
                                 size_t most, struct document_rows *out, struct err *e)
{
    struct document_rows r = { .whole = false };
    AUTO_BUF text = { 0 };
    AUTO_BUF end = { 0 };

    struct file f;
    enum err_code rc = file_open(AT_FDCWD, path, 0, &f, e);

    if (rc)
        return rc;

    int64_t size = f.id.size;
    bool whole = size <= (int64_t)most * 2;

    rc = file_read_part(&f, 0, whole ? (size_t)size : most, &text, e);
    if (!rc && !whole)
        rc = file_read_part(&f, size - (int64_t)most, most, &end, e);
    file_close(&f);
    TRY(err_at(e, rc, path));

    if (document_read_rows(&r, format, buf_slice(&text), buf_slice(&end))) {
        document_rows_fini(&r);
        return err_nomem(e);
    }
    *out = r;
    return ERR_OK;
}

void document_rows_fini(struct document_rows *r)
{
    buf_fini(&r->lines);
    *r = (struct document_rows){ .whole = false };
}

/* ---- damage ---- */

enum { DOCUMENT_PLACED = 16 << 20 };

enum err_code document_check(const struct store *st, const struct session_ref *ref,
                             const atomic_bool *cancel, finding_fn *fn, void *arg, struct err *e)
{
    struct finding f = { .kind = FINDING_BROKEN_LINE,
                         .session = ref->id,
                         .path = ref->path.p,
                         .line = 1,
                         .why = "the session is one document, and from this line on it is not "
                                "valid JSON; which part is missing is not known, so that there "
                                "is no repair" };
    AUTO_BUF text = { 0 };

    (void)st, (void)cancel;
    TRY(file_read_all(AT_FDCWD, ref->path.p, 0, DOCUMENT_MOST, &text, e));
    if (json_valid(buf_slice(&text)))
        return ERR_OK;

    /* The other parser accepts a little more, but it knows where it stopped. */
    const char *end = text.p;

    if (text.n && text.n <= DOCUMENT_PLACED)
        cJSON_Delete(cJSON_ParseWithLengthOpts(text.p, text.n, &end, false));
    for (const char *p = text.p; p && p < end && p < text.p + text.n; p++)
        if (*p == '\n' && p + 1 < text.p + text.n) {
            f.line++;
            f.offset = p + 1 - text.p;
        }
    return fn(&f, arg, e);
}
