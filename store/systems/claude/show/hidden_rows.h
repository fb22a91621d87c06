#ifndef STORE_SYSTEMS_CLAUDE_SHOW_HIDDEN_ROWS_H
#define STORE_SYSTEMS_CLAUDE_SHOW_HIDDEN_ROWS_H

#include "store/systems/claude/chain/log.h"

/* The rows that a resume does not load, because the API would refuse the conversation with them:
 * calls that have no result, thinking whose message is lost, and answers without content. */
enum claude_hidden_row {
    ROW_LOADED,
    ROW_HIDDEN_UNANSWERED, /* no call in it has a result, and the conversation continued */
    ROW_HIDDEN_THINKING,   /* thinking whose message is lost */
    ROW_HIDDEN_BLANK,      /* an answer that consists of blanks */
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
    size_t results_to, spoken_to;
    struct id128 *call; /* owned; calls of the row that was read last */
    size_t calls, cap;
};

/* Call claude_hidden_rows_fini even if this fails. */
MUST_CHECK enum err_code claude_hidden_rows_init(struct claude_hidden_rows *l,
                                                 struct claude_rows rows, struct err *e);
void claude_hidden_rows_fini(struct claude_hidden_rows *l);
/* Determines whether row i is loaded; may read other rows. */
MUST_CHECK enum err_code claude_hidden_rows_check(struct claude_hidden_rows *l, size_t i,
                                                  enum claude_hidden_row *out, struct err *e);
/* Determines whether any of the calls has a result. */
MUST_CHECK enum err_code claude_hidden_rows_answered(struct claude_hidden_rows *l,
                                                     const struct id128 *call, size_t n,
                                                     bool *answered, struct err *e);

#endif
