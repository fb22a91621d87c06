#ifndef STORE_SYSTEMS_GEMINI_GEMINI_H
#define STORE_SYSTEMS_GEMINI_GEMINI_H

#include "store/api/store.h"
#include "store/systems/common/jsonl.h"

/* The sessions of the Gemini CLI (docs/formats/gemini.md): its path is $GEMINI_CLI_HOME/.gemini or ~/.gemini, with
 *
 *   tmp/<project>/.project_root                              the project's directory
 *   projects.json                                            the same for all projects
 *   tmp/<project>/chats/session-<minute>-<id8>.jsonl         a session; older ones are one document, .json
 *   tmp/<project>/chats/<id>/<agent>.jsonl                   its sub-agents
 *
 * The file name contains only the first 8 digits of an id, so the first line is read for the list.
 * Resuming in a later minute creates a second file with the same id that contains only the context;
 * of several files, the one with the most messages is used. Older versions named the folder of a
 * project after the SHA-256 of its directory. Existing sessions are not written. Immutable after open; threads
 * may share it. */
struct gemini {
    struct jsonl_store jsonl; /* its folder is <path>/tmp */
    int64_t retention_ms;     /* TIME_NONE: sessions do not expire, or it is not known when */
    char *settings_path;
    const char *settings_note; /* what is odd in them; NULL: nothing */
};

/* A session after all lines of its file have been applied: a message may be written again with the
 * same id, also by `$set.messages`, and `$rewindTo` drops a message and everything after it. */
struct gemini_message {
    struct slice id;
    struct slice raw;           /* one JSON object */
    struct slice type, content; /* raw values of it; may be empty */
    bool acts;                  /* it has calls or thoughts */
    bool complete;              /* it has calls or tokens */
};

/* A rewind of the program's own, which may have given files their former contents. */
struct gemini_rewound {
    size_t at; /* after so many of all messages ever written */
    size_t to; /* the first of them that it dropped; 0 if that is not recorded */
};

/* A line that is no JSON object, or is cut short, after so many of the messages. */
struct gemini_damaged {
    size_t at;
    struct slice line;
    bool torn; /* it has no newline */
};

struct gemini_chat {
    struct arena arena;
    struct buf text; /* owns the bytes */
    size_t front;    /* how many of them are from the beginning of the file */
    struct gemini_message *message;
    size_t n;
    /* every message ever written, in its newest form, in the order of their first lines, because
     * dropped turns changed files as well */
    struct gemini_message *ever;
    size_t ever_n;
    struct gemini_rewound *rewound;
    size_t rewound_n;
    struct gemini_damaged *damaged;
    size_t damaged_n;
    struct slice id, summary, start; /* decoded; may be empty */
    bool sub_agent;
    bool partial; /* the middle of the file was not read */
};

/* Reads at most `max` bytes from the beginning of a file and as many from its end. */
MUST_CHECK enum err_code gemini_chat_read(const char *path, size_t max, struct gemini_chat *out,
                                          struct err *e);
void gemini_chat_fini(struct gemini_chat *c);

enum gemini_kind { GEMINI_HIDDEN, GEMINI_PROMPT, GEMINI_ANSWER, GEMINI_NOTE };
/* The context, results of tools and empty messages are hidden. *text, in the arena or borrowed, is that of the
 * message. */
enum gemini_kind gemini_kind(const struct gemini_message *m, struct arena *a, struct slice *text);
/* The same for the JSON of a message. */
enum gemini_kind gemini_kind_of(struct slice raw, struct arena *a);
/* The text of a message, in the arena or borrowed. */
struct slice gemini_text(struct slice raw, struct arena *a);
/* The directory of a project by its folder, or by the path of a session in it, in the arena; empty if it is not
 * known. Hashes are compared with the directories of the scope, which may be NULL. */
struct slice gemini_directory(const struct store *st, const struct scope *scope,
                              struct slice folder, struct arena *a);
struct slice gemini_project(const struct session_ref *ref, const struct scope *scope,
                            struct arena *a);

store_folder_of_fn gemini_folder_of;
store_set_directory_fn gemini_set_directory;
store_adopt_fn gemini_adopt;

extern const struct jsonl_format gemini_format;
extern const struct store_ops gemini_ops;
extern const struct agent_hooks gemini_hooks;
extern const struct agent_mcp gemini_mcp; /* hooks.c */
extern const struct compose_ops gemini_compose;
/* The directory of the program; the caller frees it. */
char *gemini_default_path(const struct store_env *env);

/* The members of gemini_ops. */
store_enumerate_fn gemini_enumerate;
store_describe_fn gemini_describe;
/* The names of files with a session; an older session is one document. */
bool gemini_is_chat(const char *name);
bool gemini_is_document(const char *name);
/* The file is readable and begins with another id: two sessions may share the 8 digits in their names. */
bool gemini_is_of_another(int dir, const char *name, struct slice id, struct arena *a);
store_check_fn gemini_check;
store_check_store_fn gemini_check_store;
store_find_fn gemini_find;
store_at_path_fn gemini_at_path;
store_tail_fn gemini_tail;
store_load_fn gemini_load;

store_subagents_fn gemini_subagents;
bool gemini_is_id(struct slice id);
store_parts_fn gemini_files, gemini_shared;
store_subagent_fn gemini_subagent;
store_checkpoints_fn gemini_checkpoints;
store_plan_fn gemini_plan;
store_usage_fn gemini_usage;
store_edits_fn gemini_edits;

/* ---- history.c ---- */

/* The changes of a session and its sub-agents to files. Each edit of a tool is recorded with the
 * whole text before and after it. The program's own rewind drops turns but does not undo their
 * work, so their edits are included at their position in the log. */

struct gemini_edit {
    const char *path; /* absolute, lexically clean */
    struct slice before, after;
    bool is_new, known; /* not known: the record has no whole text */
    bool is_exact;      /* `before` has the line ends of the file; otherwise line feeds only */
    size_t at;          /* number of its (or its sub-agent's) message among all ever written */
    int64_t time_ms;
};

/* A command of the shell that may have changed files. */
struct gemini_shell {
    struct slice command; /* empty: not known */
    size_t at;
    int64_t time_ms;
};

struct gemini_history {
    struct gemini_chat chat;
    struct arena arena;
    struct gemini_edit *edit; /* in the order in which they were done */
    size_t edits;
    struct gemini_shell *shell;
    size_t shells;
    const char *cwd; /* NULL: not known */
};

MUST_CHECK enum err_code gemini_history_read(const struct store *st, const struct session_ref *ref,
                                             struct gemini_history *out, struct err *e);
void gemini_history_fini(struct gemini_history *h);
/* The number of a message among all that were ever written; the number of all if the id is unknown. */
size_t gemini_history_place(const struct gemini_history *h, struct slice id);
/* Returns true if a command ran in a message from `from` to before `to`. */
bool gemini_history_shell(const struct gemini_history *h, size_t from, size_t to);
/* Returns true if such a command could have changed the file before the edit. */
bool gemini_history_shell_before(const struct gemini_history *h, size_t from,
                                 const struct gemini_edit *edit);
/* Returns true if the program's own rewind may have reverted this edit between two messages. */
bool gemini_history_rewound(const struct gemini_history *h, const struct gemini_edit *edit,
                            size_t from, size_t to);
/* Returns true if a command from `from` on could have changed the permissions of the file. */
bool gemini_history_chmod(const struct gemini_history *h, size_t from, const char *path);

#endif
