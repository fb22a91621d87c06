#ifndef STORE_SYSTEMS_CLAUDE_REWIND_TRACKED_FILES_H
#define STORE_SYSTEMS_CLAUDE_REWIND_TRACKED_FILES_H

#include "lite/base/arena.h"
#include "lite/base/id128.h"
#include "lite/json/jsonout.h"

/* The files of a snapshot: path and backup, as they stand in the rows, each path once and in the order in
 * which it came. Slices are borrowed. A zeroed struct is empty; reading needs no memory. */
struct claude_tracked_file {
    struct id128 path; /* of the decoded path */
    struct slice key;  /* with its quotes */
    struct slice backup;
};

struct claude_tracked {
    struct claude_tracked_file *file; /* owned */
    size_t n, cap;
    uint32_t *slot; /* owned; open addressing, a power of two; place in file + 1 */
    size_t slots;
};

void claude_tracked_fini(struct claude_tracked *t);
void claude_tracked_clear(struct claude_tracked *t);
/* Adds a file, or gives a known one another backup. What is no JSON string is passed over. */
MUST_CHECK enum err_code claude_tracked_set(struct claude_tracked *t, struct slice key,
                                            struct slice backup);
/* Adds the members of an object. */
MUST_CHECK enum err_code claude_tracked_read(struct claude_tracked *t, struct slice object);
void claude_tracked_write(const struct claude_tracked *t, struct jsonout *j);

#endif
