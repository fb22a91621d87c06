#include "lite/json/scan.h"

#include <string.h>

#include "lite/base/simd_block_avx2.h"

/* Returns true if the byte at p is escaped, which it is if an odd number of backslashes precedes
 * it. */
static bool escaped(const char *begin, const char *p)
{
    const char *run = p;

    while (run > begin && run[-1] == '\\')
        run--;
    return (p - run) % 2 != 0;
}

/* Going from one quote to the next is the fastest way through a long text, because quotes are rarer
 * than escapes. */
static const char *hop_to_end(const char *begin, const char *p, const char *end)
{
    for (const char *at = p; at < end; at++) {
        at = memchr(at, '"', (size_t)(end - at));
        if (!at || !escaped(begin, at))
            return at;
    }
    return NULL;
}

#if defined(__x86_64__)
/* The same without a call for each quote. */
WITH_AVX2 static const char *blocks_to_end(const char *p, const char *end)
{
    const __m256i quote = _mm256_set1_epi8('"');
    const char *begin = p;

    for (; end - p >= BLOCK; p += BLOCK) {
        struct simd_block b = block_load(p);
        __m256i low = _mm256_cmpeq_epi8(b.low, quote), high = _mm256_cmpeq_epi8(b.high, quote);

        for (uint64_t quotes = block_bits(low, high); quotes; quotes &= quotes - 1) {
            const char *at = p + __builtin_ctzll(quotes);

            if (!escaped(begin, at))
                return at;
        }
    }
    return hop_to_end(begin, p, end);
}
#endif

const char *scan_long_string_end(const char *p, const char *end)
{
#if defined(__x86_64__)
    if (end - p >= BLOCK && __builtin_cpu_supports("avx2"))
        return blocks_to_end(p, end);
#endif
    return hop_to_end(p, p, end);
}

/* ---- nested values ---- */

/* Goes on behind `depth` open brackets. */
static const char *walk_brackets(const char *p, const char *end, size_t depth)
{
    for (; p < end; p++) {
        switch (*p) {
        case '"':
            p = scan_string_end(p + 1, end);
            if (!p)
                return NULL;
            break;
        case '{':
        case '[': depth++; break;
        case '}':
        case ']':
            if (--depth == 0)
                return p + 1;
            break;
        default: break;
        }
    }
    return NULL;
}

#if defined(__x86_64__)
/* The same a block at a time. Most blocks have too few closing brackets to end the value, or are inside a long string,
 * which is left to the faster search for its end. */
WITH_AVX2 static const char *brackets_in_blocks(const char *p, const char *end)
{
    const char *begin = p;
    uint64_t in_string = 0;
    size_t depth = 0;
    bool escaped = false;

    while (end - p >= BLOCK) {
        struct simd_block b = block_load(p);
        uint64_t slashes = block_equal(b, '\\');
        const bool first_escaped = escaped;
        uint64_t quote = block_equal(b, '"') & ~block_escaped(slashes, BLOCK, &escaped);
        uint64_t inside = block_prefix_xor(quote) ^ in_string, outside = ~inside;

        in_string = -(inside >> 63);
        if (!(outside | quote)) {
            p = blocks_to_end(p + first_escaped, end);
            if (!p)
                return NULL;
            p++;
            in_string = 0;
            escaped = false;
            continue;
        }

        /* Outside of strings a backslash escapes nothing; no JSON has one there. */
        if (slashes & outside)
            return walk_brackets(begin, end, 0);

        uint64_t open = block_bracket(b, '{') & outside, close = block_bracket(b, '}') & outside;
        size_t closes = (size_t)__builtin_popcountll(close);

        if (closes < depth)
            depth += (size_t)__builtin_popcountll(open) - closes;
        else
            for (uint64_t todo = open | close; todo; todo &= todo - 1) {
                depth += todo & -todo & open ? 1 : SIZE_MAX;
                if (!depth)
                    return p + __builtin_ctzll(todo) + 1;
            }
        p += BLOCK;
    }

    if (in_string) {
        p = scan_string_end(p + (escaped && p < end), end);
        if (!p)
            return NULL;
        p++;
    }
    return walk_brackets(p, end, depth);
}
#endif

const char *scan_nested_end(const char *p, const char *end)
{
#if defined(__x86_64__)
    if (end - p >= BLOCK && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul"))
        return brackets_in_blocks(p, end);
#endif
    return walk_brackets(p, end, 0);
}
