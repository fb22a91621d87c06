#ifndef STORE_REWIND_APPLY_ENTRY_FILES_H
#define STORE_REWIND_APPLY_ENTRY_FILES_H

#include "store/fs/hasher.h"
#include "store/log/lease.h"
#include "store/rewind/record/tx.h"

/* The way to the entries of a transaction, one after the other. Their root stays open from entry to entry; what lies
 * below it is walked anew each time, as beneath.h does. */
struct reach {
    const char *root; /* NULL: none is open */
    int fd;
};

/* The directory that holds the entry, and its name there; the caller closes it. Errors are those of beneath.h. */
MUST_CHECK enum err_code entry_reach_dir(struct reach *r, const struct rewind_tx_entry *x, int *dir,
                                         const char **name, struct err *e);
/* The same, making missing directories, those that `like` knows as it says. */
MUST_CHECK enum err_code entry_reach_make_dir(struct reach *r, const struct rewind_tx_entry *x,
                                              struct dirs *like, int *dir, const char **name,
                                              struct err *e);
void entry_reach_fini(struct reach *r);

/* What is found at the two names of an entry: its own, and the temporary one beside it. */

/* What is kept from entry to entry. */
struct entry_files_context {
    struct rewind_tx *tx;
    struct reach reach;
    struct hasher hasher;
    int old; /* the record's directory of replaced files, while cleaning up */
};

struct entry_files {
    struct entry_files_context *c;
    struct rewind_tx_entry *x;
    int dir;
    const char *name;
    char temp[64];
};

enum entry_file { ENTRY_FILE_NONE, ENTRY_FILE_SEEN, ENTRY_FILE_WANTED, ENTRY_FILE_OTHER };

/* Opens the entry's directory; the caller closes it. Errors are those of beneath.h. */
MUST_CHECK enum err_code entry_files_open(struct entry_files_context *c, size_t i,
                                          struct entry_files *at, struct err *e);
/* What is under a name: known by sight, or by its bytes. */
MUST_CHECK enum err_code entry_files_identify(const struct entry_files *at, const char *name,
                                              enum entry_file *out, struct err *e);
/* Always by its bytes, and what the file was then. */
MUST_CHECK enum err_code entry_files_read(const struct entry_files *at, const char *name,
                                          enum entry_file *out, struct file_id *id, struct err *e);
/* What came out of its place, by its bytes; remembered in the entry if it is what the preview saw. */
MUST_CHECK enum err_code entry_files_identify_moved(const struct entry_files *at,
                                                    enum entry_file *out, struct err *e);
/* Is it the file that the preview saw, whatever happened to its mode, its owner or its name since? */
bool entry_files_is_seen(const struct rewind_tx_entry *x, struct file_id id);
/* Who writes to the file under the temporary name; where nobody does, nobody will. */
enum lease_writer entry_files_writer(const struct entry_files *at);
/* A file that came back itself loses its name in the record. */
MUST_CHECK enum err_code entry_files_release(const struct entry_files *at, struct err *e);
void entry_files_fini(struct entry_files_context *c);

#endif
