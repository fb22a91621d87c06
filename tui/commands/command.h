#ifndef TUI_COMMANDS_COMMAND_H
#define TUI_COMMANDS_COMMAND_H

#include <stdint.h>

#include "lite/base/err.h"
#include "tui/app/process_env.h"
#include "tui/commands/option.h"
#include "tui/commands/out.h"

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

/* A command is one row of commands_table and one file with its run function. */
struct command {
    const char *name; /* NULL: what runs without a command, the picker */
    const char *alias;
    const char *operands; /* in the usage line: "ID [MSG]" */
    const char *summary;  /* in the list of commands: half a line, lower case */
    const char *help;     /* paragraphs for --help, or "" */
    option_bits options;  /* beside OPTION_GLOBALS */
    int min_operands, max_operands;
    enum err_code (*run)(struct invocation *in, struct err *e);
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

/* Help for the whole program (command NULL or the picker) or one command, into out. */
MUST_CHECK enum err_code help_write(const struct command *command, struct out *out, struct err *e);

/* One command each, in its own file. */
enum err_code picker_run(struct invocation *in, struct err *e);
enum err_code list_run(struct invocation *in, struct err *e);
enum err_code info_run(struct invocation *in, struct err *e);
enum err_code messages_run(struct invocation *in, struct err *e);
enum err_code subagents_run(struct invocation *in, struct err *e);
enum err_code restore_run(struct invocation *in, struct err *e);
enum err_code retrieve_run(struct invocation *in, struct err *e);
enum err_code checkpoints_run(struct invocation *in, struct err *e);
enum err_code rewind_run(struct invocation *in, struct err *e);
enum err_code undo_run(struct invocation *in, struct err *e);
enum err_code rewinds_run(struct invocation *in, struct err *e);
enum err_code rename_run(struct invocation *in, struct err *e);
enum err_code tag_run(struct invocation *in, struct err *e);
enum err_code archive_run(struct invocation *in, struct err *e);
enum err_code unarchive_run(struct invocation *in, struct err *e);
enum err_code fork_run(struct invocation *in, struct err *e);
enum err_code resume_at_run(struct invocation *in, struct err *e);
enum err_code tombstone_run(struct invocation *in, struct err *e);
enum err_code reappend_run(struct invocation *in, struct err *e);
enum err_code delete_run(struct invocation *in, struct err *e);
enum err_code trash_run(struct invocation *in, struct err *e);
enum err_code log_run(struct invocation *in, struct err *e);
enum err_code doctor_run(struct invocation *in, struct err *e);
enum err_code sweep_run(struct invocation *in, struct err *e);
enum err_code create_run(struct invocation *in, struct err *e);
enum err_code append_run(struct invocation *in, struct err *e);
enum err_code checkpoint_run(struct invocation *in, struct err *e);
enum err_code set_run(struct invocation *in, struct err *e);
enum err_code demo_run(struct invocation *in, struct err *e);
enum err_code help_run(struct invocation *in, struct err *e);

#endif
