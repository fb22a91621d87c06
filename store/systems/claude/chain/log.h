#ifndef STORE_SYSTEMS_CLAUDE_CHAIN_LOG_H
#define STORE_SYSTEMS_CLAUDE_CHAIN_LOG_H

#include "lite/base/arena.h"
#include "store/log/chain.h"
#include "store/log/logfile.h"

/* One transcript of Claude Code, opened for reading: its lines, the links between rows, and the
 * facts about rows that the line index keeps (kinds and marks). Owned by one thread. */

/* Kinds of rows, in the order of claude_index_keys.kinds. */
enum claude_kind {
    CLAUDE_OTHER,
    CLAUDE_USER,
    CLAUDE_ASSISTANT,
    CLAUDE_SYSTEM,
    CLAUDE_ATTACHMENT,
    CLAUDE_PROGRESS,
    CLAUDE_QUEUE,          /* queue-operation */
    CLAUDE_HOST_ROW,       /* host-row */
    CLAUDE_LAST_PROMPT,    /* last-prompt */
    CLAUDE_ACTIVE_LEAF,    /* active-leaf, of Qoder */
    CLAUDE_SNAPSHOT,       /* file-history-snapshot */
    CLAUDE_SNAPSHOT_DELTA, /* file-history-delta */
    CLAUDE_REPLACEMENT,    /* content-replacement */
    CLAUDE_WORKTREE_STATE, /* worktree-state */
    CLAUDE_AGENT_SETTING,  /* agent-setting */
    CLAUDE_MODE,           /* mode */
    CLAUDE_RELOCATED,      /* relocated */
    /* Other rows that a fork copies: */
    CLAUDE_SUPPRESSION,  /* history-suppression */
    CLAUDE_ORGANIZATION, /* hybrid-organization */
    CLAUDE_ATIS_LATCH,   /* atis-latch */
    CLAUDE_TOOLS_USED,   /* tools-used */
    CLAUDE_DATA_FLOW,    /* data-flow-records */
    CLAUDE_DATA_LOST,    /* data-flow-incomplete */
    CLAUDE_DERIVED,      /* derived-from */
    /* State outside the conversation, used only by a restore: */
    CLAUDE_ATTRIBUTION,       /* attribution-snapshot */
    CLAUDE_COLLAPSE,          /* marble-origami-commit */
    CLAUDE_COLLAPSE_SNAPSHOT, /* marble-origami-snapshot */
    CLAUDE_COLLAPSE_RESET,    /* marble-origami-reset */
};

/* Keys whose value in a row is truthy in JavaScript, in the order of claude_index_keys.marks. */
enum claude_mark {
    MARK_PARENT = 1 << 0, /* set even if it is not a string, and so links to no row */
    MARK_SIDECHAIN = 1 << 1,
    MARK_TEAM = 1 << 2,
    MARK_META = 1 << 3,
    MARK_SUMMARY = 1 << 4, /* isCompactSummary */
    MARK_ORIGIN = 1 << 5,
    MARK_COMPACT = 1 << 6,  /* compactMetadata */
    MARK_QUIET = 1 << 7,    /* closesQuietTurn */
    MARK_HIDES = 1 << 8,    /* hostHiddenToolUseIds */
    MARK_RAN_BY = 1 << 9,   /* ranByToolUseId */
    MARK_REASON = 1 << 10,  /* the reason of a queue operation */
    MARK_LOGICAL = 1 << 11, /* logicalParentUuid */
};

extern const struct index_keys claude_index_keys;

/* Kinds of rows that take part in the conversation, as bits for chain_build. */
enum {
    CLAUDE_MAIN_KINDS = 1 << CLAUDE_USER | 1 << CLAUDE_ASSISTANT | 1 << CLAUDE_SYSTEM |
                        1 << CLAUDE_ATTACHMENT | 1 << CLAUDE_PROGRESS,
    CLAUDE_AGENT_KINDS = 1 << CLAUDE_USER | 1 << CLAUDE_ASSISTANT | 1 << CLAUDE_ATTACHMENT,
};

/* Marks of the nodes of log->chain. */
enum claude_node_mark {
    NODE_LISTED = 1 << 0, /* part of the shown conversation */
    NODE_MAIN = 1 << 1,   /* a row of the main conversation, once that is known (leaf.c) */
    NODE_NOT_MAIN = 1 << 2,
    NODE_CLIMBED = 1 << 3,   /* visited on the way from a leaf to its message */
    NODE_BRANCH = 1 << 4,    /* above a message that is not shown */
    NODE_TRAILING = 1 << 5,  /* follows the leaf */
    NODE_DELIVERED = 1 << 6, /* a copy of a queued command that reached the agent */
    NODE_FORK = 1 << 7,      /* another branch begins here */
};

/* A row that replaces a line when it is read: a voice row is read as another kind of row. */
struct claude_substitute {
    uint32_t line;
    struct slice row; /* in the arena */
};

struct claude_log {
    struct logfile file;
    struct chain chain;
    struct arena arena;
    struct claude_substitute *substitute; /* owned; by line */
    size_t substitutes, cap;
    /* compaction.c: the rows that the client still loads after a compaction */
    struct idset kept;  /* rows before the last boundary that it kept */
    size_t boundary;    /* line of the last boundary; 0: none */
    size_t loaded_from; /* rows before this line are not loaded, unless kept */
    uint32_t kept_last; /* node; CHAIN_NONE: none */
    bool keeps;         /* some boundary keeps rows, perhaps from a part that was not read */
    bool relinked;
    bool partial; /* the file has lines before the first one */
    bool plain;   /* ignore isSidechain and sourceToolAssistantUUID (fork_cut.c) */
};

struct claude_log_want {
    uint64_t kinds;          /* CLAUDE_MAIN_KINDS or CLAUDE_AGENT_KINDS */
    bool skip_precompact;    /* leave out what a compaction made unreachable */
    bool as_written;         /* do not convert voice rows */
    bool no_sidechain;       /* rows of sub-agents lose their ids, so that no row follows them */
    size_t tail;             /* read only this many bytes at the end; 0: all */
    const atomic_bool *stop; /* may be NULL */
};
/* Opens the whole file. On failure nothing is left open. Lines before `chain.first_line` are not part of the
 * conversation. */
MUST_CHECK enum err_code claude_log_open(struct claude_log *log, const char *path,
                                         const struct claude_log_want *want, struct err *e);
void claude_log_close(struct claude_log *log);

/* The row of a line, without leading blanks and control bytes, which the SDK skips too. Valid until the next
 * call. */
MUST_CHECK enum err_code claude_log_row(struct claude_log *log, size_t line, struct slice *row,
                                        struct err *e);
MUST_CHECK enum err_code claude_node_row(struct claude_log *log, uint32_t node, struct slice *row,
                                         struct err *e);
/* The row's uuid as written, copied into `a`. */
MUST_CHECK enum err_code claude_node_uuid(struct claude_log *log, uint32_t node, struct arena *a,
                                          struct slice *uuid, struct err *e);
/* The row in the bytes of a line. */
struct slice claude_row(struct slice line);
/* What the index knows about a line, or about the last row of a node. */
const struct index_line *claude_line(const struct claude_log *log, size_t line);
const struct index_line *claude_node_line(const struct claude_log *log, uint32_t node);
/* The node of a line's id, even if the node's row is another line; CHAIN_NONE: the line has no id. */
uint32_t claude_line_node(const struct claude_log *log, size_t line);
bool claude_line_is(const struct index_line *line, enum claude_kind kind);
bool claude_line_has(const struct index_line *line, enum claude_mark mark);
/* Returns true for a message: a user or assistant row. */
bool claude_line_is_message(const struct index_line *line);
/* Returns true if the row names a parent, whether or not that is in the file. */
bool claude_has_parent(const struct claude_log *log, uint32_t node);

/* The node of a message by its uuid or a unique prefix of it (4 characters or more). ERR_NOT_FOUND, or
 * ERR_USAGE if the prefix is ambiguous. */
MUST_CHECK enum err_code claude_find_message(struct claude_log *log, struct slice id,
                                             uint32_t *node, struct err *e);

/* ---- compaction.c ---- */

/* The first line that the SDK still reads in a large file. */
MUST_CHECK enum err_code claude_first_visible_line(struct claude_log *log, size_t *first_line,
                                                   struct err *e);
/* Links the messages kept by compaction boundaries; claude_unlink restores the parents that the rows name. */
MUST_CHECK enum err_code claude_relink(struct claude_log *log, struct err *e);
void claude_unlink(struct claude_log *log);
/* Once relinked, returns true if the row is before the last boundary and was not kept by it. */
bool claude_is_compacted(const struct claude_log *log, uint32_t node);
/* Once relinked, returns true if the client loads the row. If a boundary kept messages, the client
 * drops all others before it. */
bool claude_is_loaded(const struct claude_log *log, uint32_t node);
/* Takes the rows that the client does not load out of the chain. */
void claude_remove_unloaded(struct claude_log *log);

#endif
