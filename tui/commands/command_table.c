#include "tui/commands/command.h"

#include <stddef.h>

#define BIT OPTION_BIT
#define FILTERS                                                                                    \
    (BIT(LIMIT) | BIT(OFFSET) | BIT(SYSTEM) | BIT(TAG) | BIT(BRANCH) | BIT(SINCE) | BIT(BEFORE) |  \
     BIT(ARCHIVED) | BIT(NO_PROGRAMMATIC) | BIT(NO_WORKTREES) | BIT(SORT))

const struct command commands_table[] = {
    {
        .operands = "[-- FLAGS]",
        .summary = "",
        .help = "Opens the picker: type to filter, press Enter to resume the selected session.\n"
                "FLAGS are passed on to the agent's command. The screen is drawn on the terminal\n"
                "even if standard output is redirected.\n",
        .options = BIT(RESUME) | BIT(CONTINUE) | BIT(PRINT) | BIT(QUERY) | BIT(PLAIN) |
                   BIT(NO_PROGRAMMATIC) | BIT(NO_WORKTREES) | BIT(SORT),
        .run = picker_run,
    },
    {
        .name = "list",
        .alias = "ls",
        .operands = "",
        .summary = "list the sessions of this directory, newest first",
        .help = "Without --all or --project: the sessions of the current directory and of the\n"
                "other worktrees of its repository.\n",
        .options = FILTERS,
        .run = list_run,
    },
    {
        .name = "info",
        .operands = "ID",
        .summary = "show what is known about a session",
        .help = "",
        .options = BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = info_run,
    },
    {
        .name = "messages",
        .operands = "ID",
        .summary = "print the conversation that a resume would restore",
        .help = "Oldest message first. After a resume-at it ends at the message where the\n"
                "session resumes. Calls without a result, lone thoughts and blank answers are\n"
                "left out, as the agent leaves them out; what the agent adds while loading is\n"
                "in: reprise restore. With --as-sdk the list is that of the agent's SDK, which\n"
                "leaves none of these out and ends with the last message of the file.\n",
        .options = BIT(LIMIT) | BIT(OFFSET) | BIT(SYSTEM_MESSAGES) | BIT(SPOKEN) | BIT(AS_SDK) |
                   BIT(TAIL) | BIT(AGENT) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = messages_run,
    },
    {
        .name = "subagents",
        .operands = "ID",
        .summary = "list the ids of a session's sub-agents",
        .help = "",
        .options = BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = subagents_run,
    },
    {
        .name = "restore",
        .operands = "ID",
        .summary = "print everything a host needs to continue a session",
        .help = "The messages are those that the agent would load. Tool calls that were cut off\n"
                "by the end of the session get a result that says so. With --at the messages\n"
                "end with that one.\n",
        .options = BIT(AT) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = restore_run,
    },
    {
        .name = "retrieve",
        .operands = "ID [--at CHECKPOINT]",
        .summary = "copy a transcript from git to where its agent looks for it",
        .help = "Without --at: the newest transcript that a checkpoint of the session keeps;\n"
                "with it: those of all sessions of the checkpoint. A transcript that is newer\n"
                "on this machine is kept (exit code 4) unless --force is given. To restore what\n"
                "was replaced: reprise undo.\n",
        .options = BIT(AT) | BIT(FORCE) | BIT(DRY_RUN) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = retrieve_run,
    },
    {
        .name = "fork",
        .operands = "ID",
        .summary = "copy a session, or its beginning, into a new one",
        .help = "The original session is not changed. Prints the id of the new one. Without\n"
                "--at the whole session is copied; after a resume-at, what a resume restores.\n",
        .options = BIT(AT) | BIT(TITLE) | BIT(WITH_FILES) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = fork_run,
    },
    {
        .name = "resume-at",
        .operands = "ID [MSG]",
        .summary = "make a session resume after one of its messages",
        .help = "Nothing is removed: the later messages stay in the file as a branch of their\n"
                "own. An agent does not load messages from before its last compaction: use fork\n"
                "there instead.\n",
        .options = BIT(CLEAR) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 2,
        .run = resume_at_run,
    },
    {
        .name = "tombstone",
        .operands = "ID MSG",
        .summary = "remove one message from the conversation",
        .help = "Its row is blanked in place, even while an agent is writing. The messages\n"
                "after it are kept and follow the row closest in time before them; after a\n"
                "pause of more than five seconds the agent starts the conversation anew there.\n",
        .options = BIT(CUT) | BIT(NO_WORKTREES),
        .min_operands = 2,
        .max_operands = 2,
        .run = tombstone_run,
    },
    {
        .name = "rename",
        .operands = "ID TITLE",
        .summary = "rename a session",
        .help = "",
        .options = BIT(NO_WORKTREES),
        .min_operands = 2,
        .max_operands = 2,
        .run = rename_run,
    },
    {
        .name = "tag",
        .operands = "ID [TAG]",
        .summary = "tag a session, or remove its tag",
        .help = "",
        .options = BIT(NONE) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 2,
        .run = tag_run,
    },
    {
        .name = "archive",
        .operands = "ID...",
        .summary = "archive sessions",
        .help = "",
        .options = BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 10000,
        .run = archive_run,
    },
    {
        .name = "unarchive",
        .operands = "ID...",
        .summary = "unarchive sessions",
        .help = "",
        .options = BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 10000,
        .run = unarchive_run,
    },
    {
        .name = "reappend",
        .operands = "ID",
        .summary = "append the metadata again, where listings look for it",
        .help = "",
        .options = BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = reappend_run,
    },
    {
        .name = "delete",
        .operands = "ID...",
        .summary = "move sessions and all their files to the trash",
        .help = "Sessions that an agent is writing to are refused. Where that cannot be known\n"
                "(a network file system, another user's session, an agent that did not\n"
                "register) --force is needed. Of Entire's sessions the state and the shadow\n"
                "branch are deleted; committed checkpoints are kept, and the answer says so.\n",
        .options = BIT(PERMANENTLY) | BIT(FORCE) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 10000,
        .run = delete_run,
    },
    {
        .name = "trash",
        .operands = "list | restore [--join] ID | empty",
        .summary = "list, restore or delete for good what is in the trash",
        .help = "empty does not ask and cannot be undone; with --older-than only sessions\n"
                "deleted before that are removed.\n"
                "\n"
                "restore never replaces anything. If a program continued a session after it was\n"
                "deleted, --join puts the deleted rows in front of the newer ones; they stay in\n"
                "the trash as well.\n",
        .options = BIT(OLDER_THAN) | BIT(JOIN),
        .min_operands = 1,
        .max_operands = 2,
        .run = trash_run,
    },
    {
        .name = "sweep",
        .operands = "--older-than AGE",
        .summary = "move sessions that match a rule to the trash",
        .help = "Lists the matching sessions of the scope and their size; nothing is changed\n"
                "without --apply. Sessions that an agent may be writing to are kept. At least\n"
                "one rule is needed; with several, all must match. To restore what was moved:\n"
                "reprise undo.\n"
                "\n"
                "With --orphans the rules apply to what deleted sessions left behind: side\n"
                "directories, saved copies of files and the like (those known by id alone need\n"
                "--all). With --saved-files only saved copies of files are removed, by the age\n"
                "of their directory (ExAthena's own cleanup removes those older than 30 days at\n"
                "every start).\n",
        .options = BIT(OLDER_THAN) | BIT(SAVED_FILES) | BIT(ORPHANS) | BIT(EMPTY) |
                   BIT(LARGER_THAN) | BIT(ARCHIVED) | BIT(DRY_RUN) | BIT(APPLY) |
                   BIT(NO_PROGRAMMATIC) | BIT(NO_WORKTREES),
        .run = sweep_run,
    },
    {
        .name = "doctor",
        .operands = "[ID]",
        .summary = "check one session, or all, for damage",
        .help = "Finds torn, spliced and broken lines, rows without a parent, titles that\n"
                "listings miss, missing saved copies, leftovers, and sessions that the agent\n"
                "hides or will remove. --fix completes a torn last line, appends the metadata\n"
                "again and finishes what a crash interrupted; it changes nothing else.\n",
        .options = BIT(FIX) | BIT(NO_WORKTREES),
        .max_operands = 1,
        .run = doctor_run,
    },
    {
        .name = "log",
        .operands = "",
        .summary = "list what reprise changed and rewound, newest first",
        .help = "The ids are those that undo takes.\n",
        .options = 0,
        .min_operands = 0,
        .max_operands = 0,
        .run = log_run,
    },
    {
        .name = "checkpoints",
        .operands = "ID",
        .summary = "list the points that a session can be rewound to",
        .help = "Oldest first.\n",
        .options = BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = checkpoints_run,
    },
    {
        .name = "rewind",
        .operands = "ID [--to MSG]",
        .summary = "preview a rewind of files and conversation, or apply it",
        .help = "Without options, on a terminal: a screen with all turns. With --to: what\n"
                "rewinding to before that prompt would change; nothing is changed without\n"
                "--apply.\n"
                "\n"
                "Refused files stop an apply unless --skip-refused is given: links, files\n"
                "edited by hand since, files not known to be the session's work, files outside\n"
                "the project, missing saved copies. The project is the directory that the\n"
                "session's project folder stands for; /, the home directory and everything\n"
                "above the directory the session started in are outside.\n"
                "\n"
                "If a program has a file open for writing, the old file moves into the undo\n"
                "record, where the program keeps writing to it: undo restores it with all that\n"
                "was written, and rewinds show ID FILE prints it. If the record is on another\n"
                "file system, such a file is refused.\n"
                "\n"
                "To restore what was there before: reprise undo.\n",
        .options = BIT(TO) | BIT(MODE) | BIT(FILE) | BIT(DRY_RUN) | BIT(APPLY) | BIT(PLAN) |
                   BIT(SKIP_REFUSED) | BIT(OVERWRITE_EDITED) | BIT(ALLOW_OUTSIDE) |
                   BIT(ALLOW_SENSITIVE) | BIT(ENTIRE_RULE) | BIT(MOVE_BRANCH) | BIT(INTO) |
                   BIT(ONLY) | BIT(INFERRED) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = rewind_run,
    },
    {
        .name = "undo",
        .operands = "[ID]",
        .summary = "undo the newest change or rewind, or the one named",
        .help = "Without ID: the newest change to a session of the scope (-C, --project,\n"
                "--store, --all as for list). Changes made elsewhere must be named; reprise log\n"
                "lists all. Where the session went on since, so that the newest change cannot\n"
                "be undone, an older one must be named too.\n"
                "\n"
                "Undo of a rewind refuses files that changed since. --skip-edited skips them\n"
                "and undoes the rest; they can still be undone later. --file undoes only that\n"
                "file. --overwrite-edited replaces what changed since, and keeps it for the\n"
                "next undo.\n",
        .options =
            BIT(DRY_RUN) | BIT(SKIP_EDITED) | BIT(OVERWRITE_EDITED) | BIT(FILE) | BIT(NO_WORKTREES),
        .max_operands = 1,
        .run = undo_run,
    },
    {
        .name = "rewinds",
        .operands = "[show ID [FILE] | abandon ID]",
        .summary = "list the rewinds made here, newest first",
        .help = "show ID lists the files of a rewind and what is kept of each. show ID FILE\n"
                "prints the bytes that the file had before, even where undo would refuse to\n"
                "restore them. A file that a program had open is printed with what the program\n"
                "wrote to it since.\n"
                "\n"
                "A rewind that was interrupted is finished by the next command. If it cannot be\n"
                "finished yet, because its project was moved away or its disk is not mounted or\n"
                "read-only, it waits: the list says why, and its files are not touched. abandon\n"
                "ID gives it up: what it changed stays changed and can be undone, what it saved\n"
                "stays in its record, and temporary files that could not be removed are named.\n",
        .max_operands = 3,
        .run = rewinds_run,
    },
    {
        .name = "create",
        .operands = "SYSTEM[:PATH]",
        .summary = "for hosts: create a session",
        .help = "Creates the store if there is none. Settings that the format cannot hold are\n"
                "named on standard error.\n",
        .options = BIT(ID) | BIT(CWD) | BIT(MODEL) | BIT(TITLE) | BIT(PARENT) | BIT(NO_PERSIST),
        .min_operands = 1,
        .max_operands = 1,
        .run = create_run,
    },
    {
        .name = "append",
        .operands = "ID",
        .summary = "for hosts: append rows, JSONL on standard input",
        .help = "All rows or none, in one write. A missing id, time or parent is filled in\n"
                "where the format needs one. Rows whose uuid is already in the session are not\n"
                "written again, so a call may be repeated; programs that append at the same\n"
                "time take turns. Claude's rows with an agentId go into the file of that sub-\n"
                "agent.\n",
        .options = BIT(TRANSCRIPT) | BIT(NO_PERSIST) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = append_run,
    },
    {
        .name = "checkpoint",
        .operands = "ID --id MSG FILE...",
        .summary = "for hosts: save files before they are changed",
        .help = "MSG is the message that the changes answer; a rewind to it restores the files.\n"
                "For Entire MSG is a prompt, and the checkpoint holds the files as they are\n"
                "now: on a shadow branch, or as a commit of yours if .entire/settings.json says\n"
                "auto-commit.\n",
        .options = BIT(ID) | BIT(TITLE) | BIT(NO_PERSIST) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 10000,
        .run = checkpoint_run,
    },
    {
        .name = "set",
        .operands = "ID KEY=VALUE...",
        .summary = "for hosts: update metadata",
        .help = "An empty value removes a setting. The system defines the keys.\n",
        .options = BIT(NO_PERSIST) | BIT(NO_WORKTREES),
        .min_operands = 2,
        .max_operands = 10000,
        .run = set_run,
    },
    {
        .name = "demo",
        .operands = "",
        .summary = "build a small sample store and open the picker on it",
        .help = "The sample is in a temporary directory, with its own operation log and trash,\n"
                "and is removed on exit. Your own changes cannot be undone from there.\n",
        .options = BIT(PRINT) | BIT(QUERY) | BIT(PLAIN),
        .run = demo_run,
    },
    {
        .name = "help",
        .operands = "[COMMAND]",
        .summary = "show this help, or the help of a command",
        .help = "",
        .max_operands = 1,
        .run = help_run,
    },
    { .run = NULL },
};
