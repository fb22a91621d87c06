#ifndef STORE_SYSTEMS_CLAUDE_CHAIN_CONVERSATION_PATH_H
#define STORE_SYSTEMS_CLAUDE_CHAIN_CONVERSATION_PATH_H

#include "store/systems/claude/chain/log.h"

/* ---- the path of a resume ---- */

/* The rows of the log by time, sorted when a parent is missing for the first time. Initially zeroed; used for one walk,
 * whose nodes are marked NODE_LISTED. */
struct claude_timed;
struct claude_gaps {
    struct claude_timed *row[2]; /* owned; those of the conversation, and of sub-agents */
    size_t n[2];
};
void claude_gaps_fini(struct claude_gaps *g);
/* The row before this one on a resume's path: its parent, or, if that is missing, the row with which the client
 * continues. CHAIN_NONE: the conversation begins here, or continues in a part of the file that was not read.
 * ERR_NOMEM. */
MUST_CHECK enum err_code claude_resume_parent(struct claude_gaps *g, const struct claude_log *log,
                                              uint32_t node, uint32_t *before);
/* The rows that a resume at this leaf restores, oldest first, marked NODE_LISTED; *path is owned by
 * the caller. */
MUST_CHECK enum err_code claude_resume_path(struct claude_log *log, uint32_t leaf, uint32_t **path,
                                            size_t *n, struct err *e);

/* parallel.c: tool calls that ran in parallel have their rows in one API message, and the path from the leaf upwards
 * passes only one of them. Inserts the others after it. path contains nodes marked NODE_LISTED and is replaced; added
 * nodes are marked too. */
MUST_CHECK enum err_code claude_parallel(struct claude_log *log, uint32_t **path, size_t *n,
                                         struct err *e);

/* ---- the path that a person reads ---- */

/* The path from the beginning of a conversation to one of its ends, also across compaction
 * boundaries. Where the chain is broken, it continues as the client does, or with the previous row
 * in the file. */
struct claude_conversation_path {
    struct claude_log log;
    uint32_t *path; /* owned; nodes, oldest first, marked NODE_LISTED */
    size_t n, cap;
    uint8_t *gap;            /* owned; by node: its parent is missing */
    struct claude_gaps gaps; /* used during the walk */
    bool partial;            /* only the end of the file was read */
    uint32_t leaf;           /* where a resume continues; CHAIN_NONE: no row */
    bool cleared; /* a resume begins an empty conversation; the leaf is where the old one ended */
};

/* Opens the log and finds the leaf; nothing is marked yet. On failure nothing is left open. */
MUST_CHECK enum err_code claude_conversation_path_open(struct claude_conversation_path *walk,
                                                       const char *path,
                                                       const struct claude_log_want *want,
                                                       struct err *e);
void claude_conversation_path_close(struct claude_conversation_path *walk);
/* Walks to this leaf; earlier marks are removed. */
MUST_CHECK enum err_code claude_conversation_path_go_to(struct claude_conversation_path *walk,
                                                        uint32_t leaf, struct err *e);
/* Marks the rows between those messages and the path as NODE_BRANCH, and the rows of the path where they branch off as
 * NODE_FORK. Returns true if there are any. */
bool claude_conversation_path_mark_branches(struct claude_conversation_path *walk);

#endif
