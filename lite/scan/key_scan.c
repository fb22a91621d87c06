#include "lite/scan/key_scan.h"

#include <assert.h>
#include <string.h>

#include "lite/json/json.h"

/* A key written only in escapes takes six bytes for each of its characters, and two quotes. */
enum { KEY_LONGEST = 6 * KEY_SCAN_NAME_MAX + 2 };

void key_scan_names_add(struct key_scan_names *names, const char *name)
{
    size_t n = strlen(name);
    unsigned first = (unsigned char)*name;

    bool fits = names->n < KEY_SCAN_NAMES && n > 0 && n <= KEY_SCAN_NAME_MAX && first < 128;

    assert(fits);
    if (!fits)
        return;
    names->of_length[n] |= 1u << names->n;
    names->of_first[first] |= 1u << names->n;
    names->name[names->n++] = name;
}

struct slice key_scan_source_fetch(struct key_scan_source *src, uint64_t at, size_t n)
{
    assert(n <= KEY_SCAN_SPARE);
    if (!src->file) {
        size_t skip = at < src->held.n ? (size_t)at : src->held.n;

        return (struct slice){ src->held.p + skip, src->held.n - skip };
    }
    if (!key_scan_is_within(src->spare, src->spare_at, at, n)) {
        size_t got = 0;

        if (file_read(src->file, src->offset + (int64_t)at, src->room, KEY_SCAN_SPARE, &got, NULL))
            got = 0;
        src->spare = (struct slice){ src->room, got };
        src->spare_at = at;
    }
    size_t skip = (size_t)(at - src->spare_at), left = src->spare.n - skip;

    return (struct slice){ src->spare.p + skip, left < n ? left : n };
}

uint64_t key_scan_source_skip_blanks(struct key_scan_source *src, uint64_t at)
{
    for (;;) {
        struct slice s = key_scan_source_at(src, at, 1);

        if (s.n == 0 || !key_scan_is_blank(*s.p))
            return at;
        at++;
    }
}

void key_scan_begin(struct key_scan *s, const struct key_scan_names *names,
                    struct key_scan_source *source)
{
    s->names = names;
    s->source = source;
    s->found = 0;
    s->broken = s->ended = s->escaped = false;
    s->depth = 1;
    s->in_string = 0;
    s->quote = s->quote_before = 0;
}

/* Compares the bytes without decoding. Length and first byte usually leave one name at most. */
static uint32_t literal(const struct key_scan_names *names, struct slice key)
{
    uint32_t found = 0, left;

    if (key.n == 0 || key.n > KEY_SCAN_NAME_MAX)
        return 0;
    left = names->of_length[key.n] & names->of_first[*key.p & 127];
    for (; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);

        if (memcmp(names->name[i], key.p, key.n) == 0)
            found |= 1u << i;
    }
    return found;
}

/* Keys are short, so a call would cost more than the comparison. */
static bool has_backslash(struct slice key)
{
    for (size_t i = 0; i < key.n; i++)
        if (key.p[i] == '\\')
            return true;
    return false;
}

/* Keys may be written with escapes; no vendor does. */
static uint32_t decoded(const struct key_scan_names *names, struct slice quoted)
{
    uint32_t found = 0;

    for (unsigned i = 0; i < names->n; i++)
        if (json_string_is(quoted, names->name[i]))
            found |= 1u << i;
    return found;
}

static uint32_t match_key_names(struct key_scan *s, uint64_t open, uint64_t close)
{
    if (!s->names->n || close - open >= KEY_LONGEST)
        return 0;
    struct slice quoted = key_scan_source_at(s->source, open, (size_t)(close - open) + 1);

    if (quoted.n < 2)
        return 0;
    struct slice key = { quoted.p + 1, quoted.n - 2 };
    uint32_t found = literal(s->names, key);

    if (!found && has_backslash(key))
        found = decoded(s->names, quoted);
    return found;
}

void key_scan_member(struct key_scan *s, uint64_t colon)
{
    if (s->quote + 1 != colon && key_scan_source_skip_blanks(s->source, s->quote + 1) != colon) {
        s->broken = true; /* the bytes before the colon are not a string */
        return;
    }
    uint32_t found = match_key_names(s, s->quote_before, s->quote);

    s->found |= found;
    for (; found; found &= found - 1)
        s->value[__builtin_ctz(found)] = colon + 1;
}

void key_scan_end_object(struct key_scan *s, struct slice rest)
{
    s->ended = true;
    for (size_t i = 0; i < rest.n && !s->broken; i++)
        s->broken = !key_scan_is_blank(rest.p[i]);
}

/* Returns the position after the end of the string, or the end of the piece. Only quotes stop it:
 * an escape is noticed by the backslashes before a quote. */
static size_t skip_string(struct key_scan *s, struct slice piece, size_t from)
{
    for (size_t i = from;;) {
        const char *q = i < piece.n ? memchr(piece.p + i, '"', piece.n - i) : NULL;
        size_t end = q ? (size_t)(q - piece.p) : piece.n, run = end;

        while (run > i && piece.p[run - 1] == '\\')
            run--;
        bool odd = (end - run) % 2 != 0;

        /* the run begins at the start of the piece, and may continue an escape before it */
        if (run == i)
            odd ^= s->escaped;
        s->escaped = odd && !q;
        if (!q)
            return piece.n;
        if (!odd) {
            s->in_string = 0;
            return end;
        }
        i = end + 1;
    }
}

/* One byte outside of strings. */
static void scan_byte(struct key_scan *s, uint64_t at, struct slice piece, size_t i)
{
    switch (piece.p[i]) {
    case '"':
        s->quote_before = s->quote;
        s->quote = at + i;
        s->in_string = ~(uint64_t)0;
        break;
    case '{':
    case '[': s->depth++; break;
    case '}':
    case ']':
        if (--s->depth == 0)
            key_scan_end_object(s, (struct slice){ piece.p + i + 1, piece.n - i - 1 });
        break;
    case ':':
        if (s->depth == 1)
            key_scan_member(s, at + i);
        break;
    case '\\': s->broken = true; break;
    default: break;
    }
}

void key_scan_feed_portable(struct key_scan *s, uint64_t at, struct slice piece)
{
    if (s->ended) {
        key_scan_end_object(s, piece);
        return;
    }
    for (size_t i = 0; i < piece.n && !s->ended && !s->broken; i++) {
        if (!s->in_string) {
            scan_byte(s, at, piece, i);
            continue;
        }
        i = skip_string(s, piece, i);
        if (!s->in_string) {
            s->quote_before = s->quote;
            s->quote = at + i;
        }
    }
}

#if defined(__x86_64__)
key_scan_feed_fn *key_scan_best(void)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("pclmul"))
        return key_scan_feed_portable;
    return __builtin_cpu_supports("avx512bw") ? key_scan_feed_avx512 : key_scan_feed_avx2;
}
#else
key_scan_feed_fn *key_scan_best(void)
{
    return key_scan_feed_portable;
}
#endif

void key_validate_portable(struct key_scan *s, uint64_t at, struct slice object)
{
    key_scan_best()(s, at + 1, (struct slice){ object.p + 1, object.n - 1 });
    if (s->ended && !s->broken)
        s->broken = !json_valid_plain(object);
}

key_validate_fn *key_validate_best(void)
{
#if defined(__x86_64__)
    if (key_scan_best() == key_scan_feed_avx512)
        return key_validate_avx512;
    if (key_scan_best() == key_scan_feed_avx2)
        return key_validate_avx2;
#endif
    return key_validate_portable;
}
