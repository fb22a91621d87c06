#include "tests/test.h"

#include <stdlib.h>

#include "tui/app/effect.h"
#include "tui/app/msg.h"

static struct session_ref some_ref(void)
{
    return (struct session_ref){ .id = SLICE("id"), .path = SLICE("/path"), .folder = SLICE("f") };
}

TEST(refs_are_copies)
{
    char id[] = "one";
    struct session_ref ref = some_ref();
    struct ref_list *list = ref_list_new();

    assert_non_null(list);
    ref.id = (struct slice){ id, 3 };
    for (uint32_t i = 0; i < 100; i++)
        assert_true(ref_list_add(list, &ref, i));
    id[0] = 'X';
    assert_int_equal(list->n, 100);
    assert_true(slice_eq(list->ref[99].id, SLICE("one")));
    assert_int_equal(list->ref[99].path.p[5], '\0'); /* used as a path */
    assert_int_equal(list->entry[99], 99);
    ref_list_free(list);
}

TEST(a_sub_agent_list_of_one_is_copied)
{
    struct session_ref ref = some_ref();
    struct ref_list *list = ref_list_one(&ref, SLICE("agent"));

    assert_non_null(list);
    assert_int_equal(list->n, 1);
    assert_true(slice_eq(list->agent, SLICE("agent")));
    ref_list_free(list);
    ref_list_free(NULL);
}

TEST(effects_are_taken_in_insertion_order)
{
    struct effects fx = { 0 };
    struct effect e;

    effect_add(&fx, EFFECT_LIST, REQUESTER_LIST);
    effect_add(&fx, EFFECT_TAIL, REQUESTER_PREVIEW);
    assert_true(effects_pop(&fx, &e));
    assert_int_equal(e.kind, EFFECT_LIST);
    unsigned first = e.generation;

    assert_true(effects_pop(&fx, &e));
    assert_int_equal(e.kind, EFFECT_TAIL);
    assert_true(e.generation > first);
    assert_false(effects_pop(&fx, &e));
}

TEST(effects_that_are_not_carried_out_are_freed)
{
    struct effects fx = { 0 };
    struct session_ref ref = some_ref();
    struct effect *e = effect_add(&fx, EFFECT_TAIL, REQUESTER_PREVIEW);

    e->refs = ref_list_one(&ref, (struct slice){ 0 });
    assert_non_null(e->refs);
    assert_int_equal(buf_add(&e->text, SLICE("text")), ERR_OK);
    effects_fini(&fx); /* the leak checker proves it */
    assert_int_equal(fx.n, 0);
}

TEST(undelivered_messages_are_freed)
{
    struct session_ref ref = some_ref();
    struct err e;
    struct msg m[] = {
        { .kind = MSG_SESSIONS, .u.sessions = ref_list_one(&ref, (struct slice){ 0 }) },
        { .kind = MSG_LISTED, .u.listed.problems = problem_list_new() },
        { .kind = MSG_DESCRIBED, .u.described = described_list_new(2) },
        { .kind = MSG_TRANSCRIPT, .u.conversation = conversation_new(NULL, NULL) },
        { .kind = MSG_PASSAGES, .u.passages = conversation_passages_new(1) },
        { .kind = MSG_SUBAGENTS, .u.subagents = calloc(1, sizeof(struct subagent_list)) },
        { .kind = MSG_RESUME_DIRS, .u.place = calloc(1, sizeof(struct resume_dirs)) },
        { .kind = MSG_TICK },
    };

    err_set(&e, ERR_IO, "/x", "read");
    for (int i = 0; i < 40; i++)
        assert_true(problem_list_add(m[1].u.listed.problems, "claude", &e));
    m[2].u.described->item[0].row = session_row_new();
    m[2].u.described->n = 1;
    m[4].u.passages->n = 1;
    assert_int_equal(buf_add(&m[4].u.passages->passage[0].bytes, SLICE("row")), ERR_OK);
    m[6].u.place->session_dir = strdup("/x");
    for (size_t i = 0; i < sizeof m / sizeof *m; i++) {
        msg_fini(&m[i]);
        assert_int_equal(m[i].kind, MSG_TICK);
    }
}

TEST(a_turn_is_found_by_its_end)
{
    struct turn_usage turn[] = { { .end = 10, .sum.answers = 1 },
                                 { .end = 500, .sum.answers = 2 } };
    const struct conversation_usage u = { .turn = turn, .n = 2 };

    assert_int_equal(conversation_usage_of(&u, 500)->answers, 2);
    assert_int_equal(conversation_usage_of(&u, 10)->answers, 1);
    assert_null(conversation_usage_of(&u, 11));
    assert_null(conversation_usage_of(NULL, 10));
}

TEST(a_conversation_is_freed_by_its_last_holder)
{
    struct conversation *c = conversation_new(NULL, NULL);

    assert_non_null(c);
    assert_ptr_equal(conversation_retain(c), c);
    conversation_free(c);
    assert_int_equal(atomic_load(&c->holders), 1);
    conversation_free(c);
    conversation_free(NULL);
}
