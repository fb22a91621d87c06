#ifndef STORE_SYSTEMS_CLAUDE_CHAIN_LEAF_H
#define STORE_SYSTEMS_CLAUDE_CHAIN_LEAF_H

#include "store/systems/claude/chain/log.h"

/* Finds the end of a conversation. The SDK and the client may find different ends in the same file. */

/* The SDK: the last message in the file that no row of the main conversation follows. Prompts and
 * last-prompt rows do not matter (claude.md 3.3). CHAIN_NONE if the file has no message. */
MUST_CHECK enum err_code claude_message_leaf(struct claude_log *log, uint32_t *leaf, struct err *e);
/* The same, and the row without followers that leads to it; CHAIN_NONE if no such row leads to a
 * message. */
MUST_CHECK enum err_code claude_message_end(struct claude_log *log, uint32_t *leaf,
                                            uint32_t *terminal, struct err *e);

/* The client when it resumes: the newest row of the file if it follows the row that the last last-prompt row names (if
 * that is explicit, only a newer row counts), else the named row itself; if no row is named, or the client does not
 * load it, the newest row (claude.md D). Follows compactions, and leaves the chain unchanged. CHAIN_NONE: no row, or
 * (*cleared) the conversation starts over and no row has been added since. */
MUST_CHECK enum err_code claude_resume_leaf(struct claude_log *log, uint32_t *leaf, bool *cleared,
                                            struct err *e);
/* Returns false if the newest last-prompt row names a row that is in a part of the file that was not read. */
MUST_CHECK enum err_code claude_leaf_is_read(struct claude_log *log, bool *is, struct err *e);
/* Finds where a resume would continue without any last-prompt row. CHAIN_NONE: no row. */
MUST_CHECK enum err_code claude_newest_leaf(struct claude_log *log, uint32_t *leaf, struct err *e);

/* Returns true if the row is a message or follows one. The client ignores any other leaf, such as a
 * boundary. */
bool claude_leads_to_message(const struct claude_log *log, uint32_t node);
/* Finds the preceding row, also across a compaction boundary; CHAIN_NONE at the beginning, and if that row is not in
 * the file. */
MUST_CHECK enum err_code claude_logical_parent(struct claude_log *log, uint32_t node,
                                               uint32_t *before, struct err *e);

/* Where the client would continue. If the end of the file is enough to determine that, it takes a few milliseconds for
 * a file of any size. Texts are in the arena. */
struct claude_resume_point {
    struct slice leaf; /* uuid as written; empty: no row, or the conversation starts over */
    struct slice cwd;  /* of that row; empty: it has none */
    bool far;          /* no last-prompt row is near the end, so megabytes were searched */
};
MUST_CHECK enum err_code claude_resume_point_of(const char *path, struct arena *a,
                                                struct claude_resume_point *out, struct err *e);

#endif
