#ifndef STORE_REWIND_RECORD_UNDONE_H
#define STORE_REWIND_RECORD_UNDONE_H

#include "store/rewind/record/tx.h"

/* Private to store/rewind/: which parts of a record were taken back. An undo may leave files out, and may be undone
 * itself. Records are handed over newest first: whatever took one back comes before it. A zeroed struct with its arena
 * has met none. */
struct undone {
    struct arena *arena;
    struct taken_back *taken;
    size_t n;
};

/* Sets undone, partly, conversation_undone and left of r, which is the record of tx. False without memory. */
bool undone_mark(struct undone *u, const struct rewind_tx *tx, struct rewind_record *r);
/* Can the file still be taken back? */
bool undone_can_undo(const struct rewind_record *r, const char *path);

#endif
