#ifndef STORE_REDACT_REDACT_H
#define STORE_REDACT_REDACT_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Replaces what looks like a secret with REDACTED: in the committed checkpoints of Entire, which are pushed
 * (docs/formats/entire.md 2.7), and in exported sessions.
 *
 * Secrets are recognised by their form: tokens of services (token_form.h), private keys, web tokens, hashes of passwords,
 * credentials in addresses, headers and commands (given_command.h); by a name beside them or above them (given_value.h);
 * what a command printed that prints a secret (printed_calls.h); and runs of letters that are too random to be words.
 * Colours between the letters, and times or numbers before lines, hide none of them, and a string of JSON is read as JSON.
 * Plain hex, UUIDs and words without such a name are not recognised, nor is text in pictures, nor what was encoded or split. */
struct redact_counts;

/* counts may be NULL. */
MUST_CHECK enum err_code redact_text(struct slice text, struct buf *out,
                                     struct redact_counts *counts);
/* Redacts JSON rows line by line; a line that is not JSON is treated as text. Only values are examined, unescaped,
 * and of ids, signatures and images only for known forms. A value without a secret keeps its bytes. */
MUST_CHECK enum err_code redact_json_rows(struct slice rows, struct buf *out,
                                          struct redact_counts *counts);
/* Remembers the secrets of rows without counting or writing them. In rows that are redacted with the same counts later
 * they are replaced where nothing beside them says that they are secret, too. */
MUST_CHECK enum err_code redact_learn(struct slice rows, struct redact_counts *counts);

/* What a person should know who shares a redacted document. */
#define REDACT_NOT_LOOKED_FOR                                                                      \
    "text in pictures, what was encoded or split, and hex, UUIDs and words without a name of a "   \
    "secret beside them"

/* How many secrets were replaced, and of which kinds. Overlapping ones are replaced as one, which is counted under the
 * most specific kind. A zeroed struct has counted nothing. */
struct redact_count {
    const char *kind; /* "github token"; static */
    size_t n;
};

struct redact_counts {
    struct redact_count *count; /* malloc'ed */
    size_t n, cap;
    struct known_values *known; /* of redact_learn; replaced wherever they stand */
    bool learns;
    bool learned; /* redact_learn was called: rows that are redacted later may be newer */
};

size_t redact_counts_total(const struct redact_counts *counts);
void redact_counts_fini(struct redact_counts *counts);

struct secret {
    const char *kind; /* "github token"; static */
    size_t at, n;     /* the range in the text */
};

struct secret_list {
    struct secret *secret; /* by offset; malloc'ed */
    size_t n, cap;
};

/* Adds the secrets that are found by their form, without those that are merely random. */
MUST_CHECK enum err_code redact_find(struct slice text, struct secret_list *list);
/* Adds only what has the form of a token, key or credential, whatever is beside it. */
MUST_CHECK enum err_code redact_find_exact(struct slice text, struct secret_list *list);
/* Adds the random ones too, and sorts all by offset. */
MUST_CHECK enum err_code redact_find_all(struct slice text, struct secret_list *list);
/* As redact_find_all, except that a text in which it found nothing while it learned is not searched again. */
MUST_CHECK enum err_code redact_find_all_once(struct known_values **known, bool learns,
                                              struct slice text, struct secret_list *list);
/* Adds only the random ones. */
MUST_CHECK enum err_code redact_find_random(struct slice text, struct secret_list *list);
extern const char redact_random[]; /* the kind of random ones */

/* Remembers the values of a list that are unlike words and names: seven letters or more, with a digit or a mark. */
MUST_CHECK enum err_code known_values_add(struct known_values **known, struct slice text,
                                          const struct secret_list *list);
/* Adds the places where a remembered value stands as a word. The list remains sorted by offset. */
MUST_CHECK enum err_code known_values_find(const struct known_values *known, struct slice text,
                                           struct secret_list *list);
/* How many values and calls are known; those that are remembered remain. */
size_t known_values_count(const struct known_values *known);
void known_values_free(struct known_values *known); /* NULL is ignored */
/* Remembers the call of a tool that prints a secret. alone: and nothing else. */
MUST_CHECK enum err_code known_calls_add(struct known_values **known, struct slice id, bool alone);
bool known_calls_have(const struct known_values *known, struct slice id, bool *alone);
/* Returns true if one of the newest is named in a row. */
bool known_calls_any_in(const struct known_values *known, struct slice row, bool *alone);

MUST_CHECK enum err_code redact_list_add(struct secret_list *list, const char *kind, size_t at,
                                         size_t n);
void redact_list_sort(struct secret_list *list);
void redact_list_fini(struct secret_list *list);

#endif
