#ifndef STORE_API_ENV_H
#define STORE_API_ENV_H

#include <limits.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"

/* Everything the library would otherwise get from the environment. Filled once, in tui/main.c or by reprise_open(); a
 * test fills it with a temporary directory. The rest of the code never calls getenv or getcwd, and reads the clock only
 * in env_now_ms. Strings are borrowed and must outlive every store opened with them; NULL means the variable is not set
 * (which for some differs from the empty string). */
struct store_env {
    const char *home;      /* $HOME; NULL unless it is absolute */
    const char *cwd;       /* absolute */
    const char *state_dir; /* undo records, operation log: $XDG_STATE_HOME/reprise */
    const char *data_dir;  /* trash: $XDG_DATA_HOME/reprise */
    int64_t now_ms;        /* when this command began */
    /* Random: the ids of all changes of this process end with it. 0: each ends with a new number. */
    uint32_t run;
    const char *proc_dir; /* where running agents are looked for; NULL: /proc */
    const char *etc_dir;  /* has what an administrator set; NULL: /etc */
    /* All variables, in which env_variable finds those that name an agent's directories; may be NULL */
    const char *const *environment;

    const char *xdg_data_home;           /* XDG_DATA_HOME; NULL unless it is absolute */
    const char *crush_global_data;       /* CRUSH_GLOBAL_DATA */
    const char *goose_path_root;         /* GOOSE_PATH_ROOT */
    const char *claude_config_dir;       /* CLAUDE_CONFIG_DIR; "" counts (claude.md 1) */
    const char *claude_project_dir_name; /* CLAUDE_CODE_PROJECT_DIR_NAME */
    const char *claude_keep_precompact;  /* CLAUDE_CODE_DISABLE_PRECOMPACT_SKIP */
    const char *claude_skip_history;     /* CLAUDE_CODE_SKIP_PROMPT_HISTORY: see host_unpersisted */
};

/* Returns the value of a variable in an environment ("NAME=value" texts, ended by a NULL), borrowed; NULL if it is not
 * set. */
const char *env_value(const char *const *environment, const char *name);
/* Returns the value of a variable with which an agent names its directory; NULL if it is not set or empty. */
const char *env_variable(const struct store_env *env, const char *name);
/* $VARIABLE/reprise, else $HOME/<below>/reprise; NULL without a home, or if out of memory (a->failed). A relative value
 * is ignored (XDG base directory specification). */
const char *env_base_dir(const char *const *environment, const char *variable, const char *below,
                         struct arena *a);
/* Returns which of HOME and the XDG variables is ignored because its value is a relative path; NULL: none. */
const char *env_relative(const char *const *environment);
/* Fills in everything that an environment decides. Texts are borrowed from it or in the arena. */
struct store_env env_read(const char *const *environment, const char *cwd, int64_t now_ms,
                          struct arena *a);

/* Returns the time for a row that is written now. If now_ms was read by this process, that is the present time; any
 * other time was invented (for a test or a demo) and is returned as it is. */
int64_t env_now_ms(const struct store_env *env);

/* "<state_dir>/<name>" and "<data_dir>/<name>". ERR_NOT_FOUND if there is no such directory (no home). Nothing can then
 * be changed, because there is no place for undo records. */
MUST_CHECK enum err_code env_state_path(const struct store_env *env, const char *name,
                                        char out[PATH_MAX], struct err *e);
MUST_CHECK enum err_code env_data_path(const struct store_env *env, const char *name,
                                       char out[PATH_MAX], struct err *e);

#endif
