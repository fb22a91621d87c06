#ifndef TUI_SCREENS_OVERVIEW_OVERVIEW_H
#define TUI_SCREENS_OVERVIEW_OVERVIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "store/api/session.h"
#include "store/blame/compare.h"
#include "store/rewind/plan/turn_files.h"
#include "tui/app/action.h"
#include "tui/data/board_rows.h"
#include "tui/data/ref_list.h"
#include "tui/data/usage_groups.h"
#include "tui/widgets/list_cursor.h"
#include "tui/widgets/styled_text.h"

struct view_ops;
struct model;
struct msg;
struct comparison;
struct preview;

/* ---- board_view.c ---- */

/* The sessions that run now in all projects, those that wait for a person first. It follows: a change of a file in a
 * watched folder reads it again, and once a second it is checked whether the processes still run. */
extern const struct view_ops view_board;

struct board_view {
    struct board_rows *rows; /* owned; NULL until they arrive */
    struct err error;        /* why they are missing */
    unsigned asked;          /* generation of EFFECT_BOARD; 0: none */
    int64_t asked_ms, read_ms, checked_ms;
    int64_t rested_ms; /* not to be read before, so that it takes a small part of the time */
    bool stale;        /* something changed since it was asked for */
    struct list_cursor pick;
    /* The session that is read along, if the list does not have it, and its file as it was shown. */
    struct buf reading;
    struct file_id read_file;
};

void board_view_fini(struct board_view *v);

/* ---- compare_view.c ---- */

extern const struct view_ops view_compare;

struct compare_view {
    struct ref_list *refs; /* owned; the two sessions, A and B */
    struct buf title[2];
    struct compared_sessions *sessions; /* owned; NULL until they arrive */
    size_t *file;                       /* owned; those that either changed, by their number */
    size_t files;
    struct err error; /* why they are missing */
    unsigned asked;   /* generation of EFFECT_COMPARE_SESSIONS; 0: none */
    int64_t asked_ms;
    struct list_cursor pick;
    struct styled_text text; /* the contents of the selected row */
    size_t top;              /* the first line of them on the screen */
    /* A file that is taken from one of them (take_flow.c): which side, what would be done, and the generations of
     * EFFECT_TAKE and EFFECT_REWIND; 0: none. */
    size_t side;
    bool in_part;            /* some of its hunks were taken */
    struct preview *preview; /* owned */
    unsigned asked_take, asked_rewind;
    /* Its hunks, of which some are chosen; NULL: no file is being taken in parts. The generation of EFFECT_COMPARE. */
    struct comparison *hunks; /* owned */
    bool *taken;              /* owned; one for each hunk */
    size_t hunk;              /* the selected one */
    unsigned asked_hunks;
};

void compare_view_fini(struct compare_view *v);
void compare_lay_out(struct model *m);

/* What the rows stand for (compare_text.c). */
enum { COMPARE_MOST_LINES = 5000 };
/* The common prompts once, then the others next to each other. */
void compare_text_prompts(struct styled_text *out, const struct compared_sessions *c, int width,
                          bool ascii);
/* What each side did to the file, and its lines: those of A as taken away, those of B as added, if both are known. */
void compare_text_file(struct styled_text *out, const struct compared_file *f, int width,
                       bool ascii);
/* How the sides differ: "differs", "deleted by A", "added by B". */
const char *compare_text_word(const struct compared_file *f);

/* Takes the file as that side left it: shows what would be done, and does it after a question. Does nothing without a
 * file. */
void take_flow_begin(struct model *m, const struct compared_file *f, size_t side);
bool take_flow_message(struct model *m, const struct msg *msg);
/* While hunks are chosen, all keys are about them. */
bool take_flow_act(struct model *m, enum action a);
void take_flow_leave(struct compare_view *v);
/* Why that side has nothing to take; NULL: it has. */
const char *take_flow_unavailable(const struct compared_file *f, size_t side);

/* ---- tree_view.c ---- */

/* The files as they were before the turn that the rewind view has selected (A), and as they were at another one or are now
 * (B). Opened from the rewind view, which stays below. */
extern const struct view_ops view_tree;

struct tree_row {
    size_t file; /* a directory: the first file in it */
    size_t name; /* where its name begins in the path, and its length */
    size_t name_n;
    bool is_dir;
};

struct tree_view {
    size_t turn[2];           /* by their numbers in the rewind view; their count stands for now */
    struct turn_files *files; /* owned; NULL until they arrive */
    bool differing;           /* only files that differ, with their diffs; else the tree of A */
    struct buf dir;           /* the directory that is shown: "src/" */
    struct tree_row *row;     /* owned */
    size_t rows;
    struct err error; /* why the files are missing */
    /* generations of EFFECT_TURN_FILES and EFFECT_TURN_FILE; 0: none */
    unsigned asked, asked_text;
    int64_t asked_ms;
    struct list_cursor pick;
    struct buf present; /* the text of the selected file, if it is as it is now, */
    const char *why;    /* or why it is not shown */
    struct styled_text text;
    size_t below; /* the files below a selected directory, which stand in place of a text */
    size_t top;   /* the first line of either on the screen */
};

void tree_view_fini(struct tree_view *v);

/* ---- usage_view.c ---- */

extern const struct view_ops view_usage;

struct usage_view {
    struct usage_groups *groups; /* owned; NULL until they arrive */
    enum usage_by by;
    int64_t most; /* the largest total of a group */
    /* The sessions behind a bar are shown: the bar, and its row. */
    bool is_within;
    struct usage_group within;
    enum usage_by within_by;
    size_t from;
    struct err error; /* why they are missing */
    unsigned asked;   /* generation of EFFECT_USAGE_GROUPS; 0: none */
    int64_t asked_ms;
    struct list_cursor pick;
};

void usage_view_fini(struct usage_view *v);

#endif
