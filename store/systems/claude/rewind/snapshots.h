#ifndef STORE_SYSTEMS_CLAUDE_REWIND_SNAPSHOTS_H
#define STORE_SYSTEMS_CLAUDE_REWIND_SNAPSHOTS_H

#include "lite/json/jsonout.h"
#include "store/systems/claude/chain/log.h"
#include "store/systems/claude/chain/row_facts.h"

/* The file history along the conversation, oldest first: one snapshot for each prompt, with every
 * later addition to it merged in. path contains nodes of the log; the texts are in the arena. */
MUST_CHECK enum err_code claude_snapshots(struct claude_log *log, const uint32_t *path, size_t n,
                                          struct arena *a, struct claude_values *out,
                                          struct err *e);

/* The files of one snapshot: path and backup as the rows have them, each path once and in the order of its first
 * occurrence. Slices are borrowed. A zeroed struct is empty. */
struct claude_tracked_file {
    struct slice key; /* the path, with its quotes */
    struct slice backup;
};

struct claude_tracked {
    struct claude_tracked_file *file; /* owned */
    size_t n, cap;
    struct idset paths; /* hashes of the decoded paths; their numbers are indexes of `file` */
};

void claude_tracked_fini(struct claude_tracked *t);
void claude_tracked_clear(struct claude_tracked *t);
/* Adds a file, or replaces the backup of a known one. A key that is not a JSON string is ignored. */
MUST_CHECK enum err_code claude_tracked_set(struct claude_tracked *t, struct slice key,
                                            struct slice backup);
/* Adds the members of an object. */
MUST_CHECK enum err_code claude_tracked_read(struct claude_tracked *t, struct slice object);
void claude_tracked_write(const struct claude_tracked *t, struct jsonout *j);

#endif
