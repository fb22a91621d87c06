#ifndef TESTS_SUPPORT_GENERATED_ROWS_H
#define TESTS_SUPPORT_GENERATED_ROWS_H

#include <stdint.h>
#include <string.h>

#include "lite/base/buf.h"
#include "support/scratch.h"

/* Rows generated from a seed: well-formed ones in every spelling that JSON allows, and damaged ones. */

struct rng {
    uint64_t state;
};

static inline unsigned rng_roll(struct rng *d, unsigned sides)
{
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return (unsigned)((d->state >> 20) % sides);
}

static inline void rows_put(struct buf *b, const char *text)
{
    scratch_need(buf_add(b, slice_of(text)) == ERR_OK, "memory");
}

static inline const char *rows_pick(struct rng *d, const char *const *from, unsigned n)
{
    return from[rng_roll(d, n)];
}
#define ROWS_PICK(d, from) rows_pick(d, from, sizeof(from) / sizeof *(from))

static inline void rows_blanks(struct buf *b, struct rng *d)
{
    static const char *const blanks[] = { "", "", "", "", " ", "\t", " \r ", "        " };

    rows_put(b, ROWS_PICK(d, blanks));
}

static inline void rows_value(struct buf *b, struct rng *d, int depth)
{
    static const char *const plain[] = {
        "null",
        "false",
        "true",
        "0",
        "-1.5e3",
        "\"user\"",
        "\"assistant\"",
        "\"us\\u0065r\"",
        "\"\"",
        "\"a\\\\\"",
        "\"a\\\\\\\"b\"",
        "\"{[\\\"type\\\":\\\"user\\\"]}\"",
        "\"2026-03-01T10:00:02.000Z\"",
        "\"11111111-2222-4333-8444-555555555555\"",
        "\"11111111-2222-4333-8444-55555555555F\"",
        "\"\xc3\xa9\xf0\x9f\x9a\x80 \\ud83d\\ude80\"",
        "\"a long text that goes beyond one block of sixty-four bytes, and then some more of it\"",
    };
    unsigned kind = depth < 4 ? rng_roll(d, 8) : 7;

    if (kind > 1) {
        rows_put(b, ROWS_PICK(d, plain));
        return;
    }
    rows_put(b, kind ? "{" : "[");
    for (unsigned i = rng_roll(d, 4); i > 0; i--) {
        rows_put(b, kind ? "\"type\":" : "");
        rows_value(b, d, depth + 1);
        rows_put(b, i > 1 ? "," : "");
    }
    rows_put(b, kind ? "}" : "]");
}

static inline void rows_object(struct buf *b, struct rng *d)
{
    static const char *const names[] = {
        "\"type\"", "\"uuid\"",       "\"parentUuid\"", "\"timestamp\"", "\"isMeta\"",
        "\"side\"", "\"t\\u0079pe\"", "\"\\u0075uid\"", "\"message\"",   "\"other \\\" {:\"",
    };

    rows_put(b, "{");
    rows_blanks(b, d);
    for (unsigned i = rng_roll(d, 9); i > 0; i--) {
        rows_put(b, ROWS_PICK(d, names));
        rows_blanks(b, d);
        rows_put(b, ":");
        rows_blanks(b, d);
        rows_value(b, d, 0);
        rows_blanks(b, d);
        rows_put(b, i > 1 ? "," : "");
        rows_blanks(b, d);
    }
    rows_put(b, "}");
}

/* One line, damaged one time in three; never with a newline inside. */
static inline void rows_line(struct buf *b, struct rng *d)
{
    static const char *const hurt[] = {
        "\"", "\\", "{", "}", "]", ":", ",", "x", "\\\"", " ", "\n"
    };
    static const char *const whole[] = { "", "  ", "[1]", "\xef\xbb\xbf{}", "{\"type\":\"user\"",
                                         "7" };
    size_t from = b->n;

    if (rng_roll(d, 12) == 0) {
        rows_put(b, ROWS_PICK(d, whole));
        return;
    }
    if (rng_roll(d, 10) == 0)
        scratch_need(buf_add(b, SLICE("\0\0 \0")) == ERR_OK, "memory");
    rows_object(b, d);
    if (rng_roll(d, 8) == 0)
        rows_put(b, " \r");
    if (rng_roll(d, 3) == 0)
        b->p[from + rng_roll(d, (unsigned)(b->n - from))] = *ROWS_PICK(d, hurt);
}

#endif
