#include "tui/commands/report.h"

#include <string.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "store/journal/change.h"
#include "tui/commands/command.h"
#include "tui/text/clean.h"

int report_exit(enum err_code rc)
{
    switch (rc) {
    case ERR_OK: return 0;
    case ERR_NOMEM:
    case ERR_IO: return 1;
    case ERR_USAGE: return 2;
    case ERR_NOT_FOUND: return 3;
    case ERR_LOCKED:
    case ERR_STALE:
    case ERR_UNSAFE:
    case ERR_UNSUPPORTED: return 4;
    case ERR_FORMAT: return 5;
    case ERR_CANCELLED: return 130;
    }
    return 1;
}

void report_line(int fd, const struct err *e)
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

void report_interrupted(const struct invocation *in)
{
    size_t n = change_count_interrupted(&in->world->env);
    struct err e;

    if (n == 0)
        return;
    err_set(&e, ERR_STALE, "", "%s not finished; reprise log finishes or undoes %s",
            n == 1 ? "an interrupted change is" : "interrupted changes are",
            n == 1 ? "it" : "them");
    report_line(in->err_fd, &e);
}
