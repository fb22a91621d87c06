#ifndef TUI_SCREENS_FLOWS_FLOWS_H
#define TUI_SCREENS_FLOWS_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"
#include "tui/app/action.h"
#include "tui/app/msg.h"
#include "tui/data/change_request.h"
#include "tui/data/preview.h"
#include "tui/data/ref_list.h"

/* The steps from a key to a completed operation, with the questions in between: resuming a session,
 * changing sessions, undoing a change. A flow is not a view: it asks with the dialog and the
 * prompt, and has a row in the table of views only for its messages. */
struct model;
struct view_ops;
struct sweep;
struct effect;

extern const struct view_ops view_resume_flow, view_change_flow;

/* --- resume (resume_flow.c): Enter was pressed. The row of the session may not have been read yet,
 * or a worker may still be checking whether its directory exists. (While the flow waits for the
 * row, `resume_waits` of the model is set.) */
struct resume_flow {
    enum action action; /* ACT_RESUME, ACT_FORK, ACT_PRINT */
    uint32_t entry;     /* the session; ENTRY_NONE: the one that will be selected */
    unsigned question;  /* generation of EFFECT_RESUME_DIRS or EFFECT_TERMINAL; 0: none */
    struct agent_terminal terminal;    /* in which it runs */
    bool marked;                       /* to print: the marked ones instead */
    bool forks;                        /* the agent continues a fork of it */
    bool knows_live;                   /* the person knows that it is running */
    struct resume_dirs *place;         /* owned; the choices of the dialog */
    const struct session_row **chosen; /* owned: the rows of EFFECT_RESUME and EFFECT_PRINT */
    struct name_list *words;           /* owned: flags for the agent, or NULL */
};

/* ACT_RESUME; ACT_PRINT; ACT_FORK: for a session that only its agent can fork. The words, or NULL, are flags in addition to
 * the configured ones; takes them over. */
void resume_flow_begin(struct model *m, enum action a, struct name_list *words);
/* Brings the terminal of an agent's process to the front, and quits. */
void resume_flow_show_terminal(struct model *m, int pid);
/* Continues if what the flow waits for has arrived. */
void resume_flow_retry(struct model *m);
/* Called when entries get new numbers: the chosen number may now be another session, so the person
 * has to choose again. */
void resume_flow_renumbered(struct model *m);
void resume_flow_fini(struct resume_flow *r);

/* --- change (change_flow.c): a change that waits for an answer, and those being made */
enum {
    CHANGES_MAX = 8
}; /* made one after the other; only a key that is held down could cause more */

struct pending_change {
    /* the change that waits for an answer */
    struct ref_list *refs;       /* owned; NULL: no question is open */
    struct name_list *titles;    /* owned; beside refs */
    size_t running, unsupported; /* selected sessions that stay */
    size_t unsure;               /* how many of refs an agent may be writing to */
    size_t partly;               /* how many of refs leave a part behind */
    const char *stays;           /* such a part, for one of them; a literal */
    int64_t bytes;
    bool all_archived, all_pinned, all_kept;
    char message[40]; /* the id of the message to act on; "": no message */
    /* owned: the sessions of a request that is made again when the person has confirmed it, or NULL */
    struct ref_list *asked;
    unsigned asked_by; /* generation of the EFFECT_CHANGE that asks about them */
    enum change_request asked_request;
    struct buf asked_text;
    char asked_line[300];    /* the command */
    struct name_list agents; /* those of which one is chosen */
    unsigned estimating;     /* generation of EFFECT_ESTIMATE_DELETE; 0: none */

    /* changes under way */
    size_t under_way;
    enum change_request request; /* the last request */
    int64_t since_ms;
    unsigned newest; /* generation of the last EFFECT_CHANGE */
};

/* Requests the repair of the one session in the list, and takes the list over; NULL if out of memory. */
void change_flow_request_fix(struct model *m, struct ref_list *session);
/* Requests a change that needs only names; takes them over. */
void change_flow_request_names(struct model *m, enum change_request request,
                               struct name_list *names);
/* Requests an undo or redo of the change with this id (CHANGE_UNDO, CHANGE_REDO); takes the names
 * over. */
void change_flow_request_undo(struct model *m, enum change_request request, struct name_list *names,
                              struct slice id);
/* Asks about the change with this id, and undoes it if the person wants that. */
void change_flow_ask_undo(struct model *m, const char *id);
/* Requests to move the chosen items of a sweep to the trash; takes the sweep over. */
void change_flow_request_sweep(struct model *m, struct sweep *sweep);
/* Requests to remove the old undo records, if there are still so many. */
void change_flow_request_prune(struct model *m, size_t records, size_t snapshots);
/* Forgets the change that waits for an answer. */
void change_flow_clear(struct model *m);
/* The same after running out of memory, which is reported. */
void change_flow_fail(struct model *m);
/* Passes the collected sessions to a worker. Returns NULL if out of memory, which is reported. */
struct effect *change_flow_submit(struct model *m, enum change_request request, struct slice text);

/* --- changes that only the agent of a session can make (change_flow.c) */

/* Returns true if the change of the collected sessions is one of those, or was refused with a note. */
bool agent_flow_wants(struct model *m, enum action a);
/* Requests the command of the collected session. */
void agent_flow_begin(struct model *m, enum change_request request, struct slice text);
/* Shows the command, and runs it if the person wants that. */
void agent_flow_ask(struct model *m, const struct change_result *r);
/* Forgets the question. */
void agent_flow_clear(struct model *m);

/* --- what is made of sessions for another place (carry_flow.c): a session of another agent, a bundle, a project that
 * moved */

/* Asks for the file of a bundle; takes the collected sessions. */
void carry_flow_ask_file(struct model *m);
/* The sessions follow the project of this one. */
void carry_flow_move(struct model *m, uint32_t entry, const struct project_place *place);
/* The worker has made nothing yet: asks in which agent, or shows what would be made. */
void carry_flow_ask(struct model *m, const struct change_result *r);

/* --- delete (delete_flow.c): the question about the collected sessions, and the exact numbers for it */
void delete_flow_begin(struct model *m);
void delete_flow_estimate(struct model *m, const struct delete_estimate *w);

/* --- undo and redo (undo_flow.c): questions about changes made elsewhere or in another run, and
 * about files that changed since */
struct undo_flow {
    enum change_request request;
    bool in_view; /* requested by the rewind view, which carries it out */
    char id[64];
    struct name_list *edited; /* owned: files that changed since */
    struct name_list *taken;  /* owned: those to be undone anyway */
    size_t at;                /* the file in question */
};

/* The worker has done nothing yet: asks the person the questions that must be answered first. */
void undo_flow_confirm(struct model *m, const struct change_result *c);
/* Handles an answer for the rewind view: asks about files that changed since, and frees their list. */
void undo_flow_rewound(struct model *m, const struct rewind_summary *r);
void undo_flow_fini(struct undo_flow *u);

/* --- texts about a change and its result (change_result.c). Titles are data: the line is cleaned
 * when it is drawn. */
struct change_text {
    char text[200];
};

/* A title in quotation marks, cut if it is long. */
struct change_text change_text_title(const struct model *m, struct slice title);
/* "3 sessions" */
struct change_text change_text_count(size_t n);
/* The text shown while a change is under way. */
const char *change_text_doing(enum change_request request);
/* Reports the result of that EFFECT_CHANGE, or asks the questions that come first; every view that may be affected is
 * read again. */
void change_flow_finish(struct model *m, const struct change_result *c, unsigned generation);

#endif
