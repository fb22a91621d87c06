#include "support/faults/memory.h"

#include <stddef.h>

/* The linker redirects malloc and its relatives here, and our calls to the real ones (--wrap). */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static struct {
    long left; /* allocations that still succeed, + 1; 0: all */
    bool failed;
} memory;

void memory_fail_at(long k)
{
    memory.left = k;
    memory.failed = false;
}

bool memory_failed(void)
{
    return memory.failed;
}

static bool fails(void)
{
    if (memory.left == 0 || (!memory.failed && --memory.left > 0))
        return false;
    memory.left = 1;
    memory.failed = true;
    return true;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}
