#include "lite/base/time.h"
#include "store/grep/grep.h"
#include "store/library/call.h"

_Static_assert((int)REPRISE_IN_PROMPTS == (int)GREP_IN_PROMPTS &&
                   (int)REPRISE_IN_REPLIES == (int)GREP_IN_REPLIES &&
                   (int)REPRISE_IN_THINKING == (int)GREP_IN_THINKING &&
                   (int)REPRISE_IN_TOOLS == (int)GREP_IN_TOOLS &&
                   (int)REPRISE_IN_NOTES == (int)GREP_IN_NOTES,
               "the values equal the internal ones");
_Static_assert(sizeof(struct reprise_range) == sizeof(struct grep_range),
               "the ranges are passed on without a copy");

/* ---- the hits ---- */

struct receiver {
    reprise_hit_fn *fn;
    void *arg;
    uint64_t left; /* hits that may follow */
    uint64_t *incomplete;
    bool full;
};

static int32_t library_place_of(enum block_kind kind)
{
    switch (kind) {
    case BLOCK_PROMPT:
    case BLOCK_COMMAND: return REPRISE_IN_PROMPTS;
    case BLOCK_TEXT: return REPRISE_IN_REPLIES;
    case BLOCK_THINKING: return REPRISE_IN_THINKING;
    case BLOCK_TOOL_CALL:
    case BLOCK_TOOL_RESULT: return REPRISE_IN_TOOLS;
    case BLOCK_RAW: return 0;
    default: return REPRISE_IN_NOTES;
    }
}

static enum err_code hand_over_hit(struct receiver *to, const struct grep_part *part, size_t i,
                                   struct err *e)
{
    AUTO_ARENA a = { 0 };
    const struct reprise_hit hit = (struct reprise_hit){
        .size = sizeof(struct reprise_hit),
        .system = part->row->ref.store->ops->name,
        .session = call_copy(&a, part->row->ref.id),
        .path = call_copy(&a, part->row->ref.path),
        .title = call_copy(&a, session_row_title(part->row)),
        .agent = call_copy(&a, part->hit[i].agent),
        .message = call_copy(&a, part->hit[i].message),
        .line = call_copy(&a, part->hit[i].line),
        .line_length = part->hit[i].line.n,
        .ranges = (const struct reprise_range *)(const void *)part->hit[i].range,
        .ranges_count = part->hit[i].ranges,
        .time_ms = part->hit[i].time_ms == TIME_NONE ? REPRISE_TIME_UNKNOWN : part->hit[i].time_ms,
        .place = library_place_of(part->hit[i].kind),
        .flags = (part->hit[i].aside ? (uint32_t)REPRISE_HIT_BRANCH : 0) |
                 (part->hit[i].cut ? (uint32_t)REPRISE_HIT_CUT : 0),
    };

    NEED(!a.failed);
    return to->fn(&hit, to->arg) ? err_set(e, ERR_CANCELLED, "", "search: stopped by the caller")
                                 : ERR_OK;
}

static enum err_code hand_over_part(const struct grep_part *part, void *arg, struct err *e)
{
    struct receiver *to = arg;
    enum err_code rc = ERR_OK;

    if (part->last && to->incomplete)
        *to->incomplete += part->skipped;
    for (size_t i = 0; i < part->n && !rc; i++) {
        rc = hand_over_hit(to, part, i, e);
        to->full = --to->left == 0;
        if (!rc && to->full)
            rc = ERR_CANCELLED;
    }
    return rc;
}

static void library_leave_out(const struct err *trouble, void *arg)
{
    (void)trouble;
    (void)arg;
}

static enum err_code library_search(const struct reprise *r,
                                    const struct reprise_search_query *query, struct receiver *to,
                                    struct err *e)
{
    struct reprise_search_query q;
    struct grep_query inside;
    AUTO_ARENA a = { 0 };
    CLEANUP(listing_close_at) struct listing *listing = NULL;

    TRY(call_options(query, &q, sizeof q, e));
    to->left = q.limit ? q.limit : UINT64_MAX;
    to->incomplete = q.incomplete;
    if (to->incomplete)
        *to->incomplete = 0;

    const uint32_t known = REPRISE_SEARCH_FIXED | REPRISE_SEARCH_WORDS | REPRISE_SEARCH_ANY |
                           REPRISE_SEARCH_CASE | REPRISE_SEARCH_IGNORE_CASE;

    inside = (struct grep_query){
        .fixed = q.flags & REPRISE_SEARCH_FIXED,
        .words = q.flags & REPRISE_SEARCH_WORDS,
        .any = q.flags & REPRISE_SEARCH_ANY,
        .letters = q.flags & REPRISE_SEARCH_CASE          ? GREP_CASE_EXACT
                   : q.flags & REPRISE_SEARCH_IGNORE_CASE ? GREP_CASE_IGNORE
                                                          : GREP_CASE_SMART,
        .in = q.places ? q.places : GREP_IN_DEFAULT,
        .branches = true,
        .want = GREP_WANT_HITS,
    };
    if (q.flags & ~known || q.places & ~(uint32_t)GREP_IN_ALL)
        return err_set(e, ERR_USAGE, "", "search: unknown flag or place");

    if (q.patterns_count == 0 || q.patterns_count > GREP_PATTERNS || !q.patterns)
        return err_set(e, ERR_USAGE, "", "search: needs 1 to %d patterns", GREP_PATTERNS);
    struct slice *pattern = arena_zalloc(&a, q.patterns_count * sizeof *pattern);

    NEED(pattern);
    for (size_t i = 0; i < q.patterns_count; i++)
        pattern[i] = call_text(q.patterns[i]);
    inside.pattern = pattern;
    inside.n = q.patterns_count;
    TRY(call_query(q.sessions, &a, &inside.sessions, e));

    TRY(listing_open(r->store, r->n, &inside.sessions, &listing, e));
    return grep_run(listing, &inside, hand_over_part, library_leave_out, to, e);
}

int reprise_search(const struct reprise *r, const struct reprise_search_query *query,
                   reprise_hit_fn *fn, void *arg, struct reprise_error *error)
{
    if (!r || !fn || !query)
        return call_refuse(error);

    struct receiver to = { .fn = fn, .arg = arg };
    struct call c;

    call_begin(&c);
    enum err_code rc = library_search(r, query, &to, &c.err);

    if (rc == ERR_CANCELLED && to.full && c.err.code == ERR_OK)
        rc = ERR_OK;
    return call_end(&c, rc, error);
}
