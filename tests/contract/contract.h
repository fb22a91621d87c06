#ifndef TESTS_CONTRACT_CONTRACT_H
#define TESTS_CONTRACT_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>

#include "store/api/store.h"
#include "store/journal/change.h"
#include "tests/support/folder.h"

/* What every system has to do, asked through store_ops only. A system joins with an adapter: one file
 * tests/test_contract_<system>.c that writes a small store and says what is in it, and a main that hands it to
 * contract_run. What a system cannot do (a NULL member) is skipped and said so. */

/* What is known of one session of the adapter's store. */
struct contract_session {
    const char *id;
    const char *title; /* what describe must call it (summary); NULL: anything but nothing */
    size_t rows;       /* of its whole transcript (load) */
    size_t messages;   /* what `messages` hands over when it is asked for all, system rows apart */
    const char *at;    /* a message in its middle, or NULL: to fork at, to resume at, to take out */
    size_t rows_to_at; /* rows of the transcript up to that message, itself included */
};

struct contract_system {
    const struct store_ops *ops;
    const char *store; /* where the store is made and opened, below the test's folder */
    /* Writes the store there. Three sessions or more, the first with messages to spare, each of another age. */
    void (*make)(const struct folder *f);
    const struct contract_session *session;
    size_t n;
    const char *unknown; /* an id that a session could have, and none has */
    bool shared;         /* sessions share files: none of them can lose its own */
    bool bare; /* sessions have no place for a title, nor for the session they came from */
};

/* All cases as one cmocka group; what main returns. */
int contract_run(const struct contract_system *system);

/* ---- for the cases themselves (contract_read.c, contract_change.c, contract_message.c) ---- */

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

/* A known session as the store finds it; its texts live in the contract. */
struct session_ref contract_find(struct contract *c, const struct contract_session *s);
/* Is a session with this id enumerated? */
bool contract_lists(struct contract *c, struct slice id);
size_t contract_count(struct contract *c);
/* To be freed with session_row_free. */
struct session_row *contract_describe(struct contract *c, const struct contract_session *s);
/* To be freed with transcript_free. */
struct transcript *contract_load(struct contract *c, const struct session_ref *ref);
/* What lies in the store; to be freed. */
char *contract_image(struct contract *c);
struct slice contract_text(const char *s);

/* contract_do.c: changes, each done through the operation log. */
const struct contract_session *contract_first(struct contract *c);
struct change *contract_begin(const char *kind);
void contract_do(struct contract *c, struct change *change); /* and frees it */
void contract_undo(struct contract *c);
/* The newest change shows; undone, redone and undone again, the store is what it was. */
void contract_back_and_forth(struct contract *c, const char *before);
/* The store is what it was. */
void contract_is(struct contract *c, const char *before);
/* Plans a fork of the first session, titled "A copy". */
struct fork_result contract_fork(struct contract *c, struct slice at, struct change *change);

#endif
