#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/rewind/plan/root.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/rewind/concurrent_sessions.h"
#include "store/systems/claude/rewind/planner.h"

/* What each file was at a point. */

/* ---- targets ---- */

static enum err_code wanted_of(struct planner *p, const struct file_history_entry *entry,
                               struct rewind_target *t, struct err *e)
{
    struct stat st;

    t->real_parent = entry->real_parent;
    if (!entry->valid) {
        t->want = REWIND_UNKNOWN;
        t->why = "its saved copy has a name that no client writes";
        return ERR_OK;
    }
    if (!entry->backup) {
        t->want = REWIND_ABSENT;
        return ERR_OK;
    }
    t->want = REWIND_BYTES;
    t->source.file = planner_backup(p, entry->backup);
    if (!t->source.file)
        return err_nomem(e);
    if (stat(t->source.file, &st) == 0) { /* the copy carries the mode of the original */
        t->has_mode = true;
        t->mode = st.st_mode & 07777;
    }
    return ERR_OK;
}

/* What the session knows of the file now: its last edit after the newest snapshot, else that snapshot. */
static enum err_code last_of(struct planner *p, const char *tracked, struct rewind_target *t,
                             struct err *e)
{
    const struct lastwrite *w = lastwrites_find(&p->writes, t->path);
    const struct file_history_entry *newest = file_history_newest(&p->history, tracked);

    if (w && w->known) {
        t->has_last = true;
        t->last.bytes = w->bytes.p ? w->bytes : SLICE("");
        return ERR_OK;
    }
    t->last_is_older = w != NULL;
    if (!newest || !newest->valid)
        return ERR_OK;
    t->has_last = true;
    t->last_absent = !newest->backup;
    if (newest->backup)
        t->last.file = planner_backup(p, newest->backup);
    return newest->backup && !t->last.file ? err_nomem(e) : ERR_OK;
}

static enum err_code add_target(struct planner *p, size_t turn, const char *tracked,
                                struct rewind_plan *plan, struct err *e)
{
    const struct file_history_entry *entry = file_history_at(&p->history, turn, tracked);
    struct rewind_target t = { .path = planner_path(p, tracked) };

    if (!t.path)
        return err_nomem(e);
    if (!entry) {
        t.want = REWIND_UNKNOWN;
        t.why = "the session does not record its content then";
    } else if (entry->no_path) {
        t.want = REWIND_UNKNOWN;
        t.why = "the session has a name for it that is no path";
    } else if (tracked[0] != '/' && !p->cwd) {
        t.want = REWIND_UNKNOWN;
        t.why = "the session does not record its directory";
    } else {
        enum err_code rc = wanted_of(p, entry, &t, e);

        if (!rc)
            rc = last_of(p, tracked, &t, e);
        if (rc)
            return rc;
    }
    return rewind_plan_add(plan, &t, e);
}

static enum err_code note_shell(struct planner *p, size_t turn, struct rewind_plan *plan,
                                struct err *e)
{
    size_t n;
    char text[160];
    enum err_code rc = planner_shell(p, p->history.turn[turn].message, p->transcript->n, &n, e);

    if (rc || n == 0)
        return rc;
    snprintf(text, sizeof text,
             "%zu shell command%s ran since then: what %s changed in other files is not covered", n,
             n == 1 ? "" : "s", n == 1 ? "it" : "they");
    return rewind_plan_note(plan, text, e);
}

/* ---- the point ---- */

enum { PREFIX_MIN = 4 };

static enum err_code find_turn(const struct planner *p, struct slice point, size_t *turn,
                               struct err *e)
{
    size_t hits = 0;

    for (size_t i = 0; i < p->history.n; i++) {
        struct slice id = p->history.turn[i].id;

        if (slice_eq(id, point)) {
            *turn = i;
            return ERR_OK;
        }
        if (point.n >= PREFIX_MIN && id.n > point.n && memcmp(id.p, point.p, point.n) == 0) {
            *turn = i;
            hits++;
        }
    }
    if (hits == 1)
        return ERR_OK;
    return hits ? err_set(e, ERR_USAGE, p->ref->path.p, "rewind: several messages begin with %.*s",
                          SLICE_ARG(point))
                : err_set(e, ERR_NOT_FOUND, p->ref->path.p,
                          "rewind: no file checkpoint for message %.*s",
                          (int)(point.n > 64 ? 64 : point.n), point.p);
}

static enum err_code fill_plan(struct planner *p, size_t turn, struct rewind_plan *plan,
                               struct err *e)
{
    struct arena *a = &plan->arena;

    plan->system = "claude";
    plan->session = arena_copy(a, p->ref->id).p;
    plan->point = arena_copy(a, p->history.turn[turn].id).p;
    plan->point_ms = p->history.turn[turn].time_ms;
    if (!plan->session || !plan->point)
        return err_nomem(e);
    enum err_code rc = rewind_plan_root(p->claude->base.env, plan, p->root, e);

    for (size_t i = 0; i < p->history.paths && !rc; i++)
        rc = add_target(p, turn, p->history.path[i], plan, e);
    if (!rc)
        rc = note_shell(p, turn, plan, e);
    return rc ? rc : claude_concurrent_sessions(&p->claude->base, p->ref, plan, e);
}

enum err_code claude_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                          struct rewind_plan *out, struct err *e)
{
    struct planner p;
    struct rewind_plan plan = { 0 };
    size_t turn = 0;
    enum err_code rc = planner_open(&p, st, ref, e);

    if (rc)
        return rc;
    rc = find_turn(&p, point, &turn, e);
    if (!rc && p.history.turn[turn].lost)
        rc = err_set(e, ERR_NOT_FOUND, ref->path.p, "rewind: %s", planner_lost_turn);
    if (!rc)
        rc = fill_plan(&p, turn, &plan, e);
    planner_close(&p);
    if (rc)
        rewind_plan_fini(&plan);
    else
        *out = plan;
    return rc;
}
