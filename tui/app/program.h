#ifndef TUI_APP_PROGRAM_H
#define TUI_APP_PROGRAM_H

#include <stdbool.h>

#include "store/api/env.h"

/* The program's version, and its environment. */

/* "reprise 0.2.0": the version of the build, for --version and the help screen. */
#define PROGRAM_VERSION ("reprise " REPRISE_VERSION)

/* The environment of the process. main.c fills it in, and it is read-only everywhere else; a test
 * fills one in by hand. Strings are borrowed from the environment; they are NULL if the variable is
 * not set. */
struct process_env {
    struct store_env env;
    const char *config_dir; /* $XDG_CONFIG_HOME/reprise; NULL without a home */
    const char *term;       /* $TERM */
    const char *editor;     /* $VISUAL, else $EDITOR */
    const char *path;       /* $PATH */
    const char *temp_dir;   /* $TMPDIR, else /tmp */
    bool no_color;          /* NO_COLOR is set and not empty */
    bool true_colour;       /* COLORTERM is truecolor or 24bit */
    bool utf8;              /* the locale's character set is UTF-8 */
};

#endif
