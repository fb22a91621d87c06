#include "store/systems/entire/rewind/plan_common.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/git/gitfiles.h"
#include "store/git/repo.h"
#include "store/rewind/plan/beneath.h"
#include "store/rewind/plan/plan.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/write/treewrite.h"

/* ---- the commit of the work tree before the rewind ---- */

static enum err_code add_work_tree_file(struct treewrite *t, const struct rewind_plan *plan,
                                        const struct rewind_entry *x, struct err *e)
{
    struct slice root = slice_of(plan->root);
    const char *path = x->target->path;
    struct err why;

    if (!path_under(slice_of(path), root) || path[root.n] != '/')
        return ERR_OK;
    enum err_code rc = treewrite_add_file(t, plan->root, path + root.n + 1, &why);

    /* A file that cannot be read is not rewound either. */
    if (rc && x->chosen && x->action != REWIND_UNCHANGED) {
        if (e)
            *e = why;
        return rc;
    }
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

static enum err_code commit_work_tree(git_repository *repo, const struct rewind_preview *p,
                                      const git_oid *head, const char *id_of_record, struct err *e)
{
    CLEANUP(treewrite_close) struct treewrite t = { .index = NULL };
    CLEANUP(git_signature_free_at) git_signature *sig = NULL;
    AUTO_COMMIT *at = NULL;
    AUTO_BUF message = { 0 };
    struct commit_text c = { .parent = head, .parents = head != NULL };
    const git_oid *base = NULL;
    git_oid id, tried;
    char ref[128];

    /* The tree is that of HEAD, with the present files that the rewind may change. */
    if (head && git_commit_lookup(&at, repo, head) == 0)
        base = git_commit_tree_id(at);
    TRY(treewrite_open(repo, base, &t, e));
    for (size_t i = 0; i < p->n; i++)
        TRY(add_work_tree_file(&t, p->plan, &p->entry[i], e));
    TRY(treewrite_finish(&t, &c.tree, e));

    TRY(treewrite_author(repo, &sig, &c.author, e));
    c.committer = c.author;
    NEED(!buf_addf(&message, "Before going back to %s\n\nSession: %s\n", p->plan->point,
                   p->plan->session));
    c.message = buf_slice(&message);
    TRY(treewrite_commit(repo, &c, &id, e));
    snprintf(ref, sizeof ref, REF_BEFORE "%s", id_of_record);
    /* Only an earlier try for this record can have made the ref. */
    return repo_ref_move(repo, ref, repo_has_ref(repo, ref, &tried) ? &tried : NULL, &id,
                         "reprise: before a rewind", e);
}

/* For rewind_plan.before. */
static enum err_code make_safety_commit(const struct rewind_preview *preview, const char *id,
                                        struct err *e)
{
    enum { TRIES = 3 };
    AUTO_REPO *repo = NULL;
    git_oid head;
    enum err_code rc = ERR_FORMAT;

    /* libgit2 gives up when a signal interrupts one of its calls. */
    TRY(repo_open(preview->plan->root, &repo, e));
    for (int i = 0; i < TRIES && rc == ERR_FORMAT; i++)
        rc = commit_work_tree(repo, preview, repo_has_ref(repo, "HEAD", &head) ? &head : NULL, id,
                              e);

    return rc ? err_wrap(e, rc, "keep the work tree before it is changed") : ERR_OK;
}

/* ---- the list of the session's beginning ---- */

static int compare_start_file(const void *x, const void *y)
{
    return slice_compare(*(const struct slice *)x, *(const struct slice *)y);
}

enum err_code planning_start(struct planning *p, struct err *e)
{
    const struct view *v = &p->view;
    struct arena *kept = &p->view.arena;
    AUTO_ARENA a = { 0 };
    AUTO_BUF json = { 0 };
    struct entire_state s;
    struct json_iter it;
    struct slice name, *more;

    if (!v->session->state)
        return ERR_OK;
    TRY(state_read_again(v->store->states, v->session->id, &a, &s, &json, e));
    p->has_start = true;
    json_list_open(&it, buf_slice(&json), "untracked_files_at_start");
    while (json_list_next(&it, &name)) {
        NEED(more = arena_grow(kept, p->start, p->starts, sizeof *more));
        p->start = more;
        NEED(json_text(name, kept, &name));
        more[p->starts] = arena_copy(kept, name);
        NEED(more[p->starts++].p);
    }
    slice_sort(p->start, p->starts);
    return ERR_OK;
}

bool planning_at_start(const struct planning *p, const char *path)
{
    struct slice key = slice_of(path);

    return p->starts && bsearch(&key, p->start, p->starts, sizeof key, compare_start_file);
}

/* ---- trees ---- */

static bool entire_name_blob(const struct planning *p, const git_oid *blob, struct arena *a,
                             struct rewind_source *out)
{
    char hex[GIT_OID_HEXSZ + 1];

    git_oid_tostr(hex, sizeof hex, blob);
    out->objects = arena_format(a, "%s/objects", p->view.store->common);
    out->blob = arena_format(a, "%s", hex);
    return out->objects && out->blob;
}

/* What the newest tree contains of the file. */
static bool set_last_known(const struct planning *p, const char *path, struct rewind_target *t,
                           struct arena *a)
{
    git_oid blob;
    unsigned mode;

    if (!p->has_last)
        return true;
    t->has_last = true;
    t->last_absent = !view_tree_entry(&p->view, &p->last, path, &blob, &mode);
    return t->last_absent || entire_name_blob(p, &blob, a, &t->last);
}

/* ---- files of the wanted tree ---- */

struct tree_walk {
    struct planning *p;
    struct rewind_plan *plan;
    enum err_code rc;
    struct err *e;
};

/* Returns true if git converts the blob when it writes the file (line ends, large files). In a
 * checkpoint, files that the agent changed contain the bytes on disk, but other files contain those
 * of HEAD. */
static bool is_filtered(const struct planning *p, const char *path, const git_oid *blob)
{
    git_filter_list *filters = NULL;
    const char *driver = NULL;
    git_oid of_head;
    unsigned mode;

    if (p->point->source == POINT_SHADOW &&
        (!p->has_head || !view_tree_entry(&p->view, &p->head, path, &of_head, &mode) ||
         !git_oid_equal(&of_head, blob)))
        return false;
    if (git_filter_list_load(&filters, p->view.repo, NULL, path, GIT_FILTER_TO_WORKTREE, 0))
        filters = NULL;
    if (git_attr_get(&driver, p->view.repo, 0, path, "filter"))
        driver = NULL;
    bool yes = filters || git_attr_value(driver) == GIT_ATTR_VALUE_STRING;

    git_filter_list_free(filters);
    return yes;
}

enum err_code planning_file(struct planning *p, const char *path, const git_oid *blob,
                            unsigned mode, struct rewind_plan *plan, struct err *e)
{
    struct arena *a = &plan->arena;
    struct rewind_target t = { .path = arena_format(a, "%s/%s", p->view.root, path),
                               .want = REWIND_BYTES };

    NEED(t.path && entire_name_blob(p, blob, a, &t.source));
    if (p->entire_rule) {
        t.has_mode = true;
        t.mode = mode & 0100 ? 0755 : 0644;
    } else if (is_filtered(p, path, blob)) {
        p->filtered++;
        return ERR_OK;
    } else {
        rewind_target_git_mode(&t, mode);
    }
    NEED(set_last_known(p, path, &t, a));
    return rewind_plan_add(plan, &t, e);
}

enum err_code planning_removal(struct planning *p, const char *path, struct rewind_plan *plan,
                               struct err *e)
{
    struct rewind_target t = { .path = arena_format(&plan->arena, "%s/%s", p->view.root, path),
                               .want = REWIND_ABSENT };
    unsigned mode;
    git_oid blob;

    NEED(t.path);
    /* A file that git ignored is in no checkpoint. Only one that git can restore is removed all the same. */
    bool in_head = p->has_head && view_tree_entry(&p->view, &p->head, path, &blob, &mode);

    if (!p->entire_rule && !in_head &&
        tree_ignore_has(&p->ignores, p->view.repo, &p->wanted, path)) {
        t.want = REWIND_UNKNOWN;
        t.why = "git ignored it at the checkpoint: unknown whether it existed";
        return rewind_plan_add(plan, &t, e);
    }
    for (const char *c = path; (c = strchr(c, '/')); c++)
        t.prune++;
    NEED(set_last_known(p, path, &t, &plan->arena));
    return rewind_plan_add(plan, &t, e);
}

static int visit_tree_entry(const char *dir, const git_tree_entry *x, void *arg)
{
    struct tree_walk *f = arg;
    unsigned mode = (unsigned)git_tree_entry_filemode_raw(x);
    char path[4096];

    if (git_tree_entry_type(x) == GIT_OBJECT_TREE)
        return 0;
    if ((size_t)snprintf(path, sizeof path, "%s%s", dir, git_tree_entry_name(x)) >= sizeof path) {
        f->rc = err_set(f->e, ERR_FORMAT, f->p->point->id.p, "plan a rewind: a path is too long");
        return -1;
    }
    bool own = strncmp(path, ".entire", 7) == 0;

    if (f->p->entire_rule ? own : disktree_apart(path))
        f->p->apart += !own;
    else if (git_tree_entry_type(x) != GIT_OBJECT_BLOB || (mode & 0170000) == 0120000)
        f->p->links++;
    else
        f->rc = planning_file(f->p, path, git_tree_entry_id(x), mode, f->plan, f->e);
    return f->rc ? -1 : 0;
}

enum err_code planning_files(struct planning *p, struct rewind_plan *plan, struct err *e)
{
    struct tree_walk f = { .p = p, .plan = plan, .e = e };
    AUTO_TREE *tree = NULL;
    enum err_code fits = repo_tree_fits(p->view.repo, &p->wanted, NULL, e);

    if (fits)
        return err_wrap(e, fits, "checkpoint %s", p->point->id.p);
    int answer = git_tree_lookup(&tree, p->view.repo, &p->wanted);

    if (!answer)
        answer = git_tree_walk(tree, GIT_TREEWALK_PRE, visit_tree_entry, &f);
    TRY(f.rc);
    return answer ? repo_error(e, answer, p->point->id.p, "plan a rewind: read its tree") : ERR_OK;
}

/* ---- changes by other sessions ---- */

static int entire_compare_target_path(const void *x, const void *y)
{
    return strcmp((*(struct rewind_target *const *)x)->path,
                  (*(struct rewind_target *const *)y)->path);
}

/* Names the other session in the target of a file that its commit `by` changed. sorted: all targets, by path. */
static bool name_other(const struct planning *p, struct rewind_target **sorted,
                       const struct point *by, const char *file, struct rewind_plan *plan)
{
    const struct catalog_session *s = catalog_find(p->view.catalog, by->session);
    AUTO_ARENA a = { 0 };
    struct rewind_target key = { .path = arena_format(&a, "%s/%s", p->view.root, file) };
    struct rewind_target *wanted = &key, **found;
    struct rewind_other *other;

    if (!key.path)
        return false;
    found = bsearch(&wanted, sorted, plan->n, sizeof *sorted, entire_compare_target_path);
    if (!found || ((*found)->other && (*found)->other->at_ms >= by->time_ms))
        return true;
    other = arena_zalloc(&plan->arena, sizeof *other);
    if (!other)
        return false;
    *other = (struct rewind_other){ .session = arena_copy(&plan->arena, by->session).p,
                                    .at_ms = by->time_ms };
    if (s && s->state && s->state->first_prompt.n)
        other->title = arena_copy(&plan->arena, s->state->first_prompt).p;
    (*found)->other = other;
    return other->session != NULL;
}

enum err_code planning_mark_concurrent(const struct planning *p, struct rewind_plan *plan,
                                       struct err *e)
{
    const struct point_list *all = &p->view.catalog->points;
    const struct point *mine = p->point;
    AUTO_FREE struct rewind_target **sorted = NULL;

    if (mine->source != POINT_SHADOW || plan->n == 0)
        return ERR_OK;
    NEED(sorted = malloc(plan->n * sizeof *sorted));
    for (size_t i = 0; i < plan->n; i++)
        sorted[i] = &plan->target[i];
    qsort(sorted, plan->n, sizeof *sorted, entire_compare_target_path);

    /* Later commits on the same branch have a lower order, because branches were walked from their tips. */
    for (size_t i = 0; i < all->n; i++) {
        const struct point *by = &all->point[i];
        CLEANUP(view_turn_close) struct view_turn t = { .diff = NULL };

        if (by->source != POINT_SHADOW || by->order >= mine->order || !by->session.n ||
            slice_eq(by->session, mine->session) || !slice_eq(by->branch, mine->branch) ||
            !view_turn_open(&p->view, by, NULL, &t))
            continue; /* a commit that cannot be read is skipped */
        for (size_t k = 0; k < git_diff_num_deltas(t.diff); k++)
            NEED(name_other(p, sorted, by, git_diff_get_delta(t.diff, k)->new_file.path, plan));
    }
    return ERR_OK;
}

enum err_code planning_describe(struct planning *p, struct rewind_plan *plan, struct err *e)
{
    struct arena *a = &plan->arena;

    plan->system = "entire";
    NEED(plan->session = arena_copy(a, p->view.session->id).p);
    NEED(plan->point = arena_copy(a, p->point->id).p);
    plan->point_ms = p->point->time_ms;
    plan->before = make_safety_commit;
    TRY(rewind_plan_root(p->view.store->base.env, plan, p->view.root, e));
    /* core.worktree may name any directory; only one whose .git leads back is a work tree. */
    plan->wide = plan->wide || !view_root_is_own(&p->view);
    return ERR_OK;
}

enum err_code planning_notes(const struct planning *p, struct rewind_plan *plan, struct err *e)
{
    const struct {
        size_t n;
        const char *one, *many;
    } counts[] = {
        { p->apart, "file in .claude or .gemini is in the checkpoint too, and is not touched",
          "files in .claude or .gemini are in the checkpoint too, and are not touched" },
        { p->links, "link or submodule of the checkpoint is left as it is",
          "links or submodules of the checkpoint are left as they are" },
        { p->filtered, "file that needs a git filter is left as it is",
          "files that need a git filter are left as they are" },
        { p->ignored, "file that git ignores is left as it is",
          "files that git ignores are left as they are" },
    };
    const char *beside = catalog_concurrent_note(p->view.catalog, p->view.session, &plan->arena);
    char text[160];

    if (beside)
        TRY(rewind_plan_note(plan, beside, e));
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        if (counts[i].n == 0)
            continue;
        snprintf(text, sizeof text, "%zu %s", counts[i].n,
                 counts[i].n == 1 ? counts[i].one : counts[i].many);
        TRY(rewind_plan_note(plan, text, e));
    }
    if (!p->rules.index && !p->entire_rule)
        TRY(rewind_plan_note(
            plan, "the index of git cannot be read: what a rule ignores is left as it is", e));
    if (p->point->source != POINT_SHADOW)
        TRY(rewind_plan_note(plan, "the files are those of the commit that names this checkpoint",
                             e));
    return ERR_OK;
}

static void planning_close(struct planning *p)
{
    tree_ignore_fini(&p->ignores);
    disktree_rules_close(&p->rules);
    view_close(&p->view);
}

enum err_code planning_run(const struct store *st, const struct session_ref *ref,
                           struct slice point, bool entire_rule, planning_fn *make,
                           struct rewind_plan *out, struct err *e)
{
    CLEANUP(rewind_plan_fini) struct rewind_plan plan = { .point_ms = TIME_NONE };
    CLEANUP(planning_close) struct planning p = { .entire_rule = entire_rule };

    TRY(view_open(st, ref, &p.view, e));
    if (!p.view.root)
        return err_set(e, ERR_UNSUPPORTED, p.view.store->base.path,
                       "rewind: the repository has no work tree here");
    TRY(view_point(&p.view, point, &p.point, e));
    TRY(gitfiles_check_tree(p.view.root, e));
    disktree_rules_open(p.view.repo, &p.rules);
    TRY(tree_ignore_open(p.view.root, NULL, &p.ignores, e));
    TRY(make(&p, &plan, e));
    if (!entire_rule) {
        /* Asks a second time; see disktree_is_ignored. */
        AUTO_REPO *repo = NULL;
        CLEANUP(disktree_rules_close) struct disktree_rules again = { .repo = NULL };
        bool ignored = false;

        for (size_t i = 0; i < plan.n; i++) {
            const struct rewind_target *t = &plan.target[i];

            if (t->want != REWIND_ABSENT)
                continue;
            if (!repo && git_repository_open(&repo, p.view.root))
                return err_set(e, ERR_IO, p.view.root,
                               "look through the work tree: what git ignores");
            if (!again.repo)
                disktree_rules_open(repo, &again);
            TRY(disktree_is_ignored(&again, t->path + strlen(p.view.root) + 1, false, &ignored, e));
            if (ignored)
                return err_set(e, ERR_IO, t->path, "look through the work tree: what git ignores");
        }
    }
    HAND_OVER(out, plan);
    return ERR_OK;
}
