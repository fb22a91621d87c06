#ifndef TESTS_SUPPORT_REWIND_FIXTURE_H
#define TESTS_SUPPORT_REWIND_FIXTURE_H

#include "store/api/store.h"
#include "support/folder.h"

/* A store with one session that changed files, and the work tree that it changed: small, but with a file of every kind
 * that a rewind can meet. All replies are made from store.path alone, so that any struct store can give them.
 *
 *     home/ws/src/pay.c       twenty lines, two of them changed: two hunks
 *     home/ws/src/keys.c      new: going back removes it
 *     home/ws/src/gone.c      removed: going back brings it back
 *     home/ws/README.md       edited by hand since
 *     home/ws/same.c          as it was
 *     home/ws/.bashrc         sensitive
 *     home/ws/.git/config     never touched
 *     home/other/notes.txt    outside of the project
 *     home/session.jsonl      the conversation: going back cuts it off
 *
 * Turns, of two messages each: "p0" cannot be restored; "p1" is all of the above; "p2", in which commands ran, is pay.c alone. */
struct rewind_fixture {
    struct folder folder;
    char home[4096], root[4096], state[4096];
    struct store_env env;
};

enum { REWIND_FIXTURE_NOW_S = 1772000000 };

void rewind_fixture_begin(struct rewind_fixture *g);
void rewind_fixture_end(struct rewind_fixture *g);
/* Fills env and path of a store and its system's operations. */
void rewind_fixture_store(struct rewind_fixture *g, struct store *st, struct store_ops *ops);
/* An image of the work tree and the files beside it, as folder_image. */
char *rewind_fixture_image(const struct rewind_fixture *g);

#endif
