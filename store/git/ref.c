#include "store/git/ref.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/fs/disk.h"
#include "store/git/repo.h"

static enum err_code stale_ref_error(const char *ref, struct err *e)
{
    return err_set(e, ERR_STALE, ref, "move the ref: it is not where it was");
}

static int delete_ref(git_repository *repo, const char *ref, const git_oid *from)
{
    git_reference *r = NULL;
    int answer = git_reference_lookup(&r, repo, ref);

    /* libgit2 deletes the value that was looked up and no other. */
    if (!answer)
        answer = git_reference_target(r) && git_oid_equal(git_reference_target(r), from)
                     ? git_reference_delete(r)
                     : GIT_EMODIFIED;
    git_reference_free(r);
    return answer;
}

enum err_code ref_move(git_repository *repo, const char *ref, const git_oid *from,
                       const git_oid *to, const char *why, struct err *e)
{
    git_reference *r = NULL;
    int answer = !to    ? delete_ref(repo, ref, from)
                 : from ? git_reference_create_matching(&r, repo, ref, to, 1, from, why)
                        : git_reference_create(&r, repo, ref, to, 0, why);

    git_reference_free(r);
    if (answer == GIT_EMODIFIED || answer == GIT_EEXISTS || (answer == GIT_ENOTFOUND && from))
        return stale_ref_error(ref, e);
    return answer ? repo_error(e, answer, ref, "move the ref") : ERR_OK;
}

/* What is not there needs no syncing: the other names tell of it. */
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

enum err_code ref_sync(git_repository *repo, const char *ref, struct err *e)
{
    const char *common = git_repository_commondir(repo);
    char name[1024];
    enum err_code rc = sync_one(common, "packed-refs", e);

    if ((size_t)snprintf(name, sizeof name, "%s", ref) >= sizeof name)
        return err_set(e, ERR_UNSAFE, ref, "sync a ref: its name is too long");
    if (!rc)
        rc = sync_one(common, name, e);
    /* The directories above it: one of them may be new, or have gone. */
    for (char *slash; !rc && (slash = strrchr(name, '/'));) {
        *slash = '\0';
        rc = sync_one(common, name, e);
    }
    return rc ? rc : sync_one(common, "", e);
}

void ref_remove_before(const char *root, const char *id)
{
    git_repository *repo = NULL;
    char ref[128];
    git_oid tip;

    if (!root || (size_t)snprintf(ref, sizeof ref, REF_BEFORE "%s", id) >= sizeof ref ||
        repo_open(root, &repo, NULL))
        return;
    if (repo_has_ref(repo, ref, &tip))
        (void)!ref_move(repo, ref, &tip, NULL, "reprise: the rewind was undone", NULL);
    repo_close(repo);
}
