#include "tests/contract/contract.h"

#include "tests/test.h"

#include <stdlib.h>

struct change *contract_begin(const char *kind)
{
    struct change *c = change_new(kind);

    assert_non_null(c);
    return c;
}

void contract_helpers(struct contract *c, struct change *change)
{
    struct err e = { 0 };

    if (change_run(c->log, change, &e))
        fail_msg("%s: %s: %s", change->kind, e.path, e.text);
    change_free(change);
}

void contract_undo(struct contract *c)
{
    struct err e = { 0 };

    if (change_undo(c->log, NULL, NULL, &e))
        fail_msg("undo: %s: %s", e.path, e.text);
}

static void check_undone(const char *before, const char *now)
{
    if (!IS_UNDONE(before, now))
        assert_string_equal(now, before);
}

void contract_back_and_forth(struct contract *c, const char *before)
{
    char *done = contract_image(c);

    assert_string_not_equal(done, before);
    contract_undo(c);
    char *undone = contract_image(c);

    check_undone(before, undone);
    assert_int_equal(change_redo(c->log, NULL, NULL), ERR_OK);
    contract_undo(c);
    char *again = contract_image(c);

    check_undone(before, again);
    free(done);
    free(undone);
    free(again);
}

void contract_is(struct contract *c, const char *before)
{
    char *now = contract_image(c);

    check_undone(before, now);
    free(now);
}

const struct contract_session *contract_first(struct contract *c)
{
    return &c->system->session[0];
}

struct fork_result contract_fork(struct contract *c, struct slice at, struct change *change)
{
    struct session_ref ref = contract_find(c, contract_first(c));
    struct fork_request q = { .at = at, .title = SLICE("A copy") };
    struct fork_result made;
    struct err e = { 0 };

    if (c->ops->fork(c->store, &ref, &q, change, &made, &e))
        fail_msg("fork: %s: %s", e.path, e.text);
    return made;
}
