#ifndef TUI_CONFIG_RESUME_COMMAND_H
#define TUI_CONFIG_RESUME_COMMAND_H

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/json/jsonout.h"
#include "store/api/session.h"
#include "store/maintenance/session_change.h"
#include "tui/config/config.h"

/* The command that resumes a session in its agent: a program, its arguments, and the directory to run it in. */
struct resume {
    char **argv;     /* in the arena, ends with NULL */
    const char *dir; /* borrowed */
    /* environment of the program; value NULL: unset it; variable NULL: no change */
    const char *variable, *value;
    const char *section; /* where the configuration sets the command, or could */
    const char *change;  /* "rename", ...: it does not resume, but makes this change; else NULL */
};

/* The command that is configured for the agent of a session, with its placeholders ("claude --resume {id}"), or NULL.
 * c may be NULL. */
const char *resume_configured(const struct config *c, const struct session_ref *ref);
/* The command that is configured for the system of the session, with id, directory and path filled
 * in. Returns ERR_UNSUPPORTED if no command is configured; the text explains where to configure
 * one. */
MUST_CHECK enum err_code resume_make(const struct config *c, const struct session_ref *ref,
                                     const char *dir, struct arena *a, struct resume *out,
                                     struct err *e);
/* Returns true if the session is forked by a command of its agent: a configured one, or the default one of a system that
 * reprise cannot fork itself. prints: also the default one of any other system, which is printed and not run. c may be
 * NULL. */
bool resume_agent_forks(const struct config *c, const struct session_ref *ref, bool prints);
/* Makes that command. Returns ERR_UNSUPPORTED if no such command exists. */
MUST_CHECK enum err_code resume_make_fork(const struct config *c, const struct session_ref *ref,
                                          const char *dir, struct arena *a, struct resume *out,
                                          struct err *e);
/* Returns ERR_UNSUPPORTED if the session's agent would not find it when started in dir, because that is not the
 * directory in which it began (cwd; empty: not known). A configured command is not judged. */
MUST_CHECK enum err_code resume_check_place(const struct config *c, const struct session_ref *ref,
                                            struct slice cwd, const char *dir, struct arena *a,
                                            struct err *e);
struct resume_world {
    const struct config *config; /* may be NULL */
    const char *home, *path;     /* $HOME, $PATH */
};
/* Makes the command with which the session's agent makes a change itself (store_ops.change_command), and completes the
 * change with it; its texts are in the arena. The command runs in the session's directory, or where that no longer
 * exists in the home directory. ERR_UNSUPPORTED: the agent has no command for it. ERR_IO: resume_check. */
MUST_CHECK enum err_code resume_make_change(const struct resume_world *w,
                                            struct agent_change *change, struct arena *a,
                                            struct resume *out, struct err *e);
/* Appends words. If the command already has a flag (--flag) and a value follows it here, only its value is
 * replaced, because not every agent accepts a flag twice. */
MUST_CHECK enum err_code resume_set(struct resume *r, const struct slice *words, size_t n,
                                    struct arena *a, struct err *e);

/* A flag that an agent is known to take when it resumes, with its values. */
struct resume_choice {
    const char *agent, *label, *flag;
    const char *values; /* separated by | */
    bool open;          /* other values can be typed */
};

/* The choices of the agent of a session. Returns how many there are. */
enum { RESUME_CHOICES_MAX = 4 };
size_t resume_choices(const struct session_ref *ref,
                      const struct resume_choice *out[RESUME_CHOICES_MAX]);
/* Returns ERR_IO if the program is not found in the path (like $PATH; NULL: the usual places); the
 * text explains what to do. */
MUST_CHECK enum err_code resume_check(const struct resume *r, const char *path, struct err *e);
/* What precedes the directory as an operand of cd: "./" if it is not absolute. */
const char *resume_cd_prefix(const struct resume *r);
/* "cd DIR && CLAUDE_CONFIG_DIR=STORE claude --resume ID", quoted for sh, bash, zsh and fish. It contains no newline,
 * except if a word ends with one. */
MUST_CHECK enum err_code resume_line(const struct resume *r, struct buf *out);
/* The members "command": [WORD...] and, if a variable is set or unset, "env": {"CLAUDE_CONFIG_DIR": STORE or null}. */
void resume_json(const struct resume *r, struct jsonout *j);
/* Replaces the process by the program. Returns only if that failed: ERR_IO, with a text that explains what to do. */
MUST_CHECK enum err_code resume_exec(const struct resume *r, struct err *e);

#endif
