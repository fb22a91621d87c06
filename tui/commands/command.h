#ifndef TUI_COMMANDS_COMMAND_H
#define TUI_COMMANDS_COMMAND_H

#include <stdint.h>

#include "lite/base/err.h"
#include "tui/app/process_env.h"
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
    int err_fd;     /* stderr: warnings that do not stop the command */
    bool done;      /* the change that was asked for was made: only its answer can still fail */
    bool demo;      /* of sessions that go when it ends */
    int exit_code;  /* with ERR_CANCELLED: another one than 130, when not 0 (a signal ended us) */
};

typedef enum err_code command_fn(struct invocation *in, struct err *e);

/* A command is one row of commands_table and its run function. */
struct command {
    const char *name; /* NULL: what runs without a command, the picker */
    const char *alias;
    const char *operands; /* in the usage line: "ID [MSG]" */
    const char *summary;  /* in the list of commands: half a line, lower case */
    const char *help;     /* paragraphs for --help, or "" */
    option_bits options;  /* beside OPTION_GLOBALS */
    int min_operands, max_operands;
    command_fn *run;
};

extern const struct command commands_table[]; /* the picker first; ends with run == NULL */

/* The command of this name or alias; NULL: there is none. */
const struct command *command_find(const char *word);
/* Reads argv: which command, its options, its operands. */
MUST_CHECK enum err_code command_parse(struct invocation *in, int argc, char **argv, struct err *e);
/* Runs it, writes what is left of the answer, reports a failure; the exit code of the program. */
int command_execute(struct invocation *in);
/* The exit code of the program for an error of the library: the one place that maps them. */
int command_exit_code(enum err_code rc);
/* Warns on stderr if changes, a delete for example, were interrupted and are not finished yet. */
void command_report_interrupted(const struct invocation *in);

/* The configuration of this run: the file (--config, else the usual one, which need not exist), then what
 * environment and command line say. Mistakes in the file are named on stderr. config_fini frees it. */
MUST_CHECK enum err_code command_config(const struct invocation *in, struct config *out,
                                        struct err *e);

/* The commands. */
command_fn picker_run, list_run, info_run, messages_run, subagents_run, restore_run, retrieve_run,
    checkpoints_run, rewind_run, undo_run, rewinds_run, rename_run, tag_run, archive_run,
    unarchive_run, fork_run, resume_at_run, tombstone_run, reappend_run, delete_run, trash_run,
    log_run, doctor_run, sweep_run, create_run, append_run, checkpoint_run, set_run, demo_run,
    help_run;

#endif
