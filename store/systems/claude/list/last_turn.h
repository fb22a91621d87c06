#ifndef STORE_SYSTEMS_CLAUDE_LIST_LAST_TURN_H
#define STORE_SYSTEMS_CLAUDE_LIST_LAST_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "lite/io/window.h"

/* What the end of a session tells beyond what the agent's own list shows. Nothing here decides whether a
 * session is listed. */

/* How the last turn ended. */
struct last_turn {
    struct slice row;       /* the last message; .p is NULL: the tail has none */
    bool interrupted;       /* a prompt or result without an answer, a call without a result */
    struct slice timestamp; /* of that message, as it is written */
    struct slice model;     /* that gave the last answer: not read with the rest */
};

/* Both are false without memory. */
bool last_turn_read(struct slice tail, struct arena *a, struct last_turn *out);
/* The model of a row that has "model": in it; .p is NULL when it is no answer of one. Asked for rows up to
 * that of the turn, last first, until one tells it. */
bool last_turn_model(struct slice row, struct arena *a, struct slice *model);

/* The session that a row's forkedFrom names; .p is NULL when it names none. */
bool claude_forked_from(struct slice row, struct arena *a, struct slice *id);

/* Files that a rewind could give back, gathered from the newest snapshot row and the changes to it that
 * follow. Rows are added last first. */
struct restorable_files {
    struct slice path[32]; /* of changes seen so far; more are not told apart */
    unsigned n;
    bool whole; /* the snapshot was met: n is final */
};

/* True when no older row matters. */
bool claude_restorable_add(struct restorable_files *t, struct slice row, struct arena *a);

#endif
