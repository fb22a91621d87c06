#ifndef STORE_REDACT_SECRET_NAME_H
#define STORE_REDACT_SECRET_NAME_H

#include "lite/base/slice.h"
#include "store/redact/front_letters.h"

/* What a name beside a value says about the value: DB_PASSWORD, clientSecret, x-api-key, algolia_key, commitId. */

enum name_kind {
    NAME_PLAIN,
    NAME_SERVICE, /* the name of a service that has keys: a random value is one */
    NAME_LIKELY,  /* "key", "auth", "tokens", "password_hash": a random value is a secret */
    NAME_CODE,    /* "pin", "recovery codes": digits, or a value that has some */
    NAME_TOKEN, /* "token", "secret", "api_key": any literal value, but programs use these words for other things */
    NAME_PASSWORD, /* any literal value */
};

/* What words mean, sorted by them. */
struct secret_word {
    const char *word;
    unsigned says;
};
extern const struct secret_word secret_words[];
extern const size_t secret_words_n;
extern const struct front_letters secret_word_fronts[128];

enum name_kind secret_name_kind(struct slice name);
/* Returns true for names in capitals, as in environments: DB_PASSWORD. */
bool secret_name_is_constant(struct slice name);
/* The length of a word for "password" that ends at a place and whose letters are not all of ASCII, or 0. */
size_t secret_name_foreign(struct slice text, size_t end);

#endif
