#include "tui/commands/command.h"

#include <stddef.h>

#define BIT OPTION_BIT
#define FILTERS                                                                                    \
    (BIT(LIMIT) | BIT(OFFSET) | BIT(SYSTEM) | BIT(TAG) | BIT(BRANCH) | BIT(SINCE) | BIT(BEFORE) |  \
     BIT(ARCHIVED) | BIT(NO_PROGRAMMATIC) | BIT(NO_WORKTREES) | BIT(SORT))

/* clang-format off */
const struct command commands_table[] = {
    { .operands = "[-- FLAGS]", .run = picker_run,
      .summary = "",
      .options = BIT(RESUME) | BIT(CONTINUE) | BIT(PRINT) | BIT(QUERY) | BIT(PLAIN) | BIT(NO_PROGRAMMATIC) |
                 BIT(NO_WORKTREES) | BIT(SORT),
      .help = "Opens the picker: type to filter, press Enter to resume the selected session.\n"
              "FLAGS are passed on to the agent's command. The screen is drawn on the terminal\n"
              "even if standard output is redirected.\n" },
    { .name = "list", .alias = "ls", .operands = "", .run = list_run,
      .summary = "list the sessions of this directory, newest first",
      .options = FILTERS,
      .help = "Without --all or --project: the sessions of the current directory and of the\n"
              "other worktrees of its repository.\n" },
    { .name = "info", .operands = "ID", .min_operands = 1, .max_operands = 1, .on_session = info_session,
      .summary = "show the details of a session",
      .options = BIT(NO_WORKTREES) },
    { .name = "messages", .operands = "ID", .min_operands = 1, .max_operands = 1, .run = messages_run,
      .summary = "print the conversation that a resume would restore",
      .options = BIT(LIMIT) | BIT(OFFSET) | BIT(SYSTEM_MESSAGES) | BIT(SPOKEN) | BIT(AS_SDK) | BIT(TAIL) |
                 BIT(AGENT) | BIT(NO_WORKTREES),
      .help = "Oldest message first. After a resume-at the list ends at the message where the\n"
              "session resumes. Tool calls without a result, messages of thinking alone and\n"
              "empty messages are left out, as in the agent. To see what the agent adds while\n"
              "loading: reprise restore. With --as-sdk the list is that of the agent's SDK,\n"
              "which contains all of these and ends with the last message of the file.\n" },
    { .name = "search", .alias = "grep", .operands = "PATTERN", .max_operands = 1, .run = search_run,
      .summary = "search the text of all conversations",
      .options = BIT(PATTERN) | BIT(FIXED) | BIT(WORDS) | BIT(ANY) | BIT(IGNORE_CASE) | BIT(CASE) | BIT(IN) |
                 BIT(CONTEXT) | BIT(COUNTS) | BIT(SESSIONS) | BIT(LIMIT) | BIT(SYSTEM) | BIT(TAG) |
                 BIT(BRANCH) | BIT(SINCE) | BIT(BEFORE) | BIT(ARCHIVED) | BIT(NO_PROGRAMMATIC) |
                 BIT(NO_WORKTREES),
      .help = "Searches prompts, replies, and the input and results of tools, as a person reads\n"
              "them, in the conversations, their other branches and their sub-agents; newest\n"
              "session first. PATTERN is a regular expression as in Perl (PCRE2). Case matters\n"
              "only in a pattern with a capital letter. On a terminal the lines stand below\n"
              "their session; elsewhere each line begins with the session's id and its place\n"
              "(prompt, reply, thinking, tool, note). With --json there is one object a line.\n" },
    { .name = "subagents", .operands = "ID", .min_operands = 1, .max_operands = 1, .on_session = info_subagents_session,
      .summary = "list the ids of a session's sub-agents",
      .options = BIT(NO_WORKTREES) },
    { .name = "restore", .operands = "ID", .min_operands = 1, .max_operands = 1, .on_session = host_restore_session,
      .summary = "print everything a host needs to continue a session",
      .options = BIT(AT) | BIT(NO_WORKTREES),
      .help = "The messages are those that the agent would load. Tool calls that were cut off\n"
              "by the end of the session get a result that says so. With --at the messages\n"
              "end with that one.\n" },
    { .name = "retrieve", .operands = "ID [--at CHECKPOINT]", .min_operands = 1, .max_operands = 1,
      .on_session = change_retrieve_session,
      .summary = "copy a transcript from git to where its agent looks for it",
      .options = BIT(AT) | BIT(FORCE) | BIT(DRY_RUN) | BIT(NO_WORKTREES),
      .help = "Without --at: the newest transcript in the checkpoints of the session; with it:\n"
              "the transcripts of all sessions of the checkpoint. A transcript that is newer\n"
              "on this machine is kept (exit code 4) unless --force is given. To restore what\n"
              "was replaced: reprise undo.\n" },
    { .name = "fork", .operands = "ID", .min_operands = 1, .max_operands = 1, .on_session = change_fork_session,
      .summary = "copy a session, or its beginning, into a new one",
      .options = BIT(AT) | BIT(TITLE) | BIT(WITH_FILES) | BIT(NO_WORKTREES),
      .help = "The original session is not changed. Prints the id of the new one. Without\n"
              "--at the whole session is copied; after a resume-at, what a resume restores.\n" },
    { .name = "resume-at", .operands = "ID [MSG]", .min_operands = 1, .max_operands = 2, .run = change_resume_at_run,
      .summary = "make a session resume after one of its messages",
      .options = BIT(CLEAR) | BIT(NO_WORKTREES),
      .help = "Nothing is removed: the later messages stay in the file as a branch of their\n"
              "own. An agent does not load messages from before its last compaction: to\n"
              "return there, use fork.\n" },
    { .name = "tombstone", .operands = "ID MSG", .min_operands = 2, .max_operands = 2, .run = change_tombstone_run,
      .summary = "remove one message from the conversation",
      .options = BIT(CUT) | BIT(NO_WORKTREES),
      .help = "Its row is blanked in place, even while an agent is writing. The messages\n"
              "after it are kept and follow the row closest in time before them; after a\n"
              "pause of more than five seconds the agent starts the conversation anew there.\n" },
    { .name = "rename", .operands = "ID TITLE", .min_operands = 2, .max_operands = 2, .run = change_rename_run,
      .summary = "rename a session",
      .options = BIT(NO_WORKTREES) },
    { .name = "tag", .operands = "ID [TAG]", .min_operands = 1, .max_operands = 2, .run = change_tag_run,
      .summary = "tag a session, or remove its tag",
      .options = BIT(NONE) | BIT(NO_WORKTREES) },
    { .name = "archive", .operands = "ID...", .min_operands = 1, .max_operands = 10000, .run = change_archive_run,
      .summary = "archive sessions",
      .options = BIT(NO_WORKTREES) },
    { .name = "unarchive", .operands = "ID...", .min_operands = 1, .max_operands = 10000, .run = change_archive_run,
      .summary = "unarchive sessions",
      .options = BIT(NO_WORKTREES) },
    { .name = "reappend", .operands = "ID", .min_operands = 1, .max_operands = 1, .on_session = change_reappend_session,
      .summary = "append the metadata again, where listings look for it",
      .options = BIT(NO_WORKTREES) },
    { .name = "delete", .operands = "ID...", .min_operands = 1, .max_operands = 10000, .run = trash_delete_run,
      .summary = "move sessions and all their files to the trash",
      .options = BIT(PERMANENTLY) | BIT(FORCE) | BIT(NO_WORKTREES),
      .help = "Sessions that an agent is writing to are refused. If that cannot be known (a\n"
              "network file system, another user's session, an agent that did not register),\n"
              "--force is needed. For a session of Entire, its state and shadow branch are\n"
              "deleted; committed checkpoints are kept, and the answer reports it.\n" },
    { .name = "trash", .operands = "list | restore [--join] ID | empty", .min_operands = 1, .max_operands = 2,
      .run = trash_run,
      .summary = "list the trash, restore from it or empty it",
      .options = BIT(OLDER_THAN) | BIT(JOIN),
      .help = "empty does not ask and cannot be undone; with --older-than only sessions\n"
              "deleted before that are removed.\n"
              "\n"
              "restore never replaces anything. If a program continued a session after it was\n"
              "deleted, --join puts the deleted rows in front of the newer ones; they stay in\n"
              "the trash as well.\n" },
    { .name = "sweep", .operands = "--older-than AGE", .run = sweep_run,
      .summary = "move sessions that match a rule to the trash",
      .options = BIT(OLDER_THAN) | BIT(SAVED_FILES) | BIT(ORPHANS) | BIT(EMPTY) | BIT(LARGER_THAN) |
                 BIT(ARCHIVED) | BIT(DRY_RUN) | BIT(APPLY) | BIT(NO_PROGRAMMATIC) | BIT(NO_WORKTREES),
      .help = "Lists the matching sessions of the scope and their size; nothing is changed\n"
              "without --apply. Sessions that an agent may be writing to are kept. At least\n"
              "one rule is needed; with several, all must match. To restore what was moved:\n"
              "reprise undo.\n"
              "\n"
              "With --orphans the rules apply to what deleted sessions left behind: side\n"
              "directories, saved copies of files and the like (those known by id alone need\n"
              "--all). With --saved-files only saved copies of files are removed, by the age\n"
              "of their directory (ExAthena's own cleanup removes those older than 30 days at\n"
              "every start).\n" },
    { .name = "doctor", .operands = "[ID]", .max_operands = 1, .run = doctor_run,
      .summary = "check one session, or all, for damage",
      .options = BIT(FIX) | BIT(NO_WORKTREES),
      .help = "Finds torn, spliced and broken lines, rows without a parent, titles that\n"
              "listings miss, missing saved copies, leftovers, and sessions that the agent\n"
              "hides or will remove. --fix completes a torn last line, appends the metadata\n"
              "again and finishes what a crash interrupted; it changes nothing else.\n" },
    { .name = "log", .operands = "", .run = undo_log_run,
      .summary = "list what reprise changed and rewound, newest first",
      .help = "The ids are those that undo takes.\n" },
    { .name = "checkpoints", .operands = "ID", .min_operands = 1, .max_operands = 1, .on_session = info_checkpoints_session,
      .summary = "list the points that a session can be rewound to",
      .options = BIT(NO_WORKTREES),
      .help = "Oldest first.\n" },
    { .name = "rewind", .operands = "ID [--to MSG]", .min_operands = 1, .max_operands = 1, .run = rewind_run,
      .summary = "preview a rewind of files and conversation, or apply it",
      .options = BIT(TO) | BIT(MODE) | BIT(FILE) | BIT(DRY_RUN) | BIT(APPLY) | BIT(PLAN) | BIT(SKIP_REFUSED) |
                 BIT(OVERWRITE_EDITED) | BIT(ALLOW_OUTSIDE) | BIT(ALLOW_SENSITIVE) | BIT(ENTIRE_RULE) |
                 BIT(MOVE_BRANCH) | BIT(INTO) | BIT(ONLY) | BIT(INFERRED) | BIT(NO_WORKTREES),
      .help = "Without options, on a terminal: a screen with all turns. With --to: what a\n"
              "rewind to before that prompt would change; nothing is changed without --apply.\n"
              "\n"
              "Refused files stop an apply unless --skip-refused is given: links, files\n"
              "edited by hand since, files not known to be the session's work, files outside\n"
              "the project, missing saved copies. The project is the directory for which the\n"
              "session's project folder is named; /, the home directory and everything above\n"
              "the directory that the session started in are outside.\n"
              "\n"
              "If a program has a file open for writing, the old file moves into the undo\n"
              "record, where the program keeps writing to it: undo restores it with everything\n"
              "that was written, and rewinds show ID FILE prints it. If the record is on\n"
              "another file system, such a file is refused.\n"
              "\n"
              "To restore what was there before: reprise undo.\n" },
    { .name = "undo", .operands = "[ID]", .max_operands = 1, .run = undo_run,
      .summary = "undo the newest change or rewind, or the one named",
      .options = BIT(DRY_RUN) | BIT(SKIP_EDITED) | BIT(OVERWRITE_EDITED) | BIT(FILE) | BIT(NO_WORKTREES),
      .help = "Without ID: the newest change to a session of the scope (-C, --project,\n"
              "--store, --all as for list). Changes made elsewhere must be named; reprise log\n"
              "lists all. If the newest change cannot be undone because its session continued,\n"
              "an older one must be named, too.\n"
              "\n"
              "Undo of a rewind refuses files that changed since. --skip-edited skips them\n"
              "and undoes the rest; they can still be undone later. --file undoes only that\n"
              "file. --overwrite-edited replaces files that changed since; the next undo\n"
              "restores them.\n" },
    { .name = "rewinds", .operands = "[show ID [FILE] | abandon ID]", .max_operands = 3, .run = rewinds_run,
      .summary = "list the rewinds made here, newest first",
      .help = "show ID lists the files of a rewind and their backups. show ID FILE prints the\n"
              "bytes that the file had before, even if undo would refuse to restore them. A\n"
              "file that a program had open is printed with what the program wrote to it\n"
              "since.\n"
              "\n"
              "A rewind that was interrupted is finished by the next command. If it cannot be\n"
              "finished yet, because its project was moved away or its disk is not mounted or\n"
              "read-only, it waits: the list says why, and its files are not touched. abandon\n"
              "ID gives it up: its changes remain and can be undone, its backups stay in the\n"
              "record, and temporary files that could not be removed are listed.\n" },
    { .name = "create", .operands = "SYSTEM[:PATH]", .min_operands = 1, .max_operands = 1, .run = host_create_run,
      .summary = "for hosts: create a session",
      .options = BIT(ID) | BIT(CWD) | BIT(MODEL) | BIT(TITLE) | BIT(PARENT) | BIT(NO_PERSIST),
      .help = "Creates the store if it does not exist. Settings that the format cannot hold\n"
              "are reported on standard error.\n" },
    { .name = "append", .operands = "ID", .min_operands = 1, .max_operands = 1, .run = host_append_run,
      .summary = "for hosts: append rows, JSONL on standard input",
      .options = BIT(TRANSCRIPT) | BIT(NO_PERSIST) | BIT(NO_WORKTREES),
      .help = "All rows or none, in one write. A missing id, time or parent is filled in\n"
              "where the format needs one. Rows whose uuid is already in the session are not\n"
              "written again, so a call may be repeated; programs that append at the same\n"
              "time take turns. Claude's rows with an agentId go into the file of that sub-\n"
              "agent.\n" },
    { .name = "checkpoint", .operands = "ID --id MSG FILE...", .min_operands = 1, .max_operands = 10000,
      .run = host_checkpoint_run,
      .summary = "for hosts: save files before they are changed",
      .options = BIT(ID) | BIT(TITLE) | BIT(NO_PERSIST) | BIT(NO_WORKTREES),
      .help = "MSG is the message before the changes; a rewind to it restores the files. For\n"
              "Entire MSG is a prompt, and the checkpoint contains the files as they are now:\n"
              "on a shadow branch, or as a commit of yours if .entire/settings.json sets\n"
              "auto-commit.\n" },
    { .name = "set", .operands = "ID KEY=VALUE...", .min_operands = 2, .max_operands = 10000, .run = host_set_run,
      .summary = "for hosts: update metadata",
      .options = BIT(NO_PERSIST) | BIT(NO_WORKTREES),
      .help = "An empty value removes a setting. The system defines the keys.\n" },
    { .name = "demo", .operands = "", .run = demo_run,
      .summary = "build a small sample store and open the picker on it",
      .options = BIT(PRINT) | BIT(QUERY) | BIT(PLAIN),
      .help = "The sample is in a temporary directory, with its own operation log and trash,\n"
              "and is removed on exit. Your own changes cannot be undone from there.\n" },
    { .name = "help", .operands = "[COMMAND]", .max_operands = 1, .run = command_help_run,
      .summary = "show this help, or the help of a command" },
    { .run = NULL },
};
/* clang-format on */
