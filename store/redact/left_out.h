#ifndef STORE_REDACT_LEFT_OUT_H
#define STORE_REDACT_LEFT_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* A text without what programs put between its letters and before its lines: colours anywhere, and time stamps or numbers
 * if most lines begin with them. The text remains empty if nothing is left out. */
struct bare_text {
    struct buf text;
    struct left_out {
        size_t at, bytes; /* so many bytes were left out before a place of the text */
    } * left_out;         /* malloc'ed */
    size_t n, cap;
    bool colours, prefixes;
};

MUST_CHECK enum err_code bare_text_make(struct slice text, struct bare_text *bare);
void bare_text_fini(struct bare_text *bare);

#endif
