#ifndef LITE_SCAN_INDEX_H
#define LITE_SCAN_INDEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/base/slice.h"
#include "lite/io/file.h"

/* The line index of a whole transcript: where each line begins, how long it is, its type, its id and its parent. It is
 * made in one fast structural pass that decodes only the values that the chain needs. Everything else is read from the
 * file again when it is shown.
 *
 * Bytes up to 0x20 at the beginning of a line are skipped, as Claude Code's reader does: a record after a run of NULs
 * counts. Offset and length are those of the whole line, so skip these bytes again before parsing.
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
    uint8_t kind;  /* 1 + position in index_keys.kinds; 0 for any other type */
    uint8_t state; /* enum index_state */
    /* bit i: the top-level key marks[i] is present and truthy in JavaScript: not null, false, 0 or "" */
    uint16_t marks;
};

/* The keys to look for; each system has its own. Names of keys (NULL if the system has no such key) and the kinds to
 * distinguish. Names are at most 63 bytes of ASCII. A text longer than INDEX_TEXT_MAX bytes counts as missing. */
struct index_keys {
    const char *type, *id, *parent, *time;
    const char *const *kinds; /* NULL-terminated, at most 254 */
    const char *const *marks; /* NULL-terminated, at most 16 */
    /* A member that contains the type ("message" of {"message":{"role":"user"}}). The type must be its first member,
     * written without blanks; the kind of any other such line is 0. */
    const char *inner;
};
enum { INDEX_TEXT_MAX = 4000 };

/* A longer line cannot be a string in V8, so no client can have written it or can read it. */
enum { INDEX_LINE_MAX = 512 << 20 };
/* A pass accepts INDEX_LINES_FREE lines, and one more for every INDEX_LINE_BYTES bytes, which real rows exceed.
 * Otherwise thirty megabytes of newlines would take a hundred times their size in memory. */
enum { INDEX_LINES_FREE = 1000000, INDEX_LINE_BYTES = 64 };

/* A zeroed struct is an empty index. */
struct index {
    struct index_line *line; /* owned */
    size_t n, cap;
    int64_t end;    /* offset after the last complete line, where a later pass continues */
    bool torn_tail; /* bytes without a newline follow `end`; they are the last line of the index */
    size_t broken;  /* lines that are LINE_BROKEN */
};

enum index_flags {
    /* A line is LINE_OK only if JSON.parse accepts it. Without the flag, and for a line too long to be held in memory,
     * it is enough that its strings are closed and its brackets match. */
    INDEX_VALIDATE = 1,
    /* The pass is one of several over a file: it accepts a quarter of INDEX_LINES_FREE, and the caller then calls
     * index_check_count. */
    INDEX_PART = 2,
};

/* Indexes from ix->end to the size that the file had when it was opened; a zeroed index starts at 0. Called again on
 * the same file after it grew (and was reopened), it continues where it stopped and reads a torn line again.
 * ERR_UNSUPPORTED if there are more lines than a pass accepts. ERR_STALE if the file is shorter than what was indexed:
 * start over. A file that shrinks during the pass is indexed as far as it can be read; end (and a torn tail) then stay
 * below its size. If *stop is given and set by another thread, the pass ends early with ERR_CANCELLED. After any
 * failure the lines indexed so far are complete, and a later call continues. Do not share ix while the pass runs. */
MUST_CHECK enum err_code index_build(struct index *ix, const struct file *f,
                                     const struct index_keys *keys, unsigned flags,
                                     const atomic_bool *stop, struct err *e);
/* The same over bytes in memory (a tail window, a git blob); offset is that of p[0] in the file. The caller cuts off
 * a first line that began before the window. */
MUST_CHECK enum err_code index_bytes(struct index *ix, struct slice bytes, int64_t offset,
                                     const struct index_keys *keys, unsigned flags, struct err *e);
/* ERR_UNSUPPORTED if there are more lines than a pass accepts for this many bytes. */
MUST_CHECK enum err_code index_check_count(size_t lines, int64_t bytes, struct err *e);
void index_fini(struct index *ix);

#endif
