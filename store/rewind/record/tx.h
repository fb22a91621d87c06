#ifndef STORE_REWIND_RECORD_TX_H
#define STORE_REWIND_RECORD_TX_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lite/io/file.h"
#include "store/rewind/plan/beneath.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/plan/source.h"

/* A rewind on its way, and afterwards its undo record: one directory below the state directory.
 *
 *   <state>/rewinds/<id>/plan        what is to be done, one JSON document; written before anything else, so
 *                                    that recovery can find every temporary file
 *                                    (before version 3: nothing of owners, extended attributes and directories;
 *                                    before version 4: nothing of which directory the project was)
 *   <state>/rewinds/<id>/kept        what lay there before: a copy of the bytes of every entry, one behind the other
 *   <state>/rewinds/<id>/old/<n>     the file of entry n itself, where it could be moved here: an editor may still
 *                                    be writing into it
 *   <state>/rewinds/<id>/old/<n>.live the same, of a file that was written to since its bytes were kept, or that a
 *                                    program has open for writing: an undo gives back the file itself
 *                                    (version 1: undo/<n> and undo/<n>.old instead of these two)
 *   <state>/rewinds/<id>/talk/       what is done to the conversation (store/journal/change.h), before intent: see conversation_change.c
 *   <state>/rewinds/<id>/intent      the one decision: without it recovery drops, with it recovery goes forward
 *   <state>/rewinds/<id>/commit      every entry is done or in conflict: one letter an entry (d, c; u: given up before
 *                                    it was known)
 *   <state>/rewinds/<id>/cleaned     no temporary file is left, and empty directories may go
 *   <state>/rewinds/<id>/done        all is done
 *   <state>/rewinds/<id>/abandoned   the person gave it up: recovery no longer goes forward
 *
 *   crash before  plan     nothing happened            -> the directory goes
 *                 intent   temps beside the targets    -> the conversation is as before; temps and directory go
 *                 commit   some targets are exchanged  -> the rest is done
 *                 done     old files under temp names  -> they go
 *
 * Each of them is durable before the next thing happens.
 *
 * A root or a directory that is missing, or is another one, says nothing of the files in it: the project may be moved
 * away, or its disk not mounted yet. Such an entry waits, the others go on, and the record is finished by a later start
 * or given up by the person. */
enum { TX_VERSION = 4 };
enum rewind_tx_phase { TX_NOTHING, TX_PLANNED, TX_INTENT, TX_COMMITTED, TX_DONE };

struct rewind_tx_entry {
    const char *path;              /* absolute */
    const char *root;              /* below which it is reached */
    const struct root_id *root_id; /* NULL: any directory of that name will do */
    enum rewind_action action;     /* RESTORE, CREATE or DELETE */
    bool mode_only;
    bool mixed;       /* a person's bytes may be among the wanted ones */
    uint32_t mode;    /* RESTORE, CREATE: of the file afterwards */
    int64_t mtime_ns; /* MTIME_NOW: left to the kernel */
    /* CREATE: directories on the way that did not exist; DELETE: how many go if empty */
    unsigned dirs;
    uint8_t wanted[SHA256_BYTES];
    struct rewind_seen seen;
    int64_t kept_at; /* where its bytes lie in the record */
    /* Of an undo: the file that comes back itself, in the record of `undoes`: "old/<n>.live". It has a name in both
     * places until all is done. NULL: a copy comes back. */
    const char *adopts;
    struct attrs was; /* DELETE: of the file, for whoever takes it back */
    enum rewind_outcome outcome;
    bool unknown; /* given up before its outcome was known: DONE, so that an undo compares it */
    /* What the files of ours looked like when this process last had them in hand: the one that was staged, and the one
     * that was taken away. Zeroes in a recovery, where their bytes are read instead. */
    struct file_id staged, taken;
};

struct rewind_tx {
    struct arena arena; /* owns the texts and the entries */
    const char *id;
    const char *dir; /* <state>/rewinds/<id> */
    int64_t version; /* of the record's form */
    const char *system, *session, *point, *undoes, *project;
    const char *store, *title; /* of the session; NULL: not recorded */
    struct root_id *root_id;   /* of the project, while it was there */
    int64_t at_ms;
    struct rewind_conversation conversation; /* its change: only on the way */
    struct rewind_tx_entry *entry;
    size_t n;
    struct dirs dirs; /* those that go with the files in them, or come back */
    /* Of an undo: what was as it should be already, and so is taken back as well. What is neither here nor an entry was
     * left out. NULL: not recorded by older versions, which took back all or said nothing of the rest. */
    const char **settled;
    size_t settled_n;
    /* what it did to the conversation could not be taken back, and the files did not follow */
    bool stays;
    bool abandoned;
    /* entries before this one may have files of ours beside them, if INTENT is not there */
    size_t begun;
    enum rewind_tx_phase phase;
    rewind_progress_fn *progress; /* NULL: nobody watches */
    void *progress_arg;
};

/* Room for the name of a record's file: a record's directory may be as long as a name can be, and what is longer yet is
 * refused by the system, never cut short by us. */
enum { TX_PATH_MAX = PATH_MAX + NAME_MAX + 2 };
void rewind_tx_path(const char *dir, const char *name, char out[TX_PATH_MAX]);

/* Is there something to do for an entry of a preview? One transaction entry each, in their order. */
bool rewind_tx_includes(const struct rewind_entry *x);
/* So many of 2 n steps are done. */
void rewind_tx_progress(const struct rewind_tx *tx, size_t done);
/* Does the record say what deleted files and directories were like? */
bool rewind_tx_has_attrs(const struct rewind_tx *tx);
/* Does the record say which directory the project was? */
bool rewind_tx_has_root(const struct rewind_tx *tx);
/* NULL: it is another directory than the project, or not known. */
const struct root_id *rewind_tx_root_id(const struct rewind_tx *tx, const char *root);
/* The temporary name of entry i, in the directory of its path. */
void rewind_tx_temp_name(const struct rewind_tx *tx, size_t i, char out[64]);
struct file_id rewind_tx_file_id(const struct stat *st);
struct file_id rewind_tx_seen_id(const struct rewind_seen *s);
/* Of one size, too. */
bool rewind_tx_same_file(struct file_id a, struct file_id b);

/* A file that the preview saw could not be opened: ERR_STALE where errno says that it is gone or another kind of file by
 * now, otherwise the error itself. */
MUST_CHECK enum err_code rewind_tx_open_error(const struct rewind_tx_entry *x, struct err *e);

/* ---- what a record keeps ---- */

/* Says of each entry where its bytes lie in <dir>/kept. False: the sizes cannot be. */
bool rewind_tx_backup_layout(struct rewind_tx *tx);
/* Where the bytes of entry i are to be read again. The name of their file lies in the caller's buffer. */
struct rewind_source rewind_tx_backup_source(const struct rewind_tx *tx, size_t i,
                                             char file[TX_PATH_MAX]);
/* The new file that holds the bytes: appended to by who stages, then closed durably with its name. */
MUST_CHECK enum err_code rewind_tx_backup_open(const struct rewind_tx *tx, int *fd, struct err *e);
MUST_CHECK enum err_code rewind_tx_backup_close(const struct rewind_tx *tx, int fd, struct err *e);
/* The directory of replaced files. */
MUST_CHECK enum err_code rewind_tx_old_open(const struct rewind_tx *tx, int *fd, struct err *e);
/* Below it, the name of entry i's file. */
void rewind_tx_old_name(const struct rewind_tx *tx, size_t i, bool live, char out[32]);
/* Writes bytes under such a name, durably but for the name: the caller syncs the directory. */
MUST_CHECK enum err_code rewind_tx_old_write(const struct rewind_tx *tx, const char *name,
                                             const struct span *from, struct err *e);
/* Is the replaced file of entry i one that was written to, or may be? Its path, and its name below the record. */
struct tx_live {
    char path[TX_PATH_MAX];
    const char *name; /* in path */
    struct stat st;
};
bool rewind_tx_find_live(const struct rewind_tx *tx, size_t i, struct tx_live *out);
/* The path of the file that an entry adopts. */
void rewind_tx_adopted(const struct rewind_tx *tx, const struct rewind_tx_entry *x,
                       char out[TX_PATH_MAX]);

MUST_CHECK enum err_code rewind_tx_write_plan(const struct rewind_tx *tx, struct err *e);
/* Writes the mark of a phase, durably. */
MUST_CHECK enum err_code rewind_tx_mark(struct rewind_tx *tx, enum rewind_tx_phase phase,
                                        struct err *e);
/* What is in a record is carried out: ERR_UNSAFE where any of it is another user's. The files below old/ are the
 * person's. */
MUST_CHECK enum err_code rewind_tx_check_own(const char *dir, struct err *e);
/* Reads plan and marks. ERR_NOT_FOUND: no plan (TX_NOTHING). ERR_FORMAT: damaged, or another user's; left alone by
 * everybody. */
MUST_CHECK enum err_code rewind_tx_read(const char *dir, const char *id, struct rewind_tx *out,
                                        struct err *e);
void rewind_tx_fini(struct rewind_tx *tx);

/* Names are made durable once for a whole step: in every directory that holds an entry.
 * One that is gone, or is no real directory any more, has nothing of ours to sync. */
MUST_CHECK enum err_code rewind_tx_sync_dirs(const struct rewind_tx *tx, struct err *e);

/* ---- the steps; each can be done again after a crash ---- */

/* Undo copies and staged files. On failure drop takes everything away again. */
MUST_CHECK enum err_code rewind_tx_stage(struct rewind_tx *tx, const struct rewind_preview *p,
                                         struct err *e);
/* The conversation's part, before INTENT: does it; takes back what was done of it, and forgets it (rewind_tx_roll_back does that,
 * and the lock of the change log is held); and what takes it back later. */
MUST_CHECK enum err_code rewind_tx_conversation_do(struct change_log *log, struct rewind_tx *tx,
                                                   struct err *e);
MUST_CHECK enum err_code rewind_tx_conversation_undo(const struct rewind_tx *tx, enum rollback *how,
                                                     struct err *e);
MUST_CHECK enum err_code rewind_tx_conversation_inverse(const struct rewind_tx *tx,
                                                        struct rewind_conversation *out,
                                                        struct err *e);
bool rewind_conversation_parse(const char *word, enum conversation_change *how);
/* Puts every entry in its place; outcomes say done or conflict. ERR_IO: could not, go on later. */
MUST_CHECK enum err_code rewind_tx_apply(struct rewind_tx *tx, struct err *e);
/* Removes what lies under temporary names. A file that was written to after it was exchanged out is kept in the
 * record. */
MUST_CHECK enum err_code rewind_tx_clean(struct rewind_tx *tx, struct err *e);
/* Removes up to x->dirs directories above the path, innermost first, while they are empty. One that may not be
 * removed stays; a disk that fails is an error. as: only those that are as it says (NULL: all), since no others could
 * be made again as they were. */
MUST_CHECK enum err_code rewind_tx_prune(const struct rewind_tx_entry *x, const struct dirs *as,
                                         struct err *e);
/* Writes down what those directories are like, for each that rewind_tx_prune may remove. */
MUST_CHECK enum err_code rewind_tx_record_dirs(struct rewind_tx *tx,
                                               const struct rewind_tx_entry *x, struct err *e);
/* Directories that this process made again get their times back, when nothing more happens in them. */
void rewind_tx_restore_dir_times(const struct rewind_tx *tx);
/* Before INTENT: what was done to the conversation, temps, made directories and the record go. The record stays where
 * the conversation could not be put back: ROLLBACK_RETRY: for the next start; ROLLBACK_CONFLICT: as that of a rewind of the
 * conversation alone, which is done. */
MUST_CHECK enum err_code rewind_tx_roll_back(struct rewind_tx *tx, enum rollback *how,
                                             struct err *e);
/* From INTENT on to DONE. */
MUST_CHECK enum err_code rewind_tx_finish(struct rewind_tx *tx, struct err *e);
/* Why an entry that cannot be reached has to wait: says so for a missing, another or an unsafe directory (ERR_IO). */
MUST_CHECK enum err_code rewind_tx_wait_error(const struct rewind_tx_entry *x, enum err_code rc,
                                              struct err *e);
/* The person gives it up: nothing more is put in place. Temporary files go where they can be reached; told of each that
 * may be left. Ends in DONE. */
typedef enum err_code rewind_tx_left_fn(const char *path, void *arg, struct err *e);
MUST_CHECK enum err_code rewind_tx_abandon(struct rewind_tx *tx, rewind_tx_left_fn *left, void *arg,
                                           struct err *e);
/* Removes what staging may have left beside entry i. */
MUST_CHECK enum err_code rewind_tx_remove_temp(const struct rewind_tx *tx, size_t i, struct err *e);
/* Writes an empty mark that is no phase, durably. */
MUST_CHECK enum err_code rewind_tx_write_mark(const struct rewind_tx *tx, const char *name,
                                              struct err *e);
bool rewind_tx_has_mark(const struct rewind_tx *tx, const char *name);

#endif
