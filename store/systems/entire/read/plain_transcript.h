#ifndef STORE_SYSTEMS_ENTIRE_READ_PLAIN_TRANSCRIPT_H
#define STORE_SYSTEMS_ENTIRE_READ_PLAIN_TRANSCRIPT_H

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "lite/json/json.h"
#include "store/api/transcript.h"

/* Transcripts of agents other than Claude Code, in a simple form: one row for each JSON line, or
 * for each message of a single document (Gemini). The speaker and the text are looked up where
 * agents usually put them; an unknown row is shown verbatim. */

/* An iterator over the rows of a transcript. */
struct plain_rows {
    bool document;
    struct slice rest;         /* the lines to come, */
    struct json_iter elements; /* or the messages of the document */
};
void plain_rows_open(struct plain_rows *r, struct slice bytes);
/* The next row, skipping blank lines; broken: it is not JSON. */
bool plain_rows_next(struct plain_rows *r, struct slice *row, bool *broken);

enum message_kind plain_kind(struct slice row);
int64_t plain_time(struct slice row); /* TIME_NONE if missing */
/* The row's own id; empty if it has none. */
struct slice plain_id(struct slice row, struct arena *a);
/* The JSON value that contains the text; empty if it has no text. */
struct slice plain_content(struct slice row);
/* All text of the row, in the arena. Returns false if it has none, or if out of memory. */
bool plain_text(struct slice row, struct arena *a, struct slice *out);
MUST_CHECK enum err_code plain_blocks(struct slice row, struct block_list *out, struct err *e);

#endif
