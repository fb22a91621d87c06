#ifndef LITE_SCAN_FIELD_H
#define LITE_SCAN_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"

/* ---- key search (key_search.c) ---- */

/* Looks for several keys of JSON rows at once ("tag": "type":"tag" {"parentUuid":), backwards from the end of the
 * bytes, so that a window is searched for all its metadata in one pass.
 *
 * For most bytes the only test is whether a quote follows the last two bytes of a key, as far as the low halves of these
 * bytes tell, at 64 positions at a time on machines with AVX2. The four bytes that end with the quote, and two bytes of
 * the value, then rule out most of these places. So a needle must contain a quote followed by a colon, with at least three
 * bytes before it, the last two in ASCII. No needle may be a prefix of another, and needles with the same pair must begin
 * at the same distance from it. */
enum { KEY_SEARCH_MAX = 24, KEY_SEARCH_MIN_BYTES = 8, KEY_SEARCH_TABLE = 256 };
enum {
    KEY_SEARCH_BLOCKS = 64,
    KEY_SEARCH_BATCH_BYTES = 64 * KEY_SEARCH_BLOCKS,
    KEY_SEARCH_HALF = 16
};

struct key_search_set {
    struct slice needle[KEY_SEARCH_MAX]; /* borrowed */
    uint64_t back[KEY_SEARCH_MAX];       /* their last eight bytes */
    uint8_t quote[KEY_SEARCH_MAX];       /* where the quote before the first colon of a needle is */
    uint8_t next[KEY_SEARCH_MAX];        /* another needle with the same hash */
    uint8_t bucket[KEY_SEARCH_MAX];      /* a bit, the same for needles with the same hash */
    size_t n;
    uint8_t first[KEY_SEARCH_TABLE]; /* by hash of the four bytes that end with the quote */
    /* by the same hash: a bit for each hash of the value's bytes that can follow */
    uint64_t may[KEY_SEARCH_TABLE];
};

struct key_search;
typedef bool key_search_find_fn(struct key_search *w);
/* The engines that search for places; all lead to the same needles. The AVX2 engine may only be used if
 * key_search_find_best returns it. */
key_search_find_fn key_search_find_portable, key_search_find_avx2;
key_search_find_fn *key_search_find_best(void);

/* A search under way. */
struct key_search {
    const struct key_search_set *set;
    key_search_find_fn *find; /* finds places; the fastest engine of the machine */
    struct slice text;
    size_t base;                    /* places from here on were already searched */
    uint32_t off;                   /* bit i: needle i is ignored */
    uint64_t may[KEY_SEARCH_TABLE]; /* `may` of the set, without ignored needles */
    /* the buckets of the needles, by the low halves of the last byte of the key and of the one before */
    uint8_t last[KEY_SEARCH_HALF], before[KEY_SEARCH_HALF];
    /* places after base that were not tried yet, in blocks of 64 bytes; a bit of `some` for each block that has any */
    uint64_t some, place[KEY_SEARCH_BLOCKS];
};

void key_search_set_init(struct key_search_set *set, const struct slice needles[], size_t n);
/* Both must outlive the search. */
void key_search_begin(struct key_search *w, const struct key_search_set *set, struct slice text);
/* Finds the last needle before those found so far: its place and its number. */
bool key_search_next(struct key_search *w, size_t *at, size_t *which);
/* Ignores this needle from here on. */
void key_search_ignore(struct key_search *w, size_t which);

/* ---- fields (field.c) ---- */

/* How a value is found in a window of JSON rows without parsing the rows. Each system has a table of fields; one
 * backward pass over the window finds all of them.
 *
 * FIELD_ROW: the last row that parses and whose top-level `key` is a string (and whose `type` is the given one)
 *   has the value; an empty string counts. Only spellings without blanks around the colon are found.
 * FIELD_LOOSE: also finds `"type": "t"` with one blank. In a row that does not parse, the text after the last
 *   {"type":"t" is tried, so that an entry glued to a torn row is not lost.
 * FIELD_RAW: the last terminated "key":"value" (one blank allowed), nested or not.
 * FIELD_SEEN: nothing is parsed; each occurrence is passed to the caller, the last one first, until it has enough. */
enum field_kind { FIELD_ROW, FIELD_LOOSE, FIELD_RAW, FIELD_SEEN };

struct field {
    enum field_kind kind;
    const char *key;  /* for FIELD_SEEN: the text to look for, as it is in the row */
    const char *type; /* for FIELD_ROW (may be NULL) and FIELD_LOOSE */
};

struct field_value {
    bool found;
    struct slice text; /* decoded; in the arena or in the window */
    struct slice row;  /* the row that has it; not for FIELD_RAW */
};

enum { FIELD_MAX = 20, FIELD_TEXT = 48 };

/* How one field is spelled in a row. */
struct field_spelling {
    char key[FIELD_TEXT];    /* "k": */
    char type[FIELD_TEXT];   /* "type":"t" */
    char spaced[FIELD_TEXT]; /* "type": "t" */
    char glued[FIELD_TEXT];  /* {"type":"t" */
};

/* It contains pointers into itself and must not be moved. */
struct field_set {
    const struct field *field; /* borrowed */
    size_t n;
    struct field_spelling spelling[FIELD_MAX];
    struct key_search_set needles;
    uint8_t owner[KEY_SEARCH_MAX]; /* needle -> field */
};

/* Prepares a table for any number of passes, on any number of threads. */
void field_set_init(struct field_set *set, const struct field fields[], size_t n);

/* Called for each occurrence of a FIELD_SEEN (field_row returns its row). Return true if no more are needed. */
typedef bool field_seen_fn(size_t field, struct slice window, size_t at, void *arg);

/* values has one element for each field, and all are set. Returns false if out of memory. */
bool field_set_last(const struct field_set *set, struct slice window, struct arena *a,
                    struct field_value values[], field_seen_fn *seen, void *arg);

/* Finds the first "key":"value" of the window, nested or not. If these bytes do not contain one, or
 * it does not end in the window, the first "key": "value" is used, unless the window is only a part
 * (!whole) of what must be searched first. text->p is NULL if nothing is found. Returns false if
 * out of memory. */
bool field_first(struct slice window, bool whole, const char *key, struct arena *a,
                 struct slice *text);

/* Returns the row around a place in a window, without its newline. */
struct slice field_row(struct slice window, size_t at);

#endif
