#include "lite/base/cleanup.h"
#include "lite/base/id.h"
#include "lite/base/time.h"
#include "store/grep/grep_session.h"

/* Searches what is left of sessions whose transcripts are gone. There are few of these prompts, so one thread searches
 * them, after everything else. */

struct grep_gone {
    struct grep_session session;
    struct grep_patterns *patterns;
    atomic_uint given_up;
    struct idset listed;       /* a copy may be kept, or on a server */
    const struct store *store; /* that is being asked */
    struct session_row *row;
    size_t number;
    grep_fn *fn;
    void *arg;
};

static void grep_gone_fini(struct grep_gone *g)
{
    grep_matcher_free(g->session.matcher);
    grep_patterns_free(g->patterns);
    grep_session_fini(&g->session);
    idset_fini(&g->listed);
    session_row_free(g->row);
}

static struct grep_part grep_gone_part(const struct grep_gone *g)
{
    return (struct grep_part){ .session = g->number, .row = g->row };
}

static enum err_code grep_gone_hit(const struct grep_hit *hit, void *arg, struct err *e)
{
    struct grep_gone *g = arg;
    struct grep_part part = grep_gone_part(g);

    part.hit = hit;
    part.n = 1;
    return g->fn(&part, g->arg, e);
}

static enum err_code search_gone_session(const struct gone_session *gone, void *arg, struct err *e)
{
    struct grep_gone *g = arg;
    const struct grep_query *q = g->session.q;
    const int64_t last_ms = gone->prompt[gone->n - 1].time_ms;

    if (idset_has(&g->listed, id128_of(gone->id)))
        return ERR_OK;

    /* Without a transcript the session cannot be described, so its row is made from its prompts. */
    g->row->ref = (struct session_ref){
        .store = g->store, .id = gone->id, .path = slice_of(gone->path), .folder = SLICE("")
    };
    g->row->cwd = gone->cwd;
    g->row->activity_ms = g->row->modified_ms = last_ms;
    g->row->ref.file.mtime_ns = last_ms == TIME_NONE ? 0 : last_ms * 1000000;
    g->row->summary = SLICE("(its transcript is gone: only its prompts are left)");
    if (!listing_wants_time(&q->sessions, &g->row->ref) || !listing_wants_row(&q->sessions, g->row))
        return ERR_OK;
    g->session.gone = gone;
    TRY(grep_session_run(&g->session, &g->row->ref, e));

    struct grep_part part = grep_gone_part(g);

    part.last = true;
    part.lines = g->session.lines;
    part.skipped = g->session.skipped;
    g->number++;
    return part.lines || part.skipped ? g->fn(&part, g->arg, e) : ERR_OK;
}

enum err_code grep_gone(struct store *const store[], size_t stores, const struct listing *listing,
                        const struct grep_query *q, grep_fn *fn, void *arg, struct err *e)
{
    CLEANUP(grep_gone_fini) struct grep_gone g = { .row = session_row_new(), .fn = fn, .arg = arg };
    const struct session_ref *const *ref = listing_refs(listing, &g.number);
    uint32_t number;

    NEED(g.row);
    for (size_t i = 0; i < g.number; i++)
        NEED(!idset_add(&g.listed, id128_of(ref[i]->id), &number));
    TRY(grep_patterns_new(q, &g.patterns, e));
    g.session.q = q;
    g.session.matcher = grep_matcher_new(g.patterns, GREP_LIMITS);
    g.session.patterns = grep_patterns_count(g.patterns);
    g.session.given_up = &g.given_up;
    g.session.fn = grep_gone_hit;
    g.session.arg = &g;
    enum err_code rc = g.session.matcher ? ERR_OK : err_nomem(e);

    for (size_t i = 0; i < stores && !rc; i++) {
        g.store = store[i];
        if (store[i]->ops->gone)
            rc = store[i]->ops->gone(store[i], &q->sessions.scope, search_gone_session, &g, e);
    }
    return rc;
}
