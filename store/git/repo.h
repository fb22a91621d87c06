#ifndef STORE_GIT_REPO_H
#define STORE_GIT_REPO_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/fs/span.h"
#include "store/git/libgit2.h"

/* Repositories, refs, trees and blobs, as the rest of the store needs them from libgit2. Only repo_ref_move and
 * repo_ref_remove_before write. A git_repository must not be shared between threads; opening another one is cheap. */

/* Translates an error of libgit2: "doing: git's message". ERR_NOT_FOUND, ERR_STALE, ERR_LOCKED and ERR_NOMEM are
 * distinguished; everything else is ERR_FORMAT. */
enum err_code repo_error(struct err *e, int answer, const char *path, const char *doing);

/* Returns false if git cannot find a repository from this directory upwards. That costs a look at each directory; asking
 * git would cost a process or the start of libgit2. */
bool repo_may_be_found(const char *dir);

/* Opens the repository that contains a directory, or whose git directory it is. extensions.worktreeConfig is accepted,
 * because it does not affect what is read here. ERR_NOT_FOUND: there is no repository. ERR_UNSUPPORTED: there is one
 * that cannot be opened; the text gives the reason. */
MUST_CHECK enum err_code repo_open(const char *dir, git_repository **out, struct err *e);
void repo_close(git_repository *repo); /* NULL is fine */

/* Objects of libgit2 that are freed at the end of their scope (lite/base/cleanup.h): AUTO_TREE *tree = NULL; */
DEFINE_CLEANUP(git_repository, repo_close);
DEFINE_CLEANUP(git_tree, git_tree_free);
DEFINE_CLEANUP(git_tree_entry, git_tree_entry_free);
DEFINE_CLEANUP(git_commit, git_commit_free);
DEFINE_CLEANUP(git_object, git_object_free);
DEFINE_CLEANUP(git_reference, git_reference_free);
DEFINE_CLEANUP(git_reference_iterator, git_reference_iterator_free);
DEFINE_CLEANUP(git_signature, git_signature_free);
DEFINE_CLEANUP(git_revwalk, git_revwalk_free);
DEFINE_CLEANUP(git_diff, git_diff_free);
#define AUTO_REPO CLEANUP(repo_close_at) git_repository
/* These two are not allocated themselves. */
static inline void git_buf_dispose_at(git_buf *b)
{
    git_buf_dispose(b);
}
static inline void git_strarray_dispose_at(git_strarray *names)
{
    git_strarray_dispose(names);
}
#define AUTO_TREE CLEANUP(git_tree_free_at) git_tree
#define AUTO_COMMIT CLEANUP(git_commit_free_at) git_commit
#define AUTO_REFS CLEANUP(git_reference_iterator_free_at) git_reference_iterator

/* The id of the work tree, in the arena; empty for the main one. */
struct slice repo_worktree_id(git_repository *repo, struct arena *a);

/* ---- refs ---- */

/* Looks up the object that a ref points to, through symbolic refs. For callers who are going to change something: a ref
 * that cannot be read is an error. */
MUST_CHECK enum err_code repo_ref(git_repository *repo, const char *name, bool *there, git_oid *out,
                                  struct err *e);
/* The same for readers, who treat an unreadable ref as a missing one. */
bool repo_has_ref(git_repository *repo, const char *name, git_oid *out);
/* Returns true if a work tree has the branch (without refs/heads/) checked out, or if that cannot be determined. */
bool repo_is_checked_out(git_repository *repo, const char *branch);

/* Moves a ref from one commit to another by compare-and-swap. `from` NULL: the ref must not exist yet; `to` NULL: the
 * ref is deleted. `why` goes into the reflog. ERR_STALE: the ref is not at `from`, and was left alone. */
MUST_CHECK enum err_code repo_ref_move(git_repository *repo, const char *ref, const git_oid *from,
                                       const git_oid *to, const char *why, struct err *e);
/* Makes a change of the ref durable. */
MUST_CHECK enum err_code repo_ref_sync(git_repository *repo, const char *ref, struct err *e);

/* The work tree as it was before a rewind, under the id of the rewind's record. */
#define REF_BEFORE "refs/reprise/before/"
/* Deletes that ref once the rewind has been undone. Failures are ignored, because sweep removes old ones. */
void repo_ref_remove_before(const char *root, const char *id);

/* ---- trees ---- */

/* The most entries that are read of one tree: nine objects are enough to describe 10^9 entries. */
enum { REPO_ENTRIES_MAX = 500000 };
/* Free with git_tree_free. ERR_UNSUPPORTED: the object is larger than LOOSE_TREE_MAX. */
MUST_CHECK enum err_code repo_tree(git_repository *repo, const git_oid *id, git_tree **out,
                                   struct err *e);
/* Must be called before a walk through a whole tree or, with a base, through the differences of two trees.
 * ERR_UNSUPPORTED: more than REPO_ENTRIES_MAX entries, or nested too deeply. */
MUST_CHECK enum err_code repo_tree_fits(git_repository *repo, const git_oid *tree,
                                        const git_oid *base, struct err *e);

/* ---- blobs ---- */

/* Reads a file of a tree, or a blob by its id; the former content of `out` is replaced. ERR_NOT_FOUND: no such entry,
 * or not a file. ERR_FORMAT: larger than max bytes, or damaged. */
MUST_CHECK enum err_code repo_blob_at(git_repository *repo, const git_tree *tree, const char *path,
                                      size_t max, struct buf *out, struct err *e);
MUST_CHECK enum err_code repo_blob(git_repository *repo, const git_oid *id, size_t max,
                                   struct buf *out, struct err *e);
/* Returns true if the blob of a file may differ from the file's bytes, because git converts them (line ends, large
 * files). name: in the work tree; path: the present file. */
bool repo_converts(git_repository *repo, const char *name, const char *path);
/* The size of a file of a tree, without reading it; 0 if there is no such file. */
int64_t repo_size_at(git_repository *repo, const git_tree *tree, const char *path);
/* Opens a blob as bytes that can be read at any offset: it is unpacked into a file without a name, which disappears
 * when the span is closed. objects: the repository's directory of objects; hex: the id, 40 digits. ERR_FORMAT: it is
 * missing, not a blob, or its bytes do not match its id. */
MUST_CHECK enum err_code repo_blob_open(const char *objects, const char *hex, struct span *out,
                                        struct err *e);

/* One work tree of a git repository, as `git worktree list` reports it. */
struct worktree {
    struct slice path; /* NUL-terminated; the directory need not exist any more */
    bool bare;         /* the repository itself, which has no files checked out */
};

/* Lists the work trees of the repository that contains dir, the main one first; everything is in the arena. The list is
 * empty, and the result ERR_OK, if git is not installed, there is no repository or no such directory, or git takes
 * longer than 5 s. Only dir matters: GIT_DIR and related variables are not passed on. Because this runs git, it is
 * called once for a scope and never for each session. */
MUST_CHECK enum err_code worktree_list(const char *dir, struct arena *a, struct worktree **out,
                                       size_t *n, struct err *e);

/* Finds the directory in which to continue if a session's directory is gone: the main work tree of the repository it
 * belonged to. *out is NULL if it is unknown, or dir itself. dir was inside of the repository, or it was a
 * work tree next to it of which the repository still has a record. */
MUST_CHECK enum err_code worktree_main(const char *dir, struct arena *a, const char **out,
                                       struct err *e);

#endif
