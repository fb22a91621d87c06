#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lite/io/file.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/codex/changes.h"
#include "store/systems/codex/codex.h"
#include "store/systems/common/inferred.h"

/* Codex keeps no copies of files, but its patches say what they found: the whole text of a file that was deleted, that there
 * was none where one was added, and for the rest the lines that were replaced. So the state of a file at a point is inferred:
 *
 *   from the patches before it   if they give the whole text (an added file and what was done to it)
 *   from the first patch since   if that one deleted the file, added it, or moved another one here
 *   from the present file        by taking the patches since out of it, newest first, each exactly where it was
 *
 * Commands of the shell are recorded without their work. If one ran that may have changed the file in between, nothing is
 * known. */

enum { PRESENT_MAX = 16 << 20 };

struct state {
    bool known, absent;
    struct slice text;
};

struct planning {
    struct codex_changes c;
    struct codex_commit commit;
    struct rewind_plan plan;
    size_t from; /* the line of the point */
};

static const char command_ran[] =
    "a command ran since that may have changed it: what it did is not recorded";

static bool is_of(const struct codex_change *x, const char *path)
{
    return strcmp(x->path, path) == 0;
}

/* ---- forward ---- */

static struct state known(struct slice text)
{
    return (struct state){ .known = true, .text = text };
}

static enum err_code patch_forward(struct planning *p, struct state before, struct slice diff,
                                   struct state *out)
{
    struct slice text;
    bool fits = false;
    enum err_code rc = before.known && !before.absent
                           ? inferred_patch(before.text, diff, false, &p->plan.arena, &text, &fits)
                           : ERR_OK;

    *out = fits ? known(text) : (struct state){ .known = false };
    return rc;
}

/* The state of a file behind the changes from `first` up to n, from those of them that give it. `start` is its state before
 * them. A command after a change makes it unknown. */
static enum err_code go_forward(struct planning *p, const char *path, size_t first, size_t n,
                                struct state start, struct state *out)
{
    enum err_code rc = ERR_OK;
    size_t last = p->c.changes;

    *out = start;
    for (size_t i = first; i < n && !rc; i++) {
        const struct codex_change *x = &p->c.change[i];

        if (!is_of(x, path))
            continue;
        if (last < i && codex_commands_between(&p->c, p->c.change[last].at, x->at))
            out->known = false;
        last = i;
        if (x->kind == CODEX_ADDED)
            *out = known(x->text);
        else if (x->kind == CODEX_DELETED || x->kind == CODEX_LEFT)
            *out = (struct state){ .known = true, .absent = true };
        else if (x->kind == CODEX_UPDATED)
            rc = patch_forward(p, *out, x->text, out);
        else
            out->known =
                false; /* its text came from another file, or part of a patch may be in it */
    }
    if (last < n && n < p->c.changes &&
        codex_commands_between(&p->c, p->c.change[last].at, p->c.change[n].at))
        out->known = false;
    return rc;
}

/* ---- backwards ---- */

static enum err_code read_present(struct planning *p, const char *path, struct state *out,
                                  struct err *e)
{
    struct buf text = { 0 };
    enum err_code rc = file_read_all(AT_FDCWD, path, 0, PRESENT_MAX, &text, NULL);

    *out = (struct state){ .known = false };
    if (rc == ERR_NOT_FOUND)
        *out = (struct state){ .known = true, .absent = true };
    else if (!rc)
        *out = known(arena_copy(&p->plan.arena, buf_slice(&text)));
    buf_fini(&text);
    return rc == ERR_NOMEM || p->plan.arena.failed ? err_nomem(e) : ERR_OK;
}

/* The changes of a file from change i on that have to be taken out of what comes behind them; the last one gives or leads
 * to a text. */
struct trail {
    size_t step[256];
    size_t n;
    const char *path; /* where the file is in the end */
    bool ends;        /* with a deletion, whose text is known */
};

static bool follow(const struct planning *p, size_t i, struct trail *t)
{
    *t = (struct trail){ .path = p->c.change[i].path };
    for (; i < p->c.changes; i++) {
        const struct codex_change *x = &p->c.change[i];

        if (!is_of(x, t->path))
            continue;
        if (t->n == sizeof t->step / sizeof *t->step || x->kind == CODEX_ADDED ||
            x->kind == CODEX_UNSURE)
            return false; /* another file took its place */
        if (x->kind == CODEX_ARRIVED &&
            !(t->n && p->c.change[t->step[t->n - 1]].kind == CODEX_LEFT))
            return false;
        if (x->kind == CODEX_ARRIVED)
            continue; /* the other half of the move */
        t->step[t->n++] = i;
        t->ends = x->kind == CODEX_DELETED;
        if (t->ends)
            return true;
        if (x->kind == CODEX_LEFT)
            t->path = x->other;
    }
    return true;
}

/* The state of a file before change i, from what comes behind it. *seen: the present file is part of the proof. */
static enum err_code go_back(struct planning *p, size_t i, struct state *out, bool *seen,
                             const char **why, struct err *e)
{
    struct trail t;
    enum err_code rc = ERR_OK;

    *out = (struct state){ .known = false };
    *why = "its patches do not lead to a text that is known";
    if (!follow(p, i, &t) || !t.n)
        return ERR_OK;
    size_t behind = t.ends ? p->c.change[t.step[t.n - 1]].at : SIZE_MAX;

    *seen = !t.ends;
    if (codex_commands_between(&p->c, p->from, behind)) {
        *why = command_ran;
        return ERR_OK;
    }
    if (t.ends)
        *out = known(p->c.change[t.step[--t.n]].text);
    else
        rc = read_present(p, t.path, out, e);
    *why = "the patches since do not fit its present text: it was changed by hand";
    for (; t.n > 0 && !rc && out->known && !out->absent; t.n--) {
        struct slice text;
        bool fits;

        rc = inferred_patch(out->text, p->c.change[t.step[t.n - 1]].text, true, &p->plan.arena,
                            &text, &fits);
        *out = fits ? known(text) : (struct state){ .known = false };
    }
    if (out->absent)
        out->known = out->absent = false; /* it was removed since */
    return rc == ERR_NOMEM ? err_nomem(e) : rc;
}

/* ---- a file ---- */

/* A patch adds a file, or moves one, over a file that is there, and records nothing of that one. Returns why the file before
 * it is not known; NULL: nothing shows that there was one. */
static const char *was_replaced(const struct planning *p, size_t i)
{
    static const char why[] = "it replaced a file of that name, whose text is not recorded";
    const struct codex_change *x = &p->c.change[i], *y = NULL;

    for (size_t k = 0; k < i; k++)
        if (is_of(&p->c.change[k], x->path))
            y = &p->c.change[k];
    if (y && y->kind != CODEX_DELETED && y->kind != CODEX_LEFT)
        return codex_commands_between(&p->c, y->at, x->at) ? command_ran : why;
    for (size_t k = 0; k < p->c.seen_n; k++)
        if (p->c.seen[k].at < x->at && (!y || p->c.seen[k].at > y->at) &&
            strcmp(p->c.seen[k].path, x->path) == 0)
            return why;
    return !y && codex_commit_mode(&p->commit, x->path) ? why : NULL;
}

/* Whether the changes from i on found what the ones before them left. */
static enum err_code agrees(struct planning *p, size_t i, struct state s, bool *out)
{
    const char *path = p->c.change[i].path;
    enum err_code rc = ERR_OK;
    size_t last = i;

    *out = true;
    for (; i < p->c.changes && *out && !rc; i++) {
        const struct codex_change *x = &p->c.change[i];

        if (!is_of(x, path))
            continue;
        if (codex_commands_between(&p->c, p->c.change[last].at, x->at))
            break;
        last = i;
        if (x->kind == CODEX_DELETED)
            *out = !s.absent && slice_eq(s.text, x->text);
        if (x->kind != CODEX_UPDATED && x->kind != CODEX_LEFT)
            break;
        rc = patch_forward(p, s, x->text, &s);
        *out = s.known;
    }
    return rc;
}

/* The state of a file before its first change since the point. *was_free: more than an addition shows that there was none. */
static enum err_code state_before(struct planning *p, size_t i, struct state *out, bool *seen,
                                  bool *was_free, const char **why, struct err *e)
{
    const struct codex_change *x = &p->c.change[i];
    enum err_code rc = go_forward(p, x->path, 0, i, (struct state){ .known = false }, out);
    bool sure = !codex_commands_between(&p->c, p->from, x->at), agree = true;

    *seen = false;
    *why = command_ran;
    if (!rc && x->kind == CODEX_DELETED && sure)
        *out = known(x->text);
    if (!rc && out->known && sure)
        rc = agrees(p, i, *out, &agree);
    if (rc)
        return err_nomem(e);
    if (out->known && sure && agree) {
        *was_free = out->absent;
        return ERR_OK;
    }
    out->known = false;
    if (!agree) {
        *why = "it was changed by hand between its patches";
        return ERR_OK;
    }
    switch (x->kind) {
    case CODEX_UPDATED:
    case CODEX_LEFT: return go_back(p, i, out, seen, why, e);
    case CODEX_ADDED:
    case CODEX_ARRIVED:
        *why = sure ? was_replaced(p, i) : command_ran;
        out->known = out->absent = !*why;
        *was_free = out->absent && p->commit.tree;
        break;
    case CODEX_UNSURE: *why = "a patch failed, perhaps after it had changed this file"; break;
    case CODEX_DELETED: break;
    }
    return ERR_OK;
}

/* Whether the present file is what became of the one that was moved to it in change i. */
static enum err_code is_moved(struct planning *p, size_t i, bool *out, struct err *e)
{
    struct state source;
    struct trail t;
    const char *why;
    bool seen = false, whole = i > 0 && p->c.change[i - 1].kind == CODEX_LEFT &&
                               follow(p, i - 1, &t) && !t.ends && is_of(&p->c.change[i], t.path);
    enum err_code rc = whole ? go_back(p, i - 1, &source, &seen, &why, e) : ERR_OK;

    *out = whole && !rc && source.known && seen;
    return rc;
}

/* The file as the session left it, if its patches give that. A file that was moved may have replaced one: unless its name is
 * known to have been free, nothing shows that it may go. */
static enum err_code set_last(struct planning *p, size_t i, struct state before, bool seen,
                              bool was_free, struct rewind_target *t, struct err *e)
{
    struct state last;
    bool arrived = before.absent && p->c.change[i].kind == CODEX_ARRIVED;
    enum err_code rc = ERR_OK;

    if (arrived && was_free)
        rc = is_moved(p, i, &seen, e);
    if (!rc)
        rc = seen ? read_present(p, t->path, &last, e)
                  : go_forward(p, t->path, i, p->c.changes, before, &last);
    if (rc)
        return err_nomem(e);
    t->has_last = last.known && !(arrived && !was_free && !last.absent);
    t->last_absent = last.absent;
    t->last.bytes = last.text;
    t->mixed = seen && !before.absent;
    return ERR_OK;
}

/* A file that comes back gets the mode that it had in the commit. */
static void set_mode(const struct planning *p, struct rewind_target *t)
{
    enum { LINK = 0120000, RUN = 0100755 };
    unsigned mode = t->want == REWIND_BYTES ? codex_commit_mode(&p->commit, t->path) : 0;

    if (mode == LINK) {
        t->want = REWIND_UNKNOWN;
        t->why = "it was a symbolic link: only the text behind it is recorded";
    } else if (mode == RUN && access(t->path, F_OK) != 0) {
        t->has_mode = true;
        t->mode = 0755;
    }
}

static enum err_code add_file(struct planning *p, size_t i, struct err *e)
{
    struct rewind_target t = { .path = p->c.change[i].path, .want = REWIND_UNKNOWN };
    struct state before;
    bool seen, was_free = false;
    enum err_code rc = state_before(p, i, &before, &seen, &was_free, &t.why, e);

    if (!rc && before.known) {
        t.why = NULL;
        t.want = before.absent ? REWIND_ABSENT : REWIND_BYTES;
        t.source.bytes = before.text;
        rc = set_last(p, i, before, seen, was_free, &t, e);
        set_mode(p, &t);
    }
    return rc ? rc : rewind_plan_add(&p->plan, &t, e);
}

static bool is_first(const struct planning *p, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (p->c.change[k].at >= p->from && is_of(&p->c.change[k], p->c.change[i].path))
            return false;
    return true;
}

/* ---- the points ---- */

static size_t files_between(const struct codex_changes *c, size_t from, size_t to)
{
    size_t n = 0;

    for (size_t i = 0; i < c->changes; i++) {
        bool again = c->change[i].at < from || c->change[i].at >= to;

        for (size_t k = 0; k < i && !again; k++)
            again = c->change[k].at >= from && is_of(&c->change[k], c->change[i].path);
        n += !again;
    }
    return n;
}

enum err_code codex_checkpoints(const struct store *st, const struct session_ref *ref,
                                struct checkpoint_list *out, struct err *e)
{
    struct codex_changes c;
    struct checkpoint_list list = { .n = 0 };
    enum err_code rc = codex_changes_read(st, ref, false, &c, e);

    if (!rc && (rc = codex_changes_add_agents(st, ref, &c, e)))
        codex_changes_fini(&c);
    if (rc)
        return rc;
    list.arena = c.arena; /* it owns the texts */
    list.checkpoint = arena_zalloc(&list.arena, (c.points + 1) * sizeof *list.checkpoint);
    for (size_t i = 0; list.checkpoint && i < c.points; i++) {
        size_t from = c.point[i].at, to = i + 1 < c.points ? c.point[i + 1].at : SIZE_MAX;

        list.checkpoint[list.n++] =
            (struct checkpoint){ .id = c.point[i].id,
                                 .message = c.point[i].id,
                                 .prompt = c.point[i].text,
                                 .time_ms = c.point[i].time_ms,
                                 .kind = CHECKPOINT_TURN,
                                 .files = files_between(&c, from, to),
                                 .shell = codex_commands_between(&c, from, to) };
    }
    if (!list.checkpoint) {
        checkpoint_list_fini(&list);
        return err_nomem(e);
    }
    *out = list;
    return ERR_OK;
}

/* ---- the plan ---- */

static enum err_code fill_plan(struct planning *p, const struct session_ref *ref,
                               const struct codex_point *point, struct err *e)
{
    const struct store_env *env = ref->store->env;
    const char *root = p->c.cwd;
    struct rewind_plan *plan = &p->plan;

    p->from = point->at;
    plan->system = codex_ops.name;
    plan->session = arena_copy(&plan->arena, ref->id).p;
    plan->point = arena_copy(&plan->arena, point->id).p;
    plan->point_ms = point->time_ms;
    if (root && rewind_root_is_above(env, root))
        root = NULL; /* only the session names it */
    enum err_code rc = rewind_plan_root(env, plan, root, e);

    return rc || (plan->session && plan->point) ? rc : err_nomem(e);
}

static enum err_code add_notes(struct planning *p, struct err *e)
{
    enum err_code rc = rewind_plan_note(
        &p->plan,
        "inferred: Codex keeps no copies of files, so they are worked out from its patches", e);

    if (!rc && codex_commands_between(&p->c, p->from, SIZE_MAX))
        rc = rewind_plan_note(&p->plan, "commands ran since: what they changed is not recorded", e);
    return rc;
}

enum err_code codex_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                         struct rewind_plan *out, struct err *e)
{
    struct planning p = { .from = 0 };
    struct point_search search = { .id = point };
    enum err_code rc = codex_changes_read(st, ref, false, &p.c, e);

    if (!rc)
        rc = codex_changes_add_agents(st, ref, &p.c, e);
    if (!rc)
        codex_commit_open(&p.c, &p.commit);
    for (size_t i = 0; !rc && i < p.c.points; i++)
        jsonl_point_offer(&search, p.c.point[i].id, i);
    if (!rc)
        rc = jsonl_point_found(&search, ref, e);
    if (!rc)
        rc = fill_plan(&p, ref, &p.c.point[search.at], e);
    for (size_t i = 0; !rc && i < p.c.changes; i++)
        if (p.c.change[i].at >= p.from && is_first(&p, i))
            rc = add_file(&p, i, e);
    if (!rc)
        rc = add_notes(&p, e);
    codex_commit_close(&p.commit);
    codex_changes_fini(&p.c);
    if (rc)
        rewind_plan_fini(&p.plan);
    else
        *out = p.plan;
    return rc;
}
