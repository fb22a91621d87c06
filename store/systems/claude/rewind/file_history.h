#ifndef STORE_SYSTEMS_CLAUDE_REWIND_FILE_HISTORY_H
#define STORE_SYSTEMS_CLAUDE_REWIND_FILE_HISTORY_H

#include <stdbool.h>

#include "lite/base/id.h"
#include "lite/base/slice.h"
#include "lite/json/jsonout.h"
#include "store/api/store.h"
#include "store/systems/claude/chain/log.h"
#include "store/systems/claude/chain/row_facts.h"

/* The file history of a session: the content of each tracked file when each prompt was sent
 * (claude.md C2). Two generations of the client write it differently:
 *
 *   2.1.197  file-history-snapshot at each prompt, and the whole snapshot again (isSnapshotUpdate) at the first
 *            edit of a file in the turn
 *   2.1.330  the same snapshot, and at a first edit a file-history-delta with the one new entry
 *
 * A delta whose snapshot row is not in the file belongs to a turn whose record was lost. The client derives one from
 * the previous turn, and so restores older contents than requested; here the turn is `lost`, and a rewind to it is
 * refused. */

struct file_history_entry {
    const char *path;        /* as written: absolute, or relative to the session's directory */
    const char *backup;      /* name of the saved copy; NULL: there was no file */
    const char *real_parent; /* NULL: not recorded */
    int64_t version;
    struct slice time; /* when it was saved, as written */
    /* the recorded text is not a path: it is empty, or has a NUL, which is written as \0 in `path` */
    bool no_path;
    bool valid;   /* the backup's name is one that a client writes */
    bool touched; /* it was saved because the file was about to be edited in its turn */
    /* carried into a later turn (file_history_carry), and the file was edited before that */
    bool stale;
};

struct file_history_turn {
    struct id128 prompt;
    struct slice id; /* the prompt's uuid */
    int64_t time_ms;
    size_t message; /* its index in the transcript */
    bool lost;      /* no snapshot row: only deltas */
    struct file_history_entry *entry;
    size_t n;
    uint32_t *at; /* by the number of a path: index of its entry + 1 */
    size_t ats;
};

struct file_history {
    struct arena arena;             /* owns everything */
    struct file_history_turn *turn; /* those on the conversation path, oldest first */
    size_t n;
    const char **path; /* tracked in any of them, in the order of first tracking */
    size_t paths;
    struct slice_set number; /* the index of each path in `path` */
    /* by that number: the path's version 1 and its newest entry, or NULL */
    const struct file_history_entry **first, **newest;
    size_t *newest_turn; /* and the turn of its newest entry */
};

/* t is the whole conversation (claude_load). A session without history has an empty one. */
MUST_CHECK enum err_code file_history_read(const struct session_ref *ref,
                                           const struct transcript *t, struct file_history *out,
                                           struct err *e);
void file_history_fini(struct file_history *h);

/* 16 or 64 hex digits, "@v", digits: the names that clients write and accept. Any other text could be a path. */
bool file_history_is_backup_name(struct slice name);

/* After a compaction and a restart, the client has forgotten which files it tracked: a snapshot then lacks files that
 * earlier ones have. Their newest entry is carried into these turns. edited[] has the size of `path` and is scratch;
 * mark() sets it for the files that the conversation edits from this turn on and before the next one. */
typedef enum err_code file_history_mark_fn(void *arg, size_t turn, bool edited[], struct err *e);
MUST_CHECK enum err_code file_history_carry(struct file_history *h, file_history_mark_fn *mark,
                                            void *arg, struct err *e);

/* The entry of the file at a turn: the turn's own entry or, carried, the newest one before it; else, if the file was
 * first touched later, its first version. NULL if not known. */
const struct file_history_entry *file_history_at(const struct file_history *h, size_t turn,
                                                 const char *path);
/* The newest entry of the file. */
const struct file_history_entry *file_history_newest(const struct file_history *h,
                                                     const char *path);

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
