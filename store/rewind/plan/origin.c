#include "store/rewind/plan/origin.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs/path.h"
#include "store/journal/change.h"
#include "store/rewind/plan/rewind.h"

/* ---- recording the origin of a change ---- */

enum err_code origin_of(const struct session_ref *ref, struct arena *a, struct change_origin *out,
                        struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct session_row *row = session_row_new();
    const struct store *st = ref->store;
    struct change_origin o = { .store = arena_copy_text(a, st->path) };

    if (row && st->ops->describe && st->ops->describe(st, &everywhere, ref, row, NULL) == ERR_OK) {
        o.dir = row->cwd.n ? arena_copy(a, row->cwd).p : NULL;
        o.title = row->summary.n ? arena_copy(a, row->summary).p : NULL;
    }
    session_row_free(row);
    if (!row || a->failed)
        return err_nomem(e);
    *out = o;
    return ERR_OK;
}

enum err_code origin_add_session(struct change *c, const struct session_ref *ref, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct change_origin o = { 0 };

    TRY(origin_of(ref, &a, &o, e));
    TRY(change_add_session(c, ref->store->ops->name, ref->id, e));
    return change_set_origin(c, &o, e);
}

/* ---- whether a change is shown ---- */

/* Returns true only if it certainly does not exist; a path that cannot be examined may exist. */
static bool origin_is_gone(const char *path)
{
    struct stat st;

    return lstat(path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* made: the step makes the directory, if the one above it exists. */
static bool parent_is_gone(const char *path, bool made)
{
    char dir[PATH_MAX], above[PATH_MAX];

    return path_parent(path, dir) && origin_is_gone(dir) &&
           (!made || (path_parent(dir, above) && origin_is_gone(above)));
}

static bool step_is_gone(const struct step *s)
{
    switch (s->kind) {
    case STEP_MOVE: return origin_is_gone(s->to) || parent_is_gone(s->path, true);
    case STEP_PUT: return parent_is_gone(s->path, s->with_dir);
    default: return origin_is_gone(s->path);
    }
}

static bool is_within(const char *path, const char *dir, size_t n)
{
    return n > 0 && strncmp(path, dir, n) == 0 &&
           (path[n] == '\0' || path[n] == '/' || dir[n - 1] == '/');
}

static bool origin_is_in_scope(const struct store *st, const struct scope *scope, const char *dir)
{
    const size_t n = strlen(dir);
    bool in = is_within(dir, scope->project.p, scope->project.n);

    /* A store inside its project is also in scope below that project. */
    in = in || (is_within(st->path, dir, n) && is_within(scope->project.p, dir, n));

    for (size_t i = 0; i < scope->trees && !in; i++)
        in = is_within(dir, scope->tree[i].p, scope->tree[i].n);
    return in;
}

/* A change in a project is shown in its subdirectories, too, but not in another repository or worktree within it. What
 * was done in the home directory, which contains every project, is shown only there. */
static bool origin_is_above(const struct shown *shown, const char *dir)
{
    const struct scope *scope = shown->scope;
    size_t n = strlen(dir);
    char below[PATH_MAX], mark[PATH_MAX + sizeof "/.git"];

    while (n > 1 && dir[n - 1] == '/')
        n--;
    if (scope->leave_worktrees || scope->project.n >= sizeof below || n < 2 ||
        scope->project.n <= n || !is_within(scope->project.p, dir, n) ||
        (shown->home && is_within(shown->home, dir, n)))
        return false;
    memcpy(below, scope->project.p, scope->project.n + 1);
    while (strlen(below) > n) {
        snprintf(mark, sizeof mark, "%s/.git", below);
        if (access(mark, F_OK) == 0)
            return false;
        *strrchr(below, '/') = '\0';
    }
    return true;
}

static bool is_same_dir(const char *a, const char *b)
{
    struct stat x, y;

    return strcmp(a, b) == 0 ||
           (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

static bool finds(const struct store *st, const struct scope *scope, const char *id)
{
    struct arena a = { 0 };
    struct session_ref ref = { 0 };
    bool found = st->ops->find(st, scope, slice_of(id), &a, &ref, NULL) == ERR_OK;

    arena_fini(&a);
    return found;
}

/* The system knows best if a session is in the scope; for a deleted session only the recorded
 * origin is left. */
static bool store_shows(const struct store *st, const struct shown *shown, const char *id,
                        const char *dir)
{
    const struct scope everywhere = { .all = true }, *scope = shown->scope;

    if (scope->all || finds(st, scope, id) || (dir && origin_is_above(shown, dir)))
        return true;
    return dir && origin_is_in_scope(st, scope, dir) && !finds(st, &everywhere, id);
}

/* Returns true if the record belongs to the store. Older records do not name one; then it must be
 * the store that contains the changed file. */
static bool is_of_store(const struct store *st, const struct change_origin *o, const char *path)
{
    if (!st->path)
        return false;
    return o->store ? is_same_dir(st->path, o->store)
                    : path && is_within(path, st->path, strlen(st->path));
}

/* A store whose last session was deleted is no longer found, unless another system keeps sessions
 * at the same path; the recorded origin then decides. */
static bool emptied_is_shown(const struct shown *shown, const char *name, size_t word,
                             const struct change_origin *o)
{
    bool is_shown = false;

    for (size_t i = 0; i < shown->n && o->store; i++) {
        const struct store *st = shown->store[i];

        if (strncmp(name, st->ops->name, word) == 0 && !st->ops->name[word])
            return false;
        if (st->path && is_same_dir(st->path, o->store))
            is_shown =
                shown->scope->all || (o->dir && (origin_is_in_scope(st, shown->scope, o->dir) ||
                                                 origin_is_above(shown, o->dir)));
    }
    return is_shown;
}

static bool session_is_shown(const struct shown *shown, const char *name,
                             const struct change_origin *o, const char *path)
{
    size_t word = name ? strcspn(name, ":") : 0;
    const char *dir = o->dir ? o->dir : o->store ? o->store : path;
    bool is_shown = false;

    for (size_t i = 0; i < shown->n && !is_shown && name && name[word]; i++) {
        const struct store *st = shown->store[i];
        const char *id = name + word + 1;

        if (strncmp(name, st->ops->name, word) != 0 || st->ops->name[word])
            continue;
        if (is_of_store(st, o, path))
            is_shown = store_shows(st, shown, id, dir);
        else if (!o->store)
            is_shown = finds(st, shown->scope, id);
    }
    return is_shown || (name && emptied_is_shown(shown, name, word, o));
}

bool origin_shows_change(const struct shown *shown, const struct change *c)
{
    const char *path = c->n ? c->step[0].path : NULL;
    /* the copy that a fork made belongs to the session it was made of */
    size_t n = strcmp(c->kind, "fork") == 0 && c->sessions_n ? 1 : c->sessions_n;

    for (size_t i = 0; i < n && shown; i++)
        if (session_is_shown(shown, c->sessions[i], &c->origin[i], path))
            return true;
    /* What was changed in the configurations of agents belongs to every project. */
    return !shown || strcmp(c->kind, "snapshots") == 0 || strcmp(c->kind, "mcp") == 0;
}

bool origin_spans_directories(const struct change *c)
{
    const char *first = c->sessions_n ? c->origin[0].dir : NULL;

    for (size_t i = 1; first && i < c->sessions_n; i++)
        if (c->origin[i].dir && strcmp(c->origin[i].dir, first) != 0)
            return true;
    return false;
}

enum origin_place origin_of_change(const struct shown *shown, const struct change *c)
{
    for (size_t i = 0; i < c->n && shown; i++) {
        size_t k =
            i + 1; /* a later step may have moved the file or its directory, and is then asked */

        while (k < c->n && (c->step[k].kind != STEP_MOVE ||
                            !is_within(c->step[i].path, c->step[k].path, strlen(c->step[k].path))))
            k++;
        if (k == c->n && step_is_gone(&c->step[i]))
            return ORIGIN_GONE;
    }
    return origin_shows_change(shown, c) ? ORIGIN_SHOWN : ORIGIN_ELSEWHERE;
}

enum origin_place origin_of_rewind(const struct shown *shown, const struct rewind_record *r)
{
    const struct change_origin o = { .store = r->store, .dir = r->project };
    char name[512];

    if (!shown)
        return ORIGIN_SHOWN;
    if (r->store && origin_is_gone(r->store))
        return ORIGIN_GONE;
    snprintf(name, sizeof name, "%s:%s", r->system, r->session);
    if (session_is_shown(shown, name, &o, NULL))
        return ORIGIN_SHOWN;
    return !r->store && r->project && origin_is_gone(r->project) ? ORIGIN_GONE : ORIGIN_ELSEWHERE;
}
