#ifndef TUI_SCREENS_FLOWS_CHANGE_FLOW_H
#define TUI_SCREENS_FLOWS_CHANGE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/data/change_request.h"
#include "tui/data/conversation.h"

/* An undo that is asked about, and what needs no question. */
struct undo_flow {
    enum change_request request;
    bool in_view; /* asked for by the rewind view, which does it itself */
    char id[64];
    struct name_list *edited; /* owned: files that changed since */
    struct name_list *taken;  /* owned: those that go back all the same */
    size_t at;                /* the one that is asked about */
    struct name_list *made;   /* owned: rewinds of this run; NULL: none */
};

/* A change on its way: asked for, asked about, being made. */
enum { CHANGES_MAX = 8 }; /* made one after the other; more than that is a key that hangs */

struct pending_change {
    /* what is being asked about */
    struct ref_list *refs;       /* owned; NULL: nothing is asked */
    struct name_list *titles;    /* owned; beside refs */
    size_t running, unsupported; /* sessions that were meant too, and stay */
    size_t unsure;               /* of refs: nobody can tell whether an agent is writing to them */
    size_t partly;               /* of refs: something of them stays, */
    const char *stays;           /* which is this, of one of them; a literal */
    int64_t bytes;
    bool all_archived;
    char message[40];    /* the one that is meant; "": none */
    unsigned estimating; /* generation of EFFECT_ESTIMATE_DELETE; 0: none */

    /* what is being done */
    size_t under_way;
    enum change_request request; /* the last that was asked for */
    int64_t since_ms;
    unsigned newest; /* generation of the last EFFECT_CHANGE */
};

#endif
