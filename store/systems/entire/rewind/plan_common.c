#include "store/systems/entire/rewind/plan_common.h"

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

/* The path relative to the root, or NULL if it is outside. */
static const char *path_below_root(const struct rewind_plan *plan, const char *path)
{
    struct slice root = slice_of(plan->root);

    return path_under(slice_of(path), root) && path[root.n] == '/' ? path + root.n + 1 : NULL;
}

static enum err_code add_work_tree_file(struct treewrite *t, const struct rewind_plan *plan,
                                        const struct rewind_entry *x, struct err *e)
{
    const char *path = path_below_root(plan, x->target->path);
    struct err why;

    if (!path)
        return ERR_OK;
    enum err_code rc = treewrite_add_file(t, plan->root, path, &why);

    /* A file that cannot be read is not rewound either. */
    if (rc && x->chosen && x->action != REWIND_UNCHANGED) {
        if (e)
            *e = why;
        return rc;
    }
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

static enum err_code write_tree(git_repository *repo, const struct rewind_preview *p,
                                const git_oid *head, git_oid *out, struct err *e)
{
    struct treewrite t;
    git_commit *c = NULL;
    git_oid base;
    bool has_base = head && git_commit_lookup(&c, repo, head) == 0;

    if (has_base)
        base = *git_commit_tree_id(c);
    git_commit_free(c);
    enum err_code rc = treewrite_open(repo, has_base ? &base : NULL, &t, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < p->n && !rc; i++)
        rc = add_work_tree_file(&t, p->plan, &p->entry[i], e);
    if (!rc)
        rc = treewrite_finish(&t, out, e);
    treewrite_close(&t);
    return rc;
}

static enum err_code commit_work_tree(git_repository *repo, const struct rewind_preview *p,
                                      const git_oid *head, const char *id_of_record, struct err *e)
{
    git_signature *sig = NULL;
    struct commit_text c = { .parent = head, .parents = head != NULL };
    struct buf message = { 0 };
    git_oid id;
    char ref[128];
    enum err_code rc = treewrite_author(repo, &sig, &c.author, e);

    if (!rc && buf_addf(&message, "Before going back to %s\n\nSession: %s\n", p->plan->point,
                        p->plan->session))
        rc = err_nomem(e);
    if (!rc)
        rc = write_tree(repo, p, head, &c.tree, e);
    c.committer = c.author;
    c.message = buf_slice(&message);
    if (!rc)
        rc = treewrite_commit(repo, &c, &id, e);
    snprintf(ref, sizeof ref, REF_BEFORE "%s", id_of_record);
    if (!rc)
        rc = repo_ref_move(repo, ref, NULL, &id, "reprise: before a rewind", e);
    buf_fini(&message);
    git_signature_free(sig);
    return rc;
}

/* For rewind_plan.before. */
static enum err_code make_safety_commit(const struct rewind_preview *preview, const char *id,
                                        struct err *e)
{
    git_repository *repo;
    git_oid head;
    enum err_code rc = repo_open(preview->plan->root, &repo, e);

    if (rc)
        return rc;
    rc = commit_work_tree(repo, preview, repo_has_ref(repo, "HEAD", &head) ? &head : NULL, id, e);
    repo_close(repo);
    return rc ? err_wrap(e, rc, "keep the work tree before it is changed") : ERR_OK;
}

/* ---- the list of the session's beginning ---- */

static int compare_start_file(const void *x, const void *y)
{
    return slice_compare(*(const struct slice *)x, *(const struct slice *)y);
}

static bool add_names(struct planning *p, struct slice array)
{
    struct arena *a = &p->view.arena;
    struct json_iter it;
    struct slice key, value, text;

    if (!json_iter_open(&it, array))
        return true;
    while (json_iter_next(&it, &key, &value)) {
        struct slice *more = arena_grow(a, p->start, p->starts, sizeof *more);

        if (!more || !json_text(value, a, &text))
            return false;
        p->start = more;
        more[p->starts] = arena_copy(a, text);
        if (!more[p->starts++].p)
            return false;
    }
    if (p->starts)
        qsort(p->start, p->starts, sizeof *p->start, compare_start_file);
    return true;
}

enum err_code planning_start(struct planning *p, struct err *e)
{
    const struct view *v = &p->view;
    struct arena a = { 0 };
    struct buf json = { 0 };
    struct entire_state s;
    struct slice names;
    enum err_code rc = ERR_OK;

    if (v->session->state)
        rc = state_read_again(v->store->states, v->session->id, &a, &s, &json, e);
    if (!rc && v->session->state) {
        p->has_start = true;
        if (json_get(buf_slice(&json), "untracked_files_at_start", &names) &&
            json_type(names) == JSON_ARRAY && !add_names(p, names))
            rc = err_nomem(e);
    }
    buf_fini(&json);
    arena_fini(&a);
    return rc;
}

bool planning_at_start(const struct planning *p, const char *path)
{
    struct slice key = slice_of(path);

    return p->starts && bsearch(&key, p->start, p->starts, sizeof key, compare_start_file);
}

/* ---- trees ---- */

static bool name_blob(const struct planning *p, const git_oid *blob, struct arena *a,
                      struct rewind_source *out)
{
    char hex[GIT_OID_HEXSZ + 1];

    git_oid_tostr(hex, sizeof hex, blob);
    out->objects = arena_format(a, "%s/objects", p->view.store->common);
    out->blob = arena_format(a, "%s", hex);
    return out->objects && out->blob;
}

/* What the newest tree contains of the file. */
static enum err_code set_last_known(const struct planning *p, const char *path,
                                    struct rewind_target *t, struct arena *a)
{
    git_oid blob;
    unsigned mode;

    if (!p->has_last)
        return ERR_OK;
    t->has_last = true;
    t->last_absent = !view_tree_entry(&p->view, &p->last, path, &blob, &mode);
    return t->last_absent || name_blob(p, &blob, a, &t->last) ? ERR_OK : ERR_NOMEM;
}

/* ---- files of the wanted tree ---- */

struct files {
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
    bool yes;

    if (p->point->source == POINT_SHADOW &&
        (!p->has_head || !view_tree_entry(&p->view, &p->head, path, &of_head, &mode) ||
         !git_oid_equal(&of_head, blob)))
        return false;
    if (git_filter_list_load(&filters, p->view.repo, NULL, path, GIT_FILTER_TO_WORKTREE, 0))
        filters = NULL;
    if (git_attr_get(&driver, p->view.repo, 0, path, "filter"))
        driver = NULL;
    yes = filters || git_attr_value(driver) == GIT_ATTR_VALUE_STRING;
    git_filter_list_free(filters);
    return yes;
}

enum err_code planning_file(struct planning *p, const char *path, const git_oid *blob,
                            unsigned mode, struct rewind_plan *plan, struct err *e)
{
    struct arena *a = &plan->arena;
    struct rewind_target t = { .path = arena_format(a, "%s/%s", p->view.root, path),
                               .want = REWIND_BYTES };

    if (!t.path || !name_blob(p, blob, a, &t.source))
        return err_nomem(e);
    if (p->entire_rule) {
        t.has_mode = true;
        t.mode = mode & 0100 ? 0755 : 0644;
    } else if (is_filtered(p, path, blob)) {
        p->filtered++;
        return ERR_OK;
    } else {
        rewind_target_git_mode(&t, mode);
    }
    if (set_last_known(p, path, &t, a))
        return err_nomem(e);
    return rewind_plan_add(plan, &t, e);
}

enum err_code planning_removal(struct planning *p, const char *path, struct rewind_plan *plan,
                               struct err *e)
{
    struct rewind_target t = { .path = arena_format(&plan->arena, "%s/%s", p->view.root, path),
                               .want = REWIND_ABSENT };
    unsigned mode;
    git_oid blob;

    if (!t.path)
        return err_nomem(e);
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
    if (set_last_known(p, path, &t, &plan->arena))
        return err_nomem(e);
    return rewind_plan_add(plan, &t, e);
}

static bool is_apart(const struct planning *p, const char *path)
{
    return p->entire_rule ? strncmp(path, ".entire", 7) == 0 : disktree_apart(path);
}

static int visit_tree_entry(const char *dir, const git_tree_entry *x, void *arg)
{
    struct files *f = arg;
    unsigned mode = (unsigned)git_tree_entry_filemode_raw(x);
    char path[4096];

    if (git_tree_entry_type(x) == GIT_OBJECT_TREE)
        return 0;
    if ((size_t)snprintf(path, sizeof path, "%s%s", dir, git_tree_entry_name(x)) >= sizeof path)
        f->rc = err_set(f->e, ERR_FORMAT, f->p->point->id.p, "plan a rewind: a path is too long");
    else if (is_apart(f->p, path))
        f->p->apart += strncmp(path, ".entire", 7) != 0;
    else if (git_tree_entry_type(x) != GIT_OBJECT_BLOB || (mode & 0170000) == 0120000)
        f->p->links++;
    else
        f->rc = planning_file(f->p, path, git_tree_entry_id(x), mode, f->plan, f->e);
    return f->rc ? -1 : 0;
}

enum err_code planning_files(struct planning *p, struct rewind_plan *plan, struct err *e)
{
    struct files f = { .p = p, .plan = plan, .e = e };
    git_tree *tree = NULL;
    enum err_code fits = repo_tree_fits(p->view.repo, &p->wanted, NULL, e);

    if (fits)
        return err_wrap(e, fits, "checkpoint %s", p->point->id.p);
    int answer = git_tree_lookup(&tree, p->view.repo, &p->wanted);

    if (!answer)
        answer = git_tree_walk(tree, GIT_TREEWALK_PRE, visit_tree_entry, &f);
    git_tree_free(tree);
    if (f.rc)
        return f.rc;
    return answer ? repo_error(e, answer, p->point->id.p, "plan a rewind: read its tree") : ERR_OK;
}

/* ---- what they changed ---- */

struct naming {
    const struct planning *p;
    struct rewind_plan *plan;
    struct rewind_target **sorted; /* sorted by path */
    enum err_code rc;
};

static int compare_target_path(const void *x, const void *y)
{
    return strcmp((*(struct rewind_target *const *)x)->path,
                  (*(struct rewind_target *const *)y)->path);
}

static struct rewind_target *find_named_target(struct naming *x, const char *name)
{
    struct arena a = { 0 };
    struct rewind_target key = { .path = arena_format(&a, "%s/%s", x->p->view.root, name) };
    struct rewind_target *at = &key, **found = NULL;

    if (key.path)
        found = bsearch(&at, x->sorted, x->plan->n, sizeof *x->sorted, compare_target_path);
    else
        x->rc = ERR_NOMEM;
    arena_fini(&a);
    return found ? *found : NULL;
}

static void name_file(struct naming *x, const struct point *by, const char *file)
{
    const struct catalog_session *s = catalog_find(x->p->view.catalog, by->session);
    struct arena *a = &x->plan->arena;
    struct rewind_target *t = find_named_target(x, file);

    if (!t || (t->other && t->other->at_ms >= by->time_ms))
        return;
    struct rewind_other *other = arena_zalloc(a, sizeof *other);

    if (other) {
        *other =
            (struct rewind_other){ .session = arena_copy(a, by->session).p, .at_ms = by->time_ms };
        if (s && s->state && s->state->first_prompt.n)
            other->title = arena_copy(a, s->state->first_prompt).p;
    }
    if (!other || !other->session)
        x->rc = ERR_NOMEM;
    t->other = other;
}

/* A commit that cannot be read is skipped. */
static void name_step(struct naming *x, const struct point *by)
{
    struct view_turn t;

    if (view_turn_open(&x->p->view, by, NULL, &t))
        for (size_t i = 0; i < git_diff_num_deltas(t.diff) && !x->rc; i++)
            name_file(x, by, git_diff_get_delta(t.diff, i)->new_file.path);
    view_turn_close(&t);
}

/* Returns true for a later commit of another session on the same branch; branches were walked from their tips. */
static bool is_later(const struct point *p, const struct point *by)
{
    return by->source == POINT_SHADOW && slice_eq(by->branch, p->branch) && by->session.n &&
           !slice_eq(by->session, p->session) && by->order < p->order;
}

enum err_code planning_mark_concurrent(const struct planning *p, struct rewind_plan *plan,
                                       struct err *e)
{
    const struct point_list *all = &p->view.catalog->points;
    struct naming x = { .p = p, .plan = plan };

    if (p->point->source != POINT_SHADOW || plan->n == 0)
        return ERR_OK;
    x.sorted = malloc(plan->n * sizeof *x.sorted);
    if (!x.sorted)
        return err_nomem(e);
    for (size_t i = 0; i < plan->n; i++)
        x.sorted[i] = &plan->target[i];
    qsort(x.sorted, plan->n, sizeof *x.sorted, compare_target_path);
    for (size_t i = 0; i < all->n && !x.rc; i++)
        if (is_later(p->point, &all->point[i]))
            name_step(&x, &all->point[i]);
    free(x.sorted);
    return x.rc ? err_nomem(e) : ERR_OK;
}

enum err_code planning_describe(struct planning *p, struct rewind_plan *plan, struct err *e)
{
    struct arena *a = &plan->arena;

    plan->system = "entire";
    plan->session = arena_copy(a, p->view.session->id).p;
    plan->point = arena_copy(a, p->point->id).p;
    plan->point_ms = p->point->time_ms;
    plan->before = make_safety_commit;
    enum err_code rc = rewind_plan_root(p->view.store->base.env, plan, p->view.root, e);

    /* core.worktree may name any directory; only one whose .git leads back is a work tree. */
    plan->wide = plan->wide || !view_root_is_own(&p->view);
    return rc || (plan->session && plan->point) ? rc : err_nomem(e);
}

static enum err_code note_count(struct rewind_plan *plan, size_t n, const char *one,
                                const char *many, struct err *e)
{
    char text[160];

    if (n == 0)
        return ERR_OK;
    snprintf(text, sizeof text, "%zu %s", n, n == 1 ? one : many);
    return rewind_plan_note(plan, text, e);
}

enum err_code planning_notes(const struct planning *p, struct rewind_plan *plan, struct err *e)
{
    const char *beside = catalog_concurrent_note(p->view.catalog, p->view.session, &plan->arena);
    enum err_code rc = beside ? rewind_plan_note(plan, beside, e) : ERR_OK;

    if (!rc)
        rc = note_count(
            plan, p->apart,
            "file in .claude or .gemini is in the checkpoint too, and is not touched",
            "files in .claude or .gemini are in the checkpoint too, and are not touched", e);

    if (!rc)
        rc = note_count(plan, p->links, "link or submodule of the checkpoint is left as it is",
                        "links or submodules of the checkpoint are left as they are", e);
    if (!rc)
        rc = note_count(plan, p->filtered, "file that needs a git filter is left as it is",
                        "files that need a git filter are left as they are", e);
    if (!rc)
        rc = note_count(plan, p->ignored, "file that git ignores is left as it is",
                        "files that git ignores are left as they are", e);
    if (!rc && !p->rules.index && !p->entire_rule)
        rc = rewind_plan_note(
            plan, "the index of git cannot be read: what a rule ignores is left as it is", e);
    if (!rc && p->point->source != POINT_SHADOW)
        rc = rewind_plan_note(plan, "the files are those of the commit that names this checkpoint",
                              e);
    return rc;
}

/* Asks a second time; see disktree_is_ignored. */
static enum err_code confirm_removals(const struct planning *p, const struct rewind_plan *plan,
                                      struct err *e)
{
    struct disktree_rules again = { .repo = NULL };
    git_repository *repo = NULL;
    bool ignored = false;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < plan->n && !rc && !ignored; i++) {
        const struct rewind_target *t = &plan->target[i];

        if (t->want != REWIND_ABSENT)
            continue;
        if (!repo && git_repository_open(&repo, p->view.root))
            return err_set(e, ERR_IO, p->view.root, "look through the work tree: what git ignores");
        if (!again.repo)
            disktree_rules_open(repo, &again);
        rc = disktree_is_ignored(&again, t->path + strlen(p->view.root) + 1, false, &ignored, e);
        if (ignored)
            rc = err_set(e, ERR_IO, t->path, "look through the work tree: what git ignores");
    }
    disktree_rules_close(&again);
    git_repository_free(repo);
    return rc;
}

enum err_code planning_run(const struct store *st, const struct session_ref *ref,
                           struct slice point, struct planning *p, planning_fn *make,
                           struct rewind_plan *out, struct err *e)
{
    struct rewind_plan plan = { .point_ms = TIME_NONE };
    enum err_code rc = view_open(st, ref, &p->view, e);

    if (rc)
        return rc;
    if (!p->view.root)
        rc = err_set(e, ERR_UNSUPPORTED, p->view.store->base.path,
                     "rewind: the repository has no work tree here");
    if (!rc)
        rc = view_point(&p->view, point, &p->point, e);
    if (!rc)
        rc = gitfiles_check_tree(p->view.root, e);
    if (!rc) {
        disktree_rules_open(p->view.repo, &p->rules);
        rc = tree_ignore_open(p->view.root, NULL, &p->ignores, e);
    }
    if (!rc)
        rc = make(p, &plan, e);
    if (!rc && !p->entire_rule)
        rc = confirm_removals(p, &plan, e);
    tree_ignore_fini(&p->ignores);
    disktree_rules_close(&p->rules);
    view_close(&p->view);
    if (rc)
        rewind_plan_fini(&plan);
    else
        *out = plan;
    return rc;
}
