#ifndef STORE_REDACT_CLEAN_TEXTS_H
#define STORE_REDACT_CLEAN_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/digest.h"
#include "lite/base/slice.h"

/* Texts in which nothing was found by its form, by their digests: a session is read twice, to learn and to write, and most
 * of its texts need not be searched twice. A zeroed set is empty. */
struct clean_texts {
    struct text_id {
        uint64_t half[2]; /* the first half of a SHA-256; 0: none */
    } * slot;
    size_t n, slots;
    struct digest digest;
};

/* False for short texts, which are searched faster than hashed, and if there is no digest. */
bool clean_texts_id(struct clean_texts *set, struct slice text, struct text_id *id);
bool clean_texts_have(const struct clean_texts *set, struct text_id id);
/* One that finds no room is searched again. */
void clean_texts_add(struct clean_texts *set, struct text_id id);
void clean_texts_fini(struct clean_texts *set);

#endif
