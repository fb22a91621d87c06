#include "lite/scan/field.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/utf8.h"
#include "lite/json/json.h"

/* ---- raw values ---- */

/* Finds the next quote that is not escaped. Returns false if the text has no such quote. */
static bool raw_end(struct slice text, size_t from, size_t *end)
{
    while (from < text.n) {
        const char *quote = memchr(text.p + from, '"', text.n - from);
        if (!quote)
            return false;
        size_t at = (size_t)(quote - text.p), slashes = 0;

        while (at - slashes > from && text.p[at - slashes - 1] == '\\')
            slashes++;
        if (slashes % 2 == 0) {
            *end = at;
            return true;
        }
        from = at + 1;
    }
    return false;
}

/* The text of a string without its quotes, decoded if it can be, otherwise as written. */
static bool raw_decode(struct slice quoted, struct arena *a, struct slice *text)
{
    struct slice inner = { quoted.p + 1, quoted.n - 2 };

    if (memchr(inner.p, '\\', inner.n) && json_valid(quoted))
        return json_text(quoted, a, text);
    return utf8_repair(inner, a, text);
}

/* A string that begins right at `from`, and its end in the window. */
static bool raw_string(struct slice window, size_t from, struct slice *quoted)
{
    size_t end;

    if (from >= window.n || window.p[from] != '"' || !raw_end(window, from + 1, &end))
        return false;
    *quoted = (struct slice){ window.p + from, end + 1 - from };
    return true;
}

/* Returns true if the quote here opens a value. */
static bool opens_value(struct slice window, size_t quote, struct slice spelling)
{
    return quote + 1 >= spelling.n &&
           memcmp(window.p + quote + 1 - spelling.n, spelling.p, spelling.n) == 0;
}

/* A forward search skips a position inside an earlier value (or at its end). A position is inside
 * if only escaped quotes are between it and the opening quote of the value, which happens in torn
 * rows: "key":"abc{"key":"value". */
static bool shadowed(struct slice window, size_t at, struct slice spelling)
{
    size_t quote = at, slashes = 1;

    while (slashes % 2) {
        if (opens_value(window, quote, spelling))
            return true;
        const char *before = memrchr(window.p, '"', quote);
        if (!before)
            return false;
        quote = (size_t)(before - window.p);
        slashes = 0;
        while (quote > slashes && window.p[quote - slashes - 1] == '\\')
            slashes++;
    }
    return opens_value(window, quote, spelling);
}

/* The value after a "key": at this position, with or without a blank. */
static bool raw_at(struct slice window, size_t at, const char *key, struct slice *quoted)
{
    size_t n = strlen(key), value = at + n;
    bool spaced = value < window.n && window.p[value] == ' ';

    if (!raw_string(window, value + spaced, quoted))
        return false;
    /* The key, perhaps the blank, and the quote at this place. */
    struct slice spelling = { window.p + at, n + spaced + 1 };

    return !shadowed(window, at, spelling);
}

static const char *find_slice(struct slice window, struct slice part)
{
    return slice_find(window.p, window.n, part.p, part.n);
}

static bool raw_first(struct slice window, struct slice spelling, struct slice *quoted)
{
    const char *p = find_slice(window, spelling);

    return p && raw_string(window, (size_t)(p - window.p) + spelling.n - 1, quoted);
}

/* The key in quotes and what follows it. */
static struct slice spell_key(char text[FIELD_TEXT], const char *key, const char *then)
{
    size_t n = strlen(key), more = strlen(then);

    assert(1 + n + more <= FIELD_TEXT);
    if (n > FIELD_TEXT - 1 - more)
        n = FIELD_TEXT - 1 - more;
    text[0] = '"';
    memcpy(text + 1, key, n);
    memcpy(text + 1 + n, then, more);
    return (struct slice){ text, 1 + n + more };
}

bool field_first(struct slice window, bool whole, const char *key, struct arena *a,
                 struct slice *text)
{
    char spelling[FIELD_TEXT];
    struct slice quoted;
    const char *first = find_slice(window, spell_key(spelling, key, "\":"));

    *text = (struct slice){ NULL, 0 };
    if (!first)
        return true;
    window = (struct slice){ first, (size_t)(window.p + window.n - first) };
    if (raw_first(window, spell_key(spelling, key, "\":\""), &quoted))
        return raw_decode(quoted, a, text);
    if (whole && raw_first(window, spell_key(spelling, key, "\": \""), &quoted))
        return raw_decode(quoted, a, text);
    return true;
}

/* ---- rows ---- */

struct slice field_row(struct slice window, size_t at)
{
    const char *before = memrchr(window.p, '\n', at);
    const char *after = memchr(window.p + at, '\n', window.n - at);
    const char *begin = before ? before + 1 : window.p;

    return (struct slice){ begin, (size_t)((after ? after : window.p + window.n) - begin) };
}

/* Returns the position of an entry that was glued to a torn row, or NULL. An object after ':', ','
 * or '[' is a value of the row itself, torn or not. */
static const char *glued_at(struct slice row, const char *glued)
{
    struct slice text = slice_of(glued);
    struct key_search_set one;
    struct key_search walk;
    size_t at, which;

    key_search_set_init(&one, &text, 1);
    key_search_begin(&walk, &one, row);
    if (!key_search_next(&walk, &at, &which) || at == 0)
        return NULL;
    return strchr(":,[", row.p[at - 1]) && row.p[at - 1] ? NULL : row.p + at;
}

/* Reads the value from a parsed object, if it is of the right kind. */
static bool read_object(const struct field *f, struct slice object, struct slice *quoted)
{
    const char *const names[] = { f->key, "type" };
    struct slice values[2];

    json_get_each(object, names, 2, values);
    if (json_type(values[0]) != JSON_STRING || (f->type && !json_string_is(values[1], f->type)))
        return false;
    *quoted = values[0];
    return true;
}

static bool read_field_row(const struct field_set *set, size_t i, struct slice row,
                           struct slice *quoted)
{
    const struct field *f = &set->field[i];
    const struct field_spelling *s = &set->spelling[i];

    if (!slice_has(row, s->key))
        return false;
    if (f->type && !slice_has(row, s->type) &&
        !(f->kind == FIELD_LOOSE && slice_has(row, s->spaced)))
        return false;
    if (json_valid(row))
        return read_object(f, row, quoted);
    const char *glued = f->kind == FIELD_LOOSE ? glued_at(row, s->glued) : NULL;

    if (!glued)
        return false;
    struct slice rest = { glued, (size_t)(row.p + row.n - glued) };

    return json_valid(rest) && read_object(f, rest, quoted);
}

/* ---- a pass over the window ---- */

static void spell_field(struct field_spelling *s, const struct field *f)
{
    *s = (struct field_spelling){ 0 };
    snprintf(s->key, sizeof s->key, f->kind == FIELD_SEEN ? "%s" : "\"%s\":", f->key);
    if (!f->type)
        return;
    snprintf(s->type, sizeof s->type, "\"type\":\"%s\"", f->type);
    snprintf(s->spaced, sizeof s->spaced, "\"type\": \"%s\"", f->type);
    snprintf(s->glued, sizeof s->glued, "{\"type\":\"%s\"", f->type);
}

void field_set_init(struct field_set *set, const struct field fields[], size_t n)
{
    struct slice needles[KEY_SEARCH_MAX];
    size_t count = 0;

    assert(n <= FIELD_MAX);
    if (n > FIELD_MAX)
        n = FIELD_MAX;
    set->field = fields;
    set->n = n;
    for (size_t i = 0; i < n && count + 2 <= KEY_SEARCH_MAX; i++) {
        const struct field_spelling *s = &set->spelling[i];
        const char *first = s->key, *second = NULL;

        spell_field(&set->spelling[i], &fields[i]);
        /* A longer needle is found faster, and "type":"tag" is rarer than "tag":. */
        if (fields[i].type && strlen(s->type) > strlen(s->key)) {
            first = s->type;
            second = fields[i].kind == FIELD_LOOSE ? s->spaced : NULL;
        }
        set->owner[count] = (uint8_t)i;
        needles[count++] = slice_of(first);
        if (second) {
            set->owner[count] = (uint8_t)i;
            needles[count++] = slice_of(second);
        }
    }
    key_search_set_init(&set->needles, needles, count);
}

struct pass {
    const struct field_set *set;
    struct slice window;
    struct slice row; /* around the last place that was examined */
    bool done[FIELD_MAX];
    const char *tried[FIELD_MAX]; /* the row that a field was last looked for in */
};

/* Tries one position at which a field may be. Returns false if out of memory. */
static bool try_place(struct pass *pass, size_t at, size_t needle, struct arena *a,
                      struct field_value *value)
{
    size_t i = pass->set->owner[needle];
    struct slice quoted, row;

    if (pass->set->field[i].kind == FIELD_RAW) {
        if (!raw_at(pass->window, at, pass->set->spelling[i].key, &quoted))
            return true;
        pass->done[i] = value->found = true;
        return raw_decode(quoted, a, &value->text);
    }

    const char *p = pass->window.p + at;

    if (!pass->row.p || p < pass->row.p || p >= pass->row.p + pass->row.n)
        pass->row = field_row(pass->window, at);
    row = pass->row;

    /* A row that contains the name several times is read once. */
    if (pass->tried[i] == row.p)
        return true;
    pass->tried[i] = row.p;
    if (!read_field_row(pass->set, i, row, &quoted))
        return true;
    pass->done[i] = value->found = true;
    value->row = row;
    return json_text(quoted, a, &value->text);
}

static void ignore_field(struct key_search *walk, const struct field_set *set, size_t field)
{
    for (size_t i = 0; i < set->needles.n; i++)
        if (set->owner[i] == field)
            key_search_ignore(walk, i);
}

bool field_set_last(const struct field_set *set, struct slice window, struct arena *a,
                    struct field_value values[], field_seen_fn *seen, void *arg)
{
    struct pass pass = { .set = set, .window = window };
    struct key_search walk;
    size_t at, needle, open = set->n;

    key_search_begin(&walk, &set->needles, window);
    for (size_t i = 0; i < set->n; i++)
        values[i] = (struct field_value){ 0 };
    while (open && key_search_next(&walk, &at, &needle)) {
        size_t i = set->owner[needle];

        if (set->field[i].kind == FIELD_SEEN) {
            pass.done[i] = seen(i, window, at, arg);
        } else if (!try_place(&pass, at, needle, a, &values[i])) {
            return false;
        }
        if (pass.done[i]) {
            ignore_field(&walk, set, i);
            open--;
        }
    }
    return true;
}
