#ifndef STORE_SYSTEMS_ENTIRE_WRITE_TREEWRITE_H
#define STORE_SYSTEMS_ENTIRE_WRITE_TREEWRITE_H

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/git/libgit2.h"

/* Writes objects: trees made from other trees, and commits byte for byte, because Entire writes
 * messages without a final newline and authors without a name, which libgit2 does not support.
 * Objects alone have no effect; only a ref does, which is moved by compare-and-swap
 * (repo_ref_move). Trees are built in an index in memory, so the user's index is never touched. */
struct treewrite {
    git_repository *repo; /* borrowed */
    git_index *index;
};

/* Starts with the files of a tree, or, if NULL, with no files. */
MUST_CHECK enum err_code treewrite_open(git_repository *repo, const git_oid *base,
                                        struct treewrite *out, struct err *e);
void treewrite_close(struct treewrite *t); /* a zeroed one is fine */

MUST_CHECK enum err_code treewrite_add_bytes(struct treewrite *t, const char *path,
                                             struct slice bytes, struct err *e);
/* Adds a file of a work tree unchanged, without filters and with its mode on disk. A missing file
 * is removed from the tree. ERR_UNSAFE: the path leads through a link. */
MUST_CHECK enum err_code treewrite_add_file(struct treewrite *t, const char *root, const char *path,
                                            struct err *e);
/* The same for a commit of the user, with git's own conversions (line ends). ERR_UNSUPPORTED: the file needs a filter
 * program, which only git may run. */
MUST_CHECK enum err_code treewrite_add_filtered(struct treewrite *t, const char *root,
                                                const char *path, struct err *e);
void treewrite_remove(struct treewrite *t, const char *path);
/* Removes all files below a folder ("a/b"). */
MUST_CHECK enum err_code treewrite_remove_folder(struct treewrite *t, const char *folder,
                                                 struct err *e);
MUST_CHECK enum err_code treewrite_finish(struct treewrite *t, git_oid *tree, struct err *e);

/* ---- commits ---- */

struct author {
    struct slice name, email; /* both may be empty */
    int64_t at;               /* seconds since the epoch */
    int offset;               /* minutes east of UTC */
};

/* The user for whom git would commit, with the present time; a neutral name if git has no user. The
 * texts belong to the signature: free it with git_signature_free. The only error is ERR_NOMEM. */
MUST_CHECK enum err_code treewrite_author(git_repository *repo, git_signature **sig,
                                          struct author *out, struct err *e);

struct commit_text {
    git_oid tree;
    const git_oid *parent;
    size_t parents;
    struct author author, committer;
    struct slice message; /* verbatim: no newline is added */
};
MUST_CHECK enum err_code treewrite_commit(git_repository *repo, const struct commit_text *c,
                                          git_oid *out, struct err *e);

#endif
