#include "lite/scan/key_scan.h"

#if defined(__x86_64__)

#include "lite/base/simd_block_avx2.h"
#include "lite/scan/key_scan_kernel.h"

WITH_BLOCKS void key_scan_feed_avx2(struct key_scan *s, uint64_t at, struct slice piece)
{
    scan_blocks(s, at, piece);
}

WITH_BLOCKS void key_validate_avx2(struct key_scan *s, uint64_t at, struct slice object)
{
    validate_blocks(s, at, object);
}

#endif
