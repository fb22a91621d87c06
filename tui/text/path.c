#include "tui/text/path.h"

#include <string.h>

struct slice path_short(struct slice path, struct slice home, char *out, size_t cap)
{
    if (home.n < 2 || path.n < home.n || memcmp(path.p, home.p, home.n) != 0)
        return path;
    size_t rest = path.n - home.n;

    if ((rest > 0 && path.p[home.n] != '/') || rest + 1 > cap)
        return path;
    out[0] = '~';
    memcpy(out + 1, path.p + home.n, rest);
    return (struct slice){ out, rest + 1 };
}

struct slice path_last(struct slice path)
{
    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    for (size_t i = path.n; i-- > 0;)
        if (path.p[i] == '/' && path.n > 1)
            return (struct slice){ path.p + i + 1, path.n - i - 1 };
    return path;
}
