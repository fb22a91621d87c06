#ifndef STORE_HOST_HOST_QUEUE_H
#define STORE_HOST_HOST_QUEUE_H

#include <stddef.h>

#include "lite/base/slice.h"

/* The rows and settings that an open session has not written yet, in order. Items are allocated with malloc and belong
 * to their queue. A zeroed struct is empty. */
enum item_kind { ITEM_ROW, ITEM_SAVED_ROW, ITEM_STREAM_ROW, ITEM_SETTING };

struct item {
    struct item *next;
    enum item_kind kind;
    struct slice row; /* or the value of a setting */
    struct slice key;
    char bytes[];
};

struct queue {
    struct item *first, **last;
    size_t n, bytes;
};

/* Copies the texts. NULL if out of memory. */
struct item *queue_item(enum item_kind kind, struct slice key, struct slice row);
void queue_add(struct queue *q, struct item *x);
/* Adds a setting before the first row, because the settings of a new session are written before its rows. */
void queue_add_setting(struct queue *q, struct item *x);
void queue_remove_first(struct queue *q);
/* Adds all items of one queue to another. */
void queue_move(struct queue *from, struct queue *to);
void queue_clear(struct queue *q);

#endif
