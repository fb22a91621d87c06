#ifndef STORE_SYSTEMS_CLAUDE_LIST_H
#define STORE_SYSTEMS_CLAUDE_LIST_H

#include "store/systems/claude/leaf.h"
#include "store/systems/claude/log.h"

/* The rows of a conversation in the order in which they are shown, before it is decided which of them
 * come out and as what. */

enum claude_item_flags {
    ITEM_TRAILING = 1 << 0,  /* a queued command that hangs behind the leaf */
    ITEM_COMPLETED = 1 << 1, /* belongs to a local command that ran */
    ITEM_REACHED = 1 << 2,   /* queue rows say that this queued command reached the agent ... */
    ITEM_MISSED = 1 << 3,    /* ... or that another copy of it did */
    ITEM_QUEUED = 1 << 4,    /* comes out as the prompt it carries */
};

struct claude_item {
    struct slice
        made; /* a row that was made up, in the arena of the log; empty: that of the line */
    uint32_t line;
    uint8_t flags;
};

struct claude_list {
    struct claude_item *item; /* owned */
    size_t n, cap;
};

MUST_CHECK enum err_code claude_list_add(struct claude_list *list, const struct claude_item *item);
void claude_list_fini(struct claude_list *list);
/* The bytes of an item's row, valid until the next row is read from the log. */
MUST_CHECK enum err_code claude_item_row(struct claude_log *log, const struct claude_item *item,
                                         struct slice *row, struct err *e);

/* parallel.c: tool calls that ran side by side hang on one API message, and the way up from the leaf
 * passes only one of them. Puts the others behind it. path holds nodes marked NODE_LISTED and is
 * replaced; what is added is marked too. */
MUST_CHECK enum err_code claude_parallel(struct claude_log *log, uint32_t **path, size_t *n,
                                         struct err *e);
/* trailing.c: adds the queued commands that hang behind the leaf and were never answered. */
MUST_CHECK enum err_code claude_trailing(struct claude_log *log, uint32_t leaf,
                                         struct claude_list *list, struct err *e);
/* delivered.c: finds out from the queue rows which queued commands reached the agent. */
MUST_CHECK enum err_code claude_delivered(struct claude_log *log, struct claude_list *list,
                                          struct err *e);

#endif
