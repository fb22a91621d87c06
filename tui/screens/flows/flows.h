#ifndef TUI_SCREENS_FLOWS_FLOWS_H
#define TUI_SCREENS_FLOWS_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"
#include "tui/app/action.h"
#include "tui/data/change_request.h"
#include "tui/data/preview.h"
#include "tui/data/ref_list.h"

/* From a key to something done, with the questions on the way: resuming a session, changing sessions, undoing a change.
 * A flow is no view: it asks with the dialog and the prompt, and is a row of the table of views for its messages. */
struct model;
struct view_ops;
struct sweep;

extern const struct view_ops view_resume_flow, view_change_flow;

/* --- resume (resume_flow.c): Enter was pressed. Its row may not be read yet, or a worker is still asked whether the
 * session's directory exists. (While it waits for its row, `resume_waits` of the model is set.) */
struct resume_flow {
    enum action action;                /* ACT_RESUME, ACT_PRINT */
    uint32_t entry;                    /* the session; ENTRY_NONE: the one that will be selected */
    unsigned question;                 /* generation of EFFECT_RESUME_DIRS; 0: none */
    bool knows_live;                   /* the person was told that it is running */
    struct resume_dirs *place;         /* owned; what the dialog chooses from */
    const struct session_row **chosen; /* owned: the rows of EFFECT_RESUME and EFFECT_PRINT */
};

void resume_flow_begin(struct model *m, enum action a);
/* Something has arrived: goes on if it was waited for. */
void resume_flow_retry(struct model *m);
/* The entries are numbered anew, so that the chosen one may be another session: asks the person to choose again. */
void resume_flow_renumbered(struct model *m);
void resume_flow_fini(struct resume_flow *r);

/* --- change (change_flow.c): a change that is being asked about, and those that are being made */
enum { CHANGES_MAX = 8 }; /* made one after the other; more than that is a key that is held down */

struct pending_change {
    /* what is being asked about */
    struct ref_list *refs;       /* owned; NULL: nothing is asked */
    struct name_list *titles;    /* owned; beside refs */
    size_t running, unsupported; /* sessions that were meant too, but stay */
    size_t unsure;               /* of refs: an agent may be writing to them */
    size_t partly;               /* of refs: something of them stays, */
    const char *stays;           /* namely this, of one of them; a literal */
    int64_t bytes;
    bool all_archived;
    char message[40];    /* the id of the message that is meant; "": none */
    unsigned estimating; /* generation of EFFECT_ESTIMATE_DELETE; 0: none */

    /* what is being done */
    size_t under_way;
    enum change_request request; /* the last that was asked for */
    int64_t since_ms;
    unsigned newest; /* generation of the last EFFECT_CHANGE */
};

/* Asks for the repair of one session. */
void change_flow_request_fix(struct model *m, uint32_t entry);
/* Asks for a change that needs only names; takes them over. */
void change_flow_request_names(struct model *m, enum change_request request,
                               struct name_list *names);
/* Asks for the change with this id to be undone or redone (CHANGE_UNDO, CHANGE_REDO); takes the names over. */
void change_flow_request_undo(struct model *m, enum change_request request, struct name_list *names,
                              struct slice id);
/* Asks to move what is chosen of a sweep to the trash; takes the sweep over. */
void change_flow_request_sweep(struct model *m, struct sweep *sweep);
/* Forgets what was being asked about. */
void change_flow_clear(struct model *m);

/* --- undo and redo (undo_flow.c): asks about changes made elsewhere or in another run, and about files that changed
 * since */
struct undo_flow {
    enum change_request request;
    bool in_view; /* asked for by the rewind view, which does it itself */
    char id[64];
    struct name_list *edited; /* owned: files that changed since */
    struct name_list *taken;  /* owned: those that are undone all the same */
    size_t at;                /* the one that is asked about */
    struct name_list *made;   /* owned: rewinds of this run; NULL: none */
};

void undo_flow_begin(struct model *m, enum change_request request);
/* The worker did nothing yet: asks the person what it has to know first. */
void undo_flow_confirm(struct model *m, const struct change_result *c);
/* An answer for the rewind view: notes its record, or asks about files that changed since; frees the list of those. */
void undo_flow_rewound(struct model *m, const struct rewind_summary *r);
/* This run made the rewind with this record, so that undoing it needs no question. */
void undo_flow_note_rewind(struct model *m, const char *record);
void undo_flow_fini(struct undo_flow *u);

/* --- the words about a change, and what came of it (change_result.c). Titles are data: the line is cleaned when it
 * is drawn. */
struct change_text {
    char text[200];
};

/* A title in quotation marks, cut if it is long. */
struct change_text change_text_title(const struct model *m, struct slice title);
/* "3 sessions" */
struct change_text change_text_count(size_t n);
/* What is being done, while it takes time. */
const char *change_text_doing(enum change_request request);
/* Reports the result, or asks what has to be known first; every view that it may have touched is read again. */
void change_flow_finish(struct model *m, const struct change_result *c);

#endif
