#ifndef LITE_BASE_PREFETCH_H
#define LITE_BASE_PREFETCH_H

/* Calls for memory that is needed a few steps later. */
static inline void prefetch(const void *at)
{
    __builtin_prefetch(at);
    /* To gcc a function that does only this has no effect, and calls of it are left out. */
    __asm__ volatile("" : : "r"(at));
}

#endif
