#ifndef STORE_SYSTEMS_COMMON_EDITS_LISTING_H
#define STORE_SYSTEMS_COMMON_EDITS_LISTING_H

#include "store/api/store.h"

/* The directory that an agent shows to its model at the start of a session, drawn as a tree ("├── name", "└── dir/"). It
 * proves that a file was not there. */

struct listing {
    const char *root;  /* the directory, absolute */
    struct slice tree; /* from the first line of the tree; other text may follow */
    int64_t time_ms;   /* when it was listed */
    size_t most;       /* the agent never shows more entries; 0: it marks what it leaves out */
    /* files that git ignores are left out without a mark */
    bool skips_ignored;
};

/* Returns true if the listing shows that there is no file with this name, relative to the directory. False if it is not
 * certain: a directory need not be listed, or not completely. */
bool listing_lacks(const struct listing *l, struct slice name);

/* Finds the listing in a row. Texts are in the arena or borrowed. */
typedef bool listing_find_fn(const struct session_ref *ref, struct slice row, struct arena *a,
                             struct listing *out);
/* Reports an EDIT_SEEN without a file for each path of the query that is absent in the first listing of the session, which is
 * in one of its first rows. */
MUST_CHECK enum err_code listing_report(const struct session_ref *ref, listing_find_fn *find,
                                        const struct edit_query *q, edit_fn *fn, void *arg,
                                        struct err *e);

#endif
