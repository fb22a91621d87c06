#ifndef LITE_BASE_SLICE_H
#define LITE_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lite/base/find.h"

/* A borrowed run of bytes. Never NUL-terminated, may hold NULs and broken UTF-8, and is valid only
 * as long as whatever it points into (a window, a transcript, an arena). Pass it by value. */
struct slice {
    const char *p;
    size_t n;
};

#define SLICE(lit) ((struct slice){ (lit), sizeof(lit) - 1 })
#define SLICE_ARG(s) (int)(s).n, (s).p /* for "%.*s" */

/* A text of ours, or a path. */
static inline struct slice slice_of(const char *text)
{
    return (struct slice){ text, strlen(text) };
}

static inline bool slice_eq(struct slice a, struct slice b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool slice_starts(struct slice s, const char *with)
{
    size_t n = strlen(with);

    return s.n >= n && memcmp(s.p, with, n) == 0;
}

static inline bool slice_has(struct slice s, const char *part)
{
    return find_bytes(s.p, s.n, part, strlen(part)) != NULL;
}

/* Cuts the next line (without its newline) off the front of *rest. A last line that lacks its
 * newline is still returned, with *torn set: a writer may be in the middle of it. */
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

#endif
