#include "tui/text/nearest.h"

#include <string.h>

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t nearest_distance(const char *typed, const char *known)
{
    size_t n = min(strlen(typed), NEAREST_WORD), m = min(strlen(known), NEAREST_WORD);
    size_t row[3][NEAREST_WORD +
                  1]; /* three rows of the table of distances: the last one is current */

    for (size_t j = 0; j <= m; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        const size_t *before = row[(i - 1) % 3], *two_before = row[(i + 1) % 3];
        size_t *now = row[i % 3];

        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t differ = typed[i - 1] != known[j - 1];

            now[j] = min(min(before[j] + 1, now[j - 1] + 1), before[j - 1] + differ);
            if (i > 1 && j > 1 && typed[i - 1] == known[j - 2] && typed[i - 2] == known[j - 1])
                now[j] = min(now[j], two_before[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

size_t nearest_limit(const char *typed)
{
    return strlen(typed) < 4 ? 1 : 2;
}

bool nearest_is_nearer(const char *typed, const char *known, size_t *best)
{
    size_t d = nearest_distance(typed, known);

    if (d > *best)
        return false;
    *best = d - (d > 0);
    return true;
}
