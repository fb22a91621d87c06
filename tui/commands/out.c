#include "tui/commands/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "lite/base/utf8.h"
#include "lite/json/scan.h"
#include "tui/text/clean.h"

void out_init(struct out *o, int fd)
{
    *o = (struct out){ .fd = fd, .ascii = !clean_locale_is_utf8() && isatty(fd) };
}

void out_fini(struct out *o)
{
    buf_fini(&o->buf);
}

static enum err_code out_failed(enum err_code rc, struct err *e)
{
    return rc ? err_nomem(e) : ERR_OK;
}

enum err_code out_add(struct out *o, struct slice bytes, struct err *e)
{
    return out_failed(buf_add(&o->buf, bytes), e);
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
    return out_failed(rc, e);
}

enum err_code out_text(struct out *o, struct slice text, struct err *e)
{
    return out_failed(o->ascii ? clean_add_ascii(&o->buf, text) : clean_add(&o->buf, text), e);
}

enum err_code out_style(struct out *o, enum out_style look, struct err *e)
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

/* ---- what may not leave as itself ---- */

static enum err_code add_unit(struct buf *out, uint32_t unit)
{
    return buf_addf(out, "\\u%04x", (unsigned)unit);
}

static enum err_code add_escaped(struct buf *out, uint32_t cp)
{
    if (cp < 0x10000)
        return add_unit(out, cp);
    enum err_code rc = add_unit(out, 0xD800 + ((cp - 0x10000) >> 10));

    return rc ? rc : add_unit(out, 0xDC00 + ((cp - 0x10000) & 0x3FF));
}

/* How many bytes at the front are ASCII without DEL. */
static size_t ascii_front(struct slice text)
{
    size_t n = 0;

    while (n + SCAN_BLOCK <= text.n && !scan_beyond_ascii(text.p + n) &&
           !memchr(text.p + n, 0x7f, SCAN_BLOCK))
        n += SCAN_BLOCK;
    while (n < text.n && (unsigned char)text.p[n] < 0x7f)
        n++;
    return n;
}

/* The first character that is escaped: where it begins, and what follows; false when there is none. Broken bytes are
 * nothing that a terminal acts on: jsonout and clean put U+FFFD for them. */
static bool find_sign(struct slice text, struct slice *front, struct slice *rest, uint32_t *cp)
{
    *rest = text;
    while (rest->n) {
        size_t plain = ascii_front(*rest);

        *rest = (struct slice){ rest->p + plain, rest->n - plain };
        if (rest->n == 0)
            return false;
        *front = (struct slice){ text.p, text.n - rest->n };
        *cp = utf8_next(rest, true);
        if (clean_is_sign(*cp))
            return true;
    }
    return false;
}

static enum err_code escape_signs(struct out *o)
{
    struct slice front, rest, text = buf_slice(&o->buf);
    struct buf escaped = { 0 };
    enum err_code rc = ERR_OK;
    uint32_t cp;

    if (o->raw || !find_sign(text, &front, &rest, &cp))
        return ERR_OK;
    do {
        rc = buf_add(&escaped, front);
        if (!rc)
            rc = add_escaped(&escaped, cp);
        text = rest;
    } while (!rc && find_sign(text, &front, &rest, &cp));
    if (!rc)
        rc = buf_add(&escaped, text);
    buf_fini(rc ? &escaped : &o->buf);
    if (!rc)
        o->buf = escaped;
    return rc;
}

static enum err_code write_failed(struct out *o, struct err *e)
{
    o->buf.n = 0;
    if (errno != EPIPE)
        return err_sys(e, "stdout", "write the answer");
    o->closed = true;
    return err_set(e, ERR_CANCELLED, "stdout", "the reader of the output is gone");
}

enum err_code out_flush(struct out *o, struct err *e)
{
    size_t done = 0;

    if (o->closed)
        return err_set(e, ERR_CANCELLED, "stdout", "the reader of the output is gone");
    enum err_code rc = escape_signs(o);

    if (rc)
        return out_failed(rc, e);
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

void out_report(int fd, const struct err *e)
{
    char raw[512];
    struct buf line = { 0 };
    struct slice text = SLICE("reprise: out of memory\n");

    err_format(e, raw, sizeof raw);
    bool ascii = !clean_locale_is_utf8() && isatty(fd);

    if (buf_add(&line, SLICE("reprise: ")) == ERR_OK &&
        (ascii ? clean_add_ascii : clean_add)(&line, slice_of(raw)) == ERR_OK &&
        buf_add_byte(&line, '\n') == ERR_OK)
        text = buf_slice(&line);
    /* There is nobody left to tell when even this fails. */
    ssize_t n = write(fd, text.p, text.n);

    (void)n;
    buf_fini(&line);
}
