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
        .help = "Opens the picker: type to find a session, Enter puts you back into it. FLAGS are "
                "handed\n"
                "to the agent's command.\n"
                "The screen is drawn on the terminal even when the output goes elsewhere.\n",
        .options = BIT(RESUME) | BIT(CONTINUE) | BIT(PRINT) | BIT(QUERY) | BIT(PLAIN) |
                   BIT(NO_PROGRAMMATIC) | BIT(NO_WORKTREES) | BIT(SORT),
        .run = picker_run,
    },
    {
        .name = "list",
        .alias = "ls",
        .operands = "",
        .summary = "the sessions of this directory, newest first",
        .help =
            "Without --all or --project: the sessions of the current directory and of the other\n"
            "worktrees of its repository.\n",
        .options = FILTERS,
        .run = list_run,
    },
    {
        .name = "info",
        .operands = "ID",
        .summary = "what is known about one session",
        .help = "",
        .options = BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = info_run,
    },
    {
        .name = "messages",
        .operands = "ID",
        .summary = "the conversation that a resume would restore, oldest first",
        .help =
            "It ends where the session goes on, after a resume-at too. Calls without a result, "
            "lone\n"
            "thoughts and blank answers are left out as the agent leaves them out. What it adds "
            "when\n"
            "it loads is in: reprise restore. With --as-sdk the list is that of the agent's SDK, "
            "which\n"
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
        .summary = "the ids of the sub-agents of a session",
        .help = "",
        .options = BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = subagents_run,
    },
    {
        .name = "restore",
        .operands = "ID",
        .summary = "everything a host needs to continue a session",
        .help = "The messages are those that the agent would load. Calls in which the session "
                "ended get\n"
                "a result that says so. With --at they end with that message.\n",
        .options = BIT(AT) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = restore_run,
    },
    {
        .name = "retrieve",
        .operands = "ID [--at CHECKPOINT]",
        .summary = "put a transcript that lies in git where its agent looks for it",
        .help =
            "Without --at: the newest that a checkpoint of the session keeps; with it: those of "
            "all "
            "sessions of\n"
            "the checkpoint. A transcript that is newer here is left alone (and the exit code is "
            "4) unless\n"
            "--force is given. What was replaced comes back with: reprise undo.\n",
        .options = BIT(AT) | BIT(FORCE) | BIT(DRY_RUN) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = retrieve_run,
    },
    {
        .name = "fork",
        .operands = "ID",
        .summary = "copy a session, or its beginning, into a new one",
        .help = "The session itself stays as it is. Prints the id of the new one. Without --at "
                "all of it is\n"
                "copied; after a resume-at, what a resume goes on with.\n",
        .options = BIT(AT) | BIT(TITLE) | BIT(WITH_FILES) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = fork_run,
    },
    {
        .name = "resume-at",
        .operands = "ID [MSG]",
        .summary = "let a session continue after one of its messages",
        .help = "Nothing is removed: what came later stays in the file as a branch of its own. An "
                "agent\n"
                "does not load what is before its last compaction: fork there instead.\n",
        .options = BIT(CLEAR) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 2,
        .run = resume_at_run,
    },
    {
        .name = "tombstone",
        .operands = "ID MSG",
        .summary = "let one message no longer count",
        .help = "Its row is blanked in place, also while an agent is writing. What followed it "
                "stays and goes\n"
                "on with the row of the nearest earlier time; after a pause of more than five "
                "seconds the\n"
                "agent begins the conversation anew with it.\n",
        .options = BIT(CUT) | BIT(NO_WORKTREES),
        .min_operands = 2,
        .max_operands = 2,
        .run = tombstone_run,
    },
    {
        .name = "rename",
        .operands = "ID TITLE",
        .summary = "give a session a title",
        .help = "",
        .options = BIT(NO_WORKTREES),
        .min_operands = 2,
        .max_operands = 2,
        .run = rename_run,
    },
    {
        .name = "tag",
        .operands = "ID [TAG]",
        .summary = "tag a session, or take its tag away",
        .help = "",
        .options = BIT(NONE) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 2,
        .run = tag_run,
    },
    {
        .name = "archive",
        .operands = "ID...",
        .summary = "mark sessions as archived",
        .help = "",
        .options = BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 10000,
        .run = archive_run,
    },
    {
        .name = "unarchive",
        .operands = "ID...",
        .summary = "take sessions out of the archive",
        .help = "",
        .options = BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 10000,
        .run = unarchive_run,
    },
    {
        .name = "reappend",
        .operands = "ID",
        .summary = "write the metadata again where listings look for it",
        .help = "",
        .options = BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = reappend_run,
    },
    {
        .name = "delete",
        .operands = "ID...",
        .summary = "move sessions to the trash, with all that is theirs",
        .help =
            "Sessions that an agent is writing to are refused. Where that cannot be known (a file "
            "system of\n"
            "several machines, another user's session, an agent that did not sign in) they go with "
            "--force only.\n"
            "Of Entire's sessions the state and the shadow branch go; committed checkpoints stay, "
            "and "
            "it is said.\n",
        .options = BIT(PERMANENTLY) | BIT(FORCE) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 10000,
        .run = delete_run,
    },
    {
        .name = "trash",
        .operands = "list | restore ID | empty",
        .summary = "what was deleted: look at it, put it back, let it go",
        .help = "empty asks for nothing and cannot be undone; with --older-than only what was "
                "deleted earlier goes.\n"
                "restore never replaces anything. Where a program went on with a session after it "
                "was deleted,\n"
                "--join puts the deleted rows in front of the newer ones; they stay in the trash "
                "as well.\n",
        .options = BIT(OLDER_THAN) | BIT(JOIN),
        .min_operands = 1,
        .max_operands = 2,
        .run = trash_run,
    },
    {
        .name = "sweep",
        .operands = "--older-than AGE",
        .summary = "move sessions that a rule means to the trash",
        .help =
            "Shows which sessions of the scope these are and how much room they take; nothing "
            "is changed\n"
            "without --apply. Sessions that an agent may be writing to stay. What was moved "
            "can be taken\n"
            "back: reprise undo. Any of the rules will do, and of several all must hold.\n"
            "With --orphans no sessions are meant but what those left behind whose transcripts "
            "are gone: side\n"
            "directories, saved copies of files and the like (kept by id alone: with --all). With "
            "--saved-files\n"
            "only saved copies of files go, by the age of their directory (ExAthena's own cleanup "
            "takes those\n"
            "older than 30 days at every start).\n",
        .options = BIT(OLDER_THAN) | BIT(SAVED_FILES) | BIT(ORPHANS) | BIT(EMPTY) |
                   BIT(LARGER_THAN) | BIT(ARCHIVED) | BIT(DRY_RUN) | BIT(APPLY) |
                   BIT(NO_PROGRAMMATIC) | BIT(NO_WORKTREES),
        .run = sweep_run,
    },
    {
        .name = "doctor",
        .operands = "[ID]",
        .summary = "look for damage, in one session or in all",
        .help = "Torn, spliced and broken lines, rows that lead nowhere, titles where no list "
                "looks, saved copies\n"
                "that are gone, left-overs, sessions that the agent hides or will remove. With "
                "--fix a torn last\n"
                "line gets its newline, metadata is written again at the end, and what a crash cut "
                "short is\n"
                "finished; nothing else is touched.\n",
        .options = BIT(FIX) | BIT(NO_WORKTREES),
        .max_operands = 1,
        .run = doctor_run,
    },
    {
        .name = "log",
        .operands = "",
        .summary = "what was changed and rewound, newest first",
        .help = "",
        .options = 0,
        .min_operands = 0,
        .max_operands = 0,
        .run = log_run,
    },
    {
        .name = "checkpoints",
        .operands = "ID",
        .summary = "the points of a session that one can go back to, oldest first",
        .help = "",
        .options = BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = checkpoints_run,
    },
    {
        .name = "rewind",
        .operands = "ID [--to MSG]",
        .summary = "show what going back would do to the files, or do it",
        .help = "Without options, on a terminal: a screen with all turns to go back to.\n"
                "Nothing is changed without --apply. Refused files (links, files edited by hand "
                "since, files\n"
                "that nothing shows to be the session's work, files outside the project, missing "
                "saved copies)\n"
                "stop an apply unless --skip-refused is given.\n"
                "A program that has a file open for writing goes on with the old file, which moves "
                "into the undo\n"
                "record: undo brings it back with all that was written, and rewinds show ID FILE "
                "prints it. Where\n"
                "the record is on another file system, such a file is refused.\n"
                "What was applied can be taken back: reprise undo.\n",
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
        .summary = "take back the newest change or rewind, or the one that is named",
        .help =
            "Without an ID: the newest that was done to a session of the scope (-C, --project, "
            "--store, --all\n"
            "as for list). What was done elsewhere must be named; reprise log lists all of it.\n"
            "Of a rewind, files that changed since are refused. --skip-edited leaves them as they "
            "are and\n"
            "takes back the rest; the record can still be undone for them. --file takes back that "
            "file\n"
            "alone, and --overwrite-edited replaces what changed since (which is kept in turn).\n",
        .options =
            BIT(DRY_RUN) | BIT(SKIP_EDITED) | BIT(OVERWRITE_EDITED) | BIT(FILE) | BIT(NO_WORKTREES),
        .max_operands = 1,
        .run = undo_run,
    },
    {
        .name = "rewinds",
        .operands = "[show ID [FILE] | abandon ID]",
        .summary = "the rewinds that were done here, newest first",
        .help =
            "show ID: the files of one of them, and what is kept of each. show ID FILE: the "
            "bytes that the\n"
            "file had before, as they are, also where an undo would not put them back. A file that "
            "a program had\n"
            "open is printed with what the program wrote to it since.\n"
            "\n"
            "A rewind that was cut short is finished by the next command. One that cannot be "
            "finished "
            "yet, since\n"
            "its project is moved away or its disk is not mounted or may not be written, waits: it "
            "is listed with\n"
            "the reason, and nothing else is done to its files. abandon ID: give it up. What it "
            "has "
            "done stays,\n"
            "and undo takes it back; what it saved stays in its record; temporary files that could "
            "not be removed\n"
            "are named.\n",
        .max_operands = 3,
        .run = rewinds_run,
    },
    {
        .name = "create",
        .operands = "SYSTEM[:PATH]",
        .summary = "for hosts: begin a session",
        .help = "Makes the store where there is none. What the format has no place for is named on "
                "the standard\n"
                "error.\n",
        .options = BIT(ID) | BIT(CWD) | BIT(MODEL) | BIT(TITLE) | BIT(PARENT) | BIT(NO_PERSIST),
        .min_operands = 1,
        .max_operands = 1,
        .run = create_run,
    },
    {
        .name = "append",
        .operands = "ID",
        .summary = "for hosts: add rows, JSONL on the standard input",
        .help = "All rows or none, in one write. An id, a time and the row before are filled in "
                "where a row of the\n"
                "system needs them and this one has none. Rows whose uuid is in the session are "
                "not written again,\n"
                "so a call may be repeated; programs that append at the same time take turns. "
                "Claude's rows with an\n"
                "agentId go into the file of that sub-agent.\n",
        .options = BIT(TRANSCRIPT) | BIT(NO_PERSIST) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 1,
        .run = append_run,
    },
    {
        .name = "checkpoint",
        .operands = "ID --id MSG FILE...",
        .summary = "for hosts: save files before they are changed",
        .help =
            "MSG is the message that the changes answer; a rewind to it brings the files back.\n"
            "Of Entire it is a prompt, and the checkpoint says how the files are now: on a shadow "
            "branch, or as\n"
            "a commit of yours where .entire/settings.json says auto-commit.\n",
        .options = BIT(ID) | BIT(TITLE) | BIT(NO_PERSIST) | BIT(NO_WORKTREES),
        .min_operands = 1,
        .max_operands = 10000,
        .run = checkpoint_run,
    },
    {
        .name = "set",
        .operands = "ID KEY=VALUE...",
        .summary = "for hosts: update metadata",
        .help = "An empty value takes a setting away. Which keys there are is the system's own.\n",
        .options = BIT(NO_PERSIST) | BIT(NO_WORKTREES),
        .min_operands = 2,
        .max_operands = 10000,
        .run = set_run,
    },
    {
        .name = "demo",
        .operands = "",
        .summary = "build a small sample store and open the picker on it",
        .help = "The sample lives in a temporary directory, with an operation log and a trash of "
                "its own, and is\n"
                "removed on leaving. What you did elsewhere is not there to be undone.\n",
        .options = BIT(PRINT) | BIT(QUERY) | BIT(PLAIN),
        .run = demo_run,
    },
    {
        .name = "help",
        .operands = "[COMMAND]",
        .summary = "show this help, or that of a command",
        .help = "",
        .max_operands = 1,
        .run = help_run,
    },
    { .run = NULL },
};
