#ifndef STORE_JOURNAL_STEP_H
#define STORE_JOURNAL_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/digest.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* A change of a session is made of steps of seven kinds. For each step it can be determined whether it was done, and its
 * inverse is a step too, so the same code does a change, undoes it, redoes it, and cleans up after a crash.
 *
 *   kind    does                                              inverse
 *   APPEND  adds records to a log, beside live writers        TAIL that cuts them off
 *   TAIL    replaces the end of a log from `offset` on, only  TAIL with old and bytes swapped
 *           while no other process has it open (write lease)
 *   EDIT    overwrites bytes in place, length unchanged       EDIT with old and bytes swapped
 *   PUT     replaces, creates or removes a document           PUT with old and bytes swapped
 *   MOVE    moves a file or a directory, across file systems  MOVE back
 *           by a verified copy
 *   REF     makes a git ref name another commit, creates it   REF with old and bytes swapped
 *           or removes it
 *   ROWS    inserts rows into a database of SQLite, or        ROWS with old and bytes swapped
 *           removes them, in one transaction
 *
 * A step never destroys unexpected content: EDIT, TAIL, PUT, REF and ROWS compare the present content with `old` first and
 * return ERR_STALE if it differs; MOVE never replaces, and a session that was made is only moved as it was made. */
enum step_kind {
    STEP_APPEND,
    STEP_TAIL,
    STEP_EDIT,
    STEP_PUT,
    STEP_MOVE,
    STEP_REF,
    STEP_ROWS,
    STEP_KINDS
};

/* The result of undoing a step after a crash or a failure. */
enum rollback {
    ROLLBACK_DONE, /* nothing of it remains */
    ROLLBACK_CONFLICT, /* another program changed the same file since: what the step removed is only in its record */
    ROLLBACK_RETRY, /* a program has the file open; the next start tries again */
};

/* Contents of a document that may be larger than the memory that a change should take: a part of a file of ours, which
 * nothing changes. */
struct step_part {
    const char *path; /* NULL: the contents are in memory */
    int fd; /* -1: opened by its path; else the file has no name yet, and the change owns the descriptor */
    int64_t at, n;
    uint8_t sha256[SHA256_BYTES];
};

struct step {
    enum step_kind kind;
    const char *path; /* absolute; MOVE: the source; REF: the git directory; ROWS: the database */
    /* MOVE: the destination, whose directory and the one above it are made (0700) if they are missing; REF: the name of
     * the ref */
    const char *to;
    const char *lock; /* may be NULL: a file to lock meanwhile (log_lock_acquire) */
    /* the new content (APPEND: whole lines; REF: a commit in hex; ROWS: those that are inserted, as in sqlite_rows.h) */
    struct slice bytes;
    struct slice old; /* TAIL, EDIT, PUT, REF: the present content; ROWS: those that are removed */
    struct step_part bytes_part, old_part; /* PUT, ROWS: in place of bytes and of old */
    /* APPEND, may be empty: records to append if ours cannot be cut off again */
    struct slice opposite;
    /* TAIL, EDIT; APPEND: where the bytes went, filled in when done; MOVE with `made`: the bytes of all its files,
     * filled in by step_prepare */
    int64_t offset;
    /* The file's mtime after the step; MTIME_NOW (file_at.h) leaves it to the kernel. */
    int64_t mtime_ns;
    int64_t old_mtime_ns; /* before the step, for the inverse; filled in when done */
    uint32_t mode;     /* PUT: mode of the document; 0: that of the old one, 0600 for a new one */
    uint32_t old_mode; /* PUT: the mode before the step; filled in by step_prepare */
    bool absent;       /* PUT, REF, ROWS: it does not exist afterwards */
    bool old_absent;   /* PUT, REF, ROWS: it does not exist before */
    /* PUT: its directory is made and removed with it (0700; kept if not empty) */
    bool with_dir;
    bool follow; /* APPEND: through a link */
    /* MOVE: a session that the change made or gave back. Its undo takes it away from its agent, so it is refused once
     * the files have another size: the session has continued. */
    bool made;
};

/* Examines the files before the record is written: where an append begins at the earliest, whether it needs a newline
 * in front, and the mtimes that the inverse sets. */
MUST_CHECK enum err_code step_prepare(struct step *s, struct arena *a, struct err *e);
/* Does the step, durably except for the directory entries of a MOVE: the caller syncs those once for many moves
 * (step_sync). Fills in what the inverse needs. On failure nothing of this step remains. A TAIL that has an opposite,
 * and is refused because the log is in use or was continued, becomes the APPEND of the opposite: this restores the old
 * value and keeps what was written in between. */
MUST_CHECK enum err_code step_do(struct step *s, struct arena *a, struct err *e);
/* Returns true if step_do would refuse it because the content changed. Returns false if that cannot be known. */
bool step_is_stale(const struct step *s);
/* Fails if step_do would, because a file or a directory that it writes to may not be written: the error names it. */
MUST_CHECK enum err_code step_check_allowed(const struct step *s, struct err *e);
/* Sets *done to whether the step was done, for recovery, from the disk alone; others may have written after a TAIL.
 * Fills in the offset of an APPEND, and turns a TAIL that was done as an APPEND into one. */
MUST_CHECK enum err_code step_is_done(struct step *s, bool *done, struct err *e);
/* Repairs a step that a crash or a failure interrupted: a part of an append is cut off, a mixture of old and new bytes
 * becomes the old ones, and temporary names and empty directories of a PUT are removed. Anything else is left alone.
 * ERR_STALE: a TAIL whose old bytes would be lost with the record, or a REF that was moved by another program.
 * ERR_LOCKED: a program has the file open. */
MUST_CHECK enum err_code step_repair(const struct step *s, struct err *e);
/* After a crash right after a PUT or a REF was done: temporary names are removed, and changes of names become durable.
 * Other kinds need nothing. */
MUST_CHECK enum err_code step_clean_up(const struct step *s, struct err *e);
/* The step that undoes a done step. Slices and paths are shared with s. */
struct step step_inverse(const struct step *s);
/* Makes the names that a MOVE changed durable. */
MUST_CHECK enum err_code step_sync(const struct step *s, struct err *e);
/* Returns true if step_sync of both would sync the same directories. */
bool step_shares_dirs(const struct step *a, const struct step *b);

#endif
