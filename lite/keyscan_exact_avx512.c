#include "lite/keyscan.h"

#if defined(__x86_64__)

#include "lite/block_avx512.h"
#include "lite/exact_blocks.h"

WITH_BLOCKS void keyscan_exact_avx512(struct keyscan *s, uint64_t at, struct slice object)
{
    exact_blocks(s, at, object);
}

#endif
