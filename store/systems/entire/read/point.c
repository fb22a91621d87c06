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
    AUTO_TREE *tree = NULL;
    char path[600];

    if (!p || git_tree_lookup(&tree, repo, &p->tree))
        return false;
    if (p->source == POINT_SHADOW)
        snprintf(path, sizeof path, "%s/prompt.txt", p->metadata.p);
    else
        snprintf(path, sizeof path, "%s", p->prompt.p);
    return path[0] && repo_blob_at(repo, tree, path, PROMPTS_MAX, out, NULL) == ERR_OK;
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

/* ---- shadow branches ---- */

struct shadow_reading {
    git_repository *repo;
    struct arena *a;
    struct point_list *points;
    struct problem_list *problems;
};

static struct slice entire_message_of(const git_commit *c)
{
    const char *raw = git_commit_message_raw(c);

    return (struct slice){ raw ? raw : "", raw ? strlen(raw) : 0 };
}

static enum err_code add_shadow_commit(struct shadow_reading *r, const git_commit *c,
                                       struct slice branch)
{
    static const char tasks[] = "/tasks/";
    struct slice message = entire_message_of(c),
                 session = entire_trailer_first(message, TRAILER_SESSION),
                 folder = entire_trailer_first(message, TRAILER_TASK), task = SLICE("");
    const char *at = slice_find(folder.p, folder.n, tasks, sizeof tasks - 1);
    char hex[GIT_OID_HEXSZ + 1];

    if (!entire_session_id_ok(session))
        session = SLICE("");
    /* The trailer of a task is "<metadata folder>/tasks/<tool use id>". */
    if (at) {
        at += sizeof tasks - 1;
        task = (struct slice){ at, folder.n - (size_t)(at - folder.p) };
    }
    if (!entire_tool_id_ok(task))
        task = SLICE("");
    git_oid_tostr(hex, sizeof hex, git_commit_id(c));

    const char *metadata =
        session.n ? arena_format(r->a, ".entire/metadata/%.*s", SLICE_ARG(session)) : "";
    struct point p = {
        .source = POINT_SHADOW,
        .id = arena_copy(r->a, (struct slice){ hex, GIT_OID_HEXSZ }),
        .session = arena_copy(r->a, session),
        .commit = *git_commit_id(c),
        .tree = *git_commit_tree_id(c),
        .text = arena_copy(r->a, entire_subject(message)),
        .branch = branch,
        .agent = SLICE(""),
        .strategy = arena_copy(r->a, entire_trailer_first(message, TRAILER_STRATEGY)),
        .model = SLICE(""),
        .task = arena_copy(r->a, task),
        .transcript = SLICE(""),
        .prompt = SLICE(""),
        .hash = SLICE(""),
        .time_ms = (int64_t)git_commit_time(c) * 1000,
    };

    if (!metadata || !p.id.p || !p.session.p || !p.text.p || !p.strategy.p || !p.task.p)
        return ERR_NOMEM;
    p.metadata = slice_of(metadata);
    return point_add(r->points, r->a, &p);
}

static enum err_code entire_add_branch(struct shadow_reading *r, struct shadow_list *list,
                                       const char *ref, struct err *e)
{
    struct slice branch = { ref + strlen(ENTIRE_HEADS), strlen(ref) - strlen(ENTIRE_HEADS) };
    enum entire_shape shape = entire_shadow_shape(branch);
    struct shadow *more, s = { 0 };
    AUTO_COMMIT *tip = NULL;
    bool there;

    if (shape == ENTIRE_NO_SHADOW)
        return ERR_OK;
    if (repo_ref(r->repo, ref, &there, &s.tip, NULL))
        return point_problem_add(r->problems, r->a, branch.p, "this shadow branch cannot be read");
    if (!there)
        return ERR_OK;
    /* A person may name a branch entire/1234567. */
    if (shape == ENTIRE_SHADOW_OLD)
        s.doubtful = git_commit_lookup(&tip, r->repo, &s.tip) != 0 ||
                     !slice_has(entire_message_of(tip), "Entire-");
    NEED(more = arena_grow(r->a, list->shadow, list->n, sizeof *more));
    s.branch = arena_copy(r->a, branch);
    NEED(s.branch.p);
    list->shadow = more;
    more[list->n++] = s;

    /* Walks a shadow branch, whose commits have one parent each, from its tip. */
    if (s.doubtful)
        return ERR_OK;

    git_oid at = more[list->n - 1].tip;

    more[list->n - 1].cut = true;
    for (size_t i = 0;
         more[list->n - 1].cut && i < SHADOW_COMMITS_MAX && r->points->n < SHADOW_ALL_MAX; i++) {
        AUTO_COMMIT *c = NULL;

        if (git_commit_lookup(&c, r->repo, &at))
            return point_problem_add(r->problems, r->a, more[list->n - 1].branch.p,
                                     "a commit of this shadow branch is missing or damaged");
        NEED(!add_shadow_commit(r, c, more[list->n - 1].branch));
        const git_oid *up = git_commit_parent_id(c, 0);

        if (up)
            at = *up;
        more[list->n - 1].cut = up != NULL;
    }
    return ERR_OK;
}

enum err_code point_shadows_read(git_repository *repo, struct arena *a, struct shadow_list *list,
                                 struct point_list *points, struct problem_list *problems,
                                 struct err *e)
{
    struct shadow_reading r = { repo, a, points, problems };
    AUTO_REFS *it = NULL;
    const char *name;
    int answer = git_reference_iterator_glob_new(&it, repo, ENTIRE_HEADS "entire/*");

    while (!answer && (answer = git_reference_next_name(&name, it)) == 0)
        TRY(entire_add_branch(&r, list, name, e));
    return answer == GIT_ITEROVER
               ? ERR_OK
               : repo_error(e, answer, git_repository_path(repo), "list branches");
}

/* ---- links ---- */

enum err_code point_links_read(git_repository *repo, struct arena *a, struct links *out,
                               struct err *e)
{
    CLEANUP(git_revwalk_free_at) git_revwalk *walk = NULL;
    git_oid at;
    int answer = git_revwalk_new(&walk, repo);

    *out = (struct links){ 0 };
    if (answer)
        return repo_error(e, answer, git_repository_path(repo), "walk through the history");
    git_revwalk_sorting(walk, GIT_SORT_TIME);

    /* Errors are ignored, because an empty repository has no branches. */
    git_revwalk_push_head(walk);
    git_revwalk_push_glob(walk, "refs/heads/*");
    git_revwalk_push_glob(walk, "refs/remotes/*");
    git_revwalk_hide_glob(walk, ENTIRE_HEADS "entire/checkpoints/*");

    for (size_t i = 0; i < LINK_COMMITS_MAX && git_revwalk_next(&at, walk) == 0; i++) {
        AUTO_COMMIT *c = NULL;
        struct slice message, rest, id;

        if (git_commit_lookup(&c, repo, &at))
            continue; /* a shallow clone lacks commits */
        message = rest = entire_message_of(c);
        while (entire_trailer_checkpoint(&rest, &id)) {
            struct link *more;

            NEED(more = arena_grow(a, out->link, out->n, sizeof *more));
            out->link = more;
            more[out->n] = (struct link){ .checkpoint = arena_copy(a, id),
                                          .commit = at,
                                          .subject = arena_copy(a, entire_subject(message)),
                                          .time_ms = (int64_t)git_commit_time(c) * 1000 };
            NEED(more[out->n].checkpoint.p && more[out->n].subject.p);
            out->n++;
        }
    }
    return ERR_OK;
}

const struct link *point_link_find(const struct links *links, struct slice checkpoint)
{
    for (size_t i = 0; i < links->n; i++)
        if (slice_eq(links->link[i].checkpoint, checkpoint))
            return &links->link[i];
    return NULL;
}
