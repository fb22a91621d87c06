#ifndef TUI_COMMANDS_OUT_H
#define TUI_COMMANDS_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/json/jsonout.h"

/* Writes the output of a command on stdout, as text for people or as JSON. Rows are collected and
 * written in pieces of OUT_PIECE, so that long output streams and does not need more memory. The
 * first failure sticks and later calls do nothing, so a command can write its output as a sequence
 * of calls; command_execute() reports the failure at the end. Only a loop that reads a lot checks
 * out_row() to see whether to go on.
 *
 * Characters that act on a terminal or are invisible (clean_is_sign), except ASCII controls other
 * than DEL, are written as JSON escapes (\u009b). Text for people is already cleaned and contains
 * none; in JSON they occur only inside strings. Pieces end where rows end, so no character is
 * split.
 *
 * If the reader has closed the pipe (EPIPE), the command has not failed: the error is ERR_CANCELLED
 * and `closed` is set, which stops the work and ends the program quietly. */
struct out {
    int fd;
    struct buf buf;      /* not yet written */
    struct err err;      /* the first failure; ERR_OK if there was none */
    struct jsonout json; /* out_json() */
    size_t rows;         /* begun with out_json_row() */
    size_t depth;        /* how many calls of out_open() are not closed */
    uint64_t objects;    /* a bit for each depth: it is an object, not an array */
    bool wants_json;     /* --json */
    bool json_lines;     /* the output has one object per line; a reader may skip any of them */
    /* the answer, or one line of it, is complete: it is printed even if the command then failed */
    bool ended;
    bool closed;
    bool ascii; /* a terminal whose locale is not UTF-8 */
    bool color; /* escape sequences for styles are allowed */
    bool raw;   /* the bytes of a file: written as they are */
    /* Instead of fd: receives each row when it is complete. If it returns false, no more is wanted, as if the reader had
     * closed the pipe. */
    bool (*take)(struct slice text, void *arg);
    void *take_arg;
    size_t columns; /* the width of the terminal; 0 if stdout is not a terminal */

    /* --max-bytes: the rows have at most so many bytes; 0: no bound. The row that would have more is removed, and out_row()
     * returns ERR_CANCELLED and sets `cut`. */
    size_t most;
    size_t bytes, fitted; /* the bytes of the rows that fit, and their number */
    size_t row_at;        /* where the present row begins in buf */
    size_t row_depth;     /* `depth` and `objects` there */
    uint64_t row_objects;
    bool begun; /* something was written */
    bool cut;
    size_t page; /* the rows that were asked for, if --limit alone does not say it; else 0 */
    bool named;  /* out_row_named() */
    /* the id from which the rest can be read; a row that alone is too large is behind it */
    struct buf after;
};

enum { OUT_PIECE = 32 * 1024 };

void out_init(struct out *o, int fd);
/* Discards output that was not flushed. */
void out_fini(struct out *o);

/* Bytes of our own: literals and formatted text that contains nothing from disk. */
void out_add(struct out *o, struct slice bytes);
void out_addf(struct out *o, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Text from disk, for people: cleaned, so that nothing in it acts on a terminal. */
void out_text(struct out *o, struct slice text);
/* A line: words of our own, and after them text from disk. */
void out_line(struct out *o, const char *words, struct slice text);
/* The advice after a change, with its id: without one, undo takes the newest change of the present directory. */
#define OUT_UNDO_WITH " (undo with: reprise undo %s)"
/* Sets the look of the following text, until OUT_PLAIN; does nothing if `color` is off. Colours of
 * the terminal's own palette. */
enum out_style { OUT_PLAIN, OUT_AGE, OUT_BRANCH, OUT_TAG, OUT_FLAGS, OUT_MATCH };
void out_style(struct out *o, enum out_style style);

/* The version of the JSON output (docs/json.md), which is increased when a member changes its
 * meaning or is removed. It is the first member of an answer that is a single object; rows of lists
 * do not have it. */
enum { OUT_SCHEMA_VERSION = 1 };

/* One JSON value: objects and arrays are opened and closed; out_end() closes the outermost and ends the line. Inside an
 * object every value has a key; in an array, and outermost, the key is NULL. */
void out_open(struct out *o, const char *key, char bracket);
void out_close(struct out *o, char bracket);
void out_end(struct out *o, char bracket);
/* Omitted if the text is empty or NULL: an absent value is never written as "" or null. */
void out_member(struct out *o, const char *key, struct slice text);
void out_string(struct out *o, const char *key, const char *text);
void out_int(struct out *o, const char *key, int64_t n);
void out_money(struct out *o, const char *key, double usd);
void out_bool(struct out *o, const char *key, bool b);
/* Omitted if false. */
void out_bool_if_true(struct out *o, const char *key, bool b);
void out_strings(struct out *o, const char *key, const char *const *text, size_t n);
void out_slices(struct out *o, const char *key, const struct slice *text, size_t n);
/* For writers of JSON elsewhere. Valid until the next call. */
struct jsonout *out_json(struct out *o);

/* An array that streams, one row per line: call out_json_row() before the value of each row. */
void out_json_row(struct out *o);
void out_json_rows_end(struct out *o);

/* After each row: writes when a piece is full, and returns the first failure so far. */
MUST_CHECK enum err_code out_row(struct out *o, struct err *e);
/* The same after a row that has an id, perhaps an empty one. */
MUST_CHECK enum err_code out_row_named(struct out *o, struct slice id, struct err *e);
/* Writes everything, and returns the first failure. After a failure, unfinished JSON is discarded,
 * but text for people is still written, because each line of it is correct. */
MUST_CHECK enum err_code out_flush(struct out *o, struct err *e);
/* After a failure: an answer in JSON of which rows were written already ends behind the last whole row, so that it can be
 * read; of another one nothing is written. */
void out_break(struct out *o);

/* Writes "reprise: cannot VERB OBJECT: REASON" to fd as exactly one clean line (tui/text/human.h). */
void out_report(int fd, const struct err *e);
/* Writes "reprise: WHAT: PATH", a whole sentence that nothing failed for. */
void out_warn(int fd, const struct err *e);

#endif
