#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "store/api/checkpoint.h"
#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/exathena/event.h"
#include "store/systems/exathena/exathena.h"

/* A rewind as the library does it: every file that the session changed is restored to its version
 * 0, the state before the session's first edit, whichever event was chosen. The state of a file at
 * the event itself can only be inferred from the contents that later edits recorded; plan_inferred
 * does so. */

struct planning {
    enum err_code (*add_file)(struct planning *p, const struct saved_file *f, struct err *e);
    enum err_code (*add_notes)(struct planning *p, struct err *e);
    const struct exathena *x;
    const struct session_ref *ref;
    struct point point;
    struct saved_files saved;
    struct exathena_history history;
    struct rewind_plan plan;
    size_t left_out; /* saved files that cannot be restored at all */
};

/* ---- what the session left behind ---- */

/* The last edit in the log gives the present contents of the file only if no edit came after it:
 * then the newest saved copy equals what this edit found. Otherwise a later edit is missing from
 * the log, and nothing is known. */
static enum err_code exathena_set_last(struct planning *p, const struct saved_file *f,
                                       struct rewind_target *t, struct err *e)
{
    const struct exathena_edit *last = exathena_history_last_edit(&p->history, f->path);
    struct exathena_edit w;
    bool matches = false;

    if (!last) {
        /* Without an edit in the log, a file that equals the newest saved copy is what the session
         * knew last: a host with tools of its own saves it before the next turn. A different file may
         * be that host's work of the last turn, or a person's. */
        if (f->newest < 0)
            return ERR_OK;
        t->has_last = true;
        t->last_is_older = true;
        t->last_absent = f->newest_absent;
        t->last.file = f->newest_absent ? NULL
                                        : arena_format(&p->plan.arena, "%s/%lld.bin", f->dir,
                                                       (long long)f->newest);
        return t->last.file || f->newest_absent ? ERR_OK : err_nomem(e);
    }
    if (!last->known)
        return ERR_OK;
    w = *last;
    TRY(exathena_history_read_texts(p->ref, p->x->project, &w, &p->plan.arena, e));
    TRY(saved_newest_is(f, w.before, &matches, e));
    if (matches) {
        t->has_last = true;
        t->last.bytes = w.after;
    }
    return ERR_OK;
}

/* ---- version 0 ---- */

/* Like the library, we skip files without a path or a first copy, but the plan's notes mention
 * them. */
static enum err_code add_first(struct planning *p, const struct saved_file *f, struct err *e)
{
    struct rewind_target t = { .path = f->path };

    if (!f->path || !f->first) {
        p->left_out++;
        return ERR_OK;
    }
    if (f->why) {
        t.want = REWIND_UNKNOWN;
        t.why = f->why;
        return rewind_plan_add(&p->plan, &t, e);
    }
    t.want = f->first_absent ? REWIND_ABSENT : REWIND_BYTES;
    if (t.want == REWIND_BYTES)
        NEED(t.source.file = arena_format(&p->plan.arena, "%s/0.bin", f->dir));
    TRY(exathena_set_last(p, f, &t, e));
    return rewind_plan_add(&p->plan, &t, e);
}

static enum err_code exathena_note_first(struct planning *p, struct err *e)
{
    char text[160];
    enum err_code rc =
        rewind_plan_note(&p->plan,
                         "files are restored to before this session's first edit, not to "
                         "the chosen event: ExAthena's rule",
                         e);

    snprintf(text, sizeof text, "%zu saved file%s without a path or a first copy: skipped",
             p->left_out, p->left_out == 1 ? "" : "s");
    return rc || !p->left_out ? rc : rewind_plan_note(&p->plan, text, e);
}

/* ---- at the event ---- */

static enum err_code add_inferred(struct planning *p, const struct saved_file *f, struct err *e)
{
    struct rewind_target t = { .path = f->path };
    const struct exathena_edit *first =
        f->path ? exathena_history_first_edit(&p->history, f->path, p->point.line) : NULL;

    if (!first)
        return ERR_OK; /* not changed since */
    struct exathena_edit w = *first;

    if (!first->known) {
        t.want = REWIND_UNKNOWN;
        t.why = "the log does not record what the next edit found";
        return rewind_plan_add(&p->plan, &t, e);
    }
    TRY(exathena_history_read_texts(p->ref, p->x->project, &w, &p->plan.arena, e));
    t.want = w.before.n == 0 && f->first_absent ? REWIND_ABSENT : REWIND_BYTES;
    t.source.bytes = w.before;
    TRY(exathena_set_last(p, f, &t, e));
    return rewind_plan_add(&p->plan, &t, e);
}

static enum err_code note_inferred(struct planning *p, struct err *e)
{
    return rewind_plan_note(
        &p->plan, "reconstructed from the recorded edits (ExAthena keeps no copies of files)", e);
}

/* ---- together ---- */

static enum err_code exathena_open_plan(struct planning *p, const struct store *st,
                                        const struct session_ref *ref, struct slice point,
                                        struct err *e)
{
    struct arena *a = &p->plan.arena;

    p->x = exathena_of(st);
    p->ref = ref;
    enum err_code rc = exathena_point(ref, point, a, &p->point, e);

    if (rc)
        return err_wrap(e, rc, "rewind");
    rc = saved_files_read(p->x, ref->id, a, &p->saved, e);
    if (!rc)
        rc = exathena_history_read(ref, p->x->project, &p->history, e);
    p->plan.system = exathena_ops.name;
    p->plan.session = arena_copy(a, ref->id).p;
    p->plan.point = p->point.id.p;
    p->plan.point_ms = p->point.time_ms;
    if (!rc)
        rc = rewind_plan_root(st->env, &p->plan, p->x->project, e);
    p->plan.wide = p->plan.wide || p->x->no_project;
    return rc || p->plan.session ? rc : err_nomem(e);
}

/* The counts that the library's rewind reports. */
static void name_counts(struct rewind_plan *plan)
{
    plan->restored_key = "files_restored";
    plan->dropped_key = "events_dropped";
}

static enum err_code exathena_make_plan(struct planning *p, const struct store *st,
                                        const struct session_ref *ref, struct slice point,
                                        struct rewind_plan *out, struct err *e)
{
    enum err_code rc = exathena_open_plan(p, st, ref, point, e);

    for (size_t i = 0; !rc && i < p->saved.n; i++)
        rc = p->add_file(p, &p->saved.file[i], e);
    if (!rc)
        rc = p->add_notes(p, e);
    exathena_history_fini(&p->history);
    name_counts(&p->plan);
    if (rc)
        rewind_plan_fini(&p->plan);
    else
        *out = p->plan;
    return rc;
}

enum err_code exathena_plan(const struct store *st, const struct session_ref *ref,
                            struct slice point, struct rewind_plan *out, struct err *e)
{
    struct planning p = { .add_file = add_first, .add_notes = exathena_note_first };

    return exathena_make_plan(&p, st, ref, point, out, e);
}

enum err_code exathena_plan_inferred(const struct store *st, const struct session_ref *ref,
                                     struct slice point, struct rewind_plan *out, struct err *e)
{
    struct planning p = { .add_file = add_inferred, .add_notes = note_inferred };

    return exathena_make_plan(&p, st, ref, point, out, e);
}

/* ---- the points ---- */

static bool is_written(const struct exathena_history *s, size_t from, size_t to, const char *path)
{
    for (size_t i = from; i < to; i++)
        if (strcmp(s->edit[i].path, path) == 0)
            return true;
    return false;
}

/* The number of different files written from *at on and before this line; *at moves past them. */
static size_t files_until(const struct exathena_history *s, size_t line, size_t *at)
{
    size_t from = *at, n = 0;

    for (; *at < s->edits && s->edit[*at].line < line; ++*at)
        n += !is_written(s, from, *at, s->edit[*at].path);
    return n;
}

static bool shell_between(const struct exathena_history *s, size_t from, size_t to)
{
    for (size_t i = 0; i < s->shells; i++)
        if (s->shell[i] >= from && s->shell[i] < to)
            return true;
    return false;
}

enum err_code exathena_checkpoints(const struct store *st, const struct session_ref *ref,
                                   struct checkpoint_list *out, struct err *e)
{
    const struct exathena *x = exathena_of(st);
    struct checkpoint_list list = { .n = 0 };
    struct exathena_history s;

    TRY(exathena_history_read(ref, x->project, &s, e));

    size_t at = 0; /* index of an edit; edits and prompts are in the order of their lines */

    files_until(&s, s.prompts ? s.prompt[0].line : 0, &at);
    list.arena = s.arena; /* the history owns the texts */
    list.checkpoint = arena_zalloc(&list.arena, (s.prompts + 1) * sizeof *list.checkpoint);
    for (size_t i = 0; list.checkpoint && i < s.prompts; i++) {
        size_t from = s.prompt[i].line, to = i + 1 < s.prompts ? s.prompt[i + 1].line : SIZE_MAX;

        list.checkpoint[list.n++] = (struct checkpoint){ .id = s.prompt[i].id,
                                                         .message = s.prompt[i].id,
                                                         .prompt = s.prompt[i].text,
                                                         .time_ms = s.prompt[i].time_ms,
                                                         .kind = CHECKPOINT_TURN,
                                                         .files = files_until(&s, to, &at),
                                                         .shell = shell_between(&s, from, to) };
    }
    if (!list.checkpoint) {
        checkpoint_list_fini(&list);
        return err_nomem(e);
    }
    *out = list;
    return ERR_OK;
}

/* The conversation is rewound by cutting the log: lines before the event stay byte for byte, the
 * event itself is removed. Blank lines are not events, and the library's own cut drops them too.
 * The bytes that are cut off are kept in the record of the change. */

/* The lines that stay, from the first blank one on, without blank ones. */
static enum err_code without_blanks(struct slice lines, struct buf *out)
{
    struct slice line;
    enum err_code rc = ERR_OK;
    bool torn;

    while (!rc && slice_line(&lines, &line, &torn))
        if (line.n) {
            rc = buf_add(out, line);
            if (!rc)
                rc = buf_add_byte(out, '\n');
        }
    return rc;
}

static enum err_code exathena_plan_cut(const struct session_ref *ref, const struct point *p,
                                       struct change *c, struct err *e)
{
    struct buf old = { 0 }, kept = { 0 };
    struct file f;
    int64_t from = p->blank >= 0 ? p->blank : p->offset;
    enum err_code rc = file_open(AT_FDCWD, ref->path.p, 0, &f, e);

    if (rc)
        return rc;

    /* Rows that were added since the point was found would be lost. */
    if (f.id.size != p->size)
        rc = err_set(e, ERR_STALE, ref->path.p, "cut the session: it continued meanwhile");
    if (!rc)
        rc = file_read_part(&f, from, (size_t)(p->size - from), &old, e);
    if (!rc && (int64_t)old.n < p->size - from)
        rc = err_set(e, ERR_STALE, NULL, "cut the session: it became shorter");
    if (!rc && without_blanks((struct slice){ old.p, (size_t)(p->offset - from) }, &kept))
        rc = err_nomem(e);
    if (!rc)
        rc = change_add(c,
                        &(struct step){ .kind = STEP_TAIL,
                                        .path = ref->path.p,
                                        .offset = from,
                                        .old = buf_slice(&old),
                                        .bytes = buf_slice(&kept),
                                        .mtime_ns = MTIME_NOW },
                        e);
    file_close(&f);
    buf_fini(&old);
    buf_fini(&kept);
    return rc ? err_at(e, rc, ref->path.p) : ERR_OK;
}

enum err_code exathena_plan_conversation(const struct store *st, const struct session_ref *ref,
                                         struct slice point, struct rewind_plan *plan,
                                         struct err *e)
{
    struct point p;
    struct change *c;
    enum err_code rc = exathena_point(ref, point, &plan->arena, &p, e);

    (void)st;
    if (rc)
        return err_wrap(e, rc, "rewind");
    c = change_new("rewind");
    rc = c ? exathena_plan_cut(ref, &p, c, e) : err_nomem(e);
    if (rc) {
        change_free(c);
        return rc;
    }
    name_counts(plan);
    plan->point = p.id.p;
    plan->point_ms = p.time_ms;
    plan->conversation = (struct rewind_conversation){
        .change = c, .how = CONVERSATION_TRUNCATE, .kept = p.before, .dropped = p.total - p.before
    };
    return ERR_OK;
}
