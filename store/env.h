#ifndef STORE_ENV_H
#define STORE_ENV_H

#include <stdint.h>

/* Everything the library would otherwise ask the environment for. Filled once in tui/main.c; a test fills
 * it with a temporary directory. The library itself never calls getenv, getcwd or time. Strings are
 * borrowed and must outlive every store opened with them; NULL means the variable is not set (which for
 * some differs from the empty string). */
struct store_env {
    const char *home;      /* $HOME */
    const char *cwd;       /* absolute */
    const char *state_dir; /* undo records, operation log: $XDG_STATE_HOME/reprise */
    const char *data_dir;  /* trash: $XDG_DATA_HOME/reprise */
    int64_t now_ms;        /* when this command began */

    const char *claude_config_dir;       /* CLAUDE_CONFIG_DIR; "" counts (claude.md 1) */
    const char *claude_project_dir_name; /* CLAUDE_CODE_PROJECT_DIR_NAME */
    const char *claude_keep_precompact;  /* CLAUDE_CODE_DISABLE_PRECOMPACT_SKIP */
};

#endif
