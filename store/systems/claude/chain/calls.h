#ifndef STORE_SYSTEMS_CLAUDE_CHAIN_CALLS_H
#define STORE_SYSTEMS_CLAUDE_CHAIN_CALLS_H

#include "store/systems/claude/chain/log.h"

/* The API message to which each assistant row belongs, and the row that made each tool call. */

struct claude_assistant_row {
    struct id128 message; /* message.id */
    struct id128 side;    /* isSidechain and agentId as one value */
    uint32_t node;        /* in the order in which the ids appear in the file */
};

struct claude_call {
    struct id128 tool;
    uint32_t assistant_row; /* index; CHAIN_NONE: rows of several messages claim it */
};

struct claude_calls {
    struct claude_assistant_row *assistant_row; /* owned; by node */
    size_t assistant_rows, assistant_row_cap;
    uint32_t *by_message;     /* owned; indexes of assistant rows, by message and then by node */
    struct claude_call *call; /* owned; one for each tool id, sorted */
    size_t n, cap;
};

/* Reads every assistant row of the chain. On failure nothing is left to free. */
MUST_CHECK enum err_code claude_calls_read(struct claude_calls *calls, struct claude_log *log,
                                           struct err *e);
void claude_calls_fini(struct claude_calls *calls);
/* The row of a node, or NULL if it has no message id. */
const struct claude_assistant_row *claude_assistant_row_of(const struct claude_calls *calls,
                                                           uint32_t node);
/* The row that made a tool call, or NULL if no row did, or several. */
const struct claude_assistant_row *claude_call_owner(const struct claude_calls *calls,
                                                     struct id128 tool);
/* The rows of one message: indexes [*from, *to) of by_message. */
void claude_message_rows(const struct claude_calls *calls, struct id128 message, size_t *from,
                         size_t *to);
/* isSidechain and agentId as one value. Rows with different values never belong together. */
struct id128 claude_side_of(struct claude_log *log, struct slice row);

#endif
