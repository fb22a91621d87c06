#ifndef STORE_SYSTEMS_COMMON_JSONL_H
#define STORE_SYSTEMS_COMMON_JSONL_H

#include <stdatomic.h>

#include "lite/io/window.h"
#include "lite/json/jsonout.h"
#include "store/api/store.h"
#include "store/log/logfile.h"

/* An agent that keeps each session as one JSONL log. Its store begins with a struct jsonl_store, and its format is a
 * table of everything specific to the agent: which names are ids, and how a row is read. The functions named after
 * members of struct store_ops are those members. tests/store/systems/tiny is a complete example. */

#define JSONL_SUFFIX ".jsonl"

/* The part of one row that a list needs. */
struct jsonl_row_facts {
    int64_t time_ms; /* TIME_NONE: it has no time */
    /* it is a message; the last one determines how the conversation ended */
    bool speaks;
    bool waits;          /* the message waits for an answer */
    struct slice prompt; /* the person's prompt; empty: it is not a prompt */
    /* the row gives the session a title, perhaps an empty one: the last such row counts */
    bool names;
    struct slice title;
    struct slice cwd, git_branch; /* may be empty: the first row that has them counts */
    bool placed;                  /* set before the call: an earlier row had the directory */
    struct slice model;           /* may be empty: the last one counts */
    struct slice parent; /* the session that it was forked from; may be empty, as the directory */
    struct slice entry, after; /* with `branches`: its id, and that of its parent */
};

/* One message as `messages` prints it. */
struct jsonl_message {
    const char *type; /* "user", "assistant", "tool", "system"; a literal */
    bool is_system;   /* printed only if system messages are asked for */
    struct slice uuid, timestamp;
    struct slice message; /* raw JSON */
};

typedef bool jsonl_is_id_fn(struct slice id);
/* What most agents make ids of. */
#define JSONL_ID_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
struct session_dirs;  /* store/systems/common/session_dirs.h */
struct row_table;     /* store/systems/common/row_table.h */
struct session_about; /* store/systems/common/session_about.h */
struct project_logs;
struct document_format; /* store/systems/common/document.h */

struct jsonl_format {
    const struct index_keys *keys;
    /* The session is not a log but a document, whose elements are its rows. */
    const struct document_format *document;
    /* The rows as a table; `judge` and `read` are then not called. */
    const struct row_table *rows;
    /* What the agent records outside of its logs, as a table; `complete` is then not called. */
    const struct session_about *about;
    /* Classifies one line that is not blank: sets kind and flags of the message, whose offset, id and time are set
     * already. *keep is true before the call; a last line that is torn and MESSAGE_BROKEN is left out in any case. */
    enum err_code (*judge)(struct logfile *log, size_t line, struct message *m, bool *keep,
                           struct err *e);
    /* Optional, for logs with branches or with turns that were rewound: sets shown[line] for the lines of the
     * conversation, of index.n that are all false. Others are not classified. */
    enum err_code (*choose)(struct logfile *log, bool *shown, struct err *e);
    /* Optional. Returns false if the session has no log, and so no lines. */
    bool (*has_log)(const struct session_ref *ref);

    /* Reads one row for a list; texts borrow from it or are in the arena. ERR_FORMAT: it is not one
     * of the agent's rows and is skipped. */
    enum err_code (*read)(struct slice row, struct arena *a, struct jsonl_row_facts *out);
    /* Bytes that every row with a prompt contains: rows without them need not be read. */
    const char *prompt_needle;
    bool in_pieces; /* consecutive rows with prompts are one prompt */
    /* rows name their parent; rows on branches that were left are not the last ones */
    bool branches;
    /* The same for rows that give a title; NULL: no rows do. */
    const char *title_needle;
    /* The same for rows that name the model; NULL: the last message or a row after it does. */
    const char *model_needle;
    /* Optional. Adds to a list's row what the log does not contain (abilities, directory, title);
     * texts are kept after the call. */
    enum err_code (*complete)(const struct store *st, const struct scope *scope,
                              struct session_row *row, struct arena *a, struct err *e);

    /* Optional. The id of a row, decoded, borrowed or in the arena; empty if it has none. NULL: the text under the key
     * of the ids in `keys`. */
    struct slice (*id)(struct slice row, struct arena *a);

    /* For jsonl_messages. Texts borrow from the row or are in the arena. Returns false if the row is not a message. */
    bool (*message)(struct slice row, struct arena *a, struct jsonl_message *out);

    const struct session_dirs *dirs; /* for agents with a directory for each session */
    const struct project_logs *logs; /* for agents with a folder of logs for each project */

    jsonl_is_id_fn *is_id;
    const char *id_name; /* "a Tiny session id", for errors */
    /* Optional. Returns true if the scope includes the folder's sessions. */
    bool (*in_scope)(const struct store *st, const struct scope *scope);

    /* For jsonl_agent_variable and jsonl_usual_path: the variable that names the agent's directory, and the name of the
     * directory in the home directory; `usual` replaces the latter if the agent has other rules. */
    const char *variable, *home;
    char *(*usual)(const struct store_env *env);

    /* For jsonl_store_open: the bytes of the struct that begins with the struct jsonl_store; 0: it is just that. */
    size_t size;
    bool needs_folder; /* the folder of the sessions must exist, else only the path */
};

struct jsonl_store {
    struct store base;
    const struct jsonl_format *format;
    char *folder; /* owned; if it does not exist, there are no sessions */
    struct window_pool *pool;
};

/* For store_ops.open. The path of the store is `named`, else the usual one of the format. The sessions are in the folder
 * `inside` of that path. After an error, store_ops.close has freed the store. */
MUST_CHECK enum err_code jsonl_store_open(const struct store_ops *ops,
                                          const struct jsonl_format *format,
                                          const struct store_env *env, const char *named,
                                          const char *inside, struct store **out, struct err *e);
/* store_ops.close for a store whose other members own nothing. */
void jsonl_store_close(struct store *st);
/* Frees the contents, but not the struct. */
void jsonl_store_fini(struct jsonl_store *s);

/* ---- the files of a folder ---- */

/* Returns true for a UUID in lower case. */
bool jsonl_is_uuid(struct slice id);
/* The id in a file's name; it borrows from the name. Returns false if the file is not a log. */
bool jsonl_id_of_name(const char *name, jsonl_is_id_fn *is_id, struct slice *id);
/* Passes each log of the folder to fn as a ref, in no order, without subfolders. No file is opened, and of a folder that
 * cannot be read the scope is told (session_scope_left_out). */
MUST_CHECK enum err_code jsonl_each_log(const struct store *st, const struct scope *scope,
                                        const char *folder, jsonl_is_id_fn *is_id,
                                        session_ref_fn *fn, void *arg, struct err *e);
/* The log at this path as a ref. Its texts are in the arena. ERR_NOT_FOUND: no regular file has this path. */
MUST_CHECK enum err_code jsonl_ref_at(const struct store *st, const char *path, struct slice id,
                                      struct arena *a, struct session_ref *ref, struct err *e);
/* The ids of the logs of sub-agents in a folder (NULL: no folder), sorted; each is in the arena. A folder that exists
 * and cannot be read to its end is an error. */
MUST_CHECK enum err_code jsonl_log_ids(const struct store *st, const char *folder,
                                       jsonl_is_id_fn *is_id, struct arena *a, struct slice **ids,
                                       size_t *n, struct err *e);
/* The log of a sub-agent in a folder (NULL: no folder). ERR_NOT_FOUND: the session has no such sub-agent. */
MUST_CHECK enum err_code jsonl_subagent_at(const struct store *st, const struct session_ref *ref,
                                           const char *folder, jsonl_is_id_fn *is_id,
                                           struct slice agent, struct arena *a,
                                           struct session_ref *out, struct err *e);
/* The log, and a document that is beside it and named after it: for store_ops.files. */
store_parts_fn jsonl_files;
store_enumerate_fn jsonl_enumerate;
/* Asks the enumerate of the store, which calls session_scope_left_out. */
store_unreadable_fn jsonl_unreadable;
store_find_fn jsonl_find;
/* Finds the first session with this id among those that `enumerate` lists. */
MUST_CHECK enum err_code jsonl_find_listed(const struct store *st, store_enumerate_fn *enumerate,
                                           const struct scope *scope, struct slice id,
                                           struct arena *a, struct session_ref *ref, struct err *e);

/* The path of the agent's own store; the caller frees it. NULL without a home, or if out of memory. */
char *jsonl_usual_path(const struct jsonl_format *format, const struct store_env *env);
store_agent_variable_fn jsonl_agent_variable;

/* ---- the row of a list ---- */

/* Fills a list's row from the first and the last bytes of the session's file: first and last prompt, times, how it
 * ended, whether it is damaged. The summary is the first prompt, else the last one, else the id, if the format gives it
 * no other. A file that cannot be opened is HIDDEN_UNREADABLE; ERR_NOT_FOUND: it is gone. */
store_describe_fn jsonl_describe;

/* ---- the conversation ---- */

store_load_fn jsonl_load;
store_load_fn jsonl_load_all; /* with turns that were undone and branches that were left */
/* The same for rows in memory, of which the transcript takes ownership: *bytes is then empty. The ref only names the
 * session. */
MUST_CHECK enum err_code jsonl_load_bytes(const struct jsonl_format *format,
                                          const struct session_ref *ref, struct buf *bytes,
                                          const atomic_bool *cancel, struct transcript **out,
                                          struct err *e);
/* Reads the last `bytes` of the file, or up to 16 times as many if they contain no whole row. */
store_tail_fn jsonl_tail;

/* The messages of the conversation, one by one. */
store_messages_fn jsonl_messages;
/* For jsonl_format.choose, if rows name their parents: shows the rows from the root to the last row of the log, and
 * lines that do not parse. */
MUST_CHECK enum err_code jsonl_choose_path(struct logfile *log, bool *shown, struct err *e);

/* Finds the line of the row with this id, the first one of several, or of the only id with this prefix (4 characters or
 * more). ERR_NOT_FOUND: no such row. ERR_USAGE: the prefix is ambiguous. */
MUST_CHECK enum err_code jsonl_find_row(struct logfile *log, const struct jsonl_format *format,
                                        struct slice id, size_t *line, struct err *e);
/* The id of a row; empty if it has none. */
struct slice jsonl_row_id(const struct jsonl_format *format, struct slice row, struct arena *a);
/* Returns true if an id begins with this part, and the part is long enough to name it. */
bool jsonl_id_has_prefix(struct slice id, struct slice part);

/* The search for the message that a rewind goes back to: by its id or a unique prefix. The first of several with the
 * same id counts. */
struct point_search {
    struct slice id; /* the id or prefix; the rest is initially zeroed */
    size_t at, hits;
    bool same;
};
/* Compares a message; `number` is its index. */
void point_search_offer(struct point_search *s, struct slice id, size_t number);
/* ERR_OK: it is the message with the number `at`. ERR_NOT_FOUND: no such message. ERR_USAGE: the prefix is
 * ambiguous. */
MUST_CHECK enum err_code point_search_result(const struct point_search *s,
                                             const struct session_ref *ref, struct err *e);
/* The error of a search among points of a rewind that did not find one: "several POINTS begin with ID", "NONE ID". */
enum err_code point_search_error(const struct point_search *s, const char *path, const char *points,
                                 const char *none, struct err *e);

/* Called for each row; set *stop to end the walk after it. */
typedef enum err_code jsonl_row_fn(struct slice row, void *arg, bool *stop, struct err *e);
/* Walks through all rows that are not blank, oldest first. ERR_CANCELLED if the flag is raised (it may be NULL). */
MUST_CHECK enum err_code jsonl_each_row(const char *path, const struct index_keys *keys,
                                        const atomic_bool *cancel, jsonl_row_fn *fn, void *arg,
                                        struct err *e);

/* The part of the messages that a query asks for, while they are walked. */
struct jsonl_page {
    int64_t skip, left; /* left < 0: no limit */
    json_fn *fn;
    void *arg;
    bool full; /* the walk ended because the page is complete */
};

struct jsonl_page jsonl_page_of(const struct message_query *q, json_fn *fn, void *arg);
/* Passes one message to fn if it is in the page. ERR_CANCELLED, with `full` set: the page is complete. */
MUST_CHECK enum err_code jsonl_page_add(struct jsonl_page *p, struct slice json, struct err *e);

/* Begins a restore bundle: the session's id and directory, and where to run the command. Returns false if out of
 * memory. */
bool jsonl_restore_begin(struct restore *out, struct slice id, struct slice cwd);
/* Writes the member "message" that a host sends in the person's name after an interrupted turn. */
void jsonl_write_continuation(struct jsonout *j);

/* ---- the log of a fork (jsonl.c) ---- */

/* The lines at the beginning of a log that its fork copies, byte for byte. */
struct jsonl_fork {
    const struct logfile *log;
    int64_t end;  /* its length in bytes */
    bool newline; /* a newline is added after a last line without one */
};

/* The lines up to and including this one. */
struct jsonl_fork jsonl_fork_to(const struct logfile *log, size_t line);
/* Passes the bytes to fn in pieces. ERR_STALE: the log became shorter. */
typedef enum err_code jsonl_piece_fn(struct slice piece, void *arg, struct err *e);
MUST_CHECK enum err_code jsonl_fork_each(const struct jsonl_fork *f, jsonl_piece_fn *fn, void *arg,
                                         struct err *e);
/* Writes them into a new file in the directory, durably. ERR_STALE: the log became shorter. */
MUST_CHECK enum err_code jsonl_fork_write(const struct jsonl_fork *f, const char *dir,
                                          const char *name, struct err *e);

/* ---- damage (jsonl.c) ---- */

/* The member `check` of an agent with log_rules: the lines of the session's log and of those of its sub-agents. */
store_check_fn jsonl_check;

/* A session whose log is being searched for damage. The texts of a finding may be NULL: out of memory. */
struct jsonl_check {
    const struct session_ref *ref;
    const struct logfile *log;
    finding_fn *fn;
    void *arg;
    struct idset ids; /* owned; of the previous lines */
};

/* A finding about something in a folder of sessions that no list shows, because its name cannot be an id. */
MUST_CHECK enum err_code jsonl_check_name(const char *folder, const char *name, finding_fn *fn,
                                          void *arg, struct err *e);
/* A finding about a file or directory of the session. */
MUST_CHECK enum err_code jsonl_check_report(const struct jsonl_check *k, enum finding_kind kind,
                                            const char *path, const char *why, struct err *e);
/* A finding about a line, from 0. */
MUST_CHECK enum err_code jsonl_check_line(const struct jsonl_check *k, enum finding_kind kind,
                                          size_t line, const char *why, struct err *e);
/* Reports FINDING_DUPLICATE_ID if a previous line has the id of this one. */
MUST_CHECK enum err_code jsonl_check_id(struct jsonl_check *k, size_t line, const char *why,
                                        struct err *e);

/* ---- a folder of logs for each project ---- */

/* An agent that keeps its logs in one folder for each project. Its store begins with a struct jsonl_store whose folder
 * contains the projects' folders, and whose format has a struct project_logs. Different projects may have the same
 * folder name, so describe compares the directory that a session's rows record (project_logs_collides). */
struct project_logs {
    /* The folder that the agent names after a directory, in the arena; .p NULL: out of memory. */
    struct slice (*folder_of)(struct slice directory, struct arena *a);
    /* The folders with logs inside that folder, "" for the folder itself; NULL-terminated. */
    const char *const *inside;
    /* Optional. The id in the name of a log, borrowed from it. Returns false if the file is not a log. NULL: logs are
     * named <id>.jsonl. */
    bool (*name_id)(const char *name, struct slice *id);
    /* The agent's rule for the names of folders is not known completely: two names are the same folder if folder_of
     * makes the same name of both, and an id is looked up in all folders. */
    bool vague;
};

/* A file directly in the store's folder belongs to every project. */
store_enumerate_fn project_logs_enumerate;
/* The first log with this id. */
store_find_fn project_logs_find;
/* In all projects, a log is delivered by each name of its folder, as a list of one project may show it. */
store_find_each_fn project_logs_find_each;
/* The log at this path, if it is below the store's folder. */
store_at_path_fn project_logs_at_path;
/* For agents that compare the directory with that in the first row that has one: it is exchanged there. */
store_folder_of_fn project_logs_folder_of;
store_set_directory_fn project_logs_set_directory;
store_place_fn project_logs_place;
/* Plans that a document, of which all bytes are given, has another text in place of one of its values. */
MUST_CHECK enum err_code jsonl_put_text(const char *path, struct slice document, struct slice value,
                                        struct slice text, int64_t mtime_ns, struct change *c,
                                        struct err *e);
/* The members of store_ops that are the same for all such agents whose rows are a table (row_table.h). */
#define PROJECT_LOGS_OPS                                                                           \
    .enumerate = project_logs_enumerate, .unreadable = jsonl_unreadable,                           \
    .describe = jsonl_describe, .find = project_logs_find, .find_each = project_logs_find_each,    \
    .at_path = project_logs_at_path, .tail = jsonl_tail, .load = jsonl_load,                       \
    .blocks = row_table_blocks
/* Returns true if the session belongs to another directory, which the scope does not include. */
bool project_logs_collides(const struct scope *scope, struct slice cwd);

/* ---- messages made from blocks ---- */

/* The member `messages` for agents whose rows have a form of their own. Each row of a person, the agent or a tool
 * becomes one message in the form that the SDKs of Claude Code use, made from the row's blocks.
 *
 *   {"type": "assistant", "uuid": ..., "session_id": ..., "message": {"role": "assistant", "content": [
 *       {"type": "text", "text": ...}, {"type": "thinking", "thinking": ...},
 *       {"type": "tool_use", "id": ..., "name": ..., "input": {...}},
 *       {"type": "tool_result", "tool_use_id": ..., "content": ..., "is_error": true}]},
 *    "parent_tool_use_id": null, "parent_agent_id": ..., "timestamp": ...}
 *
 * The content of a prompt is its text. */

/* Calls load and blocks of the store, and subagent if the query names one. The store begins with a struct jsonl_store,
 * whose format tells the ids of rows. */
store_messages_fn block_messages;

#endif
