#ifndef STORE_API_MESSAGE_PAGE_H
#define STORE_API_MESSAGE_PAGE_H

#include <stddef.h>

#include "store/api/store.h"

/* The part [*from, *to) of n messages that a query asks for, as JavaScript's slice counts: a negative place is one from
 * the end. */
void message_page_range(const struct message_query *q, size_t n, size_t *from, size_t *to);

#endif
