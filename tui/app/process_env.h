#ifndef TUI_APP_PROCESS_ENV_H
#define TUI_APP_PROCESS_ENV_H

#include <stdbool.h>

#include "store/api/env.h"

/* What the process was given by whoever started it: filled in main.c, read-only everywhere else. A test
 * fills one by hand. Strings are borrowed from the environment and may be NULL where a variable is not
 * set. */
struct process_env {
    struct store_env env;
    const char *config_dir; /* $XDG_CONFIG_HOME/reprise; NULL without a home */
    const char *term;       /* $TERM */
    const char *editor;     /* $VISUAL, else $EDITOR */
    const char *path;       /* $PATH */
    const char *temp_dir;   /* $TMPDIR, else /tmp */
    bool no_color;          /* NO_COLOR is set to something */
    bool utf8;              /* the locale's character set is UTF-8 */
};

#endif
