#ifndef STORE_LIBRARY_REPRISE_H
#define STORE_LIBRARY_REPRISE_H

/* ==== reprise - the library that reads and writes the sessions of coding agents ==== */

/* A program that runs coding agents, or that works with what they left on disk, uses this library to list their
 * sessions, to read them, to keep sessions of its own in the format of any agent, and to rewind them. This header is
 * its whole interface. It compiles as C99 and as C++17, and consists of functions, plain structs, integers and texts,
 * so that other languages can call it through their foreign function interface.
 *
 * Link with `pkg-config --cflags --libs reprise`, or with `find_package(reprise)` and `reprise::reprise` in CMake
 * (`reprise::static` for the static library).
 *
 * Texts are UTF-8 as the agents wrote them: they may contain control characters and broken sequences, and have to be
 * cleaned before a terminal shows them. A text that is passed in is NUL-terminated or has a separate length, and is
 * borrowed for the call. A missing text is NULL in arguments and "" in results.
 *
 * NULL in place of a handle, of a function to call, of the place for a result, or of a text that is not described as
 * optional is an error of the caller's that does no harm: REPRISE_USAGE from functions that return a code; 0 or NULL
 * from those that count or return an element, whose list is then empty; functions that free or close do nothing.
 *
 * A struct that a caller fills has its own size as its first member; every other member may be zero. A later version
 * adds members at the end only, and zero means what it meant before. Structs that the library returns are reached by
 * pointer and grow in the same way; their size is that of the library that is running.
 *
 * Times are milliseconds since 1970 in UTC.
 *
 * Threads: several threads may use one struct reprise, one struct reprise_session and any result at the same time;
 * calls that write to one session take turns. A struct reprise_rewind is for one thread at a time. A handle is closed
 * once, after the last call that uses it; sessions and rewinds are closed before the struct reprise they came from.
 * After fork(2) a child must not use the handles of its parent.
 *
 * Signals: the library installs no handler and changes no disposition. No call raises a signal in its host: SIGPIPE,
 * SIGXFSZ and the SIGIO of a lease are blocked in the calling thread for the duration of the call, and discarded; the
 * call returns an error instead. Threads of the library take no signals. The library never ends the process, never
 * prints, and reads the environment in reprise_open() only. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define REPRISE_API __attribute__((visibility("default")))
#else
#define REPRISE_API
#endif

/* The version of this header: 10000 for each major version, 100 for each minor one. A program runs with every library
 * of the same major version that is not older than the header it was compiled with. */
#define REPRISE_VERSION_MAJOR 0
#define REPRISE_VERSION_MINOR 2
#define REPRISE_VERSION_PATCH 0
#define REPRISE_VERSION_NUMBER                                                                     \
    (REPRISE_VERSION_MAJOR * 10000 + REPRISE_VERSION_MINOR * 100 + REPRISE_VERSION_PATCH)

/* Returns the version of the library that is running, such as "0.2.0". */
REPRISE_API const char *reprise_version(void);
/* Returns the same as a number, to be compared with REPRISE_VERSION_NUMBER. */
REPRISE_API int reprise_version_number(void);

/* What a call returns. New codes may be added; treat one that you do not know as REPRISE_IO. */
enum reprise_code {
    REPRISE_OK = 0,
    REPRISE_NOMEM = 1,
    REPRISE_IO = 2,          /* a system call failed: see system */
    REPRISE_NOT_FOUND = 3,   /* the thing named does not exist */
    REPRISE_FORMAT = 4,      /* bytes on disk violate the format */
    REPRISE_LOCKED = 5,      /* another program holds the lock or has the file open */
    REPRISE_STALE = 6,       /* it changed since it was read or planned: do that again */
    REPRISE_UNSAFE = 7,      /* a link, not a regular file, or a path outside of what was allowed */
    REPRISE_UNSUPPORTED = 8, /* sessions of this system cannot do that */
    REPRISE_USAGE = 9,       /* the request itself is wrong: a bad id, an ambiguous prefix */
    REPRISE_CANCELLED = 10   /* the caller's function ended the call */
};

/* An error. It is a value of the caller's, needs no initialization and no release, and never changes its layout. Every
 * call that can fail takes a pointer to one as its last argument, which may be NULL. It is written only if the call
 * fails; the call then writes nothing else of the caller's. */
struct reprise_error {
    int32_t code;      /* enum reprise_code, as returned */
    int32_t system;    /* errno of the system call that failed; 0 if none did */
    char path[256];    /* the file concerned, cut at the front if it is long; "" for no file */
    char text[256];    /* what was being done (the outermost first) and why it failed */
    char message[504]; /* all of it as one line for a person, the reason first */
};

/* ==== reprise_open - opens stores ==== */

/* The stores that were opened, with the environment that they work in. */
struct reprise;

enum reprise_open_flags {
    REPRISE_OPEN_CREATE = 1 << 0 /* the store is made if it does not exist; needs a system */
};

struct reprise_options {
    size_t size;
    /* "claude", "codex" or another name that `reprise help agents` lists; "memory": sessions that exist as long as the
     * store, with rows of any agent; "noop": calls succeed, and nothing is kept; NULL: every system
     * whose default store exists */
    const char *system;
    /* the absolute path of the store: a configuration directory, a directory of sessions, a repository; NULL: where
     * the system keeps its sessions by default */
    const char *path;
    /* the absolute directory of the project, for systems that keep sessions in projects; NULL: the current one */
    const char *directory;
    /* "NAME=value" texts that end with a NULL, which replace the environment of the process; HOME, XDG_STATE_HOME,
     * XDG_DATA_HOME and the agents' own variables are looked up here. NULL: the environment as it is now. They are
     * copied. */
    const char *const *environment;
    uint32_t flags;    /* enum reprise_open_flags */
    uint32_t reserved; /* zero */
    /* a plug-in that keeps the store (reprise_plugin.h): the absolute path of its file, or the name of one that is
     * installed; path is then what the plug-in understands, and system a name for the store. NULL with a path like
     * "postgresql://...": the plug-in of that name. Installed ones are looked for in the directory of the data of this
     * user, beside the library, and beside the program */
    const char *plugin;
    /* "NAME=value" texts that end with a NULL, for a plug-in: what its section of the configuration can have, such as
     * table, create, prefix, project, timeout, password-file and ca-file. NULL: none. They are copied. The sessions of
     * such a store are those of Claude Code. */
    const char *const *settings;
};

/* Opens one store, or all default stores if no system is named. NULL options are the same as an empty struct. A
 * default store that does not exist or cannot be read is left out. REPRISE_NOT_FOUND: there is no store at the path.
 * REPRISE_USAGE: there is no such system. */
REPRISE_API int reprise_open(const struct reprise_options *options, struct reprise **out,
                             struct reprise_error *error);
/* Closes the stores. NULL is fine. */
REPRISE_API void reprise_close(struct reprise *r);

/* Returns the number of stores that were opened. */
REPRISE_API size_t reprise_stores(const struct reprise *r);
/* Returns the system of a store ("claude"); NULL beyond the last one. */
REPRISE_API const char *reprise_store_system(const struct reprise *r, size_t i);
/* Returns the absolute path of a store; NULL beyond the last one. */
REPRISE_API const char *reprise_store_path(const struct reprise *r, size_t i);

/* Returns 1 if a function works for sessions of a system, 0 if it returns REPRISE_UNSUPPORTED or nothing for all of them,
 * and -1 if there is no such system or the answer does not depend on it. call is the name of the function:
 * "reprise_append". r may be NULL; it is needed for the name of a store that a plug-in keeps. */
REPRISE_API int reprise_can(const struct reprise *r, const char *system, const char *call);

/* One session of an opened store. */
struct reprise_session;

/* Finds a session by name: an id, the unique beginning of one (four characters or more), SYSTEM:ID, the absolute path
 * of a transcript or session directory, or "latest". If the id is in several folders, the copy that reprise_list() shows
 * is opened. REPRISE_NOT_FOUND: there is no such session. REPRISE_USAGE: several sessions begin with it, or the list of
 * the directory that was named in the options shows another copy than that of all projects; the error lists them. */
REPRISE_API int reprise_session_open(const struct reprise *r, const char *name,
                                     struct reprise_session **out, struct reprise_error *error);
/* Closes a session. NULL is fine. */
REPRISE_API void reprise_session_close(struct reprise_session *s);
/* These return texts that are valid until the session is closed. */
REPRISE_API const char *reprise_session_id(const struct reprise_session *s);
REPRISE_API const char *reprise_session_system(const struct reprise_session *s);
/* The transcript, or the directory of the session. */
REPRISE_API const char *reprise_session_path(const struct reprise_session *s);
/* For a person, if reprise_create() began the session while another one works in the same place (Entire); NULL: nothing
 * to say. */
REPRISE_API const char *reprise_session_warning(const struct reprise_session *s);

/* ==== reprise_list - lists sessions ==== */

enum reprise_sort {
    REPRISE_SORT_RECENT = 0,  /* the one changed last comes first */
    REPRISE_SORT_CREATED = 1, /* the newest first */
    REPRISE_SORT_SIZE = 2,    /* the largest first */
    REPRISE_SORT_TITLE = 3
};

enum reprise_query_flags {
    REPRISE_QUERY_ARCHIVED = 1 << 0, /* archived sessions only */
    /* the directory alone, not the worktrees of its repository */
    REPRISE_QUERY_NO_WORKTREES = 1 << 1,
    REPRISE_QUERY_NO_PROGRAMMATIC = 1 << 2, /* without sessions that programs wrote */
    /* also what an agent's own list leaves out: sub-agents, empty sessions, sessions that commands started */
    REPRISE_QUERY_ALL_KINDS = 1 << 3
};

struct reprise_query {
    size_t size;
    const char *directory; /* sessions of this project; NULL: of every project */
    const char *tag;       /* exactly this one; NULL: any */
    const char *branch;
    int64_t since_ms;  /* changed at this time or later; 0: at any time */
    int64_t before_ms; /* changed before it; 0: at any time */
    int64_t limit;     /* rows at most; 0: all */
    int64_t offset;    /* rows to leave out at the front */
    int32_t sort;      /* enum reprise_sort */
    uint32_t flags;    /* enum reprise_query_flags */
};

enum reprise_row_flags {
    REPRISE_ROW_TORN = 1 << 0,         /* its last line is not complete */
    REPRISE_ROW_PROGRAMMATIC = 1 << 1, /* a program wrote it */
    REPRISE_ROW_INTERRUPTED = 1 << 2,  /* its last turn was cut off */
    REPRISE_ROW_FORK = 1 << 3,         /* it began as a copy of another session */
    REPRISE_ROW_DAMAGED = 1 << 4,
    REPRISE_ROW_ARCHIVED = 1 << 5,
    REPRISE_ROW_LIVE = 1 << 6 /* a running process has it open */
};

/* The time of a row if it is not known. */
#define REPRISE_TIME_UNKNOWN INT64_MIN

/* A session as a list shows it. */
struct reprise_row {
    size_t size;
    const char *system;
    const char *id;
    const char *path;
    const char *title;        /* never empty */
    const char *custom_title; /* given by a person or the agent */
    const char *first_prompt;
    const char *last_prompt;
    const char *branch;
    const char *directory;
    const char *tag;
    const char *model;
    const char *agent_name;
    const char *parent; /* the id of the session that it was forked from */
    int64_t created_ms; /* REPRISE_TIME_UNKNOWN if it is not known, like the other times */
    int64_t modified_ms;
    int64_t activity_ms; /* the newest message */
    int64_t expires_ms;  /* when the agent's own cleanup may remove it */
    int64_t file_size;
    uint32_t flags; /* enum reprise_row_flags */
    int32_t pid;    /* with REPRISE_ROW_LIVE; 0: not known */
    /* the row as one JSON object, as `reprise list --json` prints it, which has more members than this struct */
    const char *json;
    size_t json_length;
    /* enum reprise_activity, if the program that runs the session publishes it; else 0 */
    int32_t state;
    const char *waits_for; /* what it asks, with REPRISE_REQUIRES_ACTION; may be empty */
    int64_t since_ms;      /* since when it is in this state */
};

/* The rows of an answer, in order. */
struct reprise_rows;

/* Lists the sessions of all opened stores. A NULL query asks for all of them. At most 128 KiB of each transcript are
 * read. Sessions that an agent's own list would hide are left out. */
REPRISE_API int reprise_list(const struct reprise *r, const struct reprise_query *query,
                             struct reprise_rows **out, struct reprise_error *error);
/* Lists the sessions that run now, those that wait for a person first: a program has them open (REPRISE_ROW_LIVE), or,
 * for agents that do not show that, wrote to them within the last minute. */
REPRISE_API int reprise_running(const struct reprise *r, struct reprise_rows **out,
                                struct reprise_error *error);
/* Describes one session as reprise_list() would. REPRISE_NOT_FOUND: no list shows it. */
REPRISE_API int reprise_session_row(const struct reprise_session *s, struct reprise_rows **out,
                                    struct reprise_error *error);
REPRISE_API size_t reprise_rows_count(const struct reprise_rows *rows);
/* Returns a row, which is valid until the rows are freed; NULL beyond the last one. */
REPRISE_API const struct reprise_row *reprise_rows_at(const struct reprise_rows *rows, size_t i);
/* Frees the rows. NULL is fine. */
REPRISE_API void reprise_rows_free(struct reprise_rows *rows);

/* ==== reprise_messages - reads conversations ==== */

/* Texts of an answer, in order. */
struct reprise_texts;

REPRISE_API size_t reprise_texts_count(const struct reprise_texts *texts);
/* Returns a NUL-terminated text, which is valid until the texts are freed; NULL beyond the last one. Its length goes
 * into *length unless that is NULL. */
REPRISE_API const char *reprise_texts_at(const struct reprise_texts *texts, size_t i,
                                         size_t *length);
/* Frees the texts. NULL is fine. */
REPRISE_API void reprise_texts_free(struct reprise_texts *texts);

/* Reads everything that is recorded about one session, also what reprise_set() sets. The only text of *out is one JSON
 * object with the members that `reprise info --json` prints. The whole session is read. */
REPRISE_API int reprise_session_info(const struct reprise_session *s, struct reprise_texts **out,
                                     struct reprise_error *error);

enum reprise_message_flags {
    REPRISE_MESSAGES_SYSTEM = 1 << 0, /* also the rows that the agent's program wrote */
    /* as the vendor's SDK returns them, which ignores where a resume continues */
    REPRISE_MESSAGES_AS_SDK = 1 << 1,
    /* limit and offset count; without it all messages are returned */
    REPRISE_MESSAGES_LIMIT = 1 << 2,
    REPRISE_MESSAGES_PLAIN = 1 << 3 /* in one form for every system */
};

struct reprise_message_query {
    size_t size;
    /* the id of a sub-agent, whose conversation is read; NULL: the session's own */
    const char *agent;
    int64_t limit;     /* messages at most; 0: all */
    int64_t offset;    /* messages to leave out at the front */
    uint32_t flags;    /* enum reprise_message_flags */
    uint32_t reserved; /* zero */
    /* For reading backwards: only the newest messages before this one, which is named by its id or a unique beginning
     * of it; with "", those at the end of the conversation. With REPRISE_MESSAGES_LIMIT these are at most `limit`,
     * which may then be at most 1000; there is no offset. A session on a server is only read as far as needed. NULL: no
     * such restriction. */
    const char *before;
    /* For reading forwards, with REPRISE_MESSAGES_PLAIN: only the messages after this one, which is named by its whole
     * id. With a limit, the first ones. No more of the session is read than is needed. NULL: no such restriction. */
    const char *after;
};

/* Reads the conversation that a resume would restore, oldest first: one JSON object for each message.
 *
 * Without REPRISE_MESSAGES_PLAIN it is the agent's own row, or one like those of Claude Code, with the members type,
 * uuid, session_id, timestamp and message; the uuid may be null, and what is in the message depends on the system.
 *
 * With REPRISE_MESSAGES_PLAIN it has the same members in every system: id, never empty and unique in the conversation;
 * role, "user", "assistant", "tool" or, with REPRISE_MESSAGES_SYSTEM, "system"; and those of these that the message has:
 * time; text; thinking; media, a list of types; tools, a list of objects with call (an id), name, input, agent (the id
 * of a sub-agent), result (a text) and ok. A result is part of the message with its call; only if it was written much
 * later, or the call was read before, it is a message of its own with the role "tool".
 *
 * A NULL query asks for the whole conversation. All messages are held
 * in memory; reprise_messages_each() needs memory for one. REPRISE_NOT_FOUND: there is no such sub-agent, or no such
 * message to read before. */
REPRISE_API int reprise_messages(const struct reprise_session *s,
                                 const struct reprise_message_query *query,
                                 struct reprise_texts **out, struct reprise_error *error);

/* Receives one message, which is valid during the call. Any result but 0 ends the reading. No exception and no
 * longjmp may leave it, and it must not close the session. */
typedef int reprise_message_fn(const char *json, size_t length, void *arg);

/* Calls fn for each of these messages, in the calling thread. REPRISE_CANCELLED: fn ended the reading. */
REPRISE_API int reprise_messages_each(const struct reprise_session *s,
                                      const struct reprise_message_query *query,
                                      reprise_message_fn *fn, void *arg,
                                      struct reprise_error *error);

/* A conversation that is read on while an agent writes it. */
struct reprise_follow;

/* Begins to follow a conversation after the message `after` of the query, or at its end. The query may have `agent`,
 * `after` and REPRISE_MESSAGES_SYSTEM. The session must stay open. REPRISE_NOT_FOUND: there is no such message. */
REPRISE_API int reprise_follow_open(const struct reprise_session *s,
                                    const struct reprise_message_query *query,
                                    struct reprise_follow **out, struct reprise_error *error);
/* Reads what was added since the last call, perhaps nothing, in the form of REPRISE_MESSAGES_PLAIN. It does not wait:
 * call it when the file of the session changed, or from time to time. The time that it takes depends on what is new. A
 * message that its agent completes in place, in a database, is read as it is when it appears. For one thread at a
 * time. */
REPRISE_API int reprise_follow_next(struct reprise_follow *f, struct reprise_texts **out,
                                    struct reprise_error *error);
/* Ends it, before the session is closed. NULL is fine. */
REPRISE_API void reprise_follow_close(struct reprise_follow *f);

/* Reads the end of the conversation without reading the rest of the file: the last rows of the conversation that are
 * in the last `bytes` of it (0: 64 KiB), oldest first, as the system stores them. */
REPRISE_API int reprise_tail(const struct reprise_session *s, size_t bytes,
                             struct reprise_texts **out, struct reprise_error *error);

/* ==== reprise_restore - what a host needs to continue a session ==== */

/* Reads everything that an agent needs to continue where the session ended, or after the message `at`; in a session of
 * Entire `at` is a checkpoint. The only text of *out is one JSON object, as `reprise restore --json` prints it. These
 * members are always there:
 *
 * sessionId and system: texts.
 *
 * messages: the messages for the model, oldest first. Those that the agent itself leaves out when it loads the session
 * are not among them: unfinished tool calls, blank answers, rows before the last compaction. A row that the agent would
 * add, such as a request to continue an interrupted turn, is the last one.
 *
 * interruption: an object with the kind "none", "interrupted_prompt" (the last prompt was never answered; the member
 * prompt contains it) or "interrupted_turn" (the last message is a request to continue).
 *
 * todos, invokedSkills, contentReplacements, fileHistory: lists, perhaps empty, of the to-dos, of skills whose text the
 * model has seen, of the texts that replace long tool results, and of snapshots of files.
 *
 * The others are there if the session has them: cwd, gitBranch, agentSetting and mode are texts; worktree is an object
 * with path and exists; suppressSkillListing is true if the model has been given the list of skills;
 * attributionSnapshot, contextCollapseCommits and contextCollapseSnapshot are rows of the transcript; commandCwd is the
 * directory in which to run the agent, and exists.
 *
 * REPRISE_NOT_FOUND: there is no such message. */
REPRISE_API int reprise_restore(const struct reprise_session *s, const char *at,
                                struct reprise_texts **out, struct reprise_error *error);

/* ==== reprise_agents - sub-agents and branches of a session ==== */

enum reprise_agent_end {
    REPRISE_AGENT_OPEN = 0, /* it is running or was cut off */
    REPRISE_AGENT_DONE = 1,
    REPRISE_AGENT_FAILED = 2
};

/* A sub-agent. Its conversation is read by reprise_messages(), with the id in the query. */
struct reprise_agent {
    size_t size;
    const char *id;
    const char *type;    /* "Explore" */
    const char *task;    /* in short */
    const char *outcome; /* its last message */
    int64_t bytes;       /* the size in bytes of its transcript; -1 if that is not known */
    int64_t time_ms;     /* when it was last written; REPRISE_TIME_UNKNOWN */
    int32_t end;         /* enum reprise_agent_end */
    int32_t reserved;
};

/* The sub-agents of a session, in order. */
struct reprise_agents;

/* Lists the sub-agents; the list is empty for systems without sub-agents. */
REPRISE_API int reprise_list_agents(const struct reprise_session *s, struct reprise_agents **out,
                                    struct reprise_error *error);
REPRISE_API size_t reprise_agents_count(const struct reprise_agents *agents);
/* Returns a sub-agent, which is valid until the list is freed; NULL beyond the last one. */
REPRISE_API const struct reprise_agent *reprise_agents_at(const struct reprise_agents *agents,
                                                          size_t i);
/* Frees the list. NULL is fine. */
REPRISE_API void reprise_agents_free(struct reprise_agents *agents);

/* A branch: a part of the conversation that a resume would not continue, because the session was continued from an
 * earlier message. */
struct reprise_branch {
    size_t size;
    const char *id; /* the id of its last message */
    /* the message after which it left the conversation; "": it has a root of its own */
    const char *from;
    const char *prompt;      /* its first one */
    const char *last_prompt; /* before its end */
    int64_t time_ms;         /* the time of its last message */
    uint64_t messages;       /* that are not in the conversation */
};

/* The branches of a session, newest first. */
struct reprise_branches;

/* Lists the branches; the list is empty for systems without branches. */
REPRISE_API int reprise_list_branches(const struct reprise_session *s,
                                      struct reprise_branches **out, struct reprise_error *error);
REPRISE_API size_t reprise_branches_count(const struct reprise_branches *branches);
/* Returns a branch, which is valid until the list is freed; NULL beyond the last one. */
REPRISE_API const struct reprise_branch *
reprise_branches_at(const struct reprise_branches *branches, size_t i);
/* Frees the list. NULL is fine. */
REPRISE_API void reprise_branches_free(struct reprise_branches *branches);
/* Reads a branch from the beginning of the conversation to its last message, whose id is given: rows, oldest first, as
 * the system stores them. REPRISE_NOT_FOUND: there is no such message. */
REPRISE_API int reprise_read_branch(const struct reprise_session *s, const char *id,
                                    struct reprise_texts **out, struct reprise_error *error);

/* ==== reprise_search - searches the text of sessions ==== */

enum reprise_place {
    REPRISE_IN_PROMPTS = 1 << 0, /* the person's prompts and commands */
    REPRISE_IN_REPLIES = 1 << 1,
    REPRISE_IN_THINKING = 1 << 2,
    REPRISE_IN_TOOLS = 1 << 3, /* the input and the results of tools */
    REPRISE_IN_NOTES = 1 << 4  /* what the agent's program wrote */
};

enum reprise_search_flags {
    REPRISE_SEARCH_FIXED = 1 << 0, /* the patterns are plain text */
    REPRISE_SEARCH_WORDS = 1 << 1, /* a match begins and ends at the edge of a word */
    /* one pattern is enough; without it each one must occur in the session */
    REPRISE_SEARCH_ANY = 1 << 2,
    /* without these two, case matters in a pattern that has a capital letter */
    REPRISE_SEARCH_CASE = 1 << 3,
    REPRISE_SEARCH_IGNORE_CASE = 1 << 4
};

struct reprise_search_query {
    size_t size;
    const char *const *patterns; /* regular expressions as PCRE2 reads them; 1 to 32 */
    size_t patterns_count;
    /* the sessions to search; NULL: all. Order, limit and offset are ignored: the newest is searched first */
    const struct reprise_query *sessions;
    uint64_t limit;  /* hits at most; 0: all */
    uint32_t places; /* enum reprise_place; 0: prompts, replies and tools */
    uint32_t flags;  /* enum reprise_search_flags */
    /* receives the number of texts that were not searched to their end, because they are too long or a pattern takes too
     * long on them; may be NULL */
    uint64_t *incomplete;
};

enum reprise_hit_flags {
    REPRISE_HIT_BRANCH = 1 << 0, /* it is on a branch */
    REPRISE_HIT_CUT = 1 << 1     /* the line is longer than 16 KiB: the part with its first match */
};

/* A part of a line, in bytes. */
struct reprise_range {
    size_t from, to;
};

/* A line with at least one match. */
struct reprise_hit {
    size_t size;
    const char *system;
    const char *session;
    const char *path;  /* the path of the session */
    const char *title; /* the title of the session */
    const char *agent; /* the id of the sub-agent; "": the session's own conversation */
    const char *message;
    const char *line;
    size_t line_length;
    const struct reprise_range *ranges; /* the matches in the line */
    size_t ranges_count;
    int64_t time_ms; /* REPRISE_TIME_UNKNOWN if it is not known */
    int32_t place;   /* enum reprise_place; 0: a row that could not be read */
    uint32_t flags;  /* enum reprise_hit_flags */
};

/* Receives a hit, which is valid during the call. Any result but 0 ends the search. No exception and no longjmp may
 * leave it, and it must not close the stores. */
typedef int reprise_hit_fn(const struct reprise_hit *hit, void *arg);

/* Searches the text that a person would read in the sessions of all opened stores, on several threads, and calls fn for
 * each hit as it is found, in the calling thread. There is no index. A session that cannot be read is left out.
 * REPRISE_CANCELLED: fn ended the search. REPRISE_USAGE: a pattern is empty or invalid. */
REPRISE_API int reprise_search(const struct reprise *r, const struct reprise_search_query *query,
                               reprise_hit_fn *fn, void *arg, struct reprise_error *error);

/* ==== reprise_blame - which session and prompt wrote each line of a file ==== */

/* A line of a file, and the edit that wrote it. The texts about the edit are "" for a line that no session wrote. */
struct reprise_line {
    size_t size;
    const char *text; /* without its line end */
    size_t text_length;
    const char *system;
    const char *session;
    const char *path;    /* the path of the session */
    const char *agent;   /* the id of the sub-agent that wrote it; "": the session's own agent */
    const char *turn;    /* the id of the prompt's message */
    const char *message; /* the id of the row that records the edit */
    const char *tool;    /* its name as recorded */
    const char *prompt;
    int64_t time_ms; /* the time of the edit; REPRISE_TIME_UNKNOWN if it is not known */
    /* for a line without a session: why some edits were not replayed, one of which may have written it; "": all were */
    const char *incomplete;
    /* Who wrote it according to the note that git-ai attached to a commit (refs/notes/ai), which may be an agent of another
     * person or machine; all "": no note names the line. */
    const char *note_commit;
    const char *note_tool; /* "" if a person wrote it */
    const char *note_session;
    const char *note_model;
    const char *note_author; /* the person */
};

/* The lines of a file, in order. */
struct reprise_lines;

/* Replays the edits of all sessions to a file in order of time, and compares the result with the file as it is now.
 * file is an absolute path. sessions: which ones are read; NULL: all; their order, limit and offset are ignored. A
 * session that cannot be read is left out. REPRISE_NOT_FOUND: the file does not exist. REPRISE_UNSUPPORTED: it is too
 * large, or not text. REPRISE_UNSAFE: it is not a regular file. */
REPRISE_API int reprise_blame(const struct reprise *r, const char *file,
                              const struct reprise_query *sessions, struct reprise_lines **out,
                              struct reprise_error *error);
REPRISE_API size_t reprise_lines_count(const struct reprise_lines *lines);
/* Returns a line, which is valid until the lines are freed; NULL beyond the last one. */
REPRISE_API const struct reprise_line *reprise_lines_at(const struct reprise_lines *lines,
                                                        size_t i);
/* Frees the lines. NULL is fine. */
REPRISE_API void reprise_lines_free(struct reprise_lines *lines);

/* ==== reprise_files - which files sessions changed ==== */

enum reprise_touch_flags {
    REPRISE_TOUCH_CREATED = 1 << 0, /* there was no file before */
    REPRISE_TOUCH_EDITED = 1 << 1,
    REPRISE_TOUCH_DELETED = 1 << 2,
    REPRISE_TOUCH_RENAMED = 1 << 3
};

/* What one turn of a session did to one file. */
struct reprise_touch {
    size_t size;
    const char *file; /* absolute */
    const char *to;   /* its new name if it was renamed; "" */
    const char *system;
    const char *session;
    const char *path;  /* the path of the session */
    const char *agent; /* the id of the sub-agent of the first edit; "": the session's own agent */
    const char *turn;  /* the id of the prompt's message; "" if it is not known */
    const char *message; /* the id of the row that records the first edit */
    const char *prompt;
    int64_t time_ms; /* the time of the last edit; REPRISE_TIME_UNKNOWN if it is not known */
    uint64_t edits;
    uint64_t added; /* lines */
    uint64_t removed;
    uint32_t did; /* enum reprise_touch_flags */
    uint32_t reserved;
    const char *incomplete; /* why not all of its lines were counted; "": all were */
};

/* Turns and the files that they changed. */
struct reprise_touches;

/* Reads what a session changed, in the order of its turns. REPRISE_UNSUPPORTED: its system records no edits. */
REPRISE_API int reprise_files(const struct reprise_session *s, struct reprise_touches **out,
                              struct reprise_error *error);
/* Reads what sessions did to a file, or to the files in a directory, newest first. path is absolute, and need not
 * exist. sessions: which ones are read; NULL: all; their order, limit and offset are ignored. A session that cannot be
 * read is left out. */
REPRISE_API int reprise_touched(const struct reprise *r, const char *path,
                                const struct reprise_query *sessions, struct reprise_touches **out,
                                struct reprise_error *error);
REPRISE_API size_t reprise_touches_count(const struct reprise_touches *touches);
/* Returns an entry, which is valid until the touches are freed; NULL beyond the last one. */
REPRISE_API const struct reprise_touch *reprise_touches_at(const struct reprise_touches *touches,
                                                           size_t i);
/* Frees the touches. NULL is fine. */
REPRISE_API void reprise_touches_free(struct reprise_touches *touches);

/* ==== reprise_usage - tokens that sessions used ==== */

/* The tokens of one model, as agents recorded them. */
struct reprise_usage_row {
    size_t size;
    const char *model;   /* "" if it was not recorded */
    int64_t input;       /* neither read from a cache nor written to one */
    int64_t output;      /* with thinking */
    int64_t cache_write; /* tokens of requests, written to a cache */
    int64_t cache_read;  /* tokens of requests, read from a cache */
    int64_t answers;
    int64_t answers_without_cost; /* those whose cost the agent did not record */
    double cost;                  /* the cost of the others, in US dollars */
    int64_t first_ms;             /* the time of the first answer; REPRISE_TIME_UNKNOWN */
    int64_t last_ms;              /* the time of the last one */
};

/* A row for each model, the one with most tokens first. */
struct reprise_usage;

/* Sums up the tokens of a session and its sub-agents. Each answer counts once, however often it was written.
 * REPRISE_UNSUPPORTED: the system records no tokens. */
REPRISE_API int reprise_session_usage(const struct reprise_session *s, struct reprise_usage **out,
                                      struct reprise_error *error);
/* Sums up the tokens of many sessions; an answer that a fork copied counts once. sessions: which ones are read; NULL:
 * all; their times, order, limit and offset are ignored. A session that cannot be read is left out. */
REPRISE_API int reprise_sum_usage(const struct reprise *r, const struct reprise_query *sessions,
                                  struct reprise_usage **out, struct reprise_error *error);
REPRISE_API size_t reprise_usage_count(const struct reprise_usage *usage);
/* Returns a row, which is valid until the usage is freed; NULL beyond the last one. */
REPRISE_API const struct reprise_usage_row *reprise_usage_at(const struct reprise_usage *usage,
                                                             size_t i);
/* Frees the usage. NULL is fine. */
REPRISE_API void reprise_usage_free(struct reprise_usage *usage);

/* ==== reprise_export - writes a session as a document ==== */

enum reprise_format {
    REPRISE_FORMAT_MARKDOWN = 0,
    REPRISE_FORMAT_HTML = 1, /* one page, which loads nothing */
    REPRISE_FORMAT_TEXT = 2,
    /* the rows of the transcript as they are; tools and thinking do not apply */
    REPRISE_FORMAT_JSONL = 3
};

enum reprise_tools {
    REPRISE_TOOLS_FOLDED = 0, /* a line each; in Markdown and HTML a reader can unfold it */
    REPRISE_TOOLS_NONE = 1,   /* prompts and replies only */
    REPRISE_TOOLS_FULL = 2
};

enum reprise_export_flags {
    REPRISE_EXPORT_THINKING = 1 << 0,
    REPRISE_EXPORT_AGENTS = 1 << 1, /* also the conversations of the sub-agents */
    REPRISE_EXPORT_REDACT = 1 << 2, /* what looks like a secret is replaced */
    REPRISE_EXPORT_REPLACE = 1 << 3 /* an existing file may be replaced */
};

struct reprise_export_request {
    size_t size;
    /* ids of messages, their unique beginnings, or their numbers in the document ("#12"): the last one of another
     * branch, and the first and the last one to write; NULL: the conversation from beginning to end */
    const char *branch, *from, *to;
    int32_t format;    /* enum reprise_format */
    int32_t tools;     /* enum reprise_tools */
    uint32_t flags;    /* enum reprise_export_flags */
    uint32_t reserved; /* zero */
};

struct reprise_export_result {
    size_t size;            /* set by the caller, as in a request */
    uint64_t bytes;         /* the size in bytes of the document */
    uint64_t secrets;       /* that were replaced */
    uint64_t unread_agents; /* sub-agents that could not be read, which the document mentions */
};

/* Receives a piece of a document, which is valid during the call. Any result but 0 ends the export. No exception and no
 * longjmp may leave it, and it must not close the session. */
typedef int reprise_piece_fn(const char *bytes, size_t length, void *arg);

/* Writes the document through fn, in the calling thread, with memory for one message at a time. The texts of a session
 * cannot become markup of the document, and nothing in it acts on a terminal, except in JSONL. A NULL request asks for
 * all of the conversation as Markdown; the result may be NULL. REPRISE_NOT_FOUND: there is no such message.
 * REPRISE_CANCELLED: fn ended the export. */
REPRISE_API int reprise_export(const struct reprise_session *s,
                               const struct reprise_export_request *request, reprise_piece_fn *fn,
                               void *arg, struct reprise_export_result *result,
                               struct reprise_error *error);
/* Writes the document to a file, which appears when it is complete. REPRISE_STALE: the file exists, and replacing it
 * was not asked for. REPRISE_UNSAFE: it is not a regular file, or is a part of the session. */
REPRISE_API int reprise_export_file(const struct reprise_session *s,
                                    const struct reprise_export_request *request, const char *file,
                                    struct reprise_export_result *result,
                                    struct reprise_error *error);

/* ==== reprise_append - keeps sessions ==== */

struct reprise_create_request {
    size_t size;
    const char *id;        /* NULL: a new one is made, in the system's own form */
    const char *directory; /* absolute; NULL: the one the stores were opened with */
    const char *model;
    const char *title;
    const char *parent; /* the session that this one continues */
    /* for Go sessions: "shipped", "spec" or "doc"; NULL: that of the newest session of the store */
    const char *dialect;
};

/* Begins a new session in the only store of r. NULL is an empty request. Values for which the format has no place are
 * ignored. REPRISE_STALE: a session with this id exists, and is unchanged. REPRISE_USAGE: the id is not valid in this
 * system, or more than one store is open. The handle has the system's warning, if there is one
 * (reprise_session_warning()). */
REPRISE_API int reprise_create(const struct reprise *r,
                               const struct reprise_create_request *request,
                               struct reprise_session **out, struct reprise_error *error);

enum reprise_append_flags {
    /* append to the stream of SDK messages instead of the conversation, if the system has one */
    REPRISE_APPEND_STREAM = 1 << 0,
    /* also updates the counts and times in the metadata, if the system keeps them there */
    REPRISE_APPEND_SAVE = 1 << 1
};

/* Appends rows: JSON objects, one on each line of the text. They are in the system's own form, or the bare messages
 * that it knows; members that the system requires and a row lacks (an id, a time, the preceding row) are added, and all
 * others stay as they are. All rows are appended or none, in one write that is durable when the call returns, and no
 * row of another program that writes to the session is lost or cut. A row whose uuid the session already has is not
 * written again, so that a call can be repeated. The ids of the rows, new and old, are put into *ids unless that is
 * NULL; a row without an id has "". REPRISE_USAGE: a line is not a JSON object, or not a row of this system, or the text
 * is longer than a gigabyte. */
REPRISE_API int reprise_append(const struct reprise_session *s, const char *rows, size_t length,
                               uint32_t flags, struct reprise_texts **ids,
                               struct reprise_error *error);

/* Changes settings of the session: n texts "KEY=VALUE"; an empty value clears the setting. Either all are changed or
 * none. REPRISE_USAGE: the system has no such setting, or the value is not allowed.
 *
 * Claude Code: title, tag, aiTitle, agentName, agentColor, agentSetting, mode, permissionMode, lastPrompt.
 *
 * Go sessions: title, model, cwd, parent, exitReason, agentName, project_hash, messageCount, turnCount, totalTokens,
 * totalCostUsd.
 *
 * Entire: agent, first-prompt, last-prompt, branch, transcript, turn; and event (turn-start, turn-end, commit,
 * session-start or session-stop), together with strategy (manual-commit or auto-commit), which writes the checkpoints
 * that belong to the event.
 *
 * ExAthena has no settings: REPRISE_UNSUPPORTED. */
REPRISE_API int reprise_set(const struct reprise_session *s, const char *const *settings, size_t n,
                            struct reprise_error *error);

/* ==== reprise_writer - keeps a session open while its agent runs ==== */

/* A session that is being written. It remembers the last row, the ids that were written and the settings near the end,
 * so that the cost of an append depends on what it writes and not on the size of the session. Other programs may write
 * to the same session: their rows are noticed, and the last of them is the parent of the next one.
 *
 * A new session of a system that creates its file with the first message (Claude Code) is not on disk until one is
 * appended; rows and settings are held until then, and closing it without a message leaves nothing behind.
 *
 * Without REPRISE_WRITER_BACKGROUND each call writes at once and returns the result for its rows. With it, rows and
 * settings go into a queue, and a thread of the writer writes them in batches and in the order of the calls. If the
 * process is killed, only rows that were not written yet are lost, and no row is written in part.
 *
 * When the thread cannot write (a full disk, no permission), the function `failed` is called, the next call returns
 * the error and does nothing else, and the rows stay in the queue until they can be written. If the queue is full, an
 * append waits.
 *
 * As long as a writer is open and its session is on disk, other programs see that this process writes to it
 * (REPRISE_ROW_LIVE, the pid): they do not delete it, and they do not rewind its conversation. The announcement is a
 * file in the directory of the state of this user, and ends with the process, however that ends. reprise_state_open()
 * is needed only to say more: whether the session runs, waits or is idle.
 *
 * If the session's files are gone all the same, the next write makes them again, with all rows that they had (on Linux;
 * elsewhere with those that are not written yet). `failed` is called once with REPRISE_STALE to tell the host, with and
 * without a thread, and the counts say how often that happened (`remade`).
 *
 * Calls may come from any thread. After fork(2) every call of the child returns REPRISE_UNSUPPORTED and writes
 * nothing; the child may close the writer, and may open the session again. */
struct reprise_writer;

enum reprise_writer_flags { REPRISE_WRITER_BACKGROUND = 1 << 0 };

/* When rows are safe from a power cut; from a kill of the process they are safe as soon as they are written. */
enum reprise_durable {
    REPRISE_DURABLE_BATCH = 0, /* each batch, or without a thread the rows of each call */
    REPRISE_DURABLE_ROW = 1,   /* each row */
    REPRISE_DURABLE_FLUSH = 2  /* only after reprise_writer_flush() and reprise_writer_close() */
};

/* Receives the reason why rows could not be written, in the thread of the writer. It must not call the writer. */
typedef void reprise_failed_fn(const struct reprise_error *error, void *arg);

/* A number that is zero means the default of the system's own agent. */
struct reprise_writer_options {
    size_t size;
    uint32_t flags;  /* enum reprise_writer_flags */
    int32_t durable; /* enum reprise_durable */
    /* a batch is written when its first row is as old as this, or when it is full */
    uint32_t interval_ms;
    uint32_t reserved; /* zero */
    uint64_t batch_rows;
    uint64_t batch_bytes;
    uint64_t queue_rows; /* an append waits if the queue has this many rows */
    uint64_t queue_bytes;
    reprise_failed_fn *failed; /* NULL: failures are returned by the next call only */
    void *arg;                 /* for failed */
};

/* Opens a session for writing. NULL options write at once. The struct reprise must be closed after the writer; the
 * session need not stay open. */
REPRISE_API int reprise_writer_open(const struct reprise_session *s,
                                    const struct reprise_writer_options *options,
                                    struct reprise_writer **out, struct reprise_error *error);
/* Begins a new session, as reprise_create(), and opens it for writing. */
REPRISE_API int reprise_writer_create(const struct reprise *r,
                                      const struct reprise_create_request *request,
                                      const struct reprise_writer_options *options,
                                      struct reprise_writer **out, struct reprise_error *error);
/* Returns the id of the session, which is valid until the writer is closed. */
REPRISE_API const char *reprise_writer_id(const struct reprise_writer *w);
/* Appends rows, as reprise_append(). With a thread the rows are checked, and an error in them is returned at once. */
REPRISE_API int reprise_writer_append(struct reprise_writer *w, const char *rows, size_t length,
                                      uint32_t flags, struct reprise_texts **ids,
                                      struct reprise_error *error);
/* Changes settings, as reprise_set(); with a thread they are queued in order with the rows. */
REPRISE_API int reprise_writer_set(struct reprise_writer *w, const char *const *settings, size_t n,
                                   struct reprise_error *error);
/* Writes everything that was passed before this call, and returns when it is safe from a power cut. After a failure
 * the rows are still in the queue. */
REPRISE_API int reprise_writer_flush(struct reprise_writer *w, struct reprise_error *error);

struct reprise_writer_counts {
    size_t size;       /* set by the caller, as in a request */
    uint64_t written;  /* rows */
    uint64_t present;  /* rows that the session already had */
    uint64_t left_out; /* rows that the system does not keep */
    uint64_t lost;     /* rows and settings that could never be written */
    uint64_t batches;
    uint64_t queued; /* rows and settings that wait */
    uint64_t remade; /* how often the session was made again because its files were gone */
};

/* Counts what was written so far. */
REPRISE_API int reprise_writer_count(struct reprise_writer *w, struct reprise_writer_counts *out,
                                     struct reprise_error *error);
/* Flushes, ends the thread and closes the writer in any case. If that fails, the rows that are not written are lost,
 * and the error is the reason; a host that wants to keep them flushes first. NULL is fine. */
REPRISE_API int reprise_writer_close(struct reprise_writer *w, struct reprise_error *error);

/* ==== reprise_state - publishes what a session is doing ==== */

/* The state of a session that the caller runs: idle, running, or waiting for an action of a person. Listeners are
 * called at each step. While the state is open, other programs see it: `reprise list` and the picker show it. The state
 * of a killed process is ignored. */
struct reprise_state;

enum reprise_activity { REPRISE_IDLE = 1, REPRISE_RUNNING = 2, REPRISE_REQUIRES_ACTION = 3 };

/* What the session waits for. */
struct reprise_action {
    size_t size;
    const char *tool_name;
    const char *description; /* for a person: "Editing src/foo.ts" */
    const char *tool_use_id;
    const char *request_id;
    /* the input of the tool, a JSON object; passed to listeners and not published */
    const char *input;
};

/* Functions that are called in the thread that makes the step, one step after the other and in the order in which the
 * listeners were added; members may be NULL. They must not call functions on the state: REPRISE_USAGE. */
struct reprise_listener {
    size_t size;
    /* the state (enum reprise_activity), even if it is the same as before; the action, or NULL */
    void (*changed)(int32_t state, const struct reprise_action *action, void *data);
    /* afterwards, what changed in the external metadata: a JSON Merge Patch (RFC 7396) */
    void (*metadata)(const char *patch, void *data);
    void (*title)(const char *title, void *data);
    void (*last_prompt)(const char *prompt, void *data);
    void *data;
};

/* The state begins as idle, with empty metadata. The session and its stores must stay open until the state is
 * closed. */
REPRISE_API int reprise_state_open(const struct reprise_session *s, struct reprise_state **out,
                                   struct reprise_error *error);
/* Withdraws the state. NULL is fine. */
REPRISE_API void reprise_state_close(struct reprise_state *state);
REPRISE_API int reprise_state_listen(struct reprise_state *state,
                                     const struct reprise_listener *listener,
                                     struct reprise_error *error);
/* Reports a step. The action may be NULL, and is ignored except with REPRISE_REQUIRES_ACTION. The metadata gets a
 * pending_action, which is null after a step without one, and task_summary is null when the session becomes idle.
 * Listeners are called even if the state cannot be published. REPRISE_USAGE: the input is not a JSON object. */
REPRISE_API int reprise_state_change(struct reprise_state *state, int32_t activity,
                                     const struct reprise_action *action,
                                     struct reprise_error *error);
/* Changes the external metadata by a JSON Merge Patch, such as {"model":"m","task_summary":"reading the tests"}.
 * REPRISE_USAGE: it is not a JSON object. */
REPRISE_API int reprise_state_merge(struct reprise_state *state, const char *patch,
                                    struct reprise_error *error);
/* Report a new title or prompt, which reprise_set and reprise_append store. */
REPRISE_API int reprise_state_title(struct reprise_state *state, const char *title,
                                    struct reprise_error *error);
REPRISE_API int reprise_state_last_prompt(struct reprise_state *state, const char *prompt,
                                          struct reprise_error *error);

/* ==== reprise_checkpoint - saves files before they are changed ==== */

/* A rewind restores files to a checkpoint, and holds a file back (REPRISE_UNSAFE) if its present contents may be a
 * person's work. They are the session's work if they are
 *
 * - what reprise_checkpoint_end() last recorded for the file, whatever the rows contain;
 * - what the rows of the session say that its tools wrote, in the form in which the agent itself writes them (Claude
 *   Code: toolUseResult; ExAthena: the ui_payload of a tool; Go agents: the tool calls);
 * - what the newest checkpoint saved, since the session had the file in this state; or
 * - what a rewind or an undo left.
 *
 * A host whose rows are plain messages therefore makes two calls for each turn:
 *
 *     reprise_checkpoint(s, ...)       before the files are changed, with the id of the prompt
 *     reprise_checkpoint_end(s, ...)   when the turn has ended, with the files that it changed
 *
 * and a plain rewind restores them. An edit that a person makes after that is still held back, and
 * REPRISE_REWIND_EDITED overrides it. */

struct reprise_checkpoint_request {
    size_t size;
    /* the id of the message whose answer is about to change the files; a rewind names it. For Entire, whose checkpoints
     * name no message, the text of the prompt */
    const char *message;
    const char *const *files; /* absolute paths; they need not exist */
    size_t files_count;
    const char *label; /* for systems that have a place for one */
    /* for a checkpoint at the end of a sub-agent's task, in systems that keep those (Entire): the ids of the tool call
     * that started the task and of the sub-agent; message is then a description of the task, and may be NULL */
    const char *task;
    const char *agent;
};

struct reprise_checkpoint_result {
    size_t size;    /* set by the caller, as in a request */
    char id[256];   /* the id of the checkpoint */
    uint64_t files; /* saved, including files that do not exist */
    uint64_t fresh; /* copies among them that did not exist yet */
    /* for a person, for example if another session works in the same place; "" */
    char warning[256];
};

/* Saves the present contents of files. A repeated call for the same message and file keeps what was saved first.
 * The result may be NULL. REPRISE_UNSAFE: a path is not absolute, or does not lead to a regular file. */
REPRISE_API int reprise_checkpoint(const struct reprise_session *s,
                                   const struct reprise_checkpoint_request *request,
                                   struct reprise_checkpoint_result *result,
                                   struct reprise_error *error);
/* Records that files are the session's work as they are now, at the end of a turn; see above. A file that the turn
 * removed is named too. REPRISE_UNSAFE: a path is not absolute, or does not lead to a regular file; nothing is then
 * recorded. */
REPRISE_API int reprise_checkpoint_end(const struct reprise_session *s, const char *const *files,
                                       size_t n, struct reprise_error *error);

enum reprise_point_kind {
    REPRISE_POINT_TURN = 0, /* a prompt */
    REPRISE_POINT_TASK = 1, /* the task of a sub-agent */
    REPRISE_POINT_COMMIT = 2,
    REPRISE_POINT_SESSION_END = 3
};

/* A point of a session that a rewind can go back to. */
struct reprise_point {
    size_t size;
    const char *id;      /* the id that a rewind names */
    const char *message; /* the message that it belongs to */
    const char *prompt;
    const char *why; /* the reason why it cannot be restored; "": it can */
    int64_t time_ms;
    int32_t kind;   /* enum reprise_point_kind */
    uint32_t shell; /* 1: commands ran after it, whose changes to files are not covered */
    uint64_t files; /* that changed from here to the next point */
};

/* The points of a session, oldest first. */
struct reprise_points;

REPRISE_API int reprise_checkpoints(const struct reprise_session *s, struct reprise_points **out,
                                    struct reprise_error *error);
REPRISE_API size_t reprise_points_count(const struct reprise_points *points);
/* Returns a point, which is valid until the points are freed; NULL beyond the last one. */
REPRISE_API const struct reprise_point *reprise_points_at(const struct reprise_points *points,
                                                          size_t i);
/* Frees the points. NULL is fine. */
REPRISE_API void reprise_points_free(struct reprise_points *points);

/* Finds the checkpoints of a user's commit, in stores that keep theirs beside the commits (Entire), or the checkpoint
 * with this id or unique beginning. Each is one text of *out, a JSON object: checkpointId; sessions, a list of objects
 * with sessionId, agentName, prompt and record (what the system stores); commits, a list of objects with id, subject
 * and timestamp, newest first. REPRISE_NOT_FOUND: there is no such commit or checkpoint. */
REPRISE_API int reprise_checkpoint_of(const struct reprise *r, const char *name,
                                      struct reprise_texts **out, struct reprise_error *error);

/* ==== reprise_rewind - goes back to a point of a session ==== */

/* A rewind is planned, reviewed, and applied. The apply does what the plan shows: if a file changed meanwhile, it
 * returns REPRISE_STALE and changes nothing, or leaves that file alone. Every byte that it replaces is kept in an undo
 * record first. */
struct reprise_rewind;

enum reprise_rewind_mode {
    REPRISE_REWIND_FILES = 0,
    REPRISE_REWIND_CONVERSATION = 1,
    REPRISE_REWIND_BOTH = 2,
    REPRISE_REWIND_TURN = 3 /* only the work of this one turn is removed from the files */
};

enum reprise_rewind_flags {
    REPRISE_REWIND_EDITED = 1 << 0,  /* also files that were edited by hand since */
    REPRISE_REWIND_OUTSIDE = 1 << 1, /* also files outside of the project */
    /* also files that programs run or trust; ask a person first */
    REPRISE_REWIND_SENSITIVE = 1 << 2
};

struct reprise_rewind_options {
    size_t size;
    int32_t mode;             /* enum reprise_rewind_mode */
    uint32_t flags;           /* enum reprise_rewind_flags */
    const char *const *files; /* only these absolute paths; NULL: all */
    size_t files_count;
};

enum reprise_rewind_action {
    REPRISE_FILE_RESTORE = 0, /* its bytes or its mode change */
    REPRISE_FILE_CREATE = 1,  /* it is created again */
    REPRISE_FILE_DELETE = 2,
    REPRISE_FILE_UNCHANGED = 3,
    REPRISE_FILE_REFUSED = 4 /* see why */
};

enum reprise_file_flags {
    REPRISE_FILE_EDITED = 1 << 0, /* by hand since the session's last work on it */
    REPRISE_FILE_BINARY = 1 << 1,
    REPRISE_FILE_CONFLICT = 1 << 2, /* after an apply: it changed meanwhile and was left alone */
    REPRISE_FILE_CHOSEN = 1 << 3    /* an apply changes it */
};

struct reprise_rewind_file {
    size_t size;
    const char *path;
    const char *why;                /* with REPRISE_FILE_REFUSED, for a person */
    int32_t action;                 /* enum reprise_rewind_action */
    uint32_t flags;                 /* enum reprise_file_flags */
    uint32_t insertions, deletions; /* lines */
};

struct reprise_rewind_summary {
    size_t size;        /* set by the caller, as in a request */
    uint64_t files;     /* the number of files in the plan */
    uint64_t refused;   /* those of them that are refused */
    uint64_t conflicts; /* after an apply */
    uint32_t insertions, deletions;
    uint64_t dropped, kept; /* messages of the conversation, if it is rewound */
    char plan[72]; /* the id of the plan: it changes if anything that the plan depends on changes */
    char undo[40]; /* after an apply: the id of the undo record; "": nothing to do */
};

/* Plans to go back to a point (an id that reprise_checkpoints() returned, or its unique beginning). Changes nothing.
 * NULL options ask for the files. REPRISE_NOT_FOUND: there is no such point. REPRISE_UNSUPPORTED: the system cannot
 * go back in this mode. */
REPRISE_API int reprise_rewind_plan(const struct reprise_session *s, const char *point,
                                    const struct reprise_rewind_options *options,
                                    struct reprise_rewind **out, struct reprise_error *error);
/* Plans to undo a rewind by the id of its undo record; NULL is the newest that is not undone. An undo is a rewind and
 * can be undone. The mode of the options is ignored. */
REPRISE_API int reprise_rewind_undo(const struct reprise *r, const char *undo,
                                    const struct reprise_rewind_options *options,
                                    struct reprise_rewind **out, struct reprise_error *error);
/* Returns the number of files of the plan. */
REPRISE_API size_t reprise_rewind_count(const struct reprise_rewind *w);
/* Returns a file, which is valid until the rewind is closed; NULL beyond the last one. */
REPRISE_API const struct reprise_rewind_file *reprise_rewind_at(const struct reprise_rewind *w,
                                                                size_t i);
/* Summarizes a plan or its apply. */
REPRISE_API int reprise_rewind_describe(const struct reprise_rewind *w,
                                        struct reprise_rewind_summary *out,
                                        struct reprise_error *error);

enum reprise_apply_flags {
    /* the other files are restored; else one refused file stops the apply */
    REPRISE_APPLY_SKIP_REFUSED = 1 << 0
};

/* Carries out a plan, once. After a crash at any moment, the next rewind or undo of any program restores the old state
 * or completes the new one. Files that changed meanwhile are conflicts, not errors: see the summary. REPRISE_UNSAFE:
 * files are refused, and nothing was done. REPRISE_STALE: something changed since the plan, and nothing was done.
 * REPRISE_LOCKED: another rewind is running. */
REPRISE_API int reprise_rewind_apply(struct reprise_rewind *w, uint32_t flags,
                                     struct reprise_error *error);
/* Closes a plan. NULL is fine. */
REPRISE_API void reprise_rewind_close(struct reprise_rewind *w);

/* ==== reprise_change - names, marks and copies of sessions ==== */

/* Unlike what a host appends and sets, each of these calls is a change in the log of this user, which reprise_undo()
 * and `reprise undo` undo. It is done as a whole or not at all, even if the process is killed. A writer of the session
 * may stay open, except where a function says otherwise. */
struct reprise_change {
    size_t size; /* set by the caller, as in a request */
    /* for reprise_undo(); "": there was nothing to change, or the store is not made of files and keeps no undo */
    char id[40];
    char text[256]; /* what was done, for a person: "renamed to Payments" */
};

/* Gives a session a title. The change of this and the other functions may be NULL. REPRISE_USAGE: the title is
 * blank. */
REPRISE_API int reprise_rename(const struct reprise_session *s, const char *title,
                               struct reprise_change *change, struct reprise_error *error);
/* Sets the tags of a session, separated by commas, or removes them if that is NULL or "". */
REPRISE_API int reprise_tag(const struct reprise_session *s, const char *tag,
                            struct reprise_change *change, struct reprise_error *error);
/* Archives a session (archived is 1), which hides it from lists without REPRISE_QUERY_ARCHIVED,
 * or unarchives it (0). */
REPRISE_API int reprise_archive(const struct reprise_session *s, int archived,
                                struct reprise_change *change, struct reprise_error *error);
/* Makes the next resume continue after a message; NULL or "": with an empty conversation. Nothing is removed. The agent
 * must not have the session open. REPRISE_NOT_FOUND: there is no such message. */
REPRISE_API int reprise_resume_at(const struct reprise_session *s, const char *message,
                                  struct reprise_change *change, struct reprise_error *error);

enum reprise_tombstone_flags {
    /* the row is removed from the file, as the agent itself does; no program may have the session open */
    REPRISE_TOMBSTONE_CUT = 1 << 0
};

/* Lists the other messages that would leave the conversation with a message: those that only it leads to. *out has their
 * ids, oldest first; the caller frees it. Writes nothing. */
REPRISE_API int reprise_tombstone_leaves(const struct reprise_session *s, const char *message,
                                         uint32_t flags, struct reprise_texts **out,
                                         struct reprise_error *error);
/* Removes a message from the conversation: its row is blanked in place, or cut out of the file. It does not ask; see
 * reprise_tombstone_leaves(). */
REPRISE_API int reprise_tombstone(const struct reprise_session *s, const char *message,
                                  uint32_t flags, struct reprise_change *change,
                                  struct reprise_error *error);
/* Appends title, tag and the like again if later rows have pushed them out of the part of the file that lists read.
 * Agents do this when they end a session. */
REPRISE_API int reprise_reappend(const struct reprise_session *s, struct reprise_change *change,
                                 struct reprise_error *error);

enum reprise_fork_flags {
    REPRISE_FORK_FILES = 1 << 0 /* also the saved files, so that the copy can be rewound */
};

struct reprise_fork_request {
    size_t size;
    /* the id of the copy; NULL: a new one is made. REPRISE_UNSUPPORTED: the system always makes one */
    const char *id;
    /* the last message of the copy; NULL: all of it, or up to where a resume continues */
    const char *at;
    const char *title; /* NULL: that of the session and " (fork)" */
    uint32_t flags;    /* enum reprise_fork_flags */
    uint32_t reserved; /* zero */
};

struct reprise_fork_result {
    size_t size;  /* set by the caller, as in a request */
    char id[256]; /* the id of the copy */
    /* the system of the copy: a fork of an Entire session is a session of Claude Code */
    char system[64];
    char path[4096]; /* its transcript or directory */
    char change[40]; /* as in struct reprise_change */
};

/* Copies a session, or its beginning, into a new one with ids of its own; the session itself is unchanged. The request,
 * the result and out may be NULL; *out is the copy, or NULL if its store is not open. REPRISE_NOT_FOUND: there is no
 * such message, or no message. REPRISE_STALE: a session with this id exists. */
REPRISE_API int reprise_fork(const struct reprise_session *s,
                             const struct reprise_fork_request *request,
                             struct reprise_fork_result *result, struct reprise_session **out,
                             struct reprise_error *error);

/* ==== reprise_trash - deletes and restores sessions ==== */

enum reprise_delete_flags {
    /* even if it cannot be determined whether an agent is writing to it; ask a person first */
    REPRISE_DELETE_UNSURE = 1 << 0,
    /* as the agent itself deletes, at once and for good */
    REPRISE_DELETE_PERMANENTLY = 1 << 1
};

struct reprise_delete_result {
    size_t size;    /* set by the caller, as in a request */
    char trash[64]; /* for reprise_trash_restore(); "": it was deleted for good */
    uint64_t files; /* in the trash */
    uint64_t bytes;
    char stays[256]; /* what was not deleted, and why; "" */
};

/* Moves a session and everything that belongs to it into the trash, which is only emptied on request; the environment
 * needs HOME or XDG_DATA_HOME. A writer of the session must be closed first, and afterwards the session's handle finds
 * nothing. The result may be NULL. REPRISE_LOCKED: a program has it open, or may have (see REPRISE_DELETE_UNSURE).
 * REPRISE_UNSUPPORTED: the store deletes for good only. */
REPRISE_API int reprise_delete(const struct reprise_session *s, uint32_t flags,
                               struct reprise_delete_result *result, struct reprise_error *error);

/* A session in the trash. */
struct reprise_trash_item {
    size_t size;
    const char *id;
    const char *system;
    const char *session; /* its id */
    const char *title;
    const char *path; /* where its transcript was */
    const char *directory;
    int64_t deleted_ms;
    uint64_t files;
    uint64_t bytes;
};

/* The trash of this user, newest first. */
struct reprise_trash;

/* Reads the trash: sessions of all systems and stores. */
REPRISE_API int reprise_list_trash(const struct reprise *r, struct reprise_trash **out,
                                   struct reprise_error *error);
REPRISE_API size_t reprise_trash_count(const struct reprise_trash *trash);
/* Returns an item, which is valid until the trash is freed; NULL beyond the last one. */
REPRISE_API const struct reprise_trash_item *reprise_trash_at(const struct reprise_trash *trash,
                                                              size_t i);
/* Frees the trash list. NULL is fine. */
REPRISE_API void reprise_trash_free(struct reprise_trash *trash);

enum reprise_trash_flags {
    /* if a newer transcript is in its place, the deleted rows are put before its rows */
    REPRISE_TRASH_JOIN = 1 << 0
};

/* Restores a session by the id of its item, or by its own id (the newest item with it). REPRISE_NOT_FOUND: it is
 * not in the trash. REPRISE_STALE: something else is in its place. */
REPRISE_API int reprise_trash_restore(const struct reprise *r, const char *id, uint32_t flags,
                                      struct reprise_error *error);
/* Deletes a session in the trash for good, by the id of its item. */
REPRISE_API int reprise_trash_destroy(const struct reprise *r, const char *id,
                                      struct reprise_error *error);

/* ==== reprise_log - what was changed, and undoing it ==== */

enum reprise_log_flags {
    REPRISE_LOG_UNDONE = 1 << 0,
    REPRISE_LOG_REWIND = 1 << 1 /* to be undone by reprise_rewind_undo() */
};

/* A change or a rewind. */
struct reprise_log_entry {
    size_t size;
    const char *id;
    const char *kind;            /* "rename", "delete", "rewind", "undo", ... */
    const char *text;            /* what was done, for a person */
    const char *title;           /* the title of the session; the first of several */
    const char *undoes;          /* the entry that this one undid */
    const char *const *sessions; /* "claude:5e55..." */
    size_t sessions_count;
    int64_t time_ms;
    uint32_t flags; /* enum reprise_log_flags */
    uint32_t reserved;
};

/* The changes that this user made with any program that uses this library, newest first. */
struct reprise_log;

/* Reads the log. */
REPRISE_API int reprise_list_log(const struct reprise *r, struct reprise_log **out,
                                 struct reprise_error *error);
REPRISE_API size_t reprise_log_count(const struct reprise_log *log);
/* Returns an entry, which is valid until the log is freed; NULL beyond the last one. */
REPRISE_API const struct reprise_log_entry *reprise_log_at(const struct reprise_log *log, size_t i);
/* Frees the log. NULL is fine. */
REPRISE_API void reprise_log_free(struct reprise_log *log);

/* Undoes a change of sessions: a fork, a deletion, a rename and the like. NULL is the newest that is not undone, of the
 * sessions of the opened stores. An undo is a change and can be undone. The change describes the undo, and may be NULL.
 * REPRISE_NOT_FOUND: there is nothing to undo, or no such change. REPRISE_STALE, REPRISE_LOCKED: the same files or refs
 * were changed since, or are in use, and nothing was done. REPRISE_USAGE: it is a rewind, which the error's path names,
 * and reprise_rewind_undo() undoes it. */
REPRISE_API int reprise_undo(const struct reprise *r, const char *id, struct reprise_change *change,
                             struct reprise_error *error);
/* Redoes the change that the newest undo undid, if no change of the sessions of the opened stores was made since.
 * Errors are those of reprise_undo(). */
REPRISE_API int reprise_redo(const struct reprise *r, struct reprise_change *change,
                             struct reprise_error *error);

/* ==== reprise_doctor - finds damage, and repairs what can be repaired without loss ==== */

enum reprise_finding_flags {
    REPRISE_FINDING_FIXABLE = 1 << 0, /* REPRISE_DOCTOR_FIX repairs it */
    REPRISE_FINDING_FIXED = 1 << 1    /* it was repaired */
};

/* Damage, or something else that a person may want to know. */
struct reprise_finding {
    size_t size;
    /* "torn-tail", "broken-line", "duplicate-id", "hidden", ...; later versions add more */
    const char *kind;
    const char *session; /* its id; "": it concerns no session */
    const char *path;    /* the path of the file or directory */
    const char *why;     /* for a person */
    int64_t line;        /* from 1; 0: it concerns no line */
    int64_t offset;      /* the offset of that line in the file */
    uint32_t flags;      /* enum reprise_finding_flags */
    uint32_t reserved;
};

/* Receives a finding, which is valid during the call. Any result but 0 ends the search. No exception and no longjmp may
 * leave it, and it must not close the stores. */
typedef int reprise_finding_fn(const struct reprise_finding *finding, void *arg);

enum reprise_doctor_flags {
    /* The last line of a transcript gets its missing newline unless the session is in use, settings that no list finds
     * any more are appended again, and interrupted changes and rewinds are completed. Nothing is removed. The repairs
     * of a session are a change that reprise_undo() undoes. Without this flag nothing is changed. */
    REPRISE_DOCTOR_FIX = 1 << 0
};

/* Examines the sessions of all opened stores, newest first, and what this user's changes and rewinds left behind.
 * REPRISE_CANCELLED: fn ended the search. */
REPRISE_API int reprise_doctor(const struct reprise *r, uint32_t flags, reprise_finding_fn *fn,
                               void *arg, struct reprise_error *error);
/* Examines one session. REPRISE_FORMAT: it cannot be read at all. */
REPRISE_API int reprise_session_doctor(const struct reprise_session *s, uint32_t flags,
                                       reprise_finding_fn *fn, void *arg,
                                       struct reprise_error *error);

/* ==== reprise_share - moves sessions between this machine and the store of a team ==== */

enum reprise_retrieve_flags {
    /* a local transcript is replaced even if it has rows that the store lacks; undoing the change restores them */
    REPRISE_RETRIEVE_REPLACE = 1 << 0
};

struct reprise_retrieve_result {
    size_t size; /* set by the caller, as in a request */
    /* transcripts that were written: that of the session and those of its sub-agents; 0: all were up to date */
    uint64_t files;
    char path[4096]; /* the path of the session's transcript, where its agent looks for it */
    char change[40]; /* as in struct reprise_change */
};

/* Writes the transcript of a session that a plug-in's store or a repository of Entire keeps to where its agent looks
 * for it, so that the agent can resume it. A local transcript with fewer rows is completed. The result may be NULL.
 * REPRISE_STALE: the local transcript has rows that the store lacks, and was kept. REPRISE_UNSUPPORTED: the session is
 * a local one. */
REPRISE_API int reprise_retrieve(const struct reprise_session *s, uint32_t flags,
                                 struct reprise_retrieve_result *result,
                                 struct reprise_error *error);

enum reprise_push_flags {
    REPRISE_PUSH_DRY_RUN = 1 << 0, /* rows are compared and counted only */
    REPRISE_PUSH_FORCE = 1 << 1,   /* even if the store has rows that the local session lacks */
    REPRISE_PUSH_REDACT = 1 << 2,  /* secrets are replaced in the rows that are added */
    /* also the rows in which Claude Code keeps its requests to the model, which its own mirror leaves out */
    REPRISE_PUSH_REQUESTS = 1 << 3
};

struct reprise_push_result {
    size_t size;       /* set by the caller, as in a request */
    uint64_t rows;     /* that were added, with those of the sub-agents */
    uint64_t left_out; /* damaged lines, which no store accepts */
    int32_t is_new;    /* 1: the store did not have the session */
    int32_t reserved;
};

/* Adds the rows of a local session of Claude Code and of its sub-agents that a store lacks. to has one store, which a
 * plug-in keeps. A repeated call adds nothing, and a call after a failure continues. The result may be NULL.
 * REPRISE_UNSAFE: the store has rows that the local session lacks. REPRISE_FORMAT: the store cannot hold a row.
 * REPRISE_STALE: other programs kept adding to the session. */
REPRISE_API int reprise_push(const struct reprise_session *s, const struct reprise *to,
                             uint32_t flags, struct reprise_push_result *result,
                             struct reprise_error *error);

#ifdef __cplusplus
}
#endif

#endif
