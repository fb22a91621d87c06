#ifndef TUI_CONFIG_RESUME_COMMAND_H
#define TUI_CONFIG_RESUME_COMMAND_H

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/json/jsonout.h"
#include "store/api/session.h"
#include "tui/config/config.h"

/* How a session is put back into its agent: a program, its words, and the directory to run it in. */
struct resume {
    char **argv;                  /* in the arena, ends with NULL */
    const char *dir;              /* borrowed */
    const char *variable, *value; /* set for the program; value NULL: unset; variable NULL: none */
};

/* The command configured for the session's system, with its id, directory and path filled in. ERR_UNSUPPORTED:
 * none is known for this system, and the text says where to configure one. */
MUST_CHECK enum err_code resume_make(const struct config *c, const struct session_ref *ref,
                                     const char *dir, struct arena *a, struct resume *out,
                                     struct err *e);
/* More words for the program, behind its own. */
MUST_CHECK enum err_code resume_add(struct resume *r, char *const *words, size_t n, struct arena *a,
                                    struct err *e);
/* ERR_IO: no such program is found along the path (as of $PATH; NULL: the usual places), and the text says what to
 * do. */
MUST_CHECK enum err_code resume_check(const struct resume *r, const char *path, const char *system,
                                      struct err *e);
/* "cd DIR && CLAUDE_CONFIG_DIR=STORE claude --resume ID", quoted for a shell, without a newline. */
MUST_CHECK enum err_code resume_line(const struct resume *r, struct buf *out);
/* "env": {"CLAUDE_CONFIG_DIR": STORE or null}, where something is to be set. */
void resume_json_env(const struct resume *r, struct jsonout *j);
/* Becomes the program. Returns only when that failed: ERR_IO, with a text that says what to do. */
MUST_CHECK enum err_code resume_exec(const struct resume *r, const char *system, struct err *e);

#endif
