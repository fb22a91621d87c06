#ifndef TUI_COMMANDS_OUT_H
#define TUI_COMMANDS_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/json/jsonout.h"

/* The writer of answers: everything that a command prints on stdout, as text for people or as JSON.
 *
 * Rows are gathered and written in pieces of OUT_PIECE, so that a long answer streams and memory does not grow with it.
 * The first failure sticks and later calls do nothing, so a command writes its answer as a sequence of calls;
 * command_execute() reports the failure at the end. Only a loop that reads much calls out_row() to learn whether to go on.
 *
 * Characters that act on a terminal or hide from a reader (clean_is_sign) are written as JSON escapes them (\u009b),
 * except ASCII controls other than DEL. Text for people was cleaned and contains none; in JSON they are inside strings.
 * Pieces end where rows do, so no character is cut.
 *
 * A reader that went away (EPIPE) is not a failure of the command: the error is ERR_CANCELLED and `closed` is set, which
 * stops the work and ends the program quietly. */
struct out {
    int fd;
    struct buf buf;      /* not yet written */
    struct err err;      /* the first failure; ERR_OK if there was none */
    struct jsonout json; /* out_json() */
    size_t rows;         /* begun with out_json_row() */
    size_t depth;        /* of out_open() */
    bool wants_json;     /* --json */
    bool json_lines;     /* the answer is one object a line, of which a reader may skip any */
    bool closed;
    bool ascii;     /* a terminal whose locale is not UTF-8 */
    bool color;     /* escape sequences for styles are allowed */
    bool raw;       /* the bytes of a file: written as they are */
    size_t columns; /* of the terminal; 0 if the answer goes elsewhere */
};

enum { OUT_PIECE = 32 * 1024 };

void out_init(struct out *o, int fd);
/* Drops what was not flushed. */
void out_fini(struct out *o);

/* Bytes of our own: literals and formatted text that contains nothing from disk. */
void out_add(struct out *o, struct slice bytes);
void out_addf(struct out *o, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Text from disk, for people: cleaned, so that nothing in it acts on a terminal. */
void out_text(struct out *o, struct slice text);
/* The look of what follows, until OUT_PLAIN; nothing if `color` is off. Colours of the terminal's own palette. */
enum out_style { OUT_PLAIN, OUT_AGE, OUT_BRANCH, OUT_TAG, OUT_FLAGS, OUT_MATCH };
void out_style(struct out *o, enum out_style style);

/* The version of the JSON answers (docs/json.md): raised when a member changes its meaning or goes away. It is the first
 * member of an answer that is one object; rows of lists and lines have none. */
enum { OUT_SCHEMA_VERSION = 1 };

/* One JSON value: objects and arrays are opened and closed; out_end() closes the outermost and ends the line. Inside an
 * object every value has a key; in an array, and outermost, the key is NULL. */
void out_open(struct out *o, const char *key, char bracket);
void out_close(struct out *o, char bracket);
void out_end(struct out *o, char bracket);
/* Left out if the text is empty (or NULL): a member is absent, never "" or null. */
void out_member(struct out *o, const char *key, struct slice text);
void out_string(struct out *o, const char *key, const char *text);
void out_int(struct out *o, const char *key, int64_t n);
void out_bool(struct out *o, const char *key, bool b);
/* Left out if false. */
void out_true(struct out *o, const char *key, bool b);
void out_strings(struct out *o, const char *key, const char *const *text, size_t n);
void out_slices(struct out *o, const char *key, const struct slice *text, size_t n);
/* For writers of JSON elsewhere. Valid until the next call. */
struct jsonout *out_json(struct out *o);

/* An array that streams, one row a line: out_json_row() goes before the value of each row. */
void out_json_row(struct out *o);
void out_json_rows_end(struct out *o);

/* After each row: writes when a piece is full, and returns the first failure so far. */
MUST_CHECK enum err_code out_row(struct out *o, struct err *e);
/* Writes everything, and returns the first failure. JSON that failed is dropped; text for people is true as far as it
 * goes. */
MUST_CHECK enum err_code out_flush(struct out *o, struct err *e);

/* Writes "reprise: WHY: WHAT: PATH" to fd as exactly one clean line. */
void out_report(int fd, const struct err *e);

#endif
