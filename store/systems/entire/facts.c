#include <inttypes.h>
#include <string.h>

#include "lite/json/json.h"
#include "store/git/repo.h"
#include "store/systems/entire/entire.h"
#include "store/systems/entire/read/conversation.h"
#include "store/systems/entire/write/committed_write.h"

/* What `info` shows about a session of Entire beyond its row; `status` and `explain` of Entire show
 * the same. Token usage is taken from the state, or else counted in the transcript, or else taken
 * from the newest checkpoint. (The checkpoints cannot be added up: until February 2026 each one
 * counted from the beginning of the session.) Attribution and summary come from the newest
 * checkpoint that has them. */

enum { DOCUMENT_MAX = 16 << 20 };

struct fact_sources {
    struct view v;
    struct session_facts facts;
    struct slice tokens, attribution, summary; /* JSON, in the arena of the view */
};

static void fact_sources_close(struct fact_sources *g)
{
    view_close(&g->v);
    session_facts_fini(&g->facts);
}

/* ---- in words ---- */

static enum err_code add_tokens(struct fact_sources *g, const struct session_ref *ref,
                                struct err *e)
{
    const struct entire_state *state = g->v.session->state;
    struct arena *a = &g->v.arena;
    struct entire_tokens t = entire_tokens_read(state ? state->token_usage : SLICE(""));

    /* In the state, or else in the transcript if one is left, or else in the newest checkpoint. */
    if (!t.known) {
        AUTO_CONVERSATION c = ENTIRE_CONVERSATION_NONE;
        enum err_code rc = entire_conversation_open(ref->store, ref, &c, NULL);

        NEED(rc != ERR_NOMEM);
        if (!rc && c.claude && entire_conversation_bytes(&c, NULL) == ERR_OK)
            TRY(entire_tokens_count(buf_slice(&c.bytes), 0, &t, e));
    }
    if (!t.known)
        t = entire_tokens_read(g->tokens);
    if (!t.known)
        return ERR_OK;

    const char *text =
        arena_format(a,
                     "%" PRId64 " in, %" PRId64 " out, %" PRId64 " read from the cache, %" PRId64
                     " written to it, %" PRId64 " requests",
                     t.n[TOKEN_INPUT], t.n[TOKEN_OUTPUT], t.n[TOKEN_CACHE_READ],
                     t.n[TOKEN_CACHE_CREATION], t.n[TOKEN_CALLS]);
    struct slice json = entire_tokens_json(&t, a);

    NEED(text && json.p);
    const struct session_fact fact = {
        .key = "tokenUsage", .label = "tokens", .text = slice_of(text), .json = json
    };

    return session_facts_add(&g->facts, &fact, e);
}

static enum err_code add_attribution(struct fact_sources *g, struct err *e)
{
    struct slice percent = SLICE("");
    const char *dot, *text;

    if (!g->attribution.n)
        return ERR_OK;
    json_get(g->attribution, "agent_percentage", &percent);
    if (json_type(percent) != JSON_NUMBER)
        percent = SLICE("?");
    dot = memchr(percent.p, '.', percent.n);
    NEED(text =
             arena_format(&g->v.arena,
                          "%.*s %% by the agent: %" PRId64 " of %" PRId64 " lines; by hand %" PRId64
                          " added, %" PRId64 " changed, %" PRId64 " removed",
                          (int)(dot ? dot - percent.p : (ptrdiff_t)percent.n), percent.p,
                          entire_number_at(g->attribution, "agent_lines"),
                          entire_number_at(g->attribution, "total_committed"),
                          entire_number_at(g->attribution, "human_added"),
                          entire_number_at(g->attribution, "human_modified"),
                          entire_number_at(g->attribution, "human_removed")));
    const struct session_fact fact = {
        .key = "attribution", .label = "attribution", .text = slice_of(text), .json = g->attribution
    };

    return session_facts_add(&g->facts, &fact, e);
}

/* A commit would condense the checkpoints since the last commit. */
static enum err_code entire_add_state(struct fact_sources *g, struct err *e)
{
    const struct catalog_session *s = g->v.session;
    const struct entire_state *state = s->state;
    struct session_facts *f = &g->facts;
    struct slice strategy = SLICE("");

    /* The strategy is that of the newest checkpoint, or that of the repository. */
    for (size_t i = s->n; strategy.n == 0 && i-- > 0;)
        strategy = s->point[i].strategy;
    if (strategy.n == 0)
        strategy = autocommit_wanted(&g->v) ? SLICE("auto-commit") : SLICE("manual-commit");
    TRY(session_facts_text(f, "strategy", "strategy", strategy, e));
    if (!state)
        return ERR_OK;
    TRY(session_facts_int(f, "uncommittedCheckpoints", "uncommitted", state->checkpoint_count, e));
    TRY(session_facts_text(f, "baseCommit", "base commit", state->base, e));
    TRY(session_facts_text(f, "worktreeId", "worktree", state->worktree_id, e));
    TRY(session_facts_text(f, "transcriptPath", NULL, state->transcript_path, e));
    TRY(session_facts_text(f, "turnId", NULL, state->turn_id, e));
    return session_facts_text(f, "lastCheckpointId", "last checkpoint", state->last_checkpoint, e);
}

enum err_code entire_facts(const struct store *st, const struct session_ref *ref,
                           struct session_facts *out, struct err *e)
{
    static const char *const told[] = { "intent", "outcome" };
    struct slice value;
    CLEANUP(fact_sources_close) struct fact_sources g = { 0 };
    struct slice text;

    TRY(view_open(st, ref, &g.v, e));

    /* Find the objects in the metadata of the session, each in the newest committed checkpoint
     * that has it. */
    const struct {
        const char *key;
        struct slice *found;
    } wanted[] = { { "token_usage", &g.tokens },
                   { "initial_attribution", &g.attribution },
                   { "summary", &g.summary } };
    const struct catalog_session *s = g.v.session;
    AUTO_BUF json = { 0 };

    for (size_t i = s->n; i-- > 0;) {
        const struct point *p = &s->point[i];
        AUTO_TREE *tree = NULL;

        if (p->source == POINT_SHADOW || git_tree_lookup(&tree, g.v.repo, &p->tree) ||
            repo_blob_at(g.v.repo, tree, p->metadata.p, DOCUMENT_MAX, &json, NULL) ||
            !json_valid(buf_slice(&json)))
            continue;
        for (size_t k = 0; k < COUNT_OF(wanted); k++)
            if (!wanted[k].found->n && json_get(buf_slice(&json), wanted[k].key, &value) &&
                json_type(value) == JSON_OBJECT) {
                *wanted[k].found = arena_copy(&g.v.arena, value);
                NEED(wanted[k].found->p);
            }
    }

    TRY(entire_add_state(&g, e));
    TRY(add_tokens(&g, ref, e));
    TRY(add_attribution(&g, e));

    /* The summary: the whole of it for programs, and two of its texts for people. */
    const struct session_fact whole = { .key = "aiSummary", .json = g.summary };

    TRY(session_facts_add(&g.facts, &whole, e));
    for (size_t i = 0; i < COUNT_OF(told); i++)
        if (json_get_text(g.summary, told[i], &g.v.arena, &text))
            TRY(session_facts_text(&g.facts, told[i], told[i], text, e));
    HAND_OVER(out, g.facts);
    return ERR_OK;
}
