#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/log/chain.h"
#include "store/systems/common/jsonl.h"

/* The rows of one log, by their ids and one by one. */

enum { PREFIX_SHORTEST = 4 };

/* How a row's id relates to the one that is wanted. */
enum id_match { ID_OTHER, ID_BEGINS, ID_SAME };

bool jsonl_id_has_prefix(struct slice id, struct slice part)
{
    return part.n >= PREFIX_SHORTEST && id.n > part.n && memcmp(id.p, part.p, part.n) == 0;
}

struct slice jsonl_row_id(const struct jsonl_format *format, struct slice row, struct arena *a)
{
    return format->id         ? format->id(row, a)
           : format->keys->id ? json_text_at(row, format->keys->id, a)
                              : SLICE("");
}

static enum err_code match_row(struct logfile *log, const struct jsonl_format *format, size_t line,
                               struct slice want, enum id_match *match, struct err *e)
{
    struct arena a = { 0 };
    struct slice row, id = { NULL, 0 };
    enum err_code rc = logfile_row(log, line, &row, e);

    if (!rc)
        id = jsonl_row_id(format, row, &a);
    *match = slice_eq(id, want) ? ID_SAME : jsonl_id_has_prefix(id, want) ? ID_BEGINS : ID_OTHER;
    if (!rc && a.failed)
        rc = err_nomem(e);
    arena_fini(&a);
    return rc;
}

enum err_code jsonl_find_row(struct logfile *log, const struct jsonl_format *format,
                             struct slice id, size_t *line, struct err *e)
{
    const char *path = log->path ? log->path : "";
    size_t hits = 0;

    /* The index only recognises the key as the agent spells it; rows with any other spelling are
     * read. */
    const struct index *ix = &log->index;
    struct id128 want = id128_of(id);
    enum id_match match = ID_OTHER;
    enum err_code rc = ERR_OK;

    for (*line = 0; !rc && *line < ix->n; ++*line) {
        const struct index_line *l = &ix->line[*line];

        if (l->state == LINE_BLANK || !(id128_none(l->id) || id128_eq(l->id, want)))
            continue;
        rc = match_row(log, format, *line, id, &match, e);
        if (match == ID_SAME)
            break;
    }
    if (rc || *line < ix->n)
        return rc;
    if (id.n >= PREFIX_SHORTEST) {
        /* Counts the different ids with this prefix, up to two; *line is that of the first. */
        struct id128 found = { 0 };

        for (size_t i = 0; !rc && hits < 2 && i < ix->n; i++) {
            const struct index_line *l = &ix->line[i];

            if (l->state == LINE_BLANK || (hits && !id128_none(found) && id128_eq(l->id, found)))
                continue;
            rc = match_row(log, format, i, id, &match, e);
            if (rc || match == ID_OTHER)
                continue;
            if (++hits == 1)
                *line = i;
            found = l->id;
        }
    }
    if (rc || hits == 1)
        return rc;
    id.n = id.n > 64 ? 64 : id.n;
    return hits ? err_set(e, ERR_USAGE, path, "find message %.*s: ambiguous prefix", SLICE_ARG(id))
                : err_set(e, ERR_NOT_FOUND, path,
                          "find message %.*s: no such message; see reprise messages --plain",
                          SLICE_ARG(id));
}

enum err_code jsonl_each_row(const char *path, const struct index_keys *keys,
                             const atomic_bool *cancel, jsonl_row_fn *fn, void *arg, struct err *e)
{
    struct logfile log;
    struct slice row;
    bool stop = false;
    enum err_code rc = logfile_open(&log, path, 0, keys, cancel, e);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && !stop && i < log.index.n; i++) {
        if (log.index.line[i].state == LINE_BLANK)
            continue;
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, path, "read messages");
        if (!rc)
            rc = logfile_row(&log, i, &row, e);
        if (!rc)
            rc = fn(row, arg, &stop, e);
    }
    logfile_close(&log);
    return rc;
}

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
                   s->hits ? "several messages have ids that begin with this"
                           : "no such message; see reprise messages --plain");
}

enum err_code point_search_error(const struct point_search *s, const char *path, const char *points,
                                 const char *none, struct err *e)
{
    int n = s->id.n > 64 ? 64 : (int)s->id.n;

    return s->hits > 1 ? err_set(e, ERR_USAGE, path, "rewind: several %s begin with %.*s", points,
                                 n, s->id.p)
                       : err_set(e, ERR_NOT_FOUND, path, "rewind: %s %.*s", none, n, s->id.p);
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
    out->session_id = arena_copy(&out->arena, id);
    out->cwd = arena_copy(&out->arena, cwd);
    if (cwd.n && out->cwd.p && path_is_dir(out->cwd.p) && access(out->cwd.p, X_OK) == 0)
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

static enum err_code jsonl_messages_write_message(struct message_writer *t,
                                                  const struct jsonl_message *m, struct err *e)
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

static enum err_code deliver_messages(struct message_writer *t, const struct message_query *q,
                                      struct err *e)
{
    struct transcript *conversation;
    enum err_code rc = t->store->ops->load(t->store, t->ref, q->cancel, &conversation, e);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && i < conversation->n; i++)
        if (!(conversation->message[i].flags & MESSAGE_BROKEN)) {
            struct jsonl_message m = { .message = SLICE("null") };

            rc = transcript_read(conversation, i, &t->row, e);
            arena_reset(&t->arena);
            if (!rc && t->format->message(buf_slice(&t->row), &t->arena, &m) &&
                (!m.is_system || q->system_messages))
                rc = t->arena.failed ? err_nomem(e) : jsonl_messages_write_message(t, &m, e);
        }
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
        rc = st->ops->subagent
                 ? st->ops->subagent(st, ref, q->agent, &a, &agent, e)
                 : err_set(e, ERR_NOT_FOUND, ref->path.p,
                           "read sub-agent: no such sub-agent; see reprise subagents");
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

enum err_code jsonl_choose_path(struct logfile *log, bool *shown, struct err *e)
{
    const struct index *ix = &log->index;
    struct chain chain;
    uint32_t *path = NULL;
    size_t n = 0, last = ix->n; /* the last row with an id, plus one */

    while (last > 0 && (ix->line[last - 1].state != LINE_OK || id128_none(ix->line[last - 1].id)))
        last--;
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
