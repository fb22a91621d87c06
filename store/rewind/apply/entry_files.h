#ifndef STORE_REWIND_APPLY_ENTRY_FILES_H
#define STORE_REWIND_APPLY_ENTRY_FILES_H

#include "store/fs/span.h"
#include "store/log/lease.h"
#include "store/rewind/record/record.h"

/* The directories of the entries of a transaction, opened one after the other. The root stays open from entry to entry;
 * the path below it is walked again each time, as beneath.h does. */
struct reach {
    const char *root; /* NULL if not open */
    int fd;
};

/* Opens the directory of an entry and finds its name there; the caller closes it. Errors are those of beneath.h. */
MUST_CHECK enum err_code entry_reach_dir(struct reach *r, const struct rewind_tx_entry *x, int *dir,
                                         const char **name, struct err *e);
/* The same, but creates missing directories; those in `like` get the attributes recorded there. */
MUST_CHECK enum err_code entry_reach_make_dir(struct reach *r, const struct rewind_tx_entry *x,
                                              struct dirs *like, int *dir, const char **name,
                                              struct err *e);
void entry_reach_fini(struct reach *r);

/* Opens the directory of the temporary name of an entry. */
MUST_CHECK enum err_code entry_reach_temp_dir(struct reach *r, const struct rewind_tx_entry *x,
                                              int *dir, struct err *e);
/* The same, and makes the directories above it that are missing and that no entry makes. */
MUST_CHECK enum err_code entry_reach_make_temp_dir(struct reach *r, const struct rewind_tx_entry *x,
                                                   struct dirs *like, int *dir, struct err *e);

/* The files under the two names of an entry: its own, and the temporary one beside it, or higher up. */

/* The state that is kept from entry to entry. */
struct entry_files_context {
    struct rewind_tx *tx;
    struct reach reach;
    struct hasher hasher;
    int old;        /* the record's directory of replaced files, while cleaning up */
    bool some_wait; /* an entry could not be put in place yet */
};

struct entry_files {
    struct entry_files_context *c;
    struct rewind_tx_entry *x;
    int dir; /* -1: it does not exist, or is something else, and the temporary name is higher up */
    const char *name;
    int temp_dir; /* the same as `dir` if the temporary name is beside it */
    char temp[64];
};

enum entry_file { ENTRY_FILE_NONE, ENTRY_FILE_SEEN, ENTRY_FILE_WANTED, ENTRY_FILE_OTHER };

/* Opens the directories of entry i; the caller closes it. Errors are those of beneath.h. */
MUST_CHECK enum err_code entry_files_open(struct entry_files_context *c, size_t i,
                                          struct entry_files *at, struct err *e);
void entry_files_close(struct entry_files *at);
/* Removes what is ours under the temporary name. */
MUST_CHECK enum err_code entry_files_remove_temp(const struct entry_files *at, struct err *e);
/* Exchanges the entry's own file and the one under the temporary name; *gone if its own file is gone. Where that is not
 * possible in one step, its own name has no file for a moment. */
MUST_CHECK enum err_code entry_names_exchange(const struct entry_files *at, bool *gone,
                                              struct err *e);
/* Renames the file under the temporary name to the entry's own name, which must be free: -1 with EEXIST. */
int entry_names_place(const struct entry_files *at);
/* Completes or reverts what a crash interrupted in these two. entry_files_open calls it. */
MUST_CHECK enum err_code entry_names_settle(const struct entry_files *at, struct err *e);
/* Identifies the file that has a name in a directory: by its inode and times if they are known, or else by its
 * bytes. */
MUST_CHECK enum err_code entry_files_identify(const struct entry_files *at, int dir,
                                              const char *name, enum entry_file *out,
                                              struct err *e);
/* Always compares the bytes; *id is the state of the file at that time. */
MUST_CHECK enum err_code entry_files_read(const struct entry_files *at, int dir, const char *name,
                                          enum entry_file *out, struct file_id *id, struct err *e);
/* Identifies the file that was moved to the temporary name, by its bytes, and remembers it in the
 * entry if it is what the preview saw. */
MUST_CHECK enum err_code entry_files_identify_moved(const struct entry_files *at,
                                                    enum entry_file *out, struct err *e);
/* Returns true if it is the file that the preview saw, whatever happened to its mode, its owner or its name since. */
bool entry_files_is_seen(const struct rewind_tx_entry *x, struct file_id id);
/* Determines whether a process is writing to the file under the temporary name. If not, no process can start to. */
enum lease_writer entry_files_writer(const struct entry_files *at);
/* Removes the second name, in the record, of a file that was itself restored. */
MUST_CHECK enum err_code entry_files_release(const struct entry_files *at, struct err *e);
void entry_files_fini(struct entry_files_context *c);

#endif
