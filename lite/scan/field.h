#ifndef LITE_SCAN_FIELD_H
#define LITE_SCAN_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "lite/scan/key_search.h"

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
