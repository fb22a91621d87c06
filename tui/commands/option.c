#include "tui/commands/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/config/config.h"
#include "tui/text/nearest.h"

/* The parser, the help and the completions have to agree on the options of every command, so all of
 * them read one table. The tables for getopt_long() are made from it for one command, to which any
 * other option is unknown.
 *
 *     table -> options of the command -> getopt_long -> code -> row -> member of struct options
 *
 * The kind of a row decides the type that is written at its offset, and the compiler cannot check
 * that: a wrong kind overwrites the members beside it. A letter is looked up in the whole table, so
 * it must be unique; a long name may occur twice if no command has both. Numbers and the words of a
 * choice are checked here. Dates, sizes and ids remain text, because their meaning depends on the
 * command. */

enum kind {
    KIND_FLAG,     /* only its bit in `given` */
    KIND_TEXT,     /* const char * */
    KIND_OPTIONAL, /* const char *, and the value may be missing */
    KIND_STORE,    /* one more of the stores */
    KIND_FILE,     /* one more of the files */
    KIND_PATTERN,  /* one more of the patterns */
    KIND_NUMBER,   /* int64_t, not negative */
    KIND_CHOICE,   /* int: the index in `arg`, whose words are separated by | */
};

struct option_row {
    const char *name; /* without the dashes; NULL: only a letter */
    char letter;      /* 0: only a name */
    enum kind kind;
    const char *arg; /* the name of the value in help, or the choices */
    size_t at;       /* the member of struct options */
    const char *help;
};

/* clang-format off */
#define AT(member) offsetof(struct options, member)
static const struct option_row table[OPTION_COUNT] = {
    [OPTION_DIRECTORY] = { NULL, 'C', KIND_TEXT, "DIR", AT(directory), "run as if started in DIR" },
    [OPTION_STORE] = { "store", 0, KIND_STORE, "SYSTEM:PATH", 0, "use only this store (may be repeated)" },
    [OPTION_PROJECT] = { "project", 0, KIND_TEXT, "DIR", AT(project), "sessions of the project DIR, which may no longer exist" },
    [OPTION_ALL] = { "all", 0, KIND_FLAG, NULL, 0, "sessions of all projects" },
    [OPTION_JSON] = { "json", 0, KIND_FLAG, NULL, 0, "print JSON" },
    [OPTION_COLOR] = { "color", 0, KIND_CHOICE, "auto|always|never", AT(color), "when to use color" },
    [OPTION_ASCII] = { "ascii", 0, KIND_FLAG, NULL, 0, "use ASCII characters only" },
    [OPTION_CONFIG] = { "config", 0, KIND_TEXT, "FILE", AT(config), "use FILE as the configuration file" },
    [OPTION_KEYS] = { "keys", 0, KIND_CHOICE, "default|vim", AT(keys), "key bindings of the screen" },
    [OPTION_HELP] = { "help", 'h', KIND_FLAG, NULL, 0, "show this help" },
    [OPTION_VERSION] = { "version", 'V', KIND_FLAG, NULL, 0, "show the version" },
    [OPTION_RESUME] = { "resume", 'r', KIND_OPTIONAL, "ID", AT(resume), "resume this session (ID or its title) without the picker; without ID open the picker" },
    [OPTION_CONTINUE] = { "continue", 'c', KIND_FLAG, NULL, 0, "the same as --resume latest" },
    [OPTION_PRINT] = { "print", 'p', KIND_FLAG, NULL, 0, "print the command instead of running it" },
    [OPTION_PRINT_DIRECTORY] = { "print-directory", 0, KIND_FLAG, NULL, 0, "print the directory of the choice instead" },
    [OPTION_QUERY] = { "query", 'q', KIND_TEXT, "QUERY", AT(query), "start with QUERY as the filter" },
    [OPTION_PLAIN] = { "plain", 0, KIND_FLAG, NULL, 0, "numbered list and a prompt instead of a screen" },
    [OPTION_LIMIT] = { "limit", 'n', KIND_NUMBER, "N", AT(limit), "at most N (0 for all)" },
    [OPTION_OFFSET] = { "offset", 0, KIND_NUMBER, "N", AT(offset), "skip the first N" },
    [OPTION_SYSTEM] = { "system", 0, KIND_TEXT, "NAME", AT(system), "only sessions of this agent" },
    [OPTION_TAG] = { "tag", 0, KIND_TEXT, "TAG", AT(tag), "only sessions with this tag" },
    [OPTION_BRANCH] = { "branch", 0, KIND_TEXT, "BRANCH", AT(branch), "only sessions of this git branch" },
    [OPTION_SINCE] = { "since", 0, KIND_TEXT, "WHEN", AT(since), "active since WHEN: 2w, 3d, 12h, 30m or a date" },
    [OPTION_BEFORE] = { "before", 0, KIND_TEXT, "WHEN", AT(before), "last active before WHEN" },
    [OPTION_ARCHIVED] = { "archived", 0, KIND_FLAG, NULL, 0, "only archived sessions" },
    [OPTION_NO_PROGRAMMATIC] = { "no-programmatic", 0, KIND_FLAG, NULL, 0, "leave out sessions started by programs" },
    [OPTION_ALL_KINDS] = { "all-kinds", 0, KIND_FLAG, NULL, 0, "include what an agent's own list leaves out: sub-agents, commands, empty sessions" },
    [OPTION_NO_WORKTREES] = { "no-worktrees", 0, KIND_FLAG, NULL, 0, "leave out the repository's other worktrees" },
    [OPTION_SORT] = { "sort", 0, KIND_CHOICE, "recent|created|size|title|modified", AT(sort), "sort order; modified: by the file's time, or the one that the agent recorded" },
    [OPTION_SYSTEM_MESSAGES] = { "system-messages", 0, KIND_FLAG, NULL, 0, "include system messages" },
    [OPTION_AGENT] = { "agent", 0, KIND_TEXT, "AGENTID", AT(agent), "the messages of this sub-agent" },
    [OPTION_AT] = { "at", 0, KIND_TEXT, "MSG", AT(at), "up to this message or checkpoint" },
    [OPTION_TO] = { "to", 0, KIND_TEXT, "MSG", AT(to), "the prompt or checkpoint to rewind to" },
    [OPTION_MODE] = { "mode", 0, KIND_CHOICE, "code|conversation|both|history_only|code_and_history", AT(mode), "what to rewind: files, the conversation, or both" },
    [OPTION_FILE] = { "file", 0, KIND_FILE, "PATH", 0, "only this file (may be repeated)" },
    [OPTION_DRY_RUN] = { "dry-run", 0, KIND_FLAG, NULL, 0, "show what would change, change nothing" },
    [OPTION_APPLY] = { "apply", 0, KIND_FLAG, NULL, 0, "make the change (can be undone)" },
    [OPTION_PLAN] = { "plan", 0, KIND_TEXT, "HASH", AT(plan), "only if the plan has not changed since it was shown" },
    [OPTION_SKIP_REFUSED] = { "skip-refused", 0, KIND_FLAG, NULL, 0, "skip refused files and restore the rest" },
    [OPTION_SKIP_EDITED] = { "skip-edited", 0, KIND_FLAG, NULL, 0, "skip files that changed since and undo the rest" },
    [OPTION_OVERWRITE_EDITED] = { "overwrite-edited", 0, KIND_FLAG, NULL, 0, "include files edited by hand or not known to be the session's work" },
    [OPTION_ALLOW_OUTSIDE] = { "allow-outside", 0, KIND_FLAG, NULL, 0, "include files outside the session's project" },
    [OPTION_ALLOW_SENSITIVE] = { "allow-sensitive", 0, KIND_FLAG, NULL, 0, "include settings, hooks, keys and start-up files" },
    [OPTION_MOVE_BRANCH] = { "move-branch", 0, KIND_FLAG, NULL, 0, "Entire: also move the shadow branch back, for all its sessions" },
    [OPTION_ENTIRE_RULE] = { "entire-rule", 0, KIND_FLAG, NULL, 0, "Entire: remove files as Entire did, ignored ones included" },
    [OPTION_BACK_TO] = { "back-to", 0, KIND_TEXT, "CHANGE", AT(back_to), "undo this change and all later ones, in one step" },
    [OPTION_FORCE] = { "force", 0, KIND_FLAG, NULL, 0, "do it despite the warning (can be undone)" },
    [OPTION_END] = { "end", 0, KIND_FLAG, NULL, 0, "the turn has ended: the files as they are now are the session's work" },
    [OPTION_REQUESTS] = { "requests", 0, KIND_FLAG, NULL, 0, "also add the rows about requests to the model" },
    [OPTION_DUE] = { "due", 0, KIND_FLAG, NULL, 0, "the sessions that their agents remove within a week" },
    [OPTION_ONLY] = { "only", 0, KIND_FLAG, NULL, 0, "undo only that turn and keep the later ones" },
    [OPTION_INTO] = { "into", 0, KIND_TEXT, "DIR", AT(into), "write the files into this new directory instead" },
    [OPTION_NONE] = { "none", 0, KIND_FLAG, NULL, 0, "remove all tags" },
    [OPTION_PERMANENTLY] = { "permanently", 0, KIND_FLAG, NULL, 0, "delete for good instead of moving to the trash" },
    [OPTION_TITLE] = { "title", 0, KIND_TEXT, "TITLE", AT(title), "title of the session" },
    [OPTION_WITH_FILES] = { "with-files", 0, KIND_FLAG, NULL, 0, "copy the file checkpoints too, so that the fork can be rewound" },
    [OPTION_CLEAR] = { "clear", 0, KIND_FLAG, NULL, 0, "continue with an empty conversation" },
    [OPTION_CUT] = { "cut", 0, KIND_FLAG, NULL, 0, "remove the row from the file instead of blanking it" },
    [OPTION_ID] = { "id", 0, KIND_TEXT, "ID", AT(id), "id of the new session" },
    [OPTION_CWD] = { "cwd", 0, KIND_TEXT, "DIR", AT(cwd), "working directory of the session" },
    [OPTION_MODEL] = { "model", 0, KIND_TEXT, "MODEL", AT(model), "model of the session" },
    [OPTION_PARENT] = { "parent", 0, KIND_TEXT, "ID", AT(parent), "session that this one continues" },
    [OPTION_TRANSCRIPT] = { "transcript", 0, KIND_FLAG, NULL, 0, "append to the stream of SDK messages of a Go session" },
    [OPTION_NO_PERSIST] = { "no-persist", 0, KIND_FLAG, NULL, 0, "report success and write nothing" },
    [OPTION_INFERRED] = { "inferred", 0, KIND_FLAG, NULL, 0, "restore the files as of the point itself, inferred if no copy exists" },
    [OPTION_SPOKEN] = { "spoken", 0, KIND_FLAG, NULL, 0, "only prompts and answers, no tool results" },
    [OPTION_AS_SDK] = { "as-sdk", 0, KIND_FLAG, NULL, 0, "as the agent's SDK lists them, not as a resume restores them" },
    [OPTION_TAIL] = { "tail", 0, KIND_NUMBER, "N", AT(tail), "the last N messages (at least 1)" },
    [OPTION_SAVED_FILES] = { "saved-files", 0, KIND_FLAG, NULL, 0, "only saved copies of files; the sessions are kept" },
    [OPTION_ORPHANS] = { "orphans", 0, KIND_FLAG, NULL, 0, "only what sessions without a transcript left behind" },
    [OPTION_JOIN] = { "join", 0, KIND_FLAG, NULL, 0, "with restore: put the rows in front of the newer transcript" },
    [OPTION_PATTERN] = { "pattern", 'e', KIND_PATTERN, "PATTERN", 0, "a pattern; several must all occur in the session" },
    [OPTION_FIXED] = { "fixed-strings", 'F', KIND_FLAG, NULL, 0, "patterns are plain text, not regular expressions" },
    [OPTION_WORDS] = { "word-regexp", 'w', KIND_FLAG, NULL, 0, "match whole words only" },
    [OPTION_ANY] = { "any", 0, KIND_FLAG, NULL, 0, "one of several patterns is enough" },
    [OPTION_IGNORE_CASE] = { "ignore-case", 'i', KIND_FLAG, NULL, 0, "ignore case" },
    [OPTION_CASE] = { "case-sensitive", 's', KIND_FLAG, NULL, 0, "case always matters" },
    [OPTION_IN] = { "in", 0, KIND_TEXT, "WHERE", AT(in), "search prompts, replies, thinking, tools (with commas) or all" },
    [OPTION_CONTEXT] = { "context", 0, KIND_NUMBER, "N", AT(context), "show N lines above and below each match" },
    [OPTION_COUNTS] = { "count", 0, KIND_FLAG, NULL, 0, "count the lines that match, session by session" },
    [OPTION_SESSIONS] = { "sessions", 0, KIND_FLAG, NULL, 0, "print only the ids of the sessions" },
    [OPTION_BY] = { "by", 0, KIND_CHOICE, "day|week|month|session|model|project|agent", AT(by), "group the sums by this" },
    [OPTION_NOTES] = { "notes", 0, KIND_FLAG, NULL, 0, "show the note of a commit instead (with --apply: attach it)" },
    [OPTION_BY_TURN] = { "by", 0, KIND_CHOICE, "turn", AT(by), "one row for each run of lines that a turn wrote, without their text" },
    [OPTION_PORCELAIN] = { "porcelain", 0, KIND_FLAG, NULL, 0, "for scripts, in the form of git blame --porcelain" },
    [OPTION_TASK] = { "task", 0, KIND_TEXT, "TOOLUSE", AT(task), "end of a sub-agent's task, named by the call that began it" },
    [OPTION_DIALECT] = { "dialect", 0, KIND_TEXT, "NAME", AT(dialect), "dialect of a Go session: shipped, spec or doc" },
    [OPTION_SAVE] = { "save", 0, KIND_FLAG, NULL, 0, "also update the message count and the time in the metadata" },
    [OPTION_RAW] = { "raw", 0, KIND_FLAG, NULL, 0, "every row as it is stored, with all events" },
    [OPTION_AS_FORK] = { "fork", 0, KIND_FLAG, NULL, 0, "resume a fork of the session instead" },
    [OPTION_CHECK] = { "check", 0, KIND_FLAG, NULL, 0, "only check for mistakes" },
    [OPTION_EDIT] = { "edit", 0, KIND_FLAG, NULL, 0, "open the configuration file in the editor" },
    [OPTION_KEY] = { "key", 0, KIND_TEXT, "KEY", AT(key), "the key that opens the picker: alt-r, ctrl-g" },
    [OPTION_FORMAT] = { "format", 0, KIND_CHOICE, "md|html|txt|jsonl", AT(format), "format of the document; default: from the name of FILE, else md" },
    [OPTION_OUTPUT] = { "output", 'o', KIND_TEXT, "FILE", AT(output), "write to FILE instead of standard output" },
    [OPTION_TOOLS] = { "tools", 0, KIND_CHOICE, "folded|none|full", AT(tools), "tool calls and their results: folded, left out or in full" },
    [OPTION_THINKING] = { "thinking", 0, KIND_FLAG, NULL, 0, "include the agent's thinking" },
    [OPTION_WITH_SUBAGENTS] = { "with-subagents", 0, KIND_FLAG, NULL, 0, "append the conversations of the sub-agents" },
    [OPTION_FROM] = { "from", 0, KIND_TEXT, "MSG", AT(from), "begin with this message" },
    [OPTION_REDACT] = { "redact", 0, KIND_FLAG, NULL, 0, "replace what looks like a secret, and report how much" },
    [OPTION_YES] = { "yes", 'y', KIND_FLAG, NULL, 0, "do it without asking" },
    [OPTION_KEEP] = { "keep", 0, KIND_NUMBER, "N", AT(keep), "with prune: only those after the newest N" },
    [OPTION_OLDER_THAN] = { "older-than", 0, KIND_TEXT, "AGE", AT(older_than), "only if older than AGE: 30d, 12h, 2w" },
    [OPTION_LARGER_THAN] = { "larger-than", 0, KIND_TEXT, "SIZE", AT(larger_than), "only if larger than SIZE: 500k, 10M, 2G" },
    [OPTION_EMPTY] = { "empty", 0, KIND_FLAG, NULL, 0, "only sessions without messages" },
    [OPTION_INCLUDE_TAGGED] = { "include-tagged", 0, KIND_FLAG, NULL, 0, "also sessions with a tag, which are kept otherwise" },
    [OPTION_INCLUDE_NAMED] = { "include-named", 0, KIND_FLAG, NULL, 0, "also sessions with a title given by hand, which are kept otherwise" },
    [OPTION_EVENT] = { "event", 0, KIND_CHOICE, "prompt|end|interrupt", AT(event), "what the hook was run for" },
    [OPTION_VERBOSE] = { "verbose", 0, KIND_FLAG, NULL, 0, "also report on standard error why there is no snapshot" },
    [OPTION_RECONNECT] = { "reconnect", 0, KIND_FLAG, NULL, 0, "also join the parts that a resume leaves out (lost-part)" },
    [OPTION_WATCH] = { "watch", 0, KIND_FLAG, NULL, 0, "print it again after each change, until ^C" },
    [OPTION_BELL] = { "bell", 0, KIND_FLAG, NULL, 0, "ring, and show a notification, when a session begins to wait" },
    [OPTION_AFTER] = { "after", 0, KIND_TEXT, "MSG", AT(after), "only messages after this one" },
    [OPTION_AROUND] = { "around", 0, KIND_TEXT, "MSG", AT(around), "this message and those next to it, --limit in all (11)" },
    [OPTION_FOLLOW] = { "follow", 0, KIND_FLAG, NULL, 0, "print messages as they are added, until ^C; with --after, those after it first" },
    [OPTION_MAX_BYTES] = { "max-bytes", 0, KIND_NUMBER, "N", AT(max_bytes), "at most N bytes of rows, with a note from where to go on" },
    [OPTION_INSTALL] = { "install", 0, KIND_TEXT, "AGENT", AT(install), "add this server to the configuration of AGENT" },
    [OPTION_REMOVE] = { "remove", 0, KIND_TEXT, "AGENT", AT(remove), "remove it from there" },
    [OPTION_SKILL] = { "skill", 0, KIND_FLAG, NULL, 0, "with --install or --remove: the skill instead of the server" },
    [OPTION_INSTALL_TIMER] = { "install-timer", 0, KIND_FLAG, NULL, 0, "keep sessions every day, by a timer of systemd" },
    [OPTION_REMOVE_TIMER] = { "remove-timer", 0, KIND_FLAG, NULL, 0, "remove that timer" },
    [OPTION_TAKE] = { "take", 0, KIND_CHOICE, "a|b", AT(take), "the files as A or B left them, into this project: only shown without --apply" },
    [OPTION_HUNK] = { "hunk", 0, KIND_NUMBER, "N", AT(hunk), "with --take and one --file: only this hunk, as numbered without --apply" },
    [OPTION_BUNDLE] = { "bundle", 0, KIND_TEXT, "FILE", AT(bundle), "the sessions of this bundle, without unpacking it" },
    [OPTION_LIST] = { "list", 0, KIND_FLAG, NULL, 0, "show what is in a bundle, without unpacking it" },
    [OPTION_PLUGIN] = { "plugin", 0, KIND_TEXT, "FILE", AT(plugin), "check the plug-in FILE (or an installed one) on the store at PATH" },
    [OPTION_FIX] = { "fix", 0, KIND_FLAG, NULL, 0, "repair what is safe to repair (can be undone)" },
};

/* What an option means to a command to which it means something else than to the others. */
static const struct {
    enum option_id option;
    const char *command, *arg, *help;
} special[] = {
    { OPTION_AGENT, "snapshot", "NAME", "the agent whose hook this is: claude" },
    { OPTION_BRANCH, "export", "MSG", "the branch that ends with this message" },
    { OPTION_TO, "export", "MSG", "end with this message" },
    { OPTION_APPLY, "doctor", NULL, "with --plugin: also try the rules that write" },
    { OPTION_FORCE, "doctor", NULL, "with --plugin: even if it cannot remove sessions; those of the rules stay" },
    { OPTION_FORCE, "export", NULL, "replace an existing FILE for good" },
    { OPTION_IN, "continue", "AGENT", "the agent that continues it: claude, codex, gemini, opencode, qwen or pi" },
    { OPTION_FORCE, "bundle", NULL, "replace an existing FILE for good" },
    { OPTION_OUTPUT, "bundle", "FILE", "write the bundle to FILE" },
    { OPTION_TO, "unbundle", "DIR", "the directory of the project on this machine" },
    { OPTION_FROM, "bisect", "MSG", "the files before this prompt are good; without it, those before the first" },
    { OPTION_TO, "bisect", "MSG", "the files before this prompt are bad; without it, the present ones" },
    { OPTION_BEFORE, "messages", "MSG", "only messages before this one" },
    { OPTION_PLAIN, "messages", NULL, "in one form for every agent, and with the id of each message" },
    { OPTION_TRANSCRIPT, "messages", NULL, "the stream of SDK messages of a Go session instead" },
    { OPTION_BY, "blame", "turn", "" }, /* for completions, which know one option of a name */
    { OPTION_SINCE, "usage", "WHEN", "only answers since WHEN: 2w, 3d, 12h, 30m or a date" },
    { OPTION_BEFORE, "usage", "WHEN", "only answers before WHEN" },
    { OPTION_DRY_RUN, "mcp", NULL, "with --install or --remove: only show the change" },
    { OPTION_APPLY, "mcp", NULL, "with --install or --remove: do it without asking (can be undone)" },
    { OPTION_AT, "retrieve", "CHECKPOINT", "the transcripts of all sessions of this checkpoint" },
    { OPTION_FORCE, "retrieve", NULL, "replace a newer transcript (can be undone)" },
    { OPTION_FORCE, "push", NULL, "add to sessions that have other rows in the store" },
    { OPTION_FORCE, "mirror", NULL, "add to sessions that have other rows in the store" },
    { OPTION_FORCE, "delete", NULL, "even if it cannot be known whether an agent is writing" },
    { OPTION_QUERY, "sweep", "QUERY", "only sessions that this filter of the list finds" },
    { OPTION_OLDER_THAN, "trash", "AGE", "with empty: only what was deleted before that: 30d, 12h, 2w" },
    { OPTION_OLDER_THAN, "snapshots", "AGE", "with prune: those older than AGE: 30d, 12h, 2w" },
    { OPTION_OLDER_THAN, "rewinds", "AGE", "with prune: only those older than AGE: 30d, 12h, 2w" },
    { OPTION_LARGER_THAN, "rewinds", "SIZE", "with prune: the oldest, while all are larger than SIZE: 500k, 10M, 2G" },
    { OPTION_OVERWRITE_EDITED, "undo", NULL, "replace files that changed since (can be undone)" },
    { OPTION_ID, "checkpoint", "MSG", "the message before the changes" },
    { OPTION_TITLE, "checkpoint", "TITLE", "title of the checkpoint" },
    { OPTION_AGENT, "checkpoint", "AGENTID", "the sub-agent of the task" },
};
/* clang-format on */

/* The codes that getopt returns for options without a letter are greater than every character. */
enum { LONG_BASE = 256, LETTERS_MAX = 4 + 3 * OPTION_COUNT };

static enum err_code usage_error(struct err *e, const struct option_row *row, const char *why)
{
    char name[64];

    if (row->name)
        snprintf(name, sizeof name, "--%s", row->name);
    else
        snprintf(name, sizeof name, "-%c", row->letter);
    return err_set(e, ERR_USAGE, name, "%s", why);
}

static enum err_code read_choice(const struct option_row *row, const char *text, int *out,
                                 struct err *e)
{
    int place = config_word_index(row->arg, text);
    char why[120] = "must be ";
    size_t n = strlen(why);

    /* "one|two|three" as "one, two or three" */
    for (const char *word = row->arg; place < 0 && *word;) {
        size_t len = strcspn(word, "|");
        const char *next = word + len + (word[len] == '|');

        n += (size_t)snprintf(why + n, sizeof why - n, "%.*s%s", (int)len, word,
                              !*next              ? ""
                              : strchr(next, '|') ? ", "
                                                  : " or ");
        word = next;
    }
    if (place < 0)
        return usage_error(e, row, why);
    *out = place;
    return ERR_OK;
}

static enum err_code set_option_value(enum option_id which, const char *text, struct options *o,
                                      struct err *e)
{
    const struct option_row *row = &table[which];
    char *at = (char *)o + row->at;

    o->given |= (option_bits)1 << which;

    /* The row contains where the value is in the options; its kind determines the type of that member. */
    switch (row->kind) {
    case KIND_FLAG: return ERR_OK;
    case KIND_NUMBER: {
        int64_t *out = (int64_t *)(void *)at;
        char *end = NULL;

        errno = 0;
        long long n = strtoll(text, &end, 10);

        if (text[0] == '\0' || *end != '\0' || errno != 0 || n < 0)
            return usage_error(e, row, "needs a whole number, 0 or more");
        *out = n;
        return ERR_OK;
    }
    case KIND_CHOICE: return read_choice(row, text, (int *)(void *)at, e);
    case KIND_STORE:
        if (o->stores == OPTION_STORES_MAX)
            return usage_error(e, row, "too many stores");
        o->store[o->stores++] = text;
        return ERR_OK;
    case KIND_FILE:
        if (o->files == OPTION_FILES_MAX)
            return usage_error(e, row, "too many files");
        o->file[o->files++] = text;
        return ERR_OK;
    case KIND_PATTERN:
        if (o->patterns == OPTION_PATTERNS_MAX)
            return usage_error(e, row, "too many patterns");
        o->pattern[o->patterns++] = text;
        return ERR_OK;
    case KIND_TEXT:
    case KIND_OPTIONAL: *(const char **)(void *)at = text; return ERR_OK;
    }
    return ERR_OK;
}

/* The tables for getopt_long, made from ours for the options of one command. */
struct getopt_tables {
    struct option named[OPTION_COUNT + 1];
    char letters[LETTERS_MAX];
};

static void option_make_tables(option_bits allowed, bool stop_early, struct getopt_tables *t)
{
    size_t named = 0, n = 0;

    memset(t, 0, sizeof *t);
    if (stop_early)
        t->letters[n++] = '+';
    t->letters[n++] = ':'; /* distinguishes a missing value from an unknown option */
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &table[i];
        bool takes = row->kind != KIND_FLAG, optional = row->kind == KIND_OPTIONAL;

        if (!(allowed >> i & 1))
            continue;
        if (row->name)
            t->named[named++] = (struct option){ row->name,
                                                 optional ? optional_argument
                                                 : takes  ? required_argument
                                                          : no_argument,
                                                 NULL, LONG_BASE + i };
        if (row->letter) {
            t->letters[n++] = row->letter;
            if (takes)
                t->letters[n++] = ':';
            if (optional)
                t->letters[n++] = ':';
        }
    }
}

static int by_code(int code)
{
    if (code >= LONG_BASE)
        return code - LONG_BASE;
    for (int i = 0; i < OPTION_COUNT; i++)
        if (table[i].letter && table[i].letter == code)
            return i;
    return OPTION_COUNT;
}

/* getopt returns '?' and writes no text (opterr is 0): finds the word and what is wrong with it. */
static enum err_code bad_word(int code, option_bits allowed, char **argv, struct err *e)
{
    int which = optopt ? by_code(optopt) : OPTION_COUNT;
    char letter[3] = { '-', (char)optopt, '\0' };
    const char *word = optopt && optopt < LONG_BASE ? letter : argv[optind - 1];

    if (code == ':')
        return usage_error(e, &table[which], "needs a value");
    if (optopt >= LONG_BASE)
        return usage_error(e, &table[which], "takes no value");
    /* The option that was probably meant, unless that would be a guess. */
    char name[NEAREST_WORD + 1] = "";
    const char *near = NULL;

    if (strncmp(word, "--", 2) == 0)
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    size_t best = nearest_limit(name);

    for (int i = 0; i < OPTION_COUNT && word[1] == '-'; i++)
        if ((allowed >> i & 1) && table[i].name && nearest_is_nearer(name, table[i].name, &best))
            near = table[i].name;
    if (near)
        return err_set(e, ERR_USAGE, "", "unknown option %.80s; did you mean --%s?", word, near);
    return err_set(e, ERR_USAGE, "", "unknown option %.80s", word);
}

enum err_code options_read(int argc, char **argv, option_bits allowed, bool stop_early,
                           struct options *o, int *first, struct err *e)
{
    struct getopt_tables t;
    int code;

    option_make_tables(allowed, stop_early, &t);
    optind = 0; /* glibc starts again, with the new letters */
    opterr = 0;
    while ((code = getopt_long(argc, argv, t.letters, t.named, NULL)) != -1) {
        if (code == '?' || code == ':')
            return bad_word(code, allowed, argv, e);
        int which = by_code(code);
        const char *value = optarg;

        /* getopt knows "--resume=ID" only, not "--resume ID". */
        if (table[which].kind == KIND_OPTIONAL && !value && optind < argc && argv[optind][0] != '-')
            value = argv[optind++];
        TRY(set_option_value((enum option_id)which, value, o, e));
    }
    *first = optind;
    return ERR_OK;
}

enum err_code options_check(const struct options *o, option_bits allowed, struct err *e)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if ((o->given & ~allowed) >> i & 1)
            return usage_error(e, &table[i], "is not an option of this command");
    return ERR_OK;
}

enum { HELP_TEXT = 30, HELP_WIDTH = 80 }; /* columns */

/* Two blanks or more are between an option and its text; a long option has a line for itself. */
static void help_line(const struct option_about *about, struct out *o)
{
    char left[96];
    char letter[8] = "    ";
    bool optional = about->value == OPTION_MAY_HAVE_VALUE;
    const char *open = optional ? "[=" : about->name ? "=" : " ";

    if (about->letter)
        snprintf(letter, sizeof letter, "-%c%s", about->letter, about->name ? ", " : "");
    int n = snprintf(left, sizeof left, "  %s%s%s%s%s%s", letter, about->name ? "--" : "",
                     about->name ? about->name : "", about->arg ? open : "",
                     about->arg ? about->arg : "", optional ? "]" : "");

    if (n > HELP_TEXT - 2)
        out_addf(o, "%s\n%*s", left, HELP_TEXT, "");
    else
        out_addf(o, "%-*s", HELP_TEXT, left);

    /* The text, from the column HELP_TEXT on, where the cursor is now, in as many lines as it needs. */
    const char *text = about->help;
    const size_t room = HELP_WIDTH - HELP_TEXT;

    while (strlen(text) > room) {
        size_t fits = room;

        while (fits > 0 && text[fits] != ' ')
            fits--;
        fits = fits ? fits : room;
        out_addf(o, "%.*s\n%*s", (int)fits, text, HELP_TEXT, "");
        text += fits + (text[fits] == ' ');
    }
    out_addf(o, "%s\n", text);
}

void options_help(const char *title, const char *command, option_bits which, struct out *o)
{
    if (which)
        out_addf(o, "\n%s:\n", title);
    for (int i = 0; i < OPTION_COUNT; i++) {
        struct option_about about = option_about((enum option_id)i, command);

        if (which >> i & 1)
            help_line(&about, o);
    }
}

struct option_about option_about(enum option_id which, const char *command)
{
    const struct option_row *row = &table[which];
    enum option_value value = row->kind == KIND_FLAG       ? OPTION_WITHOUT_VALUE
                              : row->kind == KIND_OPTIONAL ? OPTION_MAY_HAVE_VALUE
                              : row->kind == KIND_CHOICE   ? OPTION_NEEDS_CHOICE
                                                           : OPTION_NEEDS_VALUE;
    struct option_about about = { row->name, row->letter, value, row->arg, row->help };

    for (size_t i = 0; command && i < sizeof special / sizeof *special; i++)
        if (special[i].option == which && strcmp(special[i].command, command) == 0) {
            about.arg = special[i].arg;
            about.help = special[i].help;
        }
    return about;
}

enum option_id option_of_word(const char *word)
{
    size_t n = strcspn(word, "=");

    if (word[0] != '-' || word[1] == '\0')
        return OPTION_COUNT;
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *name = table[i].name;

        if (word[1] != '-' ? word[1] == table[i].letter
                           : name && strlen(name) == n - 2 && memcmp(word + 2, name, n - 2) == 0)
            return (enum option_id)i;
    }
    return OPTION_COUNT;
}
