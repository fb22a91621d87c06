#include <stdio.h>
#include <string.h>

#include "store/bundle/bundle.h"
#include "store/maintenance/continue_in.h"
#include "store/maintenance/project_move.h"
#include "tui/jobs/jobs.h"
#include "tui/text/human.h"

/* What is made of sessions for another place: a session of another agent, a bundle, or the sessions of a project that
 * moved. The lines about it are those of
 * the question, which has room for six. */

/* ---- in another agent ---- */

static const char *carry_label(const struct store *st)
{
    return st->ops->label ? st->ops->label : st->ops->name;
}

/* The agents that have sessions here, except for the session's own. */
static enum err_code carry_list_agents(const struct job_context *d, const struct session_ref *ref,
                                       struct change_result *out, struct err *e)
{
    const char *own = store_format(ref->store->ops);

    for (size_t i = 0; i < d->stores; i++)
        if (continue_in_can(d->store[i]) && strcmp(store_format(d->store[i]->ops), own) != 0)
            NEED(name_list_add(&out->agents, slice_of(d->store[i]->ops->name)));
    if (out->agents.n)
        return ERR_OK;
    AUTO_ARENA arena = { 0 };
    const char *others = continue_in_agents(&arena, own);

    NEED(others);
    return err_set(e, ERR_UNSUPPORTED, "", "no other agent to continue in yet; start %s once",
                   others);
}

static enum err_code carry_find_agent(const struct job_context *d, struct slice name,
                                      const struct store **out, struct err *e)
{
    for (size_t i = 0; i < d->stores; i++)
        if (continue_in_can(d->store[i]) && slice_eq(slice_of(d->store[i]->ops->name), name)) {
            *out = d->store[i];
            return ERR_OK;
        }
    return err_set(e, ERR_NOT_FOUND, "", "continue in: the agent has no sessions here");
}

/* "12 prompts, 1 reply"; adds nothing for 0. */
static enum err_code carry_count(struct buf *out, const char *before, size_t n, const char *one,
                                 const char *many)
{
    const bool first = out->n == 0 || out->p[out->n - 1] == '\n';

    return n ? buf_addf(out, "%s%zu %s", first ? before : ", ", n, n == 1 ? one : many) : ERR_OK;
}

static enum err_code carry_end_line(struct buf *out)
{
    return out->n && out->p[out->n - 1] != '\n' ? buf_addf(out, ".\n") : ERR_OK;
}

/* Lists what becomes the other agent's own, what becomes text, and what is left out. */
static enum err_code carry_report(const struct continue_in *c, struct buf *out)
{
    const char *kept = "It keeps ", *text = "As text: ", *left = "Left out: ";
    enum err_code rc = carry_count(out, kept, c->prompts, "prompt", "prompts");

    rc = rc ? rc : carry_count(out, kept, c->replies, "reply", "replies");
    rc = rc ? rc : carry_count(out, kept, c->calls, "tool call", "tool calls");
    rc = rc ? rc : carry_end_line(out);
    rc = rc ? rc
            : carry_count(out, text, c->texts, "tool call that the agent does not have",
                          "tool calls that the agent does not have");
    rc = rc ? rc : carry_end_line(out);
    rc = rc ? rc : carry_count(out, left, c->thoughts, "message's thinking", "messages' thinking");
    rc = rc ? rc : carry_count(out, left, c->media, "image or document", "images and documents");
    rc = rc ? rc : carry_count(out, left, c->agents, "sub-agent", "sub-agents");
    return rc ? rc : carry_end_line(out);
}

/* ---- a bundle ---- */

static enum err_code carry_list_bundle(const struct bundle_written *w, struct buf *out)
{
    const struct bundle *b = &w->bundle;
    char size[HUMAN_SIZE];
    size_t files = 0;
    int64_t messages = 0;

    for (size_t i = 0; i < b->n; i++) {
        files += b->session[i].n;
        messages += b->session[i].messages;
    }
    human_size(b->bytes, size);
    enum err_code rc =
        buf_addf(out, "%zu session%s with %lld message%s: %zu file%s, %s before compression.\n",
                 b->n, b->n == 1 ? "" : "s", (long long)messages, messages == 1 ? "" : "s", files,
                 files == 1 ? "" : "s", size);

    if (!rc && w->left_outs)
        rc = buf_addf(out, "Left out: %s%s\n", w->left_out[0],
                      w->left_outs > 1 ? ", and others" : "");
    return rc;
}

static enum err_code carry_bundle(const struct job_context *d, const struct effect *q,
                                  struct change_result *out, struct err *e)
{
    AUTO_ARENA a = { 0 };
    const struct slice typed = buf_slice(&q->text);
    const bool tilde = typed.n > 1 && typed.p[0] == '~' && typed.p[1] == '/' && d->env->home;
    const char *path = tilde
                           ? arena_format(&a, "%s%.*s", d->env->home, (int)typed.n - 1, typed.p + 1)
                           : arena_copy(&a, typed).p;
    const struct bundle_request req = {
        .env = d->env, .path = path, .redact = q->redacts, .only_lists = !q->confirmed
    };
    struct bundle_written w;

    NEED(path);
    TRY(bundle_write(q->refs->ref, q->refs->n, &req, &w, e));
    bool ok =
        q->confirmed ? !buf_add(&out->text, slice_of(path)) : !carry_list_bundle(&w, &out->text);

    for (size_t i = 0; ok && q->confirmed && i < w.bundle.n; i++)
        ok = name_list_add(&out->sessions, slice_of(w.bundle.session[i].id));
    out->bytes = w.bytes;
    out->needs_confirmation = !q->confirmed;
    bundle_written_fini(&w);
    return ok ? ERR_OK : err_nomem(e);
}

/* ---- to where the project is now ---- */

static enum err_code carry_list_move(const struct project_move *m, struct buf *out)
{
    const char *why = NULL;
    size_t stay = 0;

    for (size_t i = 0; i < m->n; i++)
        if (m->item[i].why) {
            stay++;
            why = why ? why : m->item[i].why;
        }
    enum err_code rc = buf_addf(
        out,
        m->moving == 1 ? "%zu session would move; its agent lists and resumes it there.\n"
                       : "%zu sessions would move; their agents list and resume them there.\n",
        m->moving);

    if (!rc && stay)
        rc = buf_addf(out, "%zu would stay: %s%s\n", stay, why, stay > 1 ? ", and others" : "");
    return rc;
}

/* A session that stays does not keep the others, but one at least has to move. */
static enum err_code carry_move(const struct job_context *d, const struct effect *q,
                                struct change_result *out, struct err *e)
{
    CLEANUP(project_move_fini) struct project_move m = { .n = 0 };
    AUTO_ARENA a = { 0 };
    const char *place[2] = { NULL };

    for (size_t i = 0; i < COUNT_OF(place) && q->names && i < q->names->n; i++)
        NEED(place[i] = arena_copy(&a, q->names->name[i]).p);
    if (!place[1])
        return err_set(e, ERR_USAGE, "", "move: needs two directories");
    TRY(project_move_plan(d->store, d->stores, d->env, place[0], place[1], &m, e));
    for (size_t i = 0; i < m.n && !m.moving; i++)
        if (m.item[i].why)
            return err_set(e, ERR_UNSUPPORTED, "", "none of its sessions can follow: %s",
                           m.item[i].why);
    if (!m.moving)
        return err_set(e, ERR_NOT_FOUND, m.from, "move: no session is of this directory");
    if (q->confirmed)
        TRY(change_do(d->env, m.change, e));
    bool ok = q->confirmed ? !buf_add(&out->text, slice_of(m.to))
                           : !carry_list_move(&m, &out->text) &&
                                 name_list_add(&out->agents, slice_of(m.from)) &&
                                 name_list_add(&out->agents, slice_of(m.to));

    for (size_t i = 0; ok && q->confirmed && i < m.n; i++)
        ok = m.item[i].why || name_list_add(&out->sessions, m.item[i].ref.id);
    snprintf(out->copy, sizeof out->copy, "%.*s", SLICE_ARG(q->refs->ref[0].id));
    out->needs_confirmation = !q->confirmed;
    return ok ? ERR_OK : err_nomem(e);
}

enum err_code jobs_carry(const struct job_context *d, const struct effect *q,
                         struct change_result *out, struct err *e)
{
    struct continue_in c;

    if (q->request == CHANGE_BUNDLE)
        return carry_bundle(d, q, out, e);
    if (q->request == CHANGE_MOVE)
        return carry_move(d, q, out, e);
    const struct session_ref *ref = &q->refs->ref[0];
    const struct slice name = buf_slice(&q->text);
    const struct store *to = NULL;

    if (!name.n) {
        TRY(carry_list_agents(d, ref, out, e));
        out->needs_confirmation = true;
        return ERR_OK;
    }
    TRY(carry_find_agent(d, name, &to, e));
    TRY((q->confirmed ? continue_in_do : continue_in_plan)(ref, to, &c, e));
    bool ok = q->confirmed ? name_list_add(&out->sessions, c.id) &&
                                 !buf_add(&out->text, slice_of(carry_label(to)))
                           : name_list_add(&out->agents, name) && !carry_report(&c, &out->text);

    snprintf(out->copy, sizeof out->copy, "%.*s", SLICE_ARG(c.id));
    out->needs_confirmation = !q->confirmed;
    continue_in_fini(&c);
    return ok ? ERR_OK : err_nomem(e);
}
