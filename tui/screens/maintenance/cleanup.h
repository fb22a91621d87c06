#ifndef TUI_SCREENS_MAINTENANCE_CLEANUP_H
#define TUI_SCREENS_MAINTENANCE_CLEANUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "store/maintenance/sweep.h"
#include "tui/app/action.h"
#include "tui/data/conversation.h"
#include "tui/screens/maintenance/cleanup_rules.h"
#include "tui/widgets/frame.h"

/* Cleanup by rule: the rules, below them exactly the sessions that they mean, each with its size, and ticked where it
 * may go. One cursor goes through both; what is ticked goes to the trash after one question. With no rule set it shows
 * what every session and every project takes, and nothing is ticked.
 *
 * What is shown is what is moved: while an answer to changed rules is not there yet, nothing can be moved. */
struct model;
struct msg;

enum cleanup_sort { CLEANUP_LARGEST, CLEANUP_OLDEST, CLEANUP_PROJECT, CLEANUP_SORTS };

/* A line below the rules: an item of the sweep, or in front of those of one project what they have in common. */
struct cleanup_line {
    bool head;
    uint32_t item; /* of a head: its first one */
};

struct cleanup {
    struct cleanup_rules rules;
    enum cleanup_sort sort;
    struct sweep *sweep; /* owned; NULL until it has come */
    bool ruled;          /* it was found by a rule: its ticks are meant */
    struct err error;    /* why there is none */
    unsigned asked;      /* generation of EFFECT_SWEEP; 0: none */
    int64_t asked_ms;
    struct cleanup_line *line; /* owned */
    size_t lines;
    uint32_t *shown; /* owned; of the lines: not those of projects that are closed */
    size_t shown_n;
    struct name_list opened; /* projects whose sessions are shown in their order */
    size_t at;               /* of the cursor: a rule, or CLEANUP_RULE_COUNT + a place in `shown` */
    size_t top;              /* the first of `shown` on the screen */
};

void cleanup_open(struct model *m);
/* Something was changed: other sessions may be meant now. */
void cleanup_refresh(struct model *m);
bool cleanup_msg(struct model *m, const struct msg *msg);
void cleanup_fini(struct cleanup *c);
/* Why an action cannot be done here now; NULL: it can, or is not ours. */
const char *cleanup_unavailable(const struct cleanup *c, enum action a);
/* When the spinner turns; TIME_NONE: it does not. */
int64_t cleanup_wake_ms(const struct cleanup *c, int64_t now_ms);

/* --- private to tui/screens/cleanup*.c */
/* Puts the items in order, in lines; false without memory. */
bool cleanup_arrange(struct cleanup *c);
struct slice cleanup_project(const struct sweep_item *item);
/* Shows the sessions of a head's project, or no more; false without memory. */
bool cleanup_open_project(struct cleanup *c, size_t head, bool open);
bool cleanup_is_open(const struct cleanup *c, size_t head);
/* The head of the project that a line belongs to; the line itself where there are none. */
size_t cleanup_head_of(const struct cleanup *c, size_t line);
/* Where a line is shown, or else its head. */
size_t cleanup_row_of(const struct cleanup *c, size_t line);
/* The line after the last one of a head's project. */
size_t cleanup_group_end(const struct cleanup *c, size_t head);
/* What is ticked, or of one group all there is. */
struct cleanup_sum {
    size_t n, ticked, staying;
    int64_t bytes, ticked_bytes;
};
struct cleanup_sum cleanup_sum(const struct cleanup *c, size_t first, size_t end);
const char *cleanup_sort_name(enum cleanup_sort sort);
void cleanup_draw(const struct model *m, struct frame *f);
/* Lines that fit below the rules. */
size_t cleanup_fit(int rows);
enum { CLEANUP_RULES_Y = 1, CLEANUP_LIST_Y = CLEANUP_RULES_Y + CLEANUP_RULE_COUNT + 1 };

#endif
