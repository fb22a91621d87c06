#ifndef STORE_JOURNAL_RECORD_INDEX_H
#define STORE_JOURNAL_RECORD_INDEX_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "lite/base/buf.h"
#include "lite/base/slice.h"

/* What is known about the finished records of a log, in one file beside them (<log>/index), so that a command that
 * needs all of them does not read each. It is a copy and nothing depends on it: what it has about a record is used only
 * while the record's directory and files are those that were read, and whatever it lacks is read from the record. A
 * missing or damaged index is empty. Nothing here fails, since the records are there.
 *
 *     record_index_open -> for each record, newest first: record_index_find, or read it and record_index_add
 *     -> record_index_close
 *
 * The file has a line with its version and the hash of the rest, and for each record a line with name, stamp and text,
 * the newest first. It is written again when many records had to be read. */
struct record_index_line {
    struct slice name, stamp, text;
};

struct record_index {
    const char *dir; /* the log; borrowed */
    struct buf old;  /* the file */
    struct record_index_line *line;
    size_t n;
    struct buf now; /* the lines of the records of this walk */
    const char *const *part;
    size_t parts, unread;
    uid_t user;
    time_t opened_s;
    char oldest[NAME_MAX + 1]; /* the last record of this walk */
    bool failed;               /* out of memory: nothing is written */
};

enum { RECORD_STAMP = 17 }; /* room for one */

/* `part` are the names in a record whose state matters, besides its directory: the files that its text comes from. */
void record_index_open(struct record_index *ix, const char *dir, const char *const *part,
                       size_t parts);
/* Sets *stamp to the state of a record. Returns true if the index has what was read in that state; *text is valid until
 * the index is closed. */
bool record_index_find(struct record_index *ix, const char *name, char stamp[RECORD_STAMP],
                       struct slice *text);
/* Adds what was read of a record, without newlines. `stamp` was set before that, so that a change while it was read is
 * noticed. */
void record_index_add(struct record_index *ix, const char *name, const char stamp[RECORD_STAMP],
                      struct slice text);
void record_index_close(struct record_index *ix);

/* ---- the fields of a text, divided by tabs ---- */

/* An absent text (NULL) stays absent. */
MUST_CHECK enum err_code record_field_add_text(struct buf *b, const char *text,
                                               struct buf *scratch);
MUST_CHECK enum err_code record_field_add_int(struct buf *b, int64_t n);
struct arena;
/* Take the first field off the text. Return false if it is malformed or if out of memory (a->failed). */
bool record_field_text(struct slice *text, struct arena *a, const char **out);
bool record_field_int(struct slice *text, int64_t *out);

#endif
