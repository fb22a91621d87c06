#ifndef STORE_REWIND_PLAN_TURN_FILES_H
#define STORE_REWIND_PLAN_TURN_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/digest.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/session.h"

/* The files of a session's project as they were at one or two of its points. Only files that a plan of a rewind names may
 * have been different then; the others are those that are there now. Nothing is written, and no file is refused: what a
 * rewind must not touch can still be read. */

struct turn_state {
    bool exists;
    /* Why its text is not shown, as a static text; NULL: it is, or there is no file. */
    const char *why;
    struct slice text; /* in the arena */
    int64_t size;      /* The size of a file; 0: not known. */
    bool has_sum;      /* its bytes were read */
    uint8_t sum[SHA256_BYTES];
};

struct turn_file {
    struct slice path; /* below the project, relative to it; else absolute */
    /* A plan names it, and its states are known; else it is as it is now. */
    bool was_planned;
    bool differs; /* between the two states */
    struct turn_state state[2];
};

struct turn_files {
    struct arena arena;
    /* The project; NULL: the session was in no project, and has planned files only. */
    const char *root;
    struct turn_file *file; /* by path */
    size_t n;
    bool is_cut; /* the project has more files than are listed */
};

/* Reads the states at two points; an empty one stands for the present files. ERR_NOT_FOUND: no such point.
 * turn_files_fini() frees *out. */
MUST_CHECK enum err_code turn_files_read(const struct session_ref *ref, const struct slice point[2],
                                         struct turn_files *out, struct err *e);
void turn_files_fini(struct turn_files *t);
void turn_files_free(struct turn_files *t); /* allocated by malloc(); may be NULL */

/* The text of a file that is as it is now, at its absolute path. *why as in turn_state. */
MUST_CHECK enum err_code turn_files_read_present(const char *path, struct buf *text,
                                                 const char **why, struct err *e);

#endif
