#ifndef STORE_SYSTEMS_CLAUDE_LIST_PROMPT_H
#define STORE_SYSTEMS_CLAUDE_LIST_PROMPT_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* What a person asked, as the list shows it (claude.md 2.4): one line, at most 200 UTF-16 units, pasted
 * blocks unwrapped, what the agent wrote in the person's name left out. Texts live in the arena. */
struct prompt {
    struct slice text;    /* .p is NULL: no prompt */
    struct slice command; /* the first slash command met on the way: what stands in for one */
};

/* All add to *out, which starts zeroed, and change only what they find. False without memory. */
MUST_CHECK bool prompt_of_content(struct slice content, struct arena *a, struct prompt *out);
/* The row has to parse. */
MUST_CHECK bool prompt_of_row(struct slice row, struct arena *a, struct prompt *out);
/* The first one of a head window. */
MUST_CHECK bool prompt_first(struct slice head, struct arena *a, struct prompt *out);

/* "Image" or "Document" when the first user row that has one is all there is to say; else empty. */
struct slice prompt_media(struct slice head);

#endif
