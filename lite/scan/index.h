#ifndef LITE_SCAN_INDEX_H
#define LITE_SCAN_INDEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/base/slice.h"
#include "lite/io/file.h"

/* The line index of a whole transcript, made in one fast structural pass that decodes no value which the chain does
 * not need: where a line begins, how long it is, its type, its id and its parent. Everything else is read from the
 * file again when it is shown.
 *
 * Bytes up to 0x20 at the beginning of a line are skipped, as Claude Code's reader does: a record behind a run of
 * NULs counts. Offset and length are those of the whole line, so skip these bytes again before parsing.
 *
 * Cost: 56 bytes a line, at the speed of the top-level key scan. */

enum index_state {
    LINE_OK,     /* a JSON object */
    LINE_BLANK,  /* only bytes up to 0x20 */
    LINE_BROKEN, /* not a JSON object, or cut; nothing else is known of the line */
};

struct index_line {
    int64_t offset;
    int64_t time_ms; /* TIME_NONE if it has none */
    struct id128 id, parent;
    /* Without the newline. UINT32_MAX for a line longer than INDEX_LINE_MAX, which is LINE_BROKEN. */
    uint32_t length;
    uint8_t kind;   /* 1 + position in index_keys.kinds; 0 for any other type */
    uint8_t state;  /* enum index_state */
    uint16_t marks; /* bit i: the top-level key marks[i] is there and true as in JavaScript:
                        neither null, false, 0 nor "" */
};

/* The keys to look for; each system has its own. Names of keys (NULL if the system has no such key)
 * and the kinds that are told apart. Names are at most 63 bytes of ASCII. A text longer than
 * INDEX_TEXT_MAX bytes counts as missing. */
struct index_keys {
    const char *type, *id, *parent, *time;
    const char *const *kinds; /* NULL-terminated, at most 254 */
    const char *const *marks; /* NULL-terminated, at most 16 */
    /* A member that contains the type ("message" of {"message":{"role":"user"}}). The type must be its first member,
     * written without blanks; the kind of any other such line is 0. */
    const char *inner;
};
enum { INDEX_TEXT_MAX = 4000 };

/* A longer line cannot be a string in V8, so no client wrote it or reads it. */
enum { INDEX_LINE_MAX = 512 << 20 };
/* How many lines a pass accepts, and one more for each so many bytes, for real rows are longer than that. Thirty
 * megabytes of newlines would otherwise take a hundred times their size in memory. */
enum { INDEX_LINES_FREE = 1000000, INDEX_LINE_BYTES = 64 };

/* A zeroed struct is an empty index. */
struct index {
    struct index_line *line; /* owned */
    size_t n, cap;
    int64_t end;    /* offset behind the last complete line, where a later pass continues */
    bool torn_tail; /* bytes without a newline follow `end`; they are the last line of the index */
    size_t broken;  /* lines that are LINE_BROKEN */
};

enum index_flags {
    /* A line is LINE_OK only if JSON.parse accepts it. Without the flag it is enough that its strings close and its
     * brackets match. A line too long to be held in memory is judged by these. */
    INDEX_VALIDATE = 1,
    /* One of several passes over a file: it accepts a quarter of INDEX_LINES_FREE, and index_check_count follows. */
    INDEX_PART = 2,
};

/* Indexes from ix->end to the size that the file had when it was opened; a zeroed index starts at 0. Called again on
 * the same file after it grew (opened anew), it continues where it stopped and reads a torn line again.
 * ERR_UNSUPPORTED if there are more lines than a pass accepts. ERR_STALE if the file is shorter than what was
 * indexed: begin anew. A file that shrinks during the pass is indexed as far as it can be read; end (and a torn tail)
 * then stay below its size. If *stop is given and set by another thread, the pass ends early with ERR_CANCELLED.
 * After any failure what was indexed so far is whole, and a later call continues. Do not share ix while the pass
 * runs. */
MUST_CHECK enum err_code index_build(struct index *ix, const struct file *f,
                                     const struct index_keys *keys, unsigned flags,
                                     const atomic_bool *stop, struct err *e);
/* The same over bytes in memory (a tail window, a git blob); offset is that of p[0] in the file. The caller cuts off
 * a first line that began before the window. */
MUST_CHECK enum err_code index_bytes(struct index *ix, struct slice bytes, int64_t offset,
                                     const struct index_keys *keys, unsigned flags, struct err *e);
/* ERR_UNSUPPORTED if a pass does not accept so many lines in so many bytes. */
MUST_CHECK enum err_code index_check_count(size_t lines, int64_t bytes, struct err *e);
void index_fini(struct index *ix);

#endif
