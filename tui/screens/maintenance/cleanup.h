#ifndef TUI_SCREENS_MAINTENANCE_CLEANUP_H
#define TUI_SCREENS_MAINTENANCE_CLEANUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/maintenance/sweep.h"
#include "tui/app/action.h"
#include "tui/config/config.h"
#include "tui/data/ref_list.h"
#include "tui/widgets/frame.h"

/* The rules of a cleanup as a person sets them: each has a few values to step through, and two
 * accept any typed value. */
enum cleanup_rule {
    CLEANUP_RULE_SCOPE,
    CLEANUP_RULE_OLDER,
    CLEANUP_RULE_LARGER,
    CLEANUP_RULE_EMPTY,
    CLEANUP_RULE_ARCHIVED,
    CLEANUP_RULE_ORPHANS, /* excludes the two before, because leftovers are neither */
    CLEANUP_RULE_TAGGED,  /* set: sessions with this mark are kept */
    CLEANUP_RULE_NAMED,
    CLEANUP_RULE_COUNT
};

enum { CLEANUP_RULE_TEXT = 32 };

struct cleanup_rules {
    enum scope_kind scope;
    char older[CLEANUP_RULE_TEXT];  /* "30d"; "": of any age */
    char larger[CLEANUP_RULE_TEXT]; /* "10M"; "": of any size */
    bool empty, archived, orphans;
    bool keep_tagged, keep_named;
};

const char *cleanup_rule_name(enum cleanup_rule rule);
/* The line of the screen that it is in, from 0 on: checkboxes share one. */
int cleanup_rule_line(enum cleanup_rule rule);
/* Its meaning, in a sentence. */
const char *cleanup_rule_help(enum cleanup_rule rule);
/* Its value as text; empty for a checkbox. */
void cleanup_rule_value(const struct cleanup_rules *r, enum cleanup_rule rule, char *out,
                        size_t cap);
bool cleanup_rule_is_set(const struct cleanup_rules *r, enum cleanup_rule rule);
/* Sets the next or the previous value. Returns false at either end. */
bool cleanup_rule_step(struct cleanup_rules *r, enum cleanup_rule rule, int direction);
/* Sets a typed value; a blank one removes the limit. Returns NULL, or the reason why it is not
 * valid. */
const char *cleanup_rule_set_text(struct cleanup_rules *r, enum cleanup_rule rule,
                                  struct slice text, int64_t now_ms);
/* The rules as the store takes them, except scope and cancel. */
struct sweep_rule cleanup_rules_to_sweep(const struct cleanup_rules *r, int64_t now_ms);
/* All of them in a sentence: "in all projects, not used for 30d, archived". */
void cleanup_rules_text(const struct cleanup_rules *r, char *out, size_t cap);

/* Cleanup by rule: the view shows the rules, and below them exactly the sessions that they select,
 * each with its size, and ticked if it can be deleted. One cursor moves through both; the ticked
 * sessions are moved to the trash after one question. Without rules, the sizes of all sessions and
 * projects are shown and nothing is ticked. Only sessions that are shown can be moved, so after a
 * change of the rules nothing can be moved until the new list arrives. */
struct model;
struct view_ops;

extern const struct view_ops view_cleanup;

enum cleanup_sort { CLEANUP_LARGEST, CLEANUP_OLDEST, CLEANUP_PROJECT, CLEANUP_SORTS };

/* A line below the rules: an item of the sweep, or the head of the items of one project. */
struct cleanup_line {
    bool head;
    uint32_t item; /* the item; for a head, its first item */
};

struct cleanup {
    struct cleanup_rules rules;
    enum cleanup_sort sort;
    struct sweep *sweep;  /* owned; NULL until it arrives */
    bool ruled;           /* a rule found the sessions, so their ticks are deliberate */
    bool rules_changed;   /* since the sweep that is shown */
    unsigned swept;       /* how many sweeps have arrived, */
    unsigned in_question; /* and the one that the question is about */
    size_t undo_records;  /* that could be pruned; counted once, when the view opens */
    int64_t undo_bytes;
    size_t old_snapshots;
    size_t held_snapshots; /* those that stay although they are old */
    bool counted;
    struct err error; /* why the sweep is missing */
    unsigned asked;   /* generation of EFFECT_SWEEP; 0: none */
    int64_t asked_ms;
    struct cleanup_line *line; /* owned */
    size_t lines;
    uint32_t *shown; /* owned; indexes of the lines, without those of closed projects */
    size_t shown_n;
    struct name_list opened; /* projects whose sessions are shown in their order */
    size_t at;               /* the cursor: a rule, or CLEANUP_RULE_COUNT + an index in `shown` */
    size_t top;              /* the first of `shown` on the screen */
};

void cleanup_fini(struct cleanup *c);

/* --- private to this folder */
/* Sorts the items into lines. Returns false if out of memory. */
bool cleanup_arrange(struct cleanup *c);
/* Shows or hides the sessions of a head's project. Returns false if out of memory. */
bool cleanup_open_project(struct cleanup *c, size_t head, bool open);
bool cleanup_is_open(const struct cleanup *c, size_t head);
/* The head of the project that a line belongs to; the line itself if the lines have no heads. */
size_t cleanup_head_of(const struct cleanup *c, size_t line);
/* The index in `shown` of a line, or else of its head. */
size_t cleanup_row_of(const struct cleanup *c, size_t line);
/* The line after the last one of a head's project. */
size_t cleanup_group_end(const struct cleanup *c, size_t head);
/* The totals of some lines: all of them, or those of one project. */
struct cleanup_sum {
    size_t n, ticked, kept; /* kept: cannot be ticked */
    int64_t bytes, ticked_bytes;
};
struct cleanup_sum cleanup_sum(const struct cleanup *c, size_t first, size_t end);
/* The column of a checkbox on a screen of so many columns. */
int cleanup_checkbox_x(int cols, enum cleanup_rule rule);
void cleanup_draw(const struct model *m, struct frame *f);
/* The number of lines that fit below the rules. */
size_t cleanup_fit(int rows);
enum {
    CLEANUP_RULE_LINES = 5,
    CLEANUP_RULES_Y = 1,
    CLEANUP_LIST_Y = CLEANUP_RULES_Y + CLEANUP_RULE_LINES + 1
};

/* "14 old undo records, 28 KB, and 3 old snapshots"; returns out. */
enum { CLEANUP_OLD_TEXT = 120 };
const char *cleanup_old_text(const struct cleanup *c, char out[CLEANUP_OLD_TEXT]);

#endif
