#ifndef STORE_SYSTEMS_COMMON_GO_JSON_H
#define STORE_SYSTEMS_COMMON_GO_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* JSON as Go's encoding/json writes it (goat.md B7), appended to a buffer. The only error is
 * ERR_NOMEM. */

/* A text with its quotes. <, > and & and the line ends of Unicode are escaped, and each broken byte becomes \ufffd. */
MUST_CHECK enum err_code go_json_text(struct buf *out, struct slice text);
/* A time: RFC 3339 in UTC with as many digits as are needed. */
MUST_CHECK enum err_code go_json_time(struct buf *out, int64_t ns);
/* A finite float64: the fewest digits that identify it, without an exponent except for very small
 * and very large numbers (1e-7, 1e+21). */
MUST_CHECK enum err_code go_json_float(struct buf *out, double value);

/* A writer: one value after the other, with the commas, blanks and line ends between them. The first
 * failure (memory) is kept in rc. */
struct go_json_document {
    struct buf *out;
    enum err_code rc;
    bool lines;      /* laid out with an indent of two blanks */
    bool plain_html; /* and <, > and & of copied texts stay as they are */
    int depth;
    bool filled; /* this level already has an element */
    bool keyed;  /* a key was written, and its value follows */
};

/* A document as MarshalIndent lays it out with two blanks (entire.md 2.1): Entire's metadata and
 * state are compared byte by byte. Texts of values that are copied stay as written. */
void go_json_document_init(struct go_json_document *g, struct buf *out);
/* One line of a log, as Marshal writes it. Texts of values that are copied get Go's spelling. */
void go_json_row_init(struct go_json_document *g, struct buf *out);
void go_json_document_open(struct go_json_document *g, char bracket);
void go_json_document_close(struct go_json_document *g, char bracket);
void go_json_document_key(struct go_json_document *g, const char *key);
/* A key copied from another object, with its quotes. */
void go_json_document_raw_key(struct go_json_document *g, struct slice quoted);
/* After a key, or as an element of an array. */
void go_json_document_text(struct go_json_document *g, struct slice text);
void go_json_document_int(struct go_json_document *g, int64_t n);
void go_json_document_time(struct go_json_document *g, int64_t ns);
/* Any valid value, laid out anew; its numbers are copied as written. */
void go_json_document_value(struct go_json_document *g, struct slice json);

/* key and text; nothing if the text is empty */
void go_json_document_member(struct go_json_document *g, const char *key, struct slice text);
/* The newline at the end of a document. */
void go_json_document_end(struct go_json_document *g);

/* A change of a document's top level. */
struct go_json_member {
    const char *key;
    struct slice value; /* JSON; empty: the member is removed */
};
/* Writes the object with these members changed, and all others unchanged and in their order; new ones are inserted at
 * the place that `order` (NULL-terminated) gives them. An empty object makes a new document. Ends in a newline. If the
 * document contains <, > and & unescaped, and never escaped, so do the new members, because versions of the program
 * differ in this (entire.md 2.1). */
MUST_CHECK enum err_code go_json_document_edit(struct slice object, const char *const order[],
                                               const struct go_json_member set[], size_t n,
                                               struct buf *out);

/* The length of the text at the front, including its quotes. */
size_t go_json_text_length(struct slice rest);

#endif
