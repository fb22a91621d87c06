#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "store/git/repo.h"
#include "store/rewind/plan/plan.h"
#include "store/systems/opencode/opencode.h"

/* A rewind to a prompt: each file that a step changed since then, by a tool or by a command, is
 * restored from the tree before the prompt. The changed files are found from the trees before and
 * after each step, never from the names that OpenCode records: of a renamed file it records only
 * the new name, and its own revert loses the old one. Changes between two turns are a person's work
 * and stay. Turns that OpenCode's own revert undid are considered only for their own prompts. */

enum { PREFIX_SHORTEST = 4 };

static const char why_gone[] = "OpenCode has pruned this snapshot";
static const char why_none[] =
    "OpenCode made no snapshot of this turn: it does so only in git repositories";

static const char why_lost[] =
    "its snapshot has objects of the project's own git repository, which is gone";
static const char why_shut[] = "OpenCode's snapshots cannot be opened: git refuses the repository";

/* The reason why the tree of a prompt is missing. */
static const char *why_missing(const struct opencode_steps *s, const struct opencode_trees *t,
                               const struct opencode_prompt *p)
{
    if (!opencode_steps_tree(s, p).n)
        return why_none;
    return t->lost ? why_lost : t->shut ? why_shut : why_gone;
}

/* A file that the session changed since the point. */
struct changed {
    const char *path; /* from the root; absolute if it is outside of it */
    bool known;       /* from trees: `last` is the state after the last step that changed it */
    bool had;         /* it existed before the first of these steps */
    struct opencode_entry last;
    size_t in; /* the repository that has it */
};

struct planning {
    const struct store *store;
    struct opencode_steps steps;
    struct opencode_trees trees;
    const struct opencode_prompt *prompt;
    bool has_tree; /* of the prompt: */
    size_t at;     /* in this repository */
    git_oid tree;
    struct arena arena;
    struct slice_set path; /* the number of a path is the number of its file */
    struct changed *file;  /* in the arena */
    size_t files, links;
    bool cut; /* a step has no end */
    struct rewind_plan *plan;
    struct err *e;
};

/* ---- the point ---- */

static enum err_code find_prompt(struct planning *p, struct slice id)
{
    const struct opencode_prompt *begins = NULL;
    size_t hits = 0;
    int n = id.n > 64 ? 64 : (int)id.n;

    for (size_t i = 0; i < p->steps.prompts; i++) {
        const struct opencode_prompt *x = &p->steps.prompt[i];

        if (slice_eq(x->id, id)) {
            p->prompt = x;
            return ERR_OK;
        }
        if (id.n >= PREFIX_SHORTEST && x->id.n > id.n && memcmp(x->id.p, id.p, id.n) == 0) {
            begins = x;
            hits++;
        }
    }
    p->prompt = begins;
    if (hits == 1)
        return ERR_OK;
    return hits ? err_set(p->e, ERR_USAGE, "", "rewind: several prompts begin with %.*s", n, id.p)
                : err_set(p->e, ERR_NOT_FOUND, "", "rewind: the session has no prompt %.*s", n,
                          id.p);
}

/* ---- which files ---- */

static struct changed *file_at(struct planning *p, const char *path, bool *is_new)
{
    uint32_t number = slice_set_find(&p->path, slice_of(path));
    struct changed *more;

    *is_new = number == SLICE_SET_NONE;
    if (!*is_new)
        return &p->file[number];
    const char *copy = arena_copy_text(&p->arena, path);

    more = arena_grow(&p->arena, p->file, p->files, sizeof *more);
    if (!copy || !more || slice_set_add(&p->path, slice_of(copy), &number))
        return NULL;
    p->file = more;
    p->file[p->files] = (struct changed){ .path = copy };
    return &p->file[p->files++];
}

static bool is_plain(const git_diff_file *f)
{
    return (f->mode & 0170000) == 0100000;
}

static enum err_code add_delta(struct planning *p, const git_diff_delta *d, size_t in)
{
    bool added = d->status == GIT_DELTA_ADDED, deleted = d->status == GIT_DELTA_DELETED, is_new;
    const char *path = added ? d->new_file.path : d->old_file.path;

    if ((!added && !is_plain(&d->old_file)) || (!deleted && !is_plain(&d->new_file))) {
        p->links++;
        return ERR_OK;
    }
    struct changed *c = file_at(p, path, &is_new);

    if (!c)
        return err_nomem(p->e);
    if (is_new)
        c->had = !added;
    c->known = true;
    c->in = in;
    c->last = (struct opencode_entry){
        .exists = !deleted, .plain = true, .blob = d->new_file.id, .mode = d->new_file.mode
    };
    return ERR_OK;
}

/* Returns false if the trees cannot be compared. */
static bool diff_step(struct planning *p, const struct opencode_step *step, size_t *in,
                      git_diff **out)
{
    git_oid before, after;
    git_tree *x = NULL, *y = NULL;

    *in = opencode_trees_find_both(&p->trees, step, &before, &after);
    if (*in == p->trees.n)
        return false;
    git_repository *repo = p->trees.in[*in].repo;
    bool ok = repo_tree_fits(repo, &after, &before, NULL) == ERR_OK &&
              repo_tree(repo, &before, &x, NULL) == ERR_OK &&
              repo_tree(repo, &after, &y, NULL) == ERR_OK &&
              git_diff_tree_to_tree(out, repo, x, y, NULL) == 0;

    git_tree_free(x);
    git_tree_free(y);
    return ok;
}

/* The path from the root, or the path itself if it is outside. */
static const char *from_root(const struct planning *p, struct slice path)
{
    size_t n = p->steps.root.n;

    return n > 0 && path.n > n + 1 && memcmp(path.p, p->steps.root.p, n) == 0 && path.p[n] == '/'
               ? path.p + n + 1
               : path.p;
}

static bool is_in_tree(const struct planning *p, struct slice tree, const char *path)
{
    struct opencode_entry x;
    git_oid id;
    size_t at = opencode_trees_find(&p->trees, tree, &id);

    return at < p->trees.n && opencode_trees_entry(p->trees.in[at].repo, &id, path, &x) && x.exists;
}

/* Git quotes a name with quotes, backslashes or control characters, and OpenCode records the quoted
 * form as the name. */
static bool is_quoted(const char *path)
{
    size_t n = strlen(path);

    return n > 1 && path[0] == '"' && path[n - 1] == '"';
}

/* Handles a file that was named but is in neither tree of the step: it is ignored by git, large, or
 * outside the project. A file that is the same in both was not changed. */
static enum err_code add_named(struct planning *p, const struct opencode_step *step, bool compared)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < step->files && !rc; i++) {
        const char *path = from_root(p, step->file[i]);
        bool is_new;

        if (compared && path[0] != '/' &&
            (is_quoted(path) || is_in_tree(p, step->before, path) ||
             is_in_tree(p, step->after, path)))
            continue;
        struct changed *c = file_at(p, path, &is_new);

        if (!c)
            rc = err_nomem(p->e);
        else if (is_new || !compared)
            c->known = false;
    }
    return rc;
}

static enum err_code add_step(struct planning *p, const struct opencode_step *step)
{
    git_diff *diff = NULL;
    bool same = step->before.n && slice_eq(step->before, step->after);
    size_t in = 0;
    bool compared = same || diff_step(p, step, &in, &diff);
    enum err_code rc = ERR_OK;

    p->cut |= step->before.n && !step->after.n;
    for (size_t i = 0; diff && i < git_diff_num_deltas(diff) && !rc; i++)
        rc = add_delta(p, git_diff_get_delta(diff, i), in);
    git_diff_free(diff);
    return rc ? rc : add_named(p, step, compared);
}

/* ---- targets ---- */

static bool name_blob(struct planning *p, size_t in, const git_oid *blob, struct rewind_source *out)
{
    char hex[GIT_OID_HEXSZ + 1];

    git_oid_tostr(hex, sizeof hex, blob);
    out->objects = p->trees.in[in].objects;
    out->blob = arena_copy_text(&p->plan->arena, hex);
    return out->blob != NULL;
}

static unsigned depth_of(const char *path)
{
    unsigned n = 0;

    while ((path = strchr(path, '/'))) {
        n++;
        path++;
    }
    return n;
}

static enum err_code want_nothing(struct rewind_target *t, const char *why)
{
    t->want = REWIND_UNKNOWN;
    t->why = why;
    return ERR_OK;
}

/* Sets `want` from the tree of the prompt. */
static enum err_code set_wanted(struct planning *p, const struct changed *c,
                                struct rewind_target *t)
{
    struct opencode_entry x;

    if (c->path[0] == '/')
        return want_nothing(t, "it is outside of the project, and OpenCode keeps no copy of it");
    if (!p->has_tree || !opencode_trees_entry(p->trees.in[p->at].repo, &p->tree, c->path, &x))
        return want_nothing(t, why_missing(&p->steps, &p->trees, p->prompt));
    if (x.exists && (x.mode & 0170000) == 0040000)
        return want_nothing(t, "it was a directory");
    if (x.exists && !x.plain)
        return want_nothing(t, "it was a link or a submodule, which stays as it is");
    if (x.exists && repo_converts(p->trees.in[p->at].repo, c->path, t->path))
        return want_nothing(t, "git converts this file, so the snapshot need not have its bytes");
    if (x.exists) {
        t->want = REWIND_BYTES;
        rewind_target_git_mode(t, x.mode);
        return name_blob(p, p->at, &x.blob, &t->source) ? ERR_OK : ERR_NOMEM;
    }
    if (!c->known)
        return want_nothing(t, "OpenCode keeps no copy of it: git ignores it, or it is over 2 MB");
    if (c->had)
        return want_nothing(t, "it was created after this point, and not by the agent");
    t->want = REWIND_ABSENT;
    t->prune = depth_of(c->path);
    return ERR_OK;
}

static enum err_code set_last(struct planning *p, const struct changed *c, struct rewind_target *t)
{
    if (!c->known) {
        t->last_is_older = t->has_last = t->want == REWIND_BYTES;
        t->last = t->source;
        return ERR_OK;
    }
    t->has_last = true;
    t->last_absent = !c->last.exists;
    return t->last_absent || name_blob(p, c->in, &c->last.blob, &t->last) ? ERR_OK : ERR_NOMEM;
}

/* The steps together changed nothing. */
static bool is_as_before(const struct planning *p, const struct changed *c)
{
    struct opencode_entry x;

    return c->known && p->has_tree &&
           opencode_trees_entry(p->trees.in[p->at].repo, &p->tree, c->path, &x) &&
           x.exists == c->last.exists &&
           (!x.exists || (x.mode == c->last.mode && git_oid_equal(&x.blob, &c->last.blob)));
}

static enum err_code add_target(struct planning *p, const struct changed *c)
{
    const char *root = p->plan->root;
    struct rewind_target t = { .path =
                                   c->path[0] == '/' || !root
                                       ? c->path
                                       : arena_format(&p->plan->arena, "%s/%s", root, c->path) };

    if (!t.path || set_wanted(p, c, &t))
        return err_nomem(p->e);
    if (t.want != REWIND_UNKNOWN && set_last(p, c, &t))
        return err_nomem(p->e);
    return rewind_plan_add(p->plan, &t, p->e);
}

static int compare_changed(const void *x, const void *y)
{
    return strcmp(((const struct changed *)x)->path, ((const struct changed *)y)->path);
}

static enum err_code add_targets(struct planning *p)
{
    enum err_code rc = ERR_OK;

    if (p->files)
        qsort(p->file, p->files, sizeof *p->file, compare_changed);
    for (size_t i = 0; i < p->files && !rc; i++)
        if (!is_as_before(p, &p->file[i]))
            rc = add_target(p, &p->file[i]);
    return rc;
}

/* ---- the plan ---- */

static enum err_code add_notes(struct planning *p)
{
    enum err_code rc = rewind_plan_note(
        p->plan,
        "files over 2 MB and files that git ignores are not in OpenCode's snapshots: what "
        "commands did to them stays",
        p->e);

    if (!rc && p->cut)
        rc = rewind_plan_note(p->plan,
                              "a step was cut off: of its changes only the files that its tools "
                              "named are known, and those of its commands are not",
                              p->e);
    if (!rc && p->links)
        rc = rewind_plan_note(p->plan, "links and submodules are left as they are", p->e);
    return rc;
}

static enum err_code open_plan(struct planning *p, const struct session_ref *ref,
                               struct slice point)
{
    enum err_code rc = opencode_steps_read(ref, &p->steps, p->e);

    if (!rc)
        rc = find_prompt(p, point);
    if (!rc)
        rc = opencode_trees_open(ref->store, &p->steps, &p->plan->arena, &p->trees, p->e);
    if (rc)
        return rc;
    p->at = opencode_trees_find(&p->trees, opencode_steps_tree(&p->steps, p->prompt), &p->tree);
    p->has_tree = p->at < p->trees.n;
    p->plan->system = opencode_ops.name;
    p->plan->session = arena_copy(&p->plan->arena, ref->id).p;
    p->plan->point = arena_copy(&p->plan->arena, p->prompt->id).p;
    p->plan->point_ms = p->prompt->time_ms;
    rc = rewind_plan_root(ref->store->env, p->plan, p->steps.root.n ? p->steps.root.p : NULL, p->e);
    return rc || (p->plan->session && p->plan->point) ? rc : err_nomem(p->e);
}

enum err_code opencode_plan(const struct store *st, const struct session_ref *ref,
                            struct slice point, struct rewind_plan *out, struct err *e)
{
    struct rewind_plan plan = { .point_ms = TIME_NONE };
    struct planning p = { .store = st, .plan = &plan, .e = e };
    enum err_code rc = open_plan(&p, ref, point);

    size_t end = rc || p.prompt->undone ? p.steps.n : p.steps.kept;

    for (size_t i = rc ? end : p.prompt->step; !rc && i < end; i++)
        rc = add_step(&p, &p.steps.step[i]);
    if (!rc && !p.has_tree && p.prompt->step < end && p.files == 0)
        rc = err_set(e, ERR_UNSUPPORTED, ref->path.p, "rewind: %s",
                     why_missing(&p.steps, &p.trees, p.prompt));
    if (!rc)
        rc = add_targets(&p);
    if (!rc)
        rc = add_notes(&p);
    slice_set_fini(&p.path);
    arena_fini(&p.arena);
    opencode_trees_close(&p.trees);
    opencode_steps_fini(&p.steps);
    if (rc)
        rewind_plan_fini(&plan);
    else
        *out = plan;
    return rc;
}

/* ---- the points ---- */

static enum err_code count_files(const struct opencode_steps *s, size_t from, size_t to,
                                 size_t *out)
{
    struct slice_set paths = { .n = 0 };
    uint32_t number;
    enum err_code rc = ERR_OK;

    for (size_t i = from; i < to && !rc; i++)
        for (size_t k = 0; k < s->step[i].files && !rc; k++)
            rc = slice_set_add(&paths, s->step[i].file[k], &number);
    *out = paths.n;
    slice_set_fini(&paths);
    return rc;
}

static const char *why_no_point(const struct opencode_steps *s, const struct opencode_trees *t,
                                const struct opencode_prompt *p)
{
    struct slice hex = opencode_steps_tree(s, p);
    git_oid id;

    if (p->step == s->n)
        return NULL; /* nothing came after it */
    return opencode_trees_find(t, hex, &id) == t->n ? why_missing(s, t, p) : NULL;
}

static enum err_code fill_points(const struct opencode_steps *s, const struct opencode_trees *t,
                                 struct checkpoint_list *list)
{
    struct arena *a = &list->arena;
    enum err_code rc = ERR_OK;

    list->checkpoint = arena_zalloc(a, (s->prompts + 1) * sizeof *list->checkpoint);
    for (size_t i = 0; list->checkpoint && i < s->prompts && !rc; i++) {
        const struct opencode_prompt *p = &s->prompt[i];
        struct slice id = arena_copy(a, p->id);
        size_t end = i + 1 < s->prompts ? s->prompt[i + 1].step : s->n, files;

        rc = count_files(s, p->step, end, &files);
        list->checkpoint[list->n++] = (struct checkpoint){ .id = id,
                                                           .message = id,
                                                           .prompt = arena_copy(a, p->text),
                                                           .time_ms = p->time_ms,
                                                           .kind = CHECKPOINT_TURN,
                                                           .files = files,
                                                           .copied = p->copied,
                                                           .why = why_no_point(s, t, p) };
    }
    return rc || !list->checkpoint || a->failed ? ERR_NOMEM : ERR_OK;
}

enum err_code opencode_checkpoints(const struct store *st, const struct session_ref *ref,
                                   struct checkpoint_list *out, struct err *e)
{
    struct checkpoint_list list = { .n = 0 };
    struct opencode_steps s;
    struct opencode_trees t = { .n = 0 };
    enum err_code rc = opencode_steps_read(ref, &s, e);

    if (rc)
        return rc;
    rc = opencode_trees_open(st, &s, &s.arena, &t, e);
    if (!rc && fill_points(&s, &t, &list))
        rc = err_nomem(e);
    opencode_trees_close(&t);
    opencode_steps_fini(&s);
    if (rc)
        checkpoint_list_fini(&list);
    else
        *out = list;
    return rc;
}
