#ifndef TUI_COMMANDS_OPTION_H
#define TUI_COMMANDS_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "tui/commands/out.h"

/* All options of the program. A command lists the bits of those that it takes; parsing and help use
 * one table (option.c). */
/* clang-format off */
enum option_id {
    /* of every command */
    OPTION_DIRECTORY, OPTION_STORE, OPTION_PROJECT, OPTION_ALL, OPTION_JSON, OPTION_COLOR, OPTION_ASCII,
    OPTION_CONFIG, OPTION_KEYS, OPTION_HELP, OPTION_VERSION,
    /* of the picker */
    OPTION_RESUME, OPTION_CONTINUE, OPTION_PRINT, OPTION_QUERY, OPTION_PLAIN,
    OPTION_PRINT_DIRECTORY,
    /* which rows */
    OPTION_LIMIT, OPTION_OFFSET, OPTION_SYSTEM, OPTION_TAG, OPTION_BRANCH, OPTION_SINCE, OPTION_BEFORE,
    OPTION_ARCHIVED, OPTION_NO_PROGRAMMATIC, OPTION_NO_WORKTREES, OPTION_SORT, OPTION_SYSTEM_MESSAGES,
    /* of single commands */
    OPTION_AGENT, OPTION_AT, OPTION_TO, OPTION_MODE, OPTION_FILE, OPTION_DRY_RUN, OPTION_APPLY, OPTION_PLAN,
    OPTION_SKIP_REFUSED, OPTION_SKIP_EDITED, OPTION_OVERWRITE_EDITED, OPTION_ALLOW_OUTSIDE,
    OPTION_ALLOW_SENSITIVE, OPTION_ENTIRE_RULE, OPTION_MOVE_BRANCH, OPTION_FORCE, OPTION_NONE,
    OPTION_PERMANENTLY, OPTION_OLDER_THAN, OPTION_INTO, OPTION_ONLY, OPTION_LARGER_THAN, OPTION_EMPTY,
    OPTION_FIX, OPTION_TITLE, OPTION_WITH_FILES, OPTION_CLEAR, OPTION_CUT, OPTION_ID, OPTION_CWD,
    OPTION_MODEL, OPTION_PARENT, OPTION_TRANSCRIPT, OPTION_NO_PERSIST, OPTION_INFERRED, OPTION_SPOKEN,
    OPTION_AS_SDK, OPTION_TAIL, OPTION_SAVED_FILES, OPTION_ORPHANS, OPTION_JOIN,
    OPTION_PATTERN, OPTION_FIXED, OPTION_WORDS, OPTION_ANY, OPTION_IGNORE_CASE, OPTION_CASE, OPTION_IN,
    OPTION_CONTEXT, OPTION_COUNTS, OPTION_SESSIONS, OPTION_BY, OPTION_PORCELAIN,
    OPTION_TASK, OPTION_DIALECT, OPTION_SAVE, OPTION_RAW, OPTION_AS_FORK, OPTION_KEY, OPTION_CHECK, OPTION_EDIT,
    OPTION_ALL_KINDS, OPTION_FORMAT, OPTION_OUTPUT, OPTION_TOOLS, OPTION_THINKING, OPTION_WITH_SUBAGENTS, OPTION_FROM, OPTION_REDACT, OPTION_YES,
    OPTION_COUNT
};
/* clang-format on */

/* A set of options, of which there are more than 64. */
__extension__ typedef unsigned __int128 option_bits;
_Static_assert(OPTION_COUNT <= 128, "a bit for each option");

#define OPTION_BIT(name) ((option_bits)1 << OPTION_##name)
/* The options of every command. */
#define OPTION_GLOBALS                                                                             \
    (OPTION_BIT(DIRECTORY) | OPTION_BIT(STORE) | OPTION_BIT(PROJECT) | OPTION_BIT(ALL) |           \
     OPTION_BIT(JSON) | OPTION_BIT(COLOR) | OPTION_BIT(ASCII) | OPTION_BIT(CONFIG) |               \
     OPTION_BIT(KEYS) | OPTION_BIT(HELP) | OPTION_BIT(VERSION))

enum { OPTION_STORES_MAX = 32, OPTION_FILES_MAX = 1024, OPTION_PATTERNS_MAX = 32 };
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
enum option_sort { OPTION_SORT_RECENT, OPTION_SORT_CREATED, OPTION_SORT_SIZE, OPTION_SORT_TITLE };
enum option_mode {
    OPTION_MODE_CODE,
    OPTION_MODE_CONVERSATION,
    OPTION_MODE_BOTH,
    OPTION_MODE_HISTORY_ONLY,     /* ExAthena's word for the conversation ... */
    OPTION_MODE_CODE_AND_HISTORY, /* ... and for both */
};
enum option_keys { OPTION_KEYS_DEFAULT, OPTION_KEYS_VIM };

/* The options that were given. Texts are borrowed from argv. */
struct options {
    option_bits given; /* OPTION_BIT of each option that was there */
    const char *directory, *project, *config;
    const char *store[OPTION_STORES_MAX];
    size_t stores;
    const char *resume; /* NULL with OPTION_RESUME given: open the picker */
    const char *query, *system, *tag, *branch, *since, *before, *agent, *at;
    const char *to, *plan, *older_than, *larger_than, *into, *title;
    const char *id, *cwd, *model, *parent, *task, *dialect, *key, *output, *from;
    const char *file[OPTION_FILES_MAX];
    size_t files;
    const char *pattern[OPTION_PATTERNS_MAX];
    size_t patterns;
    const char *in;
    int64_t limit, offset, tail, context;
    int color, sort, keys, mode, by; /* the enums above */
    int format, tools;               /* enum export_format, export_tools */
};

static inline bool option_given(const struct options *o, enum option_id which)
{
    return (o->given >> which & 1) != 0;
}

/* The value of an option as a slice, empty if it was not given. */
static inline struct slice option_text(const char *value)
{
    return (struct slice){ value, value ? strlen(value) : 0 };
}

/* Reads the options in `allowed` from argv[1..] into *o, wherever they are; `--` ends them. With
 * `stop_early`, reading ends at the first word that is not an option. argv is reordered so that all
 * operands are at the end; *first is the index of the first one. The error ERR_USAGE names the
 * wrong word. */
MUST_CHECK enum err_code options_read(int argc, char **argv, option_bits allowed, bool stop_early,
                                      struct options *o, int *first, struct err *e);
/* ERR_USAGE names the first given option that is not allowed. */
MUST_CHECK enum err_code options_check(const struct options *o, option_bits allowed, struct err *e);
/* The part of a command's help that explains a set of options; nothing for an empty one. */
void options_help(const char *title, const char *command, option_bits which, struct out *o);

/* What completions need to know about an option. */
enum option_value {
    OPTION_WITHOUT_VALUE,
    OPTION_MAY_HAVE_VALUE,
    OPTION_NEEDS_VALUE,
    OPTION_NEEDS_CHOICE
};
struct option_about {
    const char *name; /* without the dashes; NULL: only a letter */
    char letter;      /* 0: only a name */
    enum option_value value;
    const char *arg; /* the name of the value in help, or its choices, separated by | */
    const char *help;
};
/* The command, or NULL for the picker, matters because an option can mean something else to one of them. */
struct option_about option_about(enum option_id which, const char *command);
/* The option that a word of the command line begins with: "--sort", "--sort=size", "-n", "-n5". OPTION_COUNT: none. */
enum option_id option_of_word(const char *word);

#endif
