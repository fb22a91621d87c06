#ifndef LITE_BASE_ARENA_H
#define LITE_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* An allocator for many small things with one lifetime. An allocation never moves, and all of them are freed together
 * by arena_fini. A zeroed struct is an empty arena. Threads must not share an arena. */
struct arena_block;
struct arena {
    struct arena_block *newest;
    bool failed; /* an allocation failed at least once: check it once after many copies */
};

/* Returns n uninitialised bytes aligned for any type, or NULL if out of memory (the arena stays usable). */
void *arena_alloc(struct arena *a, size_t n);
void *arena_zalloc(struct arena *a, size_t n); /* the same, zeroed */
/* Copies the bytes and adds a NUL, so that .p can be used as a path. .p is NULL only if out of memory, even for an
 * empty input. */
struct slice arena_copy(struct arena *a, struct slice bytes);
/* The same for a NUL-terminated text. NULL is returned for NULL. */
const char *arena_copy_text(struct arena *a, const char *text);
/* Makes room for copies of these texts in one block of exactly their size, for a row that is kept for long. It only saves
 * memory: a lack of it shows when the copies are made. */
void arena_fit(struct arena *a, const struct slice *const text[], size_t n);
/* Makes room for one more item in an array of n items: the array grows at n = 0, 1, 3, 7, ..., and `old` is returned
 * otherwise. New items are zero. The old array stays in the arena, which is cheap because sizes double. Returns NULL
 * if out of memory. */
void *arena_grow(struct arena *a, void *old, size_t n, size_t size);
/* Adds a copy of the bytes to an array of copies. Returns false if out of memory. */
bool arena_add_copy(struct arena *a, struct slice **list, size_t *n, struct slice bytes);
/* The same for NUL-terminated texts. */
bool arena_add_text(struct arena *a, const char ***list, size_t *n, const char *text);
/* Joins texts and adds a NUL. Returns NULL if out of memory. */
char *arena_concat(struct arena *a, const struct slice text[], size_t n);
/* Joins two texts with `between`. If the first one is empty, or if out of memory, the result is the second, which is
 * borrowed. */
struct slice arena_join(struct arena *a, struct slice first, const char *between,
                        struct slice second);
/* printf into the arena, for our own text and for paths. Returns NULL if out of memory. */
char *arena_format(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
void arena_fini(struct arena *a);
/* Frees everything but one block, which is kept for the next round. */
void arena_reset(struct arena *a);

#endif
