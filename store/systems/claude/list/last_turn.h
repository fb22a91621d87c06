#ifndef STORE_SYSTEMS_CLAUDE_LIST_LAST_TURN_H
#define STORE_SYSTEMS_CLAUDE_LIST_LAST_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "lite/io/window.h"
#include "store/api/session.h"

/* Facts at the end of a session: how the last turn ended, whether the conversation continues in
 * another session, and which files a rewind could restore. */

struct last_turn {
    struct slice row;       /* the last message; .p is NULL: the tail contains none */
    bool interrupted;       /* a prompt or result without an answer, a call without a result */
    struct slice timestamp; /* of that message, as written */
    struct slice model;     /* of the last answer: filled in by last_turn_model */
};

/* Both return false if out of memory. */
bool last_turn_read(struct slice tail, struct arena *a, struct last_turn *out);
/* The model of a row that contains "model":; .p is NULL if the row is not an answer of a model. Called for the rows up
 * to the last message, newest first, until one has a model. */
bool last_turn_model(struct slice row, struct arena *a, struct slice *model);

/* The id of the session in which the conversation continues (claude.md 2.5); .p is NULL: none. The older
 * session is then not listed, provided that the newer one contains a conversation and the older one was not
 * continued as well. Returns false if out of memory. */
bool claude_continued_in(struct slice tail, struct arena *a, struct slice *id);
/* Returns true if the session with this id, in the same folder, contains a conversation. Also returns false if out of
 * memory. */
bool claude_continuation_exists(const struct session_ref *ref, struct slice id, struct arena *a);

/* The session in a row's forkedFrom; .p is NULL if the row has none. Returns false if out of
 * memory. */
bool claude_forked_from(struct slice row, struct arena *a, struct slice *id);

/* Reads a worktree-state row; *path stays empty if the session left its worktree. Returns false if the row does not
 * parse; *ok is false if out of memory. */
bool claude_worktree_of(struct slice row, struct arena *a, struct slice *path, bool *ok);
/* Reads a pr-link row into the pr_* of the session's row; they stay empty if it has no number. Returns false if out of
 * memory. */
bool claude_pull_request(struct slice link, struct arena *a, struct session_row *row);

/* Files that a rewind could restore, counted from the newest snapshot row and the deltas that follow it. Rows are added
 * newest first. */
struct restorable_files {
    struct slice path[32]; /* those seen so far; further ones are counted without comparing */
    unsigned n;
    bool whole; /* the snapshot was reached: n is final */
};
/* Returns true if no older row matters. */
bool claude_restorable_add(struct restorable_files *t, struct slice row, struct arena *a);

#endif
