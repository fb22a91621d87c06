#include "lite/base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_CAP = 64 };

enum err_code buf_reserve(struct buf *b, size_t more)
{
    if (more > SIZE_MAX - b->n)
        return ERR_NOMEM;
    size_t need = b->n + more;

    if (need <= b->cap)
        return ERR_OK;
    size_t cap = b->cap ? b->cap : FIRST_CAP;

    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    char *p = realloc(b->p, cap);

    if (!p)
        return ERR_NOMEM;
    b->p = p;
    b->cap = cap;
    return ERR_OK;
}

enum err_code buf_add(struct buf *b, struct slice bytes)
{
    if (bytes.n == 0)
        return ERR_OK;
    enum err_code rc = buf_reserve(b, bytes.n);

    if (rc)
        return rc;
    memcpy(b->p + b->n, bytes.p, bytes.n);
    b->n += bytes.n;
    return ERR_OK;
}

enum err_code buf_add_byte(struct buf *b, char c)
{
    return buf_add(b, (struct slice){ &c, 1 });
}

enum err_code buf_addf(struct buf *b, const char *fmt, ...)
{
    va_list ap, again;
    enum err_code rc = ERR_NOMEM;

    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);

    if (n >= 0 && buf_reserve(b, (size_t)n + 1) == ERR_OK) {
        vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
        rc = ERR_OK;
    }
    va_end(again);
    va_end(ap);
    return rc;
}

const char *buf_cstr(struct buf *b)
{
    if (buf_reserve(b, 1))
        return NULL;
    b->p[b->n] = '\0';
    return b->p;
}

struct slice buf_slice(const struct buf *b)
{
    return (struct slice){ b->p, b->n };
}

void buf_fini(struct buf *b)
{
    free(b->p);
    *b = (struct buf){ 0 };
}
