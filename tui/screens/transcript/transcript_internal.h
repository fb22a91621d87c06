#ifndef TUI_SCREENS_TRANSCRIPT_TRANSCRIPT_INTERNAL_H
#define TUI_SCREENS_TRANSCRIPT_TRANSCRIPT_INTERNAL_H

#include "tui/data/search_hits.h"
#include "tui/screens/transcript/layout.h"
#include "tui/screens/transcript/transcript.h"

/* The parts of the transcript view. Shared by the files of this folder only.
 *
 *     conversation   the offset of every message in the file; nothing is decoded
 *        window      a contiguous part of it around the viewport, read and laid out on demand
 *           rows     what is on the screen, line by line
 *
 * A position is a line of a message. The viewport is tied to its top position, never to a line
 * number in the whole conversation, because the number of lines of 300,000 messages is not known. */

struct transcript_position {
    size_t message, line;
};

/* One message of the window. */
struct slot {
    struct passage passage;
    struct styled_text styled_text;
    enum message_layout_end end;
    unsigned stamp; /* stamp of the layout that was used; 0: not laid out yet */
};

struct transcript_window {
    struct slot *slot;    /* owned */
    size_t first, n, cap; /* messages first ... first + n - 1 */
};

/* A list over the conversation: sub-agents, branches or texts to choose from. */
struct transcript_choice {
    struct name_list *names;  /* owned: one line each; NULL: no choice is open */
    struct name_list *agents; /* owned; of sub-agents: their ids ... */
    struct name_list *tasks;  /* ... and their tasks; of branches: their titles */
    struct name_list *copies; /* owned; of texts: the texts */
    struct id128 *leaf;       /* owned; of branches: their last messages, the first is none */
    size_t at;
};

/* The entry as it is stored, over the conversation. */
struct raw {
    bool shown;
    struct styled_text styled_text;
    size_t top;
};

struct transcript_search {
    bool typing;
    struct buf needle;      /* as typed */
    struct search_hit *hit; /* owned; in the order of the conversation */
    size_t n, cap;
    size_t total;                     /* occurrences in all hits */
    unsigned asked;                   /* generation; 0: nothing is asked */
    bool done, limited;               /* all was searched; not all hits are kept */
    struct transcript_position from;  /* where the cursor was when the search began */
    size_t at;                        /* the current hit, 1 + its index; 0: no hit */
    uint32_t nth;                     /* which of its occurrences */
    bool wanted;                      /* the current hit is shown as soon as its message is read */
    struct transcript_position shown; /* where the cursor was put to show it */
    bool last;                        /* the cursor goes to the last hit once all are known */
    bool jump;    /* the cursor goes to the first hit after `from` when it arrives */
    bool again;   /* the file is being searched again: the hit at `here` becomes the current one */
    int64_t here; /* the offset of its row in the file */
    struct search_hit here_hit;
    bool waits; /* waits for the whole conversation, to search from its beginning */
};

struct transcript_view {
    const struct settings *settings;
    enum requester requester;

    struct ref_list *session; /* owned; NULL: nothing is shown */
    struct arena texts;
    struct slice title, root;
    int64_t now_ms; /* as of the last message */

    struct conversation *conversation; /* held; NULL until the tail arrives */
    size_t tail_requested,
        tail_shown;      /* messages at the end: how many were asked for, and how many are shown */
    struct id128 branch; /* the last message of the branch that is shown; none: no branch */
    unsigned asked_tail, asked_load, asked_read; /* generations; 0: not asked */
    unsigned asked_names, asked_branches, asked_usage;
    struct conversation_usage *usage; /* owned; NULL: not known */
    size_t read_first, read_n;        /* what asked_read asks for */
    struct err error;                 /* why there is nothing, or no more */
    bool stuck;                       /* more could not be read; requested again after a key */

    int h, w; /* the size of the whole rectangle */
    struct transcript_window window;
    struct folds folds;
    unsigned sizes; /* how often the width changed */
    struct transcript_position top, cursor;
    bool gone;       /* its file no longer exists */
    bool at_end;     /* the end is shown, and stays in view when more is written */
    bool placed;     /* top and cursor are valid */
    long owed;       /* lines to move as soon as they are read */
    int seek_prompt; /* looking for the next (1) or the previous (-1) prompt */
    struct transcript_position seek_from; /* where it began */
    size_t seek_at;                       /* the message to examine next */
    struct id128 to_message;              /* go to this message then; none: stay */
    bool to_first;                        /* go to the beginning as soon as the whole conversation
                                             arrives */

    struct transcript_position *row; /* owned; what is on the screen */
    size_t rows, row_cap;

    struct transcript_search search;
    struct raw raw;
    struct transcript_choice choice;
    size_t agent_at;     /* where the list of sub-agents was left */
    bool agent_listed;   /* the inner one was chosen there: leaving it returns to the list */
    char notice[160];    /* one line for the person, until the next key */
    bool notice_refuses; /* it is the reason why nothing was done */
    bool told_lost;      /* that a resume leaves out a part by mistake */
    /* owned: a sub-agent's conversation or a branch, over this one */
    struct transcript_view *inner;
};

/* ---- geometry ---- */
static inline bool transcript_view_is_preview(const struct transcript_view *v)
{
    return v->requester == REQUESTER_PREVIEW || v->requester == REQUESTER_TRASH;
}

static inline bool transcript_view_is_branch(const struct transcript_view *v)
{
    return !id128_none(v->branch);
}

int transcript_view_body_height(const struct transcript_view *v);
int transcript_view_text_width(const struct transcript_view *v);
/* The columns of the list of turns, which is at the right of the text on wide screens; else 0. */
int transcript_view_turns_width(const struct transcript_view *v);
/* Returns true if a turn of that list is there; the place is relative to the view. */
bool transcript_view_turn_at(const struct transcript_view *v, int y, int x, size_t *turn);
struct layout_options transcript_view_layout(const struct transcript_view *v);

/* ---- window (transcript_window.c) ---- */
size_t transcript_view_count(const struct transcript_view *v); /* messages of the conversation */
struct slot *transcript_window_slot(const struct transcript_window *w,
                                    size_t message); /* NULL: not read */
void transcript_window_clear(struct transcript_window *w);
/* The number of lines of a message, which is laid out if necessary; 0 if it shows nothing, or is
 * not read. */
size_t transcript_view_lines(struct transcript_view *v, size_t message);
/* Returns true, and a text with its size, if the last line of the file is cut short. */
enum { CUT_LINE_TEXT = 64 };
bool transcript_view_cut_line(const struct transcript_view *v, char out[CUT_LINE_TEXT]);
/* Moves to the next or previous existing line. Returns false at the edge of what was read. */
bool transcript_view_step(struct transcript_view *v, struct transcript_position *s, int direction);
/* Finds the nearest existing line. Returns false if nothing was read, or nothing of it is shown. */
bool transcript_view_nearest_line(struct transcript_view *v, struct transcript_position *s);
/* Takes over the passages that belong to the window or begin a new one. */
void transcript_view_set_rows(struct transcript_view *v, struct passage_list *list);
/* Requests the rows missing around the viewport, unless a request is open. */
void transcript_view_request_rows(struct transcript_view *v, struct effects *fx);
/* Goes to another position; the window is dropped if the message is not in it. */
void transcript_view_go_to(struct transcript_view *v, struct transcript_position s);
/* Replaces the conversation by another reading of the same file, without moving what is on the
 * screen. */
void transcript_view_replace(struct transcript_view *v, struct conversation *c);

/* ---- viewport (transcript_move.c) ---- */
/* Called after any change: updates the rows and the cursor, and requests what is missing. */
void transcript_view_settle(struct transcript_view *v, struct effects *fx);
/* Called after that: requests more of the conversation if it is not read completely and is wanted. */
void transcript_view_want_more(struct transcript_view *v, struct effects *fx);
void transcript_view_move(struct transcript_view *v, long lines);
void transcript_view_move_page(struct transcript_view *v, int pages_in_halves);
void transcript_view_scroll_lines(struct transcript_view *v, long lines);
void transcript_view_to_end(struct transcript_view *v);
void transcript_view_to_first(struct transcript_view *v);
void transcript_view_to_prompt(struct transcript_view *v, int direction);
/* Brings the cursor's line into view, `context` lines from the edge if possible. */
void transcript_view_show_cursor(struct transcript_view *v, size_t context);
int transcript_view_position_cmp(struct transcript_position a, struct transcript_position b);

/* ---- the rest ---- */
void transcript_view_search_fini(struct transcript_search *s);
void transcript_view_search_begin(struct transcript_view *v);
/* Brings the cursor back to where it was when the search began. */
void transcript_view_search_return(struct transcript_view *v);
void transcript_view_search_typed(struct transcript_view *v, struct effects *fx);
void transcript_view_search_step(struct transcript_view *v, int direction);
bool transcript_view_search_msg(struct transcript_view *v, const struct msg *msg);
void transcript_view_search_settle(struct transcript_view *v);
/* Called before and after the conversation is replaced, because its messages then have other
 * numbers. */
void transcript_view_search_keep(struct transcript_view *v);
void transcript_view_search_again(struct transcript_view *v, struct effects *fx);
/* Appends the text of a line without its margin, with the blank that was left out at its end. */
bool transcript_view_line_text(const struct styled_text *styled_text, size_t at, struct buf *out);
void transcript_view_search_cancel(struct transcript_view *v, struct effects *fx);

void transcript_view_raw_open(struct transcript_view *v);
void transcript_view_raw_close(struct transcript_view *v);
void transcript_view_raw_scroll(struct transcript_view *v, long lines);

/* Copies the text under the cursor, or asks which part to copy. */
void transcript_view_copy(struct transcript_view *v, struct effects *fx);
void transcript_view_copy_text(struct transcript_view *v, struct slice text, struct effects *fx);

void transcript_view_notify(struct transcript_view *v, const char *text);
/* Says why nothing was done. */
void transcript_view_refuse(struct transcript_view *v, const char *why);
void transcript_view_notify_no_memory(struct transcript_view *v);
/* The block under the cursor; NULL if the cursor is on no block. */
const struct block *transcript_view_block(const struct transcript_view *v);
const struct slot *transcript_view_cursor_slot(const struct transcript_view *v);
/* Opens a sub-agent's conversation over this one. Without a task its id is the title. */
void transcript_view_open_agent(struct transcript_view *v, struct slice agent, struct slice task,
                                struct effects *fx);
/* Opens the branch with this last message over this one, at the point where it leaves the
 * conversation. */
void transcript_view_open_branch(struct transcript_view *v, struct id128 leaf, struct slice title,
                                 struct effects *fx);

/* ---- what can be chosen (transcript_choice.c) ---- */
void transcript_view_choose_agent(struct transcript_view *v, struct effects *fx);
void transcript_view_list_agents(struct transcript_view *v, struct effects *fx);
void transcript_view_choose_branch(struct transcript_view *v, struct effects *fx);
/* Answers to questions, which are taken over. */
void transcript_view_set_agents(struct transcript_view *v, struct subagent_list *list,
                                struct effects *fx);
void transcript_view_set_branches(struct transcript_view *v, struct branch_list *list);
enum transcript_view_result transcript_view_choice_act(struct transcript_view *v, enum action a,
                                                       struct effects *fx);
void transcript_view_choice_close(struct transcript_view *v);

#endif
