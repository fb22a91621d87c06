#ifndef TUI_CONFIG_SETTINGS_H
#define TUI_CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/slice.h"

/* The settings of the screen, from the configuration and the command line. They are filled before the first update; a
 * zeroed struct is the default. Texts are borrowed and live as long as the program. */
enum key_scheme { KEYS_DEFAULT, KEYS_VIM };
/* AUTO: two lines on a narrow screen. */
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
    bool no_mouse;           /* term only */
    bool demo;               /* the sessions are samples that no agent has */
    bool print;              /* Enter prints the choice (--print) */
    bool one_store;          /* --store was given: the scope cannot be widened */
    bool leave_programmatic; /* --no-programmatic */
    struct slice query;      /* -q: the filter at the start */
    struct slice project;    /* the directory whose sessions are "here"; NUL-terminated */
    struct slice home;       /* shown as ~ */
    /* The places that were searched, for an empty list: "claude  ~/.claude/projects". */
    const char *const *looked_in;
    size_t looked_in_count;
};

#endif
