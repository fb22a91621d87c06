#ifndef STORE_SYSTEMS_EXATHENA_EXATHENA_H
#define STORE_SYSTEMS_EXATHENA_EXATHENA_H

#include <stdbool.h>

#include "store/api/store.h"
#include "store/systems/common/jsonl.h"

/* lengths of the ids that the library generates */
enum { EXATHENA_ID = 22, EXATHENA_EVENT_ID = 11 };

/* The sessions of ExAthena (formats/exathena.md): its path is <project>/.exathena, with
 *
 *   sessions/<id>.jsonl                       the log: one event per line, in the order of events
 *   sessions/<id>/sidechains/<agent>.jsonl    runs of sub-agents, one line each
 *   file-history/<id>/<sha of path>/          the files before each edit (saved_files.c)
 *
 * There is no metadata: no title, no tag, no archive mark. A line with a key that the library does
 * not know makes its own rewind fail half-way, so no keys are added. The name of a session is its
 * first prompt, or its id. A host may choose another root for the logs (its option `root:`), which
 * does not identify a project: then base.path is sessions/ itself, and file-history/ is where the
 * library would look for it, in the .exathena of the directory that it runs in: the nearest one
 * above the root, else above our own directory.
 *
 * The library reads, writes and cuts without locks. Immutable after open; threads may share it. */
struct exathena {
    struct jsonl_store jsonl; /* its folder is <path>/sessions */
    char *history;            /* <path>/file-history; need not exist */
    char *project;            /* the directory that contains .exathena */
    bool own_root;            /* the logs are directly in base.path */
    /* own_root without an .exathena above the root: project is our own directory, which no session
     * refers to */
    bool no_project;
};

/* Downcast; asserts that the store is one of this system. */
const struct exathena *exathena_of(const struct store *st);

/* Returns true if this can be the id of a session: it must name one file, and be usable on a
 * command line. */
bool exathena_is_id(struct slice id);
/* A new id as the library generates them: base64url of random bytes, n characters; ours never begin
 * with '-'. */
void exathena_generate_id(char *out, size_t n);
/* <path of the transcript without its suffix>/<rest>, in the session's own directory; NULL if out
 * of memory. */
const char *exathena_side_path(const struct session_ref *ref, const char *rest, struct arena *a);

/* Returns true if the scope includes the store's project, to which all its sessions belong: the
 * scope names the project, a directory inside it, or a worktree. */
bool exathena_in_scope(const struct store *st, const struct scope *scope);

extern const struct index_keys exathena_keys; /* in event.c */
extern const struct jsonl_format exathena_format;

extern const struct store_ops exathena_ops;

/* The members of exathena_ops. */
store_at_path_fn exathena_at_path;
store_blocks_fn exathena_blocks;
store_messages_fn exathena_messages;
store_restore_fn exathena_restore;
store_subagents_fn exathena_subagents;
store_describe_subagents_fn exathena_describe_subagents;
store_subagent_fn exathena_subagent;

/* Changes: each function only plans. */
store_fork_fn exathena_fork;
store_parts_fn exathena_parts;
store_copies_fn exathena_copies;
store_live_fn exathena_live;

/* Looking for damage. */
store_check_fn exathena_check;
store_leftovers_fn exathena_leftovers;
store_check_store_fn exathena_check_store;

/* Rewind. */
store_edits_fn exathena_edits;
store_checkpoints_fn exathena_checkpoints;
store_plan_fn exathena_plan;
store_plan_inferred_fn exathena_plan_inferred;
store_plan_conversation_fn exathena_plan_conversation;

/* Writing, for hosts. */
store_make_fn exathena_make;
store_create_fn exathena_create;
store_append_fn exathena_append;
store_host_row_fn exathena_host_row;
store_checkpoint_fn exathena_checkpoint;

/* ---- edits.c ---- */

/* What a log records of the changes to files: the edits of its tools and the calls of commands, with the prompts
 * between them. A tool's result may contain the file before and after the edit (`edit` always, `write` since v0.12.2,
 * with an empty text for a new file); for other edits only the path is known. */
struct exathena_prompt {
    struct slice id, text;
    size_t line;
    int64_t time_ms;
};

struct exathena_edit {
    const char *path; /* absolute, lexically clean */
    size_t line;
    int64_t at;                 /* offset of that line in the log, */
    uint32_t length;            /* and its length */
    bool known;                 /* before and after are recorded */
    struct slice before, after; /* filled in by exathena_history_read_texts */
};

struct exathena_history {
    struct arena arena; /* owns everything */
    struct exathena_prompt *prompt;
    size_t prompts;
    struct exathena_edit *edit; /* in the order of the log */
    size_t edits;
    size_t *shell; /* lines with a call of a command */
    size_t shells;
};

MUST_CHECK enum err_code exathena_history_read(const struct session_ref *ref, const char *project,
                                               struct exathena_history *out, struct err *e);
void exathena_history_fini(struct exathena_history *s);

/* Both return NULL if there is no such edit. The first one is searched from line `from` on. */
const struct exathena_edit *exathena_history_last_edit(const struct exathena_history *s,
                                                       const char *path);
const struct exathena_edit *exathena_history_first_edit(const struct exathena_history *s,
                                                        const char *path, size_t from);
/* Reads before and after of an edit that has `known` set, into the arena. ERR_STALE: the log changed since it was
 * read. */
MUST_CHECK enum err_code exathena_history_read_texts(const struct session_ref *ref,
                                                     const char *project, struct exathena_edit *w,
                                                     struct arena *a, struct err *e);

/* ---- saved_files.c ---- */

/* The files before a session's edits, in file-history/<session>/<sha>/ with
 *
 *   path             the absolute path, without a newline; <sha> is the SHA-256 of these bytes
 *   <v>.bin          the file before an edit, v = 0, 1, 2, ...; not written if equal to the newest
 *   <v>.tombstone    empty, beside an empty <v>.bin: there was no file
 *
 * Other names are not versions and are left alone. */
struct saved_file {
    const char *dir;
    const char *path;  /* NULL: cannot be read */
    const char *why;   /* why the copies cannot be used; NULL: they can */
    bool first;        /* there is a 0.bin */
    bool first_absent; /* ... and a 0.tombstone */
    int64_t newest;    /* highest version, -1: none */
    int64_t newest_tombstone;
    bool newest_absent; /* ... of the same version */
    size_t versions;
    size_t strange; /* other names */
};

struct saved_files {
    struct saved_file *file; /* in the arena; by path */
    size_t n;
};

enum { SHA_HEX = 64 };

/* A session without saved files is not an error. Texts are in the arena. */
MUST_CHECK enum err_code saved_files_read(const struct exathena *x, struct slice session,
                                          struct arena *a, struct saved_files *out, struct err *e);
/* The name of the directory for a path. */
void saved_name(struct slice path, char hex[SHA_HEX + 1]);
/* Sets *is if these bytes equal the newest version. */
MUST_CHECK enum err_code saved_newest_is(const struct saved_file *f, struct slice bytes, bool *is,
                                         struct err *e);

#endif
