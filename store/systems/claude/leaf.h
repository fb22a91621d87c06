#ifndef STORE_SYSTEMS_CLAUDE_LEAF_H
#define STORE_SYSTEMS_CLAUDE_LEAF_H

#include "store/systems/claude/log.h"

/* Where a conversation ends. Two readers of the same file answer this differently. */

/* The vendor SDK: the last message in the file that nothing of the main conversation follows; prompts and
 * last-prompt rows play no part (claude.md 3.3). CHAIN_NONE: there is no message at all. */
MUST_CHECK enum err_code claude_message_leaf(struct claude_log *log, uint32_t *leaf, struct err *e);
/* The same, and the row without followers from which one comes to it; CHAIN_NONE: no such row leads to a message. */
MUST_CHECK enum err_code claude_message_end(struct claude_log *log, uint32_t *leaf,
                                            uint32_t *terminal, struct err *e);

/* The client when it resumes: the row that the last last-prompt row names, or what came to follow it
 * later (claude-client.md 4). CHAIN_NONE: there is no row, or (*cleared) that row says that the conversation
 * begins anew, and nothing has come since. */
MUST_CHECK enum err_code claude_resume_leaf(struct claude_log *log, uint32_t *leaf, bool *cleared,
                                            struct err *e);

/* Part of the main conversation: no sub-agent's, no team member's, no progress note, no briefing. */
MUST_CHECK enum err_code claude_is_main(struct claude_log *log, uint32_t node, bool *is,
                                        struct err *e);

/* The row that came before, also across a compaction boundary; CHAIN_NONE at the beginning and where
 * the file does not hold it. */
MUST_CHECK enum err_code claude_before(struct claude_log *log, uint32_t node, uint32_t *before,
                                       struct err *e);

/* What the nodes of log->chain are marked with. */
enum claude_node_mark {
    NODE_LISTED = 1 << 0, /* part of what is shown */
    NODE_MAIN = 1 << 1,   /* claude_is_main, once it is known */
    NODE_NOT_MAIN = 1 << 2,
    NODE_CLIMBED = 1 << 3,   /* passed on the way from a leaf to its message */
    NODE_BRANCH = 1 << 4,    /* lies under a message that is not shown */
    NODE_TRAILING = 1 << 5,  /* hangs behind the leaf */
    NODE_DELIVERED = 1 << 6, /* a copy of a queued command that reached the agent */
    NODE_FORK = 1 << 7,      /* another branch leaves here */
};

#endif
