#ifndef STORE_JOURNAL_STEP_H
#define STORE_JOURNAL_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* A change of a session is made of steps, and there are six kinds. Each knows whether it was done, and each
 * has an inverse that is a step again: so one piece of code does a change, takes it back, does it again, and
 * cleans up after a crash.
 *
 *   kind    does                                              inverse
 *   APPEND  adds records to a log, beside live writers        TAIL that cuts them off
 *   TAIL    replaces the end of a log from `offset` on, only   TAIL with old and bytes swapped
 *           while nobody else has it open (write lease)
 *   EDIT    overwrites bytes in place, length unchanged       EDIT with old and bytes swapped
 *   PUT     replaces, creates or removes a small document     PUT with old and bytes swapped
 *   MOVE    gives a file or a directory another place,        MOVE back
 *           across file systems by a verified copy
 *   REF     lets a git ref name another commit, makes it or    REF with old and bytes swapped
 *           removes it
 *
 * A step never destroys what it did not expect: EDIT, TAIL, PUT and REF compare what lies there with `old`
 * first and answer ERR_STALE when it is something else; MOVE never replaces. */
enum step_kind { STEP_APPEND, STEP_TAIL, STEP_EDIT, STEP_PUT, STEP_MOVE, STEP_REF, STEP_KINDS };

/* How taking a step back went that a crash or a failure had left. */
enum rollback {
    ROLLBACK_DONE, /* nothing of it remains */
    ROLLBACK_CONFLICT, /* somebody worked on the same file since: what it took out lies in its record only */
    ROLLBACK_RETRY, /* a program has the file open: the next start tries again */
};

struct step {
    enum step_kind kind;
    const char *path;   /* absolute; of MOVE: from where; of REF: the git directory */
    const char *to;     /* MOVE: the directory it lies in exists; REF: the ref's name */
    const char *lock;   /* may be NULL: a file to lock while it is done (store/log/lease.h) */
    struct slice bytes; /* what shall lie there (APPEND: whole lines; REF: a commit in hex) */
    struct slice old;   /* TAIL, EDIT, PUT, REF: what lies there now */
    /* APPEND, may be empty: records to append when ours cannot be cut off again */
    struct slice opposite;
    int64_t offset; /* TAIL, EDIT; APPEND: where the bytes went, filled in when done */
    /* The file's mtime after the step; MTIME_NOW (file_at.h): left to the kernel */
    int64_t mtime_ns;
    int64_t old_mtime_ns; /* before the step: the inverse puts it back; filled in when done */
    uint32_t mode;        /* PUT: of the document; 0: that of the old one, 0600 for a new one */
    uint32_t old_mode;    /* PUT: before the step; filled in by step_prepare */
    bool absent;          /* PUT, REF: there shall be none */
    bool old_absent;      /* PUT, REF: there is none now */
    /* PUT: the directory it lies in comes and goes with it (0700; kept if not empty) */
    bool with_dir;
    bool follow; /* APPEND: through a link */
};

/* Looks at what is there before the record is written: where an append begins at the earliest, whether a newline has
 * to guard it, and the mtimes that the inverse puts back. */
MUST_CHECK enum err_code step_prepare(struct step *s, struct arena *a, struct err *e);
/* Does it, durably, but for the directory entries of a MOVE: the caller syncs those once for many moves
 * (step_sync). Fills in what the inverse needs. On failure nothing of this step remains. A TAIL that is
 * refused because the log is in use or went on, and that has an opposite, becomes the APPEND of it: the log
 * then says the old thing again and keeps what it said in between. */
MUST_CHECK enum err_code step_do(struct step *s, struct arena *a, struct err *e);
/* Would step_do refuse it, since something else is there by now? False where that cannot be told. */
bool step_is_stale(const struct step *s);
/* Has it happened? For recovery, from what lies on the disk alone; others may have written behind a TAIL. s learns where: at which offset an APPEND went, and
 * that a TAIL was done as an APPEND. */
MUST_CHECK enum err_code step_is_done(struct step *s, bool *done, struct err *e);
/* After a crash or a failure in the middle of a step that is not done: a part of an append is cut off, a mixture of
 * old and new bytes becomes the old ones, and temporary names and empty directories of a PUT go. Anything else is
 * left alone: of a TAIL, whose old bytes would be lost with the record, and of a REF that somebody moved, ERR_STALE says
 * so, and ERR_LOCKED that a program has the file open. */
MUST_CHECK enum err_code step_repair(const struct step *s, struct err *e);
/* After a crash behind a PUT or a REF that is done: temporary names go, and what it did to names becomes durable. Of other
 * kinds there is nothing to do. */
MUST_CHECK enum err_code step_clean_up(const struct step *s, struct err *e);
/* The step that takes a done step back. Slices and paths are shared with s. */
struct step step_inverse(const struct step *s);
/* Makes the names that a MOVE changed durable. */
MUST_CHECK enum err_code step_sync(const struct step *s, struct err *e);
/* Would step_sync of both sync the same directories? */
bool step_shares_dirs(const struct step *a, const struct step *b);

#endif
