#include "store/systems/entire/rewind/planning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/json/json.h"
#include "store/git/repo.h"
#include "store/systems/entire/rewind/disktree.h"

/* ---- the list of the session's beginning ---- */

static int compare_start_file(const void *x, const void *y)
{
    const struct slice *a = x, *b = y;
    int d = memcmp(a->p, b->p, a->n < b->n ? a->n : b->n);

    return d ? d : (a->n > b->n) - (a->n < b->n);
}

static bool take_names(struct planning *p, struct slice array)
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
    const char *name = arena_format(&a, "%s.json", v->session->id.p);
    enum err_code rc = ERR_OK;

    if (!name)
        return err_nomem(e);
    if (v->session->state)
        rc = state_read(v->store->states, name, &a, &s, &json, e);
    if (!rc && v->session->state) {
        p->has_start = true;
        if (json_get(buf_slice(&json), "untracked_files_at_start", &names) &&
            json_type(names) == JSON_ARRAY && !take_names(p, names))
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

bool planning_entry(const struct planning *p, const git_oid *tree, const char *path, git_oid *blob,
                    unsigned *mode)
{
    return view_tree_entry(&p->view, tree, path, blob, mode);
}

static bool name_blob(const struct planning *p, const git_oid *blob, struct arena *a,
                      struct rewind_source *out)
{
    char hex[GIT_OID_HEXSZ + 1];

    git_oid_tostr(hex, sizeof hex, blob);
    out->objects = arena_format(a, "%s/objects", p->view.store->common);
    out->blob = arena_format(a, "%s", hex);
    return out->objects && out->blob;
}

enum err_code planning_last(const struct planning *p, const char *path, struct rewind_target *t,
                            struct arena *a)
{
    git_oid blob;
    unsigned mode;

    if (!p->has_last)
        return ERR_OK;
    t->has_last = true;
    t->last_absent = !planning_entry(p, &p->last, path, &blob, &mode);
    return t->last_absent || name_blob(p, &blob, a, &t->last) ? ERR_OK : ERR_NOMEM;
}

/* ---- files of the wanted tree ---- */

struct files {
    struct planning *p;
    struct rewind_plan *plan;
    enum err_code rc;
    struct err *e;
};

/* git knows of a mode only whether the file can be run: the rest of the present mode stays. */
static void take_mode(struct rewind_target *t, unsigned mode)
{
    bool runs = mode & 0100;
    struct stat st;

    if (lstat(t->path, &st) || !S_ISREG(st.st_mode)) {
        t->has_mode = true;
        t->mode = runs ? 0755 : 0644;
    } else if (runs != ((st.st_mode & 0100) != 0)) {
        unsigned present = st.st_mode & 07777;

        t->has_mode = true;
        t->mode = runs ? present | (present & 0444) >> 2 : present & ~0111u;
    }
}

/* Bytes that a filter makes of a blob on the way into the work tree (line ends, large files). A checkpoint holds
 * the bytes of the disk for what the agent changed, but those of HEAD for the rest. */
static bool is_filtered(const struct planning *p, const char *path, const git_oid *blob)
{
    git_filter_list *filters = NULL;
    const char *driver = NULL;
    git_oid of_head;
    unsigned mode;
    bool yes;

    if (p->point->source == POINT_SHADOW &&
        (!p->has_head || !planning_entry(p, &p->head, path, &of_head, &mode) ||
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
        take_mode(&t, mode);
    }
    if (planning_last(p, path, &t, a))
        return err_nomem(e);
    return rewind_plan_add(plan, &t, e);
}

enum err_code planning_removal(struct planning *p, const char *path, struct rewind_plan *plan,
                               struct err *e)
{
    struct rewind_target t = { .path = arena_format(&plan->arena, "%s/%s", p->view.root, path),
                               .want = REWIND_ABSENT };

    if (!t.path)
        return err_nomem(e);
    for (const char *c = path; (c = strchr(c, '/')); c++)
        t.prune++;
    if (planning_last(p, path, &t, &plan->arena))
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

bool planning_is_plain(const git_diff_file *file)
{
    return (file->mode & 0170000) == 0100000;
}
