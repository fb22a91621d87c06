#include "store/redact/redact.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"

/* Replacing what was found, in texts and in rows of JSON. */

enum { DEPTH_MAX = 64 };

size_t redact_counts_total(const struct redact_counts *counts)
{
    size_t total = 0;

    for (size_t i = 0; i < counts->n; i++)
        total += counts->count[i].n;
    return total;
}

void redact_counts_fini(struct redact_counts *counts)
{
    free(counts->count);
    *counts = (struct redact_counts){ .n = 0 };
}

static enum err_code count_secret(struct redact_counts *counts, const char *kind)
{
    size_t i = 0;

    if (!counts)
        return ERR_OK;
    while (i < counts->n && strcmp(counts->count[i].kind, kind) != 0)
        i++;
    if (i == counts->n) {
        if (!array_reserve(counts->count, counts->cap, counts->n + 1))
            return ERR_NOMEM;
        counts->count[counts->n++] = (struct redact_count){ kind, 0 };
    }
    counts->count[i].n++;
    return ERR_OK;
}

/* Joins the i-th secret with those that overlap it, and moves i past them. */
static struct secret join_overlapping(const struct secret_list *list, size_t *i)
{
    struct secret all = list->secret[(*i)++];

    for (; *i < list->n && list->secret[*i].at <= all.at + all.n; ++*i) {
        const struct secret *next = &list->secret[*i];

        if (next->at + next->n > all.at + all.n)
            all.n = next->at + next->n - all.at;
        if (all.kind == redact_random)
            all.kind = next->kind;
    }
    return all;
}

static enum err_code replace_secrets(struct slice text, const struct secret_list *list,
                                     struct buf *out, struct redact_counts *counts)
{
    size_t from = 0;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < list->n && !rc;) {
        struct secret s = join_overlapping(list, &i);

        rc = buf_add(out, (struct slice){ text.p + from, s.at - from });
        if (!rc)
            rc = buf_add(out, SLICE("REDACTED"));
        if (!rc)
            rc = count_secret(counts, s.kind);
        from = s.at + s.n;
    }
    return rc ? rc : buf_add(out, (struct slice){ text.p + from, text.n - from });
}

enum err_code redact_text(struct slice text, struct buf *out, struct redact_counts *counts)
{
    struct secret_list list = { .n = 0 };
    enum err_code rc = text.n ? redact_find_all(text, &list) : ERR_OK;

    if (!rc && text.n)
        rc = replace_secrets(text, &list, out, counts);
    redact_list_fini(&list);
    return rc;
}

/* ---- JSON ---- */

/* Entire leaves keys with these endings alone, in upper and lower case. */
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

/* Examines the unescaped text: an escape is not part of a run, and a key may be spread over several lines. */
static enum err_code redact_string(struct slice key, struct slice value, struct buf *out,
                                   struct redact_counts *counts)
{
    struct arena a = { 0 };
    struct secret_list list = { .n = 0 };
    struct buf clean = { 0 };
    struct jsonout j;
    struct slice text;
    bool decoded = json_text(value, &a, &text);
    enum err_code rc = a.failed ? ERR_NOMEM : ERR_OK;

    if (!rc && !decoded) /* blanks follow it */
        return redact_text(value, out, counts);
    if (!rc && text.n)
        rc = redact_find_all(text, &list);
    if (!rc && list.n == 0 && key.n > 2 &&
        redact_is_given((struct slice){ key.p + 1, key.n - 2 }, text))
        rc = redact_list_add(&list, "value of a secret name", 0, text.n);
    if (!rc && list.n == 0)
        rc = buf_add(out, value);
    else if (!rc && !(rc = replace_secrets(text, &list, &clean, counts))) {
        jsonout_init(&j, out);
        jsonout_text(&j, buf_slice(&clean));
        rc = j.rc;
    }
    buf_fini(&clean);
    redact_list_fini(&list);
    arena_fini(&a);
    return rc;
}

static enum err_code redact_value(struct slice key, struct slice value, int depth, struct buf *out,
                                  struct redact_counts *counts)
{
    struct json_iter it;
    struct slice inner_key, inner;
    const char *at = value.p;
    enum err_code rc = ERR_OK;

    if (json_type(value) == JSON_STRING)
        return redact_string(key, value, out, counts);
    if (depth == DEPTH_MAX)
        return redact_text(value, out, counts);
    if (is_image(value) || !json_iter_open(&it, value))
        return buf_add(out, value);
    while (!rc && json_iter_next(&it, &inner_key, &inner)) {
        rc = buf_add(out, (struct slice){ at, (size_t)(inner.p - at) });
        if (!rc)
            rc = is_left_alone(inner_key) ? buf_add(out, inner)
                                          : redact_value(inner_key, inner, depth + 1, out, counts);
        at = inner.p + inner.n;
    }
    return rc ? rc : buf_add(out, (struct slice){ at, (size_t)(value.p + value.n - at) });
}

enum err_code redact_json_rows(struct slice rows, struct buf *out, struct redact_counts *counts)
{
    struct slice line;
    bool torn;
    enum err_code rc = ERR_OK;

    if (json_valid(rows)) /* some agents write one document of many lines */
        return redact_value(SLICE(""), rows, 0, out, counts);
    while (!rc && slice_line(&rows, &line, &torn)) {
        rc = json_valid(line) ? redact_value(SLICE(""), line, 0, out, counts)
                              : redact_text(line, out, counts);
        if (!rc && !torn)
            rc = buf_add_byte(out, '\n');
    }
    return rc;
}
