#ifndef STORE_SYSTEMS_CLAUDE_CHAIN_ROW_FACTS_H
#define STORE_SYSTEMS_CLAUDE_CHAIN_ROW_FACTS_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "lite/scan/index.h"

/* Facts about a row, read from its bytes. Rows are valid JSON objects here. */

/* Like JavaScript's Boolean(): "", 0, null and a missing value are false. */
bool claude_truthy(struct slice value);
bool claude_key_truthy(struct slice object, const char *key);
/* Returns true if the value is a string equal to one of the names, which end with NULL. */
bool claude_string_in(struct slice value, const char *const names[]);
/* Returns true if the value at the path is exactly this string. path may be dotted (json_at). */
bool claude_value_is(struct slice row, const char *path, const char *text);
/* The id in a string value; the empty id for any other value. */
struct id128 claude_id(struct slice value, struct arena *a);
struct id128 claude_id_at(struct slice row, const char *path, struct arena *a);
/* Compares ids as qsort does. */
int claude_id_compare(struct id128 a, struct id128 b);

/* Returns true for an attachment with a prompt that was typed while the agent was working. */
bool claude_is_queued_command(struct slice row);
bool claude_is_boundary(struct slice row);
/* Returns true if message.content is an array with a tool_result. */
bool claude_has_tool_result(struct slice row);
/* For user rows: returns true for the note that the client writes where a turn or a tool call was interrupted, in which
 * every block begins with one of the fixed texts (claude.md 3.7). */
bool claude_is_interrupt_note(struct slice row, struct arena *a);
/* Returns true if rows of this origin are shown although they are marked as meta (claude.md
 * 3.5). */
bool claude_origin_is_shown(struct slice origin);

enum claude_local {
    LOCAL_NOT,
    LOCAL_CAVEAT, /* <local-command-caveat> */
    LOCAL_RECORD, /* <command-name> */
    LOCAL_OUTPUT, /* <local-command-stdout>, -stderr */
};
/* Returns which part of a local command a user row is. */
enum claude_local claude_local_part(struct slice row, struct arena *a);

/* Opens message.content and returns true if it is an array; json_iter_next then returns its blocks. */
bool claude_content(struct slice row, struct json_iter *blocks);
/* Returns true if the block is an object of this type. */
bool claude_block_is(struct slice block, const char *type);

/* Finds the tool result of a row. Returns false unless the row has exactly one. */
bool claude_only_result(struct slice row, struct slice *result);
/* The id that a block of this type has under a key ("tool_use" and "id", "tool_result" and "tool_use_id").
 * Returns false for other blocks, and if the id is not a string. */
bool claude_block_id(struct slice block, const char *type, const char *key, struct arena *a,
                     struct id128 *id);

/* JSON values in an arena. */
struct claude_values {
    struct slice *p;
    size_t n;
};
MUST_CHECK enum err_code claude_values_add(struct claude_values *values, struct arena *a,
                                           struct slice value);

/* Writes key and value (JSON), or nothing if the value is empty. */
void claude_write_value(struct jsonout *j, const char *key, struct slice value);
/* Writes the row's value of the key `from` under the key `to`, or nothing if the row has no such
 * key. */
void claude_copy_member(struct jsonout *j, struct slice row, const char *from, const char *to);
/* Closes the object of a row, and ends its line. */
void claude_end_row(struct jsonout *j);

/* Compares as JavaScript's localeCompare does in an English locale, for ASCII texts: the SDK sorts timestamps with it.
 * Punctuation comes before digits and digits before letters, not in the order of their codes; case only breaks ties;
 * control characters are ignored. Other characters come last, by their bytes. */
int claude_collate(struct slice a, struct slice b);

#endif
