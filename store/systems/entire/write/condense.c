#include "store/systems/entire/write/committed_write.h"

#include <stdio.h>
#include <string.h>

#include "lite/json/json.h"
#include "store/git/repo.h"
#include "store/redact/redact.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/conversation.h"
#include "store/systems/entire/read/point.h"
#include "store/systems/entire/state.h"
#include "store/systems/entire/write/treewrite.h"

static struct slice head_branch(const struct view *v, struct arena *a)
{
    git_reference *head = NULL;
    struct slice name = SLICE("");

    if (git_repository_head(&head, v->repo) == 0 && git_reference_is_branch(head)) {
        const char *text = git_reference_shorthand(head);

        name = slice_of(text);
    }
    name = arena_copy(a, name);
    git_reference_free(head);
    return name;
}

struct gathering {
    struct view *v;
    struct collected_checkpoint *out;
    struct err *e;
};

static enum err_code collect_transcript(struct gathering *g)
{
    struct session_ref ref = { .store = &g->v->store->base,
                               .id = g->v->session->id,
                               .path = SLICE("") };
    struct entire_conversation conversation;
    enum err_code rc = entire_conversation_open(&g->v->store->base, &ref, &conversation, g->e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc; /* a checkpoint without a conversation */
    rc = entire_conversation_bytes(&conversation, g->e);
    if (!rc && redact_json_rows(buf_slice(&conversation.bytes), &g->out->transcript, NULL))
        rc = err_nomem(g->e);
    for (size_t i = 0; i < conversation.bytes.n; i++)
        g->out->lines += conversation.bytes.p[i] == '\n';
    entire_conversation_close(&conversation);
    return rc;
}

static enum err_code collect_prompt(struct gathering *g)
{
    const struct catalog_session *s = g->v->session;
    struct buf text = { 0 };
    struct slice prompt = s->state->first_prompt;

    for (size_t i = s->n; i-- > 0;)
        if (s->point[i].source == POINT_SHADOW && s->point[i].task.n == 0 &&
            point_prompts_read(g->v->repo, &s->point[i], &text)) {
            prompt = buf_slice(&text);
            break;
        }
    enum err_code rc = redact_text(prompt, &g->out->prompt, NULL);

    buf_fini(&text);
    return rc ? err_nomem(g->e) : ERR_OK;
}

/* The tokens of this checkpoint's part of the transcript, or if its rows do not record them, those
 * that the host reported. */
static enum err_code collect_tokens(struct gathering *g)
{
    const struct entire_state *s = g->v->session->state;
    struct entire_tokens *tokens = &g->out->s.tokens;
    enum err_code rc =
        entire_tokens_count(buf_slice(&g->out->transcript), s->transcript_start, tokens, g->e);

    if (!rc && !tokens->known)
        *tokens = entire_tokens_read(s->token_usage);
    return rc;
}

static enum err_code collect_touched(struct gathering *g)
{
    struct arena *a = &g->v->arena;
    struct entire_state again;
    struct buf json = { 0 };
    struct slice touched;
    enum err_code rc =
        state_read_again(g->v->store->states, g->v->session->id, a, &again, &json, g->e);

    g->out->s.touched = (struct names_list){ .a = a };
    if (!rc && json_get(buf_slice(&json), "files_touched", &touched) &&
        !names_add_json(&g->out->s.touched, touched))
        rc = err_nomem(g->e);
    buf_fini(&json);
    return rc;
}

enum err_code condense_collect(struct view *v, struct collected_checkpoint *out, struct err *e)
{
    const struct entire_state *s = v->session->state;
    struct gathering g = { .v = v, .out = out, .e = e };

    *out = (struct collected_checkpoint){ .lines = 0 };
    enum err_code rc = collect_transcript(&g);

    if (!rc)
        rc = collect_prompt(&g);
    if (!rc)
        rc = collect_tokens(&g);
    if (!rc)
        rc = collect_touched(&g);
    out->s.session = s->id;
    out->s.branch = head_branch(v, &v->arena);
    out->s.agent = s->agent;
    out->s.turn_id = s->turn_id;
    out->s.transcript = buf_slice(&out->transcript);
    out->s.prompt = buf_slice(&out->prompt);
    out->s.created_ms = env_now_ms(v->store->base.env);
    out->s.count = s->checkpoint_count;
    out->s.transcript_start = s->transcript_start;
    return rc || out->s.branch.p ? rc : err_nomem(e);
}

void condense_collected_fini(struct collected_checkpoint *g)
{
    buf_fini(&g->transcript);
    buf_fini(&g->prompt);
}

/* ---- HEAD ---- */

/* We do not write checkpoints with separate refs, so a commit that names only such a checkpoint is
 * refused. */
static enum err_code head_checkpoint(const struct view *v, git_oid *head, char id[13],
                                     struct err *e)
{
    git_commit *c = NULL;
    struct slice found;
    char other[ENTIRE_ULID + 1];

    id[0] = '\0';
    other[0] = '\0';
    if (!repo_has_ref(v->repo, "HEAD", head) || git_commit_lookup(&c, v->repo, head))
        return err_set(e, ERR_FORMAT, v->store->base.path, "condense: HEAD has no commit");
    const char *raw = git_commit_message_raw(c);
    struct slice message = { raw ? raw : "", raw ? strlen(raw) : 0 };

    while (!id[0] && entire_trailer_checkpoint(&message, &found))
        if (found.n == ENTIRE_HEX_ID)
            snprintf(id, 13, "%.12s", found.p);
        else
            snprintf(other, sizeof other, "%.*s", SLICE_ARG(found));
    git_commit_free(c);
    return id[0] || !other[0]
               ? ERR_OK
               : err_set(
                     e, ERR_UNSUPPORTED, v->store->base.path,
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

static enum err_code read_turn(struct view *v, struct turn_ids *out, struct err *e)
{
    struct arena *a = &v->arena;
    struct entire_state again;
    struct buf json = { 0 };
    struct json_iter it;
    struct slice list, key, value, id;
    enum err_code rc = state_read_again(v->store->states, v->session->id, a, &again, &json, e);
    bool more = !rc && json_get(buf_slice(&json), "turn_checkpoint_ids", &list) &&
                json_type(list) == JSON_ARRAY && json_iter_open(&it, list);

    *out = (struct turn_ids){ .n = 0 };
    while (more && out->n + 1 < TURN_MAX && json_iter_next(&it, &key, &value))
        if (json_type(value) == JSON_STRING && json_text(value, a, &id) &&
            entire_checkpoint_id_ok(id) && !has_turn_id(out, id) && (id = arena_copy(a, id)).p)
            out->id[out->n++] = id;
    buf_fini(&json);
    return rc;
}

/* ---- afterwards ---- */

static enum err_code settle_state(struct view *v, const git_oid *head, const char *id,
                                  int64_t lines, struct err *e)
{
    const struct entire_state *s = v->session->state;
    struct arena *a = &v->arena;
    struct turn_ids turn = { .n = 0 };
    char hex[GIT_OID_HEXSZ + 1];
    bool active = s->phase == PHASE_ACTIVE;

    if (!id[0] && !active)
        return ERR_OK;
    enum err_code rc = active ? read_turn(v, &turn, e) : ERR_OK;

    if (rc)
        return rc;
    git_oid_tostr(hex, sizeof hex, head);
    struct slice base = state_text(a, (struct slice){ hex, GIT_OID_HEXSZ });
    struct slice checkpoint = slice_of(id);

    if (!has_turn_id(&turn, checkpoint))
        turn.id[turn.n++] = checkpoint;
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

    return id[0] ? state_change(v->store->states, s, set, sizeof set / sizeof *set, e)
                 : state_change(v->store->states, s, moved, 1, e);
}

/* Returns true if only this session has work on the branch. An unknown session counts as having work. */
static bool is_alone(const struct view *v, const char *branch)
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
    enum err_code rc = repo_ref(v->repo, ref, &there, &tip, e);

    if (rc || !there || !is_alone(v, branch))
        return rc;
    snprintf(kept, sizeof kept, ENTIRE_CONDENSED "%s/%s", id, branch + strlen("entire/"));
    rc = repo_ref_move(v->repo, kept, NULL, &tip, "entire: condensed", e);

    if (rc == ERR_STALE)
        rc = ERR_OK; /* it was condensed into the same checkpoint before */
    if (!rc)
        rc = repo_ref_move(v->repo, ref, &tip, NULL, "entire: condensed", e);
    *gone = rc == ERR_OK;
    return rc;
}

/* Writes the session into the checkpoint of HEAD, unless it has ended without touching a file. */
static enum err_code write_checkpoint(struct view *v, struct slice strategy, const char *shadow,
                                      struct collected_checkpoint *g, struct condensed *c,
                                      struct err *e)
{
    enum err_code rc = condense_collect(v, g, e);

    if (rc)
        return rc;
    if (v->session->state->phase == PHASE_ENDED && g->s.touched.n == 0) {
        c->checkpoint[0] = '\0';
        return ERR_OK;
    }
    g->s.checkpoint = slice_of(c->checkpoint);
    g->s.strategy = strategy;
    g->s.shadow = slice_of(shadow);
    return committed_write(v->repo, &g->s, &c->commit, e);
}

enum err_code condense(struct view *v, struct slice strategy, struct condensed *out, struct err *e)
{
    const struct entire_state *s = v->session->state;
    struct condensed c = { .checkpoint = "" };
    struct collected_checkpoint g = { .lines = 0 };
    char shadow[ENTIRE_SHADOW_NAME];
    git_oid head;

    *out = c;
    if (git_makes_commits(v->repo))
        return ERR_OK;
    enum err_code rc = head_checkpoint(v, &head, c.checkpoint, e);

    if (rc)
        return rc;
    entire_shadow_name(s->base, s->worktree_id, shadow);
    if (c.checkpoint[0])
        rc = write_checkpoint(v, strategy, shadow, &g, &c, e);
    if (!rc)
        rc = settle_state(v, &head, c.checkpoint, g.lines, e);
    if (!rc && c.checkpoint[0] && s->base.n)
        rc = remove_branch(v, shadow, c.checkpoint, &c.branch_gone, e);
    condense_collected_fini(&g);
    if (!rc)
        *out = c;
    return rc;
}

enum err_code condense_finalize_turn(struct view *v, struct slice strategy, struct err *e)
{
    struct turn_ids turn;
    struct collected_checkpoint g = { .lines = 0 };
    git_oid commit;
    const struct go_json_member none[] = { { "turn_checkpoint_ids", SLICE("") } };
    enum err_code rc = read_turn(v, &turn, e);

    if (rc || turn.n == 0)
        return rc;
    rc = condense_collect(v, &g, e);
    g.s.strategy = strategy;
    g.s.finalize = true;
    /* If the conversation is not on this machine, the one in the checkpoint stays. */
    for (size_t i = 0; i < turn.n && !rc && g.s.transcript.n; i++) {
        g.s.checkpoint = turn.id[i];
        rc = committed_write(v->repo, &g.s, &commit, e);
        if (rc == ERR_NOT_FOUND)
            rc = ERR_OK; /* it no longer exists, or has another form */
    }
    condense_collected_fini(&g);
    return rc ? rc : state_change(v->store->states, v->session->state, none, 1, e);
}
