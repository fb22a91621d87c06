#ifndef STORE_SYSTEMS_CLAUDE_CHAIN_LOG_H
#define STORE_SYSTEMS_CLAUDE_CHAIN_LOG_H

#include "lite/base/arena.h"
#include "store/log/chain.h"
#include "store/log/logfile.h"

/* One transcript of Claude Code, opened to be read: its lines, who follows whom, and the facts about a row
 * that can be told without reading it again (kinds and marks of the line index). Private to this system;
 * owned by one thread. */

/* Kinds of rows that are told apart; the order is that of claude_index_keys.kinds. */
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
    CLAUDE_SNAPSHOT,       /* file-history-snapshot */
    CLAUDE_SNAPSHOT_DELTA, /* file-history-delta */
    CLAUDE_REPLACEMENT,    /* content-replacement */
    CLAUDE_WORKTREE_STATE, /* worktree-state */
    CLAUDE_AGENT_SETTING,  /* agent-setting */
    CLAUDE_MODE,           /* mode */
    CLAUDE_RELOCATED,      /* relocated */
    /* What else a fork takes along: */
    CLAUDE_SUPPRESSION,  /* history-suppression */
    CLAUDE_ORGANIZATION, /* hybrid-organization */
    CLAUDE_ATIS_LATCH,   /* atis-latch */
    CLAUDE_TOOLS_USED,   /* tools-used */
    CLAUDE_DATA_FLOW,    /* data-flow-records */
    CLAUDE_DATA_LOST,    /* data-flow-incomplete */
    CLAUDE_DERIVED,      /* derived-from */
};

/* Keys of a row that are there and true as JavaScript sees it; the order is that of
 * claude_index_keys.marks. */
enum claude_mark {
    MARK_PARENT = 1 << 0, /* also when it is no string and so leads nowhere */
    MARK_SIDECHAIN = 1 << 1,
    MARK_TEAM = 1 << 2,
    MARK_META = 1 << 3,
    MARK_SUMMARY = 1 << 4, /* isCompactSummary */
    MARK_ORIGIN = 1 << 5,
    MARK_COMPACT = 1 << 6,  /* compactMetadata */
    MARK_QUIET = 1 << 7,    /* closesQuietTurn */
    MARK_HIDES = 1 << 8,    /* hostHiddenToolUseIds */
    MARK_RAN_BY = 1 << 9,   /* ranByToolUseId */
    MARK_REASON = 1 << 10,  /* of a queue operation */
    MARK_LOGICAL = 1 << 11, /* logicalParentUuid */
};

extern const struct index_keys claude_index_keys;

/* Rows that take part in the conversation, as bits for chain_build. */
enum {
    CLAUDE_MAIN_KINDS = 1 << CLAUDE_USER | 1 << CLAUDE_ASSISTANT | 1 << CLAUDE_SYSTEM |
                        1 << CLAUDE_ATTACHMENT | 1 << CLAUDE_PROGRESS,
    CLAUDE_AGENT_KINDS = 1 << CLAUDE_USER | 1 << CLAUDE_ASSISTANT | 1 << CLAUDE_ATTACHMENT,
};

/* A row that is read instead of the line: a voice row stands for another kind of row (voice_rows.c). */
struct claude_stand_in {
    uint32_t line;
    struct slice row; /* in the arena */
};

struct claude_log {
    struct logfile file;
    struct chain chain;
    struct arena arena;
    struct claude_stand_in *stand_in; /* owned; by line */
    size_t stand_ins, cap;
    /* relink.c: what a compaction leaves to the client */
    struct idset kept;  /* rows before the last boundary that it kept */
    size_t boundary;    /* line of the last boundary; 0: none */
    size_t loaded_from; /* rows before this line are not loaded, unless kept */
    uint32_t kept_last; /* node; CHAIN_NONE: none */
    bool relinked;
    bool plain; /* isSidechain and sourceToolAssistantUUID of its rows do not count (fork_end.c) */
};

/* Opens the whole file. On failure nothing is left open. Lines before `chain.first_line` are not part of
 * the conversation (precompact.c). */
struct claude_log_want {
    uint64_t kinds;          /* CLAUDE_MAIN_KINDS or CLAUDE_AGENT_KINDS */
    bool skip_precompact;    /* leave out what a compaction made unreachable */
    bool as_written;         /* voice rows stay what they are */
    bool no_sidechain;       /* rows of sub-agents have no id, and are in nobody's way */
    size_t tail;             /* only the last so many bytes; 0: all */
    const atomic_bool *stop; /* may be NULL */
};
MUST_CHECK enum err_code claude_log_open(struct claude_log *log, const char *path,
                                         const struct claude_log_want *want, struct err *e);
void claude_log_close(struct claude_log *log);

/* The row of a line: without leading blanks and control bytes, which the vendor's reader steps over too.
 * Valid until the next call. */
MUST_CHECK enum err_code claude_log_row(struct claude_log *log, size_t line, struct slice *row,
                                        struct err *e);
/* The row in the bytes of a line that nothing stands for. */
struct slice claude_row(struct slice line);
/* The facts of a line, or of the last row of a node. */
const struct index_line *claude_line(const struct claude_log *log, size_t line);
const struct index_line *claude_node_line(const struct claude_log *log, uint32_t node);
bool claude_line_is(const struct index_line *line, enum claude_kind kind);
bool claude_line_has(const struct index_line *line, enum claude_mark mark);
/* User or assistant: the rows that are messages. */
bool claude_line_is_message(const struct index_line *line);

/* A row that follows another one, be it in the file or not. */
bool claude_follows(const struct claude_log *log, uint32_t node);

/* Replaces what a line says (voice_rows.c). The row is copied. */
MUST_CHECK enum err_code claude_log_stand_in(struct claude_log *log, size_t line, struct slice row,
                                             struct err *e);
/* voice_rows.c: lets voice rows stand for the user rows or queued commands they carry. */
MUST_CHECK enum err_code claude_read_voice_rows(struct claude_log *log, struct err *e);
/* precompact.c: the first line that the vendor's reader still sees in a large file. */
MUST_CHECK enum err_code claude_seen_from(struct claude_log *log, size_t *first_line,
                                          struct err *e);
/* relink.c: follows the compaction boundaries that kept messages; the second makes every row follow again what it
 * names. */
MUST_CHECK enum err_code claude_relink(struct claude_log *log, struct err *e);
void claude_unlink(struct claude_log *log);
/* Once relinked: was the row before the last boundary, and not kept by it? */
bool claude_is_compacted(const struct claude_log *log, uint32_t node);
/* Once relinked: does the client load the row? Where a boundary kept messages, it forgets all others before. */
bool claude_is_loaded(const struct claude_log *log, uint32_t node);
/* Takes the rows that the client does not load out of the chain. */
void claude_unload(struct claude_log *log);

#endif
