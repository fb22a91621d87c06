#ifndef STORE_SYSTEMS_ENTIRE_TOKENS_H
#define STORE_SYSTEMS_ENTIRE_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Token usage as recorded in states and in the metadata of sessions and checkpoints (`token_usage`,
 * docs/formats/entire.md 2.7). */
enum entire_token {
    TOKEN_INPUT,
    TOKEN_CACHE_CREATION,
    TOKEN_CACHE_READ,
    TOKEN_OUTPUT,
    TOKEN_CALLS, /* requests to the model */
    TOKEN_COUNT,
};

struct entire_tokens {
    int64_t n[TOKEN_COUNT];
    bool known;             /* false: there was no such member */
    struct slice subagents; /* JSON of the member subagent_tokens, borrowed; empty: missing */
};

/* Reads the value of a `token_usage`. Anything but an object is unknown. */
struct entire_tokens entire_tokens_read(struct slice json);
/* Adds the numbers; those of sub-agents are dropped, as Entire does for a checkpoint of several sessions. */
void entire_tokens_add(struct entire_tokens *sum, const struct entire_tokens *t);
/* The value as JSON, in the arena; empty if it is unknown. p is NULL if out of memory. */
struct slice entire_tokens_json(const struct entire_tokens *t, struct arena *a);

/* Counts the tokens of a transcript of Claude Code from a line on. An answer that was streamed in
 * several rows is counted once, by the row with the most output. The result is unknown if no row
 * has a usage. */
MUST_CHECK enum err_code entire_tokens_count(struct slice transcript, int64_t from_line,
                                             struct entire_tokens *out, struct err *e);

/* The number that a setting of a host ("input-tokens") refers to; TOKEN_COUNT if it refers to none. */
enum entire_token entire_tokens_setting(struct slice key);

#endif
