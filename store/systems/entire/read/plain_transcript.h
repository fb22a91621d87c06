#ifndef STORE_SYSTEMS_ENTIRE_READ_PLAIN_TRANSCRIPT_H
#define STORE_SYSTEMS_ENTIRE_READ_PLAIN_TRANSCRIPT_H

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "lite/json/json.h"
#include "store/api/transcript.h"

/* Transcripts of agents other than Claude Code, shown plainly: one row for each JSON line, or for each message of a
 * document that holds them all (Gemini). Who speaks and what is said is looked for where agents put it; what is not
 * understood is shown as it stands. */

/* The rows of a transcript, one after the other. */
struct plain_rows {
    bool document;
    struct slice rest;         /* lines to come */
    struct json_iter elements; /* or messages */
};
void plain_rows_open(struct plain_rows *r, struct slice bytes);
/* The next row; broken: it is no JSON. Blank lines are passed over. */
bool plain_rows_next(struct plain_rows *r, struct slice *row, bool *broken);

enum message_kind plain_kind(struct slice row);
int64_t plain_time(struct slice row);
/* The row's own id; empty where it has none. */
struct slice plain_id(struct slice row, struct arena *a);
/* The JSON value that holds what is said; empty where there is none. */
struct slice plain_content(struct slice row);
MUST_CHECK enum err_code plain_blocks(struct slice row, struct block_list *out, struct err *e);

#endif
