#ifndef STORE_REWIND_RECORD_RECORD_H
#define STORE_REWIND_RECORD_RECORD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lite/io/file.h"
#include "store/fs/span.h"
#include "store/rewind/plan/beneath.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/plan/source.h"

/* A rewind under way, and afterwards its undo record: one directory below the state directory.
 *
 *   <state>/rewinds/<id>/plan        what is to be done, one JSON document; written before anything else, so
 *                                    that recovery can find every temporary file
 *                                    (before version 3: nothing about owners, extended attributes and
 *                                    directories; before version 4: nothing about the project's identity; from
 *                                    version 5 on, links and directories, and any name)
 *   <state>/rewinds/<id>/kept        the old contents: a copy of the bytes of every entry, one after the other
 *   <state>/rewinds/<id>/old/<n>     the file of entry n itself, if it could be moved here: an editor may still
 *                                    be writing to it
 *   <state>/rewinds/<id>/old/<n>.live the same, for a file that was written to since its bytes were kept, or that
 *                                    a program has open for writing: an undo restores the file itself
 *                                    (version 1: undo/<n> and undo/<n>.old instead of these two)
 *   <state>/rewinds/<id>/talk/       what is done to the conversation (change_part_do), before intent: see record.c
 *   <state>/rewinds/<id>/intent      the commit point: without it recovery discards, with it recovery completes
 *   <state>/rewinds/<id>/commit      every entry is done or in conflict: one letter per entry (d, c; u: abandoned
 *                                    before its outcome was known)
 *   <state>/rewinds/<id>/cleaned     no temporary file is left, and empty directories may be removed
 *   <state>/rewinds/<id>/done        everything is done
 *   <state>/rewinds/<id>/abandoned   the person abandoned it: recovery no longer completes it
 *
 *   crash before  plan     nothing happened            -> the directory is removed
 *                 intent   temps beside the targets    -> the conversation is restored; temps and directory
 *                                                         are removed
 *                 commit   some targets are exchanged  -> the rest is done
 *                 done     old files under temp names  -> they are removed
 *
 * Each of them is durable before the next step begins.
 *
 * A root or a directory that is missing, or is another one, proves nothing about the files in it: the project may have
 * been moved away, or its disk may not be mounted yet. Such an entry waits while the others continue, and a later start
 * finishes the record, or the person abandons it. */
enum { TX_VERSION = 5, TX_VERSION_FILES = 4 };
enum rewind_tx_phase { TX_NOTHING, TX_PLANNED, TX_INTENT, TX_COMMITTED, TX_DONE };

struct rewind_tx_entry {
    const char *path;              /* absolute */
    const char *root;              /* below which it is reached */
    const struct root_id *root_id; /* NULL if any directory of that name is accepted */
    enum rewind_action action;     /* RESTORE, CREATE or DELETE */
    bool mode_only;
    bool mixed;       /* the wanted bytes may include a person's */
    uint32_t mode;    /* RESTORE, CREATE: of the file afterwards, with its kind */
    int64_t mtime_ns; /* MTIME_NOW leaves it to the kernel */
    /* How many directories higher than the entry its temporary name is: above a directory that the rewind makes or
     * removes (rewind_tx_place_temps). */
    unsigned up;
    /* CREATE: missing directories on the way; DELETE: how many are removed if empty */
    unsigned dirs;
    bool waits; /* while it is applied, and not recorded: it could not be put in place yet */
    uint8_t wanted[SHA256_BYTES];
    struct rewind_seen seen;
    int64_t kept_at; /* where its bytes are in the record */
    /* For an undo: the file itself that is restored, in the record of `undoes`: "old/<n>.live". It has a name in both
     * places until everything is done. If NULL, a copy is restored. */
    const char *adopts;
    struct attrs was; /* what is removed (rewind_tx_has_was): its attributes, for an undo */
    enum rewind_outcome outcome;
    bool unknown; /* abandoned before its outcome was known: DONE, so that an undo compares it */
    /* Our files as they were when this process last touched them: the staged one, and the one that
     * was taken away. Zero in a recovery, which reads their bytes instead. */
    struct file_id staged, taken;
};

struct rewind_tx {
    struct arena arena; /* owns the texts and the entries */
    const char *id;
    const char *dir; /* <state>/rewinds/<id> */
    int64_t version; /* the version of the format of the record */
    const char *system, *session, *point, *undoes, *project;
    const char *store, *title; /* the store and the title of the session; NULL if not recorded */
    struct root_id *root_id;   /* the identity of the project, if it existed */
    int64_t at_ms;
    struct rewind_conversation conversation; /* its change: only while it is under way */
    struct rewind_tx_entry *entry;
    size_t n;
    struct dirs dirs; /* those that are removed or restored with the files in them */
    /* For an undo: files that already had the wanted state, and so are undone as well. A file that is neither here nor
     * an entry was left out. NULL: not recorded, by older versions. */
    const char **settled;
    size_t settled_n;
    /* its change of the conversation could not be undone, and the files were not changed */
    bool cut_short;
    bool abandoned;
    /* without INTENT, entries before this one may have files of ours beside them */
    size_t begun;
    enum rewind_tx_phase phase;
    rewind_progress_fn *progress; /* may be NULL */
    void *progress_arg;
};

/* Room for the path of a file in a record, whose directory may be as long as a path can be. A longer path is rejected
 * by the system and never truncated by us. */
enum { TX_PATH_MAX = PATH_MAX + NAME_MAX + 2 };
void rewind_tx_path(const char *dir, const char *name, char out[TX_PATH_MAX]);

/* Returns true if there is something to do for an entry of a preview. These entries become transaction entries, in
 * their order. */
bool rewind_tx_includes(const struct rewind_entry *x);
/* Reports that `done` of 2 n steps are done. */
void rewind_tx_progress(const struct rewind_tx *tx, size_t done);
/* Returns true if the record contains attributes of deleted files and directories. */
bool rewind_tx_has_attrs(const struct rewind_tx *tx);
/* Returns true if the record identifies the project's directory. */
bool rewind_tx_has_root(const struct rewind_tx *tx);
/* Returns true if links and directories are restored, and any name. */
bool rewind_tx_is_exact(const struct rewind_tx *tx);
/* Returns true if the record has the attributes of what the entry removes: with DELETE, and with CREATE in the place of a
 * directory. */
bool rewind_tx_has_was(const struct rewind_tx_entry *x);
/* Those of a link: its owner and time. */
MUST_CHECK enum err_code rewind_tx_link_attrs(struct rewind_tx_entry *x, int dir, const char *name,
                                              struct err *e);
/* Sets `up` of all entries. A file that goes leaves its directory at once if that goes, too, and a file that is made waits
 * until its directory is there: in between it has its temporary name above that directory. Such directories are the
 * entries that are a directory before and not afterwards, or the other way round. */
MUST_CHECK enum err_code rewind_tx_place_temps(struct rewind_tx *tx, struct err *e);
/* Sets order[i] to the entry that is applied as the i-th. */
void rewind_tx_sort(struct rewind_tx *tx, struct rewind_tx_entry **order);
/* Returns true if a directory above the entry is an entry that could not be made yet: only that gives it its mode. */
bool rewind_tx_waits_for_dir(const struct rewind_tx *tx, const struct rewind_tx_entry *x);
/* The path whose directory has the temporary name of an entry. */
void rewind_tx_temp_path(const struct rewind_tx_entry *x, char out[PATH_MAX]);
/* The temporary name of entry i, there. */
void rewind_tx_temp_name(const struct rewind_tx *tx, size_t i, char out[64]);
struct file_id rewind_tx_file_id(const struct stat *st);
struct file_id rewind_tx_seen_id(const struct rewind_seen *s);
/* The same device, inode and size. */
bool rewind_tx_same_file(struct file_id a, struct file_id b);

/* The error for a file that the preview saw and that could not be opened: ERR_STALE if errno means that it is gone or
 * another kind of file now, or else the error itself. */
MUST_CHECK enum err_code rewind_tx_open_error(const struct rewind_tx_entry *x, struct err *e);

/* ---- the contents of a record ---- */

/* Sets where the bytes of each entry are in <dir>/kept. Returns false if the sizes are impossible. */
bool rewind_tx_backup_layout(struct rewind_tx *tx);
/* Returns the source of the kept bytes of entry i. The path of their file is in the caller's buffer. */
struct rewind_source rewind_tx_backup_source(const struct rewind_tx *tx, size_t i,
                                             char file[TX_PATH_MAX]);
/* Creates the file for the bytes, to which staging appends; closing it makes it and its name durable. */
MUST_CHECK enum err_code rewind_tx_backup_open(const struct rewind_tx *tx, int *fd, struct err *e);
MUST_CHECK enum err_code rewind_tx_backup_close(const struct rewind_tx *tx, int fd, struct err *e);
/* Opens the directory of replaced files. */
MUST_CHECK enum err_code rewind_tx_old_open(const struct rewind_tx *tx, int *fd, struct err *e);
/* The name of entry i's file in it. */
void rewind_tx_old_name(const struct rewind_tx *tx, size_t i, bool live, char out[32]);
/* Writes bytes under such a name, durably except for the name: the caller syncs the directory. */
MUST_CHECK enum err_code rewind_tx_old_write(const struct rewind_tx *tx, const char *name,
                                             const struct span *from, struct err *e);
/* Returns true if the replaced file of entry i was written to, or may be. *out is its path and its name below the
 * record. */
struct tx_live {
    char path[TX_PATH_MAX];
    const char *name; /* in path */
    struct stat st;
};
bool rewind_tx_find_live(const struct rewind_tx *tx, size_t i, struct tx_live *out);
/* The path of the file that an entry adopts. */
void rewind_tx_adopted_path(const struct rewind_tx *tx, const struct rewind_tx_entry *x,
                            char out[TX_PATH_MAX]);

MUST_CHECK enum err_code rewind_tx_write_plan(const struct rewind_tx *tx, struct err *e);
/* Writes the mark of a phase, durably. */
MUST_CHECK enum err_code rewind_tx_mark(struct rewind_tx *tx, enum rewind_tx_phase phase,
                                        struct err *e);
/* Records are executed, so this returns ERR_UNSAFE if any part belongs to another user. The files below old/ are the
 * person's and are not checked. */
MUST_CHECK enum err_code rewind_tx_check_own(const char *dir, struct err *e);
/* Reads plan and marks. ERR_NOT_FOUND: there is no plan (TX_NOTHING). ERR_FORMAT: the record is damaged or belongs to
 * another user; every caller leaves it alone. */
MUST_CHECK enum err_code rewind_tx_read(const char *dir, const char *id, struct rewind_tx *out,
                                        struct err *e);
/* The same by the directory of all records. */
MUST_CHECK enum err_code rewind_tx_read_in(const char *records, const char *id,
                                           struct rewind_tx *out, struct err *e);
void rewind_tx_fini(struct rewind_tx *tx);

/* Makes names durable, once for a whole step, in every directory that has an entry. A directory that is gone, or is no
 * longer a real directory, is skipped. */
MUST_CHECK enum err_code rewind_tx_sync_dirs(const struct rewind_tx *tx, struct err *e);

/* ---- the steps; each can be done again after a crash ---- */

/* Writes undo copies and staged files. On failure rewind_tx_roll_back removes everything again. */
MUST_CHECK enum err_code rewind_tx_stage(struct rewind_tx *tx, const struct rewind_preview *p,
                                         struct err *e);
/* The conversation's part, before INTENT: these do it, undo what was done of it (for rewind_tx_roll_back, with the lock
 * of the change log held), and make the change that undoes it later. */
MUST_CHECK enum err_code rewind_tx_conversation_do(struct change_log *log, struct rewind_tx *tx,
                                                   struct err *e);
MUST_CHECK enum err_code rewind_tx_conversation_undo(const struct rewind_tx *tx, enum rollback *how,
                                                     struct err *e);
MUST_CHECK enum err_code rewind_tx_conversation_inverse(const struct rewind_tx *tx,
                                                        struct rewind_conversation *out,
                                                        struct err *e);
bool rewind_conversation_parse(const char *word, enum conversation_change *how);
/* Removes up to x->dirs directories above the path, innermost first, while they are empty. One that
 * may not be removed stays; a failing disk is an error. If `as` is not NULL, only directories with
 * the recorded attributes are removed, since others could not be restored as they were. */
MUST_CHECK enum err_code rewind_tx_prune(const struct rewind_tx_entry *x, const struct dirs *as,
                                         struct err *e);
/* Records the attributes of the directories that rewind_tx_prune may remove. */
MUST_CHECK enum err_code rewind_tx_record_dirs(struct rewind_tx *tx,
                                               const struct rewind_tx_entry *x, struct err *e);
/* Restores the times of directories that this process created again, once they no longer change. */
void rewind_tx_restore_dir_times(const struct rewind_tx *tx);
/* Before INTENT: undoes the change of the conversation and removes temporary files, created directories and the record.
 * The record stays if the conversation could not be restored: ROLLBACK_RETRY, for the next start; ROLLBACK_CONFLICT, as
 * the record of a finished rewind of the conversation alone. */
MUST_CHECK enum err_code rewind_tx_roll_back(struct rewind_tx *tx, enum rollback *how,
                                             struct err *e);
/* Takes a record from INTENT to DONE. */
MUST_CHECK enum err_code rewind_tx_finish(struct rewind_tx *tx, struct err *e);
/* Makes the error (ERR_IO) for an entry that has to wait, because its directory is missing, replaced or unsafe. */
MUST_CHECK enum err_code rewind_tx_wait_error(const struct rewind_tx_entry *x, enum err_code rc,
                                              struct err *e);
/* Abandons the record: nothing more is put in place. Temporary files are removed if they can be reached; `left` is
 * called for each that may remain. Ends in DONE. */
typedef enum err_code rewind_tx_left_fn(const char *path, void *arg, struct err *e);
MUST_CHECK enum err_code rewind_tx_abandon(struct rewind_tx *tx, rewind_tx_left_fn *left, void *arg,
                                           struct err *e);
/* Removes what staging may have left beside entry i. */
MUST_CHECK enum err_code rewind_tx_remove_temp(const struct rewind_tx *tx, size_t i, struct err *e);
/* Writes an empty mark that is not a phase, durably. */
MUST_CHECK enum err_code rewind_tx_write_mark(const struct rewind_tx *tx, const char *name,
                                              struct err *e);
bool rewind_tx_has_mark(const struct rewind_tx *tx, const char *name);

/* ---- backups (backup.c) ---- */

/* The backups of a record, for a person who wants the bytes themselves, even if an undo cannot restore them. */
struct rewind_backup {
    const char *path;
    enum rewind_action did; /* RESTORE, CREATE or DELETE */
    bool conflict;          /* it was not done */
    bool undone;            /* it was undone */
    bool has_bytes;         /* there was a file before */
    int64_t size;
    bool written; /* the old file was written to after the rewind; the source includes that, */
    int64_t now;  /* and has this many bytes in all */
    uint32_t mode;
    struct rewind_source source;
};

struct rewind_backup_list {
    struct arena arena; /* owns everything */
    const char *id;
    const char *project; /* NULL if it had none */
    struct rewind_backup *file;
    size_t n;
};

/* Reads the files of the record whose id begins with `id`. ERR_NOT_FOUND: no such record; ERR_USAGE: several. */
MUST_CHECK enum err_code rewind_backup_read(const struct store_env *env, const char *id,
                                            struct rewind_backup_list *out, struct err *e);
void rewind_backup_fini(struct rewind_backup_list *list);
/* Finds a file by its path: absolute, or relative to the project or to cwd. NULL if the record has no such file. */
const struct rewind_backup *rewind_backup_find(const struct rewind_backup_list *list,
                                               const char *path, const char *cwd);
/* Opens its bytes; the caller closes them with span_close. ERR_NOT_FOUND: there was no file before. */
MUST_CHECK enum err_code rewind_backup_open(const struct rewind_backup *file, struct span *out,
                                            struct err *e);

#endif
