#include "tui/size.h"

#include <stdio.h>

void size_text(int64_t bytes, char out[SIZE_TEXT])
{
    static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB", "EB" };
    double n = bytes > 0 ? (double)bytes : 0;
    size_t unit = 0;

    for (; n >= 1023.5 && unit + 1 < sizeof units / sizeof *units; unit++)
        n /= 1024;
    snprintf(out, SIZE_TEXT, unit > 0 && n < 9.95 ? "%.1f %s" : "%.0f %s", n, units[unit]);
}
