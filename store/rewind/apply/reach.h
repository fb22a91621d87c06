#ifndef STORE_REWIND_APPLY_REACH_H
#define STORE_REWIND_APPLY_REACH_H

#include "store/rewind/record/tx.h"

/* The way to the entries of a transaction, one after the other. Their root stays open from entry to entry; what lies
 * below it is walked anew each time, as beneath.h does. */
struct reach {
    const char *root; /* NULL: none is open */
    int fd;
};

/* The directory that holds the entry, and its name there; the caller closes it. Errors are those of beneath.h. */
MUST_CHECK enum err_code reach_dir(struct reach *r, const struct rewind_tx_entry *x, int *dir,
                                   const char **name, struct err *e);
/* The same, making missing directories, those that `like` knows as it says. */
MUST_CHECK enum err_code reach_make_dir(struct reach *r, const struct rewind_tx_entry *x,
                                        struct dirs *like, int *dir, const char **name,
                                        struct err *e);
void reach_fini(struct reach *r);

#endif
