#include "lite/io/line.h"

bool line_last(struct slice *rest, struct slice *line, bool *torn)
{
    if (rest->n == 0)
        return false;
    bool ended = rest->p[rest->n - 1] == '\n';
    size_t end = rest->n - (ended ? 1 : 0);
    const char *nl = end ? memrchr(rest->p, '\n', end) : NULL;
    size_t start = nl ? (size_t)(nl - rest->p) + 1 : 0;

    *torn = !ended;
    *line = (struct slice){ rest->p + start, end - start };
    rest->n = start;
    return true;
}
