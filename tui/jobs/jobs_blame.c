#include <stdlib.h>

#include "store/blame/blame.h"
#include "tui/data/blame_rows.h"
#include "tui/jobs/jobs.h"

/* Finds who changed a file. The sessions of all projects are read, as by the commands. */

static bool add_refs(struct blame_rows *r, const struct session_ref *const *ref, size_t n)
{
    r->refs = ref_list_new();
    for (size_t i = 0; r->refs && i < n; i++)
        if (!ref_list_add(r->refs, ref[i], 0))
            return false;
    return r->refs != NULL;
}

static enum err_code make_turns(struct blame_rows *r, const struct blame_touches *t, struct err *e)
{
    r->row = arena_zalloc(&r->arena, (t->n + 1) * sizeof *r->row);
    if (!r->row || !add_refs(r, t->ref, t->refs))
        return err_nomem(e);
    for (r->n = 0; r->n < t->n; r->n++) {
        const struct blame_touch *touch = &t->touch[r->n];

        r->row[r->n] = (struct blame_row){
            .ref = (uint32_t)touch->session,
            .turn = touch->turn.n ? id128_of(touch->turn) : (struct id128){ 0, 0 },
            .prompt = arena_copy(&r->arena, blame_first_line(touch->prompt)),
            .session = arena_copy(&r->arena, t->ref[touch->session]->id),
            .time_ms = touch->time_ms,
            .added = touch->added,
            .removed = touch->removed,
            .did = touch->did & BLAME_RENAMED   ? "renamed"
                   : touch->did & BLAME_DELETED ? "deleted"
                   : touch->did & BLAME_CREATED ? "created"
                                                : "edited",
        };
        r->stopped = touch->stopped ? touch->stopped : r->stopped;
    }
    return r->arena.failed ? err_nomem(e) : ERR_OK;
}

static void make_line(struct blame_rows *r, const struct blame *b, size_t i)
{
    const struct blame_event *event = blame_event_of(b, i);
    struct blame_row *row = &r->row[i];

    *row = (struct blame_row){ .ref = BLAME_ROW_NONE, .time_ms = TIME_NONE };
    row->text = arena_copy(&r->arena, b->line[i]);
    if (!event)
        return;
    row->ref = (uint32_t)event->session;
    row->time_ms = event->edit.time_ms;
    if (event->edit.turn.n)
        row->turn = id128_of(event->edit.turn);
    /* Lines of one edit are adjacent and share its texts. */
    if (i && r->row[i - 1].ref != BLAME_ROW_NONE && b->owner[i - 1] == b->owner[i]) {
        row->prompt = r->row[i - 1].prompt;
        row->session = r->row[i - 1].session;
    } else {
        row->prompt = arena_copy(&r->arena, blame_first_line(event->edit.prompt));
        row->session = arena_copy(&r->arena, b->history.ref[event->session]->id);
    }
}

static enum err_code jobs_blame_fill_rows(struct job_context *d, const struct effect *q,
                                          const struct blame_query *query, struct blame_rows *r,
                                          struct err *e)
{
    struct blame_touches touches = { .n = 0 };
    struct blame blame = { .lines = 0 };
    enum err_code rc;

    if (q->n) { /* by line */
        rc = blame_file(d->store, d->stores, query, &blame, e);
        if (!rc) {
            r->by_line = true;
            r->stopped = blame.stopped;
            r->row = arena_zalloc(&r->arena, (blame.lines + 1) * sizeof *r->row);
            if (!r->row || !add_refs(r, blame.history.ref, blame.history.refs))
                rc = err_nomem(e);
            else {
                for (r->n = 0; r->n < blame.lines; r->n++)
                    make_line(r, &blame, r->n);
                rc = r->arena.failed ? err_nomem(e) : ERR_OK;
            }
        }
        blame_fini(&blame);
        return rc;
    }
    rc = blame_touches_read(d->store, d->stores, query, &touches, e);
    if (!rc)
        rc = make_turns(r, &touches, e);
    blame_touches_fini(&touches);
    return rc;
}

enum err_code jobs_blame(struct job_context *d, const struct effect *q, const struct reply *r,
                         struct err *e)
{
    struct blame_rows *rows = calloc(1, sizeof *rows);
    char *path = strndup(q->text.p ? q->text.p : "", q->text.n);
    char *real = path ? realpath(path, NULL) : NULL;
    const char *paths[] = { path, real };
    struct blame_query query = { .path = paths, .cancel = r->cancelled };
    enum err_code rc =
        rows && path ? jobs_scope(d, SCOPE_ALL, &query.sessions.scope, e) : err_nomem(e);

    query.paths = real && path && strcmp(real, path) != 0 ? 2 : 1;
    query.sessions.since_ms = query.sessions.before_ms = TIME_NONE;
    if (!rc)
        rc = jobs_blame_fill_rows(d, q, &query, rows, e);
    free(path);
    free(real);
    if (rc)
        blame_rows_free(rows);
    else
        jobs_post(r, q, (struct msg){ .kind = MSG_BLAME, .u.blame = rows });
    return rc;
}
