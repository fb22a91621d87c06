#include <string.h>

#include "store/git/ref.h"
#include "store/git/repo.h"
#include "store/journal/step_internal.h"

/* Moving a git ref: path is the repository's git directory, to the ref's name; bytes and old are commits in hex. The move is
 * git's own compare-and-swap, whatever form its refs are kept in. A commit must be there before a ref names it. */

static bool parse_commit_id(struct slice hex, git_oid *out)
{
    return hex.n == GIT_OID_HEXSZ && git_oid_fromstrn(out, hex.p, hex.n) == 0;
}

static enum err_code no_id(const struct step *s, struct err *e)
{
    return err_set(e, ERR_FORMAT, s->to, "move a ref: this is no commit's id");
}

/* Somebody may have moved the whole repository away: then its refs are not as they were. That libgit2 finds none is
 * believed when it says so twice: it takes what it cannot look at for what is not there. */
static enum err_code open_repo(const struct step *s, git_repository **out, struct err *e)
{
    git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1); /* a ref is whole before it has its name */
    enum err_code rc = repo_open(s->path, out, e);

    if (rc == ERR_NOT_FOUND)
        rc = repo_open(s->path, out, e);
    return rc == ERR_NOT_FOUND
               ? err_set(e, ERR_STALE, s->path, "move a ref: the repository is gone")
               : rc;
}

static enum err_code check_commit(git_repository *repo, const struct step *s, const git_oid *id,
                                  struct err *e)
{
    git_commit *c = NULL;
    int answer = git_commit_lookup(&c, repo, id);

    git_commit_free(c);
    return answer == GIT_ENOTFOUND ? err_set(e, ERR_STALE, s->to, "move a ref: its commit is gone")
           : answer                ? repo_error(e, answer, s->to, "move a ref: read its commit")
                                   : ERR_OK;
}

enum err_code step_ref_do(const struct step *s, struct err *e)
{
    git_repository *repo;
    git_oid from, to;

    if ((!s->old_absent && !parse_commit_id(s->old, &from)) ||
        (!s->absent && !parse_commit_id(s->bytes, &to)))
        return no_id(s, e);
    enum err_code rc = open_repo(s, &repo, e);

    if (rc)
        return rc;
    if (!s->absent)
        rc = check_commit(repo, s, &to, e);
    if (!rc)
        rc = ref_move(repo, s->to, s->old_absent ? NULL : &from, s->absent ? NULL : &to, "reprise",
                      e);
    if (!rc)
        rc = ref_sync(repo, s->to, e);
    repo_close(repo);
    return rc;
}

enum err_code step_ref_is_done(const struct step *s, bool *done, struct err *e)
{
    git_repository *repo;
    git_oid now, to;
    bool there;

    *done = false;
    if (!s->absent && !parse_commit_id(s->bytes, &to))
        return no_id(s, e);
    enum err_code rc = open_repo(s, &repo, e);

    if (rc)
        return rc == ERR_STALE ? ERR_OK : rc;
    rc = repo_ref(repo, s->to, &there, &now, e);
    if (!rc)
        *done = s->absent ? !there : there && git_oid_equal(&now, &to);
    repo_close(repo);
    return rc;
}

/* git moves a ref wholly or not at all. One that is neither as it was nor as it should be was moved by somebody else,
 * perhaps behind us. */
enum err_code step_ref_repair(const struct step *s, struct err *e)
{
    git_repository *repo;
    git_oid now, from;
    bool there;

    if (!s->old_absent && !parse_commit_id(s->old, &from))
        return no_id(s, e);
    enum err_code rc = open_repo(s, &repo, e);

    if (rc)
        return rc == ERR_STALE ? ERR_OK : rc;
    rc = repo_ref(repo, s->to, &there, &now, e);
    if (!rc && (s->old_absent ? there : !there || !git_oid_equal(&now, &from)))
        rc = err_set(e, ERR_STALE, s->to, "undo: the ref was moved since");
    repo_close(repo);
    return rc;
}

enum err_code step_ref_clean_up(const struct step *s, struct err *e)
{
    git_repository *repo;
    enum err_code rc = open_repo(s, &repo, e);

    if (rc)
        return rc == ERR_STALE ? ERR_OK : rc;
    rc = ref_sync(repo, s->to, e);
    repo_close(repo);
    return rc;
}
