#include "lite/json/json.h"

#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/json/scan.h"

/* The readers step from member to member and do not parse the values that they skip: they only count brackets and skip
 * strings. */

static const char *skip_json_blanks(const char *p, const char *end)
{
    while (p < end && (unsigned char)*p <= ' ' &&
           (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

/* A number or a word ends at the first byte that cannot belong to it. At the end of the text it may have been cut: 12
 * of 1234. */
static const char *skip_plain(const char *p, const char *end)
{
    const char *begin = p;

    while (p < end && ((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || *p == '.' ||
                       *p == '-' || *p == '+' || *p == 'E'))
        p++;
    return p == begin || p == end ? NULL : p;
}

static const char *skip_value(const char *p, const char *end)
{
    if (p == end)
        return NULL;
    switch (json_type((struct slice){ p, (size_t)(end - p) })) {
    case JSON_NONE: return NULL;
    case JSON_STRING: p = scan_string_end(p + 1, end); return p ? p + 1 : NULL;
    case JSON_ARRAY:
    case JSON_OBJECT: return scan_nested_end(p, end);
    default: return skip_plain(p, end);
    }
}

enum json_type json_type(struct slice value)
{
    if (value.n == 0)
        return JSON_NONE;
    switch (*value.p) {
    case 'n': return JSON_NULL;
    case 'f': return JSON_FALSE;
    case 't': return JSON_TRUE;
    case '"': return JSON_STRING;
    case '[': return JSON_ARRAY;
    case '{': return JSON_OBJECT;
    case '-': return JSON_NUMBER;
    default: return *value.p >= '0' && *value.p <= '9' ? JSON_NUMBER : JSON_NONE;
    }
}

bool json_iter_open(struct json_iter *it, struct slice value)
{
    if (value.n == 0)
        return false;
    const char *end = value.p + value.n, *p = skip_json_blanks(value.p, end);

    if (p == end || (*p != '{' && *p != '['))
        return false;
    *it = (struct json_iter){ .p = skip_json_blanks(p + 1, end), .end = end, .object = *p == '{' };
    return true;
}

/* "key" : at it->p, which moves to the value. */
static bool json_next_key(struct json_iter *it, struct slice *key)
{
    const char *begin = it->p;
    const char *close =
        begin < it->end && *begin == '"' ? scan_string_end(begin + 1, it->end) : NULL;

    if (!close)
        return false;
    *key = (struct slice){ begin, (size_t)(close - begin) + 1 };
    const char *colon = skip_json_blanks(close + 1, it->end);

    if (colon == it->end || *colon != ':')
        return false;
    it->p = skip_json_blanks(colon + 1, it->end);
    return true;
}

bool json_iter_key(struct json_iter *it, struct slice *key)
{
    *key = (struct slice){ NULL, 0 };
    if (!it->last && it->object && !json_next_key(it, key))
        it->last = true;
    return !it->last;
}

/* Between two calls it->p is where the next member begins; at the end, or at a fault, no member
 * does. */
static void skip_to_next_member(struct json_iter *it, const char *behind)
{
    const char *comma = skip_json_blanks(behind, it->end);

    it->last = comma == it->end || *comma != ',';
    it->p = it->last ? comma : skip_json_blanks(comma + 1, it->end);
}

bool json_iter_value(struct json_iter *it, struct slice *value)
{
    const char *behind = it->last ? NULL : skip_value(it->p, it->end);

    *value = (struct slice){ NULL, 0 };
    if (!behind) {
        it->last = true;
        return false;
    }
    *value = (struct slice){ it->p, (size_t)(behind - it->p) };
    skip_to_next_member(it, behind);
    return true;
}

bool json_iter_next(struct json_iter *it, struct slice *key, struct slice *value)
{
    *value = (struct slice){ NULL, 0 };
    if (json_iter_key(it, key) && json_iter_value(it, value))
        return true;
    *key = (struct slice){ NULL, 0 };
    return false;
}

bool json_iter_into(const struct json_iter *it, struct json_iter *inner)
{
    return json_iter_open(inner, (struct slice){ it->p, (size_t)(it->end - it->p) });
}

/* After a walk without a fault, inner->p is at the bracket that ends the value. */
bool json_iter_back(struct json_iter *it, struct json_iter *inner, struct slice *value)
{
    struct slice key, rest;

    while (json_iter_next(inner, &key, &rest))
        continue;
    if (inner->p == inner->end || (*inner->p != '}' && *inner->p != ']'))
        return json_iter_value(it, value);
    *value = (struct slice){ it->p, (size_t)(inner->p + 1 - it->p) };
    skip_to_next_member(it, inner->p + 1);
    return true;
}

static bool plain_key_is(struct slice key, const char *name)
{
    size_t n = key.n - 2;

    for (size_t i = 0; i < n; i++)
        if (name[i] != key.p[i + 1] || name[i] == '\0')
            return false;
    return name[n] == '\0';
}

/* Most keys have no escapes; then they are compared without decoding. Returns the first name from `i` on that equals the
 * key, or n. */
static inline size_t key_among(struct slice key, bool escaped, const char *const names[], size_t n,
                               size_t i)
{
    while (i < n && !(escaped ? json_string_is(key, names[i]) : plain_key_is(key, names[i])))
        i++;
    return i;
}

static inline bool key_is_escaped(struct slice key)
{
    return memchr(key.p, '\\', key.n) != NULL;
}

size_t json_key_in(struct slice key, const char *const names[], size_t n)
{
    return key.n < 2 ? n : key_among(key, key_is_escaped(key), names, n, 0);
}

__attribute__((flatten)) size_t json_get_each(struct slice object, const char *const names[],
                                              size_t n, struct slice values[])
{
    struct json_iter it;
    struct slice key, value;
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        values[i] = (struct slice){ NULL, 0 };
    if (!json_iter_open(&it, object) || !it.object)
        return 0;
    while (json_iter_next(&it, &key, &value)) {
        bool escaped = key_is_escaped(key);

        for (size_t i = 0; (i = key_among(key, escaped, names, n, i)) < n; i++) {
            found += values[i].n == 0;
            values[i] = value;
        }
    }
    return found;
}

bool json_get(struct slice object, const char *name, struct slice *value)
{
    return json_get_each(object, &name, 1, value) == 1;
}

/* The value of the key that is the first `n` bytes of name. */
static bool get_part(struct slice object, const char *name, size_t n, struct slice *value)
{
    char part[64];

    if (n >= sizeof part) {
        *value = (struct slice){ NULL, 0 };
        return false;
    }
    memcpy(part, name, n);
    part[n] = '\0';
    return json_get(object, part, value);
}

__attribute__((flatten)) void json_members_read(struct json_members *m, struct slice object)
{
    struct json_iter it;
    struct slice key, value;

    m->object = object;
    m->n = 0;
    m->plain = true;
    if (!json_iter_open(&it, object) || !it.object)
        return;
    while (m->plain && json_iter_next(&it, &key, &value)) {
        m->plain = m->n < JSON_MEMBERS && !key_is_escaped(key);
        if (m->plain) {
            m->key[m->n] = key;
            m->value[m->n++] = value;
        }
    }
}

bool json_members_get(const struct json_members *m, struct slice name, struct slice *value)
{
    if (!m->plain)
        return get_part(m->object, name.p, name.n, value);
    *value = (struct slice){ NULL, 0 };
    for (size_t i = m->n; i > 0 && !value->p; i--)
        if (m->key[i - 1].n == name.n + 2 && memcmp(m->key[i - 1].p + 1, name.p, name.n) == 0)
            *value = m->value[i - 1];
    return value->p;
}

bool json_at(struct slice object, const char *path, struct slice *value)
{
    *value = object;
    for (;;) {
        size_t n = strcspn(path, ".");

        if (!get_part(*value, path, n, value))
            return false;
        if (path[n] == '\0')
            return true;
        path += n + 1;
    }
}

void json_list_open(struct json_iter *it, struct slice object, const char *path)
{
    struct slice list;

    *it = (struct json_iter){ .last = true };
    if (json_at(object, path, &list) && json_type(list) == JSON_ARRAY)
        json_iter_open(it, list);
}

bool json_list_next(struct json_iter *it, struct slice *element)
{
    struct slice key;

    return json_iter_next(it, &key, element);
}

bool json_get_text(struct slice object, const char *name, struct arena *a, struct slice *text)
{
    struct slice value;

    return json_get(object, name, &value) && json_text(value, a, text);
}

struct slice json_text_of(struct slice value, struct arena *a)
{
    struct slice text;

    return json_text(value, a, &text) ? text : (struct slice){ NULL, 0 };
}

struct slice json_text_at(struct slice object, const char *path, struct arena *a)
{
    struct slice value;

    return json_at(object, path, &value) ? json_text_of(value, a) : (struct slice){ NULL, 0 };
}

struct slice json_copy_at(struct slice object, const char *path, struct arena *a)
{
    return arena_copy(a, json_text_at(object, path, a));
}

int64_t json_time_at(struct slice object, const char *path, struct arena *a)
{
    int64_t ms;

    return time_parse(json_text_at(object, path, a), &ms) ? ms : TIME_NONE;
}

bool json_get_true(struct slice object, const char *name)
{
    struct slice value;

    return json_get(object, name, &value) && slice_eq(value, SLICE("true"));
}

bool json_int(struct slice value, int64_t *out)
{
    bool minus = value.n > 0 && *value.p == '-';
    int64_t n = 0;

    if (value.n == (minus ? 1u : 0u))
        return false;
    for (size_t i = minus; i < value.n; i++) {
        if (value.p[i] < '0' || value.p[i] > '9')
            return false;
        int digit = value.p[i] - '0';

        /* Counted below zero, where there is room for INT64_MIN. */
        if (n < (INT64_MIN + digit) / 10)
            return false;
        n = n * 10 - digit;
    }
    if (!minus && n == INT64_MIN)
        return false;
    *out = minus ? n : -n;
    return true;
}

/* Strings: decoding the bytes between the quotes. */

static bool json_hex_digit(char c, uint32_t *unit)
{
    uint32_t low = (unsigned char)c | 0x20u;

    if (c >= '0' && c <= '9')
        *unit = *unit << 4 | (uint32_t)(c - '0');
    else if (low >= 'a' && low <= 'f')
        *unit = *unit << 4 | (low - 'a' + 10);
    else
        return false;
    return true;
}

/* \uXXXX at p. */
static bool json_hex_unit(const char *p, const char *end, uint32_t *unit)
{
    *unit = 0;
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
        return false;
    for (int i = 2; i < 6; i++)
        if (!json_hex_digit(p[i], unit))
            return false;
    return true;
}

/* The character that a letter after a backslash means, or 0. */
static const char escape_letters[256] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

/* One escape at the front of *rest; a high and a low surrogate in a row are one character. A bad escape yields its
 * backslash, and the characters after it as they are. */
static uint32_t next_escape(struct slice *rest)
{
    const char *p = rest->p, *end = p + rest->n;
    char letter = rest->n > 1 ? escape_letters[(unsigned char)p[1]] : '\0';
    uint32_t high, low;
    size_t used = 1;
    uint32_t cp = '\\';

    if (letter) {
        used = 2;
        cp = (unsigned char)letter;
    } else if (json_hex_unit(p, end, &high)) {
        used = 6;
        cp = high;
        if (high >> 10 == 0xD800 >> 10 && json_hex_unit(p + 6, end, &low) &&
            low >> 10 == 0xDC00 >> 10) {
            used = 12;
            cp = 0x10000 + ((high & 0x3FF) << 10 | (low & 0x3FF));
        }
    }
    *rest = (struct slice){ p + used, rest->n - used };
    return cp;
}

static uint32_t json_next_char(struct slice *rest)
{
    return *rest->p == '\\' ? next_escape(rest) : utf8_next(rest, false);
}

/* The bytes between the quotes. */
static bool unquote(struct slice quoted, struct slice *text)
{
    if (quoted.n < 2 || *quoted.p != '"')
        return false;
    const char *end = scan_string_end(quoted.p + 1, quoted.p + quoted.n);

    if (!end)
        return false;
    *text = (struct slice){ quoted.p + 1, (size_t)(end - quoted.p) - 1 };
    return true;
}

/* The first unescaped character distinguishes most strings, however long they are. */
static bool begins_otherwise(struct slice quoted, const char *text)
{
    char c = quoted.n > 1 ? quoted.p[1] : '"';

    return c != *text && c != '"' && c != '\\' && (unsigned char)c < 0x80;
}

bool json_string_is(struct slice quoted, const char *text)
{
    struct slice rest;

    if (begins_otherwise(quoted, text) || !unquote(quoted, &rest))
        return false;
    while (rest.n) {
        char one[4];
        size_t n = utf8_encode(one, json_next_char(&rest));

        for (size_t i = 0; i < n; i++, text++)
            if (*text == '\0' || *text != one[i])
                return false;
    }
    return *text == '\0';
}

bool json_get_is(struct slice object, const char *name, const char *text)
{
    struct slice value;

    return json_get(object, name, &value) && json_string_is(value, text);
}

/* The text up to the next backslash is copied as it is: the caller knows that it is valid UTF-8. */
static size_t decode_valid(struct slice rest, char *out)
{
    size_t n = 0;

    while (rest.n) {
        const char *escape = memchr(rest.p, '\\', rest.n);
        size_t run = escape ? (size_t)(escape - rest.p) : rest.n;

        memcpy(out + n, rest.p, run);
        n += run;
        rest = (struct slice){ rest.p + run, rest.n - run };
        if (rest.n)
            n += utf8_encode(out + n, next_escape(&rest));
    }
    return n;
}

bool json_text(struct slice value, struct arena *a, struct slice *text)
{
    struct slice rest, clean;

    if (!unquote(value, &rest) || !utf8_repair(rest, a, &clean))
        return false;
    if (!clean.n || !memchr(clean.p, '\\', clean.n)) {
        *text = clean;
        return true;
    }
    /* No escape decodes to more bytes than it is written with. */
    char *p = arena_alloc(a, clean.n);

    if (!p)
        return false;
    *text = (struct slice){ p, decode_valid(clean, p) };
    return true;
}
