#ifndef STORE_API_SESSION_H
#define STORE_API_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lite/base/arena.h"
#include "lite/base/cleanup.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/base/time.h"
#include "lite/io/file.h"

/* The sessions to look at: those of all projects, or those of one directory and of the other
 * worktrees of its repository. Resolved once (a child process may run for the worktrees), then
 * shared by any number of calls and threads. */
struct scope {
    bool all; /* every project; project and tree are ignored */
    /* the directory: as realpath returns it, or as written if it is gone */
    struct slice project;
    /* worktrees of its repository, including itself; none if it has no others or they were not requested */
    const struct slice *tree;
    size_t trees;
    /* With all: a command looks in every project although no one asked for that. If an id is in several folders, the
     * list of the current directory and that of all projects must then show the same copy. */
    bool implied_all;
    bool leave_worktrees;    /* the directory alone; for "latest" even if all is set */
    bool leave_programmatic; /* hide sessions that programs wrote */
    /* With all: leave out project folders that are links, as the vendor's SDK does. */
    bool leave_links;
    bool all_kinds; /* also sessions that their agent's own list leaves out (store_admit_row) */
    /* For enumerate: refs need not have the state of their files (session_ref.file). */
    bool ids_only;
    /* The caller can run the agents' own commands: rows have the abilities of these, too. */
    bool runs_agents;
    /* The sessions of a server are passed on as they arrive, even if the call fails later: for a screen that fills up
     * gradually. */
    bool streams;
    /* What a server need not send: sessions that were not stored since this time (0: all are wanted), and the ends of
     * those that come after as many of the newest ones (0: all). */
    int64_t stored_since_ms;
    size_t newest;
    /* How long a server may be silent, if that is less than its own setting; 0: its setting. */
    int64_t patience_ms;
    /* Once raised, calls that wait for a server return ERR_CANCELLED. May be NULL. */
    const atomic_bool *cancel;
    /* Told of each place that enumerate leaves out because it cannot be read (session_scope_left_out). May be NULL. */
    void (*left_out)(const struct err *why, void *arg);
    void *left_out_arg;
};

/* Makes the scope of one directory, texts in the arena and NUL-terminated. worktrees: includes
 * those of its repository; if git cannot list them the directory is used alone, which is not an
 * error. */
MUST_CHECK enum err_code session_scope_of(const char *dir, bool worktrees, struct arena *a,
                                          struct scope *out, struct err *e);
/* Returns true if this is the directory of the scope or one of its worktrees, even one that was removed; `all` is
 * ignored. Links are not resolved, but other spellings are known: those of Windows (D:\x, d:\x and /mnt/d/x), and
 * letters that are composed in another way. */
bool session_scope_has(const struct scope *scope, struct slice dir);
/* For an enumerate that failed with errno: tells scope->left_out, unless there is no such place. scope may be NULL. */
void session_scope_left_out(const struct scope *scope, const char *path);
/* The same for a name in a folder. */
void session_scope_left_out_in(const struct scope *scope, const char *folder, const char *name);
/* The path by which Windows' Subsystem for Linux knows a directory: D:\x and d:\x are /mnt/d/x, and
 * \\wsl.localhost\Ubuntu\x is /x. Other paths are returned as they are. NUL-terminated in the arena; .p is NULL if out of
 * memory. */
struct slice session_linux_path(struct slice path, struct arena *a);

struct store;

/* A session as a directory listing shows it: enough to sort it, to put it on the screen and to open it.
 * Filled in by enumerate, which does not open the file. */
struct session_ref {
    const struct store *store;
    struct slice id;   /* opaque: a UUID in one system, "deploy-123" in another */
    struct slice path; /* absolute path of the transcript (or session directory); NUL-terminated */
    struct slice folder; /* the system's own name of the project; "" if it has none */
    struct file_id file; /* size and mtime of the transcript */
    /* the sort key of a list if the system records changes itself; 0: the mtime */
    int64_t recent_ms;
    uint32_t recent_ns; /* and its nanoseconds below a millisecond */
    /* Enumerate found nothing beside the transcript, so describe need not look. Not set in
     * copies. */
    bool alone;
    /* The path is a link in /proc to a file without a name (store/fs/disk.h), so it is followed. Not set in
     * copies. */
    bool nameless;
    /* The part of the session that enumerate had to read for the members above, in the system's own form; where rows can
     * be searched without decoding them (store_ops.raw_texts), the whole file. If it is empty, describe reads the file itself. Valid as long as the id; empty in copies and in a row's ref. */
    struct slice preread;
    /* Another store that also has the session: a local one, or a team's. Set by listings; NULL if unknown. */
    const struct store *also;
};

/* The reason why a session is not listed. A listing counts them; doctor names them. */
enum session_hidden {
    HIDDEN_NOT,
    HIDDEN_EMPTY,        /* nothing that could be a title: no prompt, no summary */
    HIDDEN_SIDECHAIN,    /* a sub-agent's transcript */
    HIDDEN_PROGRAMMATIC, /* written by a program (only if those are to be left out) */
    HIDDEN_CONTINUED,    /* another session continues this one */
    HIDDEN_COLLISION,    /* belongs to another directory whose folder has the same name */
    HIDDEN_UNREADABLE,   /* a link, not a regular file, or cannot be opened */
    HIDDEN_DUPLICATE,    /* a newer copy of the same id is listed */
    HIDDEN_DAMAGED,      /* the system's metadata cannot be used: `problem` contains the reason */
    HIDDEN_COMMAND,      /* the agent's own list leaves it out, because no person typed in it */
};

enum session_flags {
    SESSION_TORN = 1 << 0,         /* the last line has no newline */
    SESSION_PROGRAMMATIC = 1 << 1, /* written by sdk-cli, sdk-ts, sdk-py or daemon */
    /* the last turn was cut: a prompt or tool result without an answer */
    SESSION_INTERRUPTED = 1 << 2,
    SESSION_FORK = 1 << 3,    /* its rows name the session they were copied from */
    SESSION_DAMAGED = 1 << 4, /* a line in the windows does not parse (except a torn last one) */
    SESSION_ARCHIVED = 1 << 5,
    /* it has a mark, archived or not archived; unset: no mark at all */
    SESSION_ARCHIVED_KNOWN = 1 << 6,
    SESSION_LIVE = 1 << 7,    /* a running process has it open (see store/proc/live.h) */
    SESSION_CHANGED = 1 << 8, /* it shrank or was replaced while it was read: reload */
    /* custom_title is the agent's; a person's may be outside the windows */
    SESSION_AI_TITLE = 1 << 9,
    SESSION_WAITS = 1 << 10, /* its state is SESSION_REQUIRES_ACTION */
    SESSION_SHELL = 1 << 11, /* its state is SESSION_RUNNING: between turns, a command still runs */
    SESSION_BACKGROUND = 1 << 12, /* with SESSION_LIVE: it runs without a terminal */
    SESSION_KEPT = 1 << 13,       /* only the copy is left that reprise kept (store/keep/) */
    /* a resume restores a part of it (struct transcript); set by who loaded it */
    SESSION_PARTIAL = 1 << 14,
};

/* The activity of a session, which the program that runs it publishes (store/host/host_state.h). */
enum session_state {
    SESSION_UNKNOWN, /* not published */
    SESSION_IDLE,
    SESSION_RUNNING,
    SESSION_REQUIRES_ACTION, /* waits for a person */
};

/* "idle", "running", "requires_action"; "" for SESSION_UNKNOWN. A literal. */
const char *session_state_name(enum session_state state);

/* Whether a program has a session open, and may write to it. */
enum live_state {
    LIVE_QUIET,   /* no program has it open, as far as can be seen */
    LIVE_UNKNOWN, /* treated as running before a write */
    LIVE_RUNNING,
};

struct live {
    enum live_state state;
    pid_t pid;       /* 0: no entry */
    bool busy;       /* running, and in the middle of a turn */
    const char *why; /* for a person; a literal */
};

/* The operations that a session supports. Derived from store_ops and the session itself. */
enum session_ability {
    ABILITY_RESUME,
    ABILITY_FORK,
    ABILITY_RESUME_AT,
    ABILITY_REWIND,
    ABILITY_RENAME,
    ABILITY_TAG,
    ABILITY_ARCHIVE,
    ABILITY_DELETE, /* into the trash */
    /* These depend on the system alone and are never set in a row (see store_unsupported_reason). */
    ABILITY_TOMBSTONE,
    ABILITY_REAPPEND,
    ABILITY_RETRIEVE,
    ABILITY_SET,
    ABILITY_HAVE_AGENTS,
    ABILITY_NAME_FORK, /* give a copy a title */
    ABILITY_HAVE_BRANCHES,
    ABILITY_MOVE,   /* follow a project that was moved */
    ABILITY_REMOVE, /* for good: its store has no trash */
    ABILITIES
};

/* A set of them. */
enum session_can {
    CAN_RESUME = 1 << ABILITY_RESUME,
    CAN_FORK = 1 << ABILITY_FORK,
    CAN_RESUME_AT = 1 << ABILITY_RESUME_AT,
    CAN_REWIND = 1 << ABILITY_REWIND,
    CAN_RENAME = 1 << ABILITY_RENAME,
    CAN_TAG = 1 << ABILITY_TAG,
    CAN_ARCHIVE = 1 << ABILITY_ARCHIVE,
    CAN_DELETE = 1 << ABILITY_DELETE,
    CAN_TOMBSTONE = 1 << ABILITY_TOMBSTONE,
    CAN_REAPPEND = 1 << ABILITY_REAPPEND,
    CAN_RETRIEVE = 1 << ABILITY_RETRIEVE,
    CAN_SET = 1 << ABILITY_SET,
    CAN_HAVE_AGENTS = 1 << ABILITY_HAVE_AGENTS,
    CAN_NAME_FORK = 1 << ABILITY_NAME_FORK,
    CAN_HAVE_BRANCHES = 1 << ABILITY_HAVE_BRANCHES,
    CAN_MOVE = 1 << ABILITY_MOVE,
    CAN_REMOVE = 1 << ABILITY_REMOVE,
};

/* One row of the list, made by describe from the two windows (the lite read). Texts are WTF-8, as
 * the system stores them, neither cleaned nor cut nor decorated for a screen; missing ones are
 * empty. Everything is in `arena`; session_row_free frees it. */
struct session_row {
    struct arena arena;
    struct session_ref ref; /* texts copied */
    enum session_hidden hidden;
    /* why the agent's own list leaves it out, if it is shown anyway; else HIDDEN_NOT */
    enum session_hidden kind;
    unsigned flags;            /* enum session_flags */
    unsigned can;              /* enum session_can */
    struct slice summary;      /* its name in a list: never empty on a listed row */
    struct slice shown_title;  /* the summary as the agent's own list shows it; empty: as it is */
    struct slice custom_title; /* given by a person, or by the agent (claude.md 2.3) */
    struct slice first_prompt;
    struct slice last_prompt;
    struct slice git_branch;
    struct slice cwd;
    struct slice tag;
    struct slice model;
    struct slice agent_name;
    struct slice agent_setting; /* the kind of agent that the session runs */
    struct slice agent_color;
    struct slice mode;                  /* "normal", "coordinator" */
    struct slice worktree_path;         /* the worktree that it has not left */
    struct slice pr_url, pr_repository; /* its pull request ... */
    int64_t pr_number;                  /* ... 0: none */
    struct slice parent_id;             /* the session this one was forked from */
    /* the id recorded in the session, if it differs from the one that opens it */
    struct slice recorded_id;
    const char *problem; /* with HIDDEN_DAMAGED: for a person; a literal */
    /* without CAN_DELETE: the reason, for a person; a literal. NULL: the system cannot delete */
    const char *undeletable;
    /* for systems whose sessions are written in several dialects; a literal, NULL: no dialects */
    const char *dialect;
    /* the stage of the session, if the system records it ("active", "idle", "ended"); a literal, NULL: not recorded */
    const char *phase;
    int64_t created_ms;  /* TIME_NONE: unknown */
    int64_t modified_ms; /* mtime, rounded half up to ms (claude.md 2.1) */
    int64_t activity_ms; /* newest timestamp inside the tail, else modified_ms */
    /* files tracked by the newest snapshot in the windows; 0: no snapshot */
    unsigned restorable;
    int64_t expires_ms; /* when the agent's own cleanup may remove it; TIME_NONE: never */
    int live_pid;       /* the running process, with SESSION_LIVE */
    enum session_state state;
    struct slice waits_for; /* with SESSION_REQUIRES_ACTION: "Editing src/foo.ts"; may be empty */
    int64_t since_ms;       /* since when it is in this state; TIME_NONE: not published */
    /* external metadata of the host that runs it: a JSON object, which session_row_keep drops; may be empty */
    struct slice metadata;
    /* The bundle that has the session, whose path is only that of a copy for this reader; empty: no bundle. */
    struct slice bundle;
};

/* Where a person finds the session: its path, or the bundle that has it. */
struct slice session_row_path(const struct session_row *row);

/* Copies a ref and its texts into the arena. Returns false if out of memory. */
bool session_ref_copy(struct arena *a, const struct session_ref *ref, struct session_ref *out);
/* The same as an object of the arena; NULL if out of memory. */
const struct session_ref *session_ref_keep(struct arena *a, const struct session_ref *ref);

/* mtime in milliseconds, rounded half up (claude.md 2.1). */
int64_t session_modified_ms(const struct file_id *file);

/* When the session was last changed, as lists sort it. */
int64_t session_recent_ns(const struct session_ref *ref);

/* Returns true if the windows may have missed the session's title: store_ops.full_scan reads further. */
bool session_wants_title(const struct session_row *row);

/* "sub-agent", "empty", "command"; "" for HIDDEN_NOT. A literal. */
const char *session_kind_name(enum session_hidden kind);

enum { SESSION_TEXT_MOST = 1 << 20 };

struct session_row *session_row_new(void);
/* Empties a row for the next session and keeps its memory. */
void session_row_reset(struct session_row *row);
/* Copies the row's texts, which may borrow, into its arena; a text that is longer than SESSION_TEXT_MOST bytes is cut, as
 * prompts may be megabytes long. Returns false if out of memory. */
bool session_row_keep(struct session_row *row);
/* Copies a row over another one, with its texts. Returns false if out of memory. */
bool session_row_copy(const struct session_row *row, struct session_row *out);
void session_row_free(struct session_row *row); /* NULL is fine */
DEFINE_CLEANUP(struct session_row, session_row_free);
/* Its name on a screen: the summary, or a prompt if that is blank. */
struct slice session_row_title(const struct session_row *row);
/* Its branch on a screen. Agents write "HEAD" outside of a repository and while no branch is checked out: empty. */
struct slice session_row_branch(const struct session_row *row);

/* The tags of a session are one text, separated by commas, which its agent and earlier releases read as one tag.
 * Takes the first tag off *tags; empty: no tag is left. */
struct slice session_tag_next(struct slice *tags);
/* Returns true if every tag of `wanted` is among `tags`. */
bool session_tags_include(struct slice tags, struct slice wanted);
/* Writes the tags of both texts, or, with `without`, those of the first that are not in the second: "a, b". */
MUST_CHECK enum err_code session_tags_join(struct slice tags, struct slice others, bool without,
                                           struct buf *out);

/* A request for a new session that begins as a copy of another one. */
struct fork_request {
    /* the id of the copy, if the system accepts one (accepts_fork_id); empty: a generated one */
    struct slice id;
    /* up to and including this message; empty: all of it, or up to where a resume continues if that
     * is not the end */
    struct slice at;
    struct slice title; /* the title of the copy; empty: the title of the source and " (fork)" */
    bool with_files;    /* also the file checkpoints, so that the copy can be rewound */
    /* an existing directory for the copy; NULL: beside its source */
    const char *folder;
};

/* Where the copy is after the change. Texts are in the change. */
struct fork_result {
    struct slice id;
    const char *path;
    const char *system; /* whose session the copy is; NULL: of the same system as its source */
    const char *staged; /* where the copy is before the change */
    /* the same for the saved copies of its files; NULL: no saved copies */
    const char *staged_files;
};

/* A sub-agent of a session as a list shows it, read from both ends of its transcript and never from its middle. */
enum subagent_end {
    SUBAGENT_OPEN,   /* its transcript does not end with an answer: running, or cut off */
    SUBAGENT_DONE,   /* it ends with the sub-agent's report */
    SUBAGENT_FAILED, /* it ends with an error */
};

struct subagent {
    struct slice id;
    struct slice type;    /* "Explore"; may be empty */
    struct slice task;    /* its task, in short; may be empty */
    struct slice outcome; /* its last message; may be empty */
    enum subagent_end end;
    int64_t bytes;   /* the size in bytes of its transcript; -1: not known */
    int64_t time_ms; /* when its transcript was last written */
};

struct subagent_list {
    struct arena arena; /* owns everything */
    struct subagent *agent;
    size_t n;
};

/* As lists show it: "done". */
static inline const char *subagent_end_word(enum subagent_end end)
{
    return end == SUBAGENT_DONE ? "done" : end == SUBAGENT_FAILED ? "failed" : "unfinished";
}

static inline void subagent_list_fini(struct subagent_list *list)
{
    arena_fini(&list->arena);
    *list = (struct subagent_list){ .n = 0 };
}

/* What a system records about a session beyond the members of its row: token usage, exit reason,
 * attribution, ... A fact has a name for programs and a label for people, so that `info` prints the
 * facts of every system without knowing any of them. */
struct session_fact {
    const char *key;   /* the member of `info --json`: "tokenUsage"; a literal */
    const char *label; /* the line of `info`: "tokens"; a literal; NULL: only in JSON */
    struct slice text; /* for a person; WTF-8, not cleaned for a terminal; empty: only in JSON */
    struct slice json; /* the value, valid JSON; empty: the text is the value */
};

struct session_facts {
    struct arena arena;        /* owns everything */
    struct session_fact *fact; /* in the order in which they are shown */
    size_t n;
};

/* Adds a fact; the texts are copied. One with neither text nor JSON is skipped. */
MUST_CHECK enum err_code session_facts_add(struct session_facts *f, const struct session_fact *fact,
                                           struct err *e);
/* The same for a text or a number. n is also the text. */
MUST_CHECK enum err_code session_facts_text(struct session_facts *f, const char *key,
                                            const char *label, struct slice text, struct err *e);
MUST_CHECK enum err_code session_facts_int(struct session_facts *f, const char *key,
                                           const char *label, int64_t n, struct err *e);
void session_facts_fini(struct session_facts *f);

#endif
