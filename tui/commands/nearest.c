#include "tui/commands/nearest.h"

#include <string.h>

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t option_distance(const char *typed, const char *known)
{
    size_t n = min(strlen(typed), OPTION_WORD), m = min(strlen(known), OPTION_WORD);
    size_t row[3][OPTION_WORD + 1]; /* of the table of distances: two before, before, this */

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

size_t option_distance_limit(const char *typed)
{
    return strlen(typed) < 4 ? 1 : 2;
}
