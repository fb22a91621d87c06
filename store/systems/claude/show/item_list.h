#ifndef STORE_SYSTEMS_CLAUDE_SHOW_ITEM_LIST_H
#define STORE_SYSTEMS_CLAUDE_SHOW_ITEM_LIST_H

#include "lite/json/jsonout.h"
#include "store/api/restore.h"
#include "store/api/session.h"
#include "store/systems/claude/chain/log.h"
#include "store/systems/claude/chain/row_facts.h"

/* ---- hidden rows (hidden_rows.c) ---- */

/* The rows that a resume does not load, because the API would refuse the conversation with them:
 * calls that have no result and results that have no call, thinking whose message is lost, and answers without
 * content. */
enum claude_hidden_row {
    ROW_LOADED,
    ROW_HIDDEN_UNANSWERED, /* no call in it has a result, and the conversation continued */
    ROW_HIDDEN_THINKING,   /* thinking whose message is lost */
    ROW_HIDDEN_BLANK,      /* an answer that consists of blanks */
    ROW_HIDDEN_RESULT,     /* nothing but results, and no row has any of their calls */
    ROW_LOADED_IN_PART,    /* loaded without some of its results, whose calls no row has */
};

/* The rows of a conversation, oldest first. */
struct claude_rows {
    uint8_t (*kind)(void *arg, size_t i); /* enum claude_kind */
    /* The bytes of a row, valid until the next call. */
    enum err_code (*read)(void *arg, size_t i, struct slice *row, struct err *e);
    void *arg;
    size_t n;
};

struct claude_hidden_rows {
    struct claude_rows rows;
    size_t end;           /* from this row on: the calls in which the session ended */
    struct idset results; /* ids of tool calls with results in rows before results_to */
    struct idset spoken;  /* messages with more than thinking in rows before spoken_to */
    struct idset called;  /* ids of tool calls in rows before called_to */
    size_t results_to, spoken_to, called_to;
    bool partial;       /* the calls may be above the rows: no result is hidden */
    size_t doubtful;    /* partial: the number of rows up to the last result that would be hidden */
    struct id128 *call; /* owned; calls of the row that was read last */
    size_t calls, cap;
    struct buf row; /* the last row with results */
};

/* Call claude_hidden_rows_fini even if this fails. */
MUST_CHECK enum err_code claude_hidden_rows_init(struct claude_hidden_rows *l,
                                                 struct claude_rows rows, struct err *e);
void claude_hidden_rows_fini(struct claude_hidden_rows *l);
/* Determines whether row i is loaded; may read other rows. */
MUST_CHECK enum err_code claude_hidden_rows_check(struct claude_hidden_rows *l, size_t i,
                                                  enum claude_hidden_row *out, struct err *e);
/* The row for which ROW_LOADED_IN_PART was just determined, without those results; replaces what is in `out`. */
MUST_CHECK enum err_code claude_hidden_rows_part(struct claude_hidden_rows *l, struct buf *out,
                                                 struct err *e);
/* Determines whether any of the calls has a result. */
MUST_CHECK enum err_code claude_hidden_rows_answered(struct claude_hidden_rows *l,
                                                     const struct id128 *call, size_t n,
                                                     bool *answered, struct err *e);

/* ---- items (item_list.c) ---- */

/* The rows of a conversation in the order in which they are shown, before they are filtered and
 * converted. */

enum claude_item_flags {
    ITEM_TRAILING = 1 << 0,  /* a queued command that follows the leaf */
    ITEM_COMPLETED = 1 << 1, /* belongs to a local command that ran */
    ITEM_REACHED = 1 << 2,   /* according to queue rows, this queued command reached the agent, */
    ITEM_MISSED = 1 << 3,    /* or another copy of it did */
};

struct claude_item {
    struct slice made; /* a generated row, in the arena of the log; empty: the row of the line */
    uint32_t line;
    uint16_t marks; /* enum claude_mark, of the row */
    uint8_t kind;   /* enum claude_kind, of the row */
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
/* Adds a generated row, copied into the arena of the log, in place of `line`. */
MUST_CHECK enum err_code claude_item_list_add_made(struct claude_item_list *list,
                                                   struct claude_log *log, uint32_t line,
                                                   struct slice row, struct err *e);
/* Replaces the list by another one, which is empty afterwards. */
void claude_item_list_replace(struct claude_item_list *list, struct claude_item_list *by);
void claude_item_list_fini(struct claude_item_list *list);
/* The bytes of an item's row, valid until the next row is read from the log. */
MUST_CHECK enum err_code claude_item_row(struct claude_log *log, const struct claude_item *item,
                                         struct slice *row, struct err *e);
/* The uuid of an item's row. */
struct id128 claude_item_id(struct claude_log *log, const struct claude_item *item);
/* The rows of a list for claude_hidden_rows_init, which borrows them. */
struct claude_list_rows {
    struct claude_log *log;
    const struct claude_item_list *list;
    const atomic_bool *stop; /* may be NULL; ERR_CANCELLED once it is set */
};
struct claude_rows claude_list_rows(struct claude_list_rows *rows);

/* Selects the items that are returned, in order, at most `most` of them (SIZE_MAX: all). Queued commands become the
 * prompts that they contain. */
struct claude_item_filter {
    bool agent;           /* a sub-agent's conversation: meta and sidechain rows stay */
    bool system_messages; /* system rows are returned too */
    size_t most;
    struct claude_hidden_rows *hidden; /* hides what a resume does not load; may be NULL */
};
MUST_CHECK enum err_code claude_select_items(struct claude_log *log, struct claude_item_list *list,
                                             const struct claude_item_filter *how,
                                             struct claude_item_list *out, struct err *e);

/* ---- messages.c, subagent.c ---- */

/* The rows on a resume's path, in order, including those that it does not load. */
MUST_CHECK enum err_code claude_resume_list(struct claude_log *log, struct claude_item_list *list,
                                            struct err *e);

/* How many messages a resume restores. */
MUST_CHECK enum err_code claude_count_messages(struct claude_log *log, size_t *n, struct err *e);

/* The parent of a sub-agent; empty for the session's own conversation. */
struct claude_parent {
    struct slice tool_use_id, agent_id; /* text, not JSON */
};
/* Reads the parent of a sub-agent, if it is recorded. Texts are in the arena. */
MUST_CHECK enum err_code claude_agent_parent(const struct session_ref *agent, struct arena *a,
                                             struct claude_parent *parent, struct err *e);

/* Writes "origin": ... into an open object. For a task's notification only some members of the
 * origin are written (and `run`, unless it is empty or the origin has a valid runId itself); any
 * other origin is written in full. */
void claude_origin_write(struct jsonout *j, struct slice origin, struct slice run);
/* A run id that may be shown: a JSON string of 1 to 128 letters, digits and _.:- */
bool claude_run_id(struct slice value);

/* ---- queued.c: prompts that were typed while the agent was working ---- */

/* Adds the queued commands that follow the leaf and were never answered. */
MUST_CHECK enum err_code claude_add_trailing(struct claude_log *log, uint32_t leaf,
                                             struct claude_item_list *list, struct err *e);
/* Marks which queued commands reached the agent, as the rows of the queue report it. */
MUST_CHECK enum err_code claude_mark_delivered(struct claude_log *log,
                                               struct claude_item_list *list, struct err *e);
/* Converts a queued command to a user row. *plain is set if it is not converted, because it was
 * meant for another agent or its id is taken. ids are those of the conversation. */
MUST_CHECK enum err_code claude_queued_row(struct claude_log *log, const struct claude_item *item,
                                           bool agent, struct idset *ids, struct buf *out,
                                           bool *plain, struct err *e);

/* ---- host_rows.c, host_hidden_calls.c: what a host program ran in the agent's name ---- */

/* The first inserts the host's rows, the second removes what it hid. Both do nothing unless a row shows that a
 * host took part. */
MUST_CHECK enum err_code claude_host_insert(struct claude_log *log, struct claude_item_list *list,
                                            struct err *e);
MUST_CHECK enum err_code claude_host_hide_calls(struct claude_log *log,
                                                struct claude_item_list *list, struct err *e);
/* Returns true if some row may be a host's, judged by its marks alone. */
bool claude_may_have_host_rows(const struct claude_item_list *list);
/* Returns true for an assistant row in which a host hides calls, or whose call a host ran. */
bool claude_is_host_row(struct slice row);

/* ---- for a restore bundle (restore_rows.c) ---- */

/* The rows of a conversation for a restore bundle, changed and hidden as the client does when it
 * loads them. Texts are in the arena of the bundle. */

struct claude_restore_row {
    struct slice row;
    struct id128 id;
    uint8_t kind;     /* enum claude_kind */
    uint8_t left_out; /* enum claude_hidden_row */
    /* the session ended during its calls: those without a result get one that reports this */
    bool cut;
};

struct claude_restore_rows {
    struct claude_restore_row *row; /* in the arena; oldest first */
    size_t n;
    struct arena *arena;
};

/* The row as the present client would have written it: attachments of old kinds get their new names, and an unknown
 * permission mode is removed. *out is `row` itself if nothing changes. Paths are shown relative to cwd. */
MUST_CHECK enum err_code claude_migrate_row(struct slice row, enum claude_kind kind,
                                            struct slice cwd, struct arena *a, struct slice *out);
/* Marks the rows that are left out, and the calls in which the session ended. The ids of calls without a result
 * (JSON texts of the rows) are added to unanswered, in their order. */
MUST_CHECK enum err_code claude_hide_rows(struct claude_restore_rows *r,
                                          struct claude_values *unanswered);
/* How the last turn ended. *prompt is the row of a prompt without an answer. */
enum interruption claude_interruption(const struct claude_restore_rows *r, struct slice *prompt);
/* Adds to out->messages what the client adds when it loads an interrupted conversation: a result for each unanswered
 * call, an empty answer after a user row, and the request to continue. out->interruption is set. */
MUST_CHECK enum err_code claude_close_rows(const struct claude_restore_rows *rows,
                                           const struct claude_values *unanswered,
                                           struct restore *out, int64_t now_ms);

#endif
