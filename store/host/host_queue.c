#include "store/host/host_queue.h"

#include <stdlib.h>
#include <string.h>

struct item *queue_item(enum item_kind kind, struct slice key, struct slice row)
{
    struct item *x = malloc(sizeof *x + key.n + row.n);

    if (!x)
        return NULL;
    *x = (struct item){ .kind = kind,
                        .row = { x->bytes + key.n, row.n },
                        .key = { x->bytes, key.n } };
    if (key.n)
        memcpy(x->bytes, key.p, key.n);
    if (row.n)
        memcpy(x->bytes + key.n, row.p, row.n);
    return x;
}

void queue_add(struct queue *q, struct item *x)
{
    if (!q->first)
        q->last = &q->first;
    *q->last = x;
    q->last = &x->next;
    q->n++;
    q->bytes += x->row.n;
}

void queue_add_setting(struct queue *q, struct item *x)
{
    struct item **at = &q->first;

    while (*at && (*at)->kind == ITEM_SETTING)
        at = &(*at)->next;
    if (!*at) {
        queue_add(q, x);
        return;
    }
    x->next = *at;
    *at = x;
    q->n++;
    q->bytes += x->row.n;
}

void queue_remove_first(struct queue *q)
{
    struct item *x = q->first;

    q->first = x->next;
    q->n--;
    q->bytes -= x->row.n;
    free(x);
}

void queue_move(struct queue *from, struct queue *to)
{
    if (!from->first)
        return;
    if (!to->first)
        to->last = &to->first;
    *to->last = from->first;
    to->last = from->last;
    to->n += from->n;
    to->bytes += from->bytes;
    *from = (struct queue){ 0 };
}

void queue_clear(struct queue *q)
{
    while (q->first)
        queue_remove_first(q);
}
