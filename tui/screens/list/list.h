#ifndef TUI_SCREENS_LIST_LIST_H
#define TUI_SCREENS_LIST_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/app/effect.h"
#include "tui/app/key.h"
#include "tui/app/msg.h"
#include "tui/config/config.h"
#include "tui/data/findings.h"
#include "tui/data/search_hits.h"
#include "tui/data/session_table.h"
#include "tui/filter/filter.h"
#include "tui/screens/transcript/transcript.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/line_editor.h"

/* The picker: the sessions of a scope that match the query, in order; one of them is selected.
 *
 *     session table (all sessions) -> order (sorted) -> filter.hit (those that match): shown in the
 *     list
 *
 * Invariants:
 *  - `selected` is the entry under the cursor, ENTRY_NONE only if nothing is shown; `at` is its
 *    place;
 *  - until the person moves the cursor or the sessions have been read, it stays at the top and `selected` changes;
 *    after that, `selected` stays, on the same line of the screen where possible, and `at` changes;
 *  - top <= at < top + rows that fit.
 *
 * A key is meant for what the person saw a moment before. So rows do not move right after the cursor was moved, and an
 * action goes to the session that was under the cursor until then. */
enum { DESCRIBE_JOBS = 3, LIST_TRACKED_MAX = 8, LIST_MOMENT_MS = 300 };

struct describe_job {
    unsigned generation; /* 0: free */
    size_t left;         /* rows not answered yet */
};

enum { LIST_FLAGS = 8 };

struct list_widths {
    int dir, branch, system;
    int signs, words; /* all flags of a row, as signs and as words */
    /* the system of all sessions so far; NULL: no session yet, or several systems */
    const struct store_ops *only;
    bool several; /* several systems: only then do rows name theirs */
    bool alike;   /* two of them may be of one kind: only their names tell their rows apart */
};

/* An entry that stays with its session when the scope changes and entries are renumbered. */
struct tracked_entry {
    uint32_t *entry;   /* the entry; ENTRY_NONE: no session */
    struct slice path; /* its path if it is not found yet in the new scope; or empty */
};

/* The value of a field that Tab completed: the next Tab replaces it (list_complete.c). */
struct list_completion {
    size_t typed; /* bytes of the value that were typed; 0 is possible */
    size_t end;   /* length of the query afterwards; 0: nothing was completed */
};

/* The search in conversations: if the query has a //, the list shows those sessions that match what is before it and
 * contain every word after it (list_content.c). All sessions are searched, so that another filter before the same words
 * needs no new search. */
struct list_content {
    struct buf text;         /* what was searched for last; empty: nothing */
    unsigned asked;          /* generation of the search under way; 0: none */
    int64_t ask_ms;          /* when to search, after a pause in typing; TIME_NONE */
    bool stale;              /* the hits belong to an earlier text, until the first answer */
    bool complete;           /* every session was searched for the text */
    struct arena arena;      /* owns the snippets */
    struct content_hit *hit; /* owned; by entry; lines 0: the text does not occur */
    size_t cap;
    size_t sessions, lines;             /* with a hit */
    uint64_t read_sessions, read_bytes; /* by the search under way ... */
    size_t to_search;                   /* ... of so many sessions */
    /* It goes through the sessions in slices, so that the first is searched before all of them are copied. */
    uint8_t *turn; /* owned, by entry: when the session is searched */
    size_t turns, turn_cap;
    size_t slice;                         /* most sessions in the next slice */
    uint64_t slice_sessions, slice_bytes; /* read in the slices before */
    uint32_t *entry;                      /* owned; those of `order` with a hit */
    size_t entry_cap;
    char problem[80];       /* the search failed */
    struct buf previewed;   /* what the preview goes to; empty: nothing */
    uint32_t preview_entry; /* in the conversation of this session */
    bool preview_last;      /* the next conversation begins at its last match */
};

struct model;
struct view_ops;

extern const struct view_ops view_list;

struct list {
    const struct settings *settings;
    const int64_t *now_ms; /* the model's */
    int rows, cols;        /* the size of the screen */

    /* what is there */
    struct session_table sessions;
    struct filter filter;
    struct order order;
    struct fork_tree fork_tree; /* with `tree` */
    bool tree;                  /* forks are below the session they were forked from */
    enum scope_kind scope;
    enum sort_kind sort;
    size_t worktrees; /* other worktrees that were searched */
    unsigned listing; /* generation of the question under way; 0: none */
    bool replace;     /* the first answer to it replaces the session table: the scope has changed */
    bool listed_once; /* the scope has been listed to its end */
    bool read_once;   /* ... and every session in it was read */
    int64_t busy_since; /* when the present work began; TIME_NONE: no work */
    int64_t refresh_ms; /* files have changed: when to list again; TIME_NONE */
    int64_t reorder_ms; /* rows have changed: when to sort and filter again; TIME_NONE */
    size_t next_stale;  /* where in `order` to look for the next rows to describe */
    size_t next_rest;   /* then among the entries */
    struct describe_job job[DESCRIBE_JOBS];
    struct describe_job disk_usage_job, full_scan_job; /* list_details.c */
    size_t next_disk_usage, next_full_scan;            /* among the entries */
    int64_t bytes;                                     /* the size of all sessions in `order` */
    struct problem_list *problems;                     /* owned; NULL: none */
    bool new_problems; /* problems that the previous listing had not */
    unsigned rebuilt;  /* how often it was sorted: its sessions may change each time */
    struct tracked_entry held[LIST_TRACKED_MAX]; /* entries that other views keep */
    size_t tracked_n;
    struct arena tracked_paths;
    struct list_widths widths; /* the widest text of each column so far */

    /* what is shown */
    struct line_editor query;
    struct list_completion completed;
    bool typing; /* vim keys: `/` was pressed, letters are text */
    enum density density;
    uint32_t selected;
    uint32_t sought; /* to be selected when the filter reaches it; ENTRY_NONE: no entry */
    size_t at, top;
    int64_t move_by; /* to be moved when the filter is finished, or more sessions are known */
    bool moved;
    int64_t moved_ms;     /* when the cursor was last moved */
    int64_t shown_ms;     /* when the first sessions of the scope were shown */
    int64_t came_ms;      /* when the selected session came under the cursor */
    uint32_t displaced;   /* it was there for a moment before; ENTRY_NONE: the person left it */
    int64_t displaced_ms; /* when it was displaced */
    bool changing;        /* a change made here is being listed */
    int64_t asked_ms;     /* when that listing was asked for; TIME_NONE */
    struct list_content content;
    char seek[64]; /* the id of a session to select as soon as it is listed; "": no session */
    bool *marked;  /* owned, by entry */
    size_t marked_cap, marks;

    /* the conversation beside it */
    enum preview_mode preview;
    struct transcript_view *view; /* owned */
    uint32_t viewed;              /* the entry that it shows */
    int64_t view_ms;              /* when to show the selected one; TIME_NONE: it is shown */
};

/* Borrows settings and the clock. Returns false if out of memory. */
bool list_init(struct list *l, const struct settings *settings, const int64_t *now_ms,
               struct effects *fx);
void list_fini(struct list *l);

/* Keeps the entry up to date: its session is found again when the scope changes, and it becomes
 * ENTRY_NONE if the session is not in the scope. */
void list_track(struct list *l, uint32_t *entry);
/* Sets it to ENTRY_NONE and no longer looks for its session. */
void list_untrack(struct list *l, uint32_t *entry);

/* --- what happens (list_load.c) */
/* Lists the scope, after a change that was made here or asked for. */
void list_start(struct list *l, struct effects *fx);
void list_rescope(struct list *l, enum scope_kind scope, struct effects *fx);
/* Returns true if the message was for the list or its preview and was taken over. */
bool list_msg(struct list *l, const struct msg *msg, struct effects *fx);
void list_tick(struct list *l, struct effects *fx);
void list_resize(struct model *m);
int64_t list_wake_ms(const struct model *m);
/* Returns true if work has been under way for more than a moment. */
bool list_busy(const struct list *l);
/* Returns true if all sessions are listed and described. */
bool list_settled(const struct list *l);

/* --- what a person does (list.c) */
/* While a typed filter is not finished, the cursor waits for it, but frames are drawn. */
void list_move(struct list *l, int64_t by, struct effects *fx);
void list_move_to(struct list *l, size_t at, struct effects *fx);
/* Before an action: selects the session that the key was meant for, which stays selected from now on. */
void list_aim(struct list *l, struct effects *fx);
/* Returns true if that session is no longer there: nothing may act on its neighbour. */
bool list_aims_at_gone(const struct list *l);
/* Returns true if keys were typed ahead of rows that are still being put in order: what they are meant for comes. */
bool list_is_ahead(const struct list *l);
void list_query_changed(struct list *l, struct effects *fx);
/* Runs another step of the filter, which may take several frames, and lets the selection follow. */
void list_filter_more(struct list *l, struct effects *fx);
/* Runs all remaining steps, before anything acts on what is shown. */
void list_filter_finish(struct list *l, struct effects *fx);
void list_sort(struct list *l, enum sort_kind sort, struct effects *fx);
/* Shows forks below the session they were forked from, or by their own time. */
void list_set_tree(struct list *l, bool tree, struct effects *fx);
void list_set_density(struct list *l, enum density density, struct effects *fx);
void list_set_preview(struct list *l, enum preview_mode mode, struct effects *fx);
void list_mark(struct list *l, uint32_t entry, bool on);
void list_unmark_all(struct list *l);
/* Sorts and filters now, and finds the selection again. */
void list_rebuild(struct list *l, struct effects *fx);
/* The same for rows that arrived, unless the cursor was moved a moment ago. */
void list_arrange(struct list *l, struct effects *fx);
/* Gives the conversation the space below the head of the preview. */
void list_fit_preview(struct list *l, struct effects *fx);
/* Lets the preview follow the selection after a moment. */
void list_follow(struct list *l, struct effects *fx);

/* --- values of fields (list_complete.c) */
/* Completes the value of a field at the end of the query, `system:co`, from the listed sessions; if it was completed
 * just now, replaces it by the next one. Returns false if there is nothing to complete. */
bool list_complete(struct list *l, struct effects *fx);
/* The text that list_complete() would add to the query; borrowed, empty if nothing fits. */
struct slice list_completion_rest(const struct list *l);
/* Writes the values that it would go through, as many as fit into the width w: "Tab: a  b …". Returns false if it has no
 * choice of values. */
bool list_completion_next(const struct list *l, char *out, size_t cap, int w);
/* The actions of the footer while Tab completes, because it does not mark then; else NULL. */
const enum action *list_complete_footer(const struct model *m);

/* --- the search in conversations (list_content.c) */
/* The text that sessions must contain to be shown; empty: the list is filtered by its rows. */
struct slice list_content_text(const struct list *l);
/* The query has changed: a new text is searched for after a pause. */
void list_content_typed(struct list *l, struct effects *fx);
/* Searches for the text of the query now. */
void list_content_request_search(struct list *l, struct effects *fx);
/* Called when entries get new numbers: searches again. */
void list_content_renumbered(struct list *l, struct effects *fx);
/* Takes over an answer to the search. Returns false if the message is not one. */
bool list_content_msg(struct list *l, const struct msg *msg, struct effects *fx);
/* The entries to be filtered: those of the order with a hit. */
const uint32_t *list_content_entries(struct list *l, size_t *n);
/* What was found in a session; NULL: nothing, or no search. */
/* The part of a snippet around its first match that fits into the width, with a sign on each side where something is
 * left out. At least a third of the room is for what is before the match. The part begins and ends with a whole word if
 * there are blanks. */
void list_content_fit(const struct content_hit *hit, int w, int sign, size_t *from, size_t *to);
/* Makes the preview go to the first match of the conversation that it shows. */
void list_content_preview(struct list *l, struct effects *fx);
/* Makes the preview go to the next match (1) or the one before (-1); beyond the last match of a conversation, the next
 * session of the list is selected, if there are several. */
void list_content_step(struct list *l, int direction, struct effects *fx);
const struct content_hit *list_content_hit(const struct list *l, uint32_t entry);
void list_content_fini(struct list *l);

/* --- the layout (list_draw.c) */
struct list_layout {
    struct rect title, query, rows, preview, footer; /* preview.w 0: no preview */
    int item;                                        /* lines per session ... */
    int second;                                      /* ... and one more for the selected one */
    size_t items;                                    /* sessions that fit */
    bool beside; /* the preview is beside the list, not below it */
};

/* Returns true if every session takes two lines on a screen with `cols` columns. */
bool list_has_two_lines(const struct list *l, int cols);
struct list_layout list_layout(const struct list *l, int rows, int cols);
/* Where the conversation is in the preview: below its head, the title and the facts that the row does not show. */
struct rect list_conversation_rect(const struct list *l, const struct list_layout *lay);
/* Finds the row of the list at a point of the screen. Returns false if no row is there. */
bool list_row_at(const struct list *l, int y, int x, size_t *at);

/* --- drawing (list_draw.c, list_row.c, list_preview.c, list_empty.c) */
void list_draw(const struct model *m, struct frame *f);
/* Why there are no rows, and which key helps. */
void list_draw_empty(const struct list *l, struct frame *f, struct rect r);
/* "~/src/shop +2 worktrees" */
void list_draw_scope(const struct list *l, struct frame *f, struct rect r);
void list_widths_include(struct list_widths *w, const struct session_row *row);
/* What the session waits for, or that a command runs after its turn, if that is published; else empty. */
struct slice list_activity(const struct session_row *row);
enum { LIST_PULL_REQUEST = 80 };
/* "owner/repository#7", in `text`; empty: the session has none. */
struct slice list_pull_request(const struct session_row *row, char text[LIST_PULL_REQUEST]);
/* The columns of all rows in a frame. */
struct list_columns {
    int title; /* where it begins, and how wide it is */
    int title_w;
    int size_w, dir_w, system_w, branch_w, flags_w; /* 0: dropped */
    bool several;                                   /* rows name their system */
    bool words; /* the flags of every row in the frame are words; false: signs */
};
struct list_columns list_columns(const struct list *l, const struct list_layout *lay, int w);
void list_draw_row(const struct list *l, struct frame *f, struct rect r, size_t at,
                   const struct list_layout *lay, struct list_columns c);
/* Returns true if the row of the entry has room for its whole title. */
bool list_row_fits_title(const struct list *l, const struct list_layout *lay, uint32_t entry);
void list_draw_preview(const struct list *l, struct frame *f, const struct list_layout *lay);

/* --- the state of a session (list_flags.c) */
/* Each fact as a mark; "" if it does not apply. */
struct list_flag {
    enum style style;
    char text[24];
};

enum list_flag_form { LIST_FLAG_SIGNS, LIST_FLAG_ASCII, LIST_FLAG_WORDS };

void list_row_flags(const struct session_row *row, enum list_flag_form form,
                    struct list_flag out[LIST_FLAGS]);
/* The width of the flags of one row, with the gap between two of them. */
int list_flags_width(const struct list_flag flag[LIST_FLAGS], int gap);
void list_flags_draw(struct frame *f, int y, int x, const struct list_flag flag[LIST_FLAGS],
                     int gap);

/* --- the list as a view (list_view.c) */
/* Goes from this directory to the repository's worktrees, to every project, and round again. */
void list_next_scope(struct model *m);

/* The sessions that a change applies to: the marked ones while the list is the base, else the one
 * of view_entry(). */
struct list_selection {
    const struct list *list;
    bool marked; /* the marked ones, from `next` on; else `one` */
    uint32_t one, next;
};

struct list_selection list_selection_of(const struct model *m);
/* Returns the next of them in *entry, or false after the last one. */
bool list_selection_next(struct list_selection *s, uint32_t *entry);
/* The one session that actions apply to; NULL: none. */
const struct session_entry *list_selection_session(const struct model *m);

/* Returns true if that session can be forked, but only by a command of its agent. */
bool list_session_forks_in_agent(const struct model *m);

/* The ability (enum session_can) that an action needs; 0 if it needs none. */
unsigned list_required_ability(enum action a);
/* The reason why an action is not possible for the selected sessions; NULL if it is. `none` is the
 * reason to return if no session is selected; NULL if the action is possible without one. */
const char *list_session_unavailable(const struct model *m, enum action a, const char *none);
#define LIST_NO_SESSION "no session is selected"
/* Returns true if a key for this action is held back: until the first rows are there, in their order, its session
 * cannot be seen. */
bool list_holds(const struct model *m, enum action a);

#endif
