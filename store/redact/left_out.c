#include "store/redact/left_out.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "store/redact/given_value.h"

/* What colours a text, as a terminal gets it or as it is written in JSON and in programs: ESC[0;32m, \u001b[K, \033[m.
 * A bracket is at `at`; returns where the sequence begins and ends, or an empty range. */
static struct slice colour_around(struct slice text, size_t at)
{
    static const char *const escapes[] = { "u001b", "u001B", "x1b", "x1B", "033", "e" };
    size_t from = at, to = at + 1;

    if (at && text.p[at - 1] == '\x1b')
        from--;
    for (size_t i = 0; i < COUNT_OF(escapes) && from == at; i++) {
        const size_t n = strlen(escapes[i]);

        if (at > n && text.p[at - n - 1] == '\\' && memcmp(text.p + at - n, escapes[i], n) == 0)
            from -= n + 1;
    }
    while (from < at && from && text.p[from] == '\\' && text.p[from - 1] == '\\')
        from--;
    while (to < text.n && to - at < 32 && given_is_any(text.p[to], "0123456789;:"))
        to++;
    return from < at && to < text.n && given_is_any(text.p[to], "mK")
               ? (struct slice){ text.p + from, to + 1 - from }
               : (struct slice){ text.p + at, 0 };
}

void without_colours_fini(struct without_colours *w)
{
    buf_fini(&w->text);
    free(w->left_out);
}

enum err_code leave_out_colours(struct slice text, struct without_colours *w)
{
    size_t from = 0;

    for (const char *p = text.p; (p = slice_find(p, (size_t)(text.p + text.n - p), "[", 1)); p++) {
        const struct slice colour = colour_around(text, (size_t)(p - text.p));
        const size_t at = (size_t)(colour.p - text.p);

        if (!colour.n || at < from)
            continue;
        if (!array_reserve(w->left_out, w->cap, w->n + 1))
            return ERR_NOMEM;
        TRY(buf_add(&w->text, (struct slice){ text.p + from, at - from }));
        from = at + colour.n;
        w->left_out[w->n++] = (struct left_out){ w->text.n, from - w->text.n };
    }
    return w->n ? buf_add(&w->text, (struct slice){ text.p + from, text.n - from }) : ERR_OK;
}
