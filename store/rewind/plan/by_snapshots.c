#include "store/rewind/plan/by_snapshots.h"

#include <string.h>
#include <sys/stat.h>

#include "store/api/store.h"
#include "store/git/repo.h"
#include "store/rewind/diff/linediff.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/snapped.h"

/* ---- targets ---- */

/* Returns true if there is such a note about the path or a directory above it. */
static bool is_left_out(const struct snapped_notes *n, char kind, struct slice path)
{
    for (size_t i = path.n; i > 0; i--)
        if ((i == path.n || path.p[i] == '/') &&
            snapped_notes_find(n, (struct slice){ path.p, i })->kind == kind)
            return true;
    return false;
}

/* A file, a link or a directory of a snapshot, wherever its blob is. Returns false if that is gone. */
static bool snapped_source(const struct snapped *s, unsigned mode, const git_oid *id,
                           struct arena *a, struct rewind_source *out)
{
    char hex[SNAPSHOT_HEX + 1];

    *out = (struct rewind_source){ .kind = S_IFDIR, .bytes = SLICE("") };
    if (S_ISDIR(mode))
        return true;
    const struct snapped_store *own = snapped_store_of(s, id);

    git_oid_tostr(hex, sizeof hex, id);
    *out = (struct rewind_source){ .kind = rewind_kind_of(mode),
                                   .objects =
                                       arena_copy_text(a, own ? own->objects : s->project_objects),
                                   .blob = arena_copy_text(a, hex) };
    return own || (s->project && git_odb_exists(s->project, id));
}

/* Sets what the file was before the turn. */
static enum err_code snapped_set_wanted(const struct snapped *s, const git_tree *tree,
                                        const struct snapped_notes *notes, struct slice path,
                                        struct arena *a, struct rewind_target *t)
{
    git_tree_entry *entry = NULL;
    unsigned mode, above;
    git_oid id = { { 0 } };

    t->want = REWIND_ABSENT;
    t->exact = true;
    if (git_tree_entry_bypath(&entry, tree, path.p) == 0) {
        mode = (unsigned)git_tree_entry_filemode_raw(entry);
        id = *git_tree_entry_id(entry);
        git_tree_entry_free(entry);
    } else if (snapped_is_dir(tree, notes, path.p, &mode)) {
        mode = S_IFDIR;
    } else {
        /* Whatever was left out then may have existed, or something below it: it must not be removed. */
        if (is_left_out(notes, 'i', path))
            t->why = "git ignored it then, so it is not in the snapshot";
        else if (is_left_out(notes, 's', path))
            t->why = "it is not in the snapshot: too large, or unreadable";
        else if (slice_set_find(&notes->above_left_out, path) != SLICE_SET_NONE)
            t->why = "it was a directory of files that are not in the snapshot";
        else
            t->why = NULL;
        if (t->why)
            t->want = REWIND_UNKNOWN;

        /* How many of the directories above it the snapshot does not have. */
        unsigned new_dirs = 0;

        for (size_t i = path.n; i > 0 && !t->why; i--) {
            const char *dir =
                path.p[i - 1] == '/' ? arena_format(a, "%.*s", (int)i - 1, path.p) : NULL;

            if (dir && snapped_is_dir(tree, notes, dir, &above))
                break;
            new_dirs += dir != NULL;
        }
        if (!t->why)
            t->prune = new_dirs;
        return ERR_OK;
    }
    if (!snapped_source(s, mode, &id, a, &t->source)) {
        t->want = REWIND_UNKNOWN;
        t->copy_lost = true;
        t->why = "its copy is no longer in the snapshots or in the repository";
    } else {
        const struct snapped_note *note = snapped_notes_find(notes, path);

        t->want = REWIND_BYTES;
        t->has_mode = !S_ISLNK(mode);
        t->mode = note->kind == 'f' && S_ISREG(mode) ? note->number : mode & 0100 ? 0755 : 0644;
        if (S_ISDIR(mode))
            (void)snapped_is_dir(tree, notes, path.p, &t->mode);
        /* An older snapshot does not have them. */
        t->has_mode = t->has_mode && (!S_ISDIR(mode) || notes->has_dir_modes || note->kind == 'd');
    }
    return a->failed ? ERR_NOMEM : ERR_OK;
}

/* Sets the state in which the session left the file, and why it is held back. */
static void snapped_set_left(const struct snapped *s, const struct snapped_file *f, bool claimed,
                             struct arena *a, struct rewind_target *t)
{
    t->has_last = true;
    t->last_absent = !f->left_mode;
    t->last = (struct rewind_source){ 0 };
    if (!t->last_absent && !snapped_source(s, f->left_mode, &f->left, a, &t->last))
        t->has_last = false;
    t->doubt = NULL;
    if (f->unseen)
        t->doubt = "it was also changed by a turn without a snapshot, or by hand";
    else if (f->by_hand != SIZE_MAX && f->by_hand > f->first && f->by_hand <= f->last)
        t->doubt = f->other ? "another session changed it between turns of this one"
                            : "it was edited by hand between turns of this session";
    else if (f->by_hand != SIZE_MAX && f->by_hand <= f->first)
        t->doubt = f->other ? "another session changed it before this one did"
                            : "it was edited by hand before the session changed it";
    else if (!claimed && f->other)
        t->doubt = "another session was at work at the same time";
    else if (!claimed && f->uncertain)
        t->doubt = "the turn was interrupted: a person may have changed it afterwards";

    if (f->other && t->doubt) {
        struct rewind_other *other = arena_zalloc(a, sizeof *other);

        if (other) {
            other->session = arena_copy(a, f->other->session).p;
            other->system = slice_eq(f->other->agent, slice_of(s->ref->store->ops->name))
                                ? NULL
                                : arena_copy(a, f->other->agent).p;
            other->at_ms = f->other->time_ms;
        }
        t->other = other;
    }
}

/* Corrects a target of the agent's own copies, or makes one. A file that the session did not change between snapshots
 * keeps what the agent knows about its last state. */
static enum err_code snap_target(struct snapped *s, const git_tree *tree,
                                 const struct snapped_notes *notes, const struct snapped_file *f,
                                 struct slice path, bool claimed, struct arena *a,
                                 struct rewind_target *t, struct err *e)
{
    const struct rewind_target own = *t;

    *t = (struct rewind_target){ .path = own.path,
                                 .real_parent = own.real_parent,
                                 .has_last = own.has_last,
                                 .last_absent = own.last_absent,
                                 .last = own.last,
                                 .other = own.other,
                                 .work_sha256 = own.work_sha256 };
    NEED(!snapped_set_wanted(s, tree, notes, path, a, t));
    if (f && f->by_session)
        snapped_set_left(s, f, claimed, a, t);
    return a->failed ? err_nomem(e) : ERR_OK;
}

static enum err_code add_targets(struct snapped *s, const struct snapshot *before,
                                 struct rewind_plan *plan, size_t *rest, struct err *e)
{
    CLEANUP(slice_set_fini) struct slice_set claimed = { .n = 0 };
    AUTO_TREE *tree = NULL;
    CLEANUP(snapped_notes_fini) struct snapped_notes notes = { .note = NULL };
    const size_t root_n = strlen(s->log.root);
    uint32_t number;
    unsigned mode;

    TRY(snapped_tree(s, before, &tree, e));
    enum err_code rc = snapped_notes_read(s, before, &notes, e);

    /* The targets from the agent's own copies come first: the snapshots correct those that they know. */
    for (size_t i = 0; i < plan->n && !rc; i++) {
        struct rewind_target *t = &plan->target[i];
        const bool below = strncmp(t->path, s->log.root, root_n) == 0 && t->path[root_n] == '/' &&
                           t->path[root_n + 1];
        const struct slice path = below ? slice_of(t->path + root_n + 1)
                                        : (struct slice){ NULL, 0 }; /* it is elsewhere */
        uint32_t at = path.n ? slice_set_find(&s->paths, path) : SLICE_SET_NONE;
        bool changed = at != SLICE_SET_NONE && s->file[at].by_session;

        if (slice_set_add(&claimed, path, &number))
            rc = err_nomem(e);
        else if (path.n && (changed || snapped_mode_at(tree, path.p)))
            rc = snap_target(s, tree, &notes, changed ? &s->file[at] : NULL, path, true,
                             &plan->arena, t, e);
        else
            ++*rest;
    }

    /* The session also changed files of which the agent has no copy. */
    for (size_t i = 0; i < s->files && !rc; i++) {
        const struct snapped_file *f = &s->file[i];
        struct rewind_target t = { .path = arena_format(&plan->arena, "%s/%s", s->log.root,
                                                        f->path.p) };

        /* A directory that only came or went with what is in it comes and goes with that again, unless it was empty at
         * some time. */
        const bool is_target =
            f->by_session && (f->is_entry || snapped_notes_find(&notes, f->path)->kind == 'd' ||
                              (f->was_empty && !snapped_is_dir(tree, &notes, f->path.p, &mode)));

        if (!is_target || slice_set_find(&claimed, f->path) != SLICE_SET_NONE)
            continue;
        rc = t.path ? snap_target(s, tree, &notes, f, f->path, false, &plan->arena, &t, e)
                    : err_nomem(e);
        if (!rc)
            rc = rewind_plan_add(plan, &t, e);
    }
    return rc;
}

/* ---- the plans ---- */

static enum err_code begin_snapped_plan(const struct snapped *s, const struct checkpoint *c,
                                        struct rewind_plan *plan, struct err *e)
{
    *plan = (struct rewind_plan){ .system = s->ref->store->ops->name, .point_ms = c->time_ms };
    plan->session = arena_copy(&plan->arena, s->ref->id).p;
    plan->point = arena_copy(&plan->arena, c->id).p;
    NEED(plan->session && plan->point);
    return rewind_plan_root(s->ref->store->env, plan, s->log.root, e);
}

/* Notes how much no snapshot has, before the prompt or when the session last left the project. */
static enum err_code note_left_out(const struct snapped *s, size_t at, struct rewind_plan *plan,
                                   struct err *e)
{
    const struct snapshot *const first = s->turn[at].before, *last = first;
    size_t n = 0;

    for (size_t i = at; i < s->points.n; i++)
        last = s->turn[i].after ? s->turn[i].after : s->turn[i].before ? s->turn[i].before : last;
    for (const struct snapshot *x = first; x; x = x == last ? NULL : last) {
        CLEANUP(snapped_notes_fini) struct snapped_notes notes = { .note = NULL };

        TRY(snapped_notes_read(s, x, &notes, e));
        n = notes.left_out > n ? notes.left_out : n;
    }
    const char *note =
        arena_format(&plan->arena,
                     "%zu files or folders are not in the snapshots, because git ignores them, "
                     "programs make them, or they are too large: what commands changed there stays",
                     n);

    return !n ? ERR_OK : note ? rewind_plan_note(plan, note, e) : err_nomem(e);
}

/* As former_note says it of the agent's own copies, which may have said it already. */
static enum err_code note_moves(const struct snapped *s, struct rewind_plan *plan, struct err *e)
{
    for (const struct snapped_store *x = s->store; x < s->store + s->stores; x++) {
        const char *note =
            arena_format(&plan->arena, "the project moved: files of %s are those of %s",
                         x->moved_from ? x->moved_from : "", s->log.root);
        bool is_said = !x->moved_from;

        NEED(note);
        for (size_t i = 0; i < plan->notes && !is_said; i++)
            is_said = strcmp(plan->note[i], note) == 0;
        if (!is_said)
            TRY(rewind_plan_note(plan, note, e));
    }
    return ERR_OK;
}

/* Returns the number of the point, or the length of the list if it is not in it. A point may be named by the beginning of its id. */
static size_t find_point(const struct snapped *s, struct slice point)
{
    size_t found = s->points.n;

    for (size_t i = 0; i < s->points.n; i++) {
        const struct slice id = s->points.checkpoint[i].id;

        if (slice_eq(id, point))
            return i;
        if (point.n && id.n > point.n && memcmp(id.p, point.p, point.n) == 0)
            found = found == s->points.n ? i : SIZE_MAX;
    }
    return found == SIZE_MAX ? s->points.n : found;
}

/* Where the agent keeps no copies either, a person can still have them from now on. */
static enum err_code no_snapshots(const struct snapped *s, const char *what, struct err *e)
{
    const struct store_ops *ops = s->ref->store->ops;
    const char *why = store_unsupported_reason(ops, CAN_REWIND), *unused;
    AUTO_ARENA a = { 0 };

    TRY(snapped_unused(s, &a, &unused, e));
    return err_set(
        e, ERR_UNSUPPORTED, s->ref->path.p,
        "%s: %s, and no snapshots of this session were taken where its project is now%s%s%s"
        "; `reprise snapshots on %s` takes them from now on",
        what, why ? why : "this agent keeps no checkpoints of files",
        unused ? " (those from before it moved are of " : "", unused ? unused : "",
        unused ? ", which is there again)" : "", ops->name);
}

/* The plan is made of the agent's own copies alone. Says why, if there are snapshots. */
static enum err_code note_unused(const struct snapped *s, const struct err *unread,
                                 struct rewind_plan *plan, struct err *e)
{
    const char *again, *note;
    char text[512];

    if (unread) {
        err_format(unread, text, sizeof text);
        NEED(note = arena_format(&plan->arena, "the snapshots of this project cannot be read: %s",
                                 text));
        return rewind_plan_note(plan, note, e);
    }
    TRY(snapped_unused(s, &plan->arena, &again, e));
    if (!again)
        return ERR_OK;
    NEED(note = arena_format(&plan->arena,
                             "the snapshots from before the project moved are not used, because "
                             "%s is there again",
                             again));
    return rewind_plan_note(plan, note, e);
}

enum err_code rewind_plan_files(const struct session_ref *ref, struct slice point,
                                struct rewind_plan *out, struct err *e)
{
    CLEANUP(snapped_fini) struct snapped s = { .ref = ref };
    CLEANUP(rewind_plan_fini) struct rewind_plan plan = { 0 };
    const struct store_ops *ops = ref->store->ops;
    struct err why;
    enum err_code rc = snapped_open(ref, &s, &why);

    if (rc == ERR_NOMEM)
        return err_nomem(e);
    const bool unread = rc != ERR_OK, none = unread || !s.log.n;
    const size_t at = none ? s.points.n : find_point(&s, point);
    const bool covered = at < s.points.n && s.turn[at].before;
    bool complete = covered;
    size_t rest = 0;

    rc = ops->plan  ? ops->plan(ref->store, ref, point, &plan, e)
         : none     ? no_snapshots(&s, "rewind", e)
         : !covered ? err_set(e, ERR_NOT_FOUND, ref->path.p,
                              "rewind: there is no snapshot from before this prompt")
                    : ERR_OK;
    if (!covered) {
        TRY(rc);
        TRY(note_unused(&s, unread ? &why : NULL, &plan, e));
        HAND_OVER(out, plan);
        return ERR_OK;
    }
    if (rc || !ops->plan) {
        rewind_plan_fini(&plan);
        TRY(begin_snapped_plan(&s, &s.points.checkpoint[at], &plan, e));
    }
    for (size_t i = at; i < s.points.n; i++)
        complete &= s.turn[i].after && !s.turn[i].interrupted;
    TRY(snapped_collect(&s, at, s.points.n, e));
    TRY(add_targets(&s, s.turn[at].before, &plan, &rest, e));
    /* What the agent's own copies cannot tell no longer matters. */
    if (complete && !rest)
        plan.notes = 0;
    TRY(rewind_plan_note(&plan,
                         complete ? "from the snapshot before the prompt"
                                  : "from the snapshot before the prompt; a later turn has no "
                                    "snapshot at its end, so what its commands changed may be "
                                    "missing",
                         e));
    TRY(note_left_out(&s, at, &plan, e));
    TRY(note_moves(&s, &plan, e));
    HAND_OVER(out, plan);
    return ERR_OK;
}

enum err_code rewind_plan_turn_files(const struct session_ref *ref, struct slice point,
                                     struct rewind_plan *out, bool *covered, struct err *e)
{
    CLEANUP(snapped_fini) struct snapped s = { .ref = ref };
    CLEANUP(rewind_plan_fini) struct rewind_plan plan = { 0 };
    struct err ignored;
    enum err_code rc = snapped_open(ref, &s, &ignored);
    size_t at = rc || !s.log.n ? s.points.n : find_point(&s, point), rest = 0;

    *covered = at < s.points.n && s.turn[at].before && s.turn[at].after && !s.turn[at].interrupted;
    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (!*covered)
        return ERR_OK;
    TRY(begin_snapped_plan(&s, &s.points.checkpoint[at], &plan, e));
    TRY(snapped_collect(&s, at, at + 1, e));
    TRY(add_targets(&s, s.turn[at].before, &plan, &rest, e));
    HAND_OVER(out, plan);
    return ERR_OK;
}

/* ---- the points ---- */

static enum err_code count_change(struct snapped *s, const struct snapped_delta *d, size_t turn,
                                  const struct snapped_turn *t, struct err *e)
{
    struct checkpoint *c = &s->points.checkpoint[turn];

    (void)t;
    (void)e;
    if (d->kind != DELTA_ENTRY)
        return ERR_OK;
    c->files++;
    c->removed += d->removed;
    return ERR_OK;
}

enum err_code rewind_checkpoints(const struct session_ref *ref, struct checkpoint_list *out,
                                 struct err *e)
{
    CLEANUP(snapped_fini) struct snapped s = { .ref = ref };
    const struct store_ops *ops = ref->store->ops;
    struct err ignored;

    if (!store_can_rewind(ops))
        return store_unsupported_error(ref, CAN_REWIND, "list checkpoints", e);
    enum err_code rc = snapped_open(ref, &s, &ignored);

    if (rc == ERR_NOMEM)
        return err_nomem(e);

    /* Snapshots that cannot be read are no reason to hide what the agent itself recorded. */
    if ((rc || !s.log.n) && !ops->checkpoints)
        return no_snapshots(&s, "list checkpoints", e);
    if (rc || !s.log.n)
        return ops->checkpoints(ref->store, ref, out, e);
    for (size_t i = 0; i < s.points.n; i++) {
        struct checkpoint *c = &s.points.checkpoint[i];
        const struct snapped_turn *t = &s.turn[i];

        if (t->before)
            c->why = NULL;
        if (!t->before || !t->after || t->interrupted)
            continue;

        /* From here on the snapshots count, not what the agent recorded about the turn. */
        c->snapped = true;
        c->shell = false;
        c->counted = false;
        c->files = c->removed = 0;
        if (snapped_each_delta(&s, t->before, t->after, i, t, count_change, NULL) == ERR_NOMEM)
            return err_nomem(e);
    }
    HAND_OVER(out, s.points);
    return ERR_OK;
}

static void odb_object_free(git_odb_object **object)
{
    git_odb_object_free(*object);
}

/* Reads one side of a changed file. NULL: it is no file there, or its blob is gone, which is no longer counted. */
static git_odb_object *read_line_side(const struct snapped *s, unsigned mode, const git_oid *id,
                                      struct checkpoint *c)
{
    const struct snapped_store *own = S_ISREG(mode) ? snapped_store_of(s, id) : NULL;
    git_odb *odb = own ? own->odb : s->project;
    git_odb_object *object = NULL;

    if (S_ISREG(mode) && (!odb || git_odb_read(&object, odb, id)))
        c->counted = false;
    return object;
}

static struct slice odb_object_bytes(git_odb_object *object)
{
    return object ? (struct slice){ git_odb_object_data(object), git_odb_object_size(object) }
                  : SLICE("");
}

static enum err_code count_delta_lines(struct snapped *s, const struct snapped_delta *d,
                                       size_t turn, const struct snapped_turn *t, struct err *e)
{
    struct checkpoint *c = &s->points.checkpoint[turn];
    CLEANUP(odb_object_free) git_odb_object *before = read_line_side(s, d->was, &d->was_id, c);
    CLEANUP(odb_object_free)
    git_odb_object *after = read_line_side(s, d->removed ? 0 : d->left, &d->id, c);
    unsigned insertions = 0, deletions = 0;
    bool binary = false;

    (void)t;
    if (d->kind == DELTA_ENTRY)
        c->removed += d->removed;
    if (!before && !after)
        return ERR_OK;
    TRY(linediff_count(odb_object_bytes(before), odb_object_bytes(after), &insertions, &deletions,
                       &binary, e));
    c->insertions += binary ? 0 : insertions;
    c->deletions += binary ? 0 : deletions;
    return ERR_OK;
}

enum err_code rewind_count_lines(const struct session_ref *ref, const atomic_bool *cancel,
                                 struct checkpoint_list *list, struct err *e)
{
    CLEANUP(snapped_fini) struct snapped s = { .ref = ref };
    const struct store_ops *ops = ref->store->ops;
    bool any = false;

    if (ops->count_lines)
        TRY(ops->count_lines(ref->store, ref, cancel, list, e));
    for (size_t i = 0; i < list->n; i++)
        any |= list->checkpoint[i].snapped;
    if (!any)
        return ERR_OK;
    TRY(snapped_open(ref, &s, e));

    /* The session may have been continued meanwhile. */
    for (size_t i = 0; s.log.n && i < list->n && i < s.points.n; i++) {
        struct checkpoint *c = &list->checkpoint[i], *counted = &s.points.checkpoint[i];
        const struct snapped_turn *t = &s.turn[i];

        if (cancel && atomic_load(cancel))
            return err_set(e, ERR_CANCELLED, ref->path.p, "count lines");
        if (!c->snapped || !t->before || !t->after || !slice_eq(c->id, counted->id))
            continue;
        counted->counted = true;
        counted->insertions = counted->deletions = counted->removed = 0;
        TRY(snapped_each_delta(&s, t->before, t->after, i, t, count_delta_lines, e));
        c->counted = counted->counted;
        c->insertions = counted->insertions;
        c->deletions = counted->deletions;
        c->removed = counted->removed;
    }
    return ERR_OK;
}
