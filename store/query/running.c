#include "store/query/running.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/api/env.h"
#include "store/proc/live.h"

/* The published sessions of one store, then its candidates. */
struct running_search {
    const struct store *st;
    const struct live_table *hosts;
    struct running_counts *counts; /* only these are wanted, or NULL */
    struct arena arena;
    struct slice_set announced; /* the ids of sessions whose programs run */
    struct session_ref *found;  /* in the arena */
    size_t n;
    bool failed; /* out of memory */
};

static bool running_note_entry(const struct live_entry *entry, void *arg)
{
    struct running_search *s = arg;
    uint32_t number;

    if (entry->live.state != LIVE_RUNNING)
        return true;
    if (s->counts) {
        s->counts->waiting += entry->state == SESSION_REQUIRES_ACTION;
        s->counts->busy += entry->state == SESSION_RUNNING;
        s->counts->idle += entry->state == SESSION_IDLE;
        return true;
    }
    const struct slice id = arena_copy(&s->arena, entry->session_id);

    s->failed = !id.p || slice_set_add(&s->announced, id, &number);
    return !s->failed;
}

/* What the agents and the hosts of this store publish. */
static enum err_code running_note_published(struct running_search *s, struct err *e)
{
    const struct slice system = slice_of(store_format(s->st->ops));

    if (s->st->ops->running)
        s->st->ops->running(s->st, running_note_entry, s);
    for (size_t i = 0; i < s->hosts->n && !s->failed; i++)
        if (slice_eq(s->hosts->entry[i].system, system))
            running_note_entry(&s->hosts->entry[i], s);
    return s->failed ? err_nomem(e) : ERR_OK;
}

static bool running_note_ref(const struct session_ref *ref, void *arg)
{
    struct running_search *s = arg;
    const int64_t written_ms = session_recent_ns(ref) / 1000000;
    const bool recent = written_ms > env_now_ms(s->st->env) - RUNNING_LOOKED_UP_MS;

    if (!recent && slice_set_find(&s->announced, ref->id) == SLICE_SET_NONE)
        return true;
    s->found = arena_grow(&s->arena, s->found, s->n, sizeof *s->found);
    s->failed = !s->found || !session_ref_copy(&s->arena, ref, &s->found[s->n]);
    s->n += !s->failed;
    return !s->failed;
}

/* A rename or a tag is written long after the last message: the agent did not write it while it worked. */
static bool running_wrote(const struct session_row *row, int64_t now_ms)
{
    return row->modified_ms > now_ms - RUNNING_RECENT_MS &&
           row->activity_ms > row->modified_ms - RUNNING_BEHIND_MS;
}

/* Describes a candidate; *runs is set if it is running. */
static enum err_code running_examine(const struct running_search *s, const struct scope *scope,
                                     const struct session_ref *ref, struct session_row *row,
                                     bool *runs, struct err *e)
{
    const struct store *st = s->st;
    struct live live = { .state = LIVE_QUIET };
    enum err_code rc = st->ops->describe(st, scope, ref, row, e);

    *runs = false;
    if (rc)
        return rc == ERR_NOMEM ? rc : ERR_OK; /* it was removed meanwhile, or cannot be read */
    NEED(live_show_host(s->hosts, row));
    if (row->hidden != HIDDEN_NOT)
        return ERR_OK;
    if (!(row->flags & SESSION_LIVE) && !st->ops->running && st->ops->live) {
        TRY(st->ops->live(st, ref, &live, e));
        if (live.state == LIVE_RUNNING || live.pid > 0) {
            row->flags |= SESSION_LIVE;
            row->live_pid = live.pid;
        }
    }
    *runs = (row->flags & SESSION_LIVE) != 0 || running_wrote(row, env_now_ms(st->env));
    return ERR_OK;
}

static int running_rank(const struct session_row *row)
{
    switch (row->state) {
    case SESSION_REQUIRES_ACTION: return 0;
    case SESSION_RUNNING: return 1;
    case SESSION_UNKNOWN: return row->flags & SESSION_LIVE ? 2 : 3;
    case SESSION_IDLE: break;
    }
    return 4;
}

static int running_order(const void *x, const void *y)
{
    const struct session_row *a = *(struct session_row *const *)x,
                             *b = *(struct session_row *const *)y;
    const int ranks = running_rank(a) - running_rank(b);

    if (ranks)
        return ranks;
    if (a->activity_ms != b->activity_ms)
        return a->activity_ms > b->activity_ms ? -1 : 1;
    return slice_compare(a->ref.id, b->ref.id);
}

static enum err_code running_search_store(struct running_search *s, const struct scope *scope,
                                          struct running *out, struct err *e)
{
    const size_t first = out->n;

    TRY(running_note_published(s, e));
    TRY(s->st->ops->enumerate(s->st, scope, running_note_ref, s, e));
    NEED(!s->failed);

    for (size_t i = 0; i < s->n; i++) {
        CLEANUP(session_row_free_at) struct session_row *row = session_row_new();
        bool runs;

        NEED(row);
        TRY(running_examine(s, scope, &s->found[i], row, &runs, e));
        if (!runs)
            continue;

        /* A session that is in several folders is one: the copy that was written last. */
        size_t at = first;

        while (at < out->n && !slice_eq(out->row[at]->ref.id, row->ref.id))
            at++;
        if (at < out->n) {
            struct session_row *known = out->row[at];

            if (row->modified_ms > known->modified_ms) {
                out->row[at] = row;
                row = known;
            }
            continue;
        }
        NEED(array_reserve(out->row, out->cap, out->n + 1));
        out->row[out->n++] = row;
        row = NULL;
    }
    return ERR_OK;
}

/* Searches every local store, or only counts. */
static enum err_code running_each_store(struct store *const stores[], size_t n,
                                        const struct scope *scope, struct running *out,
                                        struct running_counts *counts, struct err *e)
{
    struct live_table hosts = { 0 };
    enum err_code rc = n ? live_read_hosts(stores[0]->env, &hosts, e) : ERR_OK;

    for (size_t i = 0; i < n && !rc; i++) {
        struct running_search s = { .st = stores[i], .hosts = &hosts, .counts = counts };

        if (s.st->ops->remote || !s.st->ops->enumerate)
            continue;
        rc = counts ? running_note_published(&s, e) : running_search_store(&s, scope, out, e);
        slice_set_fini(&s.announced);
        arena_fini(&s.arena);
    }
    live_fini(&hosts);
    return rc;
}

enum err_code running_read(struct store *const stores[], size_t n, const struct scope *scope,
                           struct running *out, struct err *e)
{
    *out = (struct running){ 0 };
    const enum err_code rc = running_each_store(stores, n, scope, out, NULL, e);

    if (rc)
        running_fini(out);
    else if (out->n)
        qsort(out->row, out->n, sizeof *out->row, running_order);
    return rc;
}

enum err_code running_count(struct store *const stores[], size_t n, struct running_counts *out,
                            struct err *e)
{
    *out = (struct running_counts){ 0 };
    return running_each_store(stores, n, NULL, NULL, out, e);
}

void running_fini(struct running *r)
{
    for (size_t i = 0; i < r->n; i++)
        session_row_free(r->row[i]);
    free(r->row);
    *r = (struct running){ 0 };
}

bool running_ended(const struct running *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->row[i]->live_pid > 0 && kill(r->row[i]->live_pid, 0) != 0 && errno == ESRCH)
            return true;
    return false;
}

const char *running_state(const struct session_row *row)
{
    switch (row->state) {
    case SESSION_REQUIRES_ACTION: return "waiting";
    case SESSION_RUNNING: return row->flags & SESSION_SHELL ? "shell" : "busy";
    case SESSION_IDLE: return "idle";
    case SESSION_UNKNOWN: break;
    }
    return row->flags & SESSION_LIVE ? "open" : "wrote";
}

int64_t running_since_ms(const struct session_row *row)
{
    if (row->state && row->since_ms != TIME_NONE)
        return row->since_ms;
    return row->activity_ms != TIME_NONE ? row->activity_ms : row->modified_ms;
}
