#include "tui/widgets/toast.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/time.h"
#include "tui/text/human.h"
#include "tui/widgets/styled_text.h"

enum { SHOWN_MS = 6000, LEAST_OF_PATH = 12, MOST_LINES = 4, SIGN_W = 3 };

static void set_toast(struct toast *t, int64_t now_ms, const char *fmt, va_list args)
{
    vsnprintf(t->text, sizeof t->text, fmt, args);
    t->error = t->note = t->absorbs = false;
    t->until_ms = now_ms + SHOWN_MS;
}

void toast_info(struct toast *t, int64_t now_ms, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    set_toast(t, now_ms, fmt, args);
    va_end(args);
}

void toast_note(struct toast *t, int64_t now_ms, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    set_toast(t, now_ms, fmt, args);
    va_end(args);
    t->note = true;
}

void toast_error(struct toast *t, const struct err *e)
{
    struct slice path = err_sentence(e, t->text, sizeof t->text);

    t->path = path.n ? (size_t)(path.p - t->text) : 0;
    t->path_n = path.n;
    t->error = true;
    t->absorbs = false;
}

void toast_error_text(struct toast *t, struct slice text)
{
    size_t n = text.n < sizeof t->text ? text.n : sizeof t->text - 1;

    memcpy(t->text, text.p, n);
    t->text[n] = '\0';
    t->path_n = 0;
    t->error = true;
    t->absorbs = false;
}

void toast_no_memory(struct toast *t)
{
    toast_error_text(t, SLICE(ERR_NOMEM_TEXT));
}

bool toast_dismiss(struct toast *t)
{
    bool shown = t->text[0] != '\0';

    t->text[0] = '\0';
    return shown;
}

void toast_tick(struct toast *t, int64_t now_ms)
{
    if (!t->error && !t->absorbs && t->text[0] && now_ms >= t->until_ms)
        t->text[0] = '\0';
}

int64_t toast_wake_ms(const struct toast *t)
{
    return t->text[0] && !t->error && !t->absorbs ? t->until_ms : TIME_NONE;
}

/* The columns that are left for the path, if it has to be cut for everything else to fit in one line. The name of the file
 * is more useful than the directories that all files have in common, so a long path is cut in the middle. 0: it is not cut. */
static int cut_path_width(const struct toast *t, int w)
{
    int whole = frame_width(slice_of(t->text));
    int path = frame_width((struct slice){ t->text + t->path, t->path_n });

    return whole > w && path > 0 && w - (whole - path) >= LEAST_OF_PATH ? w - (whole - path) : 0;
}

int toast_height(const struct toast *t, int w)
{
    int lines = cut_path_width(t, w - SIGN_W) ? 1 : text_wrap_height(slice_of(t->text), w - SIGN_W);

    return lines < 1 ? 1 : lines > MOST_LINES ? MOST_LINES : lines;
}

bool toast_draw(const struct toast *t, struct frame *f, struct rect r)
{
    if (!t->text[0])
        return false;
    enum style style = t->error ? STYLE_ERROR : t->note ? STYLE_TEXT : STYLE_OK;
    const char *sign = t->error  ? (f->ascii ? "!" : "✗")
                       : t->note ? (f->ascii ? "-" : "·")
                                 : (f->ascii ? "+" : "✓");
    struct rect in = { r.y, r.x + SIGN_W, r.h, r.w - SIGN_W };

    frame_puts(f, r.y, r.x + 1, 1, style, sign);
    if (cut_path_width(t, in.w)) {
        struct slice path = { t->text + t->path, t->path_n };
        int used = frame_text(f, in.y, in.x, in.w, style, (struct slice){ t->text, t->path });

        used += frame_text_middle(f, in.y, in.x + used, cut_path_width(t, in.w), style, path);
        frame_text(f, in.y, in.x + used, in.w - used, style, slice_of(path.p + path.n));
    } else
        text_wrap_draw(f, in, style, slice_of(t->text));
    return true;
}
