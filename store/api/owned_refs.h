#ifndef STORE_API_OWNED_REFS_H
#define STORE_API_OWNED_REFS_H

#include <stddef.h>

/* What is a session's beside files: refs of a git repository. A deletion gives them other names (OWNED_REF_TRASH), under which
 * their commits outlive every gc; putting the session back gives them their own again. */
#define OWNED_REF_TRASH "refs/reprise/trash/"

struct owned_ref {
    const char *git;  /* the repository's git directory */
    const char *name; /* "refs/heads/..." */
    const char *tip;  /* the commit it names, in hex: should it name another by then, it stays */
};

struct owned_refs {
    const struct owned_ref *ref;
    size_t n;
    const char *
        stays; /* what of the session cannot go, and why, for a person; a literal; NULL: all of it can */
};

#endif
