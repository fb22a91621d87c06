#ifndef TUI_CONFIG_CONFIG_H
#define TUI_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/plugin.h"
#include "store/api/store.h"
#include "store/keep/keep.h"
#include "store/query/usage.h"
#include "tui/app/key.h"
#include "tui/data/findings.h"
#include "tui/widgets/theme.h"

/* The settings of the screen, from the configuration and the command line. They are filled before the first update; a
 * zeroed struct is the default. Texts are borrowed and live as long as the program. */
/* AUTO: two lines on a narrow screen. */
enum density { DENSITY_AUTO, DENSITY_ONE_LINE, DENSITY_TWO_LINES };
enum preview_mode { PREVIEW_AUTO, PREVIEW_ON, PREVIEW_OFF };
enum colours { COLOURS_AUTO, COLOURS_NONE, COLOURS_16, COLOURS_256, COLOURS_TRUE };
/* AUTO: dark, or light if the terminal reports a light background. The other values follow enum
 * theme_id. */
enum theme_choice { THEME_AUTO, THEME_FIRST };
enum scope_kind { SCOPE_WORKTREES, SCOPE_HERE, SCOPE_ALL };
/* The orders of the screen, and one that only `list` has. */
enum sort_kind {
    SORT_RECENT,
    SORT_CREATED,
    SORT_SIZE,
    SORT_TITLE,
    SORT_COUNT,
    SORT_MODIFIED = SORT_COUNT
};

struct settings {
    struct keymap keys;
    enum density density;
    enum preview_mode preview;
    enum colours colours; /* term/paint only */
    enum theme_choice theme;
    enum scope_kind scope;
    enum sort_kind sort;
    bool ascii;
    bool no_mouse;           /* term only */
    bool demo;               /* the sessions are samples that no agent has */
    bool print;              /* Enter prints the choice (--print) */
    bool leave_programmatic; /* --no-programmatic */
    bool all_kinds;          /* --all-kinds */
    struct slice query;      /* -q: the filter at the start */
    struct slice project;    /* the directory whose sessions are "here"; NUL-terminated */
    struct slice home;       /* shown as ~ */
    /* The places that were searched, for an empty list: "claude  ~/.claude/projects". */
    const char *const *looked_in;
    size_t looked_in_count;
    const struct config *config; /* NULL: the systems' default commands are used */
};

/* The configuration file:
 *
 *     keys = vim              default | vim
 *     density = auto          auto (two lines below 80 columns) | one-line | two-lines
 *     preview = off           auto | on | off
 *     scope = all             worktrees | here | all
 *     sort = created          recent | created | size | title
 *     colors = 256            auto | none | 16 | 256 | true
 *     theme = light           auto | dark | light | contrast
 *     ascii = yes             yes | no
 *     mouse = no              yes | no
 *
 *     [claude]
 *     resume = claude --resume {id}
 *
 *     [codex]                 the commands with which an agent changes a session itself, where reprise does not:
 *     delete = codex delete --force {id}   and rename (with {title}), archive, unarchive
 *
 *     [keys.list]             a section for each context of the key tables: the keys of an action in it
 *     delete = del ctrl-d     one or more, or `none`
 *
 *     [colors]
 *     title = bold bright-white
 *
 *     [prices]                US dollars per million tokens of a model, for `reprise usage`:
 *     claude-opus-4* = 5 25 6.25 0.5      input, output, cache write, cache read
 *
 *     [keep]                  what `reprise keep` keeps without other words:
 *     sessions = tag:keep     never | all | a query of the list
 *     max-size = 10G          limits, which remove only what has lost its original
 *     max-age = 365d
 *     max-sessions = 1000
 *
 *     [snapshots]             how long those of a project are kept, and how much of them
 *     max-age = 30d
 *     max-size = 1G
 *
 *     [store.team]            a store of a plug-in (store/api/plugin.h), called "team"
 *     plugin = postgresql
 *     path = postgresql://db.example.org/sessions
 *     timeout = 10            and whatever else the plug-in knows
 *
 *     [store.work]            another store in the format of a system, called "work"
 *     format = claude
 *     path = ~/.claude-work
 *     resume = claude-work --resume {id}   the commands of its agent; without them those of the system
 *     fork = claude-work --resume {id} --fork-session
 *                             and rename, archive, unarchive, delete
 *
 * Settings with mistakes are ignored and reported with their line; the others apply. */
struct config_resume {
    const char *system;
    /* a line for shell_split with {id}, {cwd}, {path}; in the arena or static */
    const char *command;
};

/* A command with which an agent changes a session itself. */
struct config_change {
    const char *section; /* the name of a system or of a store */
    enum store_command what;
    const char *line; /* as in config_resume, and {title} */
};

/* A section [store.NAME]. */
struct config_store {
    struct plugin_config plugin; /* its name and path, even if it is not the store of a plug-in */
    const struct store_ops *format; /* the system of the format; NULL: the store of a plug-in */
    const char *resume, *fork;      /* as in config_resume; NULL: the system's commands */
};

enum {
    CONFIG_SYSTEMS_MAX = 64,
    CONFIG_STORES_MAX = 8,
    CONFIG_CHANGES_MAX = 64,
    CONFIG_PRICES_MAX = 64,
    CONFIG_KEYS_MAX = 256
};

/* The prices of a model. A name that ends with * matches every name with that beginning. */
struct config_price {
    const char *model;         /* in the arena */
    double price[USAGE_KINDS]; /* by enum usage_kind, for a million tokens */
};

/* A setting with its value, for `reprise config`. */
struct config_entry {
    const char *section; /* "" for the settings of the screen */
    const char *name;
    struct slice value;
    const char *words; /* the values that it may have, separated by |; NULL: any text */
    int line;          /* the line of the file; 0: the default */
    bool overridden;   /* by the command line or the environment; `value` is what is in force */
};

struct config {
    struct arena arena;
    struct settings of_file;  /* only the members that the file sets */
    struct settings settings; /* the same, then what overrules them */
    /* light: for `auto`, once the terminal's background is known to be light */
    struct theme theme, light;
    struct theme_style style[STYLE_COUNT]; /* from [colors], instead of the theme */
    bool styled[STYLE_COUNT];
    struct config_resume resume[CONFIG_SYSTEMS_MAX];
    size_t resumes;
    struct config_change change[CONFIG_CHANGES_MAX]; /* the later ones count */
    size_t changes;
    struct config_store store[CONFIG_STORES_MAX]; /* texts and options in the arena */
    size_t stores;
    struct config_price price[CONFIG_PRICES_MAX];
    size_t prices;
    const char *keep; /* the setting in [keep]: "all" or a query, in the arena; NULL: never */
    struct keep_limits keep_limits;
    struct keep_limits snapshot_limits; /* 0: the default */
    /* The file, or a limit of [snapshots], cannot be read: the defaults may not be what is meant. */
    bool limits_unknown;
    struct key_binding *bound;  /* settings.keys borrows them; in the arena */
    struct config_entry *entry; /* the valid settings of the file, in the arena */
    size_t entries;
    struct problem_list *problems; /* owned; each names file:line; NULL without mistakes */
};

/* The defaults alone. */
void config_init(struct config *c);
/* Reads the file, whose path is absolute, over the defaults. Returns ERR_NOT_FOUND if it does not exist, which callers
 * may accept, and ERR_UNSAFE if other users could change it (path_trusted). */
MUST_CHECK enum err_code config_read(struct config *c, const char *path, struct err *e);
/* Removes and reports impossible key bindings, and those that leave another action without a key.
 * Called when the key scheme is known. Returns false if out of memory. */
MUST_CHECK bool config_check_keys(struct config *c, const char *path);
void config_fini(struct config *c);
/* The resume command of a system or of a named store; NULL if it has no default and is not
 * configured. */
const char *config_resume_command(const struct config *c, const char *system);
/* The command that is configured for a change of sessions of this store; NULL: none. *own: it is of the store's own
 * section. */
const char *config_change_command(const struct config *c, const struct store_ops *ops,
                                  enum store_command what, bool *own);
/* Makes the configured commands those of an open store. Its table of operations is then in the arena. ERR_NOMEM. */
MUST_CHECK enum err_code config_use_changes(const struct config *c, struct store *st,
                                            struct arena *a, struct err *e);
/* The store with this name; NULL if it is not configured. */
const struct config_store *config_store(const struct config *c, struct slice name);
/* The name of a system, or of a configured store, that was probably meant by a mistyped one; NULL if that would be a
 * guess. c may be NULL. *best is as in tui/text/nearest.h. */
const char *config_nearest_store(const struct config *c, const char *typed, size_t *best);
/* The cost of an answer in US dollars, as recorded or else by the price of its model (found by its
 * name or by the longest matching beginning); NAN if neither is known. */
double config_cost(const struct config *c, const struct usage_answer *a, struct slice model);
/* The n-th of all settings: those of the screen, the resume commands, and whatever else the file
 * sets. Returns false if there are fewer. */
bool config_entry_at(const struct config *c, size_t n, struct config_entry *out);
/* The index of a word in "one|two|three", or -1. */
int config_word_index(const char *words, const char *word);

/* ---- for the files of this folder ---- */

/* Reading the configuration file: the argument of ini_parse_stream() and of its handler. */
struct reading {
    struct config *config;
    const char *path;
    struct slice rest; /* the unread rest of the file */
    int line;          /* the one being read, from 1 */
    bool no_memory;
};

/* Notes a mistake in the line that is being read. */
void config_add_problem(struct reading *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* "unknown setting pewview; did you mean preview?"; near may be NULL. */
void config_add_unknown(struct reading *r, const char *what, const char *typed, const char *near);

/* A setting below [store.NAME]. At the end of the file, the settings that no store has are reported. */
#define STORE_SECTION "store."
void config_set_store(struct reading *r, const char *section, const char *name, const char *value);
void config_check_stores(struct reading *r);

/* A command with which an agent changes sessions, below [SYSTEM] or [store.NAME]. Returns STORE_COMMANDS for other
 * keys. */
enum store_command config_change_key(const char *name);
void config_set_change(struct reading *r, const char *section, enum store_command what,
                       const char *value);

/* A setting below [keep] or [snapshots]. */
void config_set_keep(struct reading *r, const char *name, const char *value);
void config_set_snapshots(struct reading *r, const char *name, const char *value);

/* A setting below [keys.CONTEXT]. */
#define KEYS_SECTION "keys."
void config_set_keys(struct reading *r, const char *context, const char *action, const char *keys);

#endif
