#ifndef TUI_APP_EFFECT_H
#define TUI_APP_EFFECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/slice.h"
#include "store/api/store.h"
#include "store/export/export.h"
#include "store/maintenance/sweep.h"
#include "store/rewind/plan/plan.h"
#include "tui/config/config.h"
#include "tui/data/change_request.h"
#include "tui/data/conversation.h"
#include "tui/data/preview.h"
#include "tui/data/ref_list.h"

/* Follows EFFECT_BISECT and ends it. */
struct bisect_watch {
    void (*output)(void *arg, struct slice text);
    void *arg;
    const atomic_bool *cancelled;
};

enum { FULL_SCAN_LOADS = 64 << 20 }; /* EFFECT_FULL_SCAN loads no longer conversation */

/* Work that update() requests outside the model. The loop takes the effects after every update
 * (effects_pop) and owns what they contain; effect_fini frees an effect that is not carried out.
 *
 * The answers to a question (the first group) are messages with the same generation; the last
 * answer or MSG_FAILED ends it. Workers may drop a question without an answer as soon as a newer
 * one of the same kind and requester arrives, or an EFFECT_CANCEL names it. */
enum effect_kind {
    EFFECT_LIST,       /* enumerate scope in every store -> MSG_SESSIONS..., MSG_LISTED */
    EFFECT_DESCRIBE,   /* describe refs -> MSG_DESCRIBED...; several may be under way at once */
    EFFECT_DISK_USAGE, /* the disk usage of the refs, with all their files -> MSG_DISK_USAGE... */
    EFFECT_FULL_SCAN,  /* looks through whole files for what their rows lack -> MSG_FULL_SCAN... */
    EFFECT_TAIL,       /* the end of a session, from its last `bytes` -> MSG_TRANSCRIPT */
    EFFECT_LOAD,       /* the whole session -> MSG_PROGRESS..., MSG_TRANSCRIPT */
    EFFECT_READ,       /* rows first .. first + n - 1 of a conversation -> MSG_PASSAGES... */
    EFFECT_SEARCH,     /* `text` in every row of a conversation -> MSG_FOUND... */
    EFFECT_GREP,       /* `text` in the conversations of the refs -> MSG_CONTENT... */
    EFFECT_USAGE, /* the tokens that a session records -> MSG_USAGE; with a conversation also by turn */
    EFFECT_SUBAGENTS, /* names of the session's sub-agents -> MSG_SUBAGENTS */
    EFFECT_BRANCHES,  /* what leaves the conversation -> MSG_BRANCHES */
    EFFECT_TERMINAL, /* the terminal of process n; `shows`: brings it to the front -> MSG_TERMINAL */
    EFFECT_RESUME_DIRS, /* the directories that the session could be resumed in -> MSG_RESUME_DIRS */

    EFFECT_CHECKPOINTS, /* the session's checkpoints -> MSG_CHECKPOINTS */
    EFFECT_TURN_LINES,  /* the same, with the lines that each turn changed -> MSG_CHECKPOINTS */
    EFFECT_PREVIEW,     /* what a rewind to the point in `text` would do -> MSG_PREVIEW */
    EFFECT_BISECT, /* the first turn after which the command in `text` fails -> MSG_BISECT_OUTPUT..., MSG_BISECTED */
    EFFECT_TURN_FILES,  /* the files at the two points in `names` ("": now) -> MSG_TURN_FILES */
    EFFECT_TURN_FILE,   /* the present text of the file in `text` -> MSG_TURN_FILE */
    EFFECT_COMPARE,     /* entry `first` of a preview, line by line -> MSG_COMPARISON */
    EFFECT_REWIND,      /* applies the selected part of a preview, even if the person leaves ->
                    * MSG_PROGRESS..., MSG_REWIND_DONE */
    EFFECT_UNDO_REWIND, /* undoes the record in `text`, including those files in `names` that
                           changed since; NULL: the person is asked about them first ->
                           MSG_REWIND_DONE */

    EFFECT_BLAME,           /* who changed the file in `text`; n: line by line -> MSG_BLAME */
    EFFECT_ESTIMATE_DELETE, /* what deleting the refs would remove -> MSG_DELETE_ESTIMATE */
    EFFECT_SWEEP,           /* the sessions in the scope that `rule` selects -> MSG_SWEEP */
    EFFECT_TRASH,           /* the contents of the trash -> MSG_TRASH */
    EFFECT_LOG, /* the operation log of the scope, or what going back to before the entry `text` would undo -> MSG_LOG */
    EFFECT_BOARD,            /* the sessions that run now in the scope -> MSG_BOARD */
    EFFECT_USAGE_GROUPS,     /* the tokens of all sessions of the scope -> MSG_USAGE_GROUPS */
    EFFECT_COMPARE_SESSIONS, /* the two refs -> MSG_COMPARED */
    EFFECT_TAKE, /* the compared file in `text` as ref `first` of the two left it -> MSG_PREVIEW */
    EFFECT_CHECK_SESSION, /* the damage of the session -> MSG_FINDINGS */
    EFFECT_CHECK_STORE,   /* damage in the scope outside its sessions -> MSG_FINDINGS */
    EFFECT_CHANGE, /* `request`, for the refs -> MSG_CHANGED, even if it failed. Changes are made
                      one at a time, in the order asked, and never dropped, replaced or cancelled */
    EFFECT_EXPORT, /* the session to the file in `text`, or several into that directory -> MSG_EXPORTED */
    EFFECT_CANCEL, /* no view waits for `generation` any more */

    EFFECT_RESUME, /* leave the screen and run the resume command for row, in `text` (a directory) */
    EFFECT_GO,     /* leave the screen and show the terminal of the row in its place */
    EFFECT_PRINT,  /* leave the screen and print the rows (never none), exit 0 */
    EFFECT_COPY,   /* text to the clipboard (OSC 52) -> MSG_NOTICE */
    EFFECT_EDIT, /* the editor on a copy of the file named in `text` -> MSG_CONTINUE, MSG_NOTICE on failure */
    EFFECT_SUSPEND, /* Ctrl+Z -> MSG_CONTINUE */
    EFFECT_REDRAW,  /* paint everything again: another program wrote to the terminal */
    EFFECT_QUIT,    /* leave with `code` */
};

/* The view that asked; two views may each have an open question of the same kind. */
enum requester {
    REQUESTER_LIST,
    REQUESTER_PREVIEW,
    REQUESTER_VIEWER,
    REQUESTER_REWIND,
    REQUESTER_TREE,
    REQUESTER_BLAME,
    REQUESTER_TRASH,
    REQUESTER_LOG,
    REQUESTER_BOARD,
    REQUESTER_COMPARE,
    REQUESTER_USAGE,
    REQUESTER_CLEANUP,
    REQUESTER_DAMAGED,
    REQUESTER_EXPORT
};

struct effect {
    enum effect_kind kind;
    enum requester requester;
    unsigned generation;
    /* owned; NULL for LIST, optional for CHANGE; effects about one session have one ref */
    struct ref_list *refs;
    /* LIST, DESCRIBE, FULL_SCAN, SWEEP, LOG, BOARD, CHECK_SESSION, CHECK_STORE, CHANGE; a worker resolves it */
    enum scope_kind scope;
    size_t bytes;                      /* TAIL */
    struct id128 branch;               /* LOAD: the last message of another branch; else none */
    struct conversation *conversation; /* READ, SEARCH, USAGE (or NULL); one hold is handed over */
    size_t first,
        n; /* READ; CHANGE_PRUNE: n records, `first` snapshots; TERMINAL: n is a process */
    struct export_request export; /* EXPORT; its texts are empty */
    bool replaces;                /* EXPORT: the file, if it exists */
    bool shows;                   /* TERMINAL */
    /* RESUME, GO, PRINT: borrowed from the model, which no longer changes */
    const struct session_row *const *rows;
    size_t row_count;
    /* COPY, EDIT, SEARCH, GREP, BLAME, RESUME, RESUME_DIRS (the session's directory), CHANGE; owned */
    struct buf text;
    struct preview *preview;             /* COMPARE, REWIND; one hold is handed over */
    struct preview_selection *selection; /* REWIND; owned */
    /* CHANGE; tui/data/change_request.h has what each request needs beside the refs */
    enum change_request request;
    /* CHANGE, UNDO_REWIND; RESUME, PRINT: flags for the agent; owned; may be NULL */
    struct name_list *names;
    bool asks;      /* CHANGE_UNDO: the person must be asked about the change that is named */
    bool confirmed; /* CHANGE: makes what was shown, or runs the agent's command in names */
    bool redacts;   /* CHANGE_BUNDLE: without secrets */
    bool unsure;    /* CHANGE_TRASH: also sessions that an agent may be writing to */
    bool forks;     /* RESUME, PRINT: the command that forks the session in its agent */
    bool prints; /* RESUME_DIRS: the commands are printed and not run, wherever the sessions are */
    struct sweep_rule rule; /* SWEEP; the worker fills in scope and cancel */
    struct sweep *sweep;    /* CHANGE; owned */
    enum rewind_mode mode;  /* PREVIEW */
    int64_t at_ms;          /* REWIND, UNDO_REWIND, CHANGE: time of the request */
    int code;               /* QUIT */
};

/* The effects of one update. The loop takes them after each, so a fixed number is enough. */
enum { EFFECTS_MAX = 32 };

struct effects {
    struct effect item[EFFECTS_MAX];
    size_t n;
    unsigned last_generation;
};

/* Queues an empty effect with a new generation, for the caller to fill in. */
struct effect *effect_add(struct effects *fx, enum effect_kind kind, enum requester requester);
/* Cancels the question of this generation, if it is not 0, and sets it to 0. */
void effect_cancel(struct effects *fx, enum requester requester, unsigned *generation);
/* Takes the oldest effect out. Returns false if the queue is empty. */
bool effects_pop(struct effects *fx, struct effect *out);
void effect_fini(struct effect *e);
void effects_fini(struct effects *fx);

#endif
