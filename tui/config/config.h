#ifndef TUI_CONFIG_CONFIG_H
#define TUI_CONFIG_CONFIG_H

#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "tui/config/settings.h"
#include "tui/data/findings.h"
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
 * Mistakes are left out and reported with their line; the rest counts. */
struct config_resume {
    const char *system;
    /* a line for shell_split with {id}, {cwd}, {path}; in the arena or static */
    const char *command;
};

enum { CONFIG_SYSTEMS_MAX = 16 };

struct config {
    struct arena arena;
    struct settings settings; /* only the members that the file sets */
    struct theme theme;
    struct config_resume resume[CONFIG_SYSTEMS_MAX];
    size_t resumes;
    struct problem_list *problems; /* owned; each names file:line; NULL without mistakes */
};

/* The defaults alone. */
void config_init(struct config *c);
/* Reads the file over the defaults. ERR_NOT_FOUND if it does not exist, which may be fine for the caller. */
MUST_CHECK enum err_code config_read(struct config *c, const char *path, struct err *e);
void config_fini(struct config *c);
/* The resume command of a system; NULL if it has no default and is not configured. */
const char *config_resume_command(const struct config *c, const char *system);
/* The index of a word in "one|two|three", or -1. */
int config_word_index(const char *words, const char *word);

#endif
