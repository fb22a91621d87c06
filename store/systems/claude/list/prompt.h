#ifndef STORE_SYSTEMS_CLAUDE_LIST_PROMPT_H
#define STORE_SYSTEMS_CLAUDE_LIST_PROMPT_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* A person's prompt as the list shows it (claude.md 2.4): one line of at most 200 UTF-16 units,
 * with pasted blocks unwrapped. Texts that the agent wrote in the person's name are skipped. Texts
 * are in the arena. */
struct prompt {
    struct slice text;    /* .p is NULL: no prompt */
    struct slice command; /* the first slash command before it, shown if there is no prompt */
};

/* Each of these adds what it finds to *out, which is initially zeroed. All return false if out of memory. */

/* The content of a message: a string, or an array of blocks. */
MUST_CHECK bool prompt_of_content(struct slice content, struct arena *a, struct prompt *out);
/* A row that parses. */
MUST_CHECK bool prompt_of_row(struct slice row, struct arena *a, struct prompt *out);
/* The first prompt in a head window. */
MUST_CHECK bool prompt_first(struct slice head, struct arena *a, struct prompt *out);

/* The text between an opening and the next closing tag, both of which are given with their brackets. */
bool prompt_between(struct slice text, const char *open, const char *close, struct slice *inner);
/* The prompt, else the command. */
struct slice prompt_or_command(const struct prompt *prompt);
/* "Image" or "Document" if the first user row with one of them has nothing else to show; else empty. */
struct slice prompt_media(struct slice head);

#endif
