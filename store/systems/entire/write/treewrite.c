#include "store/systems/entire/write/treewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "store/git/repo.h"
#include "store/rewind/plan/beneath.h"

/* Files are opened part by part below the root, so that a link in a path, or one that takes the place of a directory
 * meanwhile, cannot bring a file from elsewhere into a commit. */

enum { FILE_MAX = 1 << 30 };

enum err_code treewrite_open(git_repository *repo, const git_oid *base, struct treewrite *out,
                             struct err *e)
{
    CLEANUP(treewrite_close) struct treewrite t = { .repo = repo };
    AUTO_TREE *tree = NULL;
    enum err_code fits = base ? repo_tree_fits(repo, base, NULL, e) : ERR_OK;

    if (fits)
        return err_wrap(e, fits, "begin a tree");
    int answer = git_index_new(&t.index);

    if (!answer && base)
        answer = git_tree_lookup(&tree, repo, base);
    if (!answer && base)
        answer = git_index_read_tree(t.index, tree);
    if (answer)
        return repo_error(e, answer, git_repository_path(repo), "begin a tree");
    HAND_OVER(out, t);
    return ERR_OK;
}

void treewrite_close(struct treewrite *t)
{
    git_index_free(t->index);
    t->index = NULL;
}

static enum err_code entire_add_entry(struct treewrite *t, const char *path, const git_oid *blob,
                                      unsigned mode, struct err *e)
{
    git_index_entry x = { .mode = mode, .id = *blob, .path = path };
    int answer = git_index_add(t->index, &x);

    return answer ? repo_error(e, answer, path, "put a file into a tree") : ERR_OK;
}

enum err_code treewrite_add_bytes(struct treewrite *t, const char *path, struct slice bytes,
                                  struct err *e)
{
    git_oid blob;
    int answer = git_blob_create_from_buffer(&blob, t->repo, bytes.n ? bytes.p : "", bytes.n);

    return answer ? repo_error(e, answer, path, "write a blob")
                  : entire_add_entry(t, path, &blob, 0100644, e);
}

void treewrite_remove(struct treewrite *t, const char *path)
{
    git_index_remove(t->index, path, 0); /* it may be missing */
}

/* Follows no link anywhere in the path. */
static enum err_code read_tree_file(const char *root, const char *path, struct buf *out,
                                    unsigned *mode, struct err *e)
{
    char whole[8192];
    const char *name;
    AUTO_FD fd = -1;
    AUTO_FD dir = -1;
    struct stat st;

    if ((size_t)snprintf(whole, sizeof whole, "%s/%s", root, path) >= sizeof whole)
        return err_set(e, ERR_UNSAFE, path, "read a file: its path is too long");
    TRY(beneath_root(root, &fd, e));
    TRY(beneath_parent(fd, root, whole, &dir, &name, e));
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? ERR_NOT_FOUND : err_sys(e, whole, "look at");
    TRY(file_read_all(dir, name, 0, FILE_MAX, out, e));
    *mode = st.st_mode & 0100 ? 0100755 : 0100644;
    return ERR_OK;
}

DEFINE_CLEANUP(git_filter_list, git_filter_list_free);

static enum err_code entire_put_file(struct treewrite *t, const char *root, const char *path,
                                     bool filtered, struct err *e)
{
    CLEANUP(git_filter_list_free_at) git_filter_list *filters = NULL;
    CLEANUP(git_buf_dispose_at) git_buf clean = { 0 };
    AUTO_BUF bytes = { 0 };
    git_oid blob;
    unsigned mode;
    int answer = 0;
    enum err_code rc = read_tree_file(root, path, &bytes, &mode, e);

    if (rc == ERR_NOT_FOUND) {
        treewrite_remove(t, path);
        return ERR_OK;
    }
    TRY(rc);
    struct slice content = bytes.n ? buf_slice(&bytes) : SLICE("");

    /* A clean filter changes the bytes as git itself would before it stores them. */
    if (filtered)
        answer = git_filter_list_load(&filters, t->repo, NULL, path, GIT_FILTER_TO_ODB,
                                      GIT_FILTER_DEFAULT);
    if (!answer && filters) {
        answer = git_filter_list_apply_to_buffer(&clean, filters, content.p, content.n);
        content = (struct slice){ clean.ptr ? clean.ptr : "", clean.size };
    }
    if (!answer)
        answer = git_blob_create_from_buffer(&blob, t->repo, content.p, content.n);
    return answer ? repo_error(e, answer, path, "write a blob")
                  : entire_add_entry(t, path, &blob, mode, e);
}

enum err_code treewrite_add_file(struct treewrite *t, const char *root, const char *path,
                                 struct err *e)
{
    return entire_put_file(t, root, path, false, e);
}

enum err_code treewrite_add_filtered(struct treewrite *t, const char *root, const char *path,
                                     struct err *e)
{
    const char *driver = NULL;

    if (git_attr_get(&driver, t->repo, 0, path, "filter"))
        driver = NULL;
    return git_attr_value(driver) == GIT_ATTR_VALUE_STRING
               ? err_set(e, ERR_UNSUPPORTED, path,
                         "commit a file: it needs a git filter program, so git has to do it")
               : entire_put_file(t, root, path, true, e);
}

enum err_code treewrite_remove_folder(struct treewrite *t, const char *folder, struct err *e)
{
    int answer = git_index_remove_directory(t->index, folder, 0);

    return answer && answer != GIT_ENOTFOUND ? repo_error(e, answer, folder, "empty a folder")
                                             : ERR_OK;
}

enum err_code treewrite_finish(struct treewrite *t, git_oid *tree, struct err *e)
{
    int answer = git_index_write_tree_to(tree, t->index, t->repo);

    return answer ? repo_error(e, answer, git_repository_path(t->repo), "write a tree") : ERR_OK;
}

/* ---- commits ---- */

enum err_code treewrite_author(git_repository *repo, git_signature **sig, struct author *out,
                               struct err *e)
{
    int answer = git_signature_default(sig, repo);

    if (answer)
        answer = git_signature_now(sig, "reprise", "reprise@localhost");
    if (answer)
        return repo_error(e, answer, git_repository_path(repo), "name an author");
    *out = (struct author){ .name = { (*sig)->name, strlen((*sig)->name) },
                            .email = { (*sig)->email, strlen((*sig)->email) },
                            .at = (*sig)->when.time,
                            .offset = (*sig)->when.offset };
    return ERR_OK;
}

static enum err_code add_author(struct buf *text, const char *key, const struct author *a)
{
    int offset = a->offset < 0 ? -a->offset : a->offset;

    return buf_addf(text, "%s %.*s <%.*s> %lld %c%02d%02d\n", key, SLICE_ARG(a->name),
                    SLICE_ARG(a->email), (long long)a->at, a->offset < 0 ? '-' : '+', offset / 60,
                    offset % 60);
}

DEFINE_CLEANUP(git_odb, git_odb_free);

enum err_code treewrite_commit(git_repository *repo, const struct commit_text *c, git_oid *out,
                               struct err *e)
{
    CLEANUP(git_odb_free_at) git_odb *odb = NULL;
    AUTO_BUF text = { 0 };

    char hex[GIT_OID_HEXSZ + 1];

    git_oid_tostr(hex, sizeof hex, &c->tree);
    NEED(!buf_addf(&text, "tree %s\n", hex));
    for (size_t i = 0; i < c->parents; i++) {
        git_oid_tostr(hex, sizeof hex, &c->parent[i]);
        NEED(!buf_addf(&text, "parent %s\n", hex));
    }
    NEED(!add_author(&text, "author", &c->author) &&
         !add_author(&text, "committer", &c->committer));
    NEED(!buf_add_byte(&text, '\n') && !buf_add(&text, c->message));
    int answer = git_repository_odb(&odb, repo);

    if (!answer)
        answer = git_odb_write(out, odb, text.p, text.n, GIT_OBJECT_COMMIT);
    return answer ? repo_error(e, answer, git_repository_path(repo), "write a commit") : ERR_OK;
}
