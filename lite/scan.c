#include "lite/scan.h"

/* The closing quote among the stops of the block at p, or NULL; then *used is how many bytes are done
 * with: one more than the block when it ends in a backslash. */
static const char *quote_in_block(const char *p, uint32_t stops, ptrdiff_t *used)
{
    *used = SCAN_BLOCK;
    while (stops) {
        unsigned at = scan_first(stops);

        if (p[at] == '"')
            return p + at;
        unsigned escaped = p[at] == '\\' ? at + 1 : at;

        if (escaped == SCAN_BLOCK)
            *used = SCAN_BLOCK + 1;
        stops &= ~(((uint32_t)2 << escaped) - 1);
    }
    return NULL;
}

const char *scan_string_end(const char *p, const char *end)
{
    for (ptrdiff_t used; end - p >= SCAN_BLOCK; p += used) {
        const char *quote = quote_in_block(p, scan_block(p), &used);

        if (quote || used > end - p)
            return quote;
    }
    for (; p < end && *p != '"'; p++)
        if (*p == '\\' && ++p == end)
            break;
    return p < end ? p : NULL;
}
