#ifndef STORE_SYSTEMS_CLAUDE_SHOW_ITEM_LIST_H
#define STORE_SYSTEMS_CLAUDE_SHOW_ITEM_LIST_H

#include "store/systems/claude/chain/leaf.h"
#include "store/systems/claude/chain/log.h"

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
    /* a row that was made up, in the arena of the log; empty: that of the line */
    struct slice made;
    uint32_t line;
    uint16_t marks; /* enum claude_mark and enum claude_kind, of the row */
    uint8_t kind;
    uint8_t flags;
};

struct claude_item_list {
    struct claude_item *item; /* owned */
    size_t n, cap;
};

MUST_CHECK enum err_code claude_item_list_add(struct claude_item_list *list,
                                              const struct claude_item *item);
MUST_CHECK enum err_code claude_item_list_add_line(struct claude_item_list *list,
                                                   const struct claude_log *log, uint32_t line,
                                                   unsigned flags);
/* A made-up row, copied into the arena of the log; it speaks from the place of `line`. */
MUST_CHECK enum err_code claude_item_list_add_made(struct claude_item_list *list,
                                                   struct claude_log *log, uint32_t line,
                                                   struct slice row, struct err *e);
void claude_item_list_fini(struct claude_item_list *list);
/* The bytes of an item's row, valid until the next row is read from the log. */
MUST_CHECK enum err_code claude_item_row(struct claude_log *log, const struct claude_item *item,
                                         struct slice *row, struct err *e);
struct claude_rows;
/* The rows of a list for claude_leaving_init; borrows it. */
struct claude_list_rows {
    struct claude_log *log;
    const struct claude_item_list *list;
    const atomic_bool *stop; /* may be NULL: ERR_CANCELLED once it is set */
};
struct claude_rows claude_list_rows(struct claude_list_rows *rows);
/* The uuid of an item's row. */
struct id128 claude_item_id(struct claude_log *log, const struct claude_item *item);

/* messages.c: the rows that a resume walks through, in order; what of them it does not load is in too. */
MUST_CHECK enum err_code claude_resume_list(struct claude_log *log, struct claude_item_list *list,
                                            struct err *e);
/* parallel.c: tool calls that ran side by side hang on one API message, and the way up from the leaf
 * passes only one of them. Puts the others behind it. path holds nodes marked NODE_LISTED and is
 * replaced; what is added is marked too. */
MUST_CHECK enum err_code claude_parallel(struct claude_log *log, uint32_t **path, size_t *n,
                                         struct err *e);
/* trailing.c: adds the queued commands that hang behind the leaf and were never answered. */
MUST_CHECK enum err_code claude_trailing(struct claude_log *log, uint32_t leaf,
                                         struct claude_item_list *list, struct err *e);
/* delivered.c: finds out from the queue rows which queued commands reached the agent. */
MUST_CHECK enum err_code claude_delivered(struct claude_log *log, struct claude_item_list *list,
                                          struct err *e);
/* select_items.c: decides which items come out and as what, in order, until `most` of
 * them do; SIZE_MAX: all. */
struct claude_leaving;
struct claude_item_filter {
    bool agent;           /* a sub-agent's conversation: meta and sidechain rows stay */
    bool system_messages; /* system rows come out too */
    size_t most;
    /* of the list: what a resume does not load; NULL: all comes out */
    struct claude_leaving *leaving;
};
MUST_CHECK enum err_code claude_select_items(struct claude_log *log, struct claude_item_list *list,
                                             const struct claude_item_filter *how,
                                             struct claude_item_list *out, struct err *e);
/* queued.c: the user row as which a queued command comes out. *plain: it does not, because it was meant
 * for somebody else or its id is taken. ids are those of the conversation. */
MUST_CHECK enum err_code claude_queued_row(struct claude_log *log, const struct claude_item *item,
                                           bool agent, struct idset *ids, struct buf *out,
                                           bool *plain, struct err *e);
/* host_rows.c: what a host program ran in the agent's name. The first puts its rows in, the second
 * (host_hidden_calls.c) takes out what it hid; both do nothing unless a row says that a host took part. */
MUST_CHECK enum err_code claude_host_insert(struct claude_log *log, struct claude_item_list *list,
                                            struct err *e);
MUST_CHECK enum err_code claude_host_hide_calls(struct claude_log *log,
                                                struct claude_item_list *list, struct err *e);
/* host_lines.c: the second half of claude_host_insert. */
MUST_CHECK enum err_code claude_host_lines(struct claude_log *log, struct claude_item_list *list,
                                           struct err *e);
/* A row may be one of a host's, by its marks alone. */
bool claude_host_marked(const struct claude_item *item);
bool claude_host_took_part(const struct claude_item_list *list);
/* An assistant row by which a host hides calls or whose call a host ran. */
bool claude_is_host_row(struct slice row);

#endif
