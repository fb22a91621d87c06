#include "store/journal/percent.h"

#include <string.h>

static bool is_plain(unsigned char c)
{
    return c >= ' ' && c <= '~' && c != '%';
}

enum err_code percent_encode(struct slice bytes, struct buf *out)
{
    enum err_code rc = ERR_OK;

    out->n = 0;
    while (bytes.n && !rc) {
        size_t n = 0;

        while (n < bytes.n && is_plain((unsigned char)bytes.p[n]))
            n++;
        rc = buf_add(out, (struct slice){ bytes.p, n });
        if (!rc && n < bytes.n)
            rc = buf_addf(out, "%%%02X", (unsigned char)bytes.p[n++]);
        bytes.p += n;
        bytes.n -= n;
    }
    return rc;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool percent_decode(const char *text, struct arena *a, struct slice *out)
{
    char *p = arena_alloc(a, strlen(text) + 1);
    size_t n = 0;

    if (!p)
        return false;
    for (; *text; text++) {
        if (*text != '%') {
            p[n++] = *text;
            continue;
        }
        int hi = hex_digit(text[1]), lo = hi < 0 ? -1 : hex_digit(text[2]);

        if (lo < 0)
            return false;
        p[n++] = (char)(hi * 16 + lo);
        text += 2;
    }
    p[n] = '\0';
    *out = (struct slice){ p, n };
    return true;
}
