#ifndef STORE_SYSTEMS_CLAUDE_CHAIN_ROW_FACTS_H
#define STORE_SYSTEMS_CLAUDE_CHAIN_ROW_FACTS_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "lite/json/json.h"
#include "lite/scan/index.h"

/* What a row says, asked of its bytes. Rows are valid JSON objects here. */

/* As JavaScript's Boolean(): "", 0 and null are false, and so is what is not there. */
bool claude_truthy(struct slice value);
bool claude_key_truthy(struct slice object, const char *key);
/* The key holds exactly this string. path may be dotted (json_at). */
bool claude_row_says(struct slice row, const char *path, const char *text);
/* The id in a string value; none for anything else. */
struct id128 claude_id(struct slice value, struct arena *a);
struct id128 claude_id_at(struct slice row, const char *path, struct arena *a);

/* An attachment that carries a prompt which was typed while the agent was at work. */
bool claude_is_queued_command(struct slice row);
bool claude_is_boundary(struct slice row);
/* message.content is an array with a tool_result in it. */
bool claude_has_tool_result(struct slice row);
/* The note that stands where a turn or a tool call was cut: content that begins with one of the fixed
 * texts, every block of it (claude.md 3.7). For user rows. */
bool claude_is_interrupt_note(struct slice row, struct arena *a);
/* A row of an origin that speaks for itself although it is marked as meta (claude.md 3.5). */
bool claude_origin_speaks(struct slice origin);

enum claude_local {
    LOCAL_NOT,
    LOCAL_CAVEAT, /* <local-command-caveat> */
    LOCAL_RECORD, /* <command-name> */
    LOCAL_OUTPUT, /* <local-command-stdout>, -stderr */
};
/* Which part of a local command a user row is. */
enum claude_local claude_local_part(struct slice row, struct arena *a);

/* Opens message.content when it is an array; json_iter_next then yields its blocks. */
bool claude_content(struct slice row, struct json_iter *blocks);
/* The id that a block of this type has under key ("tool_use" and "id", "tool_result" and
 * "tool_use_id"); false when it is another block, or its id no string. */
bool claude_block_id(struct slice block, const char *type, const char *key, struct arena *a,
                     struct id128 *id);

#endif
