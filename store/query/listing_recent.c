#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "store/query/listing_internal.h"

/* A message is not newer than the last change of its file. So sessions are described in the order of these changes, and
 * a row is delivered as soon as its message is newer than all changes that are left. */

struct waiting {
    struct session_row *row;       /* owned; NULL: the text is kept instead */
    struct slice text;             /* owned */
    const struct session_ref *ref; /* borrowed */
    int64_t ms;
};

struct bounded {
    const struct session_ref *ref;
    int64_t bound_ms; /* no copy of the session has a later time */
    size_t place;     /* in the order of files */
};

struct by_message {
    struct listing_walk walk;
    struct bounded *item;
    size_t n;
    struct waiting *heap; /* the newest first */
    size_t waiting, cap;
    struct buf text; /* the text of the row that is kept next */
};

/* The copies of a session stay together, in the order of their files, because the first one that can be listed counts. */
static int by_bound(const void *x, const void *y)
{
    const struct bounded *a = x, *b = y;

    if (a->bound_ms != b->bound_ms)
        return a->bound_ms > b->bound_ms ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* Sessions with equal times are in the order of their ids, as on the screen, whatever the times of their files are; those
 * of equal ids in that of their stores. */
static bool waits_before(const struct waiting *a, const struct waiting *b)
{
    const struct session_ref *x = a->ref, *y = b->ref;

    if (a->ms != b->ms)
        return a->ms > b->ms;
    const bool ascending = x->store->ops->ties_ascending;
    const int ids = slice_compare(x->id, y->id);

    if (ascending != y->store->ops->ties_ascending)
        return !ascending;
    if (ids)
        return ascending ? ids < 0 : ids > 0;
    return listing_found(x)->place < listing_found(y)->place;
}

static void free_waiting(struct waiting *w)
{
    session_row_free(w->row);
    free((char *)w->text.p);
}

static enum err_code push_waiting(struct by_message *m, struct waiting w)
{
    if (!array_reserve(m->heap, m->cap, m->waiting + 1))
        return ERR_NOMEM;
    size_t i = m->waiting++;

    for (; i > 0 && waits_before(&w, &m->heap[(i - 1) / 2]); i = (i - 1) / 2)
        m->heap[i] = m->heap[(i - 1) / 2];
    m->heap[i] = w;
    return ERR_OK;
}

static struct waiting pop_waiting(struct by_message *m)
{
    struct waiting first = m->heap[0], last = m->heap[--m->waiting];
    size_t i = 0;

    for (size_t child; (child = 2 * i + 1) < m->waiting; i = child) {
        if (child + 1 < m->waiting && waits_before(&m->heap[child + 1], &m->heap[child]))
            child++;
        if (!waits_before(&m->heap[child], &last))
            break;
        m->heap[i] = m->heap[child];
    }
    if (m->waiting)
        m->heap[i] = last;
    return first;
}

/* Keeps a row until it is due: as its text, or by exchanging it for a new one. */
static enum err_code keep_waiting(struct by_message *m, struct session_row *row, struct waiting w)
{
    const struct listing_texts *texts = m->walk.l->q.texts;
    enum err_code rc = ERR_OK;

    if (texts) {
        m->text.n = 0;
        rc = texts->make(row, &m->text, m->walk.arg);
        char *p = rc ? NULL : malloc(m->text.n + 1);

        if (!p)
            return ERR_NOMEM;
        memcpy(p, m->text.p, m->text.n);
        w.text = (struct slice){ p, m->text.n };
    } else {
        w.row = session_row_new();
        if (!w.row)
            return ERR_NOMEM;
        /* The caller reuses its row, so the row that is kept changes places with an empty one. */
        const struct session_row kept = *row;

        *row = *w.row;
        *w.row = kept;
    }
    rc = push_waiting(m, w);
    if (rc)
        free_waiting(&w);
    return rc;
}

/* Delivers the rows that no session with this bound, or a lower one, can precede. */
static enum err_code deliver_waiting(struct by_message *m, int64_t bound_ms, struct err *e)
{
    enum err_code rc = ERR_OK;

    while (!rc && !m->walk.full && m->waiting && m->heap[0].ms > bound_ms) {
        struct waiting w = pop_waiting(m);

        if (listing_on_page(&m->walk))
            rc = w.row ? m->walk.fn(w.row, m->walk.arg, e)
                       : m->walk.l->q.texts->write(w.text, m->walk.arg, e);
        free_waiting(&w);
    }
    return rc;
}

/* Most rows are newer than all changes that are left, and are delivered at once. */
static enum err_code visit_by_message(size_t i, struct session_row *row, void *arg, struct err *e)
{
    struct by_message *m = arg;
    const bool in_order = i + 1 < m->n && m->n > LISTING_FEW;
    const int64_t bound_ms = in_order ? m->item[i + 1].bound_ms : INT64_MAX;
    enum err_code rc = ERR_OK;

    listing_report_damaged(&m->walk.l->q, row);
    if (listing_is_listed(m->walk.l, m->item[i].ref, row)) {
        struct waiting w = { .ref = m->item[i].ref };

        w.ms = row->activity_ms == TIME_NONE ? row->modified_ms : row->activity_ms;
        if (w.ms > bound_ms && (!m->waiting || waits_before(&w, &m->heap[0]))) {
            if (listing_on_page(&m->walk))
                rc = m->walk.fn(row, m->walk.arg, e);
        } else if (keep_waiting(m, row, w)) {
            return err_nomem(e);
        }
    }
    if (!rc && in_order)
        rc = deliver_waiting(m, bound_ms, e);
    return !rc && m->walk.full ? ERR_CANCELLED : rc;
}

static enum err_code set_bounds(struct by_message *m, const struct session_ref **order,
                                struct err *e)
{
    const struct listing *l = m->walk.l;
    int64_t *of_group = calloc(l->groups + 1, sizeof *of_group);

    if (!of_group)
        return err_nomem(e);
    for (size_t i = 0; i < m->n; i++) {
        size_t group = listing_found(order[i])->group;

        m->item[i] = (struct bounded){ order[i], listing_newest_possible_ms(order[i]), i };
        if (group != LISTING_NO_GROUP && m->item[i].bound_ms > of_group[group])
            of_group[group] = m->item[i].bound_ms;
    }
    for (size_t i = 0; i < m->n; i++)
        if (listing_found(order[i])->group != LISTING_NO_GROUP)
            m->item[i].bound_ms = of_group[listing_found(order[i])->group];
    free(of_group);
    if (m->n)
        qsort(m->item, m->n, sizeof *m->item, by_bound);
    for (size_t i = 0; i < m->n; i++)
        order[i] = m->item[i].ref;
    return ERR_OK;
}

enum err_code listing_page_by_message(struct listing *l, const struct session_ref **order, size_t n,
                                      session_row_fn *fn, void *arg, struct err *e)
{
    struct by_message m = { .walk = { .l = l, .fn = fn, .arg = arg }, .n = n };
    /* All of a few are described, however short the page is. */
    const size_t ahead = n > LISTING_FEW ? listing_ahead(&l->q) : DESCRIBE_POOL_AHEAD;
    enum err_code rc;

    m.item = calloc(n + 1, sizeof *m.item);
    rc = m.item ? set_bounds(&m, order, e) : err_nomem(e);
    if (!rc)
        rc = describe_pool_run(&l->q.scope, order, n, ahead, visit_by_message, &m, e);
    if (!rc)
        rc = deliver_waiting(&m, INT64_MIN, e);
    if (rc == ERR_CANCELLED && m.walk.full)
        rc = ERR_OK;
    while (m.waiting)
        free_waiting(&m.heap[--m.waiting]);
    buf_fini(&m.text);
    free(m.heap);
    free(m.item);
    return rc;
}
