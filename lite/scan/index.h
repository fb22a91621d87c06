#ifndef LITE_SCAN_INDEX_H
#define LITE_SCAN_INDEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/base/slice.h"
#include "lite/io/file.h"

/* The line index of a whole transcript: one fast structural pass, no value is decoded that the chain
 * does not need. Where a line begins, how long it is, what it says it is, which id it has and which it
 * follows. Everything else is read again from the file when it is shown.
 *
 * Bytes up to 0x20 at the begin of a line are skipped, as the vendor's reader does: a record behind a
 * run of NULs counts. Offset and length are of the whole line, so skip them again before parsing.
 *
 * Cost: 56 bytes a line, and the pass runs at the speed of the top-level key scan (SPEED.md b). */

enum index_state {
    LINE_OK,     /* a JSON object */
    LINE_BLANK,  /* nothing but bytes up to 0x20 */
    LINE_BROKEN, /* not a JSON object, or cut; nothing else is known of it */
};

struct index_line {
    int64_t offset;
    int64_t time_ms; /* TIME_NONE when there is none */
    struct id128 id, parent;
    /* Without the newline. Of a line longer than INDEX_LINE_MAX, which is LINE_BROKEN: UINT32_MAX. */
    uint32_t length;
    uint8_t kind;   /* 1 + place in index_keys.kinds; 0 for any other type */
    uint8_t state;  /* enum index_state */
    uint16_t marks; /* bit i: the top-level key marks[i] is there and true as in JavaScript:
                        neither null, false, 0 nor "" */
};

/* What to look for, per system: the names of the keys (NULL: there is no such key) and the kinds told
 * apart. Names are at most 63 bytes of ASCII. A text longer than INDEX_TEXT_MAX bytes is as none. */
struct index_keys {
    const char *type, *id, *parent, *time;
    const char *const *kinds; /* NULL-terminated, at most 254 */
    const char *const *marks; /* NULL-terminated, at most 16 */
    /* A member that the type stands in, where there is this member ("message" of {"message":{"role":"user"}}): only as
     * its first member, and written without blanks. Of any other such line the kind is 0. */
    const char *inner;
};
enum { INDEX_TEXT_MAX = 4000 };

/* No longer line can be a string in V8, so no client wrote it or reads it. */
enum { INDEX_LINE_MAX = 512 << 20 };
/* A pass takes so many lines, and one more for each so many bytes: rows are longer than that. What else there is of lines,
 * thirty megabytes of newlines, would take a hundred times its size. */
enum { INDEX_LINES_FREE = 1000000, INDEX_LINE_BYTES = 64 };

/* A zeroed struct is an empty index. */
struct index {
    struct index_line *line; /* owned */
    size_t n, cap;
    int64_t end;    /* offset behind the last complete line: where a later pass goes on */
    bool torn_tail; /* bytes without a newline follow `end`; they are the last line of the index */
    size_t broken;  /* lines that are LINE_BROKEN */
};

enum index_flags {
    /* LINE_OK only where JSON.parse accepts the line; without it a line passes whose strings close and whose brackets
     * add up, whatever else it looks like. A line too long to be held in memory is taken at its looks */
    INDEX_VALIDATE = 1,
    /* One of several passes over a file: it takes a quarter of INDEX_LINES_FREE, and index_check_count follows */
    INDEX_PART = 2,
};

/* Indexes from ix->end to the size the file had when it was opened; a zeroed index starts at 0. Called
 * again on the same file after it grew (opened anew), it goes on where it stopped; a torn line is looked
 * at again. ERR_UNSUPPORTED: there are more lines than a pass takes. ERR_STALE when the file is shorter than what was indexed: begin anew. A file that shrinks
 * during the pass is indexed as far as it can be read: end (and a torn tail) then stay below its size.
 * *stop, when given and set by another thread, ends the pass early with ERR_CANCELLED. After any
 * failure what was indexed so far is whole, and a later call goes on. ix is not shared while the pass
 * runs. */
MUST_CHECK enum err_code index_build(struct index *ix, const struct file *f,
                                     const struct index_keys *keys, unsigned flags,
                                     const atomic_bool *stop, struct err *e);
/* The same over bytes that are in memory already (a tail window, a git blob); offset is that of p[0] in
 * the file. A first line that began before the window is the caller's to cut off. */
MUST_CHECK enum err_code index_bytes(struct index *ix, struct slice bytes, int64_t offset,
                                     const struct index_keys *keys, unsigned flags, struct err *e);
/* ERR_UNSUPPORTED: so many lines of so many bytes are more than a pass takes. */
MUST_CHECK enum err_code index_check_count(size_t lines, int64_t bytes, struct err *e);
void index_fini(struct index *ix);

#endif
