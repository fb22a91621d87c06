#include "tests/contract/contract.h"

#include "store/journal/change.h"
#include "tests/test.h"

#include <stdlib.h>
#include <unistd.h>

/* Operations that change or copy a conversation: forks, resuming elsewhere, removed messages. */

/* ---- forks ---- */

/* A fork that belongs to another system (the agent's own) leaves the store alone. */
static void forks_elsewhere(struct contract *c, struct change *change, const char *path,
                            const char *before)
{
    char *copy = strdup(path);

    contract_helpers(c, change);
    contract_is(c, before);
    assert_int_equal(access(copy, F_OK), 0);
    contract_undo(c);
    contract_is(c, before);
    assert_int_equal(access(copy, F_OK), -1);
    free(copy);
}

static void forks(struct contract *c, struct slice at, size_t rows)
{
    char *before = contract_image(c);
    size_t n = contract_count(c);
    struct change *change = contract_begin("fork");
    struct fork_result made = contract_fork(c, at, change);
    char *id = strndup(made.id.p, made.id.n);
    const struct contract_session copy = { .id = id };

    contract_is(c, before);
    if (made.system) {
        forks_elsewhere(c, change, made.path, before);
        free(before);
        free(id);
        return;
    }
    contract_helpers(c, change);
    assert_int_equal(contract_count(c), n + 1);
    struct session_ref ref = contract_find(c, &copy);
    struct session_row *row = contract_describe(c, &copy);
    struct transcript *t = contract_load(c, &ref);

    assert_int_equal(t->n, rows);
    if (!c->system->bare) {
        assert_true(slice_eq(row->summary, SLICE("A copy")));
        assert_true(slice_eq(row->parent_id, contract_text(contract_first(c)->id)));
    }
    contract_back_and_forth(c, before);
    assert_int_equal(contract_count(c), n);
    transcript_free(t);
    session_row_free(row);
    free(before);
    free(id);
}

static void a_fork_is_a_session_with_the_same_conversation(struct contract *c)
{
    if (!c->ops->fork)
        skip();
    forks(c, (struct slice){ NULL, 0 }, contract_first(c)->rows);
}

static void a_fork_up_to_a_message_ends_with_it(struct contract *c)
{
    if (!c->ops->fork || !contract_first(c)->at)
        skip();
    forks(c, contract_text(contract_first(c)->at), contract_first(c)->rows_to_at);
}

static void a_dropped_fork_leaves_no_trace(struct contract *c)
{
    if (!c->ops->fork)
        skip();
    char *before = contract_image(c);
    struct change *change = contract_begin("fork");
    struct fork_result made = contract_fork(c, (struct slice){ NULL, 0 }, change);
    char *id = strndup(made.id.p, made.id.n);

    change_discard_fork(&made);
    contract_is(c, before);
    char *left = folder_image(&c->folder, "data");

    assert_null(strstr(left, id));
    change_free(change);
    free(before);
    free(left);
    free(id);
}

static void a_fork_at_an_unknown_message_is_refused(struct contract *c)
{
    if (!c->ops->fork)
        skip();
    struct session_ref ref = contract_find(c, contract_first(c));
    struct fork_request q = { .at = contract_text(c->system->unknown) };
    struct fork_result made;
    struct change *change = contract_begin("fork");
    char *before = contract_image(c);

    assert_int_equal(c->ops->fork(c->store, &ref, &q, change, &made, NULL), ERR_NOT_FOUND);
    assert_int_equal(change->n, 0);
    contract_is(c, before);
    change_free(change);
    free(before);
}

static void a_fork_needs_a_directory_of_its_own(struct contract *c)
{
    if (!c->ops->fork ||
        strcmp(c->ops->name, "entire") == 0) /* Entire's forks are beside the agent's sessions */
        skip();
    struct session_ref ref = contract_find(c, contract_first(c));
    struct fork_request q = { .at = { NULL, 0 } };
    struct fork_result made;
    struct change *change = contract_begin("fork");

    c->env.data_dir = NULL;
    assert_int_equal(c->ops->fork(c->store, &ref, &q, change, &made, NULL), ERR_NOT_FOUND);
    c->env.data_dir = c->data;
    assert_int_equal(change->n, 0);
    change_free(change);
}

/* ---- messages ---- */

static bool holds(const struct transcript *t, const char *id)
{
    for (size_t i = 0; i < t->n; i++)
        if (id128_eq(t->message[i].id, id128_of(contract_text(id))))
            return true;
    return false;
}

static void a_session_resumes_at_the_chosen_message(struct contract *c)
{
    if (!c->ops->resume_at || !contract_first(c)->at)
        skip();
    char *before = contract_image(c);
    struct session_ref ref = contract_find(c, contract_first(c));
    struct change *change = contract_begin("resume-at");

    assert_int_equal(
        c->ops->resume_at(c->store, &ref, contract_text(contract_first(c)->at), change, NULL),
        ERR_OK);
    contract_is(c, before);
    contract_helpers(c, change);
    ref = contract_find(c, contract_first(c));
    struct transcript *t = contract_load(c, &ref);

    assert_int_equal(t->n, contract_first(c)->rows_to_at);
    contract_back_and_forth(c, before);
    transcript_free(t);
    free(before);
}

static void check_cut_is_refused(struct contract *c, struct change *change, char *before)
{
    assert_int_equal(change_run(c->log, change, NULL), ERR_LOCKED);
    contract_is(c, before);
    change_free(change);
    free(before);
}

static void take_out(struct contract *c, bool cut)
{
    char *before = contract_image(c);
    struct session_ref ref = contract_find(c, contract_first(c));
    struct change *change = contract_begin("tombstone");

    assert_int_equal(
        c->ops->tombstone(c->store, &ref, contract_text(contract_first(c)->at), cut, change, NULL),
        ERR_OK);
    contract_is(c, before);
    if (cut && !HAS_LEASES) {
        check_cut_is_refused(c, change, before);
        return;
    }
    contract_helpers(c, change);
    ref = contract_find(c, contract_first(c));
    struct transcript *t = contract_load(c, &ref);

    assert_false(holds(t, contract_first(c)->at));
    assert_true(t->n > 0);
    contract_back_and_forth(c, before);
    transcript_free(t);
    free(before);
}

static void a_removed_message_is_not_shown(struct contract *c)
{
    if (!c->ops->tombstone || !contract_first(c)->at)
        skip();
    take_out(c, false);
    take_out(c, true);
}

static void an_unknown_message_cannot_be_removed(struct contract *c)
{
    if (!c->ops->tombstone)
        skip();
    struct session_ref ref = contract_find(c, contract_first(c));
    struct change *change = contract_begin("tombstone");

    assert_int_equal(
        c->ops->tombstone(c->store, &ref, contract_text(c->system->unknown), false, change, NULL),
        ERR_NOT_FOUND);
    assert_int_equal(change->n, 0);
    change_free(change);
}

#define CASE(x)                                                                                    \
    {                                                                                              \
#x, x                                                                                      \
    }

const struct contract_case contract_messages[] = {
    CASE(a_fork_is_a_session_with_the_same_conversation),
    CASE(a_fork_up_to_a_message_ends_with_it),
    CASE(a_dropped_fork_leaves_no_trace),
    CASE(a_fork_at_an_unknown_message_is_refused),
    CASE(a_fork_needs_a_directory_of_its_own),
    CASE(a_session_resumes_at_the_chosen_message),
    CASE(a_removed_message_is_not_shown),
    CASE(an_unknown_message_cannot_be_removed),
    { NULL, NULL },
};
