#include "store/grep/grep.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "lite/base/array.h"
#include "store/api/store.h"
#include "store/grep/grep_session.h"

unsigned grep_place_of_kind(enum block_kind kind)
{
    switch (kind) {
    case BLOCK_PROMPT:
    case BLOCK_COMMAND: return GREP_IN_PROMPTS;
    case BLOCK_TEXT: return GREP_IN_REPLIES;
    case BLOCK_THINKING: return GREP_IN_THINKING;
    case BLOCK_TOOL_CALL:
    case BLOCK_TOOL_RESULT: return GREP_IN_TOOLS;
    case BLOCK_NOTE: return GREP_IN_NOTES;
    case BLOCK_RAW:
    case BLOCK_IMAGE:
    case BLOCK_DOCUMENT:
    case BLOCK_SEAM: break;
    }
    return 0;
}

/* Returns true if the byte follows a backslash that is not itself escaped. */
static bool is_behind_escape(struct slice raw, const char *at)
{
    const char *run = at;

    while (run > raw.p && run[-1] == '\\')
        run--;
    return (at - run) % 2 != 0;
}

/* The letter of an escape, or a digit of one by number. */
static bool is_in_escape(struct slice raw, const char *at)
{
    bool in = is_behind_escape(raw, at);

    for (int i = 1; !in && i <= 4 && at - i > raw.p; i++)
        in = at[-i] == 'u' && is_behind_escape(raw, at - i);
    return in;
}

/* Behind the next newline, or NULL. */
static const char *next_raw_line(struct slice raw, const char *p)
{
    const char *end = raw.p + raw.n;

    while ((p = slice_find(p, (size_t)(end - p), "\\n", 2)) && is_behind_escape(raw, p))
        p++;
    return p ? p + 2 : NULL;
}

bool grep_count_row(struct grep_session *s, struct slice row)
{
    store_raw_texts_fn *raw_texts = s->ref->store->ops->raw_texts;
    struct raw_texts texts;

    if (!raw_texts || s->q->want == GREP_WANT_HITS || !grep_is_plain(s->matcher) ||
        (s->q->in & GREP_IN_NOTES) || !grep_is_plain_row(s->matcher, row) ||
        !raw_texts(row, &texts))
        return false;
    for (size_t i = 0; i < texts.n; i++)
        if (grep_place_of_kind((enum block_kind)texts.text[i].kind) & s->q->in) {
            /* The lines of the decoded text that have a match. */
            bool folded;
            const struct slice text = grep_plain_text(s->matcher, &folded);
            const char *p = texts.text[i].text.p,
                       *end = texts.text[i].text.p + texts.text[i].text.n;
            uint64_t lines = 0;

            while (p) {
                p = (folded ? slice_find_folded : slice_find)(p, (size_t)(end - p), text.p, text.n);
                if (p && is_in_escape(texts.text[i].text, p)) {
                    p++;
                } else if (p) {
                    lines++;
                    p = next_raw_line(texts.text[i].text, p + text.n);
                }
            }

            s->lines += lines;
        }
    s->seen |= s->lines > 0;
    return true;
}

/* Sessions are searched in a ring: slot i % RING has session i until all that was found in it is
 * handed over.
 *
 *   handed <= i < claimed: session i is being searched, or is done
 *   claimed <= handed + RING
 *
 * What a thread finds goes to its slot in batches. The calling thread hands over the batches of
 * session `handed` while it is still being searched; the threads of later sessions wait when their
 * slots have BATCHES. So the first hit is handed over at once, order is kept, and memory does not
 * grow with what is found. All counters and lists are under the lock; a batch belongs to the thread
 * that fills it, and then to the one that took it from the list. */
enum { RING = 64, BATCHES = 4, BATCH_HITS = 64, BATCH_BYTES = 256 * 1024, THREADS = 16 };

struct batch {
    struct batch *next;
    struct arena arena; /* owns the texts of the hits */
    struct grep_hit hit[BATCH_HITS];
    size_t n, bytes;
};

struct grep_slot {
    struct session_row *row; /* described when something is found */
    struct batch *first, *newest;
    size_t batches;
    bool found; /* the row is described and wanted */
    bool done;
    enum err_code rc;
    struct err err;
    uint64_t lines;
    size_t skipped;
};

struct grep {
    const struct grep_query *q;
    const struct grep_patterns *patterns;
    struct listing *listing; /* NULL: the sessions are known, and all are wanted */
    const struct session_ref *const *order;
    size_t n;

    pthread_mutex_t lock;
    pthread_cond_t found, room;
    size_t claimed, handed;
    size_t waiting;  /* threads, for room */
    bool any, shown; /* something was found; it was handed over */
    atomic_bool stop;
    atomic_uint given_up; /* texts on which a pattern took too long */
    struct grep_slot slot[RING];

    pthread_t thread[THREADS];
    size_t threads;
};

/* ---- on the threads ---- */

struct grep_worker {
    struct grep *g;
    struct grep_query q; /* with our own flag to stop */
    struct grep_slot *slot;
    size_t session;
    struct batch *batch; /* being filled */
};

static void free_batches(struct batch *b)
{
    for (struct batch *next; b; b = next) {
        next = b->next;
        arena_fini(&b->arena);
        free(b);
    }
}

/* Wakes the calling thread for the first find, and then for many sessions at a time: each of its turns takes a core
 * from a search. It looks by itself after LOOK_NS. With the lock held. */
static void wake_caller(struct grep *g)
{
    const struct grep_slot *next = &g->slot[g->handed % RING];
    bool soon = g->any && !g->shown;
    bool many = g->claimed == g->n || g->claimed - g->handed >= RING / 2;

    if (next->batches >= BATCHES || ((soon || many) && (next->done || next->first)))
        pthread_cond_signal(&g->found);
}

/* With the lock held. */
static void grep_run_wait_for_room(struct grep *g)
{
    g->waiting++;
    pthread_cond_wait(&g->room, &g->lock);
    g->waiting--;
}

/* Puts the batch into the slot, once there is room for it. */
static enum err_code pass_batch_on(struct grep_worker *w, struct err *e)
{
    struct grep *g = w->g;
    struct grep_slot *s = w->slot;

    if (!w->batch)
        return ERR_OK;
    pthread_mutex_lock(&g->lock);
    while (s->batches >= BATCHES && !atomic_load(&g->stop))
        grep_run_wait_for_room(g);
    if (s->newest)
        s->newest->next = w->batch;
    else
        s->first = w->batch;
    s->newest = w->batch;
    s->batches++;
    g->any = true;
    w->batch = NULL;
    wake_caller(g);
    pthread_mutex_unlock(&g->lock);
    return atomic_load(&g->stop) ? err_set(e, ERR_CANCELLED, NULL, "search") : ERR_OK;
}

static bool copy_hit(struct batch *b, const struct grep_hit *hit)
{
    struct grep_hit *to = &b->hit[b->n];
    struct grep_range *range = arena_alloc(&b->arena, (hit->ranges + 1) * sizeof *range);

    *to = *hit;
    to->agent = arena_copy(&b->arena, hit->agent);
    to->message = arena_copy(&b->arena, hit->message);
    to->line = arena_copy(&b->arena, hit->line);
    to->range = range;
    for (size_t i = 0; range && i < hit->ranges; i++)
        range[i] = hit->range[i];
    b->bytes += hit->line.n + hit->ranges * sizeof *range;
    b->n++;
    return range && !b->arena.failed;
}

/* The row is made when the first match shows that it is needed. The search of a session that no list shows, or that the
 * query excludes, ends here. */
static enum err_code describe_slot(struct grep_worker *w, const struct grep_session *session,
                                   struct err *e)
{
    struct session_ref ref = *session->ref;
    struct grep_slot *s = w->slot;

    s->found = !w->g->listing;
    if (s->found)
        return ERR_OK;
    struct scope scope = w->q.sessions.scope;

    /* The bytes that were just searched are not read again. */
    if (session->whole.n && ref.store->ops->raw_texts) {
        ref.preread = session->whole;
        ref.file = session->whole_id;
    }
    TRY(ref.store->ops->describe(ref.store, &scope, &ref, s->row, e));
    scope.all_kinds = true; /* sessions that lists leave out are still searched */
    store_admit_row(s->row, &scope);
    s->found = listing_wants_row(&w->q.sessions, s->row);
    return s->found ? ERR_OK : ERR_CANCELLED;
}

struct collecting {
    struct grep_worker *worker;
    const struct grep_session *session;
};

static enum err_code collect_hit(const struct grep_hit *hit, void *arg, struct err *e)
{
    struct collecting *c = arg;
    struct grep_worker *w = c->worker;
    bool first = !w->slot->found;

    if (first)
        TRY(describe_slot(w, c->session, e));
    if (!w->batch)
        w->batch = calloc(1, sizeof *w->batch);
    if (!w->batch || !copy_hit(w->batch, hit))
        return err_nomem(e);
    /* The first hit of all is shown at once; later ones go in batches. */
    if (first || w->batch->n == BATCH_HITS || w->batch->bytes >= BATCH_BYTES)
        return pass_batch_on(w, e);
    return ERR_OK;
}

/* Returns false when there is nothing left to do. */
static bool claim_session(struct grep_worker *w)
{
    struct grep *g = w->g;
    bool claimed;

    pthread_mutex_lock(&g->lock);
    while (!atomic_load(&g->stop) && g->claimed < g->n && g->claimed >= g->handed + RING)
        grep_run_wait_for_room(g);
    claimed = !atomic_load(&g->stop) && g->claimed < g->n;
    if (claimed) {
        w->session = g->claimed++;
        w->slot = &g->slot[w->session % RING];
    }
    pthread_mutex_unlock(&g->lock);
    return claimed;
}

static void *grep_worker(void *arg)
{
    struct grep_worker w = { .g = arg };
    struct grep_session s = { .q = &w.q };

    w.q = *w.g->q;
    w.q.cancel = &w.g->stop;
    s.given_up = &w.g->given_up;
    s.matcher = grep_matcher_new(w.g->patterns, GREP_LIMITS);
    s.patterns = grep_patterns_count(w.g->patterns);
    while (claim_session(&w)) {
        if (s.matcher) {
            /* Search the session, and pass on what was found of it. */
            struct grep_slot *slot = w.slot;
            const struct session_ref *ref = w.g->order[w.session];
            struct collecting c = { &w, &s };
            struct err e = { .code = ERR_OK };

            s.fn = collect_hit;
            s.arg = &c;

            bool wanted = !w.g->listing || listing_wants_time(&w.q.sessions, ref);
            enum err_code rc = wanted ? grep_session_run(&s, ref, &e) : ERR_CANCELLED;

            if (!rc && (s.lines || s.skipped) && !slot->found && describe_slot(&w, &s, &e))
                s.lines = s.skipped = 0;
            if (!rc)
                rc = pass_batch_on(&w, &e);
            if (rc == ERR_CANCELLED && !atomic_load(&w.g->stop))
                rc = ERR_OK; /* left out by the query */
            slot->rc = rc;
            slot->err = e;
            slot->lines = slot->found ? s.lines : 0;
            slot->skipped = s.skipped;
            if (w.batch) {
                free_batches(w.batch);
                w.batch = NULL;
            }
            pthread_mutex_lock(&w.g->lock);
            slot->done = true;
            w.g->any |= slot->lines > 0;
            wake_caller(w.g);
            pthread_mutex_unlock(&w.g->lock);
        }
        if (s.matcher)
            continue;
        pthread_mutex_lock(&w.g->lock);
        w.slot->rc = err_nomem(&w.slot->err);
        w.slot->done = true;
        wake_caller(w.g);
        pthread_mutex_unlock(&w.g->lock);
    }
    grep_matcher_free(s.matcher);
    grep_session_fini(&s);
    return NULL;
}

/* ---- on the calling thread ---- */

static bool grep_run_is_cancelled(const struct grep *g)
{
    return g->q->cancel && atomic_load_explicit(g->q->cancel, memory_order_relaxed);
}

static struct grep_part grep_run_part_of(const struct grep *g, const struct grep_slot *s)
{
    return (struct grep_part){ .session = g->handed, .row = g->listing ? s->row : NULL };
}

static enum err_code deliver_batches(const struct grep *g, const struct grep_slot *s,
                                     const struct batch *b, grep_fn *fn, void *arg, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (; !rc && b; b = b->next) {
        struct grep_part part = grep_run_part_of(g, s);

        part.hit = b->hit;
        part.n = b->n;
        rc = fn(&part, arg, e);
    }
    return rc;
}

static enum err_code end_session(struct grep *g, struct grep_slot *s, bool wanted, grep_fn *fn,
                                 unreadable_fn *trouble, void *arg, struct err *e)
{
    struct grep_part part = grep_run_part_of(g, s);

    part.last = true;
    part.lines = s->lines;
    part.skipped = s->skipped;

    if (s->rc == ERR_NOMEM || s->rc == ERR_UNSUPPORTED || (s->rc && grep_run_is_cancelled(g))) {
        if (e)
            *e = s->err;
        return s->rc;
    }
    if (s->rc && s->rc != ERR_NOT_FOUND &&
        s->rc != ERR_UNSAFE) /* gone, or a link, which no list shows */
        trouble(&s->err, arg);
    if (g->q->progress)
        atomic_fetch_add_explicit(&g->q->progress->sessions, 1, memory_order_relaxed);
    return wanted && (s->lines || s->skipped) ? fn(&part, arg, e) : ERR_OK;
}

/* Reports everything that is found in the next session, and frees its slot. */
static enum err_code grep_run_deliver_session(struct grep *g, grep_fn *fn, unreadable_fn *trouble,
                                              void *arg, struct err *e)
{
    struct grep_slot *s = &g->slot[g->handed % RING];
    bool done = false, asked = false, wanted = false;
    enum err_code rc = ERR_OK;

    while (!rc && !done) {
        /* The batches of the slot, after a moment's wait for one. NULL: nothing was found so
         * far. */
        enum { LOOK_NS = 20 * 1000 * 1000, SECOND_NS = 1000 * 1000 * 1000 };
        struct batch *b;

        pthread_mutex_lock(&g->lock);
        if (!s->first && !s->done && !grep_run_is_cancelled(g)) {
            struct timespec until;

            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += LOOK_NS;
            until.tv_sec += until.tv_nsec / SECOND_NS;
            until.tv_nsec %= SECOND_NS;
            pthread_cond_timedwait(&g->found, &g->lock, &until);
        }
        b = s->first;
        s->first = s->newest = NULL;
        s->batches = 0;
        done = s->done;
        if (b && g->waiting)
            pthread_cond_broadcast(&g->room);
        pthread_mutex_unlock(&g->lock);

        if ((b || done) && s->found && !asked) {
            asked = true;
            wanted = !g->listing || listing_take(g->listing, g->order[g->handed]);
        }
        if (grep_run_is_cancelled(g))
            rc = err_set(e, ERR_CANCELLED, NULL, "search");
        else if (wanted)
            rc = deliver_batches(g, s, b, fn, arg, e);
        free_batches(b);
        if (g->q->progress && g->q->progress->moved)
            g->q->progress->moved(g->q->progress->arg);
    }
    if (!rc)
        rc = end_session(g, s, wanted, fn, trouble, arg, e);
    return rc;
}

static enum err_code grep_run_start(struct grep *g, struct err *e)
{
    /* One thread for each processor, but no more than there are sessions. */
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = cores > 1 ? (size_t)cores : 1;

    n = n < THREADS ? n : THREADS;

    size_t want = n < g->n ? n : g->n;

    int sys = 0;

    for (size_t i = 0; i < RING; i++)
        if (!(g->slot[i].row = session_row_new()))
            return err_nomem(e);
    while (!sys && g->threads < want) {
        sys = pthread_create(&g->thread[g->threads], NULL, grep_worker, g);
        g->threads += sys == 0;
    }
    if (g->threads || want == 0)
        return ERR_OK;
    return err_set(e, ERR_IO, NULL, "no thread could be started");
}

static enum err_code search_in_order(struct grep *g, grep_fn *fn, unreadable_fn *trouble, void *arg,
                                     struct err *e)
{
    enum err_code rc;

    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->found, NULL);
    pthread_cond_init(&g->room, NULL);
    rc = grep_run_start(g, e);
    while (!rc && g->handed < g->n) {
        rc = grep_run_deliver_session(g, fn, trouble, arg, e);
        if (!rc) {
            struct grep_slot *s = &g->slot[g->handed % RING];

            pthread_mutex_lock(&g->lock);
            g->shown |= s->lines > 0;
            *s = (struct grep_slot){ .row = s->row };
            g->handed++;

            /* Threads are woken for a quarter of the ring at a time, or when everything claimed was handed over. */
            if (g->waiting && (g->handed % (RING / 4) == 0 || g->handed == g->claimed))
                pthread_cond_broadcast(&g->room);
            pthread_mutex_unlock(&g->lock);
        }
    }

    /* The flag is set under the lock, so that no thread misses it between its check and its wait. */
    pthread_mutex_lock(&g->lock);
    atomic_store(&g->stop, true);
    pthread_cond_broadcast(&g->room);
    pthread_mutex_unlock(&g->lock);
    for (size_t i = 0; i < g->threads; i++)
        pthread_join(g->thread[i], NULL);
    for (size_t i = 0; i < RING; i++) {
        free_batches(g->slot[i].first);
        session_row_free(g->slot[i].row);
    }

    pthread_cond_destroy(&g->room);
    pthread_cond_destroy(&g->found);
    pthread_mutex_destroy(&g->lock);
    return rc;
}

static enum err_code grep_order(struct listing *listing, const struct session_ref *const order[],
                                size_t n, const struct grep_query *q, grep_fn *fn,
                                unreadable_fn *trouble, void *arg, struct err *e)
{
    struct grep *g = calloc(1, sizeof *g);
    struct grep_patterns *patterns = NULL;
    enum err_code rc = g ? grep_patterns_new(q, &patterns, e) : err_nomem(e);

    if (!rc) {
        g->q = q;
        g->patterns = patterns;
        g->listing = listing;
        g->order = order;
        g->n = n;
        rc = search_in_order(g, fn, trouble, arg, e);
    }
    grep_patterns_free(patterns);
    free(g);
    return rc;
}

enum err_code grep_run(struct listing *listing, const struct grep_query *q, grep_fn *fn,
                       unreadable_fn *trouble, void *arg, struct err *e)
{
    size_t sessions;
    const struct session_ref *const *order = listing_refs(listing, &sessions);

    return grep_order(listing, order, sessions, q, fn, trouble, arg, e);
}

enum err_code grep_refs(const struct session_ref *const order[], size_t n,
                        const struct grep_query *q, grep_fn *fn, unreadable_fn *trouble, void *arg,
                        struct err *e)
{
    return grep_order(NULL, order, n, q, fn, trouble, arg, e);
}
