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

struct gathering {
    struct view v;
    struct session_facts facts;
    struct buf json;                           /* the metadata of one checkpoint; reused */
    struct slice tokens, attribution, summary; /* JSON, in the arena of the view */
    struct err *e;
};

/* The metadata of the session in a committed checkpoint. */
static bool read_metadata(struct gathering *g, const struct point *p)
{
    git_tree *tree = NULL;
    bool ok =
        p->source != POINT_SHADOW && git_tree_lookup(&tree, g->v.repo, &p->tree) == 0 &&
        repo_blob_at(g->v.repo, tree, p->metadata.p, DOCUMENT_MAX, &g->json, NULL) == ERR_OK &&
        json_valid(buf_slice(&g->json));

    git_tree_free(tree);
    return ok;
}

/* Keeps an object that no newer checkpoint had. */
static bool keep_newest(struct gathering *g, const char *key, struct slice *kept)
{
    struct slice value;

    if (kept->n || !json_get(buf_slice(&g->json), key, &value) || json_type(value) != JSON_OBJECT)
        return true;
    *kept = arena_copy(&g->v.arena, value);
    return kept->p != NULL;
}

static enum err_code read_checkpoints(struct gathering *g)
{
    const struct catalog_session *s = g->v.session;
    bool ok = true;

    for (size_t i = s->n; ok && i-- > 0;) {
        if (!read_metadata(g, &s->point[i]))
            continue;
        ok = keep_newest(g, "token_usage", &g->tokens) &&
             keep_newest(g, "initial_attribution", &g->attribution) &&
             keep_newest(g, "summary", &g->summary);
    }
    return ok ? ERR_OK : err_nomem(g->e);
}

/* ---- in words ---- */

/* The strategy of the checkpoints, or of a repository without checkpoints. */
static struct slice strategy_of(const struct gathering *g)
{
    const struct catalog_session *s = g->v.session;

    for (size_t i = s->n; i-- > 0;)
        if (s->point[i].strategy.n)
            return s->point[i].strategy;
    return autocommit_wanted(&g->v) ? SLICE("auto-commit") : SLICE("manual-commit");
}

static enum err_code count_conversation(struct gathering *g, const struct session_ref *ref,
                                        struct entire_tokens *out)
{
    struct entire_conversation conversation;
    enum err_code rc = entire_conversation_open(ref->store, ref, &conversation, NULL);

    if (rc)
        return rc == ERR_NOMEM ? err_nomem(g->e) : ERR_OK; /* no transcript is left */
    if (conversation.claude && entire_conversation_bytes(&conversation, NULL) == ERR_OK)
        rc = entire_tokens_count(buf_slice(&conversation.bytes), 0, out, g->e);
    entire_conversation_close(&conversation);
    return rc;
}

static enum err_code add_tokens(struct gathering *g, const struct session_ref *ref)
{
    const struct entire_state *state = g->v.session->state;
    struct arena *a = &g->v.arena;
    struct entire_tokens t = entire_tokens_read(state ? state->token_usage : SLICE(""));
    enum err_code rc = t.known ? ERR_OK : count_conversation(g, ref, &t);

    if (!rc && !t.known)
        t = entire_tokens_read(g->tokens);
    if (rc || !t.known)
        return rc;
    const char *text =
        arena_format(a,
                     "%" PRId64 " in, %" PRId64 " out, %" PRId64 " read from the cache, %" PRId64
                     " written to it, %" PRId64 " requests",
                     t.n[TOKEN_INPUT], t.n[TOKEN_OUTPUT], t.n[TOKEN_CACHE_READ],
                     t.n[TOKEN_CACHE_CREATION], t.n[TOKEN_CALLS]);
    struct slice json = entire_tokens_json(&t, a);

    if (!text || !json.p)
        return err_nomem(g->e);
    const struct session_fact fact = {
        .key = "tokenUsage", .label = "tokens", .text = slice_of(text), .json = json
    };

    return session_facts_add(&g->facts, &fact, g->e);
}

static int64_t number_of(struct slice object, const char *key)
{
    struct slice value;
    int64_t n;

    return json_get(object, key, &value) && json_int(value, &n) ? n : 0;
}

static enum err_code add_attribution(struct gathering *g)
{
    struct slice percent = SLICE("");
    const char *dot, *text;

    if (!g->attribution.n)
        return ERR_OK;
    json_get(g->attribution, "agent_percentage", &percent);
    if (json_type(percent) != JSON_NUMBER)
        percent = SLICE("?");
    dot = memchr(percent.p, '.', percent.n);
    text = arena_format(
        &g->v.arena,
        "%.*s %% by the agent: %" PRId64 " of %" PRId64 " lines; by hand %" PRId64
        " added, %" PRId64 " changed, %" PRId64 " removed",
        (int)(dot ? dot - percent.p : (ptrdiff_t)percent.n), percent.p,
        number_of(g->attribution, "agent_lines"), number_of(g->attribution, "total_committed"),
        number_of(g->attribution, "human_added"), number_of(g->attribution, "human_modified"),
        number_of(g->attribution, "human_removed"));
    if (!text)
        return err_nomem(g->e);
    const struct session_fact fact = {
        .key = "attribution", .label = "attribution", .text = slice_of(text), .json = g->attribution
    };

    return session_facts_add(&g->facts, &fact, g->e);
}

static enum err_code add_summary(struct gathering *g)
{
    static const char *const keys[][2] = { { "intent", "intent" }, { "outcome", "outcome" } };
    const struct session_fact whole = { .key = "aiSummary", .json = g->summary };
    enum err_code rc = session_facts_add(&g->facts, &whole, g->e);

    for (size_t i = 0; i < sizeof keys / sizeof *keys && !rc; i++) {
        struct slice text;

        if (json_get_text(g->summary, keys[i][0], &g->v.arena, &text))
            rc = session_facts_text(&g->facts, keys[i][0], keys[i][1], text, g->e);
    }
    return rc;
}

/* A commit would condense the checkpoints since the last commit. */
static enum err_code add_state(struct gathering *g)
{
    const struct entire_state *s = g->v.session->state;
    struct session_facts *f = &g->facts;
    enum err_code rc = session_facts_text(f, "strategy", "strategy", strategy_of(g), g->e);

    if (!rc && s)
        rc = session_facts_int(f, "uncommittedCheckpoints", "uncommitted", s->checkpoint_count,
                               g->e);
    if (!rc && s)
        rc = session_facts_text(f, "baseCommit", "base commit", s->base, g->e);
    if (!rc && s)
        rc = session_facts_text(f, "worktreeId", "worktree", s->worktree_id, g->e);
    if (!rc && s)
        rc = session_facts_text(f, "lastCheckpointId", "last checkpoint", s->last_checkpoint, g->e);
    return rc;
}

enum err_code entire_facts(const struct store *st, const struct session_ref *ref,
                           struct session_facts *out, struct err *e)
{
    struct gathering g = { .e = e };
    enum err_code rc = view_open(st, ref, &g.v, e);

    if (rc)
        return rc;
    rc = read_checkpoints(&g);
    if (!rc)
        rc = add_state(&g);
    if (!rc)
        rc = add_tokens(&g, ref);
    if (!rc)
        rc = add_attribution(&g);
    if (!rc)
        rc = add_summary(&g);
    buf_fini(&g.json);
    view_close(&g.v);
    if (rc)
        session_facts_fini(&g.facts);
    else
        *out = g.facts;
    return rc;
}
