#include <stdlib.h>

#include "lite/base/buf.h"
#include "store/library/call.h"
#include "store/query/conversation_end.h"
#include "store/query/message_page.h"
#include "store/show/plain.h"

/* ---- the query ---- */

static enum err_code library_read_query(const struct reprise_session *s,
                                        const struct reprise_message_query *given,
                                        struct message_query *out, struct message_page *page,
                                        const char **before, struct err *e)
{
    struct reprise_message_query q;

    TRY(call_options(given, &q, sizeof q, e));

    const uint32_t known = REPRISE_MESSAGES_SYSTEM | REPRISE_MESSAGES_AS_SDK |
                           REPRISE_MESSAGES_LIMIT | REPRISE_MESSAGES_PLAIN;

    if (q.flags & ~known)
        return err_set(e, ERR_USAGE, "", "read messages: unknown flag");
    if (q.offset < 0 || q.limit < 0)
        return err_set(e, ERR_USAGE, "", "read messages: limit and offset must not be negative");
    if ((q.flags & REPRISE_MESSAGES_PLAIN) && (q.flags & REPRISE_MESSAGES_AS_SDK))
        return err_set(e, ERR_USAGE, "", "read messages: the SDK has no plain form");
    if (q.after && (q.before || q.offset > 0 || !(q.flags & REPRISE_MESSAGES_PLAIN)))
        return err_set(
            e, ERR_USAGE, "",
            "read messages: `after` is for the plain form, and excludes `before` and an offset");
    if (q.before && (q.offset > 0 || q.limit > MESSAGE_PAGE_MOST))
        return err_set(e, ERR_USAGE, "",
                       "read messages: `before` excludes an offset, and the limit is %d",
                       MESSAGE_PAGE_MOST);

    bool limited = q.flags & REPRISE_MESSAGES_LIMIT;

    *out = (struct message_query){
        .session = s->ref.id,
        .agent = call_text(q.agent),
        .system_messages = q.flags & REPRISE_MESSAGES_SYSTEM,
        .as_sdk = q.flags & REPRISE_MESSAGES_AS_SDK,
        .has_limit = limited,
        .limit = limited ? q.limit : 0,
        .offset = limited ? q.offset : 0,
        .after = call_text(q.after),
    };
    *before = q.before;
    *page = (struct message_page){ .query = *out, .most = limited ? (size_t)q.limit : 0 };
    page->query.has_limit = false;
    page->read = q.flags & REPRISE_MESSAGES_PLAIN ? plain_messages : NULL;

    /* In a system without sub-agents the name of one is not found. */
    const char *agent = q.agent;
    const struct store_ops *ops = s->ref.store->ops;
    const char *why = store_unsupported_reason(ops, CAN_HAVE_AGENTS);

    if (!agent || (ops->subagent && *agent))
        return ERR_OK;
    return err_set(e, ERR_NOT_FOUND, agent, "read messages: %s",
                   why ? why : "the session has no such sub-agent");
}

/* ---- whole conversations ---- */

static enum err_code library_walk(const struct reprise_session *s,
                                  const struct reprise_message_query *query, json_fn *fn, void *arg,
                                  struct err *e)
{
    const struct store *st = s->ref.store;
    AUTO_ARENA a = { 0 };
    struct message_query q;
    struct message_page page;
    struct slice id = { NULL, 0 };
    struct session_ref now;
    const char *before;
    size_t at;

    TRY(library_read_query(s, query, &q, &page, &before, e));
    TRY(session_now(s, &a, &now, e));
    if (before && *before)
        TRY(message_page_find(&page, &now, slice_of(before), &a, &id, &at, e));
    return before ? message_page_read(&page, &now, id, fn, arg, e)
                  : (page.read ? page.read : st->ops->messages)(st, &now, &q, fn, arg, e);
}

static enum err_code library_add_message(struct slice json, void *arg, struct err *e)
{
    return texts_add(arg, json, e);
}

int reprise_messages(const struct reprise_session *s, const struct reprise_message_query *query,
                     struct reprise_texts **out, struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);
    TEXTS_RETURN(out, error, library_walk(s, query, library_add_message, texts, e));
}

struct receiver {
    reprise_message_fn *fn;
    void *arg;
};

static enum err_code library_messages_hand_over(struct slice json, void *arg, struct err *e)
{
    const struct receiver *to = arg;

    return to->fn(json.p, json.n, to->arg)
               ? err_set(e, ERR_CANCELLED, "", "read messages: stopped by the caller")
               : ERR_OK;
}

int reprise_messages_each(const struct reprise_session *s,
                          const struct reprise_message_query *query, reprise_message_fn *fn,
                          void *arg, struct reprise_error *error)
{
    if (!s || !fn)
        return call_refuse(error);

    struct receiver to = { fn, arg };

    CALL_RETURN(error, library_walk(s, query, library_messages_hand_over, &to, e));
}

/* ---- the end of one ---- */

enum { TAIL_BYTES = 64 * 1024 };

static enum err_code library_read_tail(const struct reprise_session *s, size_t bytes,
                                       struct reprise_texts *texts, struct err *e)
{
    const struct store *st = s->ref.store;
    CLEANUP(transcript_free_at) struct transcript *t = NULL;
    AUTO_ARENA a = { 0 };
    struct session_ref now;

    TRY(session_now(s, &a, &now, e));
    TRY(st->ops->tail(st, &now, bytes ? bytes : TAIL_BYTES, NULL, &t, e));
    return texts_add_rows(texts, t, e);
}

int reprise_tail(const struct reprise_session *s, size_t bytes, struct reprise_texts **out,
                 struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);
    TEXTS_RETURN(out, error, library_read_tail(s, bytes, texts, e));
}

/* ---- reading on ---- */

struct reprise_follow {
    const struct reprise_session *session;
    struct session_ref which; /* the session, or a sub-agent of it */
    struct arena arena;
    struct message_query query;
    struct conversation_cursor cursor;
};

static enum err_code library_follow(struct reprise_follow *f,
                                    const struct reprise_message_query *query, struct err *e)
{
    const struct reprise_session *s = f->session;
    struct message_page page;
    const char *before;

    TRY(library_read_query(s, query, &f->query, &page, &before, e));
    if (before || f->query.has_limit || f->query.as_sdk)
        return err_set(e, ERR_USAGE, "", "follow messages: only `agent` and `after` are possible");
    TRY(session_now(s, &f->arena, &f->which, e));
    if (f->query.agent.n)
        TRY(f->which.store->ops->subagent(f->which.store, &f->which, f->query.agent, &f->arena,
                                          &f->which, e));
    const struct slice after = f->query.after;

    f->query.agent = f->query.after = f->query.session = (struct slice){ NULL, 0 };
    return conversation_cursor_set(&f->cursor, &f->which, after, NULL, e);
}

int reprise_follow_open(const struct reprise_session *s, const struct reprise_message_query *query,
                        struct reprise_follow **out, struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);

    struct call call;
    struct reprise_follow *f = calloc(1, sizeof *f);

    call_begin(&call);
    if (f)
        f->session = s;
    int rc = call_end(&call, f ? library_follow(f, query, &call.err) : err_nomem(&call.err), error);

    if (rc)
        reprise_follow_close(f);
    else
        *out = f;
    return rc;
}

static enum err_code library_read_on(struct reprise_follow *f, struct reprise_texts *texts,
                                     struct err *e)
{
    CLEANUP(transcript_free_at) struct transcript *t = NULL;
    size_t from;

    TRY(conversation_read_on(&f->cursor, &f->which, NULL, &t, &from, e));
    return t ? plain_rows(f->session->ref.store, &f->query, t, from, library_add_message, texts, e)
             : ERR_OK;
}

int reprise_follow_next(struct reprise_follow *f, struct reprise_texts **out,
                        struct reprise_error *error)
{
    if (!f || !out)
        return call_refuse(error);
    TEXTS_RETURN(out, error, library_read_on(f, texts, e));
}

void reprise_follow_close(struct reprise_follow *f)
{
    if (!f)
        return;
    conversation_cursor_fini(&f->cursor);
    arena_fini(&f->arena);
    free(f);
}

/* ---- what a host needs to continue ---- */

static enum err_code read_bundle(const struct reprise_session *s, const char *at,
                                 struct reprise_texts *texts, struct err *e)
{
    CLEANUP(restore_fini) struct restore bundle = { 0 };
    AUTO_ARENA a = { 0 };
    AUTO_BUF text = { 0 };
    struct session_ref now;
    struct jsonout j;

    TRY(session_now(s, &a, &now, e));
    TRY(store_restore(&now, call_text(at), &bundle, e));
    jsonout_init(&j, &text);
    jsonout_open(&j, '{');
    restore_json_members(&j, &bundle, s->ref.store->ops->name);
    jsonout_member(&j, "commandCwd", bundle.command_cwd);
    jsonout_close(&j, '}');
    return texts_add_json(texts, &j, e);
}

int reprise_restore(const struct reprise_session *s, const char *at, struct reprise_texts **out,
                    struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);
    TEXTS_RETURN(out, error, read_bundle(s, at, texts, e));
}
