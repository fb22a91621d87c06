#ifndef LITE_BASE_SLICE_H
#define LITE_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lite/base/err.h"

/* Like memmem, but four times as fast on machines with AVX2. Returns the first occurrence of the part in the n bytes,
 * or NULL. An empty part is found at the beginning of at least one byte. */
const char *slice_find(const char *p, size_t n, const char *part, size_t part_n);
/* The same, ignoring the case of ASCII letters in the n bytes. The part must have no capital letters. */
const char *slice_find_folded(const char *p, size_t n, const char *part, size_t part_n);

/* A borrowed run of bytes. It is never NUL-terminated, may contain NULs and broken UTF-8, and is valid only as long
 * as what it points into (a window, a transcript, an arena). Pass it by value. */
struct slice {
    const char *p;
    size_t n;
};

#define SLICE(lit) ((struct slice){ (lit), sizeof(lit) - 1 })
#define SLICE_ARG(s) (int)(s).n, (s).p /* for "%.*s" */

/* For a NUL-terminated text, such as a path. */
static inline struct slice slice_of(const char *text)
{
    return (struct slice){ text, strlen(text) };
}

static inline bool slice_eq(struct slice a, struct slice b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Compares byte by byte, as strcmp does; a text that begins another one is the smaller. */
static inline int slice_compare(struct slice a, struct slice b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int d = n ? memcmp(a.p, b.p, n) : 0; /* an empty text may be a NULL pointer */

    return d ? d : (a.n > b.n) - (a.n < b.n);
}

/* Sorts texts by slice_compare. */
void slice_sort(struct slice *text, size_t n);

static inline bool slice_starts(struct slice s, const char *with)
{
    size_t n = strlen(with);

    /* An empty text may be a NULL pointer. */
    return s.n >= n && (n == 0 || memcmp(s.p, with, n) == 0);
}

/* Returns true if each of the bytes is one of the set. */
static inline bool slice_is_of(struct slice s, const char *set)
{
    size_t n = strlen(set);

    for (size_t i = 0; i < s.n; i++)
        if (!memchr(set, s.p[i], n))
            return false;
    return true;
}

static inline bool slice_has(struct slice s, const char *part)
{
    return slice_find(s.p, s.n, part, strlen(part)) != NULL;
}

/* The same, ignoring the case of ASCII letters; the part has no capital letters. */
static inline bool slice_has_folded(struct slice s, const char *part)
{
    return slice_find_folded(s.p, s.n, part, strlen(part)) != NULL;
}

/* Returns the text without the controls and blanks (bytes up to ' ') at both ends. */
struct slice slice_trim(struct slice s);

/* The value of a hexadecimal digit, or -1. */
int slice_hex_digit(char c);

/* Cuts the next line (without its newline) off the front of *rest. Returns false at the end. A last line without a
 * newline is returned too, with *torn set: its writer may not have finished it. */
static inline bool slice_line(struct slice *rest, struct slice *line, bool *torn)
{
    if (rest->n == 0)
        return false;
    const char *nl = memchr(rest->p, '\n', rest->n);
    size_t len = nl ? (size_t)(nl - rest->p) : rest->n;

    *torn = nl == NULL;
    *line = (struct slice){ rest->p, len };
    rest->p += len + (nl ? 1u : 0u);
    rest->n -= len + (nl ? 1u : 0u);
    return true;
}

/* Cuts the last line off the end of *rest, and returns the same lines as slice_line in reverse order. A CR before the
 * newline stays in the line (in JSON it is white space). */
bool slice_last_line(struct slice *rest, struct slice *line, bool *torn);

/* A set of texts, numbered in the order in which they were added; the caller keeps data that belongs to a text in an
 * array. The texts are borrowed. A zeroed struct is an empty set. */
struct slice_set {
    struct slice *text; /* owned, as is slot */
    uint32_t *slot;
    size_t n, cap, slots;
};

#define SLICE_SET_NONE UINT32_MAX

/* Sets *number to the number of the text, which is added if it is new. ERR_NOMEM. */
MUST_CHECK enum err_code slice_set_add(struct slice_set *set, struct slice text, uint32_t *number);
uint32_t slice_set_find(const struct slice_set *set,
                        struct slice text); /* SLICE_SET_NONE if it is not in the set */
void slice_set_fini(struct slice_set *set);

#endif
