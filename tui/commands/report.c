#include "tui/commands/report.h"

#include <unistd.h>

#include "lite/base/buf.h"
#include "tui/text/clean.h"

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
