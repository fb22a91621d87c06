#include "store/redact/redact.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/redact/given_printed.h"
#include "store/redact/given_value.h"
#include "store/redact/printed_calls.h"

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
    known_values_free(counts->known);
    *counts = (struct redact_counts){ .n = 0 };
}

static enum err_code count_secrets(struct redact_counts *counts, const char *kind, size_t n)
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
    counts->count[i].n += n;
    return ERR_OK;
}

static enum err_code replace_secrets(struct slice text, const struct secret_list *list,
                                     struct buf *out, struct redact_counts *counts)
{
    size_t from = 0;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < list->n && !rc;) {
        /* Join the i-th secret with those that overlap it, and move i past them. */
        struct secret s = list->secret[i++];

        for (; i < list->n && list->secret[i].at <= s.at + s.n; ++i) {
            const struct secret *next = &list->secret[i];

            if (next->at + next->n > s.at + s.n)
                s.n = next->at + next->n - s.at;
            if (s.kind == redact_random)
                s.kind = next->kind;
        }

        rc = buf_add(out, (struct slice){ text.p + from, s.at - from });
        if (!rc)
            rc = buf_add(out, SLICE("REDACTED"));
        if (!rc)
            rc = count_secrets(counts, s.kind, 1);
        from = s.at + s.n;
    }
    return rc ? rc : buf_add(out, (struct slice){ text.p + from, text.n - from });
}

/* Remembered values are found, too. Only a call that learns remembers, so that the same rows always give the same answer. */
static enum err_code find_secrets(struct slice text, struct secret_list *list,
                                  struct redact_counts *counts)
{
    if (!counts)
        return redact_find_all(text, list);
    TRY(redact_find_all_once(&counts->known, counts->learns, text, list));
    if (counts->learns)
        TRY(known_values_add(&counts->known, text, list));
    return known_values_find(counts->known, text, list);
}

enum err_code redact_text(struct slice text, struct buf *out, struct redact_counts *counts)
{
    CLEANUP(redact_list_fini) struct secret_list list = { .n = 0 };

    if (!text.n)
        return ERR_OK;
    TRY(find_secrets(text, &list, counts));
    return replace_secrets(text, &list, out, counts);
}

/* ---- JSON ---- */

/* How a value is examined, which its members and elements inherit. */
struct member {
    enum name_kind kind;  /* the kind of the name beside it */
    bool exact;           /* an id or a signature: only known forms are secrets */
    enum printed printed; /* below the result of a call that prints a secret */
    bool output;          /* and what was printed */
};

static struct member member_named(struct slice name, struct member outer)
{
    static const char *const headers[] = { "authorization", "proxy-authorization", "cookie",
                                           "set-cookie" };
    enum name_kind kind = secret_name_kind(name);
    bool generic = slice_eq(name, SLICE("value")) || slice_eq(name, SLICE("Value"));
    const char *p = name.p + name.n;
    bool id =
        (name.n >= 2 && (p[-2] | 0x20) == 'i' && (p[-1] | 0x20) == 'd') ||
        (name.n >= 3 && (p[-3] | 0x20) == 'i' && (p[-2] | 0x20) == 'd' && (p[-1] | 0x20) == 's');

    if (generic || (kind == NAME_PLAIN && outer.kind > NAME_LIKELY))
        kind = outer.kind;
    if (slice_eq(name, SLICE("auth")) || slice_eq(name, SLICE("identitytoken")))
        kind = NAME_TOKEN; /* the token of a container registry */
    for (size_t i = 0; i < COUNT_OF(headers); i++)
        if (strlen(headers[i]) == name.n && strncasecmp(name.p, headers[i], name.n) == 0)
            kind = NAME_PASSWORD; /* with its scheme */
    return (struct member){
        kind,
        (id && kind == NAME_PLAIN) || slice_eq(name, SLICE("signature")) || outer.exact,
        outer.printed,
        outer.printed && printed_calls_is_output(name),
    };
}

/* What the members of an object say about each other, in one pass: whether it is an image, and the kind of name that
 * {"name":"PASSWORD","value":"x"} gives to its value. */
static enum name_kind kind_beside(struct slice object, bool *is_image)
{
    enum { NAMES = 4, TYPE = NAMES, KEYS };
    static const char *const keys[KEYS] = { "name", "Name", "key", "Key", "type" };
    struct slice value[KEYS];
    enum name_kind kind = NAME_PLAIN;

    *is_image = false;
    if (json_type(object) != JSON_OBJECT)
        return kind;
    json_get_each(object, keys, KEYS, value);
    *is_image = json_type(value[TYPE]) == JSON_STRING &&
                (slice_starts(value[TYPE], "\"image") || json_string_is(value[TYPE], "base64"));
    for (size_t i = 0; kind == NAME_PLAIN && i < NAMES; i++)
        if (json_type(value[i]) == JSON_STRING && value[i].n > 2)
            kind = secret_name_kind((struct slice){ value[i].p + 1, value[i].n - 2 });
    return kind;
}

static struct slice unquoted(struct slice string)
{
    return string.n < 2 ? (struct slice){ string.p, 0 }
                        : (struct slice){ string.p + 1, string.n - 2 };
}

static enum err_code find_printed(struct member m, struct slice text, struct secret_list *list,
                                  struct redact_counts *counts)
{
    static const char *const keys[] = { "output", "stdout", "content" };
    struct slice value[COUNT_OF(keys)] = { text }; /* {"output":"w0rd\n"} in a string */

    if (text.n && text.p[0] == '{' && json_valid(text))
        json_get_each(text, keys, COUNT_OF(keys), value);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (value[i].n && (value[i].p == text.p || json_type(value[i]) == JSON_STRING))
            TRY(printed_find(text, value[i].p == text.p ? text : unquoted(value[i]),
                             m.printed == PRINTED_ALONE, list));
    redact_list_sort(list);
    return counts->learns ? known_values_add(&counts->known, text, list) : ERR_OK;
}

static enum err_code redact_value(struct member m, struct slice value, int depth, struct buf *out,
                                  struct redact_counts *counts);

/* Examines the unescaped text: an escape is not part of a run, and a key may be spread over several lines. A string of
 * JSON is examined as what it holds, too. */
static enum err_code redact_string(struct member m, struct slice value, int depth, struct buf *out,
                                   struct redact_counts *counts)
{
    AUTO_ARENA a = { 0 };
    CLEANUP(redact_list_fini) struct secret_list list = { .n = 0 };
    AUTO_BUF clean = { 0 };
    AUTO_BUF inner = { 0 };
    struct jsonout j;
    struct slice text;
    bool decoded = json_text(value, &a, &text), changed = false;

    if (a.failed)
        return ERR_NOMEM;
    if (!decoded) /* blanks follow it */
        return redact_text(value, out, counts);
    if (text.n && given_is_any(text.p[0], "{[") && depth < DEPTH_MAX && json_valid(text)) {
        TRY(redact_value(m, text, depth + 1, &inner, counts));
        changed = !slice_eq(buf_slice(&inner), text);
        text = buf_slice(&inner);
    }
    if (text.n)
        TRY(m.exact ? redact_find_exact(text, &list) : find_secrets(text, &list, counts));
    if (m.output)
        TRY(find_printed(m, text, &list, counts));
    if (list.n == 0 && !m.exact && text.n && given_is_secret(m.kind, text)) {
        TRY(redact_list_add(&list, m.kind == NAME_PASSWORD ? "password" : "value of a secret name",
                            0, text.n));
        if (counts && counts->learns)
            TRY(known_values_add(&counts->known, text, &list));
    }
    if (list.n == 0 && !changed)
        return buf_add(out, value);
    TRY(replace_secrets(text, &list, &clean, counts));
    jsonout_init(&j, out);
    jsonout_text(&j, buf_slice(&clean));
    return j.rc;
}

static enum err_code redact_value(struct member m, struct slice value, int depth, struct buf *out,
                                  struct redact_counts *counts)
{
    struct json_iter it;
    struct slice name, inner;
    struct member outer = m, next;
    const char *at = value.p;
    bool object = json_type(value) == JSON_OBJECT, image, alone;
    enum name_kind beside,
        flag = NAME_PLAIN; /* the kinds of the element before, in the words of a command */
    enum err_code rc = ERR_OK;

    if (json_type(value) == JSON_STRING)
        return redact_string(m, value, depth, out, counts);
    if (json_type(value) == JSON_NUMBER && m.kind == NAME_PASSWORD) {
        rc = count_secrets(counts, "password", 1);
        return rc ? rc : buf_add(out, SLICE("\"REDACTED\""));
    }
    if (depth == DEPTH_MAX)
        return redact_text(value, out, counts);
    if (!json_iter_open(&it, value))
        return buf_add(out, value);
    beside = kind_beside(value, &image);
    outer.exact = outer.exact || image;
    if (object)
        rc = printed_calls_note(&counts->known, value, &outer.printed);
    while (!rc && json_iter_next(&it, &name, &inner)) {
        rc = buf_add(out, (struct slice){ at, (size_t)(inner.p - at) });
        next = object ? member_named(unquoted(name), outer) : outer;
        if (object && beside > next.kind &&
            (json_string_is(name, "value") || json_string_is(name, "Value")))
            next.kind = beside;
        if (object && json_string_is(name, "toolUseResult") &&
            known_calls_any_in(counts->known, value, &alone))
            next.printed = alone ? PRINTED_ALONE : PRINTED_AMONG;
        next.output = next.output || (next.printed && json_string_is(name, "toolUseResult"));
        if (!object && flag > next.kind)
            next.kind = flag;
        flag = !object && slice_starts(inner, "\"-") && !memchr(inner.p, '=', inner.n)
                   ? secret_name_kind(unquoted(inner))
                   : NAME_PLAIN;
        if (!rc)
            rc = redact_value(next, inner, depth + 1, out, counts);
        at = inner.p + inner.n;
    }
    return rc ? rc : buf_add(out, (struct slice){ at, (size_t)(value.p + value.n - at) });
}

static enum err_code redact_all_rows(struct slice rows, struct buf *out,
                                     struct redact_counts *counts)
{
    struct slice line;
    bool torn;
    enum err_code rc = ERR_OK;

    if (json_valid(rows)) /* some agents write one document of many lines */
        return redact_value((struct member){ 0 }, rows, 0, out, counts);
    while (!rc && slice_line(&rows, &line, &torn)) {
        rc = json_valid(line) ? redact_value((struct member){ 0 }, line, 0, out, counts)
                              : redact_text(line, out, counts);
        if (!rc && !torn)
            rc = buf_add_byte(out, '\n');
    }
    return rc;
}

/* Rows that were added to the session since it was learned are learned, too, and replaced once more if they say something
 * new. */
static enum err_code redact_grown_rows(struct slice rows, struct buf *out,
                                       struct redact_counts *counts)
{
    struct redact_counts learned = { .known = counts->known, .learns = true };
    const size_t before = out->n, known = known_values_count(counts->known);
    enum err_code rc = redact_all_rows(rows, out, &learned);

    counts->known = learned.known;
    learned.known = NULL;
    if (!rc && known_values_count(counts->known) > known) {
        out->n = before;
        rc = redact_all_rows(rows, out, counts);
    } else
        for (size_t i = 0; i < learned.n && !rc; i++)
            rc = count_secrets(counts, learned.count[i].kind, learned.count[i].n);
    redact_counts_fini(&learned);
    return rc;
}

enum err_code redact_json_rows(struct slice rows, struct buf *out, struct redact_counts *counts)
{
    CLEANUP(redact_counts_fini) struct redact_counts calls = { 0 }; /* counts these rows alone */

    return counts && counts->learned ? redact_grown_rows(rows, out, counts)
                                     : redact_all_rows(rows, out, counts ? counts : &calls);
}

enum err_code redact_learn(struct slice rows, struct redact_counts *counts)
{
    AUTO_BUF written = { 0 };
    struct redact_counts learned = { .known = counts->known, .learns = true };
    enum err_code rc = redact_json_rows(rows, &written, &learned);

    counts->learned = true;
    counts->known = learned.known;
    learned.known = NULL;
    redact_counts_fini(&learned);
    return rc;
}
