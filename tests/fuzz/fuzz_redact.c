/* Feeds bytes to the search for secrets, as text and as rows of JSON, and checks what must hold for every text:
 * - nothing beyond the text is read, whatever is in it (the sanitizers watch);
 * - each secret is a part of the text, and not empty;
 * - rows of JSON stay rows of JSON. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lite/json/json.h"
#include "store/redact/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_found(struct slice text)
{
    struct secret_list list = { 0 };

    must(redact_find_all(text, &list) == ERR_OK);
    for (size_t i = 0; i < list.n; i++)
        must(list.secret[i].n > 0 && list.secret[i].at <= text.n &&
             list.secret[i].n <= text.n - list.secret[i].at);
    redact_list_fini(&list);
}

static void check_redacted(struct slice text)
{
    struct buf out = { 0 };

    must(redact_text(text, &out, NULL) == ERR_OK);
    buf_fini(&out);
}

static void check_rows(struct slice text)
{
    struct buf out = { 0 };
    struct redact_counts counts = { 0 };

    must(redact_learn(text, &counts) == ERR_OK && redact_counts_total(&counts) == 0);
    must(redact_json_rows(text, &out, &counts) == ERR_OK);
    must(!json_valid(text) || json_valid(buf_slice(&out)));
    redact_counts_fini(&counts);
    buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of exactly this length, so that a byte behind it is noticed. */
    char *copy = malloc(size + !size);
    const struct slice text = { copy, size };

    must(copy != NULL);
    memcpy(copy, data, size);
    check_found(text);
    check_redacted(text);
    check_rows(text);
    free(copy);
    return 0;
}
