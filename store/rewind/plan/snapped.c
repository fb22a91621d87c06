#include "store/rewind/plan/snapped.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "store/api/store.h"
#include "store/fs/path.h"
#include "store/git/gitfiles.h"
#include "store/git/repo.h"
#include "store/journal/change.h"
#include "store/rewind/plan/former.h"
#include "store/rewind/plan/origin.h"
#include "store/snapshots/snapshot_walk.h"

/* All sessions of a project share one log of snapshots, which has no certain link to their turns.
 * So snapshots and turns are matched by the id of the turn, the text of the prompt, or the time.
 *
 *   log -> snapshot before each turn -> end of each turn -> logs from before a move -> differences
 *
 * A snapshot belongs to one turn at most, and a turn may have none. A difference within a turn is
 * the session's, and one between two turns is the work of others; if another session was at work at
 * that time, the file is marked, and the caller decides. The turns point into the list of the log,
 * which is sorted by time: whenever that list is replaced, the turns must be matched again. */

enum {
    /* The hook runs before the agent records the prompt, or right after. */
    PROMPT_APART_MS = 10000,
    /* The same text may be sent again; its snapshot is the nearest one. */
    SAME_PROMPT_APART_MS = 15 * 60000,
};

void snapped_fini(struct snapped *s)
{
    free(s->file);
    slice_set_fini(&s->paths);
    for (size_t i = 0; i < s->stores; i++) {
        git_odb_free(s->store[i].odb);
        snapshot_log_fini(&s->store[i].log);
    }
    git_odb_free(s->project);
    repo_close(s->repo);
    checkpoint_list_fini(&s->points);
    snapshot_log_fini(&s->log);
    arena_fini(&s->arena);
}

/* ---- which snapshot belongs to which turn ---- */

static int64_t apart(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

/* The snapshot before a prompt whose time the agent does not record. If each prompt of this text has one, they are in the same
 * order; otherwise it is not known which has none. */
static const struct snapshot *find_untimed_snapshot(const struct snapped *s,
                                                    const struct checkpoint *c, struct slice id)
{
    const struct snapshot *found = NULL;
    char hex[SNAPSHOT_PROMPT_HEX + 1];
    size_t before = 0, prompts = 0, snapshots = 0;

    snapshot_prompt_hash(c->prompt, hex);
    for (size_t i = 0; i < s->points.n; i++) {
        char other[SNAPSHOT_PROMPT_HEX + 1];

        snapshot_prompt_hash(s->points.checkpoint[i].prompt, other);
        if (strcmp(hex, other) == 0) {
            prompts++;
            before += &s->points.checkpoint[i] < c;
        }
    }
    for (const struct snapshot *x = s->log.snapshot; x < s->log.snapshot + s->log.n; x++) {
        if (x->kind != SNAPSHOT_PROMPT || !x->prompt.n || !slice_eq(x->prompt, slice_of(hex)) ||
            !(slice_eq(x->session, s->ref->id) || slice_eq(x->session, id)))
            continue;
        if (snapshots++ == before)
            found = x;
    }
    return found && prompts == snapshots && found->tree.n ? found : NULL;
}

/* The snapshot before a prompt: by the agent's id of the turn, by the text of the prompt, or else by the time. Only a fork
 * has turns whose snapshots are those of another session. */
static const struct snapshot *find_prompt_snapshot(const struct snapped *s,
                                                   const struct checkpoint *c)
{
    const struct snapshot *found = NULL;
    const struct store_ops *ops = s->ref->store->ops;
    const struct slice agent_id = ops->agent_id ? ops->agent_id(s->ref->id) : s->ref->id;
    char hex[SNAPSHOT_PROMPT_HEX + 1];
    int best = 0;

    if (c->time_ms == TIME_NONE)
        return find_untimed_snapshot(s, c, agent_id);
    snapshot_prompt_hash(c->prompt, hex);
    for (size_t i = 0; i < s->log.n; i++) {
        const struct snapshot *x = &s->log.snapshot[i];
        int64_t far = apart(x->time_ms, c->time_ms);
        bool own = slice_eq(x->session, s->ref->id) || slice_eq(x->session, agent_id);
        bool same_turn =
            own && x->turn.n && (slice_eq(x->turn, c->id) || slice_eq(x->turn, c->message));
        bool same_text =
            x->prompt.n && slice_eq(x->prompt, slice_of(hex)) && far <= SAME_PROMPT_APART_MS;
        int rank = same_turn                                                   ? 4
                   : same_text && own                                          ? 3
                   : same_text && c->copied                                    ? 2
                   : own && far <= PROMPT_APART_MS && !(x->prompt.n && hex[0]) ? 1
                                                                               : 0;

        if (x->kind != SNAPSHOT_PROMPT || !rank || rank < best)
            continue;
        if (rank > best || far < apart(found->time_ms, c->time_ms))
            found = x;
        best = rank;
    }
    /* One that was given up belongs to its turn, too, which then has none. */
    return found && found->tree.n ? found : NULL;
}

/* The snapshots of the rest of the turn: the last one at an end, before the session's next prompt. */
static void find_end_snapshot(const struct snapped *s, struct snapped_turn *t)
{
    const struct snapshot *stop = s->log.snapshot + s->log.n;

    for (const struct snapshot *x = t->before + 1; x < stop; x++) {
        if (!slice_eq(x->session, t->before->session))
            continue;
        if (x->kind == SNAPSHOT_PROMPT) {
            if (!t->after && x->tree.n) {
                t->after = x;
                t->interrupted = true;
            }
            return;
        }
        if (x->tree.n)
            t->after = x;
    }
}

/* A snapshot belongs to one turn: of two with the same text, to the nearer one. Then finds the ends of the turns. Returns
 * how many turns have a snapshot. */
static size_t match_ends(struct snapped *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->points.n; i++) {
        const struct snapshot *x = s->turn[i].before;

        for (size_t j = i + 1; x && j < s->points.n; j++) {
            if (s->turn[j].before != x)
                continue;
            bool first = apart(x->time_ms, s->points.checkpoint[i].time_ms) <=
                         apart(x->time_ms, s->points.checkpoint[j].time_ms);

            s->turn[first ? j : i].before = NULL;
            x = s->turn[i].before;
        }
        if (x)
            find_end_snapshot(s, &s->turn[i]);
        n += x != NULL;
    }
    return n;
}

/* ---- opening ---- */

/* Finds the snapshots of the turns in the log: of *matched turns. */
static enum err_code match_turns(struct snapped *s, size_t *matched, struct err *e)
{
    *matched = 0;
    if (!s->log.n)
        return ERR_OK;
    if (!s->turn) {
        TRY(snapped_points(s->ref, &s->points, e));
        NEED(s->turn = arena_alloc(&s->arena, (s->points.n + 1) * sizeof *s->turn));
    }
    memset(s->turn, 0, (s->points.n + 1) * sizeof *s->turn);
    for (size_t i = 0; i < s->points.n; i++) {
        const struct checkpoint *c = &s->points.checkpoint[i];

        if (c->kind == CHECKPOINT_TURN && !c->after)
            s->turn[i].before = find_prompt_snapshot(s, c);
    }
    *matched = match_ends(s);
    return ERR_OK;
}

static enum err_code add_store(struct snapped *s, const char *dir, const char *moved_from,
                               struct err *e)
{
    struct snapped_store *more = arena_grow(&s->arena, s->store, s->stores, sizeof *more);

    NEED(s->store = more);
    more += s->stores++;
    NEED(more->dir = arena_copy_text(&s->arena, dir));
    NEED(more->objects = arena_format(&s->arena, "%s/objects", dir));
    NEED(!moved_from || (more->moved_from = arena_copy_text(&s->arena, moved_from)));
    return ERR_OK;
}

/* Adds the snapshots of a store from before the project moved, if they are those of more turns. */
static enum err_code add_former(struct snapped *s, const struct snapshot_project *x,
                                size_t *matched, struct err *e)
{
    CLEANUP(snapshot_log_fini) struct snapshot_log log = { .n = 0 };
    struct snapshot *const own = s->log.snapshot;
    const size_t own_n = s->log.n;
    size_t more;

    NEED(log.dir = arena_copy_text(&log.arena, x->dir));
    TRY(snapshot_log_read_dir(&log, e));

    /* Adds the snapshots of another log, by time; what they consist of stays in its arena. */
    const size_t all = s->log.n + log.n;
    struct snapshot *list = arena_alloc(&s->arena, (all + 1) * sizeof *list);

    NEED(list);
    for (size_t i = 0, j = 0; i + j < all;) {
        const bool first =
            j == log.n || (i < s->log.n && s->log.snapshot[i].time_ms <= log.snapshot[j].time_ms);

        list[i + j] = first ? s->log.snapshot[i] : log.snapshot[j];
        *(first ? &i : &j) += 1;
    }
    s->log.snapshot = list;
    s->log.n = all;

    TRY(match_turns(s, &more, e));
    if (more <= *matched) {
        s->log.snapshot = own;
        s->log.n = own_n;
        return match_turns(s, &more, e);
    }
    *matched = more;
    TRY(add_store(s, x->dir, x->root, e));
    HAND_OVER(&s->store[s->stores - 1].log, log);
    return ERR_OK;
}

/* Finds the snapshots that were taken before `reprise move` took the session from another directory. */
static enum err_code open_former(struct snapped *s, const char *now, size_t *matched, struct err *e)
{
    struct former f = { .ref = s->ref, .now = now };
    CLEANUP(snapshot_projects_fini) struct snapshot_projects all = { .n = 0 };

    /* The operation log may be long: it is read only if some project with snapshots is gone. */
    TRY(snapshot_projects_gone(s->ref->store->env, &all, e));
    if (all.n)
        former_read(&f, &s->arena);
    for (size_t k = 0; k < all.n; k++) {
        const struct snapshot_project *x = &all.project[k];
        bool is_it = false;

        for (size_t i = 0; i < f.n && !is_it && x->root && s->log.root; i++) {
            if (strcmp(f.dir[i], x->root) != 0 &&
                !path_under(slice_of(f.dir[i]), slice_of(x->root)))
                continue;

            /* Where the project is now, if it moved as a whole: of a part that moved, the rest is not beside it. */
            const char *below = f.dir[i] + strlen(x->root);
            const size_t n = strlen(now), tail = strlen(below);

            is_it = n > tail && strcmp(now + n - tail, below) == 0 &&
                    strlen(s->log.root) == n - tail && memcmp(s->log.root, now, n - tail) == 0;
        }
        if (is_it)
            TRY(add_former(s, x, matched, e));
    }
    return s->arena.failed ? err_nomem(e) : ERR_OK;
}

enum err_code snapped_unused(const struct snapped *s, struct arena *a, const char **root,
                             struct err *e)
{
    const struct store *st = s->ref->store;
    const struct slice id = st->ops->agent_id ? st->ops->agent_id(s->ref->id) : s->ref->id;
    struct former f = { .ref = s->ref };

    *root = NULL;
    if (!st->env || !st->env->state_dir)
        return ERR_OK;

    /* The operation log may be long: it is read only if there are snapshots of any project. */
    const char *copies = arena_format(a, "%s/" SNAPSHOT_COPIES, st->env->state_dir);

    NEED(copies);
    if (!path_is_dir(copies))
        return ERR_OK;
    former_read(&f, a);
    for (size_t i = 0; i < f.again_n && !*root; i++) {
        CLEANUP(snapshot_log_fini) struct snapshot_log log = { .n = 0 };

        const enum err_code rc = snapshot_log_read(st->env, f.again[i], &log, NULL);

        if (rc == ERR_NOMEM)
            return err_nomem(e);
        if (rc) /* without a log that can be read there is nothing to mention */
            continue;
        if (s->log.root && log.root && strcmp(s->log.root, log.root) == 0)
            continue;
        for (size_t k = 0; k < log.n && !*root; k++)
            if (slice_eq(log.snapshot[k].session, id) ||
                slice_eq(log.snapshot[k].session, s->ref->id))
                NEED(*root = arena_copy_text(a, log.root));
    }
    return a->failed ? err_nomem(e) : ERR_OK;
}

enum err_code snapped_open(const struct session_ref *ref, struct snapped *s, struct err *e)
{
    struct change_origin o = { 0 };
    size_t matched;

    *s = (struct snapped){ .ref = ref };
    if (!ref->store->env || !ref->store->env->state_dir || !store_can_rewind(ref->store->ops))
        return ERR_OK;
    TRY(origin_of(ref, &s->arena, &o, e));
    if (!o.dir)
        return ERR_OK;
    TRY(snapshot_log_read(ref->store->env, o.dir, &s->log, e));
    TRY(match_turns(s, &matched, e));
    if (s->log.n)
        TRY(add_store(s, s->log.dir, NULL, e));
    TRY(open_former(s, o.dir, &matched, e));

    /* It may be the log of the project, and none of its snapshots belongs to this session. */
    if (!matched)
        s->log.n = 0;
    if (!s->log.n)
        return ERR_OK;

    /* An agent that records no times gets those of the snapshots. */
    for (size_t i = 0; i < s->points.n; i++)
        if (s->turn[i].before && s->points.checkpoint[i].time_ms == TIME_NONE)
            s->points.checkpoint[i].time_ms = s->turn[i].before->time_ms;

    /* Opens the stores: the first as a repository, in which the objects of the others are found,
     * too. */
    git_odb *all = NULL;

    TRY(repo_open(s->store[0].dir, &s->repo, e));
    int answer = git_repository_odb(&all, s->repo);

    for (size_t i = 1; i < s->stores && !answer; i++)
        answer = git_odb_add_disk_alternate(all, s->store[i].objects);
    git_odb_free(all);
    if (answer)
        return repo_error(e, answer, s->store[0].dir, "read the snapshots");
    for (size_t i = 0; i < s->stores; i++)
        TRY(loose_guard_open(s->store[i].objects, &s->store[i].odb, e));

    /* The blobs that a snapshot borrowed are in the project's own repository, which may be gone by now. */
    git_repository *repo = NULL;

    if (!repo_may_be_found(s->log.root) || repo_open(s->log.root, &repo, NULL))
        return ERR_OK;
    s->project_objects = arena_format(&s->arena, "%sobjects", git_repository_commondir(repo));
    if (git_repository_odb(&s->project, repo))
        s->project = NULL;
    repo_close(repo);
    return s->project_objects ? ERR_OK : err_nomem(e);
}

const struct snapped_store *snapped_store_of(const struct snapped *s, const git_oid *id)
{
    for (size_t i = 0; i < s->stores; i++)
        if (git_odb_exists(s->store[i].odb, id))
            return &s->store[i];
    return NULL;
}

enum err_code snapped_tree(const struct snapped *s, const struct snapshot *x, git_tree **out,
                           struct err *e)
{
    git_oid id;

    if (git_oid_fromstrn(&id, x->tree.p, x->tree.n))
        return err_set(e, ERR_FORMAT, s->log.dir, "read a snapshot: its id is damaged");
    return repo_tree(s->repo, &id, out, e);
}

/* ---- what changed ---- */

static enum err_code snapped_file_of(struct snapped *s, const struct snapped_delta *d,
                                     struct snapped_file **out, struct err *e)
{
    const struct slice copy = arena_copy(&s->arena, slice_of(d->path));
    size_t known = s->paths.n;
    uint32_t number;

    NEED(copy.p && !slice_set_add(&s->paths, copy, &number));
    if (number == known) {
        struct snapped_file *more = realloc(s->file, (known + 1) * sizeof *more);

        NEED(more);
        s->file = more;
        s->file[number] = (struct snapped_file){ .path = copy, .by_hand = SIZE_MAX };
        s->files = known + 1;
    }
    *out = &s->file[number];
    return ERR_OK;
}

/* Another session whose turn was under way between two snapshots; NULL: none. */
static const struct snapshot *other_at_work(const struct snapped *s, const struct snapshot *from,
                                            const struct snapshot *to)
{
    for (const struct snapshot *x = s->log.snapshot; x < s->log.snapshot + s->log.n; x++) {
        const struct snapshot *end = NULL;

        if (x->kind != SNAPSHOT_PROMPT || slice_eq(x->session, from->session) ||
            x->time_ms > to->time_ms)
            continue;
        for (const struct snapshot *y = x + 1; y < s->log.snapshot + s->log.n && !end; y++)
            if (slice_eq(y->session, x->session))
                end = y;
        if (!end || end->time_ms >= from->time_ms)
            return x;
    }
    return NULL;
}

static enum err_code note_session_change(struct snapped *s, const struct snapped_delta *d,
                                         size_t turn, const struct snapped_turn *t, struct err *e)
{
    struct snapped_file *f;

    TRY(snapped_file_of(s, d, &f, e));
    f->was_empty |= d->empty;
    if (d->kind == DELTA_FILLED)
        return ERR_OK;
    f->is_entry |= d->kind == DELTA_ENTRY;
    if (!f->by_session)
        f->first = turn;
    f->by_session = true;
    f->last = turn;
    f->uncertain |= t->interrupted;
    if (!f->other)
        f->other = other_at_work(s, t->before, t->after);
    f->left = d->id;
    f->left_mode = d->left;
    return ERR_OK;
}

static enum err_code note_hand_change(struct snapped *s, const struct snapped_delta *d, size_t turn,
                                      const struct snapped_turn *t, struct err *e)
{
    struct snapped_file *f;

    TRY(snapped_file_of(s, d, &f, e));
    f->was_empty |= d->empty;
    if (d->kind == DELTA_FILLED)
        return ERR_OK;
    f->by_hand = turn;
    f->unseen |= t->unseen;
    if (!f->other)
        f->other = other_at_work(s, t->before, t->after);
    return ERR_OK;
}

enum err_code snapped_collect(struct snapped *s, size_t first, size_t end, struct err *e)
{
    const struct snapshot *left = NULL;
    bool unseen = false;

    for (size_t i = first; i < end; i++) {
        const struct snapped_turn *t = &s->turn[i];

        if (!t->before) {
            unseen = true;
            continue;
        }
        if (left && left != t->before)
            TRY(snapped_each_delta(
                s, left, t->before, i,
                &(struct snapped_turn){ .before = left, .after = t->before, .unseen = unseen },
                note_hand_change, e));
        if (t->after)
            TRY(snapped_each_delta(s, t->before, t->after, i, t, note_session_change, e));
        left = t->after ? t->after : t->before;
        unseen = false;
    }
    return ERR_OK;
}
