#ifndef STORE_MAINTENANCE_TRASH_REQUEST_H
#define STORE_MAINTENANCE_TRASH_REQUEST_H

#include "store/api/store.h"
#include "store/maintenance/trash.h"

/* What stands before a deletion: may the session go, and what belongs to it? Nothing is changed. */

enum trash_request_scope {
    TRASH_REQUEST_OWN = 0,      /* what the system's own delete removes */
    TRASH_REQUEST_ALL = 1 << 0, /* all that is the session's */
    /* Also where it cannot be known whether an agent is writing to it (another user's file, a file system of several
     * machines, an agent that did not sign in): a person has said so, a second time. */
    TRASH_REQUEST_UNSURE = 1 << 1,
};

/* The request for a set of those; its texts are in the arena or the ref's, and title is borrowed.
 * ERR_LOCKED while an agent has the session open, or may have: its process would go on writing into what lies in
 * the trash. ERR_UNSUPPORTED: its system deletes nothing. */
MUST_CHECK enum err_code trash_request_make(const struct session_ref *ref, struct slice title,
                                            unsigned what, struct arena *a,
                                            struct trash_request *out, struct err *e);
/* The same where it is known already whether somebody writes to it (live_check). */
MUST_CHECK enum err_code trash_request_make_live(const struct session_ref *ref, struct live live,
                                                 struct slice title, unsigned what, struct arena *a,
                                                 struct trash_request *out, struct err *e);
/* The same for n sessions, in less time than one after the other. The first that may not go decides, and *failed is
 * its number. */
MUST_CHECK enum err_code trash_request_make_all(const struct session_ref *const ref[],
                                                const struct slice title[], size_t n, unsigned what,
                                                struct arena *a, struct trash_request out[],
                                                size_t *failed, struct err *e);

#endif
