#include "store/query/message_page.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "lite/json/json.h"

/* How many of the newest messages are asked for at first, and how many times more if they are not enough. */
enum { AFTER_FIRST = 64, REACH_GROWS = 8 };

bool message_page_is_spoken(struct slice json)
{
    struct slice type;

    if (!json_get(json, "type", &type))
        json_get(json, "role", &type);
    return json_string_is(type, "user") || json_string_is(type, "assistant");
}

/* A store counts all messages, so it does not know how many of them are spoken if there are others. */
static struct message_reach *reach_of(struct message_page *p)
{
    bool bounded = p->most && !(p->spoken && p->query.system_messages);

    if (p->reach.least < p->most)
        p->reach.least = p->most;
    p->reach.partial = false;
    return bounded ? &p->reach : NULL;
}

static enum err_code page_messages(const struct message_page *p, const struct session_ref *ref,
                                   const struct message_query *q, json_fn *fn, void *arg,
                                   struct err *e)
{
    return (p->read ? p->read : ref->store->ops->messages)(ref->store, ref, q, fn, arg, e);
}

static const char *id_member(const struct message_page *p)
{
    return p->read ? "id" : "uuid";
}

/* ---- finding a message ---- */

struct cursor {
    struct message_page *page;
    struct slice wanted, id; /* the id in the arena once found */
    struct arena *arena;
    size_t at, seen, matches;
};

/* A whole id precedes a beginning of one. */
static enum err_code compare_with_cursor(struct slice json, void *arg, struct err *e)
{
    struct cursor *c = arg;
    struct slice id;

    if (c->page->spoken && !message_page_is_spoken(json))
        return ERR_OK;
    size_t at = c->seen++;

    if (!json_get_text(json, id_member(c->page), c->arena, &id) || id.n < c->wanted.n ||
        memcmp(id.p, c->wanted.p, c->wanted.n) != 0 || slice_eq(c->id, c->wanted))
        return ERR_OK;
    c->matches = id.n == c->wanted.n ? 1 : c->matches + 1;
    c->at = at;
    c->id = arena_copy(c->arena, id);
    return c->id.p ? ERR_OK : err_nomem(e);
}

/* Only a whole id is unique among some of the messages. */
static enum err_code look_for_cursor(struct cursor *c, const struct session_ref *ref, struct err *e)
{
    struct message_page *p = c->page;
    struct message_query q = p->query;

    if (p->most && p->reach.least < MESSAGE_PAGE_MOST)
        p->reach.least = MESSAGE_PAGE_MOST;
    for (;; p->reach.least *= REACH_GROWS) {
        c->seen = c->matches = 0;
        c->id = (struct slice){ NULL, 0 };
        q.reach = reach_of(p);
        p->reach.before = c->wanted;
        enum err_code rc = page_messages(p, ref, &q, compare_with_cursor, c, e);

        if (rc || !p->reach.partial ||
            (c->matches && slice_eq(c->id, c->wanted) && c->at >= p->most))
            return rc;
    }
}

enum err_code message_page_find(struct message_page *p, const struct session_ref *ref,
                                struct slice id, struct arena *a, struct slice *found, size_t *at,
                                struct err *e)
{
    struct cursor c = { .page = p, .wanted = id, .arena = a };
    enum err_code rc = look_for_cursor(&c, ref, e);
    const char *name = arena_copy(a, id).p;

    if (rc || !name)
        return rc ? rc : err_nomem(e);
    if (!id.n || !c.matches)
        return err_set(e, ERR_NOT_FOUND, name,
                       "read messages: no such message; see reprise messages --plain");
    if (c.matches > 1)
        return err_set(e, ERR_USAGE, name,
                       "read messages: several messages have ids that begin with this");
    *found = c.id;
    *at = c.at;
    return ERR_OK;
}

/* ---- reading a page ---- */

struct ring {
    struct message_page *page;
    struct slice before;
    struct buf *kept; /* NULL: messages are handed over at once */
    size_t seen;
    bool ended; /* the message has come: no more are kept */
    json_fn *fn;
    void *arg;
};

static bool has_id(const char *member, struct slice json, struct slice id)
{
    struct arena scratch = { 0 };
    struct slice own;
    bool is = id.n && json_get_text(json, member, &scratch, &own) && slice_eq(own, id);

    arena_fini(&scratch);
    return is;
}

static enum err_code keep_message(struct slice json, void *arg, struct err *e)
{
    struct ring *r = arg;

    r->ended = r->ended || has_id(id_member(r->page), json, r->before);
    if (r->ended || (r->page->spoken && !message_page_is_spoken(json)))
        return ERR_OK;
    if (!r->kept)
        return r->fn(json, r->arg, e);
    struct buf *to = &r->kept[r->seen++ % r->page->most];

    to->n = 0;
    return buf_add(to, json) ? err_nomem(e) : ERR_OK;
}

enum err_code message_page_read(struct message_page *p, const struct session_ref *ref,
                                struct slice before, json_fn *fn, void *arg, struct err *e)
{
    struct ring r = { .page = p, .before = before, .fn = fn, .arg = arg };

    if (p->most > MESSAGE_PAGE_MOST)
        return err_set(e, ERR_USAGE, "", "read messages: a page has at most %d", MESSAGE_PAGE_MOST);
    if (p->most && !(r.kept = calloc(p->most, sizeof *r.kept)))
        return err_nomem(e);
    struct message_query q = p->query;
    enum err_code rc = ERR_OK;

    /* If rows were added since the message was found, it may be further up than before. */
    for (;; p->reach.least *= REACH_GROWS) {
        r.seen = 0;
        r.ended = false;
        q.reach = reach_of(p);
        p->reach.before = r.before;
        rc = page_messages(p, ref, &q, keep_message, &r, e);
        if (rc || !r.before.n || r.ended || !p->reach.partial)
            break;
    }
    const size_t first = r.seen > p->most ? r.seen - p->most : 0;

    if (p->found)
        *p->found = r.seen - first;
    for (size_t i = first; i < r.seen && !rc; i++)
        rc = fn(buf_slice(&r.kept[i % p->most]), arg, e);
    for (size_t i = 0; r.kept && i < p->most; i++)
        buf_fini(&r.kept[i]);
    free(r.kept);
    return rc;
}

/* ---- reading on ---- */

struct reading_on {
    const struct message_page *page;
    struct slice after;
    bool found;
    json_fn *fn;
    void *arg;
};

static enum err_code pass_later_message(struct slice json, void *arg, struct err *e)
{
    struct reading_on *r = arg;

    if (r->found)
        return r->fn(json, r->arg, e);
    r->found = has_id(id_member(r->page), json, r->after);
    return ERR_OK;
}

enum err_code message_page_after(struct message_page *p, const struct session_ref *ref,
                                 struct slice after, json_fn *fn, void *arg, struct err *e)
{
    struct reading_on r = { .page = p, .after = after, .fn = fn, .arg = arg };
    struct message_query q = p->query;

    p->reach = (struct message_reach){ .least = AFTER_FIRST };
    q.reach = &p->reach;
    for (;; p->reach.least *= REACH_GROWS) {
        p->reach.partial = false;
        TRY(page_messages(p, ref, &q, pass_later_message, &r, e));
        if (r.found || !p->reach.partial)
            return ERR_OK;
    }
}
