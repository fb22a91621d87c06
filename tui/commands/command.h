#ifndef TUI_COMMANDS_COMMAND_H
#define TUI_COMMANDS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "tui/app/program.h"
#include "tui/commands/out.h"
#include "tui/config/config.h"

/* All options of the program. A command lists the bits of those that it takes; parsing and help use
 * one table (option.c). */
/* clang-format off */
enum option_id {
    /* Options of every command. */
    OPTION_DIRECTORY, OPTION_STORE, OPTION_PROJECT, OPTION_ALL, OPTION_JSON, OPTION_COLOR, OPTION_ASCII,
    OPTION_CONFIG, OPTION_KEYS, OPTION_HELP, OPTION_VERSION,
    /* Options of the picker. */
    OPTION_RESUME, OPTION_CONTINUE, OPTION_PRINT, OPTION_QUERY, OPTION_PLAIN,
    OPTION_PRINT_DIRECTORY,
    /* which rows */
    OPTION_LIMIT, OPTION_OFFSET, OPTION_SYSTEM, OPTION_TAG, OPTION_BRANCH, OPTION_SINCE, OPTION_BEFORE,
    OPTION_ARCHIVED, OPTION_NO_PROGRAMMATIC, OPTION_NO_WORKTREES, OPTION_SORT, OPTION_SYSTEM_MESSAGES,
    /* Options of single commands. */
    OPTION_AGENT, OPTION_AT, OPTION_TO, OPTION_MODE, OPTION_FILE, OPTION_DRY_RUN, OPTION_APPLY, OPTION_PLAN,
    OPTION_SKIP_REFUSED, OPTION_SKIP_EDITED, OPTION_OVERWRITE_EDITED, OPTION_ALLOW_OUTSIDE,
    OPTION_ALLOW_SENSITIVE, OPTION_ENTIRE_RULE, OPTION_MOVE_BRANCH, OPTION_FORCE, OPTION_END, OPTION_REQUESTS, OPTION_NONE,
    OPTION_PERMANENTLY, OPTION_OLDER_THAN, OPTION_INTO, OPTION_ONLY, OPTION_LARGER_THAN, OPTION_EMPTY,
    OPTION_FIX, OPTION_TITLE, OPTION_WITH_FILES, OPTION_CLEAR, OPTION_CUT, OPTION_ID, OPTION_CWD,
    OPTION_MODEL, OPTION_PARENT, OPTION_TRANSCRIPT, OPTION_NO_PERSIST, OPTION_INFERRED, OPTION_SPOKEN,
    OPTION_AS_SDK, OPTION_TAIL, OPTION_SAVED_FILES, OPTION_ORPHANS, OPTION_JOIN,
    OPTION_PATTERN, OPTION_FIXED, OPTION_WORDS, OPTION_ANY, OPTION_IGNORE_CASE, OPTION_CASE, OPTION_IN,
    OPTION_CONTEXT, OPTION_COUNTS, OPTION_SESSIONS, OPTION_BY, OPTION_PORCELAIN,
    OPTION_TASK, OPTION_DIALECT, OPTION_SAVE, OPTION_RAW, OPTION_AS_FORK, OPTION_KEY, OPTION_CHECK, OPTION_EDIT,
    OPTION_ALL_KINDS, OPTION_FORMAT, OPTION_OUTPUT, OPTION_TOOLS, OPTION_THINKING, OPTION_WITH_SUBAGENTS, OPTION_FROM, OPTION_REDACT, OPTION_YES, OPTION_KEEP,
    OPTION_INCLUDE_TAGGED, OPTION_INCLUDE_NAMED, OPTION_BACK_TO, OPTION_EVENT, OPTION_VERBOSE, OPTION_DUE,
    OPTION_WATCH, OPTION_BELL, OPTION_RECONNECT, OPTION_AFTER, OPTION_AROUND, OPTION_FOLLOW, OPTION_MAX_BYTES, OPTION_INSTALL, OPTION_REMOVE, OPTION_SKILL, OPTION_BY_TURN, OPTION_NOTES,
    OPTION_TAKE, OPTION_HUNK, OPTION_LIST, OPTION_INSTALL_TIMER, OPTION_REMOVE_TIMER, OPTION_PLUGIN,
    OPTION_BUNDLE,
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
enum option_sort {
    OPTION_SORT_RECENT,
    OPTION_SORT_CREATED,
    OPTION_SORT_SIZE,
    OPTION_SORT_TITLE,
    OPTION_SORT_MODIFIED
};
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
    const char *query, *system, *tag, *branch, *since, *before, *after, *around, *agent, *at;
    const char *to, *plan, *older_than, *larger_than, *into, *title;
    const char *id, *cwd, *model, *parent, *task, *dialect, *key, *output, *from, *back_to,
        *install, *remove, *plugin, *bundle;
    const char *file[OPTION_FILES_MAX];
    size_t files;
    const char *pattern[OPTION_PATTERNS_MAX];
    size_t patterns;
    const char *in;
    int64_t limit, offset, tail, context, keep, max_bytes, hunk;
    int color, sort, keys, mode, by; /* the enums above */
    int format, tools;               /* enum export_format, export_tools */
    int event;                       /* enum hook_event */
    int take;                        /* 0: of A, 1: of B */
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

/* One run of the program, after its options were read. */
struct invocation {
    const struct command *command;
    const char *typed; /* the name of the command, which may be its alias; NULL: the picker */
    struct options options;
    const struct process_env *world;
    int argc; /* operands only */
    char **argv;
    struct out out;      /* stdout */
    int err_fd;          /* stderr, for warnings that do not stop the command */
    bool done;           /* the change was made; only writing the output can still fail */
    bool read_only;      /* nothing may be written, not even to complete what was interrupted */
    bool demo;           /* the sessions are samples that are removed at the end */
    bool config_refused; /* other users could change the configuration: reported, and not read */
    int exit_code; /* for ERR_CANCELLED, if not 0 (a signal ended the program); the default is 130 */
};

struct sessions;
struct session_ref;

typedef enum err_code command_fn(struct invocation *in, struct err *e);
typedef enum err_code command_session_fn(struct invocation *in, struct sessions *s,
                                         const struct session_ref *ref, struct err *e);

/* `reprise --help` lists what people use often, and the topics of `help` the rest. */
enum command_audience { FOR_PEOPLE, FOR_MORE, FOR_HOSTS, FOR_TEAMS };

/* A command is one row of commands_table and its function. */
struct command {
    const char *name; /* NULL: the picker, which runs without a command */
    const char *alias;
    const char *operands; /* in the usage line: "ID [MSG]" */
    /* in the list of commands: half a line, lower case; NULL: it is not in the list */
    const char *summary;
    enum command_audience audience; /* in whose list of commands it is */
    const char *help;               /* paragraphs for --help, or NULL */
    option_bits options;            /* in addition to OPTION_GLOBALS */
    int min_operands, max_operands;
    command_fn *run;
    command_session_fn *on_session; /* instead of run: for the session of the first operand */
};

/* the picker first; ends with a row without functions */
extern const struct command commands_table[];
/* The command with this name or alias, or NULL. */
const struct command *command_named(const char *word);

/* Reads argv: the command, its options and its operands. */
MUST_CHECK enum err_code command_parse(struct invocation *in, int argc, char **argv, struct err *e);
/* Runs the command, flushes its output and reports a failure. Returns the exit code of the program. */
int command_execute(struct invocation *in);
/* The exit code of the program for an error of the library. No other function maps them. */
int command_exit_code(enum err_code rc);
/* The columns of a terminal, and its rows; 0 if fd is not a terminal or they are not known. */
size_t command_terminal_size(int fd, size_t *rows);
struct redact_counts;
struct out;
/* True if a question can be written to stderr, and a person can answer it. */
bool command_can_ask(const struct invocation *in);
/* Writes the question, frees it and reads the answer. Without consent, which is "y" or "yes" alone, the error is
 * ERR_CANCELLED: `what`, the command's name or "", and `refused`. */
MUST_CHECK enum err_code command_ask(struct out *question, const char *what, const char *refused,
                                     struct err *e);
/* What was redacted, and what was not looked for: for a person, and as the members of an open object. */
void command_report_redacted(const struct invocation *in, const struct redact_counts *counts);
void command_write_redacted(struct out *o, const struct redact_counts *counts);
/* The error of an operand that the command does not take. */
enum err_code command_unexpected(const struct invocation *in, int operand, struct err *e);
/* Reports on stderr what could not be read; the argument is the invocation. */
void command_report_trouble(const struct err *trouble, void *arg);
/* Writes one line on stderr; the command continues. */
void command_warn(const struct invocation *in, enum err_code code, const char *path,
                  const char *fmt, ...) PRINTF_LIKE(4, 5);
/* Warns on stderr if changes (for example a delete) were interrupted and are not finished yet. */
void command_report_interrupted(const struct invocation *in);

/* The configuration of this run: the file (--config, else the default one, which need not exist), then the environment
 * and the command line. Mistakes in the file are reported on stderr. config_fini() frees it. */
MUST_CHECK enum err_code command_config(const struct invocation *in, struct config *out,
                                        struct err *e);

/* The path of the configuration file of this run, in the arena; NULL if no path is known or out of
 * memory. */
const char *command_config_path(const struct invocation *in, struct arena *a);

/* Reads only the stores of the configuration; mistakes are not reported again. */
MUST_CHECK enum err_code command_stores(const struct invocation *in, struct config *out,
                                        struct err *e);

/* After a failure that the request caused: names the session as it was typed, not by its path. */
void sessions_name_typed(const struct session_ref *ref, const char *typed, struct err *e);

/* Opens the stores for every project, finds the session of the first operand and calls the function with it. */
MUST_CHECK enum err_code command_with_session(struct invocation *in, command_session_fn *use,
                                              struct err *e);

/* Every key of the screen with what it does, in both schemes: `help keys`. */
/* `help agents`: what can be done with the sessions of each agent, in 80 columns or as a table in Markdown. */
void help_agents_write(bool markdown, struct out *o);
void help_keys_write(const struct keymap *bound, struct out *o);

/* keep --install-timer and --remove-timer. settings: keep runs without --due, too,
 * because the configuration has a query for it. */
enum err_code keep_timer_run(struct invocation *in, bool settings, struct err *e);

/* doctor --plugin. */
enum err_code doctor_plugin(struct invocation *in, struct err *e);

/* Goes to the terminal of a running session, or attaches to it; returns only if that failed, or with --print. */
enum err_code board_go(struct invocation *in, const struct session_row *row, struct err *e);

/* The commands. */
command_fn picker_run, list_run, messages_run, rewind_run, undo_run, rewinds_run, change_rename_run,
    change_tag_run, change_archive_run, change_resume_at_run, change_tombstone_run, blame_run,
    touched_run, trash_delete_run, trash_run, undo_log_run, doctor_run, sweep_run, search_run,
    usage_run, export_run, host_create_run, host_append_run, host_checkpoint_run, host_set_run,
    demo_run, push_run, push_mirror_run, command_help_run, checkpoint_of_run, init_run,
    init_completion_run, config_show_run, complete_run, snapshot_run, snapshots_run, keep_run,
    board_run, board_status_run, compare_run, move_run, change_retrieve_run, mcp_run, bundle_run,
    unbundle_run;
command_session_fn board_go_session, files_session, info_session, info_subagents_session,
    host_restore_session, info_checkpoints_session, change_fork_session, change_reappend_session,
    continue_session, bisect_session;

struct bisect_watch; /* tui/app/effect.h */

/* For the screen: sh runs the command, whose output goes to `watch`. *turn gets the id of the first bad turn, if it is
 * one. */
MUST_CHECK enum err_code bisect_on_screen(const struct invocation *screen, struct sessions *s,
                                          const struct session_ref *ref, char *command,
                                          const struct bisect_watch *watch, struct buf *turn,
                                          struct err *e);

#endif
