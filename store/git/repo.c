#include "store/git/repo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lite/io/file.h"
#include "store/fs/disk.h"
#include "store/fs/kernel.h"
#include "store/git/gitfiles.h"
#include "store/git/libgit2.h"

/* libgit2 waits for pipes, reads objects of any size into memory, and reports some failures as
 * missing refs. These functions deal with that, so that their callers need not know it. A
 * repository is opened in these stages:
 *
 *   look for .git -> check the files -> open -> guard its objects
 *
 * libgit2 must not see a repository whose files were not checked. The size of a tree, or of a blob
 * that has a limit, is read from its header before the object itself. A ref is changed only if it
 * still has the value that the caller saw. No process is started here. */

enum { TREE_DEPTH_MAX = 512 };

enum err_code repo_error(struct err *e, int answer, const char *path, const char *doing)
{
    const git_error *why = git_error_last();
    enum err_code rc = answer == GIT_ENOTFOUND                   ? ERR_NOT_FOUND
                       : answer == GIT_EMODIFIED                 ? ERR_STALE
                       : answer == GIT_ELOCKED                   ? ERR_LOCKED
                       : why && why->klass == GIT_ERROR_NOMEMORY ? ERR_NOMEM
                                                                 : ERR_FORMAT;

    return err_set(e, rc, path, "%s: %s%s", doing, why ? why->message : "git gives no reason",
                   rc == ERR_LOCKED ? "; remove the lock if no other git command is running" : "");
}

static bool has_git_entry(const char *dir, size_t n, const char *name)
{
    char path[PATH_MAX];
    int end = snprintf(path, sizeof path, "%.*s/%s", (int)n, dir, name);

    return end > 0 && (size_t)end < sizeof path && access(path, F_OK) == 0;
}

bool repo_may_be_found(const char *dir)
{
    char real[PATH_MAX];

    if (realpath(dir, real))
        dir = real;
    for (size_t n = strlen(dir);; n--) {
        if (n == 0 || dir[n] == '/' || dir[n] == '\0')
            if (has_git_entry(dir, n, ".git") ||
                (has_git_entry(dir, n, "HEAD") && has_git_entry(dir, n, "objects")))
                return true;
        if (n == 0)
            return false;
    }
}

enum err_code repo_open(const char *dir, git_repository **out, struct err *e)
{
    git_repository *repo = NULL;

    if (!repo_may_be_found(dir))
        return err_set(e, ERR_NOT_FOUND, dir, "open the repository: no repository here");

    /* libgit2 would wait for a pipe and would read a file of any size, so its files are checked first. */
    enum err_code plain = gitfiles_check(dir, true, e);

    if (plain)
        return plain;
    TRY(gitlib_ready(e));
    int answer = git_repository_open_ext(&repo, dir, 0, NULL);

    if (answer == 0) {
        enum err_code guarded = loose_guard_install(repo, e);

        if (guarded)
            git_repository_free(repo);
        else
            *out = repo;
        return guarded;
    }
    enum err_code rc = repo_error(e, answer, dir, "open the repository");

    /* A repository that cannot be opened may have a format that is newer than libgit2. */
    if (rc == ERR_FORMAT && e)
        e->code = ERR_UNSUPPORTED;
    return rc == ERR_FORMAT ? ERR_UNSUPPORTED : rc;
}

void repo_close(git_repository *repo)
{
    if (!repo)
        return;
    git_repository_free(repo);
}

struct slice repo_worktree_id(git_repository *repo, struct arena *a)
{
    const char *common = git_repository_commondir(repo), *dir = git_repository_path(repo);
    size_t n = strlen(common);
    static const char below[] = "worktrees/";
    struct slice id = SLICE("");

    if (git_repository_is_worktree(repo) && strncmp(dir, common, n) == 0 &&
        strncmp(dir + n, below, sizeof below - 1) == 0) {
        id = (struct slice){ dir + n + sizeof below - 1, strlen(dir + n) - (sizeof below - 1) };
        while (id.n && id.p[id.n - 1] == '/')
            id.n--;
    }
    return arena_copy(a, id);
}

enum err_code repo_ref(git_repository *repo, const char *name, bool *there, git_oid *out,
                       struct err *e)
{
    int answer = git_reference_name_to_id(out, repo, name);

    /* libgit2 reports a packed-refs file that it could not read as missing, so a temporary failure must not be mistaken
     * for an answer. */
    if (answer == GIT_ENOTFOUND)
        answer = git_reference_name_to_id(out, repo, name);
    *there = answer == 0;
    return answer && answer != GIT_ENOTFOUND ? repo_error(e, answer, name, "read the ref") : ERR_OK;
}

bool repo_has_ref(git_repository *repo, const char *name, git_oid *out)
{
    return git_reference_name_to_id(out, repo, name) == 0;
}

bool repo_is_checked_out(git_repository *repo, const char *branch)
{
    git_reference *ref = NULL;
    int answer = git_branch_lookup(&ref, repo, branch, GIT_BRANCH_LOCAL);

    if (answer)
        return answer != GIT_ENOTFOUND;
    answer = git_branch_is_checked_out(ref);
    git_reference_free(ref);
    return answer != 0;
}

/* The size in the object's header, without reading the whole object as libgit2 would; 0 if unknown. */
static size_t repo_size_of(git_repository *repo, const git_oid *id)
{
    git_odb *odb = NULL;
    git_object_t type;
    size_t n = 0;

    if (git_repository_odb(&odb, repo) || git_odb_read_header(&n, &type, odb, id))
        n = 0;
    git_odb_free(odb);
    return n;
}

enum err_code repo_tree(git_repository *repo, const git_oid *id, git_tree **out, struct err *e)
{
    char hex[GIT_OID_HEXSZ + 1];

    git_oid_tostr(hex, sizeof hex, id);
    if (repo_size_of(repo, id) > LOOSE_TREE_MAX)
        return err_set(e, ERR_UNSUPPORTED, hex, "read a tree: it is larger than %d bytes",
                       LOOSE_TREE_MAX);
    int answer = git_tree_lookup(out, repo, id);

    return answer ? repo_error(e, answer, hex, "read a tree") : ERR_OK;
}

/* ---- how much there is of a tree ---- */

struct measure {
    git_repository *repo;
    size_t left; /* how many entries may follow */
    struct err *e;
};

static enum err_code measure(struct measure *m, const git_oid *tree, const git_oid *base,
                             int depth);

static const git_oid *subtree(const git_tree_entry *x)
{
    return x && git_tree_entry_type(x) == GIT_OBJECT_TREE ? git_tree_entry_id(x) : NULL;
}

/* Counts the entries of a that b lacks; with `both`, also those that differ. */
static enum err_code measure_entries(struct measure *m, const git_tree *a, const git_tree *b,
                                     bool both, int depth)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && a && i < git_tree_entrycount(a); i++) {
        const git_tree_entry *x = git_tree_entry_byindex(a, i);
        const git_tree_entry *y = b ? git_tree_entry_byname(b, git_tree_entry_name(x)) : NULL;

        if (y && (!both || git_oid_equal(git_tree_entry_id(x), git_tree_entry_id(y))))
            continue;
        if (m->left == 0)
            return err_set(m->e, ERR_UNSUPPORTED, "", "read a tree: it has more than %d entries",
                           REPO_ENTRIES_MAX);
        m->left--;
        rc = measure(m, subtree(x), subtree(y), depth + 1);
    }
    return rc;
}

static enum err_code measure(struct measure *m, const git_oid *tree, const git_oid *base, int depth)
{
    git_tree *a = NULL, *b = NULL;
    enum err_code rc = ERR_OK;

    if (!tree && !base)
        return ERR_OK;
    if (depth > TREE_DEPTH_MAX)
        return err_set(m->e, ERR_UNSUPPORTED, "", "read a tree: it is deeper than %d directories",
                       TREE_DEPTH_MAX);
    if (tree)
        rc = repo_tree(m->repo, tree, &a, m->e);
    if (!rc && base)
        rc = repo_tree(m->repo, base, &b, m->e);
    if (!rc)
        rc = measure_entries(m, a, b, true, depth);
    if (!rc)
        rc = measure_entries(m, b, a, false, depth);
    git_tree_free(a);
    git_tree_free(b);
    return rc;
}

enum err_code repo_tree_fits(git_repository *repo, const git_oid *tree, const git_oid *base,
                             struct err *e)
{
    struct measure m = { repo, REPO_ENTRIES_MAX, e };

    return base && git_oid_equal(tree, base) ? ERR_OK : measure(&m, tree, base, 0);
}

/* ---- blobs ---- */

enum err_code repo_blob(git_repository *repo, const git_oid *id, size_t max, struct buf *out,
                        struct err *e)
{
    git_blob *blob = NULL;
    char hex[GIT_OID_HEXSZ + 1];
    size_t size = repo_size_of(repo, id);

    git_oid_tostr(hex, sizeof hex, id);
    if (size > max)
        return err_set(e, ERR_FORMAT, hex, "read a blob: %zu bytes is too large", size);
    int answer = git_blob_lookup(&blob, repo, id);

    if (answer)
        return repo_error(e, answer, hex, "read a blob");

    /* The header may not have been readable, so the size of the content is checked, too. */
    size_t n = (size_t)git_blob_rawsize(blob);
    enum err_code rc = ERR_OK;

    if (n > max)
        rc = err_set(e, ERR_FORMAT, hex, "read a blob: %zu bytes is too large", n);
    else {
        out->n = 0;
        rc = buf_add(out, (struct slice){ git_blob_rawcontent(blob), n });
        if (rc)
            rc = err_nomem(e);
    }
    git_blob_free(blob);
    return rc;
}

enum err_code repo_blob_at(git_repository *repo, const git_tree *tree, const char *path, size_t max,
                           struct buf *out, struct err *e)
{
    git_tree_entry *entry = NULL;
    int answer = git_tree_entry_bypath(&entry, tree, path);

    if (answer)
        return repo_error(e, answer, path, "read a tree");
    enum err_code rc = git_tree_entry_type(entry) == GIT_OBJECT_BLOB
                           ? repo_blob(repo, git_tree_entry_id(entry), max, out, e)
                           : err_set(e, ERR_NOT_FOUND, path, "read a tree: not a file");

    git_tree_entry_free(entry);
    return rc;
}

int64_t repo_size_at(git_repository *repo, const git_tree *tree, const char *path)
{
    git_tree_entry *entry = NULL;
    size_t n = 0;

    if (git_tree_entry_bypath(&entry, tree, path) == 0)
        n = repo_size_of(repo, git_tree_entry_id(entry));
    git_tree_entry_free(entry);
    return (int64_t)n;
}

static enum err_code repo_unpack(git_odb_object *object, const char *hex, struct span *out,
                                 struct err *e)
{
    struct slice bytes = { git_odb_object_data(object), git_odb_object_size(object) };
    int fd = fs_open_memory("blob");

    if (fd < 0)
        return err_sys(e, hex, "create a file for a blob");
    enum err_code rc = disk_write(fd, bytes, NULL, hex, e);

    if (rc)
        close(fd);
    else
        *out = (struct span){ .path = hex, .fd = fd, .n = (int64_t)bytes.n, .whole = true };
    return rc;
}

enum err_code repo_blob_open(const char *objects, const char *hex, struct span *out, struct err *e)
{
    git_odb *odb = NULL;
    TRY(gitlib_ready(e));
    enum err_code rc = loose_guard_open(objects, &odb, e);

    if (!rc) {
        /* A blob that cannot be read for want of memory or descriptors is not missing. */
        git_odb_object *object = NULL;
        git_oid id;
        int answer = git_oid_fromstr(&id, hex);

        errno = 0;
        if (!answer)
            answer = git_odb_read(&object, odb, &id);
        if (answer && err_is_exhausted(errno))
            rc = err_sys(e, hex, "read a blob");
        else if (answer || git_odb_object_type(object) != GIT_OBJECT_BLOB)
            rc = err_set(e, ERR_FORMAT, hex, "the blob is missing or damaged");
        else
            rc = repo_unpack(object, hex, out, e);
        git_odb_object_free(object);
    }
    git_odb_free(odb);
    return rc;
}

static int delete_ref(git_repository *repo, const char *ref, const git_oid *from)
{
    git_reference *r = NULL;
    int answer = git_reference_lookup(&r, repo, ref);

    /* libgit2 deletes the ref only if it still has the value that was looked up. */
    if (!answer)
        answer = git_reference_target(r) && git_oid_equal(git_reference_target(r), from)
                     ? git_reference_delete(r)
                     : GIT_EMODIFIED;
    git_reference_free(r);
    return answer;
}

enum err_code repo_ref_move(git_repository *repo, const char *ref, const git_oid *from,
                            const git_oid *to, const char *why, struct err *e)
{
    git_reference *r = NULL;
    int answer = !to    ? delete_ref(repo, ref, from)
                 : from ? git_reference_create_matching(&r, repo, ref, to, 1, from, why)
                        : git_reference_create(&r, repo, ref, to, 0, why);

    git_reference_free(r);
    if (answer == GIT_EMODIFIED || answer == GIT_EEXISTS || (answer == GIT_ENOTFOUND && from))
        return err_set(e, ERR_STALE, ref, "move the ref: it was changed meanwhile");
    return answer ? repo_error(e, answer, ref, "move the ref") : ERR_OK;
}

/* A missing file needs no syncing, because its directory is synced. */
static enum err_code sync_one(const char *dir, const char *name, struct err *e)
{
    char path[4096];

    if ((size_t)snprintf(path, sizeof path, "%s%s", dir, name) >= sizeof path)
        return err_set(e, ERR_UNSAFE, name, "sync a ref: its path is too long");
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return errno == ENOENT ? ERR_OK : err_sys(e, path, "open");
    enum err_code rc = disk_sync(fd, path, e);

    close(fd);
    return rc;
}

enum err_code repo_ref_sync(git_repository *repo, const char *ref, struct err *e)
{
    const char *common = git_repository_commondir(repo);
    char name[1024];
    enum err_code rc = sync_one(common, "packed-refs", e);

    if ((size_t)snprintf(name, sizeof name, "%s", ref) >= sizeof name)
        return err_set(e, ERR_UNSAFE, ref, "sync a ref: its name is too long");
    if (!rc)
        rc = sync_one(common, name, e);
    /* The directories above it may be new, or may have been removed. */
    for (char *slash; !rc && (slash = strrchr(name, '/'));) {
        *slash = '\0';
        rc = sync_one(common, name, e);
    }
    return rc ? rc : sync_one(common, "", e);
}

void repo_ref_remove_before(const char *root, const char *id)
{
    git_repository *repo = NULL;
    char ref[128];
    git_oid tip;

    if (!root || (size_t)snprintf(ref, sizeof ref, REF_BEFORE "%s", id) >= sizeof ref ||
        repo_open(root, &repo, NULL))
        return;
    if (repo_has_ref(repo, ref, &tip))
        (void)!repo_ref_move(repo, ref, &tip, NULL, "reprise: the rewind was undone", NULL);
    repo_close(repo);
}

/* ---- what git converts ---- */

enum { CONVERTED_MOST = 32 << 20 };

static bool converts(git_repository *repo, const char *path, git_filter_mode_t mode)
{
    git_filter_list *filters = NULL;

    if (git_filter_list_load(&filters, repo, NULL, path, mode, 0))
        filters = NULL;
    bool yes = filters != NULL;

    git_filter_list_free(filters);
    return yes;
}

static bool repo_has_crlf(const char *path)
{
    struct buf bytes = { 0 };
    bool has = file_read_all(AT_FDCWD, path, 0, CONVERTED_MOST, &bytes, NULL) == ERR_OK &&
               slice_has(buf_slice(&bytes), "\r\n");

    buf_fini(&bytes);
    return has;
}

bool repo_converts(git_repository *repo, const char *name, const char *path)
{
    const char *driver = NULL;

    if (git_attr_get(&driver, repo, 0, name, "filter"))
        driver = NULL;
    return git_attr_value(driver) == GIT_ATTR_VALUE_STRING ||
           converts(repo, name, GIT_FILTER_TO_WORKTREE) ||
           (converts(repo, name, GIT_FILTER_TO_ODB) && repo_has_crlf(path));
}
