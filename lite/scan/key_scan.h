#ifndef LITE_SCAN_KEY_SCAN_H
#define LITE_SCAN_KEY_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"
#include "lite/io/file.h"

/* The structural scan of one line: where the values of some top-level keys begin, and whether strings
 * and brackets close. It looks at every byte once and decodes none, which is why it runs at memory
 * speed. A line may come in pieces, so that one of any length needs no more memory than a piece.
 *
 * Three engines give the same answers on every input: blocks of 64 bytes with CLMUL and AVX-512 or AVX2, and a
 * portable one that hops from quote to quote with memchr. */

enum { KEY_SCAN_NAMES = 21, KEY_SCAN_NAME_MAX = 63 };

/* The keys looked for, sorted out by length once for all lines. */
struct key_scan_names {
    const char *name[KEY_SCAN_NAMES]; /* borrowed */
    unsigned n;
    uint32_t of_length[KEY_SCAN_NAME_MAX + 1]; /* bit i: name[i] has this length */
    uint32_t of_first[128];                    /* bit i: name[i] begins with this */
};

/* name must be plain ASCII, at most KEY_SCAN_NAME_MAX long. */
void key_scan_names_add(struct key_scan_names *names, const char *name);

/* Where the bytes of the line are: a part of it in memory, the rest in the file (NULL: there is no
 * rest). What is asked for outside of the part is read into `spare`. */
struct key_scan_source {
    struct slice held;
    uint64_t held_at; /* its place in the line */
    const struct file *file;
    int64_t offset; /* of the line in the file */
    struct slice spare;
    uint64_t spare_at;
    char *room; /* KEY_SCAN_SPARE bytes; needed with file only */
};
enum { KEY_SCAN_SPARE = 4096 };

static inline bool key_scan_is_within(struct slice part, uint64_t part_at, uint64_t at, size_t n)
{
    return at >= part_at && at - part_at + n <= part.n;
}

/* What is not held, or not all of it. */
struct slice key_scan_source_fetch(struct key_scan_source *src, uint64_t at, size_t n);

/* Up to n (at most KEY_SCAN_SPARE) bytes of the line from `at` on; fewer where the file ends or cannot be
 * read. Valid until the next call. */
static inline struct slice key_scan_source_at(struct key_scan_source *src, uint64_t at, size_t n)
{
    if (key_scan_is_within(src->held, src->held_at, at, n))
        return (struct slice){ src->held.p + (at - src->held_at), n };
    return key_scan_source_fetch(src, at, n);
}

/* The first place from `at` on that holds no blank. */
uint64_t key_scan_source_skip_blanks(struct key_scan_source *src, uint64_t at);

struct key_scan {
    const struct key_scan_names *names;
    struct key_scan_source *source;
    uint64_t value[KEY_SCAN_NAMES]; /* behind the colon of the last key so named */
    uint32_t found;                 /* bit i: value[i] is set */
    bool broken;                    /* no JSON object can look like this */
    bool ended;                     /* the object closed; only blanks followed so far */

    /* The engines' own, between two pieces. */
    uint32_t depth;
    bool escaped;          /* the next byte is */
    uint64_t in_string;    /* all ones inside a string */
    uint64_t quote_before; /* the last two quotes that were not escaped */
    uint64_t quote;
};

typedef void key_scan_feed_fn(struct key_scan *s, uint64_t at, struct slice piece);

/* Starts behind the opening brace of a line. */
void key_scan_begin(struct key_scan *s, const struct key_scan_names *names,
                    struct key_scan_source *source);
key_scan_feed_fn key_scan_feed_portable;
key_scan_feed_fn key_scan_feed_avx2;   /* only where key_scan_best answers it, or the next one */
key_scan_feed_fn key_scan_feed_avx512; /* only where key_scan_best answers it */
/* The fastest engine this machine has. */
key_scan_feed_fn *key_scan_best(void);

/* A line that is all in memory, from its opening brace on, `at` in the line: broken unless JSON.parse
 * accepts it. The scan has just begun. */
typedef void key_validate_fn(struct key_scan *s, uint64_t at, struct slice object);
key_validate_fn key_validate_portable;
key_validate_fn key_validate_avx2; /* only where the scan of that name would run: so the next one */
key_validate_fn key_validate_avx512;
key_validate_fn *key_validate_best(void);

/* For the engines: a colon on the first level (the last two quotes are those of its key), and what
 * follows the object. */
void key_scan_member(struct key_scan *s, uint64_t colon);
void key_scan_end_object(struct key_scan *s, struct slice rest);

static inline bool key_scan_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

#endif
