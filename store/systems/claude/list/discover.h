#ifndef STORE_SYSTEMS_CLAUDE_LIST_DISCOVER_H
#define STORE_SYSTEMS_CLAUDE_LIST_DISCOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/io/window.h"
#include "store/api/session.h"
#include "store/systems/claude/claude.h"

/* The folders that contain the sessions of a scope (claude.md 1.2, 1.3). */

/* A project's folder below PROJECTS, and the path that it was found for, which is the project of sessions that record
 * no cwd. The path is empty if the scope is every project. */
struct project_folder {
    struct slice name; /* NUL-terminated */
    struct slice project;
};

struct project_folders {
    struct project_folder *folder; /* in the arena, in the order in which they are searched */
    size_t n;
};

enum discover_for {
    DISCOVER_LIST, /* folders for a listing */
    DISCOVER_ONE,  /* the same in the order in which one session is searched by its id */
    DISCOVER_COPIES, /* those of DISCOVER_LIST, and then the links beside the folders that they lead to */
    DISCOVER_UNREADABLE /* of the folders that only their sessions show to be of the scope, those that cannot be read */
};

/* A folder that is a link is one of them, but not beside the folder that it leads to. Folders of other projects belong
 * to a scope if their sessions do: a worktree that was removed, a directory that was moved and
 * left a link. A folder that is missing or cannot be read is left out; the only error is ERR_NOMEM. */
MUST_CHECK enum err_code claude_folders(const struct claude *c, const struct scope *scope,
                                        enum discover_for what, struct arena *a,
                                        struct project_folders *out, struct err *e);

/* Returns false, and why, if the folder's names cannot be read to the end, or its files cannot be accessed. A missing
 * folder has no sessions, and is no trouble. */
bool claude_can_list(const char *folder, struct err *trouble);

/* The folder that the client would use for the path now, which is the forced one if it is set. .p is NULL if out of
 * memory. */
struct slice claude_present_folder(const struct claude *c, struct slice path, struct arena *a);

/* The path that claude_folders would return for a folder of the scope; empty: no path. */
struct slice claude_project_of(const struct claude *c, const struct scope *scope,
                               struct slice folder, struct arena *a);

/* Different paths may share a folder. Returns true if a session whose rows name `cwd` (.p NULL: none) belongs
 * to another directory than the project for which its folder was found. */
bool claude_folder_collides(const struct scope *scope, struct slice project, struct slice cwd,
                            struct arena *a);

/* The first top-level `cwd` of a row that parses; *cwd is unchanged if no row has one. A session
 * belongs to the directory it was last moved to, else to this one (claude.md 1.2). Returns false if
 * out of memory. */
bool claude_first_cwd(struct slice head, struct arena *a, struct slice *cwd);

/* ---- the end of a session (last_turn.c) ---- */

/* Facts at the end of a session: how the last turn ended, whether the conversation continues in
 * another session, and which files a rewind could restore. */

struct last_turn {
    struct slice row;       /* the last message; .p is NULL: the tail contains none */
    bool interrupted;       /* a prompt or result without an answer, a call without a result */
    struct slice timestamp; /* the timestamp of that message, as written */
    struct slice model;     /* the model of the last answer: filled in by last_turn_model */
};

/* Both return false if out of memory. */
bool last_turn_read(struct slice tail, struct arena *a, struct last_turn *out);
/* The time of Qoder's newest row about the active leaf, which follows the last message, however long that is; TIME_NONE:
 * the tail has none. */
int64_t last_turn_leaf_ms(struct slice tail);
/* The model of a row that contains "model":; .p is NULL if the row is not an answer of a model. Called for the rows up
 * to the last message, newest first, until one has a model. */
bool last_turn_model(struct slice row, struct arena *a, struct slice *model);

/* The id of the session in which the conversation continues (claude.md 2.5); .p is NULL: none. The older
 * session is then not listed, provided that the newer one contains a conversation and the older one was not
 * continued as well. Returns false if out of memory. */
bool claude_continued_in(struct slice tail, struct arena *a, struct slice *id);
/* Returns true if the session with this id, in the same folder, contains a conversation. Also returns false if out of
 * memory. */
bool claude_continuation_exists(const struct session_ref *ref, struct slice id, struct arena *a);

/* The session in a row's forkedFrom; .p is NULL if the row has none. Returns false if out of
 * memory. */
bool claude_forked_from(struct slice row, struct arena *a, struct slice *id);

/* Reads a worktree-state row; *path stays empty if the session left its worktree. Returns false if the row does not
 * parse; *ok is false if out of memory. */
bool claude_worktree_of(struct slice row, struct arena *a, struct slice *path, bool *ok);
/* Reads a pr-link row into the pr_* of the session's row; they stay empty if it has no number. Returns false if out of
 * memory. */
bool claude_pull_request(struct slice link, struct arena *a, struct session_row *row);

/* Files that a rewind could restore, counted from the newest snapshot row and the deltas that follow it. Rows are added
 * newest first. */
struct restorable_files {
    struct slice path[32]; /* those seen so far; further ones are counted without comparing */
    unsigned n;
    bool whole; /* the snapshot was reached: n is final */
};
/* Returns true if no older row matters. */
bool claude_restorable_add(struct restorable_files *t, struct slice row, struct arena *a);

/* ---- side documents (sidecar.c) ---- */

/* Small documents in a session's side folder (claude.md 2.3, 5.3). A document that is missing, not a regular file, too
 * large or not understood is ignored. */

/* Most sessions have no side folder, so this one check saves the others. */
bool sidecar_folder_exists(const struct session_ref *ref, struct arena *a);

/* The title that a person gave, on one line; empty without a title. Returns false if out of
 * memory. */
bool sidecar_title(const struct session_ref *ref, struct arena *a, struct slice *title);

struct archive_mark {
    bool known;    /* the session has a mark */
    bool archived; /* and it is archived */
    int64_t at_ms;
};
/* Returns false if out of memory. */
bool sidecar_archive_mark(const struct session_ref *ref, struct arena *a,
                          struct archive_mark *mark);

/* Using a session takes it out of the archive. Returns true if the window contains a prompt of a
 * person after at_ms; *ok is false if out of memory. */
bool sidecar_has_prompt_after(struct slice window, int64_t at_ms, struct arena *a, bool *ok);

/* ---- prompts (prompt.c) ---- */

/* A person's prompt as the list shows it (claude.md 2.4): one line of at most 200 UTF-16 units,
 * with pasted blocks unwrapped. Texts that the agent wrote in the person's name are skipped. Texts
 * are in the arena. */
struct prompt {
    struct slice text;    /* .p is NULL: no prompt */
    struct slice command; /* the first slash command before it, shown if there is no prompt */
};

/* Each of these adds what it finds to *out, which is initially zeroed. All return false if out of memory. */

/* The content of a message: a string, or an array of blocks. */
MUST_CHECK bool prompt_of_content(struct slice content, struct arena *a, struct prompt *out);
/* A row that parses. */
MUST_CHECK bool prompt_of_row(struct slice row, struct arena *a, struct prompt *out);
/* The first prompt in a head window. */
MUST_CHECK bool prompt_first(struct slice head, struct arena *a, struct prompt *out);

/* The text between an opening and the next closing tag, both of which are given with their brackets. */
bool prompt_between(struct slice text, const char *open, const char *close, struct slice *inner);
/* The prompt, else the command. */
/* Leaves out every pair of tags with a lower-case name, and what is between them, as the client's picker does with
 * titles. *out stays empty if nothing is left out, or nothing would be left. Returns false if out of memory. */
MUST_CHECK bool prompt_without_tags(struct slice title, struct arena *a, struct slice *out);
/* The same of a whole file, for agents other than Claude Code, whose SDK leaves out a session without a title in the
 * windows: a prompt that ends behind the window is found, within 8 MiB. `front` gets the bytes, which must last as long
 * as the prompt. */
MUST_CHECK bool prompt_first_of_file(const struct file *file, struct buf *front, struct arena *a,
                                     struct prompt *out);
struct slice prompt_or_command(const struct prompt *prompt);
/* "Image" or "Document" if the first user row with one of them has nothing else to show; else empty. */
struct slice prompt_media(struct slice head);

#endif
