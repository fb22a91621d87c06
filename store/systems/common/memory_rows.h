#ifndef STORE_SYSTEMS_COMMON_MEMORY_ROWS_H
#define STORE_SYSTEMS_COMMON_MEMORY_ROWS_H

#include "store/api/store.h"
#include "store/api/transcript.h"

/* A transcript of rows that are generated in memory, because the agent keeps no file of them. Each message is one line
 * of JSON. */
struct memory_rows {
    struct buf bytes;
    struct message *message; /* owned */
    size_t n, cap;
};

/* Adds a row; offset, length and line of the message are set here. ERR_NOMEM. A row that is not one line of valid JSON
 * is added as a broken one. */
MUST_CHECK enum err_code memory_rows_add(struct memory_rows *r, struct slice row, struct message m);
/* Adds a text to a row as a JSON value, on one line: the value itself if it is valid JSON, else a string. */
MUST_CHECK enum err_code memory_rows_value(struct buf *row, struct slice json);
/* Adds a JSON text as one line, without the line ends and the indentation between its members. ERR_NOMEM. */
MUST_CHECK enum err_code memory_rows_line(struct buf *lines, struct slice json);
/* Makes the transcript and empties the rows. */
MUST_CHECK enum err_code memory_rows_finish(struct memory_rows *r, const struct session_ref *ref,
                                            struct transcript **out, struct err *e);
void memory_rows_fini(struct memory_rows *r);
/* Removes all rows and keeps the memory. */
void memory_rows_reset(struct memory_rows *r);

/* store_ops.messages for systems with such transcripts: each message's blocks as content in the form of the vendor's
 * SDK. The id is the member "id" of the row. The transcript is that of the session or of the sub-agent that q names. */
MUST_CHECK enum err_code memory_rows_messages(const struct store *st, const struct transcript *t,
                                              struct slice session, const struct message_query *q,
                                              json_fn *fn, void *arg, struct err *e);

/* ---- content of messages (block_messages.c) ---- */

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
