#ifndef STORE_SYSTEMS_COMMON_CONTENT_BLOCKS_H
#define STORE_SYSTEMS_COMMON_CONTENT_BLOCKS_H

#include "store/api/transcript.h"

/* The content of a message in the form of Anthropic's API, which several agents use: a text, or a list of parts with
 * the types text, thinking, tool_use {id, name, input}, tool_result {tool_use_id, content, is_error} and image. A
 * tool's result is a text or a list of parts with a `text` or, in Cline, a `result`. */

/* Adds a text of the message as blocks. It may contain more than what the person wrote. */
typedef void content_text_fn(struct block_list *b, struct slice text);

/* The blocks of a content; parts of other types are BLOCK_RAW. Running out of memory fails the arena of the list. */
void content_blocks_put(struct block_list *b, struct slice content, content_text_fn *text);
/* The texts of a content, a line for each, in the arena or borrowed. */
struct slice content_texts(struct slice content, struct arena *a);
/* Returns true if a part has this type. */
bool content_has(struct slice content, const char *type);
/* For content_text_fn: the text as it is. */
void content_put_text(struct block_list *b, struct slice text);

#endif
