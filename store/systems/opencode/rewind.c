#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "store/fs/kernel.h"
#include "store/git/repo.h"
#include "store/git/tree_ignore.h"
#include "store/rewind/plan/plan.h"
#include "store/systems/common/inferred.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/opencode/opencode.h"

/* A rewind to a prompt: each file that a step changed since then, by a tool or by a command, is
 * restored from the tree before the prompt. The changed files are found from the trees before and
 * after each step, never from the names that OpenCode records: of a renamed file it records only
 * the new name, and its own revert loses the old one. Changes between two turns are a person's work
 * and stay. Turns that OpenCode's own revert undid are considered only for their own prompts. */

/* A file that the session changed since the point. */
struct changed {
    const char *path; /* from the root; absolute if it is outside of it */
    bool known;       /* from trees: `last` is the state after the last step that changed it */
    bool had;         /* it existed before the first of these steps */
    size_t step;      /* the first of these steps */
    const char *why;  /* why it is in no tree of a step that named it */
    struct opencode_entry last;
    size_t in; /* the repository that has it */
};

struct planning {
    const struct store *store;
    struct opencode_steps steps;
    struct opencode_trees trees;
    const struct opencode_prompt *prompt;
    bool has_tree; /* the prompt has a tree: */
    size_t at;     /* in this repository */
    git_oid tree;
    size_t end; /* the end of the steps that count */
    struct arena arena;
    struct slice_set path; /* the number of a path is the number of its file */
    struct changed *file;  /* in the arena */
    size_t files, links;
    bool cut;                   /* a step has no end */
    struct tree_ignore ignored; /* the lists outside of the trees */
    struct rewind_plan *plan;
    struct err *e;
};

/* ---- the point ---- */

/* ---- which files ---- */

static struct changed *file_at(struct planning *p, const char *path, size_t step, bool *is_new)
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
    p->file[p->files] = (struct changed){ .path = copy, .step = step };
    return &p->file[p->files++];
}

static bool opencode_is_plain(const git_diff_file *f)
{
    return (f->mode & 0170000) == 0100000;
}

static enum err_code opencode_add_delta(struct planning *p, const git_diff_delta *d, size_t step,
                                        size_t in)
{
    bool added = d->status == GIT_DELTA_ADDED, deleted = d->status == GIT_DELTA_DELETED, is_new;
    const char *path = added ? d->new_file.path : d->old_file.path;

    if ((!added && !opencode_is_plain(&d->old_file)) ||
        (!deleted && !opencode_is_plain(&d->new_file))) {
        p->links++;
        return ERR_OK;
    }
    struct changed *c = file_at(p, path, step, &is_new);

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

static bool is_in_tree(const struct planning *p, struct slice tree, const char *path)
{
    struct opencode_entry x;
    git_oid id;
    size_t at = opencode_trees_find(&p->trees, tree, &id);

    return at < p->trees.n && opencode_trees_entry(p->trees.in[at].repo, &id, path, &x) && x.exists;
}

/* Git quotes a name with quotes, backslashes or control characters, and OpenCode records the quoted
 * form as the name. */
static bool opencode_is_quoted(const char *path)
{
    size_t n = strlen(path);

    return n > 1 && path[0] == '"' && path[n - 1] == '"';
}

/* Handles a file that was named but is in neither tree of the step: it is ignored by git, large, or
 * outside the project. A file that is the same in both was not changed. */
static enum err_code opencode_add_named(struct planning *p, size_t number, bool compared)
{
    const struct opencode_step *step = &p->steps.step[number];
    const char *why =
        compared         ? "the agent keeps no copy of it: git ignores it, or it is over 2 MB"
        : step->after.n  ? "the agent has pruned a snapshot of the step that changed it"
        : step->before.n ? "the step that changed it was cut off before the agent took a snapshot"
                         : opencode_why_none;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < step->files && !rc; i++) {
        /* The path from the root, or the path itself if it is outside. */
        size_t n = p->steps.root.n;
        const char *path = n > 0 && step->file[i].n > n + 1 &&
                                   memcmp(step->file[i].p, p->steps.root.p, n) == 0 &&
                                   step->file[i].p[n] == '/'
                               ? step->file[i].p + n + 1
                               : step->file[i].p;

        bool is_new;

        if (compared && path[0] != '/' &&
            (opencode_is_quoted(path) || is_in_tree(p, step->before, path) ||
             is_in_tree(p, step->after, path)))
            continue;
        struct changed *c = file_at(p, path, number, &is_new);

        /* A step that cannot be compared may have changed even a file whose state was known. */
        if (!c) {
            rc = err_nomem(p->e);
        } else if (is_new || !compared) {
            c->known = false;
            c->why = why;
        }
    }
    return rc;
}

static enum err_code add_step(struct planning *p, size_t number)
{
    const struct opencode_step *step = &p->steps.step[number];
    git_diff *diff = NULL;
    bool same = step->before.n && slice_eq(step->before, step->after);
    size_t in = 0;
    bool compared = same || diff_step(p, step, &in, &diff);
    enum err_code rc = ERR_OK;

    p->cut |= step->before.n && !step->after.n;
    for (size_t i = 0; diff && i < git_diff_num_deltas(diff) && !rc; i++)
        rc = opencode_add_delta(p, git_diff_get_delta(diff, i), number, in);
    git_diff_free(diff);
    return rc ? rc : opencode_add_named(p, number, compared);
}

/* ---- targets ---- */

static bool opencode_name_blob(struct planning *p, size_t in, const git_oid *blob,
                               struct rewind_source *out)
{
    char hex[GIT_OID_HEXSZ + 1];

    git_oid_tostr(hex, sizeof hex, blob);
    out->objects = p->trees.in[in].objects;
    out->blob = arena_copy_text(&p->plan->arena, hex);
    return out->blob != NULL;
}

/* ---- files that entered a tree ---- */

/* A file that is in no earlier tree need not be new: git may have ignored it, it may have been over 2 MB, or OpenCode
 * may have failed to see it. So the tree of the point shows that there was none only if its rules did not ignore the
 * file, and if the session's calls explain where it comes from. */

/* What the calls from the point up to the end of a file's first step show. */
struct origin_of_file {
    bool is_new;       /* a tool found no file */
    bool is_old;       /* a tool found the file */
    bool is_made;      /* a call may have made it */
    bool is_moved;     /* a command may have moved it there */
    bool is_shortened; /* a command may have shortened it */
};

/* The command moves files, and names the file or a directory that it is in. Others may move it, too, but do not show it. */
static bool opencode_may_move(struct slice command, struct slice root, const char *path)
{
    const bool inside = slice_starts(slice_of(path), root.p);
    char name[NAME_MAX + 1];

    if (!slice_has(command, "mv"))
        return false;
    for (const char *at = inside ? path + root.n : path, *end; *at; at = end) {
        at += strspn(at, "/");
        end = at + strcspn(at, "/");
        snprintf(name, sizeof name, "%.*s", (int)(end - at), at);
        if (name[0] && slice_has(command, name))
            return true;
    }
    return false;
}

static void add_call_to(struct planning *p, const struct opencode_call *x, const char *path,
                        bool is_last, bool *removed, struct origin_of_file *o)
{
    const char *dir = arena_copy(&p->arena, x->dir).p;

    if (x->path.n) {
        if (!slice_eq(x->path, slice_of(path)))
            return;
        if (!o->is_made && !*removed) {
            o->is_new = x->found == OPENCODE_FOUND_NONE;
            o->is_old = x->found == OPENCODE_FOUND;
        }
        o->is_made = true;
        return;
    }
    bool may = !x->command.n || !x->dir.n || !dir || inferred_may_change(x->command, dir, path);

    if (!may)
        return;
    *removed |= x->command.n && dir && inferred_may_remove(x->command, dir, path);
    if (!is_last)
        return;
    o->is_shortened |= !o->is_made && inferred_may_shorten(x->command, path);
    o->is_moved |= opencode_may_move(x->command, p->steps.root, path);
    o->is_made = true;
}

/* The present file is older than the step in which it entered a tree: it was born before it, or written before it and
 * not born in it. A file system whose times are whole seconds makes a file older than it is, which keeps it. *born: in
 * the step. */
static bool is_older(const struct opencode_step *step, const char *path, bool *born)
{
    enum { TICK_MS = 10 }; /* by which the time of a file may be behind the clock */
    struct stat sb;
    struct file f;

    *born = false;
    if (step->begin_ms == TIME_NONE || lstat(path, &sb) != 0 ||
        file_open(AT_FDCWD, path, 0, &f, NULL))
        return false;
    int64_t born_ms = fs_born_ns(f.fd) / 1000000, from = step->begin_ms - TICK_MS;
    bool proves = fs_births_are_true(f.fd);

    file_close(&f);
    *born = proves && born_ms >= from && step->end_ms != TIME_NONE && born_ms <= step->end_ms;
    return (born_ms && born_ms < from) || (!*born && time_ms_of(sb.st_mtim) < from);
}

/* The file appeared after the tree at the beginning of a step that has none at its end. */
static bool appeared_in_cut_step(const struct planning *p, const struct changed *c)
{
    size_t i = c->step;

    while (i > p->prompt->step && is_in_tree(p, p->steps.step[i].before, c->path))
        i--;
    return i < c->step && !p->steps.step[i].after.n;
}

/* Why the file may have existed at the point, although the tree of the point lacks it; NULL: it did not. */
static const char *why_not_new(struct planning *p, const struct changed *c, struct rewind_target *t)
{
    const struct opencode_step *step = &p->steps.step[c->step];

    /* The calls on the file since the prompt. */
    struct origin_of_file o = { .is_new = false };
    bool removed = false;

    for (size_t i = p->prompt->step; i <= c->step; i++)
        for (size_t k = 0; k < p->steps.step[i].calls; k++)
            add_call_to(p, &p->steps.step[i].call[k], t->path, i == c->step, &removed, &o);

    bool born;

    if (o.is_new) {
        if (!c->known) {
            /* A file that is in no tree is as the session's last write left it, if no other tool
             * changed it since. */
            for (size_t i = p->prompt->step; i < p->end; i++)
                for (size_t k = 0; k < p->steps.step[i].calls; k++) {
                    const struct opencode_call *x = &p->steps.step[i].call[k];

                    if (!slice_eq(x->path, slice_of(t->path)))
                        continue;
                    t->has_last = x->found != OPENCODE_NOT_TOLD;
                    t->last.bytes =
                        t->has_last && x->text.n ? arena_copy(&p->plan->arena, x->text) : SLICE("");
                }
        }
        return NULL;
    }
    if (!c->known)
        return c->why;
    if (c->had)
        return appeared_in_cut_step(p, c)
                   ? "a step that was cut off, or something after it, made it"
                   : "it appeared after this point, and not by a step of the agent";
    if (o.is_old)
        return "the session found it there, and no earlier snapshot has it";
    if (tree_ignore_has(&p->ignored, p->trees.in[p->at].repo, &p->tree, c->path))
        return "git ignored it at this point, so the agent did not record whether it existed";
    if (!o.is_made)
        return "no call of the session made it: it may have existed where the agent did not see it";
    const bool older = is_older(step, t->path, &born);

    if (o.is_shortened && (!born || o.is_moved))
        return "a command may have shortened it: the agent does not record files over 2 MB";
    if (older && !o.is_moved)
        return "it is older than the step after which the agent first saw it";
    if (p->ignored.changed_ms >= p->prompt->time_ms && step->end_ms != TIME_NONE &&
        p->ignored.changed_ms <= step->end_ms)
        return "what git ignores was changed at that time, so it may have existed before";
    return NULL;
}

static enum err_code want_nothing(struct rewind_target *t, const char *why)
{
    t->want = REWIND_UNKNOWN;
    t->why = why;
    return ERR_OK;
}

/* Sets `want` from the tree of the prompt. */
static enum err_code opencode_set_wanted(struct planning *p, const struct changed *c,
                                         struct rewind_target *t)
{
    struct opencode_entry x;

    if (c->path[0] == '/')
        return want_nothing(t, "it is outside of the project, and the agent keeps no copy of it");
    if (!p->has_tree || !opencode_trees_entry(p->trees.in[p->at].repo, &p->tree, c->path, &x))
        return want_nothing(t, opencode_why_missing(&p->steps, &p->trees, p->prompt));
    if (x.exists && (x.mode & 0170000) == 0040000)
        return want_nothing(t, "it was a directory");
    if (x.exists && !x.plain)
        return want_nothing(t, "it was a link or a submodule, which stays as it is");
    if (x.exists && repo_converts(p->trees.in[p->at].repo, c->path, t->path))
        return want_nothing(t, "git converts this file, so the snapshot need not have its bytes");
    if (x.exists) {
        t->want = REWIND_BYTES;
        rewind_target_git_mode(t, x.mode);
        return opencode_name_blob(p, p->at, &x.blob, &t->source) ? ERR_OK : ERR_NOMEM;
    }

    /* The tree lacks the file, which is removed only if it certainly did not exist at the point. */
    const char *why = why_not_new(p, c, t);

    if (why)
        return want_nothing(t, why);
    t->want = REWIND_ABSENT;

    /* Directories that become empty are removed up to the root. */
    const char *path = c->path;
    unsigned n = 0;

    while ((path = strchr(path, '/'))) {
        n++;
        path++;
    }
    t->prune = n;

    return ERR_OK;
}

static enum err_code opencode_set_last(struct planning *p, const struct changed *c,
                                       struct rewind_target *t)
{
    if (!c->known) {
        if (t->has_last)
            return ERR_OK;
        t->last_is_older = t->has_last = t->want == REWIND_BYTES;
        t->last = t->source;
        return ERR_OK;
    }
    t->has_last = true;
    t->last_absent = !c->last.exists;
    return t->last_absent || opencode_name_blob(p, c->in, &c->last.blob, &t->last) ? ERR_OK
                                                                                   : ERR_NOMEM;
}

/* The steps together changed nothing. */
static bool opencode_is_as_before(const struct planning *p, const struct changed *c)
{
    struct opencode_entry x;

    return c->known && p->has_tree &&
           opencode_trees_entry(p->trees.in[p->at].repo, &p->tree, c->path, &x) &&
           x.exists == c->last.exists &&
           (!x.exists || (x.mode == c->last.mode && git_oid_equal(&x.blob, &c->last.blob)));
}

static enum err_code opencode_add_target(struct planning *p, const struct changed *c)
{
    const char *root = p->plan->root;
    struct rewind_target t = { .path =
                                   c->path[0] == '/' || !root
                                       ? c->path
                                       : arena_format(&p->plan->arena, "%s/%s", root, c->path) };

    if (!t.path || opencode_set_wanted(p, c, &t))
        return err_nomem(p->e);
    if (t.want != REWIND_UNKNOWN && opencode_set_last(p, c, &t))
        return err_nomem(p->e);
    return rewind_plan_add(p->plan, &t, p->e);
}

static int compare_changed(const void *x, const void *y)
{
    return strcmp(((const struct changed *)x)->path, ((const struct changed *)y)->path);
}

/* ---- the plan ---- */

static enum err_code opencode_add_notes(struct planning *p)
{
    TRY(rewind_plan_note(
        p->plan,
        "files over 2 MB and files that git ignores are not in the agent's snapshots: what "
        "commands did to them stays",
        p->e));
    if (p->cut)
        TRY(rewind_plan_note(p->plan,
                             "a step was cut off: of its changes only the files that its tools "
                             "named are known, and those of its commands are not",
                             p->e));
    if (p->links)
        TRY(rewind_plan_note(p->plan, "links and submodules are left as they are", p->e));
    return ERR_OK;
}

static enum err_code opencode_open_plan(struct planning *p, const struct session_ref *ref,
                                        struct slice point)
{
    enum err_code rc = opencode_steps_read(ref, &p->steps, p->e);

    if (!rc) {
        struct point_search s = { .id = point };

        for (size_t i = 0; i < p->steps.prompts; i++)
            point_search_offer(&s, p->steps.prompt[i].id, i);
        if (s.hits != 1)
            rc = point_search_error(&s, "", "prompts", "the session has no prompt", p->e);
        else
            p->prompt = &p->steps.prompt[s.at];
    }
    if (!rc)
        rc = opencode_trees_open(ref->store, &p->steps, &p->plan->arena, &p->trees, p->e);
    if (rc)
        return rc;

    /* Without a tree for the prompt, the plan can name files but not restore them. */
    p->at = opencode_trees_find(&p->trees, opencode_steps_tree(&p->steps, p->prompt), &p->tree);
    p->has_tree = p->at < p->trees.n;
    if (p->has_tree &&
        tree_ignore_open(p->steps.root.p, p->trees.in[p->at].repo, &p->ignored, p->e))
        return ERR_NOMEM;
    p->plan->system = ref->store->ops->name;
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
    enum err_code rc = opencode_open_plan(&p, ref, point);

    /* Steps that the agent's own undo removed count only for a point among them. */
    p.end = rc || p.prompt->undone ? p.steps.n : p.steps.kept;
    for (size_t i = rc ? p.end : p.prompt->step; !rc && i < p.end; i++)
        rc = add_step(&p, i);

    /* Without a tree at least the changed files have to be known by name. */
    if (!rc && !p.has_tree && p.prompt->step < p.end && p.files == 0)
        rc = err_set(e, ERR_UNSUPPORTED, ref->path.p, "rewind: %s",
                     opencode_why_missing(&p.steps, &p.trees, p.prompt));
    if (!rc) {
        if (p.files)
            qsort(p.file, p.files, sizeof *p.file, compare_changed);
        for (size_t i = 0; i < p.files && !rc; i++)
            if (!opencode_is_as_before(&p, &p.file[i]))
                rc = opencode_add_target(&p, &p.file[i]);
    }
    if (!rc)
        rc = opencode_add_notes(&p);
    slice_set_fini(&p.path);
    arena_fini(&p.arena);
    tree_ignore_fini(&p.ignored);
    opencode_trees_close(&p.trees);
    opencode_steps_fini(&p.steps);
    if (rc)
        rewind_plan_fini(&plan);
    else
        *out = plan;
    return rc;
}
