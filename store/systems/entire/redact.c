#include "store/systems/entire/redact.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "lite/json.h"

enum { RUN_MIN = 10, DEPTH_MAX = 64 };
static const double entropy_max = 4.5; /* bits a letter */

static bool in_run(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '+' || c == '_' || c == '=' || c == '-';
}

static double entropy(struct slice run)
{
    size_t count[256] = { 0 };
    double bits = 0;

    for (size_t i = 0; i < run.n; i++)
        count[(unsigned char)run.p[i]]++;
    for (size_t i = 0; i < 256; i++)
        if (count[i]) {
            double p = (double)count[i] / (double)run.n;

            bits -= p * log2(p);
        }
    return bits;
}

static bool begins_as_token(struct slice run)
{
    static const char *const fronts[] = { "AKIA",     "ASIA",        "ghp_",     "gho_",
                                          "ghs_",     "github_pat_", "glpat-",   "sk-ant-",
                                          "sk-proj-", "sk_live_",    "rk_live_", "xoxb-",
                                          "xoxp-",    "xapp-",       "npm_",     "AIza",
                                          "ya29" };

    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++)
        if (slice_starts(run, fronts[i]) && run.n >= 16)
            return true;
    return false;
}

static bool is_secret(struct slice run)
{
    return run.n >= RUN_MIN && (entropy(run) > entropy_max || begins_as_token(run));
}

/* An escape of a JSON string is no part of a run: \n before a word is not its first letter. */
static size_t escape_length(struct slice text, size_t i, bool escapes)
{
    if (!escapes || text.p[i] != '\\')
        return 0;
    size_t n = i + 1 < text.n && text.p[i + 1] == 'u' ? 6 : 2;

    return i + n <= text.n ? n : text.n - i;
}

static enum err_code redact(struct slice text, bool escapes, struct buf *out)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < text.n && !rc;) {
        size_t n = escape_length(text, i, escapes);

        if (n == 0)
            while (i + n < text.n && in_run(text.p[i + n]))
                n++;
        struct slice run = { text.p + i, n ? n : 1 };

        rc = n && text.p[i] != '\\' && is_secret(run) ? buf_add(out, SLICE("REDACTED"))
                                                      : buf_add(out, run);
        i += run.n;
    }
    return rc;
}

enum err_code redact_text(struct slice text, struct buf *out)
{
    return redact(text, false, out);
}

/* ---- JSON ---- */

static bool ends_in(struct slice key, const char *end)
{
    size_t n = strlen(end);

    return key.n >= n + 1 && memcmp(key.p + key.n - 1 - n, end, n) == 0; /* before its quote */
}

static bool is_left_alone(struct slice key)
{
    return key.n && (json_string_is(key, "signature") || ends_in(key, "id") || ends_in(key, "Id") ||
                     ends_in(key, "ids") || ends_in(key, "Ids") || ends_in(key, "ID"));
}

static bool is_image(struct slice object)
{
    struct slice type;

    return json_type(object) == JSON_OBJECT && json_get(object, "type", &type) &&
           json_type(type) == JSON_STRING &&
           (json_string_is(type, "image") || json_string_is(type, "base64"));
}

static enum err_code redact_value(struct slice value, int depth, struct buf *out)
{
    struct json_iter it;
    struct slice key, inner;
    const char *at = value.p;
    enum err_code rc = ERR_OK;

    if (json_type(value) == JSON_STRING)
        return redact(value, true, out);
    if (depth == DEPTH_MAX || is_image(value) || !json_iter_open(&it, value))
        return buf_add(out, value);
    while (!rc && json_iter_next(&it, &key, &inner)) {
        rc = buf_add(out, (struct slice){ at, (size_t)(inner.p - at) });
        if (!rc)
            rc = is_left_alone(key) ? buf_add(out, inner) : redact_value(inner, depth + 1, out);
        at = inner.p + inner.n;
    }
    return rc ? rc : buf_add(out, (struct slice){ at, (size_t)(value.p + value.n - at) });
}

enum err_code redact_rows(struct slice rows, struct buf *out)
{
    struct slice line;
    bool torn;
    enum err_code rc = ERR_OK;

    while (!rc && slice_line(&rows, &line, &torn)) {
        rc = json_valid(line) ? redact_value(line, 0, out) : redact_text(line, out);
        if (!rc && !torn)
            rc = buf_add_byte(out, '\n');
    }
    return rc;
}
