#ifndef STORE_REWIND_PLAN_FORMER_H
#define STORE_REWIND_PLAN_FORMER_H

#include <stdbool.h>
#include <stdint.h>

#include "store/api/session.h"
#include "store/rewind/plan/rewind.h"

/* The directories from which `reprise move` took a session. Files in one of them that the session recorded are now those
 * in its present directory, unless the former one is there again. They are looked up in the operation log, which may be
 * long, at the first path that is elsewhere. */
struct former {
    const struct session_ref *ref;
    const char *now; /* the present directory; NULL: not known */
    const char **dir;
    size_t n;
    const char **again; /* former ones that exist, so what is in them is not the session's */
    size_t again_n;
    bool is_read;
    uint32_t used; /* a bit for each of the first 32: a path in it was asked for */
};

/* Reads the directories. */
void former_read(struct former *f, struct arena *a);
/* Where a file is now, in the arena, or the path itself. NULL: out of memory. */
const char *former_path(struct former *f, const char *path, struct arena *a);
/* Returns true if a text, such as a command, names one of the directories. */
bool former_is_in(struct former *f, struct slice text, struct arena *a);
/* Adds a note for each directory that was used. */
MUST_CHECK enum err_code former_note(const struct former *f, struct rewind_plan *plan,
                                     struct err *e);

#endif
