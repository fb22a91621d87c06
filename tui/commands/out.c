#include "tui/commands/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tui/clean.h"

void out_init(struct out *o, int fd)
{
    *o = (struct out){ .fd = fd };
}

void out_fini(struct out *o)
{
    buf_fini(&o->buf);
}

static enum err_code no_memory(enum err_code rc, struct err *e)
{
    return rc ? err_set(e, rc, "stdout", "write the answer: out of memory") : ERR_OK;
}

enum err_code out_add(struct out *o, struct slice bytes, struct err *e)
{
    return no_memory(buf_add(&o->buf, bytes), e);
}

enum err_code out_addf(struct out *o, struct err *e, const char *fmt, ...)
{
    va_list ap, again;

    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    enum err_code rc = n < 0 ? ERR_NOMEM : buf_reserve(&o->buf, (size_t)n + 1);

    if (!rc) {
        vsnprintf(o->buf.p + o->buf.n, (size_t)n + 1, fmt, again);
        o->buf.n += (size_t)n;
    }
    va_end(again);
    va_end(ap);
    return no_memory(rc, e);
}

enum err_code out_text(struct out *o, struct slice text, struct err *e)
{
    return no_memory(clean_add(&o->buf, text), e);
}

enum err_code out_look(struct out *o, enum out_look look, struct err *e)
{
    static const char *const sequences[] = {
        [OUT_PLAIN] = "\33[0m", [OUT_AGE] = "\33[2m",    [OUT_BRANCH] = "\33[36m",
        [OUT_TAG] = "\33[35m",  [OUT_FLAGS] = "\33[33m",
    };

    return o->color ? out_addf(o, e, "%s", sequences[look]) : ERR_OK;
}

enum err_code out_row(struct out *o, struct err *e)
{
    return o->buf.n < OUT_PIECE ? ERR_OK : out_flush(o, e);
}

static enum err_code write_failed(struct out *o, struct err *e)
{
    o->buf.n = 0;
    if (errno != EPIPE)
        return err_sys(e, "stdout", "write the answer");
    o->closed = true;
    return err_set(e, ERR_CANCELLED, "stdout", "nobody reads the answer any more");
}

enum err_code out_flush(struct out *o, struct err *e)
{
    size_t done = 0;

    if (o->closed)
        return err_set(e, ERR_CANCELLED, "stdout", "nobody reads the answer any more");
    while (done < o->buf.n) {
        ssize_t n = write(o->fd, o->buf.p + done, o->buf.n - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return write_failed(o, e);
        done += (size_t)n;
    }
    o->buf.n = 0;
    return ERR_OK;
}
