#ifndef STORE_REDACT_LEFT_OUT_H
#define STORE_REDACT_LEFT_OUT_H

#include <stddef.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Where a text without its colours goes on: so many bytes were left out before a place of it. */
struct without_colours {
    struct buf text;
    struct left_out {
        size_t at, bytes;
    } * left_out; /* malloc'ed */
    size_t n, cap;
};

/* text remains empty if nothing is left out. */
MUST_CHECK enum err_code leave_out_colours(struct slice text, struct without_colours *w);
void without_colours_fini(struct without_colours *w);

#endif
