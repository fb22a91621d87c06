#ifndef STORE_REDACT_TOKEN_FORM_H
#define STORE_REDACT_TOKEN_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/slice.h"
#include "store/redact/front_letters.h"

/* What the tokens of services look like, as data: written from the services' own documentation and from what gitleaks,
 * trufflehog and the secret scanning of GitHub say that they recognise. The tests make a token of each form. */

enum letters {
    LETTERS_DIGIT = 1 << 0,  /* 0-9 */
    LETTERS_HEX = 1 << 1,    /* 0-9 a-f A-F */
    LETTERS_UPPER = 1 << 2,  /* A-Z 0-9 */
    LETTERS_WORD = 1 << 3,   /* A-Z a-z 0-9 */
    LETTERS_LOW = 1 << 4,    /* _ */
    LETTERS_DASH = 1 << 5,   /* - */
    LETTERS_DOT = 1 << 6,    /* . */
    LETTERS_BASE64 = 1 << 7, /* + / = */
    LETTERS_MARKS = 1 << 8,  /* : ~ @ % ! */
    LETTERS_URL = LETTERS_WORD | LETTERS_LOW | LETTERS_DASH,
};

extern const unsigned short letters_of[256]; /* the sets that contain a byte */

static inline bool letters_have(unsigned letters, char c)
{
    return letters_of[(unsigned char)c] & letters;
}

/* Returns how many of them follow; at most `most`. */
size_t letters_run(struct slice text, size_t at, unsigned letters, size_t most);

/* `front`, and at least `least` letters after it. The whole run belongs to the token, because a longer one is rather a
 * newer form of the token than ordinary text. */
struct token_form {
    const char *front;
    unsigned letters;
    unsigned least;
    const char *kind; /* "github token" */
};

extern const struct token_form token_forms[]; /* sorted by the front */
extern const size_t token_forms_n;

/* The token whose front or middle is at a place, and that begins at `from` or later; n 0: none. */
struct token_found {
    const char *kind;
    size_t at, n;
};
extern const struct front_letters token_fronts[128];

/* The first letters of the middles. */
static inline bool token_may_be_middle(char c)
{
    switch (c) {
    case '%':
    case '-':
    case '.':
    case ':':
    case 'J':
    case 'N':
    case 'Q':
    case 'T':
    case '_':
    case '|': return true;
    default: return false;
    }
}

/* Returns false if neither the front nor the middle of a token can be at a place. */
static inline bool token_may_be_at(struct slice text, size_t at)
{
    return token_may_be_middle(text.p[at]) || text.n - at < 3 ||
           front_may_be(token_fronts, text.p + at);
}

struct token_found token_find(struct slice text, size_t at, size_t from);

/* Returns true if a word can begin at a place: after a letter none can, except after the last letter of an escape, as in
 * \n, \u003d, %3D and ESC[32m. */
bool token_may_begin(struct slice text, size_t at);
/* Returns true if the letters look as if a machine had chosen them: unlike words, names and version numbers. */
bool token_is_random(struct slice text);

/* How many digits there are. *changes: how often letters and digits follow each other. */
size_t letters_count_digits(struct slice v, size_t *changes);

#endif
