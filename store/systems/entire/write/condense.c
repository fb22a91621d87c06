#include "store/systems/entire/write/committed_write.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/digest.h"
#include "lite/json/json.h"
#include "store/git/repo.h"
#include "store/redact/redact.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/conversation.h"
#include "store/systems/entire/read/point.h"
#include "store/systems/entire/state.h"
#include "store/systems/entire/write/treewrite.h"

/* What a user's commit does to a session: the checkpoint is written first, then the state, then the shadow branch is
 * removed. After an interruption the state still counts the checkpoints as uncommitted, and the same commit condenses
 * them again: into the same folder of the same checkpoint (committed_write), with a tip that is kept already. */

/* Reads the transcript, redacted, and counts its lines. Without one, the checkpoint has no conversation. */
static enum err_code collect_transcript(struct view *v, struct collected_checkpoint *out,
                                        struct err *e)
{
    const struct store *st = &v->store->base;
    const struct session_ref ref = { .store = st, .id = v->session->id, .path = SLICE("") };
    AUTO_CONVERSATION conversation = ENTIRE_CONVERSATION_NONE;
    enum err_code rc = entire_conversation_open(st, &ref, &conversation, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    TRY(entire_conversation_bytes(&conversation, e));
    NEED(!redact_json_rows(buf_slice(&conversation.bytes), &out->transcript, NULL));
    for (size_t i = 0; i < conversation.bytes.n; i++)
        out->lines += conversation.bytes.p[i] == '\n';
    return ERR_OK;
}

enum err_code condense_collect(struct view *v, struct collected_checkpoint *out, struct err *e)
{
    const struct catalog_session *session = v->session;
    const struct entire_state *s = session->state;
    CLEANUP(git_reference_free_at) git_reference *head = NULL;
    AUTO_BUF text = { 0 };
    AUTO_BUF json = { 0 };
    struct arena *a = &v->arena;
    struct entire_state again;
    struct slice prompt, branch = SLICE(""), touched;

    assert(s);
    *out = (struct collected_checkpoint){ .lines = 0 };
    TRY(collect_transcript(v, out, e));

    /* The prompt of the newest shadow commit that has one, or else the session's first one. */
    prompt = s->first_prompt;
    for (size_t i = session->n; i-- > 0;)
        if (session->point[i].source == POINT_SHADOW && session->point[i].task.n == 0 &&
            point_prompts_read(v->repo, &session->point[i], &text)) {
            prompt = buf_slice(&text);
            break;
        }
    NEED(!redact_text(prompt, &out->prompt, NULL));

    /* The tokens of this checkpoint's part of the transcript, or if its rows do not record them, those that the host
     * reported. */
    TRY(entire_tokens_count(buf_slice(&out->transcript), s->transcript_start, &out->s.tokens, e));
    if (!out->s.tokens.known)
        out->s.tokens = entire_tokens_read(s->token_usage);

    TRY(state_read_again(v->store->states, session->id, a, &again, &json, e));
    out->s.touched = (struct names_list){ .a = a };
    if (json_get(buf_slice(&json), "files_touched", &touched))
        NEED(names_add_json(&out->s.touched, touched));

    if (git_repository_head(&head, v->repo) == 0 && git_reference_is_branch(head))
        branch = slice_of(git_reference_shorthand(head));
    out->s.branch = arena_copy(a, branch);
    NEED(out->s.branch.p);
    out->s.session = s->id;
    out->s.agent = s->agent;
    out->s.turn_id = s->turn_id;
    out->s.transcript = buf_slice(&out->transcript);
    out->s.prompt = buf_slice(&out->prompt);
    out->s.created_ms = env_now_ms(v->store->base.env);
    out->s.count = s->checkpoint_count;
    out->s.transcript_start = s->transcript_start;
    return ERR_OK;
}

void condense_collected_fini(struct collected_checkpoint *g)
{
    buf_fini(&g->transcript);
    buf_fini(&g->prompt);
}

/* ---- HEAD ---- */

/* Finds the checkpoint that the commit at HEAD names; "" if it names none. We do not write checkpoints with separate
 * refs, so a commit that names only such a checkpoint is refused. */
static enum err_code head_checkpoint(const struct view *v, git_oid *head, char id[13],
                                     struct err *e)
{
    AUTO_COMMIT *c = NULL;
    struct slice message, found;
    char other[ENTIRE_ULID + 1] = "";

    id[0] = '\0';
    if (!repo_has_ref(v->repo, "HEAD", head) || git_commit_lookup(&c, v->repo, head))
        return err_set(e, ERR_FORMAT, v->store->base.path, "condense: HEAD has no commit");
    const char *raw = git_commit_message_raw(c);

    message = slice_of(raw ? raw : "");
    while (!id[0] && entire_trailer_checkpoint(&message, &found))
        if (found.n == ENTIRE_HEX_ID)
            snprintf(id, 13, "%.12s", found.p);
        else
            snprintf(other, sizeof other, "%.*s", SLICE_ARG(found));
    if (id[0] || !other[0])
        return ERR_OK;
    return err_set(e, ERR_UNSUPPORTED, v->store->base.path,
                   "condense: checkpoint %s has a ref of its own; reprise reads that form and "
                   "does not write it",
                   other);
}

/* Returns true during an operation in which git itself makes commits, which are not the work of a
 * session. */
static bool git_makes_commits(git_repository *repo)
{
    switch (git_repository_state(repo)) {
    case GIT_REPOSITORY_STATE_NONE:
    case GIT_REPOSITORY_STATE_MERGE:
    case GIT_REPOSITORY_STATE_BISECT: return false;
    default: return true;
    }
}

/* ---- the turn ---- */

enum { TURN_MAX = 256 }; /* the most checkpoints of one turn */

struct turn_ids {
    struct slice id[TURN_MAX]; /* in the view's arena */
    size_t n;
};

static bool has_turn_id(const struct turn_ids *ids, struct slice id)
{
    for (size_t i = 0; i < ids->n; i++)
        if (slice_eq(ids->id[i], id))
            return true;
    return false;
}

static enum err_code entire_read_turn(struct view *v, struct turn_ids *out, struct err *e)
{
    struct arena *a = &v->arena;
    struct entire_state again;
    AUTO_BUF json = { 0 };
    struct json_iter it;
    struct slice value, id;

    *out = (struct turn_ids){ .n = 0 };
    TRY(state_read_again(v->store->states, v->session->id, a, &again, &json, e));
    json_list_open(&it, buf_slice(&json), "turn_checkpoint_ids");
    while (out->n + 1 < TURN_MAX && json_list_next(&it, &value))
        if (json_type(value) == JSON_STRING && json_text(value, a, &id) &&
            entire_checkpoint_id_ok(id) && !has_turn_id(out, id) && (id = arena_copy(a, id)).p)
            out->id[out->n++] = id;
    return ERR_OK;
}

/* ---- afterwards ---- */

/* id: the checkpoint that was written; "": the commit names none, and only the base of an active session moves. */
static enum err_code settle_after_condensing(struct view *v, const git_oid *head, const char *id,
                                             int64_t lines, struct err *e)
{
    const struct entire_state *s = v->session->state;
    struct arena *a = &v->arena;
    struct turn_ids turn = { .n = 0 };
    char hex[GIT_OID_HEXSZ + 1];
    bool active = s->phase == PHASE_ACTIVE;

    if (!id[0] && !active)
        return ERR_OK;
    if (active)
        TRY(entire_read_turn(v, &turn, e));
    git_oid_tostr(hex, sizeof hex, head);
    struct slice base = state_text(a, (struct slice){ hex, GIT_OID_HEXSZ });
    struct slice checkpoint = slice_of(id);

    if (!has_turn_id(&turn, checkpoint))
        turn.id[turn.n++] = checkpoint;

    /* An empty value removes the member. The older names of the start have to go, because they would count instead of
     * a 0. */
    const struct go_json_member moved[] = { { "base_commit", base } };
    const struct go_json_member set[] = {
        { "base_commit", base },
        { "attribution_base_commit", base },
        { "checkpoint_count", SLICE("0") },
        { "checkpoint_transcript_start", state_number(a, lines) },
        { "condensed_transcript_lines", SLICE("") },
        { "transcript_lines_at_start", SLICE("") },
        { "files_touched", SLICE("") },
        { "last_checkpoint_id", state_text(a, checkpoint) },
        { "turn_checkpoint_ids", active ? state_list(a, turn.id, turn.n) : SLICE("") },
    };

    return id[0] ? state_change(v->store->states, s, set, COUNT_OF(set), e)
                 : state_change(v->store->states, s, moved, COUNT_OF(moved), e);
}

/* Returns true if only this session has work on the branch. An unknown session counts as having work. */
static bool entire_is_alone(const struct view *v, const char *branch)
{
    const struct point_list *all = &v->catalog->points;
    struct slice name = slice_of(branch);

    for (size_t i = 0; i < all->n; i++) {
        const struct point *p = &all->point[i];
        const struct catalog_session *other;

        if (p->source != POINT_SHADOW || !slice_eq(p->branch, name) ||
            slice_eq(p->session, v->session->id))
            continue;
        other = catalog_find(v->catalog, p->session);
        if (!other || !other->state || other->state->checkpoint_count > 0)
            return false;
    }
    return true;
}

/* Removes the branch. Its tip gets another ref first, so that the commits are not only in a reflog. */
static enum err_code remove_branch(const struct view *v, const char *branch, const char *id,
                                   bool *gone, struct err *e)
{
    char ref[ENTIRE_SHADOW_NAME + 16], kept[ENTIRE_SHADOW_NAME + 64];
    git_oid tip;
    bool there;

    snprintf(ref, sizeof ref, ENTIRE_HEADS "%s", branch);
    TRY(repo_ref(v->repo, ref, &there, &tip, e));
    if (!there || !entire_is_alone(v, branch))
        return ERR_OK;
    snprintf(kept, sizeof kept, ENTIRE_CONDENSED "%s/%s", id, branch + strlen("entire/"));
    enum err_code rc = repo_ref_move(v->repo, kept, NULL, &tip, "entire: condensed", e);

    if (rc && rc != ERR_STALE) /* stale: it was condensed into the same checkpoint before */
        return rc;
    TRY(repo_ref_move(v->repo, ref, &tip, NULL, "entire: condensed", e));
    *gone = true;
    return ERR_OK;
}

enum err_code condense(struct view *v, struct slice strategy, struct condensed *out, struct err *e)
{
    const struct entire_state *s = v->session->state;
    struct condensed c = { .checkpoint = "" };
    CLEANUP(condense_collected_fini) struct collected_checkpoint g = { .lines = 0 };
    char shadow[ENTIRE_SHADOW_NAME];
    git_oid head;

    assert(s);
    *out = c;
    if (git_makes_commits(v->repo))
        return ERR_OK;
    TRY(head_checkpoint(v, &head, c.checkpoint, e));
    entire_shadow_name(s->base, s->worktree_id, shadow);
    if (!shadow[0])
        return digest_error(e);
    if (c.checkpoint[0])
        TRY(condense_collect(v, &g, e));
    if (s->phase == PHASE_ENDED && g.s.touched.n == 0)
        c.checkpoint[0] = '\0'; /* a session that has ended without touching a file */
    if (c.checkpoint[0]) {
        g.s.checkpoint = slice_of(c.checkpoint);
        g.s.strategy = strategy;
        g.s.shadow = slice_of(shadow);
        TRY(committed_write(v->repo, &g.s, &c.commit, e));
    }
    TRY(settle_after_condensing(v, &head, c.checkpoint, g.lines, e));
    if (c.checkpoint[0] && s->base.n)
        TRY(remove_branch(v, shadow, c.checkpoint, &c.branch_gone, e));
    *out = c;
    return ERR_OK;
}

enum err_code condense_finalize_turn(struct view *v, struct slice strategy, struct err *e)
{
    CLEANUP(condense_collected_fini) struct collected_checkpoint g = { .lines = 0 };
    const struct go_json_member none[] = { { "turn_checkpoint_ids", SLICE("") } };
    struct turn_ids turn;
    git_oid commit;

    assert(v->session->state);
    TRY(entire_read_turn(v, &turn, e));
    if (turn.n == 0)
        return ERR_OK;
    TRY(condense_collect(v, &g, e));
    g.s.strategy = strategy;
    g.s.finalize = true;
    /* If the conversation is not on this machine, the one in the checkpoint stays. */
    for (size_t i = 0; i < turn.n && g.s.transcript.n; i++) {
        g.s.checkpoint = turn.id[i];
        enum err_code rc = committed_write(v->repo, &g.s, &commit, e);

        if (rc && rc != ERR_NOT_FOUND) /* not found: it no longer exists, or has another form */
            return rc;
    }
    return state_change(v->store->states, v->session->state, none, 1, e);
}
