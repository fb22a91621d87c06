#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/log/log_damage.h"

enum { HALF = 6 }; /* bytes of an escape by number */

static int escaped_unit(const char *p, const char *end)
{
    int unit = 0;

    if (end - p < HALF || p[0] != '\\' || p[1] != 'u')
        return -1;
    for (int i = 2; i < HALF; i++) {
        const int c = p[i] | 0x20;
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static bool is_high(int unit)
{
    return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low(int unit)
{
    return unit >= 0xdc00 && unit < 0xe000;
}

/* Backslashes are only in texts, where each begins an escape. */
enum err_code log_clean_texts(struct log_cleaning *c, const char *end)
{
    const char *from = c->done;

    for (const char *p = c->done; p < end && (p = memchr(p, '\\', (size_t)(end - p)));) {
        const int unit = escaped_unit(p, end);
        const int next = is_high(unit) ? escaped_unit(p + HALF, end) : -1;
        const bool half = is_high(unit) || is_low(unit);

        if (is_low(next)) {
            p += 2 * HALF;
        } else if (unit == 0 || (half && c->half)) {
            c->why = half ? c->half : "a NUL in a text: the API refuses it";
            c->repair = "replaces it with U+FFFD";
            TRY(buf_add(c->out, (struct slice){ from, (size_t)(p - from) }));
            TRY(buf_add(c->out, SLICE("\\ufffd")));
            from = p += HALF;
        } else {
            p += half ? HALF : 2;
        }
    }
    c->done = end;
    return buf_add(c->out, (struct slice){ from, (size_t)(end - from) });
}

enum err_code log_refused_texts(struct log_survey *survey, int64_t offset, struct slice row,
                                struct buf *bytes, const char **why, const char **repair)
{
    struct log_cleaning c = { .out = bytes, .done = row.p, .half = survey->rules->half };
    struct slice type, value;

    (void)offset;
    if (!slice_has(row, "\\ud") && !slice_has(row, "\\uD") && !slice_has(row, "\\u0000"))
        return ERR_OK;
    for (const struct log_sent *sent = survey->rules->sent; sent->member; sent++) {
        if (!json_get(row, "type", &type) || !json_string_is(type, sent->type) ||
            !json_get(row, sent->member, &value) || value.p < c.done)
            continue;
        TRY(buf_add(bytes, (struct slice){ c.done, (size_t)(value.p - c.done) }));
        c.done = value.p;
        TRY(log_clean_texts(&c, value.p + value.n));
    }
    TRY(buf_add(bytes, (struct slice){ c.done, (size_t)(row.p + row.n - c.done) }));
    *why = c.why;
    *repair = c.repair;
    if (!c.repair)
        bytes->n = 0;
    return ERR_OK;
}
