#include "store/systems/entire/read/shadow.h"

#include <string.h>

#include "store/git/repo.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/trailer.h"

struct reading {
    git_repository *repo;
    struct arena *a;
    struct point_list *points;
    struct problem_list *problems;
};

/* "<metadata folder>/tasks/<tool use id>": the id. */
static struct slice task_of(struct slice folder)
{
    static const char between[] = "/tasks/";
    const char *at = slice_find(folder.p, folder.n, between, sizeof between - 1);
    struct slice id = SLICE("");

    if (at) {
        at += sizeof between - 1;
        id = (struct slice){ at, folder.n - (size_t)(at - folder.p) };
    }
    return entire_tool_id_ok(id) ? id : SLICE("");
}

static bool copy_point_text(struct arena *a, struct slice text, struct slice *out)
{
    *out = arena_copy(a, text);
    return out->p != NULL;
}

static int64_t time_of(const git_commit *c)
{
    return (int64_t)git_commit_time(c) * 1000;
}

static enum err_code add_commit(struct reading *r, const git_commit *c, struct slice branch)
{
    const char *raw = git_commit_message_raw(c);
    struct slice message = { raw ? raw : "", raw ? strlen(raw) : 0 };
    struct slice session = trailer_first(message, TRAILER_SESSION);
    struct slice task = task_of(trailer_first(message, TRAILER_TASK));
    char hex[GIT_OID_HEXSZ + 1];
    struct point p = { .source = POINT_SHADOW,
                       .commit = *git_commit_id(c),
                       .tree = *git_commit_tree_id(c),
                       .branch = branch,
                       .time_ms = time_of(c) };

    git_oid_tostr(hex, sizeof hex, &p.commit);
    if (!entire_session_id_ok(session))
        session = SLICE("");
    p.metadata.p = session.n ? arena_format(r->a, ".entire/metadata/%.*s", SLICE_ARG(session)) : "";
    if (!p.metadata.p || !copy_point_text(r->a, (struct slice){ hex, GIT_OID_HEXSZ }, &p.id) ||
        !copy_point_text(r->a, session, &p.session) || !copy_point_text(r->a, task, &p.task) ||
        !copy_point_text(r->a, trailer_subject(message), &p.text) ||
        !copy_point_text(r->a, trailer_first(message, TRAILER_STRATEGY), &p.strategy))
        return ERR_NOMEM;
    p.metadata.n = strlen(p.metadata.p);
    p.agent = SLICE("");
    p.model = p.transcript = p.prompt = p.hash = SLICE("");
    return point_add(r->points, r->a, &p);
}

/* First parents only: a shadow branch has no others. */
static enum err_code walk_commits(struct reading *r, struct shadow *s, struct err *e)
{
    git_oid at = s->tip;
    enum err_code rc = ERR_OK;

    s->cut = true;
    for (size_t i = 0; !rc && s->cut && i < SHADOW_COMMITS_MAX && r->points->n < SHADOW_ALL_MAX;
         i++) {
        git_commit *c = NULL;
        const git_oid *up;

        if (git_commit_lookup(&c, r->repo, &at))
            return entire_problem_add(r->problems, r->a, s->branch.p,
                                      "a commit of this shadow branch is missing or damaged");
        rc = add_commit(r, c, s->branch);
        up = git_commit_parent_id(c, 0);
        if (up)
            at = *up;
        s->cut = up != NULL;
        git_commit_free(c);
    }
    return rc ? err_nomem(e) : ERR_OK;
}

/* A person may call a branch entire/1234567. */
static bool speaks_of_entire(git_repository *repo, const git_oid *tip)
{
    git_commit *c = NULL;
    bool yes = false;

    if (git_commit_lookup(&c, repo, tip) == 0) {
        const char *raw = git_commit_message_raw(c);

        yes = raw && strstr(raw, "Entire-");
        git_commit_free(c);
    }
    return yes;
}

static enum err_code add_branch(struct reading *r, struct shadow_list *list, const char *ref,
                                struct err *e)
{
    struct slice branch = { ref + strlen(ENTIRE_HEADS), strlen(ref) - strlen(ENTIRE_HEADS) };
    enum entire_shape shape = entire_shadow_shape(branch);
    struct shadow *more, s = { 0 };
    bool there;

    if (shape == ENTIRE_NO_SHADOW)
        return ERR_OK;
    if (repo_ref(r->repo, ref, &there, &s.tip, NULL))
        return entire_problem_add(r->problems, r->a, branch.p, "this shadow branch cannot be read");
    if (!there)
        return ERR_OK;
    s.doubtful = shape == ENTIRE_SHADOW_OLD && !speaks_of_entire(r->repo, &s.tip);
    more = arena_grow(r->a, list->shadow, list->n, sizeof *more);
    if (!more || !copy_point_text(r->a, branch, &s.branch))
        return err_nomem(e);
    list->shadow = more;
    more[list->n++] = s;
    return s.doubtful ? ERR_OK : walk_commits(r, &more[list->n - 1], e);
}

enum err_code shadow_read(git_repository *repo, struct arena *a, struct shadow_list *list,
                          struct point_list *points, struct problem_list *problems, struct err *e)
{
    struct reading r = { repo, a, points, problems };
    git_reference_iterator *it = NULL;
    const char *name;
    enum err_code rc = ERR_OK;
    int answer = git_reference_iterator_glob_new(&it, repo, ENTIRE_HEADS "entire/*");

    if (answer)
        return repo_error(e, answer, git_repository_path(repo), "list branches");
    while (!rc && (answer = git_reference_next_name(&name, it)) == 0)
        rc = add_branch(&r, list, name, e);
    git_reference_iterator_free(it);
    if (!rc && answer != GIT_ITEROVER)
        rc = repo_error(e, answer, git_repository_path(repo), "list branches");
    return rc;
}
