#ifndef STORE_SYSTEMS_ENTIRE_WRITE_TEMPORARY_H
#define STORE_SYSTEMS_ENTIRE_WRITE_TEMPORARY_H

#include "store/systems/entire/read/view.h"
#include "store/systems/entire/write/names_list.h"

/* Writing a temporary checkpoint (entire.md 2.5): a commit on the shadow branch that says what the work tree is now,
 * beside the steps of other sessions. Nothing is written into the work tree, the index, or any branch of the user's. */
struct temporary_request {
    const char *const
        *file; /* absolute; what the session changed. The first step of a session takes
                                everything that git calls changed besides */
    size_t files;
    struct slice prompt;  /* of the turn; may be empty */
    struct slice subject; /* empty: made from the prompt, as Entire does */
};

struct temporary {
    git_oid commit;            /* the tip, when nothing has changed since */
    bool made;                 /* false: the tree is what it was, and no commit was made */
    struct names_list touched; /* names from the root that were looked at */
};

/* The session has a state. Moves the branch by compare-and-swap, and a few times anew when another session was
 * faster; then the state. ERR_STALE: others are always faster. */
MUST_CHECK enum err_code temporary_write(struct view *v, const struct temporary_request *req,
                                         struct temporary *out, struct err *e);

/* The names from the root of the files that a request names. ERR_UNSAFE: one of them is no file of the work tree. */
MUST_CHECK enum err_code temporary_names(const struct view *v, const struct temporary_request *req,
                                         struct names_list *l, struct err *e);

/* "Please add a login function?" becomes "Add a login function"; in the arena. */
struct slice temporary_subject(struct slice prompt, struct arena *a);

#endif
