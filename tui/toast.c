#include "tui/toast.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lite/time.h"

enum { SHOWN_MS = 6000 };

static void say(struct toast *t, int64_t now_ms, const char *fmt, va_list args)
{
    vsnprintf(t->text, sizeof t->text, fmt, args);
    t->error = t->note = false;
    t->until_ms = now_ms + SHOWN_MS;
}

void toast_say(struct toast *t, int64_t now_ms, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(t, now_ms, fmt, args);
    va_end(args);
}

void toast_note(struct toast *t, int64_t now_ms, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(t, now_ms, fmt, args);
    va_end(args);
    t->note = true;
}

void toast_error(struct toast *t, const struct err *e)
{
    err_format(e, t->text, sizeof t->text);
    t->error = true;
}

void toast_error_text(struct toast *t, struct slice text)
{
    size_t n = text.n < sizeof t->text ? text.n : sizeof t->text - 1;

    memcpy(t->text, text.p, n);
    t->text[n] = '\0';
    t->error = true;
}

void toast_read(struct toast *t)
{
    t->text[0] = '\0';
}

void toast_tick(struct toast *t, int64_t now_ms)
{
    if (!t->error && t->text[0] && now_ms >= t->until_ms)
        t->text[0] = '\0';
}

int64_t toast_wake_ms(const struct toast *t)
{
    return t->text[0] && !t->error ? t->until_ms : TIME_NONE;
}

bool toast_draw(const struct toast *t, struct frame *f, struct rect r)
{
    if (!t->text[0])
        return false;
    enum style style = t->error ? STYLE_ERROR : t->note ? STYLE_TEXT : STYLE_OK;
    const char *sign = t->error  ? (f->ascii ? "! " : "✗ ")
                       : t->note ? (f->ascii ? "- " : "· ")
                                 : (f->ascii ? "+ " : "✓ ");
    int x = r.x + 1;

    x += frame_puts(f, r.y, x, r.w - 1, style, sign);
    frame_text_cut(f, r.y, x, r.x + r.w - x, style, (struct slice){ t->text, strlen(t->text) });
    return true;
}
