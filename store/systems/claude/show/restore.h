#ifndef STORE_SYSTEMS_CLAUDE_SHOW_RESTORE_H
#define STORE_SYSTEMS_CLAUDE_SHOW_RESTORE_H

#include "store/api/restore.h"
#include "store/api/store.h"
#include "store/systems/claude/chain/log.h"

/* The conversation of a session on its way into a restore bundle: the rows that the client would load,
 * changed and left out as it does before it goes on with them. Texts live in the arena of the bundle. */

enum claude_hidden_row {
    ROW_LOADED,
    ROW_HIDDEN_UNANSWERED, /* every tool call in it lacks its result, and the conversation went on */
    ROW_HIDDEN_THINKING,   /* thoughts whose message is lost */
    ROW_HIDDEN_BLANK,      /* an answer of nothing but blanks */
};

struct claude_restore_row {
    struct slice row;
    struct id128 id;
    uint8_t kind;     /* enum claude_kind */
    uint8_t left_out; /* enum claude_hidden_row */
    bool cut; /* the session ended in its calls: those without a result get one that says so */
};

struct claude_restore_rows {
    struct claude_restore_row *row; /* in the arena; oldest first */
    size_t n;
    struct arena *arena;
};

/* JSON values, in an arena. */
struct claude_values {
    struct slice *p;
    size_t n, cap;
};
MUST_CHECK enum err_code claude_values_add(struct claude_values *values, struct arena *a,
                                           struct slice value);

/* find_message.c: the node of a message by its uuid or a unique front of it (4 characters or more).
 * ERR_NOT_FOUND, or ERR_USAGE for a front that several have. */
MUST_CHECK enum err_code claude_find_message(struct claude_log *log, struct slice id,
                                             uint32_t *node, struct err *e);

/* migrate_rows.c: the row as today's client would have written it: attachments of old kinds get their new
 * names, and an unknown permission mode goes. Borrows where nothing changes. cwd is what paths are shown
 * relative to. */
MUST_CHECK enum err_code claude_migrate_row(struct slice row, enum claude_kind kind,
                                            struct slice cwd, struct arena *a, struct slice *out);
/* hidden_rows.c: what the client does not load again: calls without results, thoughts alone, blanks. */
struct claude_rows {
    uint8_t (*kind)(void *arg, size_t i); /* enum claude_kind */
    /* The bytes of a row, valid until the next call. */
    enum err_code (*read)(void *arg, size_t i, struct slice *row, struct err *e);
    void *arg;
    size_t n; /* oldest first */
};
struct claude_leaving {
    struct claude_rows rows;
    size_t end;           /* from this row on: the calls in which the session ended */
    struct idset results; /* of the calls that rows before results_to answer */
    struct idset spoken;  /* messages of which rows before spoken_to are more than thoughts */
    size_t results_to, spoken_to;
    struct id128 *call; /* owned; of the row that was looked at last */
    size_t calls, cap;
};
MUST_CHECK enum err_code claude_leaving_init(struct claude_leaving *l, struct claude_rows rows,
                                             struct err *e);
void claude_leaving_fini(struct claude_leaving *l);
/* Also reads other rows. */
MUST_CHECK enum err_code claude_leaving_row(struct claude_leaving *l, size_t i,
                                            enum claude_hidden_row *out, struct err *e);
/* Marks the rows of a bundle, and the calls in which the session ended. Their ids (JSON texts of the rows) are added to unanswered in their order. */
MUST_CHECK enum err_code claude_hide_rows(struct claude_restore_rows *r,
                                          struct claude_values *unanswered);
/* interrupted.c: how the last turn ended. *prompt is the row of a prompt that nobody answered. */
enum interruption claude_interruption(const struct claude_restore_rows *r, struct slice *prompt);

/* A bundle that is being made. */
struct claude_restore_state {
    const struct store *store;
    const struct session_ref *ref;
    struct claude_log log;
    uint32_t *path; /* owned; nodes of the conversation, oldest first */
    size_t n;
    struct claude_restore_rows restore_rows;
    struct claude_values unanswered;
    struct restore out;
};

/* restore_end.c: what the client adds when it loads a conversation: results for the calls in which the session ended, an
 * answer behind a last row of the person's, and (a host may go on with it at once) the order to continue. */
MUST_CHECK enum err_code claude_restore_end(struct claude_restore_state *r);

/* restore_facts.c: where the session was, and in what state. */
MUST_CHECK enum err_code claude_restore_facts(struct claude_restore_state *r, struct err *e);
/* restore_extras.c: to-dos and skills, out of the rows that were not left out. */
MUST_CHECK enum err_code claude_restore_extras(struct claude_restore_state *r);
/* snapshots.c: the file history along the conversation, oldest first: one snapshot a prompt, with every
 * later addition to it merged in. path holds nodes of the log. */
MUST_CHECK enum err_code claude_snapshots(struct claude_log *log, const uint32_t *path, size_t n,
                                          struct arena *a, struct claude_values *out,
                                          struct err *e);

#endif
