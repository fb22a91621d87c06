#ifndef TUI_CONFIG_SETTINGS_H
#define TUI_CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/slice.h"

/* What configuration and command line decide about the screen. Filled before the first update by main; a
 * zeroed struct is the default. Texts are borrowed and live as long as the program. */
enum key_scheme { KEYS_DEFAULT, KEYS_VIM };
/* AUTO: two lines where the screen is narrow. */
enum density { DENSITY_AUTO, DENSITY_ONE_LINE, DENSITY_TWO_LINES };
enum preview_mode { PREVIEW_AUTO, PREVIEW_ON, PREVIEW_OFF };
enum colours { COLOURS_AUTO, COLOURS_NONE, COLOURS_16, COLOURS_256 };
enum scope_kind { SCOPE_WORKTREES, SCOPE_HERE, SCOPE_ALL };
enum sort_kind { SORT_RECENT, SORT_CREATED, SORT_SIZE, SORT_TITLE, SORT_COUNT };

struct settings {
    enum key_scheme keys;
    enum density density;
    enum preview_mode preview;
    enum colours colours; /* term/paint only */
    enum scope_kind scope;
    enum sort_kind sort;
    bool ascii;
    bool no_mouse;  /* term only */
    bool demo;      /* no agent knows these sessions */
    bool print;     /* Enter prints the choice (--print) */
    bool one_store; /* --store was given: there are no worktrees or other projects to widen to */
    bool leave_programmatic; /* --no-programmatic */
    struct slice query;      /* -q: what the filter holds at the start */
    struct slice project;    /* the directory whose sessions are "here"; NUL-terminated */
    struct slice home;       /* shown as ~ */
    /* Where we look, for the states that say so: "claude  ~/.claude/projects". */
    const char *const *looked_in;
    size_t looked_in_count;
};

#endif
