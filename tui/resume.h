#ifndef TUI_RESUME_H
#define TUI_RESUME_H

#include "lite/arena.h"
#include "lite/buf.h"
#include "lite/err.h"
#include "lite/slice.h"
#include "store/session.h"
#include "tui/config.h"

/* How a session is put back into its agent: a program, its words, and the directory to run it in. */
struct resume {
    char **argv;     /* in the arena, ends with NULL */
    const char *dir; /* borrowed */
};

/* The command configured for the session's system, with its id, directory and path filled in. ERR_UNSUPPORTED:
 * none is known for this system, and the text says where to configure one. */
MUST_CHECK enum err_code resume_make(const struct config *c, const struct session_ref *ref,
                                     const char *dir, struct arena *a, struct resume *out,
                                     struct err *e);
/* "cd DIR && claude --resume ID", quoted for a shell, without a newline. */
MUST_CHECK enum err_code resume_line(const struct resume *r, struct buf *out);
/* Becomes the program. Returns only when that failed: ERR_IO, with a text that says what to do. */
MUST_CHECK enum err_code resume_exec(const struct resume *r, const char *system, struct err *e);

#endif
