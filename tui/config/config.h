#ifndef TUI_CONFIG_CONFIG_H
#define TUI_CONFIG_CONFIG_H

#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "tui/config/settings.h"
#include "tui/data/name_list.h"
#include "tui/widgets/theme.h"

/* The configuration file:
 *
 *     keys = vim              default | vim
 *     density = auto          auto (two lines below 120 columns) | one-line | two-lines
 *     preview = off           auto | on | off
 *     scope = all             worktrees | here | all
 *     sort = created          recent | created | size | title
 *     colors = 256            auto | none | 16 | 256
 *     ascii = yes             yes | no
 *     mouse = no              yes | no
 *
 *     [claude]
 *     resume = claude --resume {id}
 *
 *     [colors]
 *     title = bold bright-white
 *
 * Whatever it says wrongly is left out and named with its line; the rest counts. */
struct config_resume {
    const char *system;
    /* a line for shell_split with {id}, {cwd}, {path}; in the arena or static */
    const char *command;
};

enum { CONFIG_SYSTEMS_MAX = 16 };

struct config {
    struct arena arena;
    struct settings settings; /* only what the file decides */
    struct theme theme;
    struct config_resume resume[CONFIG_SYSTEMS_MAX];
    size_t resumes;
    struct problem_list *problems; /* owned; NULL: none. Each names file:line */
};

/* The defaults alone. */
void config_init(struct config *c);
/* Reads the file over the defaults. ERR_NOT_FOUND: it is not there (which need not matter to the caller). */
MUST_CHECK enum err_code config_read(struct config *c, const char *path, struct err *e);
void config_fini(struct config *c);
/* The resume command of a system; NULL: none is known, the person has to configure it. */
const char *config_resume_command(const struct config *c, const char *system);

#endif
