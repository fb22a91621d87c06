#define ERR_ITSELF
#include "lite/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static enum err_code err_code_of(int sys)
{
    switch (sys) {
    case ENOENT: return ERR_NOT_FOUND;
    case ENOMEM: return ERR_NOMEM;
    case EWOULDBLOCK: return ERR_LOCKED;
    default: return ERR_IO;
    }
}

bool err_is_exhausted(int sys)
{
    return sys == EMFILE || sys == ENFILE || sys == ENOMEM;
}

static void keep_tail(char *dst, size_t cap, const char *src)
{
    static const char cut[] = "...";
    size_t n = src ? strlen(src) : 0;

    if (n < cap) {
        memcpy(dst, src ? src : "", n + 1);
        return;
    }

    /* It begins with a whole name if there is one. */
    const char *tail = src + n - (cap - sizeof cut), *name = strchr(tail, '/');

    snprintf(dst, cap, "%s%s", cut, name ? name : tail);
}

enum err_code err_sys(struct err *e, const char *path, const char *verb)
{
    int sys = errno;

    if (e) {
        e->code = err_code_of(sys);
        e->sys = sys;
        keep_tail(e->path, sizeof e->path, path);
        snprintf(e->text, sizeof e->text, "%s", verb);
        e->context = (unsigned short)strlen(e->text);
    }
    return err_code_of(sys);
}

enum err_code err_set(struct err *e, enum err_code code, const char *path, const char *fmt, ...)
{
    if (e) {
        va_list ap;

        e->code = code;
        e->sys = 0;
        keep_tail(e->path, sizeof e->path, path);
        va_start(ap, fmt);
        vsnprintf(e->text, sizeof e->text, fmt, ap);
        va_end(ap);
        const char *reason = code == ERR_USAGE ? NULL : strstr(e->text, ": ");

        e->context = (unsigned short)(reason ? reason - e->text : 0);
    }
    return code;
}

enum err_code err_nomem(struct err *e)
{
    return err_set(e, ERR_NOMEM, "", ERR_NOMEM_TEXT);
}

enum err_code err_wrap(struct err *e, enum err_code code, const char *fmt, ...)
{
    if (e) {
        char outer[sizeof e->text];
        va_list ap;

        va_start(ap, fmt);
        vsnprintf(outer, sizeof outer, fmt, ap);
        va_end(ap);
        size_t had = strlen(e->text);

        /* "inner" becomes "outer: inner"; what does not fit is cut from the inner end. */
        char *text = e->text;
        size_t cap = sizeof e->text;
        size_t on = strlen(outer), in = strlen(text), room;

        if (on + 3 >= cap)
            on = cap - 3;
        room = cap - on - 3;
        if (in > room)
            in = room;
        memmove(text + on + 2, text, in);
        memcpy(text, outer, on);
        memcpy(text + on, ": ", 2);
        text[on + 2 + in] = '\0';

        size_t added = strlen(e->text) - had;

        e->context = (unsigned short)(e->context ? e->context + added : strlen(outer));
    }
    return code;
}

enum err_code err_at(struct err *e, enum err_code code, const char *path)
{
    if (e && code && !e->path[0])
        keep_tail(e->path, sizeof e->path, path);
    return code;
}

const char *err_reason(const struct err *e)
{
    return e->sys ? strerror(e->sys) : e->context ? e->text + e->context + 2 : e->text;
}

unsigned long err_format(const struct err *e, char *out, unsigned long cap)
{
    const char *reason = err_reason(e);

    if (e->code == ERR_USAGE) { /* the path is a word that was typed: short, and shown first */
        snprintf(out, cap, "%s%s%s", e->path, e->path[0] ? ": " : "", e->text);
        return 0;
    }
    int n = snprintf(out, cap, "%s%s%.*s%s", reason, e->context ? ": " : "", (int)e->context,
                     e->text, e->path[0] ? ": " : "");

    if (n < 0 || (unsigned long)n >= cap || !e->path[0])
        return 0;
    snprintf(out + n, cap - (unsigned long)n, "%s", e->path);
    return (unsigned long)n;
}
