#ifndef STORE_TIDY_REQUEST_H
#define STORE_TIDY_REQUEST_H

#include "store/store.h"
#include "store/tidy/trash.h"

/* What stands before a deletion: may the session go, and what belongs to it? Nothing is changed. */

/* The request for what the system's own delete removes, or for all that is the session's; its texts are in the arena or the ref's, and title is borrowed.
 * ERR_LOCKED while an agent has the session open, or may have: its process would go on writing into what lies in
 * the trash. ERR_UNSUPPORTED: its system deletes nothing. */
MUST_CHECK enum err_code trash_request_of(const struct session_ref *ref, struct slice title,
                                          bool all, struct arena *a, struct trash_request *out,
                                          struct err *e);

#endif
