#include "tui/text/size.h"

#include <stdio.h>
#include <string.h>

void size_text(int64_t bytes, char out[SIZE_TEXT])
{
    static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB", "EB" };
    double n = bytes > 0 ? (double)bytes : 0;
    size_t unit = 0;

    for (; n >= 1023.5 && unit + 1 < sizeof units / sizeof *units; unit++)
        n /= 1024;
    snprintf(out, SIZE_TEXT, unit > 0 && n < 9.95 ? "%.1f %s" : "%.0f %s", n, units[unit]);
}

/* A run of digits at the front; false: there is none, or far too many. */
static bool cut_number(struct slice *rest, int64_t *out)
{
    int64_t n = 0;
    size_t i = 0;

    for (; i < rest->n && rest->p[i] >= '0' && rest->p[i] <= '9'; i++) {
        if (i == 9)
            return false;
        n = n * 10 + (rest->p[i] - '0');
    }
    *rest = (struct slice){ rest->p + i, rest->n - i };
    *out = n;
    return i > 0;
}

bool size_parse(struct slice text, int64_t *bytes)
{
    static const char units[] = "kmgt";
    int64_t n;

    if (!cut_number(&text, &n))
        return false;
    if (text.n > 0 && (text.p[text.n - 1] == 'b' || text.p[text.n - 1] == 'B'))
        text.n--;
    if (text.n == 0) {
        *bytes = n;
        return true;
    }
    const char *unit = text.p[0] ? strchr(units, text.p[0] | 0x20) : NULL;

    if (text.n != 1 || !unit || *unit == '\0' || n > INT64_MAX >> 10 * (unit - units + 1))
        return false;
    *bytes = n << 10 * (unit - units + 1);
    return true;
}
