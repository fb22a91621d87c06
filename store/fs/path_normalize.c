#include "store/fs/path_normalize.h"

#include <stdbool.h>
#include <string.h>

static bool is_dots(const char *part, size_t n, size_t dots)
{
    return n == dots + 1 && memcmp(part + 1, "..", dots) == 0;
}

const char *path_normalize(const char *dir, const char *path, struct arena *a)
{
    char *whole =
        path[0] == '/' ? arena_format(a, "%s", path) : arena_format(a, "%s/%s", dir, path);
    char *to = whole;

    for (char *part = whole; part && *part;) {
        char *end = strchrnul(part + 1, '/');
        size_t n = (size_t)(end - part); /* with its slash in front */

        if (is_dots(part, n, 2)) {
            while (to > whole && *--to != '/')
                ;
        } else if (n > 1 && !is_dots(part, n, 1)) {
            memmove(to, part, n);
            to += n;
        }
        part = end;
    }
    if (!whole)
        return NULL;
    if (to == whole)
        *to++ = '/';
    *to = '\0';
    return whole;
}
