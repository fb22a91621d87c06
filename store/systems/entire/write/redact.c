#include "store/systems/entire/write/redact.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/entire/write/secrets.h"

enum { RUN_MIN = 10, DEPTH_MAX = 64 };
static const double entropy_max = 4.5; /* bits a letter */

/* ---- text ---- */

static bool in_run(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '+' || c == '_' || c == '=' || c == '-';
}

static enum err_code find_random(struct slice text, struct secret_list *list)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0, n; i < text.n && !rc; i += n ? n : 1) {
        for (n = 0; i + n < text.n && in_run(text.p[i + n]);)
            n++;
        if (n >= RUN_MIN && secrets_entropy((struct slice){ text.p + i, n }) > entropy_max)
            rc = secrets_add(list, "random letters", i, n);
    }
    return rc;
}

static int compare_secret_offset(const void *x, const void *y)
{
    const struct secret *a = x, *b = y;

    return (a->at > b->at) - (a->at < b->at);
}

static enum err_code find_all(struct slice text, struct secret_list *list)
{
    enum err_code rc = find_random(text, list);

    if (!rc)
        rc = secrets_find(text, list);
    if (!rc && list->n > 1)
        qsort(list->secret, list->n, sizeof *list->secret, compare_secret_offset);
    return rc;
}

/* What overlaps is one. */
static enum err_code replace_secrets(struct slice text, const struct secret_list *list,
                                     struct buf *out)
{
    size_t from = 0;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < list->n && !rc;) {
        size_t at = list->secret[i].at, end = at + list->secret[i].n;

        for (i++; i < list->n && list->secret[i].at <= end; i++)
            if (list->secret[i].at + list->secret[i].n > end)
                end = list->secret[i].at + list->secret[i].n;
        rc = buf_add(out, (struct slice){ text.p + from, at - from });
        if (!rc)
            rc = buf_add(out, SLICE("REDACTED"));
        from = end;
    }
    return rc ? rc : buf_add(out, (struct slice){ text.p + from, text.n - from });
}

enum err_code redact_text(struct slice text, struct buf *out)
{
    struct secret_list list = { .n = 0 };
    enum err_code rc = text.n ? find_all(text, &list) : ERR_OK;

    if (!rc && text.n)
        rc = replace_secrets(text, &list, out);
    secrets_fini(&list);
    return rc;
}

/* ---- JSON ---- */

/* Entire leaves every key alone that ends so, in whatever case. */
static bool ends_in(struct slice key, const char *end)
{
    size_t n = strlen(end);

    if (key.n < n + 2) /* the quotes */
        return false;
    for (size_t i = 0; i < n; i++)
        if ((key.p[key.n - 1 - n + i] | 0x20) != end[i])
            return false;
    return true;
}

static bool is_left_alone(struct slice key)
{
    return key.n && (json_string_is(key, "signature") || ends_in(key, "id") || ends_in(key, "ids"));
}

static bool is_image(struct slice object)
{
    struct slice type;

    return json_type(object) == JSON_OBJECT && json_get(object, "type", &type) &&
           json_type(type) == JSON_STRING &&
           (slice_starts(type, "\"image") || json_string_is(type, "base64"));
}

static enum err_code write_string(struct slice text, struct buf *out)
{
    struct jsonout j;

    jsonout_init(&j, out);
    jsonout_text(&j, text);
    return j.rc;
}

/* As what it stands for: an escape is no part of a run, and a key that is spread over lines is one. */
static enum err_code redact_string(struct slice key, struct slice value, struct buf *out)
{
    struct arena a = { 0 };
    struct secret_list list = { .n = 0 };
    struct buf clean = { 0 };
    struct slice text;
    enum err_code rc = json_text(value, &a, &text) ? ERR_OK : ERR_NOMEM;

    if (!rc && text.n)
        rc = find_all(text, &list);
    if (!rc && list.n == 0 && key.n > 2 &&
        secrets_is_given((struct slice){ key.p + 1, key.n - 2 }, text))
        rc = secrets_add(&list, "value of a secret name", 0, text.n);
    if (!rc && list.n == 0)
        rc = buf_add(out, value);
    else if (!rc) {
        rc = replace_secrets(text, &list, &clean);
        if (!rc)
            rc = write_string(buf_slice(&clean), out);
    }
    buf_fini(&clean);
    secrets_fini(&list);
    arena_fini(&a);
    return rc;
}

static enum err_code redact_value(struct slice key, struct slice value, int depth, struct buf *out)
{
    struct json_iter it;
    struct slice inner_key, inner;
    const char *at = value.p;
    enum err_code rc = ERR_OK;

    if (json_type(value) == JSON_STRING)
        return redact_string(key, value, out);
    if (depth == DEPTH_MAX)
        return redact_text(value, out);
    if (is_image(value) || !json_iter_open(&it, value))
        return buf_add(out, value);
    while (!rc && json_iter_next(&it, &inner_key, &inner)) {
        rc = buf_add(out, (struct slice){ at, (size_t)(inner.p - at) });
        if (!rc)
            rc = is_left_alone(inner_key) ? buf_add(out, inner)
                                          : redact_value(inner_key, inner, depth + 1, out);
        at = inner.p + inner.n;
    }
    return rc ? rc : buf_add(out, (struct slice){ at, (size_t)(value.p + value.n - at) });
}

static enum err_code redact_document(struct slice document, struct buf *out)
{
    return redact_value(SLICE(""), document, 0, out);
}

enum err_code redact_json_rows(struct slice rows, struct buf *out)
{
    struct slice line;
    bool torn;
    enum err_code rc = ERR_OK;

    if (json_valid(rows)) /* an agent that writes one document, over many lines */
        return redact_document(rows, out);
    while (!rc && slice_line(&rows, &line, &torn)) {
        rc = json_valid(line) ? redact_document(line, out) : redact_text(line, out);
        if (!rc && !torn)
            rc = buf_add_byte(out, '\n');
    }
    return rc;
}
