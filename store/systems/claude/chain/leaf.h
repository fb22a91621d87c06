#ifndef STORE_SYSTEMS_CLAUDE_CHAIN_LEAF_H
#define STORE_SYSTEMS_CLAUDE_CHAIN_LEAF_H

#include "store/systems/claude/chain/log.h"

/* Where a conversation ends. Two readers of the same file answer this differently. */

/* The vendor SDK: the last message in the file that nothing of the main conversation follows; prompts and
 * last-prompt rows play no part (claude.md 3.3). CHAIN_NONE: there is no message at all. */
MUST_CHECK enum err_code claude_message_leaf(struct claude_log *log, uint32_t *leaf, struct err *e);
/* The same, and the row without followers from which one comes to it; CHAIN_NONE: no such row leads to a message. */
MUST_CHECK enum err_code claude_message_end(struct claude_log *log, uint32_t *leaf,
                                            uint32_t *terminal, struct err *e);

/* The client when it resumes: the newest row of the file if it follows the row that the last last-prompt row names
 * (where that row is explicit, only a newer one counts), else the named row itself; where none is named, or the client
 * does not load the row, the newest (claude.md D). Follows compactions, and leaves the chain as it was.
 * CHAIN_NONE: there is no row, or (*cleared) that row says that the conversation begins anew, and nothing has come
 * since. */
MUST_CHECK enum err_code claude_resume_leaf(struct claude_log *log, uint32_t *leaf, bool *cleared,
                                            struct err *e);

/* Where it would go on without any last-prompt row. CHAIN_NONE: there is no row. */
MUST_CHECK enum err_code claude_newest_leaf(struct claude_log *log, uint32_t *leaf, struct err *e);

/* True if the row is a message or follows one: the client ignores a leaf that does not, such as a boundary. */
bool claude_leads_to_message(const struct claude_log *log, uint32_t node);

/* Where the client would go on, told from the end of the file where that is enough: a few milliseconds, whatever the
 * file's size. Texts live in the arena. */
struct claude_resume_point {
    struct slice leaf; /* uuid as it is written; empty: no row, or the conversation begins anew */
    struct slice cwd;  /* of that row; empty: it has none */
    bool far;          /* it took a search through megabytes, because no last-prompt row is near */
};
MUST_CHECK enum err_code claude_resume_point_of(const char *path, struct arena *a,
                                                struct claude_resume_point *out, struct err *e);

/* Part of the main conversation: no sub-agent's, no team member's, no progress note, no briefing. */
MUST_CHECK enum err_code claude_is_main(struct claude_log *log, uint32_t node, bool *is,
                                        struct err *e);

/* The row that came before, also across a compaction boundary; CHAIN_NONE at the beginning and where
 * the file does not hold it. */
MUST_CHECK enum err_code claude_logical_parent(struct claude_log *log, uint32_t node,
                                               uint32_t *before, struct err *e);

/* gaps.c: the rows of the log by time, sorted once a parent is missing. Zeroed at first; for one walk, whose nodes are
 * marked NODE_LISTED. */
struct claude_timed;
struct claude_gaps {
    struct claude_timed *row[2]; /* owned; those of the conversation, and of sub-agents */
    size_t n[2];
};
/* The row with which the client goes on where the parent of this one is missing; CHAIN_NONE: the conversation begins
 * here. ERR_NOMEM. */
MUST_CHECK enum err_code claude_gaps_find(struct claude_gaps *g, const struct claude_log *log,
                                          uint32_t node, uint32_t *before);
/* The row before this one on a resume's path: its parent, or what stands in for it. ERR_NOMEM. */
MUST_CHECK enum err_code claude_resume_parent(struct claude_gaps *g, const struct claude_log *log,
                                              uint32_t node, uint32_t *before);
void claude_gaps_fini(struct claude_gaps *g);
/* What a resume at this leaf restores, oldest first, marked NODE_LISTED; *path is owned by the caller. */
MUST_CHECK enum err_code claude_resume_path(struct claude_log *log, uint32_t leaf, uint32_t **path,
                                            size_t *n, struct err *e);

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
