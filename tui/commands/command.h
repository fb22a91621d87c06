#ifndef TUI_COMMANDS_COMMAND_H
#define TUI_COMMANDS_COMMAND_H

#include <stdint.h>

#include "lite/base/err.h"
#include "tui/app/program.h"
#include "tui/commands/option.h"
#include "tui/commands/out.h"
#include "tui/config/config.h"

/* One run of the program, after its options were read. */
struct invocation {
    const struct command *command;
    struct options options;
    const struct process_env *world;
    int argc; /* operands only */
    char **argv;
    struct out out; /* stdout */
    int err_fd;     /* stderr, for warnings that do not stop the command */
    bool done;      /* the change was made; only writing the output can still fail */
    bool demo;      /* the sessions are samples that are removed at the end */
    int exit_code; /* for ERR_CANCELLED, if not 0 (a signal ended the program); the default is 130 */
};

struct sessions;
struct session_ref;

typedef enum err_code command_fn(struct invocation *in, struct err *e);
typedef enum err_code command_session_fn(struct invocation *in, struct sessions *s,
                                         const struct session_ref *ref, struct err *e);

/* A command is one row of commands_table and its function. */
struct command {
    const char *name; /* NULL: the picker, which runs without a command */
    const char *alias;
    const char *operands; /* in the usage line: "ID [MSG]" */
    /* in the list of commands: half a line, lower case; NULL: it is not in the list */
    const char *summary;
    const char *help;    /* paragraphs for --help, or NULL */
    option_bits options; /* in addition to OPTION_GLOBALS */
    int min_operands, max_operands;
    command_fn *run;
    command_session_fn *on_session; /* instead of run: for the session of the first operand */
};

/* the picker first; ends with a row without functions */
extern const struct command commands_table[];

/* Reads argv: the command, its options and its operands. */
MUST_CHECK enum err_code command_parse(struct invocation *in, int argc, char **argv, struct err *e);
/* Runs the command, flushes its output and reports a failure. Returns the exit code of the program. */
int command_execute(struct invocation *in);
/* The exit code of the program for an error of the library. No other function maps them. */
int command_exit_code(enum err_code rc);
/* The columns of a terminal, and its rows; 0 if fd is not a terminal or they are not known. */
size_t command_terminal_size(int fd, size_t *rows);
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

/* Opens the stores for every project, finds the session of the first operand and calls the function with it. */
MUST_CHECK enum err_code command_with_session(struct invocation *in, command_session_fn *use,
                                              struct err *e);

/* Every key of the screen with what it does, in both schemes: `help keys`. */
/* `help agents`: what can be done with the sessions of each agent. */
void help_agents_write(struct out *o);
void help_keys_write(const struct keymap *bound, struct out *o);

/* The commands. */
command_fn picker_run, list_run, messages_run, rewind_run, undo_run, rewinds_run, change_rename_run,
    change_tag_run, change_archive_run, change_resume_at_run, change_tombstone_run, blame_run,
    touched_run, trash_delete_run, trash_run, undo_log_run, doctor_run, sweep_run, search_run,
    usage_run, export_run, host_create_run, host_append_run, host_checkpoint_run, host_set_run,
    demo_run, push_run, push_mirror_run, command_help_run, checkpoint_of_run, init_run,
    init_completion_run, config_show_run, complete_run;
command_session_fn files_session, info_session, info_subagents_session, host_restore_session,
    change_retrieve_session, info_checkpoints_session, change_fork_session, change_reappend_session;

#endif
