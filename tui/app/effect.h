#ifndef TUI_APP_EFFECT_H
#define TUI_APP_EFFECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/slice.h"
#include "store/api/store.h"
#include "store/maintenance/sweep.h"
#include "store/rewind/plan/plan.h"
#include "tui/config/settings.h"
#include "tui/data/change_request.h"
#include "tui/data/conversation.h"
#include "tui/data/name_list.h"
#include "tui/data/preview.h"
#include "tui/data/ref_list.h"

/* What update() wants done outside. The loop takes the effects out after every update (effects_pop) and
 * owns what they carry; effect_fini frees one that is not carried out.
 *
 * A question (the first group) is answered by messages with the same generation, and is over with MSG_FAILED
 * or its last answer. Workers may drop a question as soon as a newer one of the same kind and `asker`
 * arrived, or an EFFECT_CANCEL names it; no answer is needed then. */
enum effect_kind {
    EFFECT_LIST,        /* enumerate scope in every store -> MSG_SESSIONS..., MSG_LISTED */
    EFFECT_DESCRIBE,    /* describe refs -> MSG_DESCRIBED...; several may be under way at once */
    EFFECT_DISK_USAGE,  /* what the refs weigh, with all that is theirs -> MSG_DISK_USAGE... */
    EFFECT_FULL_SCAN,   /* looks through whole files for what their rows lack -> MSG_FULL_SCAN... */
    EFFECT_TAIL,        /* the end of a session, from its last `bytes` -> MSG_TRANSCRIPT */
    EFFECT_LOAD,        /* the whole session -> MSG_PROGRESS..., MSG_TRANSCRIPT */
    EFFECT_READ,        /* rows first .. first + n - 1 of a conversation -> MSG_PASSAGES... */
    EFFECT_SEARCH,      /* `text` in every row of a conversation -> MSG_FOUND... */
    EFFECT_SUBAGENTS,   /* names of the session's sub-agents -> MSG_SUBAGENTS */
    EFFECT_BRANCHES,    /* what leaves the conversation -> MSG_BRANCHES */
    EFFECT_RESUME_DIRS, /* is there a directory to resume in? -> MSG_RESUME_DIRS */

    EFFECT_CHECKPOINTS, /* points of the session to go back to -> MSG_CHECKPOINTS */
    EFFECT_TURN_LINES, /* the same points, with the lines that each turn changed -> MSG_CHECKPOINTS */
    EFFECT_PREVIEW,    /* what going back to the point in `text` would do -> MSG_PREVIEW */
    EFFECT_COMPARE,    /* entry `first` of a preview, line by line -> MSG_COMPARISON */
    EFFECT_REWIND, /* carries out what was picked of a preview, also when the person left meanwhile ->
                      MSG_PROGRESS..., MSG_REWIND_DONE */
    EFFECT_UNDO_REWIND, /* takes the record in `text` back, of files that changed since those in `names`; NULL: they are
                           asked about first -> MSG_REWIND_DONE */

    EFFECT_ESTIMATE_DELETE, /* what would go if the refs were deleted? -> MSG_DELETE_ESTIMATE */
    EFFECT_SWEEP,           /* which sessions does `rule` mean in the scope? -> MSG_SWEEP */
    EFFECT_TRASH,           /* what lies in the trash -> MSG_TRASH */
    EFFECT_CHECK_SESSION,   /* what is wrong with the session -> MSG_FINDINGS */
    EFFECT_CHECK_STORE,     /* what is wrong in the scope beside its sessions -> MSG_FINDINGS */
    EFFECT_CHANGE, /* `wish`, for the refs -> MSG_CHANGED, also when it failed. In the order asked, one at a
                         time; never dropped, replaced or cancelled */
    EFFECT_CANCEL, /* nobody waits for `generation` any more */

    EFFECT_RESUME, /* leave the screen and run the resume command for row, in `text` (a directory) */
    EFFECT_PRINT,  /* leave the screen and print the rows (never none), exit 0 */
    EFFECT_COPY,   /* text to the clipboard (OSC 52) -> MSG_NOTICE */
    EFFECT_EDIT, /* the editor on the file named in `text` -> MSG_CONTINUE, MSG_NOTICE on failure */
    EFFECT_SUSPEND, /* Ctrl+Z -> MSG_CONTINUE */
    EFFECT_REDRAW,  /* paint everything again: the terminal was written to by others */
    EFFECT_QUIT,    /* leave with `code` */
};

/* Who asks: two views may each have a question of the same kind open. */
enum requester {
    REQUESTER_LIST,
    REQUESTER_PREVIEW,
    REQUESTER_VIEWER,
    REQUESTER_REWIND,
    REQUESTER_TRASH,
    REQUESTER_CLEANUP,
    REQUESTER_DAMAGED
};

struct effect {
    enum effect_kind kind;
    enum requester requester;
    unsigned generation;
    /* owned: LIST has none, CHANGE may have; all about one session have one */
    struct ref_list *refs;
    /* LIST, DESCRIBE, DEEP, SWEEP, DOCTOR, AROUND, CHANGE; the worker resolves it, once */
    enum scope_kind scope;
    size_t bytes;                      /* TAIL */
    struct id128 branch;               /* LOAD: the last message of another branch; else none */
    struct conversation *conversation; /* READ, SEARCH; one hold is handed over */
    size_t first, n;                   /* READ */
    /* RESUME, PRINT: borrowed from the model, which changes no more */
    const struct session_row *const *rows;
    size_t row_count;
    /* COPY, EDIT, SEARCH, RESUME, PLACE (the session's directory), CHANGE; owned */
    struct buf text;
    struct preview *preview;             /* COMPARE, REWIND; one hold is handed over */
    struct preview_selection *selection; /* REWIND; owned */
    /* CHANGE; what it needs beside the refs: tui/data/change_request.h */
    enum change_request request;
    struct name_list *names; /* CHANGE, UNDO_REWIND; owned; may be NULL */
    bool unsure; /* CHANGE, TRASH: also what an agent may be writing to, for all one knows */
    bool prints; /* PLACE: the commands are printed and not run, wherever the sessions are */
    struct sweep_rule rule; /* SWEEP; its scope and cancel are the worker's to fill */
    struct sweep *sweep;    /* CHANGE; owned */
    enum rewind_mode mode;  /* PROSPECT */
    int64_t at_ms;          /* REWIND, UNDO_REWIND, CHANGE: when it was asked for */
    int code;               /* QUIT */
};

/* What one update may ask for: the loop empties it each time, so a fixed number is enough; a full queue is
 * our own mistake. */
enum { EFFECTS_MAX = 32 };

struct effects {
    struct effect item[EFFECTS_MAX];
    size_t n;
    unsigned last_generation;
};

/* Queues an empty effect for the caller to fill; a new generation is given to it. */
struct effect *effect_add(struct effects *fx, enum effect_kind kind, enum requester requester);
/* Takes the oldest effect out; false: none is left. */
bool effects_pop(struct effects *fx, struct effect *out);
void effect_fini(struct effect *e);
void effects_fini(struct effects *fx);

#endif
