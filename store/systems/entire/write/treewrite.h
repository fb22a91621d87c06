#ifndef STORE_SYSTEMS_ENTIRE_WRITE_TREEWRITE_H
#define STORE_SYSTEMS_ENTIRE_WRITE_TREEWRITE_H

#include <git2.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Writing objects: trees out of trees, and commits byte by byte (Entire writes messages without a last newline and
 * authors without a name, which libgit2 would not). Objects alone change nothing that anybody sees: what counts is the
 * ref, and that moves by compare-and-swap (ref_move). The user's index is never touched: trees are put together in
 * one of their own, in memory. */
struct treewrite {
    git_repository *repo; /* borrowed */
    git_index *index;
};

/* Begins with the files of a tree; NULL: with none. */
MUST_CHECK enum err_code treewrite_open(git_repository *repo, const git_oid *base,
                                        struct treewrite *out, struct err *e);
void treewrite_close(struct treewrite *t);
/* mode: 0100644 or 0100755. */
MUST_CHECK enum err_code treewrite_add(struct treewrite *t, const char *path, const git_oid *blob,
                                       unsigned mode, struct err *e);
MUST_CHECK enum err_code treewrite_add_bytes(struct treewrite *t, const char *path,
                                             struct slice bytes, struct err *e);
/* The file of a work tree as it is, raw: no filter, and the mode of the disk. A link is never followed: ERR_UNSAFE. One
 * that is not there is taken out. */
MUST_CHECK enum err_code treewrite_add_file(struct treewrite *t, const char *root, const char *path,
                                            struct err *e);
/* The same for a commit of the user's: with git's own conversions (line ends). ERR_UNSUPPORTED: a filter program looks after
 * the file, and those are git's to run. */
MUST_CHECK enum err_code treewrite_add_filtered(struct treewrite *t, const char *root,
                                                const char *path, struct err *e);
void treewrite_remove(struct treewrite *t, const char *path);
/* All files below a folder ("a/b"). */
MUST_CHECK enum err_code treewrite_remove_folder(struct treewrite *t, const char *folder,
                                                 struct err *e);
MUST_CHECK enum err_code treewrite_finish(struct treewrite *t, git_oid *tree, struct err *e);

/* Who and when, as a commit says it. */
struct author {
    struct slice name, email; /* both may be empty */
    int64_t at;               /* seconds since the epoch */
    int offset;               /* minutes east of UTC */
};

/* The user that git would write for, now. Texts live as long as the signature: git_signature_free. Without a
 * configured one a neutral name. ERR_NOMEM. */
MUST_CHECK enum err_code treewrite_author(git_repository *repo, git_signature **sig,
                                          struct author *out, struct err *e);

struct commit_text {
    git_oid tree;
    const git_oid *parent;
    size_t parents;
    struct author author, committer;
    struct slice message; /* as it is: no newline is added */
};
MUST_CHECK enum err_code treewrite_commit(git_repository *repo, const struct commit_text *c,
                                          git_oid *out, struct err *e);

#endif
