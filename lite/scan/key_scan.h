#ifndef LITE_SCAN_KEY_SCAN_H
#define LITE_SCAN_KEY_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"
#include "lite/io/file.h"

/* The structural scan of one line: it finds where the values of some top-level keys begin, and whether strings and
 * brackets close. It passes every byte once and decodes none, which is why it runs at memory speed. A line may come
 * in pieces, so that a line of any length needs no more memory than a piece.
 *
 * Three engines give the same results on every input: blocks of 64 bytes with CLMUL and AVX-512 or AVX2, and a
 * portable engine that hops from quote to quote with memchr. */

enum { KEY_SCAN_NAMES = 21, KEY_SCAN_NAME_MAX = 63 };

/* The keys to find, sorted by length once for all lines. */
struct key_scan_names {
    const char *name[KEY_SCAN_NAMES]; /* borrowed */
    unsigned n;
    uint32_t of_length[KEY_SCAN_NAME_MAX + 1]; /* bit i: name[i] has this length */
    uint32_t of_first[128];                    /* bit i: name[i] begins with this */
};

/* name must be plain ASCII, at most KEY_SCAN_NAME_MAX long. */
void key_scan_names_add(struct key_scan_names *names, const char *name);

/* Where the bytes of the line are: a part of it is in memory, the rest in the file (NULL if there is no rest). Bytes
 * outside the part are read into `spare`. */
struct key_scan_source {
    struct slice held;
    uint64_t held_at; /* its position in the line */
    const struct file *file;
    int64_t offset; /* the offset of the line in the file */
    struct slice spare;
    uint64_t spare_at;
    char *room; /* KEY_SCAN_SPARE bytes; needed with file only */
};
enum { KEY_SCAN_SPARE = 4096 };

static inline bool key_scan_is_within(struct slice part, uint64_t part_at, uint64_t at, size_t n)
{
    return at >= part_at && at - part_at + n <= part.n;
}

/* Fetches bytes that are not, or not all, in memory. */
struct slice key_scan_source_fetch(struct key_scan_source *src, uint64_t at, size_t n);

/* Returns up to n (at most KEY_SCAN_SPARE) bytes of the line from `at` on; fewer at the end of the file or if it
 * cannot be read. Valid until the next call. */
static inline struct slice key_scan_source_at(struct key_scan_source *src, uint64_t at, size_t n)
{
    if (key_scan_is_within(src->held, src->held_at, at, n))
        return (struct slice){ src->held.p + (at - src->held_at), n };
    return key_scan_source_fetch(src, at, n);
}

/* Returns the first position from `at` on that is not a blank. */
uint64_t key_scan_source_skip_blanks(struct key_scan_source *src, uint64_t at);

struct key_scan {
    const struct key_scan_names *names;
    struct key_scan_source *source;
    uint64_t value[KEY_SCAN_NAMES]; /* after the colon of the last key with this name */
    uint32_t found;                 /* bit i: value[i] is set */
    bool broken;                    /* no JSON object can look like this */
    bool ended;                     /* the object closed; only blanks followed so far */

    /* State of the engines between two pieces. */
    uint32_t depth;
    bool escaped;          /* the next byte is escaped */
    uint64_t in_string;    /* all ones inside a string */
    uint64_t quote_before; /* the last two quotes that were not escaped */
    uint64_t quote;
};

typedef void key_scan_feed_fn(struct key_scan *s, uint64_t at, struct slice piece);

/* Starts after the opening brace of a line. */
void key_scan_begin(struct key_scan *s, const struct key_scan_names *names,
                    struct key_scan_source *source);
key_scan_feed_fn key_scan_feed_portable;
key_scan_feed_fn key_scan_feed_avx2;   /* only if key_scan_best returns it or the next one */
key_scan_feed_fn key_scan_feed_avx512; /* only if key_scan_best returns it */
key_scan_feed_fn *key_scan_best(void);

/* Scans a line that is all in memory, from its opening brace on, at position `at` of the line. The scan is broken
 * unless JSON.parse accepts the line. key_scan_begin must have been called just before. */
typedef void key_validate_fn(struct key_scan *s, uint64_t at, struct slice object);
key_validate_fn key_validate_portable;
/* Only if the scan engine with the same suffix may be used. */
key_validate_fn key_validate_avx2;
key_validate_fn key_validate_avx512;
key_validate_fn *key_validate_best(void);

/* For the engines: called at a colon at the top level (the last two quotes are those of its key), and with the bytes
 * that follow the object. */
void key_scan_member(struct key_scan *s, uint64_t colon);
void key_scan_end_object(struct key_scan *s, struct slice rest);

static inline bool key_scan_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

#endif
