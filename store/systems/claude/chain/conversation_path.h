#ifndef STORE_SYSTEMS_CLAUDE_CHAIN_CONVERSATION_PATH_H
#define STORE_SYSTEMS_CLAUDE_CHAIN_CONVERSATION_PATH_H

#include "store/systems/claude/chain/leaf.h"

/* The way from the beginning of a conversation to one of its ends, as a person reads it: also across compaction
 * boundaries, and where the chain is broken on as the client goes on, or with the row before in the file. Its nodes are marked NODE_LISTED. */
struct claude_conversation_path {
    struct claude_log log;
    uint32_t *path; /* owned; nodes, oldest first */
    size_t n, cap;
    uint8_t *gap;            /* owned; by node: its parent is missing */
    struct claude_gaps gaps; /* while it is gone */
    bool partial;            /* only the end of the file was read */
    uint32_t leaf;           /* what a resume goes on from; CHAIN_NONE: there is nothing */
    bool cleared; /* it goes on with an empty conversation: the leaf is where that one ended */
};

/* Opens the log and finds the leaf; nothing is marked yet. On failure nothing is left open. */
MUST_CHECK enum err_code claude_conversation_path_open(struct claude_conversation_path *way,
                                                       const char *path,
                                                       const struct claude_log_want *want,
                                                       struct err *e);
void claude_conversation_path_close(struct claude_conversation_path *way);
/* Goes to this end; what was marked before no longer is. */
MUST_CHECK enum err_code claude_conversation_path_go_to(struct claude_conversation_path *way,
                                                        uint32_t leaf, struct err *e);
/* A message of the conversation, not of a sub-agent, that is not on the way. */
bool claude_conversation_path_lacks(const struct claude_conversation_path *way, uint32_t node);

#endif
