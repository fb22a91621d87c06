#ifndef TUI_PROSPECT_H
#define TUI_PROSPECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "store/checkpoint.h"
#include "store/rewind/linediff.h"
#include "store/rewind/pick.h"
#include "store/rewind/sides.h"

/* What workers and the model hand each other about a rewind, by the rules of conversation.h: filled by one thread,
 * handed over, and then the receiver's alone. The exception is a prospect, which never changes, is shared, and
 * dies with its last holder. */

/* What going back to a point would do: a plan, and the preview of it. */
struct prospect {
    atomic_uint holders;
    struct rewind_options options;
    struct rewind_plan plan;
    struct rewind_preview preview;
};

/* Empty, with one holder: the caller, who fills it. NULL without memory. */
struct prospect *prospect_new(void);
struct prospect *prospect_hold(struct prospect *p);
void prospect_drop(struct prospect *p); /* NULL is fine */

struct checkpoint_list *checkpoints_new(void);       /* empty; NULL without memory */
void checkpoints_free(struct checkpoint_list *list); /* NULL is fine */

/* One file of a prospect, line by line: from what lies there to what would lie there. */
struct comparison {
    size_t entry;
    struct rewind_sides sides; /* the diff borrows from them */
    struct linediff diff;
};

void comparison_free(struct comparison *c); /* NULL is fine */

/* What was picked of a prospect: one for each of its entries, with copies of the hunks. */
struct picks {
    struct rewind_pick *pick; /* owned, its hunks too */
    size_t n;
};

struct picks *picks_new(size_t n); /* nothing is picked; NULL without memory */
struct picks *picks_copy(const struct picks *from);
/* Which of n hunks are taken, to be changed; all of them at first. NULL without memory. */
bool *picks_hunks(struct picks *p, size_t entry, size_t n);
void picks_free(struct picks *p); /* NULL is fine */

/* What came of a rewind, or of taking one back. */
struct rewound {
    char record[40]; /* the undo record; "": nothing had to be done */
    size_t restored, created, deleted;
    bool talked; /* the conversation went back, or came back: */
    size_t dropped, added, kept;
    size_t left;          /* files that stayed as they are: in conflict, or refused to an undo */
    char left_name[160];  /* one of them */
    const char *left_why; /* static text */
    /* Of an undo: nothing was done yet, since these files changed since. Owned by the message; NULL: there are none. */
    struct name_list *edited;
    bool asks; /* there are such files */
};

#endif
