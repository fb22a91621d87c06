#ifndef TUI_SCREENS_TRANSCRIPT_STATE_H
#define TUI_SCREENS_TRANSCRIPT_STATE_H

#include "tui/screens/page.h"
#include "tui/screens/transcript.h"
#include "tui/search.h"

/* What the transcript view is made of. Shared by tui/screens/transcript*.c only.
 *
 *     conversation   where every message of it lies in the file; nothing is decoded
 *        window      a contiguous part of it around the viewport, read and laid out on demand
 *           rows     what stands on the screen, line by line
 *
 * A spot is a line of a message. The viewport hangs on its top spot, never on a line number of the whole, since
 * nobody knows how many lines 300,000 messages are. */

struct spot {
    size_t message, line;
};

/* One message of the window. */
struct slot {
    struct passage passage;
    struct sheet sheet;
    enum page_end end;
    unsigned stamp; /* of the layout it was laid out with; 0: not yet */
};

struct window {
    struct slot *slot;    /* owned */
    size_t first, n, cap; /* messages first ... first + n - 1 */
};

/* A list over the conversation: sub-agents or branches to choose from. */
struct choice {
    struct name_list *names;  /* owned: a line each; NULL: no choice is open */
    struct name_list *agents; /* owned; of sub-agents: their ids ... */
    struct name_list *tasks;  /* ... and what they were asked */
    struct id128 *leaf;       /* owned; of branches: their last messages, the first is none */
    size_t at;
};

/* The entry as it is stored, over the conversation. */
struct raw {
    bool shown;
    struct sheet sheet;
    size_t top;
};

struct search {
    bool typing;
    struct buf needle; /* what is looked for, as typed */
    struct hit *hit;   /* owned; in the order of the conversation */
    size_t n, cap;
    size_t total;       /* occurrences in all hits */
    unsigned asked;     /* generation; 0: nothing is asked */
    bool done, limited; /* all was searched; more was found than is kept */
    struct spot from;   /* where the cursor was when the search began */
    size_t at;          /* the hit that was gone to, 1 + its place; 0: none */
    uint32_t nth;       /* which of its occurrences */
    bool wanted;        /* it is shown as soon as it is read */
    struct spot shown;  /* where the cursor was put for it */
    bool jump;          /* the cursor goes to the first hit behind `from` when it comes */
    bool again;         /* the file is searched anew: the hit at `here` is the one gone to */
    int64_t here;       /* the place of its row in the file */
    struct hit here_hit;
};

struct transcript_view {
    const struct settings *settings;
    enum asker asker;

    struct ref_list *session; /* owned; NULL: nothing is shown */
    struct arena texts;
    struct slice title, root;
    int64_t now_ms; /* as of the last message */

    struct conversation *conversation; /* held; NULL until the tail has come */
    size_t tail_bytes;
    struct id128 branch; /* the last message of the branch that is shown; none: no branch */
    unsigned asked_tail, asked_load, asked_read; /* generations; 0: not asked */
    unsigned asked_names, asked_branches;
    size_t read_first, read_n; /* what asked_read asks for */
    struct err error;          /* why there is nothing, or no more */

    int h, w; /* of the whole rectangle */
    struct window window;
    struct folds folds;
    unsigned sizes; /* how often the width changed */
    struct spot top, cursor;
    bool gone;             /* its file is not there any more */
    bool at_end;           /* the end is shown, and is to be shown when more is written */
    bool placed;           /* top and cursor mean something */
    long owed;             /* lines to move as soon as they are read */
    int hunt;              /* looking for the next (1) or the previous (-1) prompt */
    struct spot hunt_from; /* where it began */
    size_t hunt_at;        /* the message looked at next */
    bool to_first;         /* to the very beginning as soon as the whole has come */

    struct spot *row; /* owned; what is on the screen */
    size_t rows, row_cap;

    struct search search;
    struct raw raw;
    struct choice choice;
    size_t agent_at;   /* where the list of sub-agents was left */
    bool agent_listed; /* the inner one was chosen there: leaving it leads back */
    char say[160];     /* one line for the person, until the next key */
    /* owned: a sub-agent's conversation or a branch, over this one */
    struct transcript_view *inner;
};

/* ---- geometry ---- */
static inline bool view_is_preview(const struct transcript_view *v)
{
    return v->asker == ASKER_PREVIEW || v->asker == ASKER_TRASH;
}

static inline bool view_is_branch(const struct transcript_view *v)
{
    return !id128_none(v->branch);
}

int view_body_height(const struct transcript_view *v);
int view_text_width(const struct transcript_view *v);
struct look view_look(const struct transcript_view *v);

/* ---- window (transcript_window.c) ---- */
size_t view_count(const struct transcript_view *v);               /* messages of the conversation */
struct slot *window_slot(const struct window *w, size_t message); /* NULL: not read */
void window_clear(struct window *w);
/* Lines of a message, laying it out if need be; 0 when it shows nothing, or is not read. */
size_t view_lines(struct transcript_view *v, size_t message);
/* To the next or previous line that there is. False at the edge of what was read. */
bool view_step(struct transcript_view *v, struct spot *s, int way);
/* The nearest line that there is. False when nothing was read, or nothing of it shows. */
bool view_settle_spot(struct transcript_view *v, struct spot *s);
/* Takes passages over, as far as they belong to the window or begin a new one. */
void view_take_passages(struct transcript_view *v, struct passage_list *list);
/* Asks for what is missing around the viewport, if nothing is asked yet. */
void view_ask_passages(struct transcript_view *v, struct effects *fx);
/* Begins reading elsewhere: the window is dropped when the message is not in it. */
void view_go_to(struct transcript_view *v, struct spot s);
/* The conversation is replaced by another reading of the same file; what is seen stays. */
void view_replace(struct transcript_view *v, struct conversation *c);

/* ---- viewport (transcript_move.c) ---- */
/* After any change: rows, cursor, and questions for what is missing. */
void view_settle(struct transcript_view *v, struct effects *fx);
void view_move(struct transcript_view *v, long lines);
void view_move_page(struct transcript_view *v, int pages_in_halves);
void view_scroll(struct transcript_view *v, long lines);
void view_to_end(struct transcript_view *v);
void view_to_first(struct transcript_view *v);
void view_to_prompt(struct transcript_view *v, int way);
/* Brings the cursor's line into view, `context` lines from the edge if that can be. */
void view_show_cursor(struct transcript_view *v, size_t context);
int view_spot_cmp(struct spot a, struct spot b);

/* ---- the rest ---- */
void view_search_fini(struct search *s);
void view_search_begin(struct transcript_view *v);
void view_search_typed(struct transcript_view *v, struct effects *fx);
void view_search_step(struct transcript_view *v, int way);
bool view_search_msg(struct transcript_view *v, const struct msg *msg);
void view_search_settle(struct transcript_view *v);
/* Around a change of the conversation: its messages have other numbers afterwards. */
void view_search_keep_place(struct transcript_view *v);
void view_search_again(struct transcript_view *v, struct effects *fx);
/* Occurrences up to the one that was gone to; 0: none was. */
size_t view_search_number(const struct search *s);
/* Adds the text of a line without its margin, and the blank it lost at its end. */
bool view_line_text(const struct sheet *sheet, size_t at, struct buf *out);
void view_search_cancel(struct transcript_view *v, struct effects *fx);

void view_raw_open(struct transcript_view *v);
void view_raw_close(struct transcript_view *v);
void view_raw_scroll(struct transcript_view *v, long lines);

void view_say(struct transcript_view *v, const char *text);
/* The block the cursor is on; NULL where there is none. */
const struct block *view_block(const struct transcript_view *v);
const struct slot *view_cursor_slot(const struct transcript_view *v);
/* Opens a sub-agent's conversation over this one. */
/* Without a task it is called by its id. */
void view_open_agent(struct transcript_view *v, struct slice agent, struct slice task,
                     struct effects *fx);
/* Opens the branch with this last message over this one, where it leaves what the session goes on with. */
void view_open_branch(struct transcript_view *v, struct id128 leaf, struct effects *fx);

/* ---- what can be chosen (transcript_choice.c) ---- */
void view_choose_agent(struct transcript_view *v, struct effects *fx);
void view_list_agents(struct transcript_view *v, struct effects *fx);
void view_choose_branch(struct transcript_view *v, struct effects *fx);
/* The answers: taken over. */
void view_take_agents(struct transcript_view *v, struct subagent_list *list, struct effects *fx);
void view_take_branches(struct transcript_view *v, struct branch_list *list);
enum transcript_wish view_choice_act(struct transcript_view *v, enum action a, struct effects *fx);
void view_choice_close(struct transcript_view *v);

#endif
