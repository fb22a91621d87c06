#include "store/query/listing_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/buf.h"
#include "lite/base/radix.h"
#include "lite/base/time.h"
#include "store/api/store.h"

/* A list must begin to appear before ten thousand transcripts have been read. So it is sorted by
 * what the enumeration provides, and normally a file is read only if its row may be on the page:
 *
 *   enumerate -> sort by id, number the copies -> sort by time -> describe -> filter -> page
 *
 * `order` points into `item`, so no session may be collected between sorting and the walk. Every
 * walk has to meet the copies of a session newest first: the first one that can be listed counts,
 * even if the filter then rejects it, because an older copy must not appear in its place. Orders
 * that need the rows walk in the same way for their keys, and then describe the page once more. */

enum { NS_PER_MS = 1000000, PATIENCE_MS = 1000 };

/* ---- gathering ---- */

bool listing_collect_ref(const struct session_ref *ref, void *arg)
{
    struct listing *l = arg;

    l->ok = array_reserve(l->item, l->cap, l->n + 1);
    if (!l->ok)
        return false;
    struct listing_found *f = &l->item[l->n];

    *f = (struct listing_found){ .ref = *ref, .place = (uint32_t)l->n };
    f->ref.path = arena_copy(&l->arena, ref->path);

    /* Usually the last part of the path begins with the id, which is then not copied again, and
     * the folder is that of the previous item. */
    struct slice path = f->ref.path;
    struct slice id = ref->id;
    const char *slash = path.p ? memrchr(path.p, '/', path.n) : NULL;
    const size_t last_n = slash ? (size_t)(path.p + path.n - slash) - 1 : 0;

    f->ref.id = slash && last_n >= id.n && memcmp(slash + 1, id.p, id.n) == 0
                    ? (struct slice){ slash + 1, id.n }
                    : arena_copy(&l->arena, id);

    f->ref.folder = l->n && slice_eq(l->item[l->n - 1].ref.folder, ref->folder)
                        ? l->item[l->n - 1].ref.folder
                        : arena_copy(&l->arena, ref->folder);
    if (ref->preread.n)
        f->ref.preread = arena_copy(&l->arena, ref->preread);
    l->ok =
        f->ref.path.p && f->ref.id.p && f->ref.folder.p && (!ref->preread.n || f->ref.preread.p);
    l->n += l->ok;
    return l->ok;
}

/* ---- order ---- */

static int compare_found_order(const struct listing_found *a, const struct listing_found *b)
{
    return (a->place > b->place) - (a->place < b->place);
}

static uint64_t recent_key(const struct listing_found *f)
{
    return ~((uint64_t)session_recent_ns(&f->ref) ^ (uint64_t)1 << 63); /* newest first */
}

/* The first bytes of the id. */
static uint64_t id_key(const struct listing_found *f)
{
    return radix_text_key(f->ref.id, 0);
}

static const struct session_ref *listing_ref_at(const void *place)
{
    return *(const struct session_ref *const *)place;
}

/* Newest first. Sessions with equal times are in the order of their system, and those of several stores are grouped by
 * store. */
static int by_recency(const void *x, const void *y)
{
    const struct session_ref *a = listing_ref_at(x), *b = listing_ref_at(y);
    int64_t a_ns = session_recent_ns(a), b_ns = session_recent_ns(b);

    if (a_ns != b_ns)
        return a_ns > b_ns ? -1 : 1;
    if (a->store == b->store) {
        int ids = slice_compare(a->id, b->id);

        if (ids)
            return a->store->ops->ties_ascending ? ids : -ids;
    }
    return compare_found_order(listing_found(a), listing_found(b));
}

/* In all projects, the folders' names decide between copies of a session that are equal otherwise, as on the screen, to
 * which folders come in any order. */
static int by_recency_of_all(const void *x, const void *y)
{
    const struct session_ref *a = listing_ref_at(x), *b = listing_ref_at(y);
    const bool copies = a->store == b->store && session_recent_ns(a) == session_recent_ns(b) &&
                        slice_eq(a->id, b->id);
    const int folders = copies ? slice_compare(a->folder, b->folder) : 0;

    return folders ? folders : by_recency(x, y);
}

static int by_id_and_store(const void *x, const void *y)
{
    const struct session_ref *a = listing_ref_at(x), *b = listing_ref_at(y);
    int ids = slice_compare(a->id, b->id);

    if (ids)
        return ids;
    if (a->store != b->store)
        return a->store < b->store ? -1 : 1;
    return compare_found_order(listing_found(a), listing_found(b));
}

struct sorter {
    uint64_t *item, *spare;
};

/* Sorts by a number, which almost always decides; items with equal numbers are compared in full. */
static void listing_sort_by(struct listing *l, const struct sorter *s,
                            uint64_t key_of(const struct listing_found *f),
                            int compare(const void *x, const void *y))
{
    unsigned bits = radix_value_bits(l->n);

    for (size_t i = 0; i < l->n; i++) {
        s->spare[i] = key_of(&l->item[i]);
        s->item[i] = i;
    }
    radix_pack(s->item, s->spare, l->n, bits);
    radix_sort(s->item, s->spare, l->n);
    for (size_t i = 0; i < l->n; i++)
        l->order[i] = &l->item[s->item[i] & (((uint64_t)1 << bits) - 1)].ref;
    for (size_t i = 0, end; i < l->n; i = end) {
        for (end = i + 1; end < l->n && s->item[end] >> bits == s->item[i] >> bits;)
            end++;
        if (end - i > 1)
            qsort(l->order + i, end - i, sizeof *l->order, compare);
    }
}

static struct listing_found *found_at(struct listing *l, size_t i)
{
    return &l->item[listing_found(l->order[i])->place];
}

/* A session that is here and in the store of a team is one session. */
static void join_places(struct listing *l, size_t first, size_t end)
{
    struct listing_found *here = NULL, *there = NULL;

    for (size_t i = first; i < end; i++) {
        struct listing_found *f = found_at(l, i),
                             **place = f->ref.store->ops->remote ? &there : &here;

        *place = *place ? *place : f;
    }
    if (!here || !there)
        return;
    l->groups++;
    for (size_t i = first; i < end; i++) {
        struct listing_found *f = found_at(l, i);

        f->group = l->groups;
        f->other = f->ref.store->ops->remote ? &here->ref : &there->ref;
        f->ref.also = f->other->store;
    }
}

/* Numbers the ids that were found more than once; equal ids are adjacent. */
static void number_groups(struct listing *l)
{
    size_t first = 0;

    for (size_t i = 1; i <= l->n; i++) {
        bool same_id = i < l->n && slice_eq(l->order[i - 1]->id, l->order[i]->id);

        if (same_id && l->order[i - 1]->store == l->order[i]->store) {
            struct listing_found *before = found_at(l, i - 1);

            if (before->group == LISTING_NO_GROUP)
                before->group = ++l->groups;
            found_at(l, i)->group = before->group;
        }
        if (same_id)
            continue;
        if (i - first > 1)
            join_places(l, first, i);
        first = i;
    }
}

bool listing_put_in_order(struct listing *l)
{
    struct sorter s = { .item = calloc(l->n + 1, sizeof *s.item),
                        .spare = calloc(l->n + 1, sizeof *s.spare) };

    free(l->order);
    free(l->listed);
    l->listed = NULL;
    l->groups = 0;
    l->order = calloc(l->n + 1, sizeof *l->order);
    if (s.item && s.spare && l->order && l->n < UINT32_MAX) {
        listing_sort_by(l, &s, id_key, by_id_and_store);
        number_groups(l);
        listing_sort_by(l, &s, recent_key, l->q.scope.all ? by_recency_of_all : by_recency);
        l->listed = calloc(l->groups + 1, sizeof *l->listed);
    }
    free(s.item);
    free(s.spare);
    return l->listed != NULL;
}

static struct listing *new_listing(const struct listing_query *q)
{
    struct listing *l = calloc(1, sizeof *l);

    if (l) {
        l->q = *q;
        l->ok = true;
        pthread_mutex_init(&l->lock, NULL);
        pthread_cond_init(&l->answer, NULL);

        /* What a server need not send for this page. Its clock may differ a little from that of
         * the messages. */
        enum { HOUR_MS = 60 * 60 * 1000, MORE = 16 };
        const bool newest = l->q.sort == LISTING_RECENT || l->q.sort == LISTING_MODIFIED;

        if (l->q.since_ms != TIME_NONE && l->q.since_ms > HOUR_MS)
            l->q.scope.stored_since_ms = l->q.since_ms - HOUR_MS;
        else if (newest && l->q.limit > 0 && !l->q.tag.n && !l->q.branch.n && !l->q.archived &&
                 l->q.before_ms == TIME_NONE) /* rows are also made ahead, and some are not shown */
            l->q.scope.newest =
                (size_t)l->q.offset + listing_ahead(&l->q) + (size_t)l->q.limit + MORE;
        if (l->q.scope.newest && l->q.scope.newest < LISTING_FEW && l->q.sort == LISTING_RECENT)
            l->q.scope.newest = LISTING_FEW;
    }
    return l;
}

enum err_code listing_open(struct store *const stores[], size_t n, const struct listing_query *q,
                           struct listing **out, struct err *e)
{
    struct listing *l = new_listing(q);
    size_t here = 0;

    if (!l)
        return err_nomem(e);
    for (size_t i = 0; i < n; i++)
        here += !stores[i]->ops->remote;
    enum err_code rc = q->here && here ? ERR_OK : listing_ask_servers(l, stores, n, e);

    for (size_t i = 0; !rc && l->ok && i < n; i++)
        if (stores[i]->ops->enumerate && !stores[i]->ops->remote)
            rc = stores[i]->ops->enumerate(stores[i], &l->q.scope, listing_collect_ref, l, e);
    if (!rc && l->ok)
        rc = listing_await(l, q->late && l->n ? PATIENCE_MS : -1, &(struct idset){ 0 }, e);
    if (!rc && (!l->ok || !listing_put_in_order(l)))
        rc = err_nomem(e);
    if (rc)
        listing_close(l);
    else
        *out = l;
    return rc;
}

void listing_close(struct listing *l)
{
    if (!l)
        return;
    listing_servers_free(l);
    free(l->listed);
    free(l->order);
    free(l->item);
    arena_fini(&l->arena);
    free(l);
}

const struct session_ref *const *listing_refs(const struct listing *l, size_t *n)
{
    *n = l->n;
    return l->order;
}

bool listing_has_copies(const struct session_ref *ref)
{
    return listing_found(ref)->group != LISTING_NO_GROUP;
}

/* ---- which rows are wanted ---- */

/* No message of the session can be newer: the last change of its file, whatever its times were set to since. */
int64_t listing_newest_possible_ms(const struct session_ref *ref)
{
    int64_t ns = session_recent_ns(ref);

    ns = ref->file.mtime_ns > ns ? ref->file.mtime_ns : ns;
    ns = ref->file.ctime_ns > ns ? ref->file.ctime_ns : ns;
    return ns / NS_PER_MS + 1;
}

bool listing_wants_time(const struct listing_query *q, const struct session_ref *ref)
{
    return q->since_ms == TIME_NONE || listing_newest_possible_ms(ref) >= q->since_ms;
}

bool listing_wants_row(const struct listing_query *q, const struct session_row *row)
{
    int64_t ms = row->activity_ms == TIME_NONE ? row->modified_ms : row->activity_ms;

    return row->hidden == HIDDEN_NOT && session_tags_include(row->tag, q->tag) &&
           (!q->branch.n || slice_eq(q->branch, row->git_branch)) &&
           (!q->archived || (row->flags & SESSION_ARCHIVED)) &&
           (q->before_ms == TIME_NONE || ms < q->before_ms) &&
           (q->since_ms == TIME_NONE || ms >= q->since_ms);
}

/* The walk is newest first, and the first copy that can be listed stands for all of them. */
bool listing_take(struct listing *l, const struct session_ref *ref)
{
    size_t group = listing_found(ref)->group;
    bool taken = l->listed[group];

    l->listed[group] = group != LISTING_NO_GROUP;
    return !taken;
}

void listing_report_damaged(const struct listing_query *q, const struct session_row *row)
{
    if (row && (row->hidden == HIDDEN_DAMAGED || row->hidden == HIDDEN_UNREADABLE) && q->damaged)
        q->damaged(row, q->damaged_arg);
}

bool listing_is_listed(struct listing *l, const struct session_ref *ref,
                       const struct session_row *row)
{
    if (!row || row->hidden != HIDDEN_NOT)
        return false;

    /* If a session is in two places, the one with the newer last message is shown, else the local one. */
    const struct session_ref *copy = listing_found(ref)->other;

    if (copy) {
        CLEANUP(session_row_free_at) struct session_row *other = session_row_new();

        if (other && !copy->store->ops->describe(copy->store, &l->q.scope, copy, other, NULL) &&
            other->hidden == HIDDEN_NOT &&
            (other->activity_ms > row->activity_ms ||
             (ref->store->ops->remote && other->activity_ms == row->activity_ms)))
            return false;
    }
    return listing_take(l, ref) && listing_wants_row(&l->q, row);
}

/* ---- the page, newest first ---- */

bool listing_on_page(struct listing_walk *w)
{
    const struct listing_query *q = &w->l->q;
    int64_t offset = q->offset > 0 ? q->offset : 0;
    int64_t place = w->passed++;

    w->full = q->limit > 0 && w->passed - offset >= q->limit;
    return place >= offset;
}

static enum err_code visit_newest(size_t i, struct session_row *row, void *arg, struct err *e)
{
    struct listing_walk *w = arg;
    enum err_code rc = ERR_OK;

    listing_report_damaged(&w->l->q, row);
    if (listing_is_listed(w->l, w->order[i], row) && listing_on_page(w))
        rc = w->fn(row, w->arg, e);
    return !rc && w->full ? ERR_CANCELLED : rc;
}

/* The number of rows that may be made ahead, so that a short page is not exceeded by much. */
size_t listing_ahead(const struct listing_query *q)
{
    int64_t offset = q->offset > 0 ? q->offset : 0;

    if (q->limit <= 0 || q->limit > DESCRIBE_POOL_AHEAD || offset > DESCRIBE_POOL_AHEAD)
        return DESCRIBE_POOL_AHEAD;
    return (size_t)(offset + q->limit);
}

/* ---- other orders: each row is described for its key, and the rows of the page again ---- */

struct key {
    const struct session_ref *ref;
    int64_t number;
    struct slice text;
    size_t place;
};

struct sorting {
    struct listing *l;
    const struct session_ref *const *order;
    struct arena texts;
    struct key *key;
    size_t n;
    session_row_fn *fn;
    void *arg;
};

static enum err_code visit_for_key(size_t i, struct session_row *row, void *arg, struct err *e)
{
    struct sorting *s = arg;

    listing_report_damaged(&s->l->q, row);
    if (!listing_is_listed(s->l, s->order[i], row))
        return ERR_OK;
    struct key *key = &s->key[s->n];

    *key = (struct key){ .ref = s->order[i], .place = s->n++ };
    switch (s->l->q.sort) {
    case LISTING_CREATED: key->number = row->created_ms; break;
    case LISTING_SIZE: key->number = row->ref.file.size; break;
    default: key->text = arena_copy(&s->texts, row->summary);
    }
    if (s->l->q.sort == LISTING_TITLE && !key->text.p)
        return err_nomem(e);
    return ERR_OK;
}

static int listing_by_key(const void *x, const void *y)
{
    const struct key *a = x, *b = y;
    int texts;

    if (a->number != b->number)
        return a->number < b->number ? 1 : -1;
    texts = slice_compare(a->text, b->text);
    return texts ? texts : (a->place > b->place) - (a->place < b->place);
}

static enum err_code visit_sorted(size_t i, struct session_row *row, void *arg, struct err *e)
{
    struct sorting *s = arg;

    (void)i;
    return row && row->hidden == HIDDEN_NOT ? s->fn(row, s->arg, e) : ERR_OK;
}

static enum err_code page_of_sorted(struct sorting *s, const struct session_ref **order,
                                    struct err *e)
{
    const struct listing_query *q = &s->l->q;
    size_t first = q->offset > 0 ? (size_t)q->offset : 0, n;

    if (s->n)
        qsort(s->key, s->n, sizeof *s->key, listing_by_key);
    if (first > s->n)
        first = s->n;
    n = s->n - first;
    if (q->limit > 0 && (uint64_t)q->limit < n)
        n = (size_t)q->limit;
    for (size_t i = 0; i < n; i++)
        order[i] = s->key[first + i].ref;
    return describe_pool_run(&q->scope, order, n, DESCRIBE_POOL_AHEAD, visit_sorted, s, e);
}

static enum err_code sorted(struct listing *l, const struct session_ref **order, size_t n,
                            session_row_fn *fn, void *arg, struct err *e)
{
    struct sorting s = { .l = l, .order = order, .fn = fn, .arg = arg };
    enum err_code rc;

    s.key = calloc(n + 1, sizeof *s.key);
    if (!s.key)
        return err_nomem(e);
    rc = describe_pool_run(&l->q.scope, order, n, DESCRIBE_POOL_AHEAD, visit_for_key, &s, e);
    if (!rc)
        rc = page_of_sorted(&s, order, e);
    free(s.key);
    arena_fini(&s.texts);
    return rc;
}

enum err_code listing_each(struct listing *l, session_row_fn *fn, void *arg, struct err *e)
{
    const struct session_ref **order = calloc(l->n + 1, sizeof *order);
    enum err_code rc;

    if (!order)
        return err_nomem(e);

    /* Sessions whose time cannot match are not described. */
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        if (l->n <= LISTING_FEW || listing_wants_time(&l->q, l->order[i]))
            order[n++] = l->order[i];

    memset(l->listed, 0, (l->groups + 1) * sizeof *l->listed);
    if (l->q.sort == LISTING_RECENT)
        rc = listing_page_by_message(l, order, n, fn, arg, e);
    else if (l->q.sort == LISTING_MODIFIED) {
        struct listing_walk w = { .l = l, .order = order, .fn = fn, .arg = arg };

        rc = describe_pool_run(&l->q.scope, order, n, listing_ahead(&l->q), visit_newest, &w, e);
        if (rc == ERR_CANCELLED && w.full)
            rc = ERR_OK;
    } else
        rc = sorted(l, order, n, fn, arg, e);
    free(order);
    return rc;
}

/* ---- copies ---- */

struct shown_copy {
    const struct session_ref *copy, *shown;
    size_t n;
};

static enum err_code note_shown_copy(const struct session_row *row, void *arg, struct err *e)
{
    struct shown_copy *s = arg;

    (void)e;
    for (size_t i = 0; i < s->n && !s->shown; i++)
        if (s->copy[i].store == row->ref.store && slice_eq(s->copy[i].path, row->ref.path))
            s->shown = &s->copy[i];
    return ERR_OK;
}

enum err_code listing_shown_copy(const struct session_ref *copy, size_t n,
                                 const struct scope *scope, const struct session_ref **shown,
                                 struct err *e)
{
    const struct listing_query q = {
        .scope = *scope, .limit = 1, .since_ms = TIME_NONE, .before_ms = TIME_NONE
    };
    struct shown_copy s = { .copy = copy, .n = n };
    struct listing *l = new_listing(&q);
    enum err_code rc = ERR_OK;

    for (size_t i = 0; l && l->ok && i < n; i++)
        listing_collect_ref(&copy[i], l);
    if (!l || !l->ok || !listing_put_in_order(l))
        rc = err_nomem(e);
    else
        rc = listing_each(l, note_shown_copy, &s, e);
    listing_close(l);
    if (!rc)
        *shown = s.shown;
    return rc;
}
