#include "store/systems/entire/read/links.h"

#include <string.h>

#include "store/git/repo.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/trailer.h"

static enum err_code add_commit(const git_commit *c, struct arena *a, struct links *out)
{
    const char *raw = git_commit_message_raw(c);
    struct slice message = { raw ? raw : "", raw ? strlen(raw) : 0 }, rest = message, id;

    while (trailer_checkpoint(&rest, &id)) {
        struct link *more = arena_grow(a, out->link, out->n, sizeof *more), *x;

        if (!more)
            return ERR_NOMEM;
        out->link = more;
        x = &more[out->n++];
        *x = (struct link){ .checkpoint = arena_copy(a, id),
                            .commit = *git_commit_id(c),
                            .subject = arena_copy(a, trailer_subject(message)),
                            .time_ms = (int64_t)git_commit_time(c) * 1000 };
        if (!x->checkpoint.p || !x->subject.p)
            return ERR_NOMEM;
    }
    return ERR_OK;
}

/* An empty repository has none of them, which is no error. */
static void push_branches(git_revwalk *walk)
{
    git_revwalk_push_head(walk);
    git_revwalk_push_glob(walk, "refs/heads/*");
    git_revwalk_push_glob(walk, "refs/remotes/*");
    git_revwalk_hide_glob(walk, ENTIRE_HEADS "entire/checkpoints/*");
}

enum err_code links_read(git_repository *repo, struct arena *a, struct links *out, struct err *e)
{
    git_revwalk *walk = NULL;
    git_oid id;
    enum err_code rc = ERR_OK;
    int answer = git_revwalk_new(&walk, repo);

    *out = (struct links){ 0 };
    if (answer)
        return repo_error(e, answer, git_repository_path(repo), "walk through the history");
    git_revwalk_sorting(walk, GIT_SORT_TIME);
    push_branches(walk);
    for (size_t i = 0; !rc && i < LINK_COMMITS_MAX && git_revwalk_next(&id, walk) == 0; i++) {
        git_commit *c = NULL;

        if (git_commit_lookup(&c, repo, &id))
            continue; /* a hole in the history (a shallow clone) is none of ours */
        rc = add_commit(c, a, out);
        git_commit_free(c);
    }
    git_revwalk_free(walk);
    return rc ? err_nomem(e) : ERR_OK;
}

const struct link *links_find(const struct links *links, struct slice checkpoint)
{
    for (size_t i = 0; i < links->n; i++)
        if (slice_eq(links->link[i].checkpoint, checkpoint))
            return &links->link[i];
    return NULL;
}
