#ifndef STORE_REWIND_PLAN_REWIND_H
#define STORE_REWIND_PLAN_REWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/env.h"
#include "store/journal/change.h"
#include "store/rewind/plan/beneath.h"

/* The conversation's part of a rewind: a change (store/journal/change.h) after which the conversation ends before the
 * prompt of the point. A system plans it (store_ops.plan_conversation); the engine does it together with the files.
 * Both are one operation: they are done together or not at all, and one undo reverts both. */
enum conversation_change {
    CONVERSATION_NONE,      /* nothing to do: it ends there already */
    CONVERSATION_TRUNCATE,  /* what came after is cut off; the undo record has it */
    CONVERSATION_RESUME_AT, /* it stays where it is, and the session continues from before it */
    CONVERSATION_FORK,      /* a new session ends there */
    CONVERSATION_REFS,      /* it stays as it is; git refs of its system are moved back */
};

struct rewind_conversation {
    struct change *change; /* owned; NULL if the conversation stays as it is */
    enum conversation_change how;
    size_t kept;    /* messages that the conversation has afterwards */
    size_t dropped; /* messages that it has now and not afterwards */
    /* kept messages that it does not have now, because an undo brings messages back */
    size_t added;
};

/* Returns true if the conversation itself changes. */
bool rewind_conversation_moves(enum conversation_change how);
/* "truncate", "resume-at", ... as `rewind --json` prints it. */
const char *rewind_conversation_name(enum conversation_change how);
void rewind_conversation_fini(struct rewind_conversation *t);

/* Rewinding: one engine for every system, in four steps.
 *
 *   plan     a system lists the paths, with the bytes and mode that each should get (or that it
 *            should not exist) and the source of those bytes. It reads its own store and nothing of the user's.
 *   preview  the engine examines each path once: what a rewind would do to it or why it will not, the lines
 *            it adds and removes, what was edited by hand since; and a fingerprint of everything it read. It writes
 *            nothing.
 *   apply    does what the preview shows, and only that: whatever changed since is a conflict and
 *            stays.
 *   undo     is a rewind to what apply kept. It can be undone too.
 *
 * The guarantees (docs/safety.md, part A):
 *
 * 1. No byte of a user's file is replaced or removed before it is in the undo record, synced.
 * 2. Nothing outside the plan's roots is read, written or removed, whatever happens to directories
 *    meanwhile.
 * 3. One durable record decides: before INTENT a crash leaves the old state, after it recovery completes the new one.
 * 4. Each file that is undone, refused or in conflict is reported; nothing is removed because a record is missing.
 *
 * The conversation may be rewound together with the files (plan.conversation): both are one operation. It is changed
 * before INTENT, and changed back if INTENT is not reached.
 *
 * The dry run, the screen and apply use one structure, so what was shown is what happens. */

/* ---- plan: made by the system ---- */

/* Besides regular files, a rewind knows links and directories where snapshots of ours show them (rewind_target.exact).
 * Their kind is S_IFLNK or S_IFDIR, and 0 for a regular file. The bytes of a link are its text, those of a directory
 * are none, and the hash of either is never that of a file (source_mark_kind). The contents of a directory are
 * other targets. */
static inline uint32_t rewind_kind_of(uint32_t mode)
{
    return S_ISLNK(mode) || S_ISDIR(mode) ? mode & S_IFMT : 0;
}

/* Where the wanted bytes are: a file (never through a link; its SHA-256 is checked if known), a git blob, or memory
 * (a merge, a selection of hunks). */
struct rewind_source {
    const char *file; /* absolute; NULL for bytes */
    bool is_part;     /* part_n bytes of the file from part_at, not all of it */
    int64_t part_at, part_n;
    /* A program may be writing to the file; its contents are the bytes at the time of reading. */
    bool grows;
    struct slice bytes; /* with file NULL; in the plan's arena */
    uint32_t kind;      /* what has these bytes */
    /* Or a blob in a git repository: the repository's objects directory, and the blob's id in hex. */
    const char *objects, *blob;
    /* 64 hex digits, or NULL if not known. Alone, with neither file nor bytes (only in `last`), the
     * hash is all that is known. */
    const char *sha256;
};

enum rewind_want {
    REWIND_BYTES,   /* the file gets these bytes */
    REWIND_ABSENT,  /* the file is removed, because a record shows that it did not exist */
    REWIND_UNKNOWN, /* the record is missing or damaged: refused, with why */
};

/* Another session that worked on the file. Only the copies of the plan's session are used. */
struct rewind_other {
    const char *session;
    const char *title;  /* WTF-8; NULL if it has none */
    const char *system; /* its store's name, if it differs from the plan's; else NULL */
    int64_t at_ms;
    const struct session_ref *ref; /* the session itself, if its edits can be read; else NULL */
};

struct rewind_target {
    const char *path; /* absolute, lexically clean */
    /* A snapshot of ours shows the path and what was there: links and directories are restored as such, and any name is
     * allowed. */
    bool exact;
    enum rewind_want want;
    struct rewind_source source;
    /* REWIND_ABSENT: how many directories above it are removed if they become empty */
    unsigned prune;
    bool has_mtime;
    int64_t mtime_ns; /* with has_mtime: set on the restored file (an undo restores times) */
    bool has_mode;
    /* permission bits; without has_mode those of the present file stay, 0644 for a new one */
    uint32_t mode;
    /* What is not known of its permissions at the point, a literal. NULL: they are recorded, or, without a mode, not at
     * all. */
    const char *permissions;
    /* REWIND_BYTES, for a file that is restored: its owner and extended attributes; NULL for those of a new file */
    const struct attrs *like;
    /* its real directory when it was recorded; NULL if not recorded */
    const char *real_parent;
    /* For an undo: the replaced file itself, by its name in the record of `undoes`. The file itself is restored,
     * because a program may still be writing to it. If NULL, a copy of the source is restored. */
    const char *adopts;
    const char *why; /* REWIND_UNKNOWN: what is wrong, for a person */
    /* A copy is recorded, but it is missing, not a valid one, or cut short (doubt). */
    bool copy_lost;
    /* Why the wanted bytes may not be what the file contained then; it is held back until a person allows it. NULL: no
     * doubt. */
    const char *doubt;
    /* When the session found the wanted state, if that was after the point; else 0. is_late: in a later turn, so
     * whether the file changed before is not known. */
    int64_t found_ms;
    bool is_late;
    bool is_shown; /* is_late: something else shows this state at the point (rewind_check_found) */
    /* REWIND_BYTES: it was removed since, and the session does not record whether it was a link */
    bool may_be_link;
    /* the session had not changed it before */
    bool is_first;
    /* The source is only the text of the file, without its line ends or what was not UTF-8 in it: a commit that has the
     * same text has the bytes. With REWIND_UNKNOWN, nothing else has. */
    bool is_text;
    bool conflict; /* REWIND_UNKNOWN: the record is sound, but later changes are in the way */
    /* The file as the newest snapshot knows it, to distinguish the agent's work from a person's: a
     * present file that is neither this nor the wanted one was edited by hand. If nothing is known,
     * the file is held back too. */
    bool has_last;
    bool last_absent;
    struct rewind_source last;
    /* `last` is what the session found before it changed the file in a way that it does not record, so a different file
     * may be the session's work or a person's. */
    bool last_is_older;
    /* The wanted bytes contain some of the present ones that may be a person's (hunks, a merge). */
    bool mixed;
    /* The state in which our own newest rewind or undo left the file, if that was not a person's
     * work (rewind_plan_known_state). */
    bool has_left, left_absent;
    const char *left_sha256;
    /* The state in which the session's host left the file, as it says itself (store/rewind/record/host_work.h): "" if
     * there was no file. NULL: it said nothing. */
    const char *work_sha256;
    const struct rewind_other *other; /* another session that changed it since the point; NULL */
};

struct rewind_preview;

struct rewind_plan {
    struct arena arena; /* owns everything */
    const char *system; /* the name of its store: "claude" */
    /* what the store has (store_format), in the arena; NULL: that of the name */
    const char *format;
    const char *session;
    const char *point;  /* the requested message or checkpoint */
    const char *undoes; /* the record that this plan undoes, or NULL */
    /* in the arena; its store stays open. NULL: the edits of the session are not read */
    const struct session_ref *ref;
    const char *root; /* the session's project: anything outside needs allow_outside */
    bool wide; /* the root is not a project's directory: files below it are outside too (plan.h) */
    const char *store, *title;     /* the session's store and title, for the record; NULL */
    struct beneath_at record_at;   /* where the undo record will be; dev 0 if not known */
    const struct root_id *root_id; /* for an undo: which directory it was; NULL if not known */
    struct rewind_target *target;
    size_t n;
    /* attributes of directories that are restored with their files; others are made as usual */
    struct dirs dirs;
    const char **note; /* for a person: what is not covered ("this turn ran shell commands: ...") */
    size_t notes;
    int64_t point_ms; /* when the point was; TIME_NONE if not known */
    /* what happens to the conversation; empty if only files are restored */
    struct rewind_conversation conversation;
    /* The names of the counts of restored files and dropped events in the result of the system's own library, for
     * programs that read it; literals, or NULL. */
    const char *restored_key, *dropped_key;
    /* May be NULL. Called by apply, if there is something to do, before any file of the user is touched. The system
     * saves the present state in its own way, under the id of the record. An error ends the apply. */
    enum err_code (*before)(const struct rewind_preview *preview, const char *id, struct err *e);
};

MUST_CHECK enum err_code rewind_plan_add(struct rewind_plan *plan, const struct rewind_target *t,
                                         struct err *e);
/* Sets the mode from that in a git tree, which stores only whether a file is executable: the other permissions of the
 * present file stay. */
void rewind_target_git_mode(struct rewind_target *t, unsigned mode);
MUST_CHECK enum err_code rewind_plan_note(struct rewind_plan *plan, const char *text,
                                          struct err *e);
/* Notes that the system does not record permissions, if files get bytes back without them. */
MUST_CHECK enum err_code rewind_plan_note_modes(struct rewind_plan *plan, struct err *e);
void rewind_plan_fini(struct rewind_plan *plan);
/* Returns true if the path belongs to the plan's project. */
bool rewind_is_inside(const struct rewind_plan *plan, const char *path);

/* ---- preview: what it would do ---- */

enum rewind_action {
    REWIND_RESTORE, /* the file exists and gets other bytes or another mode */
    REWIND_CREATE,  /* it does not exist and is created */
    REWIND_DELETE,
    REWIND_UNCHANGED, /* it has the wanted state already */
    REWIND_REFUSED,   /* see rule and why */
};

/* Why a path is refused. A person may allow those that name an option. */
enum rewind_rule {
    REWIND_RULE_NONE,
    REWIND_RULE_EDITED,  /* changed by hand since the last snapshot: allow_edited */
    REWIND_RULE_UNKNOWN, /* nothing shows that the session wrote it: allow_edited */
    REWIND_RULE_OUTSIDE, /* outside the session's project: allow_outside */
    REWIND_RULE_SENSITIVE, /* agent settings, hooks, shell start-up files, .ssh: allow_sensitive, by typed consent */
    REWIND_RULE_PATH,      /* not a clean path, or inside .git in any spelling */
    REWIND_RULE_LINK,      /* a symbolic link, or one on the way there */
    REWIND_RULE_HARD_LINK, /* the file has other names */
    REWIND_RULE_TYPE,      /* a directory, FIFO, socket or device is in the way */
    REWIND_RULE_PARENT,    /* its directory is not the recorded one */
    /* the wanted bytes are missing, a link, or do not match their checksum; or it would be deleted while those of
     * another file are */
    REWIND_RULE_SOURCE,
    REWIND_RULE_CONFLICT, /* later changes cannot be separated from those to be undone */
    REWIND_RULE_OPEN,     /* a program has it open for writing, and its writes could not be kept */
    REWIND_RULE_ACCESS, /* it cannot be read or written: permissions, attributes that cannot be kept */
};

/* The file at a path when the preview examined it. */
struct rewind_seen {
    bool exists;
    uint64_t dev, ino;
    int64_t size, mtime_ns, ctime_ns;
    uint32_t mode;      /* permission bits, and the kind */
    uint8_t sha256[32]; /* the SHA-256 of the present bytes; zero if they were not read */
};

struct rewind_entry {
    const struct rewind_target *target;
    enum rewind_action action;
    enum rewind_action would; /* for a refused entry: what it would be if it were allowed */
    enum rewind_rule rule;
    const char *why; /* NULL unless refused */
    bool edited;     /* by others than the session since the last snapshot, as far as is known */
    const struct rewind_other *later; /* edited: the session that changed it after this one; NULL */
    /* edited: a command of the session itself names the file or may have changed it, and ran after its last edit */
    enum rewind_by_command { BY_NO_COMMAND, BY_COMMAND_PERHAPS, BY_COMMAND } by_command;
    /* A program has it open for writing, and will write to the replaced file. */
    bool held_open;
    bool unproven; /* nothing shows whose work it is */
    /* A file or a link has the place of a directory above it, and another entry has to make that directory first. */
    bool behind;
    bool binary;
    bool mode_only;
    bool chosen; /* takes part in apply: every entry that is not refused, unless unticked */
    /* lines that the rewind adds and removes; equal to GNU diff's */
    unsigned insertions, deletions;
    struct rewind_seen seen;
    uint8_t wanted[32]; /* SHA-256 and size of the wanted bytes; zero without wanted bytes */
    int64_t wanted_size;
};

/* Returns true if it is not about regular files alone, so that it has no hunks. */
static inline bool rewind_has_kind(const struct rewind_entry *x)
{
    return (x->target->source.kind | rewind_kind_of(x->seen.mode)) != 0;
}
/* "link", "directory", "file": what is there, and what a rewind puts there; NULL: nothing. */
const char *rewind_kind_now(const struct rewind_entry *x);
const char *rewind_kind_wanted(const struct rewind_entry *x);

/* The progress of an apply, called from its thread. Each file is staged first and put in place later, so there are two
 * steps for each file. */
typedef void rewind_progress_fn(size_t done, size_t all, void *arg);

struct rewind_options {
    bool allow_outside, allow_edited, allow_sensitive;
    const char *const *only; /* paths that were chosen; NULL for all */
    size_t only_n;
    rewind_progress_fn *progress; /* may be NULL */
    void *progress_arg;
};

struct rewind_preview {
    struct arena arena;
    const struct rewind_plan *plan; /* borrowed; it must outlive the preview */
    struct root_id root_id;         /* the identity of plan->root; ino 0 if it is gone */
    bool moved;                     /* plan->root is gone, so its files are nowhere */
    struct rewind_options options;  /* borrowed */
    struct rewind_entry *entry;     /* in the order of the plan */
    size_t n;
    /* a hash over every path, its present and wanted bytes and its action: see plan.h */
    char id[65];
    unsigned insertions, deletions; /* the lines of what is chosen and not refused */
    size_t refused;
};

MUST_CHECK enum err_code rewind_preview(const struct rewind_plan *plan,
                                        const struct rewind_options *options,
                                        struct rewind_preview *out, struct err *e);
void rewind_preview_fini(struct rewind_preview *p);

/* ---- apply ---- */

enum rewind_outcome {
    REWIND_DONE,
    REWIND_SKIPPED, /* refused or not chosen: untouched */
    /* changed during the apply: the user's bytes are still in place, or in the undo record */
    REWIND_CONFLICT,
};

struct rewind_result {
    struct arena arena;
    char undo[40];                /* names the undo record; "" if there was nothing to do */
    enum rewind_outcome *outcome; /* one for each entry of the preview */
    size_t conflicts;
};

/* Applies a preview, after recovering what an earlier run left. ERR_LOCKED: another rewind is running. ERR_STALE:
 * something changed since the preview, and nothing was done. ERR_IO before INTENT: nothing was done. After INTENT a
 * failure is ERR_IO with "unfinished" in the text; the next start continues. Conflicts are not failures of the call:
 * the rest is done, and the result lists them. */
MUST_CHECK enum err_code rewind_apply(const struct store_env *env,
                                      const struct rewind_preview *preview,
                                      struct rewind_result *out, struct err *e);
void rewind_result_fini(struct rewind_result *r);

/* ---- a scratch copy ---- */

struct rewind_scratch_copy {
    struct arena arena;
    size_t written;
    size_t left_out; /* saved copies that are missing or damaged, names that are not file names */
};

/* Writes the files of the plan, as they were then, below an absolute directory, which is created or must be empty
 * (ERR_STALE). Nothing of the user's is touched. Files from outside the project go below <dir>/outside. After a failure
 * the files written so far stay. */
MUST_CHECK enum err_code rewind_write_scratch_copy(const struct rewind_plan *plan,
                                                   const struct rewind_options *options,
                                                   const char *dir, struct rewind_scratch_copy *out,
                                                   struct err *e);
void rewind_scratch_copy_fini(struct rewind_scratch_copy *r);

/* A copy of a whole project below temp_dir, whose files are set to one point of a session after another. Nothing of the
 * user's is written: .git is left out, so that no command in the copy changes the repository, and absolute links into
 * the project lead into the copy. Sockets, FIFOs and devices are left out, too. */
struct scratch_tree;

struct scratch_state {
    uint8_t sha256[32]; /* equal for equal states of one copy */
    size_t changed;     /* files that are not as they were copied */
    /* files of the plan whose states are not known, and which stay as they were copied */
    size_t unknown;
};

MUST_CHECK enum err_code scratch_tree_open(const char *root, const char *temp_dir,
                                           struct scratch_tree **out, struct err *e);
/* Removes the copy. NULL is fine. */
void scratch_tree_close(struct scratch_tree *t);
/* The directory that stands for the project. */
const char *scratch_tree_path(const struct scratch_tree *t);
/* Gives the files of the plan the content of its point, and those that an earlier call set the content that they were
 * copied with. plan NULL: all files are as they were copied. */
MUST_CHECK enum err_code scratch_tree_set(struct scratch_tree *t, const struct rewind_plan *plan,
                                          struct scratch_state *out, struct err *e);
/* The paths that the options choose, borrowed from them. */
struct rewind_chosen {
    struct slice_set path;
    bool all;
};
MUST_CHECK enum err_code rewind_chosen_init(struct rewind_chosen *c,
                                            const struct rewind_options *options, struct err *e);
bool rewind_is_chosen(const struct rewind_chosen *c, const char *path);
void rewind_chosen_fini(struct rewind_chosen *c);

/* ---- undo records and recovery ---- */

struct rewind_record {
    const char *id;
    const char *system, *session, *point;
    const char *undoes; /* the record that this one undid, or NULL */
    const char *store,
        *title; /* the store and the title of the session at that time; NULL if not recorded */
    const char *project; /* its directory; NULL if it had none */
    int64_t at_ms;
    int64_t bytes; /* on disk */
    size_t restored, created, deleted;
    enum conversation_change how; /* what was done to the conversation */
    size_t kept, dropped;
    /* it was interrupted, and another program wrote to the conversation before it could be changed back */
    bool cut_short;
    bool interrupted, undone;
    /* A part of it was undone: `undoable` has the files, sorted, that can still be undone; the conversation was undone
     * too. */
    bool partly, conversation_undone;
    const char **undoable;
    size_t undoable_n;
    bool abandoned; /* the person abandoned it */
    bool empty;     /* an undo would have nothing to revert */
};

struct rewind_records {
    struct arena arena;
    struct rewind_record *record; /* newest first */
    size_t n;
    char unread[40]; /* the newest that cannot be read or is being made; "" */
    bool older;      /* there are more that were not wanted */
};

MUST_CHECK enum err_code rewind_records_read(const struct store_env *env,
                                             struct rewind_records *out, struct err *e);
void rewind_records_fini(struct rewind_records *r);

/* Which records are removed: those after the newest `keep`, those before a time, and the oldest as long as all together
 * are larger than `bytes`. `each`: only those that all three limits select. `doubts`: the person did not name the age, so
 * it counts from the newest record, which is older than a clock that has jumped ahead. */
struct rewind_prune_rule {
    size_t keep;
    int64_t before_ms, bytes;
    bool each, doubts;
};
/* More than the newest 200, 90 days older than the newest, or more than 1 GiB. */
struct rewind_prune_rule rewind_prune_defaults(int64_t now_ms);

/* Removes records for good; *out has those that were removed, newest first, or with dry_run those that would be. The
 * newest of a project stays, and so do one that is not finished or cannot be read, and an undo of one that stays. After
 * a crash each record is whole or gone. ERR_LOCKED: a rewind is under way. */
MUST_CHECK enum err_code rewind_prune(const struct store_env *env,
                                      const struct rewind_prune_rule *rule, bool dry_run,
                                      struct rewind_records *out, struct err *e);
/* Completes or discards what a crash left, and counts it in *recovered. Every command that could be affected calls
 * this. */
MUST_CHECK enum err_code rewind_recover(const struct store_env *env, size_t *recovered,
                                        struct err *e);
/* The same, with the records that have to wait: a project that was moved away, a disk that is not mounted or cannot be
 * written. They block only their own files. ERR_OK if only such records remain. */
enum { REWIND_WAITING_MAX = 8 };
struct rewind_recovery {
    size_t recovered, waiting;
    struct rewind_waiting { /* the first of those that wait, and why */
        char id[40];
        struct err why;
    } first[REWIND_WAITING_MAX];
};
MUST_CHECK enum err_code rewind_recover_all(const struct store_env *env,
                                            struct rewind_recovery *out, struct err *e);
/* Abandons a waiting rewind: what it has done stays and can be undone, nothing more is done, and its bytes stay in the
 * record. ERR_NOT_FOUND: no such record. ERR_STALE: it is not waiting. */
struct rewind_abandoned {
    struct arena arena;
    /* temporary files that may still exist, because they could not be reached */
    const char **remaining;
    size_t n;
};
MUST_CHECK enum err_code rewind_abandon(const struct store_env *env, const char *id,
                                        struct rewind_abandoned *out, struct err *e);
void rewind_abandoned_fini(struct rewind_abandoned *a);
/* Refuses the targets that a waiting record is using. Called for every plan. */
MUST_CHECK enum err_code rewind_plan_hold(const struct store_env *env, struct rewind_plan *plan,
                                          struct err *e);
/* The plan that undoes a record: its targets are what apply kept. id NULL is the newest that is not undone. */
MUST_CHECK enum err_code rewind_undo_plan(const struct store_env *env, const char *id,
                                          struct rewind_plan *out, struct err *e);
/* The same, even if the record was undone already, whose files a later undo may have left as the record did. */
MUST_CHECK enum err_code rewind_undo_plan_again(const struct store_env *env, const char *id,
                                                struct rewind_plan *out, struct err *e);

/* What a person selected in a preview: whole files or some hunks of one, and what they consented to. */

/* Lines of context around a hunk. They determine which changes form one hunk, so every view that offers hunks uses this
 * number. */
enum { REWIND_CONTEXT = 3 };

struct rewind_selection {
    bool ticked;
    bool consent;     /* overrides the rule that refuses the file, if a person may */
    const bool *hunk; /* which hunks of a restored file; NULL for all of it */
    size_t hunks;
};

/* Returns true if some hunks of the file are left out. */
bool rewind_is_partial(const struct rewind_selection *pick);
/* Returns true if a person may override the rule that refuses it. */
bool rewind_may_consent(const struct rewind_entry *entry);

/* Like rewind_apply, with one selection for each entry of the preview, which is not changed. Also returns ERR_STALE if
 * the hunks of a file are no longer those that the selection refers to. */
MUST_CHECK enum err_code rewind_apply_selected(const struct store_env *env,
                                               const struct rewind_preview *preview,
                                               const struct rewind_selection *pick,
                                               struct rewind_result *out, struct err *e);

#endif
