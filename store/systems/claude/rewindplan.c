#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/json.h"
#include "lite/utf8.h"
#include "store/checkpoint.h"
#include "store/lexical.h"
#include "store/rewind/rewind.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/history.h"
#include "store/systems/claude/lastwrite.h"
#include "store/systems/claude/rivals.h"

/* Everything a plan is made of. */
struct planner {
    const struct claude *claude;
    const struct session_ref *ref;
    struct arena arena;
    struct transcript *transcript; /* owned */
    struct session_row *row;       /* owned */
    struct history history;
    struct lastwrites writes; /* since the newest snapshot */
    const char *cwd;          /* NULL: the session does not say */
};

static void planner_close(struct planner *p)
{
    lastwrites_fini(&p->writes);
    history_fini(&p->history);
    transcript_free(p->transcript);
    session_row_free(p->row);
    arena_fini(&p->arena);
}

static enum err_code planner_open(struct planner *p, const struct store *st,
                                  const struct session_ref *ref, struct err *e)
{
    const struct scope everywhere = { .all = true };

    *p = (struct planner){ .claude = claude_of(st), .ref = ref, .row = session_row_new() };
    enum err_code rc = p->row ? claude_describe(st, &everywhere, ref, p->row, e)
                              : err_set(e, ERR_NOMEM, ref->path.p, "plan a rewind: out of memory");

    if (!rc)
        rc = claude_load(st, ref, NULL, &p->transcript, e);
    if (!rc)
        rc = history_read(ref, p->transcript, &p->history, e);
    if (!rc && p->history.n)
        rc = lastwrites_read(p->transcript, p->history.turn[p->history.n - 1].message, &p->writes,
                             e);
    if (!rc && p->row->cwd.n && p->row->cwd.p[0] == '/')
        p->cwd = arena_copy(&p->arena, p->row->cwd).p;
    if (rc)
        planner_close(p);
    return rc;
}

/* ---- paths ---- */

static const char *absolute(struct planner *p, const char *tracked)
{
    return lexical_absolute(p->cwd ? p->cwd : "", tracked, &p->arena);
}

static const char *backup_in(struct planner *p, struct slice session, const char *name)
{
    return arena_format(&p->arena, "%s/file-history/%.*s/%s", p->claude->base.path,
                        SLICE_ARG(session), name);
}

/* The copies of a fork may lie with the session it came from, until the client has carried them over. */
static const char *backup_path(struct planner *p, const char *name)
{
    const char *own = backup_in(p, p->ref->id, name);
    struct stat st;

    if (!own || lstat(own, &st) == 0 || !claude_is_uuid(p->row->parent_id))
        return own;
    const char *parents = backup_in(p, p->row->parent_id, name);

    return parents && lstat(parents, &st) == 0 ? parents : own;
}

/* ---- targets ---- */

static enum err_code no_memory(struct planner *p, struct err *e)
{
    return err_set(e, ERR_NOMEM, p->ref->path.p, "plan a rewind: out of memory");
}

static enum err_code wanted_of(struct planner *p, const struct history_entry *entry,
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
    t->source.file = backup_path(p, entry->backup);
    if (!t->source.file)
        return no_memory(p, e);
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
    const struct history_entry *newest = history_newest(&p->history, tracked);

    if (w) {
        t->has_last = w->known;
        t->last.bytes = w->bytes.p ? w->bytes : SLICE("");
        return ERR_OK;
    }
    if (!newest || !newest->valid)
        return ERR_OK;
    t->has_last = true;
    t->last_absent = !newest->backup;
    if (newest->backup)
        t->last.file = backup_path(p, newest->backup);
    return newest->backup && !t->last.file ? no_memory(p, e) : ERR_OK;
}

static enum err_code add_target(struct planner *p, size_t turn, const char *tracked,
                                struct rewind_plan *plan, struct err *e)
{
    const struct history_entry *entry = history_at(&p->history, turn, tracked);
    struct rewind_target t = { .path = absolute(p, tracked) };

    if (!t.path)
        return no_memory(p, e);
    if (!entry) {
        t.want = REWIND_UNKNOWN;
        t.why = "the session does not say what it was then";
    } else if (tracked[0] != '/' && !p->cwd) {
        t.want = REWIND_UNKNOWN;
        t.why = "the session does not say in which directory it lay";
    } else {
        enum err_code rc = wanted_of(p, entry, &t, e);

        if (!rc)
            rc = last_of(p, tracked, &t, e);
        if (rc)
            return rc;
    }
    return rewind_plan_add(plan, &t, e);
}

/* ---- what else happened ---- */

static bool ran_shell(const struct block_list *blocks)
{
    for (size_t i = 0; i < blocks->n; i++)
        if (blocks->block[i].kind == BLOCK_TOOL_CALL &&
            slice_eq(blocks->block[i].name, SLICE("Bash")))
            return true;
    return false;
}

/* Counts the commands that ran in rows from .. to - 1. */
static enum err_code count_shell(struct planner *p, size_t from, size_t to, size_t *n,
                                 struct err *e)
{
    struct buf row = { 0 };
    enum err_code rc = ERR_OK;

    *n = 0;
    for (size_t i = from; i < to && !rc; i++) {
        struct block_list blocks = { 0 };

        if (p->transcript->message[i].kind != MESSAGE_ASSISTANT)
            continue;
        rc = transcript_read(p->transcript, i, &row, e);
        if (!rc)
            rc = claude_blocks(&p->claude->base, buf_slice(&row), &blocks, e);
        *n += !rc && ran_shell(&blocks);
        block_list_fini(&blocks);
    }
    buf_fini(&row);
    return rc;
}

static enum err_code note_shell(struct planner *p, size_t turn, struct rewind_plan *plan,
                                struct err *e)
{
    size_t n;
    char text[160];
    enum err_code rc = count_shell(p, p->history.turn[turn].message, p->transcript->n, &n, e);

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

static const char lost_turn[] =
    "the row that says what the files were at this point is missing from the session";

static enum err_code fill(struct planner *p, size_t turn, struct rewind_plan *plan, struct err *e)
{
    struct arena *a = &plan->arena;

    plan->system = "claude";
    plan->session = arena_copy(a, p->ref->id).p;
    plan->point = arena_copy(a, p->history.turn[turn].id).p;
    plan->root = p->cwd ? arena_format(a, "%s", p->cwd) : NULL;
    plan->point_ms = p->history.turn[turn].time_ms;
    if (!plan->session || !plan->point || (p->cwd && !plan->root))
        return no_memory(p, e);
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < p->history.paths && !rc; i++)
        rc = add_target(p, turn, p->history.path[i], plan, e);
    if (!rc)
        rc = note_shell(p, turn, plan, e);
    return rc ? rc : claude_rivals(&p->claude->base, p->ref, plan, e);
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
        rc = err_set(e, ERR_NOT_FOUND, ref->path.p, "rewind: %s", lost_turn);
    if (!rc)
        rc = fill(&p, turn, &plan, e);
    planner_close(&p);
    if (rc)
        rewind_plan_fini(&plan);
    else
        *out = plan;
    return rc;
}

/* ---- all points ---- */

static bool same_entry(const struct history_entry *a, const struct history_entry *b)
{
    if (!a || !b || !a->backup || !b->backup)
        return a && b && !a->backup == !b->backup;
    return strcmp(a->backup, b->backup) == 0;
}

/* What the turn changed: entries that are others at the next point; in the newest turn, files written since. */
static size_t count_changed(const struct planner *p, size_t turn)
{
    const struct history *h = &p->history;
    size_t n = 0;

    if (turn + 1 == h->n)
        return p->writes.n;
    for (size_t i = 0; i < h->paths; i++)
        n += !same_entry(history_at(h, turn, h->path[i]), history_at(h, turn + 1, h->path[i]));
    return n;
}

static const char *why_not(struct planner *p, size_t turn)
{
    const struct history *h = &p->history;
    struct stat st;

    if (h->turn[turn].lost)
        return lost_turn;
    for (size_t i = 0; i < h->turn[turn].n; i++) {
        const struct history_entry *entry = &h->turn[turn].entry[i];
        const char *path = entry->backup && entry->valid ? backup_path(p, entry->backup) : NULL;

        if (path && lstat(path, &st))
            return "saved copies of this point are gone (clients keep the last 100)";
    }
    return NULL;
}

static enum err_code prompt_of(struct planner *p, size_t message, struct arena *a,
                               struct slice *out, struct err *e)
{
    struct buf row = { 0 };
    struct block_list blocks = { 0 };
    enum err_code rc = transcript_read(p->transcript, message, &row, e);

    if (!rc)
        rc = claude_blocks(&p->claude->base, buf_slice(&row), &blocks, e);
    for (size_t i = 0; i < blocks.n && !rc && !out->p; i++)
        if (blocks.block[i].kind == BLOCK_PROMPT || blocks.block[i].kind == BLOCK_COMMAND) {
            *out = arena_copy(a, blocks.block[i].text);
            rc = out->p ? ERR_OK : no_memory(p, e);
        }
    block_list_fini(&blocks);
    buf_fini(&row);
    return rc;
}

static enum err_code add_checkpoint(struct planner *p, size_t turn, struct checkpoint_list *list,
                                    struct err *e)
{
    const struct history *h = &p->history;
    const struct history_turn *t = &h->turn[turn];
    size_t next = turn + 1 < h->n ? h->turn[turn + 1].message : p->transcript->n, shell;
    struct checkpoint *c = &list->checkpoint[list->n++];

    *c = (struct checkpoint){ .id = arena_copy(&list->arena, t->id),
                              .time_ms = t->time_ms,
                              .kind = CHECKPOINT_TURN,
                              .files = count_changed(p, turn),
                              .why = why_not(p, turn) };
    c->message = c->id;
    enum err_code rc =
        c->id.p ? prompt_of(p, t->message, &list->arena, &c->prompt, e) : no_memory(p, e);

    if (!rc)
        rc = count_shell(p, t->message, next, &shell, e);
    c->shell = !rc && shell > 0;
    return rc;
}

enum err_code claude_checkpoints(const struct store *st, const struct session_ref *ref,
                                 struct checkpoint_list *out, struct err *e)
{
    struct planner p;
    struct checkpoint_list list = { 0 };
    enum err_code rc = planner_open(&p, st, ref, e);

    if (rc)
        return rc;
    list.checkpoint = arena_zalloc(&list.arena, sizeof *list.checkpoint * (p.history.n + 1));
    if (!list.checkpoint)
        rc = no_memory(&p, e);
    for (size_t i = 0; i < p.history.n && !rc; i++)
        rc = add_checkpoint(&p, i, &list, e);
    planner_close(&p);
    if (rc)
        checkpoint_list_fini(&list);
    else
        *out = list;
    return rc;
}
