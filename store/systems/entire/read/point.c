#include "store/systems/entire/read/point.h"

#include <stdio.h>
#include <string.h>

#include "store/git/repo.h"
#include "store/systems/entire/names.h"

enum err_code point_add(struct point_list *list, struct arena *a, const struct point *p)
{
    struct point *more = arena_grow(a, list->point, list->n, sizeof *more);

    if (!more)
        return ERR_NOMEM;
    list->point = more;
    more[list->n] = *p;
    more[list->n].order = list->n;
    list->n++;
    return ERR_OK;
}

enum err_code point_problem_add(struct problem_list *list, struct arena *a, const char *path,
                                const char *why)
{
    struct problem *more = arena_grow(a, list->problem, list->n, sizeof *more);
    struct slice text = slice_of(path);

    if (!more)
        return ERR_NOMEM;
    list->problem = more;
    more[list->n] = (struct problem){ arena_copy(a, text).p, why };
    return more[list->n++].path ? ERR_OK : ERR_NOMEM;
}

enum { PROMPTS_MAX = 8 << 20 };

static const char rule[] = "\n\n---\n\n";
enum { RULE = sizeof rule - 1 };

bool point_prompts_read(git_repository *repo, const struct point *p, struct buf *out)
{
    git_tree *tree = NULL;
    char path[600];

    if (!p || git_tree_lookup(&tree, repo, &p->tree))
        return false;
    if (p->source == POINT_SHADOW)
        snprintf(path, sizeof path, "%s/prompt.txt", p->metadata.p);
    else
        snprintf(path, sizeof path, "%s", p->prompt.p);
    bool read = path[0] && repo_blob_at(repo, tree, path, PROMPTS_MAX, out, NULL) == ERR_OK;

    git_tree_free(tree);
    return read;
}

struct slice point_prompts_first(struct slice text)
{
    const char *end = slice_find(text.p, text.n, rule, RULE);

    return end ? (struct slice){ text.p, (size_t)(end - text.p) } : text;
}

struct slice point_prompts_last(struct slice text)
{
    const char *at;

    while ((at = slice_find(text.p, text.n, rule, RULE)))
        text = (struct slice){ at + RULE, text.n - (size_t)(at + RULE - text.p) };
    return text;
}

struct reading {
    git_repository *repo;
    struct arena *a;
    struct point_list *points;
    struct problem_list *problems;
};

/* The id in "<metadata folder>/tasks/<tool use id>". */
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

static enum err_code add_shadow_commit(struct reading *r, const git_commit *c, struct slice branch)
{
    const char *raw = git_commit_message_raw(c);
    struct slice message = { raw ? raw : "", raw ? strlen(raw) : 0 };
    struct slice session = entire_trailer_first(message, TRAILER_SESSION);
    struct slice task = task_of(entire_trailer_first(message, TRAILER_TASK));
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
        !copy_point_text(r->a, entire_subject(message), &p.text) ||
        !copy_point_text(r->a, entire_trailer_first(message, TRAILER_STRATEGY), &p.strategy))
        return ERR_NOMEM;
    p.metadata.n = strlen(p.metadata.p);
    p.agent = SLICE("");
    p.model = p.transcript = p.prompt = p.hash = SLICE("");
    return point_add(r->points, r->a, &p);
}

/* A shadow branch has only first parents. */
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
            return point_problem_add(r->problems, r->a, s->branch.p,
                                     "a commit of this shadow branch is missing or damaged");
        rc = add_shadow_commit(r, c, s->branch);
        up = git_commit_parent_id(c, 0);
        if (up)
            at = *up;
        s->cut = up != NULL;
        git_commit_free(c);
    }
    return rc ? err_nomem(e) : ERR_OK;
}

/* A person may name a branch entire/1234567. */
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
        return point_problem_add(r->problems, r->a, branch.p, "this shadow branch cannot be read");
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

enum err_code point_shadows_read(git_repository *repo, struct arena *a, struct shadow_list *list,
                                 struct point_list *points, struct problem_list *problems,
                                 struct err *e)
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

static enum err_code add_links_of_commit(const git_commit *c, struct arena *a, struct links *out)
{
    const char *raw = git_commit_message_raw(c);
    struct slice message = { raw ? raw : "", raw ? strlen(raw) : 0 }, rest = message, id;

    while (entire_trailer_checkpoint(&rest, &id)) {
        struct link *more = arena_grow(a, out->link, out->n, sizeof *more), *x;

        if (!more)
            return ERR_NOMEM;
        out->link = more;
        x = &more[out->n++];
        *x = (struct link){ .checkpoint = arena_copy(a, id),
                            .commit = *git_commit_id(c),
                            .subject = arena_copy(a, entire_subject(message)),
                            .time_ms = (int64_t)git_commit_time(c) * 1000 };
        if (!x->checkpoint.p || !x->subject.p)
            return ERR_NOMEM;
    }
    return ERR_OK;
}

/* Errors are ignored, because an empty repository has no branches. */
static void push_branches(git_revwalk *walk)
{
    git_revwalk_push_head(walk);
    git_revwalk_push_glob(walk, "refs/heads/*");
    git_revwalk_push_glob(walk, "refs/remotes/*");
    git_revwalk_hide_glob(walk, ENTIRE_HEADS "entire/checkpoints/*");
}

enum err_code point_links_read(git_repository *repo, struct arena *a, struct links *out,
                               struct err *e)
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
            continue; /* a shallow clone lacks commits */
        rc = add_links_of_commit(c, a, out);
        git_commit_free(c);
    }
    git_revwalk_free(walk);
    return rc ? err_nomem(e) : ERR_OK;
}

const struct link *point_link_find(const struct links *links, struct slice checkpoint)
{
    for (size_t i = 0; i < links->n; i++)
        if (slice_eq(links->link[i].checkpoint, checkpoint))
            return &links->link[i];
    return NULL;
}
