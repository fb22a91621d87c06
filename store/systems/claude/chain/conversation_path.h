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

/* Once joined: if a resume's path ends with the result of one of several calls, it ends with the results of all of them,
 * which come in the order of the file. */
MUST_CHECK enum err_code claude_order_last_results(struct claude_log *log, uint32_t *path, size_t n,
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

/* ---- its end (leaf.c) ---- */

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
 * load it, the newest row (claude.md D). Unless it is explicit, a row that follows one of several calls made at once
 * follows each of them and their results. Follows compactions, and leaves the chain unchanged. CHAIN_NONE: no row, or
 * (*cleared) the conversation starts over and no row has been added since. */
MUST_CHECK enum err_code claude_resume_leaf(struct claude_log *log, uint32_t *leaf, bool *cleared,
                                            struct err *e);
/* Returns false if the newest last-prompt row names a row that is in a part of the file that was not read. */
MUST_CHECK enum err_code claude_leaf_is_read(struct claude_log *log, bool *is, struct err *e);
/* For a log of the end of a file: returns true if no row above it can change where a resume continues. If no last-prompt
 * row of the log names a row, the file above is searched for one, or it is uncertain. */
MUST_CHECK enum err_code claude_leaf_is_certain(struct claude_log *log, bool search_above, bool *is,
                                                struct err *e);
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
    struct slice cwd;  /* the directory of that row; empty: it has none */
    bool far;          /* no last-prompt row is near the end, so megabytes were searched */
};
MUST_CHECK enum err_code claude_resume_point_of(const char *path, struct arena *a,
                                                struct claude_resume_point *out, struct err *e);

/* ---- messages and calls (calls.c) ---- */

/* The API message to which each assistant row belongs, and the row that made each tool call. */

struct claude_assistant_row {
    struct id128 message; /* message.id */
    struct id128 side;    /* isSidechain and agentId as one value */
    uint32_t node;        /* in the order in which the ids appear in the file */
    bool calls;           /* it calls a tool */
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
/* Each of several calls made at once has its row and its result, and the conversation goes on below one of them. An
 * ordinary last-prompt row written in the middle may name another one: then rows below any call of the same response
 * count as following the named row, as in the client (claude.md D). *is: node is such a row. */
MUST_CHECK enum err_code claude_follows_response(struct claude_log *log, uint32_t node,
                                                 uint32_t named, bool *is, struct err *e);

#endif
