#ifndef STORE_API_FACTS_H
#define STORE_API_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* What a system records about a session beyond the members of its row: token usage, exit reason,
 * attribution, ... A fact has a name for programs and a label for people, so that `info` prints the
 * facts of every system without knowing any of them. */
struct session_fact {
    const char *key;   /* the member of `info --json`: "tokenUsage"; a literal */
    const char *label; /* the line of `info`: "tokens"; a literal; NULL: only in JSON */
    struct slice text; /* for a person; WTF-8, not cleaned for a terminal; empty: only in JSON */
    struct slice json; /* the value, valid JSON; empty: the text is the value */
};

struct session_facts {
    struct arena arena;        /* owns everything */
    struct session_fact *fact; /* in the order in which they are shown */
    size_t n;
};

/* Adds a fact; the texts are copied. One with neither text nor JSON is skipped. */
MUST_CHECK enum err_code session_facts_add(struct session_facts *f, const struct session_fact *fact,
                                           struct err *e);
/* The same for a text or a number. n is also the text. */
MUST_CHECK enum err_code session_facts_text(struct session_facts *f, const char *key,
                                            const char *label, struct slice text, struct err *e);
MUST_CHECK enum err_code session_facts_int(struct session_facts *f, const char *key,
                                           const char *label, int64_t n, struct err *e);
void session_facts_fini(struct session_facts *f);

#endif
