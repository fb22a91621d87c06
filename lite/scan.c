#include "lite/scan.h"

#include <string.h>

/* Is the byte at p escaped? So it is when an odd number of backslashes stands before it. */
static bool escaped(const char *begin, const char *p)
{
    const char *run = p;

    while (run > begin && run[-1] == '\\')
        run--;
    return (p - run) % 2 != 0;
}

const char *scan_string_end(const char *p, const char *end)
{
    /* Keys and short values end in the first block. */
    if (end - p >= SCAN_BLOCK) {
        uint32_t stops = scan_block(p);

        if (stops && p[scan_first(stops)] == '"')
            return p + scan_first(stops);
    }
    /* In a long text quotes are rarer than escapes: from one to the next is the fastest way. */
    for (const char *at = p; at < end; at++) {
        at = memchr(at, '"', (size_t)(end - at));
        if (!at || !escaped(p, at))
            return at;
    }
    return NULL;
}
