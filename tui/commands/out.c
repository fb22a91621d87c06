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
#include "tui/text/human.h"

/* Output is read by people, by programs and by terminals that obey escape sequences, and a command
 * may fail in the middle of it. Everything for standard output therefore passes one buffer and one
 * exit:
 *
 *     text or JSON -> buf -> end of the row -> signs escaped -> written
 *
 * `row_at` is where the last whole row ends. A limit and a failure in JSON both return to it, and
 * out_break() closes the brackets that were open there. With a limit, bytes are counted after they
 * were escaped, because an escape is longer. If escaping fails, nothing is written. */

void out_init(struct out *o, int fd)
{
    *o = (struct out){ .fd = fd, .ascii = !clean_locale_is_utf8() && isatty(fd) };
}

void out_fini(struct out *o)
{
    buf_fini(&o->buf);
    buf_fini(&o->after);
}

/* Keeps the first failure. */
static void note_failure(struct out *o, enum err_code rc)
{
    if (rc && !o->err.code)
        err_nomem(&o->err);
}

/* ---- text ---- */

void out_add(struct out *o, struct slice bytes)
{
    if (!o->err.code)
        note_failure(o, buf_add(&o->buf, bytes));
}

/* Most texts fit in the room that is left, and are formatted once. */
void out_addf(struct out *o, const char *fmt, ...)
{
    const size_t room = o->buf.cap - o->buf.n;
    va_list ap, again;

    if (o->err.code)
        return;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(room ? o->buf.p + o->buf.n : NULL, room, fmt, ap);
    enum err_code rc = n < 0 ? ERR_NOMEM : ERR_OK;

    if (!rc && (size_t)n >= room) {
        rc = buf_reserve(&o->buf, (size_t)n + 1);
        if (!rc)
            vsnprintf(o->buf.p + o->buf.n, (size_t)n + 1, fmt, again);
    }
    if (!rc)
        o->buf.n += (size_t)n;
    va_end(again);
    va_end(ap);
    note_failure(o, rc);
}

void out_text(struct out *o, struct slice text)
{
    if (!o->err.code)
        note_failure(o, (o->ascii ? clean_add_ascii : clean_add)(&o->buf, text));
}

void out_line(struct out *o, const char *words, struct slice text)
{
    out_add(o, slice_of(words));
    out_text(o, text);
    out_add(o, SLICE("\n"));
}

void out_style(struct out *o, enum out_style style)
{
    static const char *const sequences[] = {
        [OUT_PLAIN] = "\33[0m", [OUT_AGE] = "\33[2m",    [OUT_BRANCH] = "\33[36m",
        [OUT_TAG] = "\33[35m",  [OUT_FLAGS] = "\33[33m", [OUT_MATCH] = "\33[1;31m",
    };

    if (o->color)
        out_add(o, slice_of(sequences[style]));
}

/* ---- JSON ---- */

struct jsonout *out_json(struct out *o)
{
    o->json.out = &o->buf; /* set each time: the struct may have been copied */
    if (!o->json.rc)
        o->json.rc = o->err.code;
    return &o->json;
}

/* The writer of the value that has this key. */
static struct jsonout *out_value_of(struct out *o, const char *key)
{
    struct jsonout *j = out_json(o);

    if (key)
        jsonout_key(j, key);
    return j;
}

void out_open(struct out *o, const char *key, char bracket)
{
    bool outermost = o->depth++ == 0 && o->rows == 0;
    bool whole = outermost && !o->json_lines && bracket == '{';

    o->ended = o->ended && !outermost;
    if (bracket == '{')
        o->objects |= UINT64_C(1) << (o->depth - 1) % 64;
    else
        o->objects &= ~(UINT64_C(1) << (o->depth - 1) % 64);
    jsonout_open(out_value_of(o, key), bracket);
    if (whole)
        out_int(o, "schemaVersion", OUT_SCHEMA_VERSION);
}

void out_close(struct out *o, char bracket)
{
    o->depth--;
    jsonout_close(out_json(o), bracket);
}

void out_member(struct out *o, const char *key, struct slice text)
{
    jsonout_member(out_json(o), key, text);
}

void out_string(struct out *o, const char *key, const char *text)
{
    if (text)
        out_member(o, key, slice_of(text));
}

void out_int(struct out *o, const char *key, int64_t n)
{
    jsonout_int(out_value_of(o, key), n);
}

void out_bool(struct out *o, const char *key, bool b)
{
    jsonout_bool(out_value_of(o, key), b);
}

void out_bool_if_true(struct out *o, const char *key, bool b)
{
    if (b)
        out_bool(o, key, true);
}

void out_strings(struct out *o, const char *key, const char *const *text, size_t n)
{
    out_open(o, key, '[');
    for (size_t i = 0; i < n; i++)
        jsonout_text(out_json(o), slice_of(text[i]));
    out_close(o, ']');
}

void out_slices(struct out *o, const char *key, const struct slice *text, size_t n)
{
    out_open(o, key, '[');
    for (size_t i = 0; i < n; i++)
        jsonout_text(out_json(o), text[i]);
    out_close(o, ']');
}

void out_end(struct out *o, char bracket)
{
    out_close(o, bracket);
    note_failure(o, o->json.rc);
    out_add(o, SLICE("\n"));
    o->json.comma = false; /* another value may follow on a separate line */
    o->ended = o->rows == 0;
}

void out_json_row(struct out *o)
{
    out_add(o, o->rows++ ? SLICE(",\n") : SLICE("["));
    o->json.comma = false;
}

void out_json_rows_end(struct out *o)
{
    note_failure(o, o->json.rc);
    out_add(o, o->rows ? SLICE("]\n") : SLICE("[]\n"));
    o->ended = true;
}

/* ---- characters that are escaped ---- */

/* Finds the first character to escape, and the text before and after it. Returns false if there is
 * no such character. Broken bytes need no escape: jsonout and clean_add wrote U+FFFD for them. */
static bool find_sign(struct slice text, struct slice *front, struct slice *rest, uint32_t *cp)
{
    *rest = text;
    while (rest->n) {
        /* The bytes at the front that are ASCII other than DEL. */
        size_t plain = 0;

        while (plain + SCAN_BLOCK <= rest->n && !scan_beyond_ascii(rest->p + plain) &&
               !memchr(rest->p + plain, 0x7f, SCAN_BLOCK))
            plain += SCAN_BLOCK;
        while (plain < rest->n && (unsigned char)rest->p[plain] < 0x7f)
            plain++;
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
        if (!rc && cp < 0x10000)
            rc = buf_addf(&escaped, "\\u%04x", (unsigned)cp);
        else if (!rc)
            rc = buf_addf(&escaped, "\\u%04x\\u%04x", 0xD800 + (unsigned)((cp - 0x10000) >> 10),
                          0xDC00 + (unsigned)((cp - 0x10000) & 0x3FF));
        text = rest;
    } while (!rc && find_sign(text, &front, &rest, &cp));
    if (!rc)
        rc = buf_add(&escaped, text);
    buf_fini(rc ? &escaped : &o->buf);
    if (!rc)
        o->buf = escaped;
    return rc;
}

/* ---- writing ---- */

static void note_write_failure(struct out *o, bool closed)
{
    o->buf.n = 0;
    o->closed = closed;
    if (o->err.code)
        return;
    if (o->closed)
        err_set(&o->err, ERR_CANCELLED, "stdout", "the reader of the output is gone");
    else
        err_sys(&o->err, "standard output", "write to");
}

static void write_pending(struct out *o)
{
    size_t done = 0;

    o->begun = o->begun || o->buf.n;
    if (escape_signs(o)) {
        note_failure(o, ERR_NOMEM);
        o->buf.n = 0; /* bytes that could act on the terminal are not written */
    }
    if (o->take && o->buf.n && !o->closed && !o->take(buf_slice(&o->buf), o->take_arg))
        note_write_failure(o, true);
    while (!o->take && done < o->buf.n && !o->closed) {
        ssize_t n = write(o->fd, o->buf.p + done, o->buf.n - done);

        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            note_write_failure(o, errno == EPIPE);
    }
    o->buf.n = 0;
    o->row_at = 0;
}

static void end_row(struct out *o)
{
    o->row_at = o->buf.n;
    o->row_depth = o->depth;
    o->row_objects = o->objects;
}

enum err_code out_flush(struct out *o, struct err *e)
{
    note_failure(o, o->json.rc);
    if (o->err.code && o->wants_json)
        o->buf.n = 0;
    else
        end_row(o);
    write_pending(o);
    if (o->err.code && e)
        *e = o->err;
    return o->err.code;
}

void out_break(struct out *o)
{
    const bool streams = o->rows > 0;

    o->buf.n = o->row_at;
    if (!o->begun || o->ended || (o->err.code && o->err.code != ERR_NOMEM)) {
        o->buf.n = 0;
        return;
    }
    write_pending(o);
    o->err = (struct err){ 0 };
    for (size_t d = o->row_depth; d-- > 0;)
        out_add(o, o->row_objects >> d % 64 & 1 ? SLICE("}") : SLICE("]"));
    if (streams)
        out_add(o, SLICE("]"));
    if (o->buf.n)
        out_add(o, SLICE("\n"));
    write_pending(o);
}

enum err_code out_row(struct out *o, struct err *e)
{
    size_t n;

    note_failure(o, o->json.rc);
    if (o->most) /* what is written counts, and an escape is up to three times as long */
        note_failure(o, escape_signs(o));
    n = o->buf.n - o->row_at;
    if (!o->err.code && o->most && n > o->most - o->bytes) {
        o->buf.n = o->row_at;
        o->rows -= o->rows > 0;
        o->cut = true;
        return err_set(e, ERR_CANCELLED, "", "--max-bytes");
    }
    o->bytes += n;
    o->fitted++;
    if (!o->err.code)
        end_row(o);
    if (o->err.code || o->take || o->buf.n >= OUT_PIECE)
        return out_flush(o, e);
    return ERR_OK;
}

enum err_code out_row_named(struct out *o, struct slice id, struct err *e)
{
    const enum err_code rc = out_row(o, e);

    o->named = true;
    if (o->most && (!rc || (o->cut && !o->fitted))) {
        o->after.n = 0;
        note_failure(o, buf_add(&o->after, id));
    }
    return rc;
}

static void write_line(int fd, const char *raw)
{
    struct buf line = { 0 };
    struct slice text = SLICE("reprise: " ERR_NOMEM_TEXT "\n");
    bool ascii = !clean_locale_is_utf8() && isatty(fd);

    if (buf_add(&line, SLICE("reprise: ")) == ERR_OK &&
        (ascii ? clean_add_ascii : clean_add)(&line, slice_of(raw)) == ERR_OK &&
        buf_add_byte(&line, '\n') == ERR_OK)
        text = buf_slice(&line);
    /* If even this fails, nothing is left to report it to. */
    ssize_t n = write(fd, text.p, text.n);

    (void)n;
    buf_fini(&line);
}

void out_report(int fd, const struct err *e)
{
    char text[1024];

    err_sentence(e, text, sizeof text);
    write_line(fd, text);
}

void out_warn(int fd, const struct err *e)
{
    char text[1024];

    err_format(e, text, sizeof text);
    write_line(fd, text);
}

void out_money(struct out *o, const char *key, double usd)
{
    char text[64];

    snprintf(text, sizeof text, "%.15g", usd);
    jsonout_raw_member(out_json(o), key, slice_of(text));
}
