#include "tui/data/search_hits.h"

#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "lite/base/utf8.h"

struct search_hits *search_hits_new(size_t cap)
{
    struct search_hits *list = calloc(1, sizeof *list);

    if (!list)
        return NULL;
    list->hit = calloc(cap ? cap : 1, sizeof *list->hit);
    list->cap = cap;
    if (list->hit)
        return list;
    free(list);
    return NULL;
}

void search_hits_free(struct search_hits *list)
{
    if (!list)
        return;
    free(list->hit);
    free(list);
}

static uint32_t search_hits_lower(uint32_t cp)
{
    if (cp < 0x80)
        return cp >= 'A' && cp <= 'Z' ? cp | 0x20 : cp;
    return (uint32_t)utf8proc_tolower((utf8proc_int32_t)cp);
}

static uint32_t search_hits_next_char(struct slice *rest)
{
    unsigned char byte = (unsigned char)*rest->p;

    if (byte >= 0x80)
        return utf8_next(rest, true);
    rest->p++;
    rest->n--;
    return byte;
}

static bool search_hits_has_capital(struct slice needle)
{
    while (needle.n > 0) {
        uint32_t cp = search_hits_next_char(&needle);

        if (search_hits_lower(cp) != cp)
            return true;
    }
    return false;
}

/* Returns true if the text begins with the needle, which is in lower case. */
static bool matches_here(struct slice text, struct slice needle, size_t *n)
{
    struct slice rest = text;

    while (needle.n > 0) {
        if (rest.n == 0 ||
            search_hits_lower(search_hits_next_char(&rest)) != search_hits_next_char(&needle))
            return false;
    }
    *n = text.n - rest.n;
    return true;
}

/* The nearest byte that can begin the needle; if it begins with an ASCII letter, one of two bytes.
 * The nearest of each is remembered, so that no byte is searched twice for it. */
struct search_hits_nearest {
    char letter[2];
    const char *at[2];
};

static const char *search_hits_nearest(struct search_hits_nearest *near, const char *p,
                                       const char *end)
{
    for (int i = 0; i < 2; i++)
        if (near->at[i] && near->at[i] < p)
            near->at[i] = memchr(p, near->letter[i], (size_t)(end - p));
    if (near->at[0] && near->at[1])
        return near->at[0] < near->at[1] ? near->at[0] : near->at[1];
    return near->at[0] ? near->at[0] : near->at[1];
}

static bool search_ascii(struct slice text, struct slice needle, size_t *at, size_t *n)
{
    enum { STRETCH = 4096 };
    const char *end = text.p + text.n, *to;
    char first = needle.p[0];
    bool letter = first >= 'a' && first <= 'z';
    struct search_hits_nearest near = { { first, letter ? (char)(first & ~0x20) : first },
                                        { NULL, NULL } };

    /* In stretches: a text with many occurrences but without the other of the two letters would
     * be read to its end for each occurrence. */
    for (const char *p = text.p; p < end; p = to) {
        to = end - p > STRETCH ? p + STRETCH : end;
        for (int i = 0; i < 2; i++)
            near.at[i] = memchr(p, near.letter[i], (size_t)(to - p));
        for (; (p = search_hits_nearest(&near, p, to)) != NULL; p++)
            if (matches_here((struct slice){ p, (size_t)(end - p) }, needle, n)) {
                *at = (size_t)(p - text.p);
                return true;
            }
    }
    return false;
}

static bool search_word(struct slice text, struct slice needle, size_t *at, size_t *n)
{
    if (needle.n == 0 || text.n == 0)
        return false;
    if (search_hits_has_capital(needle)) {
        const char *p = memmem(text.p, text.n, needle.p, needle.n);

        if (!p)
            return false;
        *at = (size_t)(p - text.p);
        *n = needle.n;
        return true;
    }
    /* only U+0130 and U+212A become ASCII letters in lower case; they are ignored here */

    if ((unsigned char)needle.p[0] < 0x80)
        return search_ascii(text, needle, at, n);
    struct slice rest = text;

    while (rest.n > 0) {
        if (matches_here(rest, needle, n)) {
            *at = text.n - rest.n;
            return true;
        }
        search_hits_next_char(&rest);
    }
    return false;
}

bool search_next_word(struct slice *needle, struct slice *word)
{
    if (needle->n == 0)
        return false;
    const char *end = memchr(needle->p, '\0', needle->n);
    size_t n = end ? (size_t)(end - needle->p) : needle->n, used = end ? n + 1 : n;

    *word = (struct slice){ needle->p, n };
    *needle = (struct slice){ needle->p + used, needle->n - used };
    return true;
}

/* The first occurrence of any word that begins in the first `limit` bytes; of two in one place, the longer one. */
static bool search_words(struct slice text, size_t limit, struct slice needle, size_t *at,
                         size_t *n)
{
    struct slice word;
    bool found = false;

    while (search_next_word(&needle, &word)) {
        /* in lower case, a character may have another length */
        size_t reach = limit + 4 * word.n, here, length;

        if (!search_word((struct slice){ text.p, text.n < reach ? text.n : reach }, word, &here,
                         &length) ||
            here >= limit || (found && (here > *at || (here == *at && length <= *n))))
            continue;
        found = true;
        *at = here;
        *n = length;
        limit = here + 1;
    }
    return found;
}

bool search_text(struct slice text, struct slice needle, size_t *at, size_t *n)
{
    if (needle.n == 0 || !memchr(needle.p, '\0', needle.n))
        return search_word(text, needle, at, n);
    /* In growing stretches: a rare word would be looked for in the whole text after each occurrence of another. */
    for (size_t from = 0, stretch = 256; from < text.n; from += stretch, stretch *= 2)
        if (search_words((struct slice){ text.p + from, text.n - from }, stretch, needle, at, n)) {
            *at += from;
            return true;
        }
    return false;
}

size_t search_count(struct slice text, struct slice needle)
{
    size_t count = 0, at, n;

    while (search_text(text, needle, &at, &n)) {
        count++;
        text = (struct slice){ text.p + at + n, text.n - at - n };
    }
    return count;
}

struct content_hits *content_hits_new(void)
{
    return calloc(1, sizeof(struct content_hits));
}

void content_hits_free(struct content_hits *list)
{
    if (!list)
        return;
    arena_fini(&list->arena);
    free(list->hit);
    free(list);
}
