#ifndef LITE_BASE_ARENA_H
#define LITE_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Many small things with one lifetime: what is allocated stays where it is until arena_fini, and is
 * never freed alone. A zeroed struct is an empty arena. Not for sharing between threads. */
struct arena_block;
struct arena {
    struct arena_block *newest;
    bool failed; /* memory was refused at least once: many copies can be asked about together */
};

/* n bytes aligned for any type, uninitialised; NULL without memory (the arena stays usable). */
void *arena_alloc(struct arena *a, size_t n);
void *arena_zalloc(struct arena *a, size_t n); /* all zero */
/* A copy of the bytes, NUL-terminated after n (so .p may serve as a path). .p is NULL without memory,
 * also for an empty input that could not be copied. */
struct slice arena_copy(struct arena *a, struct slice bytes);
/* The same for a text of ours or a path; NULL for NULL. */
const char *arena_copy_text(struct arena *a, const char *text);
/* Room for one more in an array of n things: it grows at n = 0, 1, 3, 7, ... and answers `old` otherwise. The old
 * array stays in the arena, which doubling keeps small. New places are zero. NULL without memory. */
void *arena_grow(struct arena *a, void *old, size_t n, size_t size);
/* Texts one after the other, NUL-terminated. NULL without memory. */
char *arena_concat(struct arena *a, const struct slice text[], size_t n);
/* printf into the arena: for our own text and for paths. NULL without memory. */
char *arena_format(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
void arena_fini(struct arena *a);
/* Forgets everything but keeps one block for the next round. */
void arena_reset(struct arena *a);

#endif
