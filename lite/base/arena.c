#include "lite/base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
#define ARENA_IS_WATCHED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_IS_WATCHED
#endif
#endif

/* AddressSanitizer sees a block as one allocation. It is told which bytes of it were given out, so that it finds a write
 * past the end of an array here, too. */
#ifdef ARENA_IS_WATCHED
#include <sanitizer/asan_interface.h>
enum { GAP = alignof(max_align_t) };
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)0)
enum { GAP = 0 };
#endif

/* Blocks double: a row of the list fits in the first, a large transcript needs few. */
enum { FIRST_BLOCK = 448, LARGEST_BLOCK = 64 * 1024 };

struct arena_block {
    struct arena_block *older;
    size_t used, cap;
    alignas(max_align_t) char bytes[];
};

/* Returns NULL, for an allocation that is refused. */
static void *fail_alloc(struct arena *a)
{
    a->failed = true;
    return NULL;
}

static struct arena_block *block_new(struct arena *a, size_t cap)
{
    if (cap > SIZE_MAX - sizeof(struct arena_block))
        return fail_alloc(a);
    struct arena_block *b = malloc(sizeof *b + cap);

    if (!b)
        return fail_alloc(a);
    *b = (struct arena_block){ .older = a->newest, .cap = cap };
    ASAN_POISON_MEMORY_REGION(b->bytes, cap);
    a->newest = b;
    return b;
}

static size_t aligned_size(size_t n)
{
    size_t step = alignof(max_align_t);

    return (n + step - 1) / step * step + GAP;
}

void *arena_alloc(struct arena *a, size_t n)
{
    struct arena_block *b = a->newest;

    if (n > SIZE_MAX - alignof(max_align_t) - GAP)
        return fail_alloc(a);
    const size_t room = aligned_size(n);

    if (!b || b->cap - b->used < room) {
        size_t cap = b ? b->cap * 2 : FIRST_BLOCK;

        if (cap > LARGEST_BLOCK)
            cap = LARGEST_BLOCK;
        b = block_new(a, cap < room ? room : cap);
    }
    if (!b)
        return NULL;
    void *p = b->bytes + b->used;

    b->used += room;
    ASAN_UNPOISON_MEMORY_REGION(p, n);
    return p;
}

void arena_fit(struct arena *a, const struct slice *const text[], size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (text[i]->n > LARGEST_BLOCK)
            return;
        sum += aligned_size(text[i]->n + 1);
    }
    if (sum && (!a->newest || a->newest->cap - a->newest->used < sum))
        block_new(a, sum);
}

void *arena_zalloc(struct arena *a, size_t n)
{
    void *p = arena_alloc(a, n);

    return p ? memset(p, 0, n) : NULL;
}

struct slice arena_copy(struct arena *a, struct slice bytes)
{
    char *p = bytes.n < SIZE_MAX ? arena_alloc(a, bytes.n + 1) : fail_alloc(a);

    if (!p)
        return (struct slice){ NULL, 0 };
    if (bytes.n)
        memcpy(p, bytes.p, bytes.n);
    p[bytes.n] = '\0';
    return (struct slice){ p, bytes.n };
}

const char *arena_copy_text(struct arena *a, const char *text)
{
    return text ? arena_copy(a, slice_of(text)).p : NULL;
}

void *arena_grow(struct arena *a, void *old, size_t n, size_t size)
{
    if (n & (n + 1))
        return old;
    if (n > SIZE_MAX / size / 2 - 1)
        return fail_alloc(a);
    void *p = arena_zalloc(a, size * (n * 2 + 1));

    if (p && n)
        memcpy(p, old, n * size);
    return p;
}

bool arena_add_copy(struct arena *a, struct slice **list, size_t *n, struct slice bytes)
{
    struct slice *more = arena_grow(a, *list, *n, sizeof *more), copy = arena_copy(a, bytes);

    if (!more || !copy.p)
        return false;
    *list = more;
    more[(*n)++] = copy;
    return true;
}

bool arena_add_text(struct arena *a, const char ***list, size_t *n, const char *text)
{
    const char **more = arena_grow(a, *list, *n, sizeof *more);

    text = arena_copy_text(a, text);
    if (!more || !text)
        return false;
    *list = more;
    more[(*n)++] = text;
    return true;
}

char *arena_concat(struct arena *a, const struct slice text[], size_t n)
{
    size_t sum = 1;

    for (size_t i = 0; i < n; i++) {
        if (text[i].n > SIZE_MAX - sum)
            return fail_alloc(a);
        sum += text[i].n;
    }
    char *all = arena_alloc(a, sum), *p = all;

    for (size_t i = 0; i < n && all; i++) {
        if (text[i].n)
            memcpy(p, text[i].p, text[i].n);
        p += text[i].n;
    }
    if (all)
        *p = '\0';
    return all;
}

struct slice arena_join(struct arena *a, struct slice first, const char *between,
                        struct slice second)
{
    const struct slice text[] = { first, slice_of(between), second };
    const char *joined = first.n ? arena_concat(a, text, 3) : NULL;

    return joined ? (struct slice){ joined, first.n + text[1].n + second.n } : second;
}

char *arena_format(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    char *p = NULL, most[512]; /* few texts are longer and have to be formatted twice */

    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(most, sizeof most, fmt, ap);

    if (n >= 0)
        p = arena_alloc(a, (size_t)n + 1);
    if (p && (size_t)n < sizeof most)
        memcpy(p, most, (size_t)n + 1);
    else if (p)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    return p;
}

void arena_fini(struct arena *a)
{
    while (a->newest) {
        struct arena_block *older = a->newest->older;

        free(a->newest);
        a->newest = older;
    }
}

void arena_reset(struct arena *a)
{
    struct arena_block *keep = a->newest;

    if (!keep)
        return;
    a->newest = keep->older;
    arena_fini(a);
    *keep = (struct arena_block){ .cap = keep->cap };
    ASAN_POISON_MEMORY_REGION(keep->bytes, keep->cap);
    a->newest = keep;
}
