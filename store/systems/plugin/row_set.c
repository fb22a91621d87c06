#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/systems/plugin/plugin.h"

enum { DEPTH = 64, NUMBER_MOST = 512 };

static struct id128 plugin_hash_of(char kind, const void *bytes, size_t n, struct arena *a)
{
    char *text = arena_alloc(a, n + 1);

    if (!text)
        return (struct id128){ 0, 0 };
    text[0] = kind;
    memcpy(text + 1, bytes, n);
    return id128_of((struct slice){ text, n + 1 });
}

/* ---- numbers ---- */

/* Digits without the point and the zeros at both ends, and the power of ten of the last digit. */
struct decimal {
    char digit[NUMBER_MOST];
    size_t n;
    int64_t exponent;
};

static void read_digits(struct decimal *d, struct slice number)
{
    bool point = false;

    for (size_t i = 0; i < number.n && d->n < NUMBER_MOST; i++) {
        char c = number.p[i];

        if (c == '.')
            point = true;
        if (c < '0' || c > '9')
            continue;
        d->exponent -= point;
        if (d->n || c != '0')
            d->digit[d->n++] = c;
    }
    while (d->n && d->digit[d->n - 1] == '0') {
        d->n--;
        d->exponent++;
    }
}

/* 100, 1e2 and 100.0 are one number. */
static struct id128 hash_number(struct slice number, struct arena *a)
{
    struct decimal d = { .n = 0 };
    const char *e = memchr(number.p, 'e', number.n);
    int64_t power = 0;
    bool minus = number.n && number.p[0] == '-';

    if (!e)
        e = memchr(number.p, 'E', number.n);
    size_t mantissa = e ? (size_t)(e - number.p) : number.n;

    if (number.n >= NUMBER_MOST)
        return plugin_hash_of('n', number.p, number.n, a);
    read_digits(&d, (struct slice){ number.p, mantissa });
    if (e) {
        struct slice text = { e + 1, number.n - mantissa - 1 };

        if (text.n && *text.p == '+')
            text = (struct slice){ text.p + 1, text.n - 1 };
        if (!json_int(text, &power)) /* "007" by itself is not a JSON number */
            return plugin_hash_of('n', number.p, number.n, a);
    }
    if (d.n == 0)
        return plugin_hash_of('0', "", 0, a);
    char *text = arena_format(a, "%s%.*se%lld", minus ? "-" : "", (int)d.n, d.digit,
                              (long long)(d.exponent + power));

    return text ? plugin_hash_of('n', text, strlen(text), a) : (struct id128){ 0, 0 };
}

/* ---- values ---- */

static struct id128 contents(struct slice value, int depth, struct arena *a);

static struct id128 hash_pair(char kind, struct id128 x, struct id128 y, struct arena *a)
{
    const struct id128 both[] = { x, y };

    return plugin_hash_of(kind, both, sizeof both, a);
}

/* An array is hashed in order, an object as a sum, which does not depend on the order. */
static struct id128 hash_members(struct slice value, bool object, int depth, struct arena *a)
{
    struct id128 all = { 0, 0 };
    struct json_iter it;
    struct slice key, member, name;

    json_iter_open(&it, value);
    while (json_iter_next(&it, &key, &member)) {
        struct id128 h = contents(member, depth + 1, a);

        if (object && json_text(key, a, &name)) {
            h = hash_pair('m', plugin_hash_of('k', name.p, name.n, a), h, a);
            all.hi += h.hi;
            all.lo += h.lo;
        } else {
            all = hash_pair('a', all, h, a);
        }
    }
    return hash_pair(object ? 'o' : 'l', all, (struct id128){ 0, 0 }, a);
}

static struct id128 contents(struct slice value, int depth, struct arena *a)
{
    enum json_type type = json_type(value);
    struct slice text;

    switch (type) {
    case JSON_STRING:
        return json_text(value, a, &text) ? plugin_hash_of('s', text.p, text.n, a)
                                          : plugin_hash_of('x', value.p, value.n, a);
    case JSON_NUMBER: return hash_number(value, a);
    case JSON_ARRAY:
    case JSON_OBJECT:
        return depth < DEPTH ? hash_members(value, type == JSON_OBJECT, depth, a)
                             : plugin_hash_of('x', value.p, value.n, a);
    default: return plugin_hash_of('x', value.p, value.n, a);
    }
}

struct id128 row_contents(struct slice value, struct arena *a)
{
    return contents(value, 0, a);
}

bool row_is_request(struct slice row)
{
    const struct slice begins = SLICE("\"api-request");
    struct slice type;

    return json_get(row, "type", &type) && json_type(type) == JSON_STRING && type.n >= begins.n &&
           memcmp(type.p, begins.p, begins.n) == 0;
}

/* ---- sets ---- */

enum err_code row_set_add(struct idset *set, struct slice row, bool *is_new)
{
    struct arena a = { 0 };
    struct slice uuid;
    size_t before = set->n;
    uint32_t number;
    enum err_code rc = ERR_OK;

    if (json_get_text(row, "uuid", &a, &uuid) && uuid.n) {
        rc = idset_add(set, id128_of(uuid), &number);
    } else {
        struct id128 same =
            json_valid(row) ? row_contents(row, &a) : plugin_hash_of('x', row.p, row.n, &a);

        /* A second row with the same contents is a different row and gets another name. */
        while (idset_has(set, same))
            same = hash_pair('2', same, same, &a);
        rc = idset_add(set, same, &number);
    }
    *is_new = set->n > before;
    if (a.failed)
        rc = ERR_NOMEM;
    arena_fini(&a);
    return rc;
}

enum err_code row_set_find(const struct idset *set, const uint8_t *passed, struct slice row,
                           uint32_t *number)
{
    AUTO_ARENA a = { 0 };
    struct slice uuid;

    if (json_get_text(row, "uuid", &a, &uuid) && uuid.n) {
        *number = idset_find(set, id128_of(uuid));
    } else {
        struct id128 same =
            json_valid(row) ? row_contents(row, &a) : plugin_hash_of('x', row.p, row.n, &a);

        while ((*number = idset_find(set, same)) != IDSET_NONE && passed[*number])
            same = hash_pair('2', same, same, &a);
    }
    return a.failed ? ERR_NOMEM : ERR_OK;
}
