#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/arena.h"
#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "store/redact/clean_texts.h"
#include "store/redact/given_value.h"
#include "store/redact/redact.h"
#include "store/redact/token_form.h"

/* The secrets of a session that were found. A person types a password in many places, of which one may
 * name it, so that a value which was found in one place is replaced in all. */

enum {
    VALUE_LEAST = 7,
    VALUE_MOST = 256,
    VALUES_MOST = 65536, /* a session that has more is a list of passwords, whose rows name them */
    SLOTS = 4096,
    SLOT_MOST = 64, /* more that begin alike are tokens, which their form shows */
};

struct known_value {
    const char *kind; /* static */
    char *text;       /* malloc'ed */
    size_t n;
    uint32_t next; /* the next one in the slot, from 1; 0: none */
};

struct known_values {
    struct known_value *value;
    size_t n, cap;
    uint32_t slot[SLOTS]; /* by the first letters: the first one, from 1; 0: none */
    struct clean_texts clean;
    struct slice_set calls; /* the ids of calls that print a secret, of the arena */
    struct slice_set alone; /* those that print nothing else */
    struct arena arena;
};

static uint32_t slot_of(const char *p)
{
    uint32_t first;

    memcpy(&first, p, sizeof first);
    return first * 2654435761U >> 20;
}

void known_values_free(struct known_values *known)
{
    for (size_t i = 0; known && i < known->n; i++)
        free(known->value[i].text);
    if (known) {
        clean_texts_fini(&known->clean);
        slice_set_fini(&known->calls);
        slice_set_fini(&known->alone);
        arena_fini(&known->arena);
        free(known->value);
    }
    free(known);
}

size_t known_values_count(const struct known_values *known)
{
    return known ? known->n + known->calls.n : 0;
}

/* What was learned, made when the first thing is. */
static struct known_values *known_values_made(struct known_values **known)
{
    if (!*known)
        *known = calloc(1, sizeof **known);
    return *known;
}

enum err_code redact_find_all_once(struct known_values **known, bool learns, struct slice text,
                                   struct secret_list *list)
{
    struct text_id id;

    if (learns && !known_values_made(known))
        return ERR_NOMEM;
    const bool has_id =
        *known && (learns || (*known)->clean.n) && clean_texts_id(&(*known)->clean, text, &id);

    if (has_id && clean_texts_have(&(*known)->clean, id))
        return ERR_OK;
    TRY(redact_find_all(text, list));
    if (has_id && learns && list->n == 0)
        clean_texts_add(&(*known)->clean, id);
    return ERR_OK;
}

/* A word of a language may be a password, too, but would be replaced in every sentence; so would the names of a program,
 * as "NL80211_ATTR_MAC" and "Ed448PrivateKey". */
static bool is_unlike_words(struct slice value)
{
    size_t letters = 0, digits = 0, marks = 0, blanks = 0;
    const size_t sign = value.n && value.p[0] == '%';
    const bool is_name =
        letters_run(value, sign, LETTERS_WORD | LETTERS_LOW, value.n) + sign == value.n;

    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];

        letters += given_is_alpha(c);
        digits += letters_have(LETTERS_DIGIT, c);
        marks += given_is_any(c, "!#$%^&*@?+~");
        blanks += given_is_blank(c) || c == '\n';
    }
    if (is_name &&
        (sign || memchr(value.p, '_', value.n) || (value.n > 12 && !token_is_random(value))))
        return false;
    return value.n >= VALUE_LEAST && value.n <= VALUE_MOST && letters > 1 && digits + marks &&
           blanks == 0 && !given_is_path(value) && !given_is_placeholder(value);
}

/* Finds the longest value with which a text begins. *looked: how many are in its slot. */
static const struct known_value *value_at(const struct known_values *known, struct slice rest,
                                          size_t *looked)
{
    const struct known_value *longest = NULL;

    *looked = 0;
    for (uint32_t i = known->slot[slot_of(rest.p)]; i; i = known->value[i - 1].next, ++*looked) {
        const struct known_value *v = &known->value[i - 1];

        if (v->n <= rest.n && (!longest || v->n > longest->n) && memcmp(v->text, rest.p, v->n) == 0)
            longest = v;
    }
    return longest;
}

enum err_code known_values_add(struct known_values **known, struct slice text,
                               const struct secret_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct secret *s = &list->secret[i];
        const struct slice value = { text.p + s->at, s->n };

        if (s->kind == redact_random || !is_unlike_words(value))
            continue;
        struct known_values *k = known_values_made(known);
        size_t looked;

        if (!k)
            return ERR_NOMEM;
        const struct known_value *same = value_at(k, value, &looked);

        if ((same && same->n == value.n) || k->n == VALUES_MOST || looked == SLOT_MOST)
            continue;
        char *copy = malloc(value.n);

        if (!copy || !array_reserve(k->value, k->cap, k->n + 1)) {
            free(copy);
            return ERR_NOMEM;
        }
        memcpy(copy, value.p, value.n);
        uint32_t *slot = &k->slot[slot_of(copy)];

        k->value[k->n++] = (struct known_value){ s->kind, copy, value.n, *slot };
        *slot = (uint32_t)k->n;
    }
    return ERR_OK;
}

enum err_code known_values_find(const struct known_values *known, struct slice text,
                                struct secret_list *list)
{
    const size_t found = list->n;
    size_t looked, next = 0; /* the first secret that ends behind the place */

    for (size_t at = 0; known && at + VALUE_LEAST <= text.n; at++) {
        const struct slice rest = { text.p + at, text.n - at };
        const struct known_value *v =
            known->slot[slot_of(rest.p)] ? value_at(known, rest, &looked) : NULL;

        if (!v)
            continue;
        const size_t end = at + v->n;

        /* inside a word */
        if (letters_have(LETTERS_WORD, text.p[at]) && at &&
            letters_have(LETTERS_WORD, text.p[at - 1]) && !token_may_begin(text, at))
            continue;
        if (end < text.n && letters_have(LETTERS_WORD, text.p[end - 1]) &&
            letters_have(LETTERS_WORD, text.p[end]))
            continue;
        while (next < found && list->secret[next].at + list->secret[next].n < end)
            next++;
        if (next < found && list->secret[next].at <= at)
            continue; /* found by its form, which says more */
        TRY(redact_list_add(list, v->kind, at, v->n));
        at += v->n - 1;
    }
    if (list->n > found)
        redact_list_sort(list);
    return ERR_OK;
}

enum err_code known_calls_add(struct known_values **known, struct slice id, bool alone)
{
    struct known_values *k = known_values_made(known);
    uint32_t number;

    if (!k ||
        (slice_set_find(&k->calls, id) == SLICE_SET_NONE && !(id.p = arena_copy(&k->arena, id).p)))
        return ERR_NOMEM;
    TRY(slice_set_add(&k->calls, id, &number));
    return alone ? slice_set_add(&k->alone, k->calls.text[number], &number) : ERR_OK;
}

bool known_calls_have(const struct known_values *known, struct slice id, bool *alone)
{
    *alone = known && slice_set_find(&known->alone, id) != SLICE_SET_NONE;
    return known && slice_set_find(&known->calls, id) != SLICE_SET_NONE;
}

bool known_calls_any_in(const struct known_values *known, struct slice row, bool *alone)
{
    enum { NEWEST = 32 };
    const size_t n = known ? known->calls.n : 0;

    for (size_t i = n; i && n - i < NEWEST; i--) {
        const struct slice id = known->calls.text[i - 1];

        if (slice_find(row.p, row.n, id.p, id.n))
            return known_calls_have(known, id, alone);
    }
    return false;
}
