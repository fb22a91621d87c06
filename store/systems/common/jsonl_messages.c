#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/log/chain.h"
#include "store/systems/common/jsonl.h"

/* The conversation as JSON, messages by their ids, and the lines of a log whose rows name their parents. */

void point_search_offer(struct point_search *s, struct slice id, size_t number)
{
    bool same = slice_eq(id, s->id);

    if (s->same || (!same && !jsonl_id_has_prefix(id, s->id)))
        return;
    s->at = number;
    s->hits = same ? 1 : s->hits + 1;
    s->same = same;
}

enum err_code point_search_result(const struct point_search *s, const struct session_ref *ref,
                                  struct err *e)
{
    if (s->hits == 1)
        return ERR_OK;
    return err_set(e, s->hits ? ERR_USAGE : ERR_NOT_FOUND, ref->path.p, "rewind: %s",
                   s->hits ? "several messages have ids that begin with this" : "no such message");
}

struct jsonl_page jsonl_page_of(const struct message_query *q, json_fn *fn, void *arg)
{
    return (struct jsonl_page){ .skip = q->offset,
                                .left = q->has_limit && q->limit > 0 ? q->limit : -1,
                                .fn = fn,
                                .arg = arg };
}

enum err_code jsonl_page_add(struct jsonl_page *p, struct slice json, struct err *e)
{
    if (p->skip > 0) {
        p->skip--;
        return ERR_OK;
    }
    if (p->left == 0) {
        p->full = true;
        return ERR_CANCELLED;
    }
    p->left -= p->left > 0;
    return p->fn(json, p->arg, e);
}

bool jsonl_restore_begin(struct restore *out, struct slice id, struct slice cwd)
{
    struct stat sb;

    out->session_id = arena_copy(&out->arena, id);
    out->cwd = arena_copy(&out->arena, cwd);
    if (cwd.n && out->cwd.p && stat(out->cwd.p, &sb) == 0 && S_ISDIR(sb.st_mode) &&
        access(out->cwd.p, X_OK) == 0)
        out->command_cwd = out->cwd;
    return out->session_id.p && out->cwd.p;
}

void jsonl_write_continuation(struct jsonout *j)
{
    jsonout_key(j, "message");
    jsonout_open(j, '{');
    jsonout_member(j, "role", SLICE("user"));
    jsonout_member(j, "content", SLICE("Continue from where you left off."));
    jsonout_close(j, '}');
}

struct message_writer {
    const struct store *store;
    const struct jsonl_format *format;
    const struct session_ref *ref;
    struct slice agent;
    struct jsonl_page page;
    struct arena arena;
    struct buf row, out;
};

static enum err_code write_message(struct message_writer *t, const struct jsonl_message *m,
                                   struct err *e)
{
    struct jsonout j;

    t->out.n = 0;
    jsonout_init(&j, &t->out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", slice_of(m->type));
    jsonout_text_or_null(&j, "uuid", m->uuid);
    jsonout_member(&j, "session_id", t->ref->id);
    jsonout_raw_member(&j, "message", m->message);
    jsonout_text_or_null(&j, "parent_tool_use_id", SLICE(""));
    jsonout_text_or_null(&j, "parent_agent_id", t->agent);
    jsonout_text_or_null(&j, "timestamp", m->timestamp);
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : jsonl_page_add(&t->page, buf_slice(&t->out), e);
}

static enum err_code deliver_message(struct message_writer *t,
                                     const struct transcript *conversation, size_t i, bool system,
                                     struct err *e)
{
    struct jsonl_message m = { .message = SLICE("null") };
    enum err_code rc = transcript_read(conversation, i, &t->row, e);

    arena_reset(&t->arena);
    if (rc || !t->format->message(buf_slice(&t->row), &t->arena, &m) || (m.is_system && !system))
        return rc;
    return t->arena.failed ? err_nomem(e) : write_message(t, &m, e);
}

static enum err_code deliver_messages(struct message_writer *t, const struct message_query *q,
                                      struct err *e)
{
    struct transcript *conversation;
    enum err_code rc = t->store->ops->load(t->store, t->ref, q->cancel, &conversation, e);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && i < conversation->n; i++)
        if (!(conversation->message[i].flags & MESSAGE_BROKEN))
            rc = deliver_message(t, conversation, i, q->system_messages, e);
    transcript_free(conversation);
    return rc;
}

enum err_code jsonl_messages(const struct store *st, const struct session_ref *ref,
                             const struct message_query *q, json_fn *fn, void *arg, struct err *e)
{
    struct arena a = { 0 };
    struct session_ref agent = *ref;
    struct message_writer t = { .store = st,
                                .format = ((const struct jsonl_store *)st)->format,
                                .ref = &agent,
                                .agent = q->agent,
                                .page = jsonl_page_of(q, fn, arg) };
    enum err_code rc = ERR_OK;

    if (q->agent.n && !q->ref_is_agent)
        rc = st->ops->subagent ? st->ops->subagent(st, ref, q->agent, &a, &agent, e)
                               : err_set(e, ERR_NOT_FOUND, ref->path.p, "no such sub-agent");
    agent.id = ref->id;
    if (!rc)
        rc = deliver_messages(&t, q, e);
    arena_fini(&a);
    arena_fini(&t.arena);
    buf_fini(&t.row);
    buf_fini(&t.out);
    return t.page.full ? ERR_OK : rc;
}

/* ---- the path to the last row ---- */

static size_t last_row(const struct index *ix)
{
    size_t i = ix->n;

    while (i > 0 && (ix->line[i - 1].state != LINE_OK || id128_none(ix->line[i - 1].id)))
        i--;
    return i;
}

enum err_code jsonl_choose_path(struct logfile *log, bool *shown, struct err *e)
{
    const struct index *ix = &log->index;
    struct chain chain;
    uint32_t *path = NULL;
    size_t n = 0, last = last_row(ix);
    enum err_code rc = chain_build(&chain, ix, 0, UINT64_MAX, e);

    if (rc)
        return rc;
    if (last)
        rc = chain_walk(&chain, chain_find(&chain, ix->line[last - 1].id), 1, &path, &n, e);
    for (size_t i = 0; !rc && i < n; i++)
        shown[chain.node[path[i]].line] = true;
    for (size_t i = 0; !rc && i < ix->n; i++)
        shown[i] |= ix->line[i].state == LINE_BROKEN;
    free(path);
    chain_fini(&chain);
    return rc;
}
