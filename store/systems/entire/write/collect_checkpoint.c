#include "store/systems/entire/write/collect_checkpoint.h"

#include <string.h>

#include "lite/json/json.h"
#include "store/git/repo.h"
#include "store/systems/entire/read/conversation.h"
#include "store/systems/entire/read/prompts.h"
#include "store/systems/entire/write/redact.h"

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

static enum err_code take_transcript(struct gathering *g)
{
    struct session_ref ref = { .store = &g->v->store->base,
                               .id = g->v->session->id,
                               .path = SLICE("") };
    struct entire_conversation conversation;
    enum err_code rc = entire_conversation_open(&g->v->store->base, &ref, &conversation, g->e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc; /* a checkpoint without a conversation */
    rc = entire_conversation_bytes(&conversation, g->e);
    if (!rc && redact_json_rows(buf_slice(&conversation.bytes), &g->out->transcript))
        rc = err_nomem(g->e);
    for (size_t i = 0; i < conversation.bytes.n; i++)
        g->out->lines += conversation.bytes.p[i] == '\n';
    entire_conversation_close(&conversation);
    return rc;
}

static enum err_code take_prompt(struct gathering *g)
{
    const struct catalog_session *s = g->v->session;
    struct buf text = { 0 };
    struct slice prompt = s->state->first_prompt;

    for (size_t i = s->n; i-- > 0;)
        if (s->point[i].source == POINT_SHADOW && s->point[i].task.n == 0 &&
            prompts_read(g->v->repo, &s->point[i], &text)) {
            prompt = buf_slice(&text);
            break;
        }
    enum err_code rc = redact_text(prompt, &g->out->prompt);

    buf_fini(&text);
    return rc ? err_nomem(g->e) : ERR_OK;
}

static enum err_code take_touched(struct gathering *g)
{
    struct arena *a = &g->v->arena;
    struct entire_state again;
    struct buf json = { 0 };
    struct slice touched;
    const char *name = arena_format(a, "%.*s.json", SLICE_ARG(g->v->session->id));
    enum err_code rc =
        name ? state_read(g->v->store->states, name, a, &again, &json, g->e) : err_nomem(g->e);

    g->out->s.touched = (struct names_list){ .a = a };
    if (!rc && json_get(buf_slice(&json), "files_touched", &touched) &&
        !names_add_json(&g->out->s.touched, touched))
        rc = err_nomem(g->e);
    buf_fini(&json);
    return rc;
}

enum err_code collect_checkpoint(struct view *v, struct collected_checkpoint *out, struct err *e)
{
    const struct entire_state *s = v->session->state;
    struct gathering g = { .v = v, .out = out, .e = e };

    *out = (struct collected_checkpoint){ .lines = 0 };
    enum err_code rc = take_transcript(&g);

    if (!rc)
        rc = take_prompt(&g);
    if (!rc)
        rc = take_touched(&g);
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

void collected_checkpoint_fini(struct collected_checkpoint *g)
{
    buf_fini(&g->transcript);
    buf_fini(&g->prompt);
}
