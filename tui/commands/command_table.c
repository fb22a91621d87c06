#include "tui/commands/command.h"

#include <stddef.h>

#define BIT OPTION_BIT
#define FILTERS                                                                                    \
    (BIT(LIMIT) | BIT(OFFSET) | BIT(SYSTEM) | BIT(TAG) | BIT(BRANCH) | BIT(SINCE) | BIT(BEFORE) |  \
     BIT(ARCHIVED) | BIT(NO_PROGRAMMATIC) | BIT(ALL_KINDS) | BIT(NO_WORKTREES) | BIT(SORT))
/* Every command that takes the id of a session has these. */
#define FINDS (BIT(SYSTEM) | BIT(NO_WORKTREES))

/* clang-format off */
/* The help of the commands that some agents carry out themselves. */
#define BY_AGENT_HELP                                                                              \
    "If only its agent can do that, because it keeps an index of its own, the agent's\n"           \
    "command is shown and run after a question; --yes runs it without one.\n"

const struct command commands_table[] = {
    { .operands = "[-- FLAGS]", .run = picker_run,
      .summary = "",
      .options = BIT(RESUME) | BIT(CONTINUE) | BIT(AS_FORK) | BIT(PRINT) | BIT(PRINT_DIRECTORY) | BIT(QUERY) | BIT(PLAIN) | BIT(NO_PROGRAMMATIC) |
                 BIT(ALL_KINDS) | FINDS | BIT(SORT) | BIT(BUNDLE),
      .help = "Opens the picker: type to filter, press Enter to resume the selected session.\n"
              "FLAGS are passed on to the agent's command. The screen is drawn on the terminal\n"
              "even if standard output is redirected.\n" },
    { .name = "list", .alias = "ls", .operands = "", .run = list_run,
      .summary = "list the sessions of this directory, newest first",
      .options = FILTERS | BIT(MAX_BYTES) | BIT(BUNDLE),
      .help = "Without --all or --project: the sessions of the current directory and of the\n"
              "other worktrees of its repository.\n" },
    { .name = "board", .operands = "", .run = board_run,
      .summary = "show the sessions that run now, those that wait for you first",
      .options = BIT(WATCH) | BIT(BELL) | BIT(SYSTEM),
      .help = "One line for each session of any project at which an agent works now: what it\n"
              "does, since when, and in which terminal. Claude Code and hosts publish whether a\n"
              "session waits for a person, is busy, runs a command (shell) or is idle. Of other\n"
              "agents it is only known that a program has the session open, or that it wrote to\n"
              "it within the last minute. With --watch --json each change is one line.\n" },
    { .name = "status", .audience = FOR_HOSTS, .operands = "", .run = board_status_run,
      .summary = "count in one line the sessions that wait and are busy",
      .help = "For the status line of tmux, a bar or a prompt: \"2 waiting, 1 busy\". The line is\n"
              "empty if no session is either. Only what agents publish is counted (see board).\n" },
    { .name = "go", .operands = "ID", .min_operands = 1, .max_operands = 1, .on_session = board_go_session,
      .summary = "go to the terminal in which a session runs",
      .options = BIT(PRINT) | FINDS,
      .help = "Switches tmux, kitty (with remote control) or WezTerm to the pane; from outside\n"
              "tmux, GNU Screen or Zellij it attaches to the session there. Nothing is typed\n"
              "into the other terminal. --print prints where it is instead.\n" },
    { .name = "info", .operands = "ID", .min_operands = 1, .max_operands = 1, .on_session = info_session,
      .summary = "show the details of a session",
      .options = FINDS | BIT(BUNDLE) },
    { .name = "messages", .operands = "ID", .min_operands = 1, .max_operands = 1, .run = messages_run,
      .summary = "print the conversation that a resume would restore",
      .options = BIT(LIMIT) | BIT(OFFSET) | BIT(SYSTEM_MESSAGES) | BIT(SPOKEN) | BIT(AS_SDK) | BIT(TAIL) |
                 BIT(BEFORE) | BIT(AGENT) | BIT(AT) | BIT(RAW) | BIT(TRANSCRIPT) | BIT(PLAIN) |
                 BIT(AFTER) | BIT(AROUND) | BIT(FOLLOW) | BIT(MAX_BYTES) | FINDS | BIT(BUNDLE),
      .help = "Prints the oldest message first. After a resume-at, the list ends at the message\n"
              "where the session resumes. Tool calls without a result, messages with only\n"
              "thinking and empty messages are left out, as the agent does; reprise restore\n"
              "also prints what the agent adds while loading. With --as-sdk the list is that\n"
              "of the agent's SDK, which contains all of these and ends with the last message\n"
              "of the file. With --at the list ends with that message. --raw prints every row\n"
              "of the log unchanged, one per line, including the host's events; --transcript\n"
              "reads the stream of SDK messages that a Go session may have beside its\n"
              "conversation.\n"
              "To page backwards, use --tail N for the newest page, then --before MSG --limit N\n"
              "with the first message of the previous page; forwards, --after MSG --limit N.\n"
              "--around MSG prints what is on both sides of a message that was found.\n"
              "With --plain, messages of all agents have one form: as text, each is below its\n"
              "id; with --json, they have the role, the text, and the tools with their results.\n" },
    { .name = "search", .alias = "grep", .operands = "PATTERN", .max_operands = 1, .run = search_run,
      .summary = "search the text of all conversations",
      .options = BIT(PATTERN) | BIT(FIXED) | BIT(WORDS) | BIT(ANY) | BIT(IGNORE_CASE) | BIT(CASE) | BIT(IN) |
                 BIT(CONTEXT) | BIT(COUNTS) | BIT(SESSIONS) | BIT(LIMIT) | BIT(OFFSET) | BIT(MAX_BYTES) | BIT(SYSTEM) |
                 BIT(TAG) | BIT(BRANCH) | BIT(SINCE) | BIT(BEFORE) | BIT(ARCHIVED) | BIT(NO_PROGRAMMATIC) |
                 BIT(NO_WORKTREES) | BIT(BUNDLE),
      .help = "Searches prompts, replies, and the input and results of tools, as a person reads\n"
              "them, in the conversations, their other branches and their sub-agents; newest\n"
              "session first. PATTERN is a regular expression as in Perl (PCRE2). Case matters\n"
              "only in a pattern with a capital letter. On a terminal, the lines are grouped by\n"
              "session; elsewhere each line begins with the session's id and its place (prompt,\n"
              "reply, thinking, tool, note). With --json there is one object per line. Prompts\n"
              "of Claude Code whose transcripts are gone come last, marked as gone. The exit\n"
              "code is 1 if nothing matches.\n" },
    { .name = "mcp", .audience = FOR_HOSTS, .operands = "", .run = mcp_run,
      .summary = "serve agents that ask about sessions (Model Context Protocol)",
      .options = BIT(INSTALL) | BIT(REMOVE) | BIT(SKILL) | BIT(DRY_RUN) | BIT(APPLY),
      .help = "An agent starts it and speaks with it on standard input and output. It has five\n"
              "tools, which only read: find sessions, read messages, who touched a file, who\n"
              "wrote its lines, and what a rewind would change. Answers are bounded; the rest is\n"
              "read with a cursor.\n"
              "\n"
              "--install adds it to the servers that AGENT (claude, codex, copilot, gemini, kimi,\n"
              "opencode, qwen) starts, in the user's own configuration. The change is shown\n"
              "first and made after a question.\n"
              "\n"
              "--skill is for agents with a shell: a page that teaches the commands that only\n"
              "read (share/reprise/skill), among the user's own skills.\n" },
    { .name = "export", .operands = "ID...", .min_operands = 1, .max_operands = 10000, .run = export_run,
      .summary = "write sessions as Markdown, HTML, text or JSONL",
      .options = BIT(FORMAT) | BIT(OUTPUT) | BIT(FORCE) | BIT(TOOLS) | BIT(THINKING) | BIT(WITH_SUBAGENTS) |
                 BIT(BRANCH) | BIT(FROM) | BIT(TO) | BIT(REDACT) | FINDS | BIT(BUNDLE),
      .help = "md is Markdown as GitHub renders it, html is one page without scripts, txt is\n"
              "for a pager, and jsonl contains the transcript's rows byte by byte. Nothing in a\n"
              "session can become markup of the document. FILE appears when it is complete and\n"
              "is readable only by you. An existing FILE is kept (exit code 4) unless --force\n"
              "is given, which replaces it for good. Several sessions are written to a\n"
              "directory, --output DIR/, one file each, named by title and id; if a name is\n"
              "taken, a number is added or, with --force, the file is replaced. MSG is a\n"
              "message's id, the beginning of a UUID, or its number in the document (#12).\n"
              "--redact replaces each secret that it recognises, in all places of the session,\n"
              "and does not find every secret.\n" },
    { .name = "usage", .operands = "[ID]", .max_operands = 1, .run = usage_run,
      .summary = "sum up the tokens that sessions used",
      .options = BIT(BY) | BIT(LIMIT) | BIT(SYSTEM) | BIT(TAG) | BIT(BRANCH) | BIT(SINCE) | BIT(BEFORE) |
                 BIT(ARCHIVED) | BIT(NO_PROGRAMMATIC) | BIT(NO_WORKTREES) | BIT(BUNDLE),
      .help = "Sums up the tokens that the transcripts record, in all branches and sub-agents.\n"
              "An answer of the model is counted once, even if forks copied it. --since and\n"
              "--before select answers. Without ID the sums are by day (in the local time\n"
              "zone), with ID by model. Costs are those that the agent recorded, or follow from\n"
              "the [prices] of the configuration; a + after a cost means that some answers have\n"
              "neither. If the output is not a terminal, its columns are input, output, cache\n"
              "write, cache read, total and cost, then the group.\n" },
    { .name = "blame", .operands = "FILE[:FROM-TO]|COMMIT", .min_operands = 1, .max_operands = 1, .run = blame_run,
      .summary = "show which session and prompt wrote each line of a file",
      .options = BIT(NOTES) | BIT(APPLY) | BIT(PORCELAIN) | BIT(BY_TURN) | BIT(OFFSET) | BIT(MAX_BYTES) | BIT(SYSTEM) | BIT(TAG) | BIT(BRANCH) | BIT(SINCE) | BIT(BEFORE) | BIT(ARCHIVED) |
                 BIT(NO_PROGRAMMATIC) | BIT(NO_WORKTREES),
      .help = "Replays the edits that sessions recorded, in order of time, and compares the\n"
              "result with the present file. A line that is still as an edit left it is shown\n"
              "with the prompt of that edit; a line that a person changed since, or that no\n"
              "session wrote, is shown without a session. Renames and deletions by patches and\n"
              "by plain mv and rm commands are followed. Sessions of all projects are searched,\n"
              "because agents also edit files outside the directory in which they were started;\n"
              "--project DIR limits the search to one project. For a file in git, --json and\n"
              "--porcelain name the commit that came after the edit. Lines without a session\n"
              "here are shown as the notes of git-ai (refs/notes/ai) know them.\n"
              "--notes COMMIT shows the note of a commit, which says what sessions wrote of the\n"
              "lines that it added, in the form of git-ai (authorship/3.0.0); --apply attaches\n"
              "it, unless the commit has one, and undo removes it.\n" },
    { .name = "touched", .operands = "PATH", .min_operands = 1, .max_operands = 1, .run = touched_run,
      .summary = "list the sessions and turns that changed a file or directory",
      .options = BIT(LIMIT) | BIT(OFFSET) | BIT(MAX_BYTES) | BIT(SYSTEM) | BIT(TAG) | BIT(BRANCH) | BIT(SINCE) |
                 BIT(BEFORE) | BIT(ARCHIVED) | BIT(NO_PROGRAMMATIC) | BIT(NO_WORKTREES),
      .help = "Newest first, with the lines that each turn added and removed. Sessions of all\n"
              "projects are searched, unless --project names one. Changes by shell commands\n"
              "other than plain mv and rm are not recorded.\n" },
    { .name = "files", .audience = FOR_MORE, .operands = "ID", .min_operands = 1, .max_operands = 1, .on_session = files_session,
      .summary = "list the files that a session changed, turn by turn",
      .options = FINDS | BIT(BUNDLE),
      .help = "Includes the lines that the session's edits and those of its sub-agents added\n"
              "and removed.\n" },
    { .name = "compare", .operands = "ID ID", .min_operands = 2, .max_operands = 2, .run = compare_run,
      .summary = "compare two sessions: prompts, changed files, tokens",
      .options = BIT(TAKE) | BIT(FILE) | BIT(HUNK) | BIT(APPLY) | BIT(PLAN) | BIT(SKIP_REFUSED) | BIT(OVERWRITE_EDITED) |
                 BIT(ALLOW_OUTSIDE) | BIT(ALLOW_SENSITIVE) | FINDS,
      .help = "For forks of one conversation, or one task in two agents. Shows how many messages\n"
              "both begin with, the prompts after them, and the files that each session's edits\n"
              "changed. A file that both changed is compared as each of them left it, if its\n"
              "records tell the whole text; files of two worktrees are matched by their paths\n"
              "below the directories of the sessions. Changes by commands are not recorded.\n"
              "\n"
              "With --take, shows what it would change to give the files that A or B changed\n"
              "the content in which that session left them, below the directory of either\n"
              "session in which you are, and does it with --apply, as a rewind that undo\n"
              "reverts. A file that is not as one of them left it is held back.\n" },
    { .name = "subagents", .audience = FOR_HOSTS, .operands = "ID", .min_operands = 1, .max_operands = 1, .on_session = info_subagents_session,
      .summary = "list the ids of a session's sub-agents",
      .options = FINDS | BIT(BUNDLE) },
    { .name = "restore", .audience = FOR_HOSTS, .operands = "ID", .min_operands = 1, .max_operands = 1, .on_session = host_restore_session,
      .summary = "print everything a host needs to continue a session",
      .options = BIT(AT) | FINDS,
      .help = "The messages are those that the agent would load. Tool calls that were cut off\n"
              "by the end of the session get a result that says so. With --at the messages\n"
              "end with that one.\n" },
    { .name = "retrieve", .audience = FOR_TEAMS, .alias = "pull", .operands = "ID... [--at CHECKPOINT]", .min_operands = 1, .max_operands = 10000,
      .run = change_retrieve_run,
      .summary = "copy a transcript from git or a store to where its agent looks",
      .options = BIT(AT) | BIT(FORCE) | BIT(DRY_RUN) | FINDS,
      .help = "Without --at: the newest transcript in the checkpoints of the session; with it:\n"
              "the transcripts of all sessions of the checkpoint. A transcript that is newer\n"
              "on this machine is kept (exit code 4) unless --force is given. To restore what\n"
              "was replaced: reprise undo with the id that is printed. Of several sessions, one\n"
              "that cannot be retrieved does not keep back the others.\n" },
    { .name = "push", .audience = FOR_TEAMS, .operands = "STORE ID...", .min_operands = 2, .max_operands = 10000, .run = push_run,
      .summary = "add local sessions to the store of a team",
      .options = BIT(DRY_RUN) | BIT(FORCE) | BIT(REDACT) | BIT(REQUESTS) | FINDS,
      .help = "STORE is the name of a store in the configuration, or a URL. Only rows that the\n"
              "store lacks are added, so an interrupted push can be repeated. A session that\n"
              "has rows in the store but not here is refused (exit code 4): retrieve it first,\n"
              "or add to it with --force. --redact replaces what looks like a secret in the\n"
              "rows that are added, as in an export; it does not find every secret, and rows\n"
              "that the store has already stay as they are. The rows in which Claude Code keeps\n"
              "its requests to the model (system prompt, tools) stay here, as they do when\n"
              "Claude Code itself mirrors a session, unless --requests is given.\n" },
    { .name = "mirror", .audience = FOR_TEAMS, .operands = "STORE", .min_operands = 1, .max_operands = 1, .run = push_mirror_run,
      .summary = "add all local sessions of the scope to the store of a team",
      .options = BIT(DRY_RUN) | BIT(FORCE) | BIT(REDACT) | BIT(REQUESTS) | BIT(NO_WORKTREES),
      .help = "Does what push does, one session after the other. If a session cannot be added,\n"
              "the failure is reported and the others are still added.\n" },
    { .name = "fork", .operands = "ID", .min_operands = 1, .max_operands = 1, .on_session = change_fork_session,
      .summary = "copy a session, or its beginning, into a new one",
      .options = BIT(AT) | BIT(ID) | BIT(TITLE) | BIT(WITH_FILES) | FINDS,
      .help = "The original session is not changed. Prints the id of the new session, which is\n"
              "generated unless --id sets it, as is possible for a Go session. Without --at the\n"
              "whole session is copied or, after a resume-at, what a resume restores. If the\n"
              "configuration sets `fork` for the store, only --at is possible; reprise --fork\n"
              "--resume ID runs the configured command.\n" },
    { .name = "resume-at", .audience = FOR_MORE, .operands = "ID [MSG]", .min_operands = 1, .max_operands = 2, .run = change_resume_at_run,
      .summary = "make a session resume after one of its messages",
      .options = BIT(CLEAR) | FINDS,
      .help = "Nothing is removed: the later messages stay in the file as another branch. An\n"
              "agent does not load messages from before its last compaction; to return there,\n"
              "use fork.\n" },
    { .name = "tombstone", .audience = FOR_HOSTS, .operands = "ID MSG", .min_operands = 2, .max_operands = 2, .run = change_tombstone_run,
      .summary = "remove one message from the conversation",
      .options = BIT(CUT) | BIT(YES) | FINDS,
      .help = "Its row is blanked in place, even while an agent is writing. The messages\n"
              "after it are kept and follow the row closest in time before them; after a\n"
              "pause of more than five seconds the agent starts the conversation anew there.\n"
              "Messages that would leave the conversation with it are named, and removed\n"
              "after a question or with --yes alone.\n" },
    { .name = "rename", .operands = "ID TITLE", .min_operands = 2, .max_operands = 2, .run = change_rename_run,
      .summary = "rename a session",
      .options = BIT(PRINT) | BIT(YES) | FINDS, .help = BY_AGENT_HELP },
    { .name = "tag", .operands = "ID [TAG...]", .min_operands = 1, .max_operands = 100, .run = change_tag_run,
      .summary = "add tags to a session",
      .options = BIT(NONE) | FINDS,
      .help = "A session keeps the tags that it has. They are one text, \"infra, spike\", which the\n"
              "agent itself and earlier versions show as one tag. --none removes all of them.\n"
              "A session with the tag \"pinned\" is at the top of the list on the screen.\n" },
    { .name = "untag", .audience = FOR_MORE, .operands = "ID TAG...", .min_operands = 2, .max_operands = 100, .run = change_tag_run,
      .summary = "remove tags from a session",
      .options = FINDS },
    { .name = "archive", .operands = "ID...", .min_operands = 1, .max_operands = 10000, .run = change_archive_run,
      .summary = "archive sessions",
      .options = BIT(PRINT) | BIT(YES) | FINDS, .help = BY_AGENT_HELP },
    { .name = "unarchive", .audience = FOR_MORE, .operands = "ID...", .min_operands = 1, .max_operands = 10000, .run = change_archive_run,
      .summary = "unarchive sessions",
      .options = BIT(PRINT) | BIT(YES) | FINDS, .help = BY_AGENT_HELP },
    { .name = "reappend", .audience = FOR_HOSTS, .operands = "ID", .min_operands = 1, .max_operands = 1, .on_session = change_reappend_session,
      .summary = "append the metadata again, where listings look for it",
      .options = FINDS },
    { .name = "delete", .operands = "ID...", .min_operands = 1, .max_operands = 10000, .run = trash_delete_run,
      .summary = "move sessions and all their files to the trash",
      .options = BIT(PERMANENTLY) | BIT(FORCE) | BIT(PRINT) | BIT(YES) | FINDS,
      .help = "Sessions that an agent is writing to are refused. If that cannot be known (a\n"
              "network file system, another user's session, an agent that did not register),\n"
              "--force is needed. For a session of Entire, its state and shadow branch are\n"
              "deleted; committed checkpoints are kept, and the answer reports it.\n"
              "\n" BY_AGENT_HELP
              "Where the agent keeps sessions as files, a copy goes into the trash first (not\n"
              "with --permanently), and undo restores it.\n" },
    { .name = "trash", .operands = "[list | restore [--join] TRASHED | empty]", .max_operands = 2,
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
                 BIT(ARCHIVED) | BIT(TAG) | BIT(QUERY) | BIT(INCLUDE_TAGGED) | BIT(INCLUDE_NAMED) |
                 BIT(DRY_RUN) | BIT(APPLY) | BIT(NO_PROGRAMMATIC) | BIT(NO_WORKTREES),
      .help = "Lists the matching sessions of the scope and their size; nothing is changed\n"
              "without --apply. At least one rule is needed; with several, all must match.\n"
              "To restore what was moved: reprise undo with the id that is printed.\n"
              "\n"
              "Sessions with a tag and sessions that were named by hand are kept, unless\n"
              "--include-tagged or --include-named is given; so are sessions that an agent\n"
              "may be writing to. --query takes what can be typed into the list:\n"
              "\n"
              "    reprise sweep --all --query 'dir:shop before:30d !branch:main'\n"
              "\n"
              "With --orphans the rules apply to what deleted sessions left behind: side\n"
              "directories, saved copies of files and the like (those known by id alone need\n"
              "--all), and to what reprise kept of Entire's shadow branches and of work trees\n"
              "before rewinds. With --saved-files only saved copies of files are removed, by\n"
              "the age of their directory (ExAthena's own cleanup removes those older than 30\n"
              "days at every start).\n" },
    { .name = "keep", .operands = "[ID... | restore ID...]", .max_operands = 10000, .run = keep_run,
      .summary = "keep copies of sessions that their agents remove",
      .options = BIT(DUE) | BIT(QUERY) | BIT(DRY_RUN) | BIT(INSTALL_TIMER) | BIT(REMOVE_TIMER) | BIT(YES) | FINDS,
      .help = "Copies each session with everything that belongs to it (sub-agents, saved copies\n"
              "of files, documents beside it) to reprise's data directory, for you alone. What\n"
              "did not change since is not copied again. When the agent has removed a session,\n"
              "its copy stays in the list, marked `kept`: it can be read, searched, exported,\n"
              "rewound and deleted, but not resumed. restore puts it back where its agent finds\n"
              "it, as one change that can be undone.\n"
              "\n"
              "Without ID: what the setting `sessions` of [keep] in the configuration says\n"
              "(all, or a query such as tag:keep); what --query says; or with --due the\n"
              "sessions that their agents remove within a week. Sessions in databases, in git\n"
              "(Entire) and on servers cannot be kept.\n"
              "\n"
              "--install-timer shows, and after a question installs, a timer of your systemd\n"
              "that does this every day for all projects: keep --due, and keep alone if the\n"
              "setting is there. Without systemd it prints a line for crontab -e. The variables\n"
              "that say where agents have their sessions are in the unit.\n" },
    { .name = "continue", .operands = "ID", .min_operands = 1, .max_operands = 1, .on_session = continue_session,
      .summary = "continue a session in another agent",
      .options = BIT(IN) | BIT(APPLY) | FINDS,
      .help = "Makes a new session of the agent that --in names (claude, codex, gemini,\n"
              "opencode, qwen or pi), with the conversation as that agent would have recorded\n"
              "it, and prints the command that resumes it; the original is not touched. Without\n"
              "--apply it only prints what the session would consist of and what would be left\n"
              "out. OpenCode has to have been started once in the directory, or in one without\n"
              "a repository.\n"
              "Tool calls that run a command, or that read, write or edit one file, become the\n"
              "agent's own; others, and those without a result, become text. Thinking, images\n"
              "and the conversations of sub-agents are left out. reprise undo removes the\n"
              "session.\n" },
    { .name = "move", .operands = "OLD [NEW]", .min_operands = 1, .max_operands = 2, .run = move_run,
      .summary = "let sessions follow a project that was moved",
      .options = BIT(APPLY) | BIT(SYSTEM),
      .help = "Sessions of the directory OLD, and of those below it, become sessions of NEW, so\n"
              "that their agents list and resume them there: move the project first, then run\n"
              "this. Without --apply it shows what would change. Sessions of Claude Code,\n"
              "Gemini, Qwen Code, pi, Droid and Kimi Code move to the folder of the new\n"
              "directory; those of other agents stay, and the reason is shown. Nothing is\n"
              "overwritten, and a session that is running or already there stays. Undo takes\n"
              "all of it back byte for byte. Without NEW it looks for directories that OLD may\n"
              "be now, and prints what each has in common with it: its inode, the first commit,\n"
              "a remote, a commit that its sessions recorded, or files that they changed.\n" },
    { .name = "bundle", .audience = FOR_TEAMS, .operands = "ID... | --list FILE", .max_operands = 10000, .run = bundle_run,
      .summary = "put sessions into one file, for another machine",
      .options = BIT(OUTPUT) | BIT(REDACT) | BIT(FORCE) | BIT(LIST) | FINDS,
      .help = "Writes each session with everything that belongs to it (sub-agents, saved copies\n"
              "of files, documents beside it), its directory, and the commit and the remotes of\n"
              "its repository to FILE: a tar archive with a manifest, compressed with zstd.\n"
              "FILE appears when it is complete and is readable only by you. --redact replaces\n"
              "what looks like a secret in texts and leaves out the other files; it does not\n"
              "find every secret. --list shows what is in a bundle, and --bundle FILE of list,\n"
              "info, messages, search, export, usage, files and the picker reads its sessions\n"
              "without unpacking it. Sessions in databases, in git (Entire) and on servers have\n"
              "no files of their own and cannot be bundled.\n" },
    { .name = "unbundle", .audience = FOR_TEAMS, .operands = "FILE", .min_operands = 1, .max_operands = 1, .run = unbundle_run,
      .summary = "unpack sessions of another machine",
      .options = BIT(TO) | BIT(APPLY),
      .help = "Puts the sessions of a bundle where their agents find them. Without --apply it\n"
              "shows what would be written. A session belongs to the directory that --to names;\n"
              "without it, to its old directory, if there is one here or the same one below your\n"
              "home, or else to the repository of the current directory, if it has the same\n"
              "first commit or a remote in common. Claude Code, Gemini, Qwen Code, pi and Droid list\n"
              "and resume it there; sessions of other agents can be resumed by their id, unless\n"
              "their agents look for them by the directory. Nothing is overwritten. FILE is not\n"
              "trusted: only files that belong to its sessions, with the sizes and hashes of its\n"
              "manifest, are unpacked. It is one change, which can be undone.\n" },
    { .name = "doctor", .operands = "[ID | --plugin FILE PATH [NAME=VALUE...]]", .max_operands = 10000, .run = doctor_run,
      .summary = "check one session, or all, for damage",
      .options = BIT(FIX) | BIT(RECONNECT) | BIT(PLUGIN) | BIT(APPLY) | BIT(FORCE) | FINDS,
      .help = "Finds torn, spliced and broken lines, rows without a parent, titles that\n"
              "listings miss, missing saved copies, leftovers, and sessions that the agent\n"
              "hides or will remove. Each finding that --fix repairs says how: damaged lines\n"
              "are repaired, and what cannot be is taken out of logs whose agent would fail\n"
              "on it; in rows of Claude Code that the model's API refuses, the refused part\n"
              "is replaced with a text; the metadata is appended again, and what a crash\n"
              "interrupted is finished; a session that is misplaced, so that no list shows it,\n"
              "goes back with what is beside it to where its agent looks for it. Nothing else\n"
              "changes, and undo restores every byte.\n"
              "\n"
              "A lost-part is what a resume leaves out because a row follows one that was never\n"
              "written, or one from before a compaction. If that was not intended,\n"
              "--fix --reconnect lets the row follow the message above it in the file.\n"
              "\n"
              "With --plugin, the plug-in of a team's store is checked instead: the 14 rules that\n"
              "the agent's SDK has for session stores, and what the interface of plug-ins\n"
              "promises beyond them. PATH and the settings are those of the configuration. Each\n"
              "rule is passed, failed (with what was expected and what came; exit code 1) or\n"
              "skipped with the reason. Nearly all of them write, and need --apply: to projects\n"
              "that begin with -reprise-doctor-, which are removed at the end. A plug-in that\n"
              "crashes or does not return fails only the rule.\n" },
    { .name = "log", .operands = "", .run = undo_log_run,
      .summary = "list what reprise changed and rewound, newest first",
      .help = "undo takes an id of this list; undo --back-to goes back to before it.\n" },
    { .name = "checkpoints", .audience = FOR_MORE, .operands = "ID", .min_operands = 1, .max_operands = 1, .on_session = info_checkpoints_session,
      .summary = "list the points that a session can be rewound to",
      .options = FINDS,
      .help = "Oldest first.\n" },
    { .name = "checkpoint-of", .audience = FOR_TEAMS, .operands = "COMMIT|CHECKPOINT", .min_operands = 1, .max_operands = 1,
      .run = checkpoint_of_run,
      .summary = "show the checkpoint, session and prompt behind a commit",
      .help = "For repositories with sessions of Entire. A commit (HEAD, a branch, a hash)\n"
              "leads to the checkpoints that its Entire-Checkpoint trailers name; a checkpoint\n"
              "id, or its beginning, leads to the same and to every commit that names it. With\n"
              "--json the metadata of each session (tokens, attribution, summary) is in\n"
              "`record`.\n" },
    { .name = "rewind", .operands = "ID [--to MSG]", .min_operands = 1, .max_operands = 1, .run = rewind_run,
      .summary = "preview a rewind of files and conversation, or apply it",
      .options = BIT(TO) | BIT(MODE) | BIT(FILE) | BIT(DRY_RUN) | BIT(APPLY) | BIT(PLAN) | BIT(SKIP_REFUSED) |
                 BIT(OVERWRITE_EDITED) | BIT(ALLOW_OUTSIDE) | BIT(ALLOW_SENSITIVE) | BIT(ENTIRE_RULE) |
                 BIT(MOVE_BRANCH) | BIT(INTO) | BIT(ONLY) | BIT(INFERRED) | FINDS,
      .help = "Without options, on a terminal: a screen with all turns. With --to: what a\n"
              "rewind to before that prompt would change; nothing is changed without --apply.\n"
              "\n"
              "Refused files stop an apply unless --skip-refused is given: links, files\n"
              "edited by hand since, files not known to be the session's work, files outside\n"
              "the project, missing saved copies. The project is the directory for which the\n"
              "session's project folder is named; /, the home directory and everything above\n"
              "the directory that the session started in are outside. If all files are\n"
              "refused, --skip-refused exits with 4, too.\n"
              "\n"
              "If a program has a file open for writing, the old file moves into the undo\n"
              "record, where the program keeps writing to it: undo restores it with everything\n"
              "that was written, and rewinds show prints it. If the record is on\n"
              "another file system, such a file is refused.\n"
              "\n"
              "To restore what was there before: reprise undo with the id that is printed.\n" },
    { .name = "bisect", .operands = "ID -- COMMAND...", .min_operands = 2, .max_operands = 10000, .on_session = bisect_session,
      .summary = "find the first turn after which a command fails",
      .options = BIT(FROM) | BIT(TO) | FINDS,
      .help = "Runs COMMAND in a copy of the project, with the files as they were between the\n"
              "turns, and halves what is left each time. It fails if it exits with 1 to 127,\n"
              "except 125, which skips a state, as for git bisect run. States with the same\n"
              "files are tested once. Nothing outside the copy is written: it is below $TMPDIR,\n"
              "has no .git, and is removed at the end. Files that the session did not change\n"
              "are as they are now. The output of COMMAND goes to standard error.\n" },
    { .name = "undo", .operands = "[CHANGE]", .max_operands = 1, .run = undo_run,
      .summary = "undo the newest change or rewind, or the one named",
      .options = BIT(BACK_TO) | BIT(DRY_RUN) | BIT(SKIP_EDITED) | BIT(OVERWRITE_EDITED) | BIT(FILE) | BIT(NO_WORKTREES),
      .help = "Without CHANGE: the newest change to a session of the scope (-C, --project,\n"
              "--store, --all as for list), or to the project that this directory is in. Changes\n"
              "made elsewhere must be named; reprise log lists all. If the newest\n"
              "change cannot be undone because its session continued, an older one must be\n"
              "named, too.\n"
              "\n"
              "Undo of a rewind refuses files that changed since. --skip-edited skips them\n"
              "and undoes the rest; they can still be undone later. --file undoes only that\n"
              "file. --overwrite-edited replaces files that changed since; the next undo\n"
              "restores them.\n"
              "\n"
              "--back-to goes back to the state before a change: it undoes that change and all\n"
              "later ones of the scope. If one of them cannot be undone, nothing is changed.\n"
              "--dry-run lists them.\n" },
    { .name = "rewinds", .audience = FOR_MORE, .operands = "[show CHANGE [PATH] | abandon CHANGE | prune]", .max_operands = 3, .run = rewinds_run,
      .summary = "list the rewinds made here, newest first",
      .options = BIT(KEEP) | BIT(OLDER_THAN) | BIT(LARGER_THAN) | BIT(DRY_RUN),
      .help = "show lists the files of a rewind and their backups; with PATH it prints the\n"
              "bytes that the file had before, even if undo would refuse to restore them. A\n"
              "file that a program had open is printed with what the program wrote to it\n"
              "since.\n"
              "\n"
              "A rewind that was interrupted is finished by the next command. If it cannot be\n"
              "finished yet, because its project was moved away or its disk is not mounted or\n"
              "read-only, it waits: the list says why, and its files are not touched. abandon\n"
              "gives it up: its changes remain and can be undone, its backups stay in the\n"
              "record, and temporary files that could not be removed are listed.\n"
              "\n"
              "prune removes the backups of old rewinds for good, so that they can no longer\n"
              "be undone: those after the newest 200, those 90 days older than the newest, and\n"
              "the oldest while all are larger than 1 GiB; or only what each of the given\n"
              "options selects. The newest rewind of a project stays, and so does one that is\n"
              "not finished.\n" },
    { .name = "snapshots", .operands = "[on [AGENT...] | off [AGENT...] | prune [FILE]]", .max_operands = 64, .run = snapshots_run,
      .summary = "keep a copy of the files before and after each turn",
      .options = BIT(DRY_RUN) | BIT(YES) | BIT(OLDER_THAN),
      .help = "Shows for which agents snapshots are on, and what is kept. With on, hooks are\n"
              "added to the agents' own configurations, which run reprise before each prompt\n"
              "and after each turn; then a rewind can also give back what shell commands\n"
              "changed. The change is shown before it is made, and off removes exactly that.\n"
              "No file of a project is touched: the copies are below reprise's state directory,\n"
              "for you alone. Without AGENT: all agents that are in use.\n"
              "\n"
              "prune removes snapshots older than 30 days, or than --older-than, for good; the\n"
              "newest of a project stays. The older half goes, too, where they are more than\n"
              "1 GB. The hooks do this once a day; [snapshots] in the configuration has other\n"
              "limits. With FILE it takes that file out of all snapshots\n"
              "instead; the next one has it again unless git ignores it.\n" },
    { .name = "snapshot", .audience = FOR_HOSTS, .operands = "", .max_operands = 0, .run = snapshot_run,
      .summary = "take a snapshot, told by the JSON of a hook on standard input",
      .options = BIT(AGENT) | BIT(EVENT) | BIT(VERBOSE),
      .help = "Hooks run this with --agent NAME --event EVENT. It answers what the agent expects,\n"
              "ends after about two seconds, and its exit code is always 0. Why there is no\n"
              "snapshot is in snapshots.log in the state directory.\n" },
    { .name = "create", .audience = FOR_HOSTS, .operands = "SYSTEM[:PATH]|STORE", .min_operands = 1, .max_operands = 1, .run = host_create_run,
      .summary = "create a session",
      .options = BIT(ID) | BIT(CWD) | BIT(MODEL) | BIT(TITLE) | BIT(PARENT) | BIT(DIALECT) |
                 BIT(NO_PERSIST),
      .help = "Creates the store if it does not exist. Settings that the format cannot hold\n"
              "are reported on standard error. A repository without anything of Entire gets\n"
              "what `entire enable` writes, except for the hooks, which run Entire's program.\n" },
    { .name = "append", .audience = FOR_HOSTS, .operands = "ID", .min_operands = 1, .max_operands = 1, .run = host_append_run,
      .summary = "append rows, JSONL on standard input",
      .options = BIT(TRANSCRIPT) | BIT(SAVE) | BIT(NO_PERSIST) | FINDS,
      .help = "All rows or none, in one write. A missing id, time or parent is filled in\n"
              "where the format needs one. Rows whose uuid is already in the session are not\n"
              "written again, so a call may be repeated; programs that append at the same\n"
              "time take turns. Claude's rows with an agentId go into the file of that sub-\n"
              "agent.\n" },
    { .name = "checkpoint", .audience = FOR_HOSTS, .operands = "ID (--id MSG | --end) FILE...", .min_operands = 1, .max_operands = 10000,
      .run = host_checkpoint_run,
      .summary = "save files before they are changed, and say what was changed",
      .options = BIT(ID) | BIT(END) | BIT(TITLE) | BIT(TASK) | BIT(AGENT) | BIT(NO_PERSIST) | FINDS,
      .help = "MSG is the message before the changes; a rewind to it restores the files. A\n"
              "rewind holds back files that it does not know to be the session's work. If the\n"
              "rows do not explain the changes (they are not written as the agent itself writes\n"
              "them), call it with --end after each turn, with the files that it changed. For\n"
              "Entire MSG is a prompt, and the checkpoint contains the files as they are now:\n"
              "on a shadow branch, or as a commit of yours if .entire/settings.json sets\n"
              "auto-commit. With --task it is that of a sub-agent's task, with the transcript\n"
              "of the sub-agent --agent, if Claude Code wrote one; MSG describes the task.\n" },
    { .name = "set", .audience = FOR_HOSTS, .operands = "ID KEY=VALUE...", .min_operands = 2, .max_operands = 10000, .run = host_set_run,
      .summary = "update metadata",
      .options = BIT(NO_PERSIST) | FINDS,
      .help = "An empty value removes a setting. The system defines the keys.\n"
              "Entire: event=turn-start, turn-end, commit, session-start or session-stop (a\n"
              "commit condenses the checkpoints into the one that HEAD names), strategy, agent,\n"
              "branch, first-prompt, last-prompt, transcript, turn, input-tokens,\n"
              "output-tokens, cache-read-tokens, cache-creation-tokens, api-calls.\n" },
    { .name = "demo", .operands = "", .run = demo_run,
      .summary = "build a small sample store and open the picker on it",
      .options = BIT(PRINT) | BIT(QUERY) | BIT(PLAIN),
      .help = "The sample is in a temporary directory, with its own operation log and trash,\n"
              "and is removed on exit. Undo in the demo never touches\n"
              "your real sessions.\n" },
    { .name = "config", .operands = "", .run = config_show_run,
      .summary = "show the settings and where each comes from",
      .options = BIT(CHECK) | BIT(EDIT),
      .help = "Prints a configuration file. --check only lists mistakes, with their lines (exit\n"
              "code 5). --edit opens the file in $VISUAL or $EDITOR; a new one contains every\n"
              "setting as a comment.\n" },
    { .name = "init", .operands = "bash|zsh|fish|tmux", .min_operands = 1, .max_operands = 1, .run = init_run,
      .summary = "print a key binding and completions for a shell",
      .options = BIT(KEY),
      .help = "The key (Alt-R) opens the picker and inserts the command that resumes the choice\n"
              "at the prompt; rcd [ID] changes to a session's directory. In ~/.bashrc or\n"
              "~/.zshrc:\n"
              "  eval \"$(reprise init bash)\"\n"
              "In ~/.config/fish/config.fish:\n"
              "  reprise init fish | source\n"
              "In ~/.tmux.conf, for the picker in a popup by the prefix and R:\n"
              "  run-shell 'reprise init tmux | tmux source-file -'\n" },
    { .name = "completion", .audience = FOR_HOSTS, .operands = "bash|zsh|fish", .min_operands = 1, .max_operands = 1, .run = init_completion_run,
      .summary = "print the completions for a shell",
      .help = "Save the output as a separate file; init also prints the completions. They call\n"
              "reprise itself, so they are always up to date: commands, options, values,\n"
              "systems, tags, branches, sessions.\n" },
    /* For completion scripts; not in the list of commands. */
    { .name = "complete", .operands = "-- WORD...", .max_operands = 10000, .run = complete_run },
    { .name = "help", .operands = "[COMMAND | keys | agents | more | hosts | teams]", .max_operands = 1, .run = command_help_run,
      .summary = "help on a command, keys, agents, or more commands" },
    { .run = NULL },
};
/* clang-format on */
