#ifndef STORE_REWIND_SPOT_H
#define STORE_REWIND_SPOT_H

#include "store/log/lease.h"
#include "store/rewind/hasher.h"
#include "store/rewind/reach.h"
#include "store/rewind/tx.h"

/* What is found at the two names of an entry: its own, and the temporary one beside it. */

/* What is kept from entry to entry. */
struct carrier {
    struct tx *tx;
    struct reach reach;
    struct hasher hasher;
    int old; /* the record's directory of replaced files, while cleaning up */
};

struct spot {
    struct carrier *c;
    struct tx_entry *x;
    int dir;
    const char *name;
    char temp[64];
};

enum lies { LIES_NOTHING, LIES_SEEN, LIES_WANTED, LIES_OTHER };

/* Opens the entry's directory; the caller closes it. Errors are those of beneath.h. */
MUST_CHECK enum err_code spot_open(struct carrier *c, size_t i, struct spot *at, struct err *e);
/* What is under a name: known by sight, or by its bytes. */
MUST_CHECK enum err_code spot_lies(const struct spot *at, const char *name, enum lies *out,
                                   struct err *e);
/* Always by its bytes, and what the file was then. */
MUST_CHECK enum err_code spot_read(const struct spot *at, const char *name, enum lies *out,
                                   struct file_id *id, struct err *e);
/* What came out of its place, by its bytes; remembered in the entry if it is what the preview saw. */
MUST_CHECK enum err_code spot_came_out(const struct spot *at, enum lies *out, struct err *e);
/* Is it the file that the preview saw, whatever happened to its mode, its owner or its name since? */
bool spot_is_seen(const struct tx_entry *x, struct file_id id);
/* Who writes to the file under the temporary name; where nobody does, nobody will. */
enum lease_writer spot_writer(const struct spot *at);
/* A file that came back itself loses its name in the record. */
MUST_CHECK enum err_code spot_release(const struct spot *at, struct err *e);
void carrier_end(struct carrier *c);

#endif
