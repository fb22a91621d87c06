#ifndef TESTS_CONTRACT_CONTRACT_H
#define TESTS_CONTRACT_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>

#include "store/api/store.h"
#include "store/journal/change.h"
#include "tests/support/folder.h"

/* The requirements that every system meets, tested through store_ops alone. A system joins with an adapter: one file
 * test_contract_<system>.c that writes a small store, describes its contents and passes them to contract_run from main.
 * Cases for an operation that the system lacks (a NULL member) are skipped, and the skip is printed. */

/* The expected facts about one session of the adapter's store. */
struct contract_session {
    const char *id;
    const char *title; /* the expected title (summary); NULL: any that is not empty */
    size_t rows;       /* of its whole transcript (load) */
    size_t messages;   /* the number from `messages` without a limit, no system rows */
    const char *at;    /* a message in the middle, to fork and resume at and to remove, or NULL */
    size_t rows_to_at; /* rows of the transcript up to and including that message */
};

struct contract_system {
    const struct store_ops *ops;
    const char *store; /* the store's directory, below the test's folder */
    /* Writes the store. It needs three sessions or more, the first with messages to spare, all of different ages. */
    void (*make)(const struct folder *f);
    const struct contract_session *session;
    size_t n;
    const char *unknown; /* a valid id that no session has */
    bool shared;         /* sessions share files, so that none of them can be deleted alone */
    bool bare;           /* sessions cannot store a title or the session they were forked from */
};

/* Runs all cases as one cmocka group; returns the exit code of main. */
int contract_run(const struct contract_system *system);
/* The reading half: what a system has to pass that cannot change its sessions. */
int contract_run_reading(const struct contract_system *system);

/* ---- for the files with the cases (contract_read.c, contract_change.c, contract_message.c) ---- */

struct contract {
    const struct contract_system *system;
    const struct store_ops *ops; /* = system->ops */
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct scope scope; /* everything */
    struct arena arena;
    struct change_log *log;
    char root[4096], home[4096], state[4096], data[4096];
};

struct contract_case {
    const char *name;
    void (*run)(struct contract *c);
};
extern const struct contract_case contract_reads[], contract_changes[],
    contract_messages[]; /* each up to a NULL name */

/* Finds a known session in the store; its texts belong to the contract. */
struct session_ref contract_find(struct contract *c, const struct contract_session *s);
/* Returns true if a session with this id is enumerated. */
bool contract_lists(struct contract *c, struct slice id);
size_t contract_count(struct contract *c);
/* The caller frees it with session_row_free. */
struct session_row *contract_describe(struct contract *c, const struct contract_session *s);
/* The caller frees it with transcript_free. */
struct transcript *contract_load(struct contract *c, const struct session_ref *ref);
/* An image of the store's files (folder_image); the caller frees it. */
char *contract_image(struct contract *c);
struct slice contract_text(const char *s);

/* contract_helpers.c: changes, each carried out through the operation log. */
const struct contract_session *contract_first(struct contract *c);
struct change *contract_begin(const char *kind);
void contract_helpers(struct contract *c, struct change *change); /* and frees it */
void contract_undo(struct contract *c);
/* Checks that the newest change is visible and that undo, redo and a second undo restore the store. */
void contract_back_and_forth(struct contract *c, const char *before);
/* Checks that the store is as it was. */
void contract_is(struct contract *c, const char *before);
/* Plans a fork of the first session, titled "A copy". */
struct fork_result contract_fork(struct contract *c, struct slice at, struct change *change);

#endif
