#include "tests/test.h"

#include "lite/base/time.h"
#include "store/api/edit.h"
#include "store/api/store.h"
#include "store/rewind/plan/plan.h"

/* A file that a later turn found is proved by what the session read before the point, unless something may have changed
 * it in between. */

enum { POINT = 100, FOUND = 200 };

/* A store with one session that is rewound and another one, whose records end at a time. */
struct recorded {
    struct store store;
    struct store_ops ops;
    const struct edit *edit, *other_edit;
    size_t n, others;
    enum err_code rc, other_rc; /* after them */
    int64_t other_ms;
};

static enum err_code report(const struct store *st, const struct session_ref *ref,
                            const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    const struct recorded *r = (const struct recorded *)st;
    bool other = slice_eq(ref->id, SLICE("other"));
    const struct edit *edit = other ? r->other_edit : r->edit;
    enum err_code rc = ERR_OK;

    assert_true(q->reads);
    for (size_t i = 0; i < (other ? r->others : r->n) && !rc; i++)
        if (edit_wanted(q, &edit[i]))
            rc = fn(&edit[i], arg, e);
    return rc ? rc : other ? r->other_rc : r->rc;
}

static enum err_code list_sessions(const struct store *st, const struct scope *scope,
                                   session_ref_fn *fn, void *arg, struct err *e)
{
    const struct recorded *r = (const struct recorded *)st;
    struct session_ref ref = { .store = st, .id = SLICE("mine"), .recent_ms = 1000 };

    (void)scope;
    (void)e;
    fn(&ref, arg);
    ref.id = SLICE("other");
    ref.recent_ms = r->other_ms;
    fn(&ref, arg);
    return ERR_OK;
}

enum found { HELD, DENIED, PROVED };

/* What the records show of the file, which should be "text\n" at the point (or absent, if that is wanted). */
static enum found look(enum rewind_want want, struct recorded *r)
{
    struct session_ref ref = { .store = &r->store, .id = SLICE("mine") };
    struct rewind_plan plan = { .point = "p", .point_ms = POINT };
    struct rewind_target t = { .path = "/w/d/f",
                               .want = want,
                               .source = { .bytes = SLICE("text\n") },
                               .found_ms = FOUND,
                               .is_late = true };

    r->ops.edits = report;
    r->ops.enumerate = r->others ? list_sessions : NULL;
    r->store.ops = &r->ops;
    assert_int_equal(rewind_plan_add(&plan, &t, NULL), ERR_OK);
    assert_int_equal(rewind_check_seen(&ref, &plan, NULL), ERR_OK);
    enum found found = plan.target[0].doubt ? DENIED : plan.target[0].is_shown ? PROVED : HELD;

    rewind_plan_fini(&plan);
    return found;
}

static bool is_proved(enum rewind_want want, const struct edit *edit, size_t n, enum err_code after)
{
    struct recorded r = { .edit = edit, .n = n, .rc = after };

    return look(want, &r) == PROVED;
}

static enum found look_in_other(enum rewind_want want, const struct edit *edit, size_t n)
{
    struct recorded r = { .other_edit = edit, .others = n, .other_ms = 500 };

    return look(want, &r);
}

static struct edit read_at(int64_t ms, const char *text)
{
    return (struct edit){ .kind = EDIT_SEEN,
                          .path = "/w/d/f",
                          .time_ms = ms,
                          .after_known = text ? EDIT_TEXT : EDIT_ABSENT,
                          .after = { text, text ? strlen(text) : 0 } };
}

static struct edit change_at(int64_t ms, enum edit_kind kind, const char *path)
{
    return (struct edit){ .kind = kind, .path = path, .time_ms = ms };
}

TEST(a_read_before_the_point_proves_the_same_bytes)
{
    const struct edit same = read_at(50, "text"), other = read_at(50, "else"),
                      late = read_at(150, "text"), untimed = read_at(TIME_NONE, "text"),
                      gone = read_at(50, NULL);

    assert_true(is_proved(REWIND_BYTES, &same, 1, ERR_OK));
    assert_false(is_proved(REWIND_BYTES, &other, 1, ERR_OK));
    assert_false(is_proved(REWIND_BYTES, &late, 1, ERR_OK));
    assert_false(is_proved(REWIND_BYTES, &untimed, 1, ERR_OK));
    assert_false(is_proved(REWIND_BYTES, &gone, 1, ERR_OK));
    assert_true(is_proved(REWIND_ABSENT, &gone, 1, ERR_OK));
    assert_false(is_proved(REWIND_ABSENT, &same, 1, ERR_OK));
}

TEST(a_change_after_the_read_takes_its_proof_away)
{
    const struct edit file[] = { read_at(50, "text"), change_at(60, EDIT_WRITE, "/w/d/f") };
    const struct edit above[] = { read_at(50, "text"), change_at(60, EDIT_DELETE, "/w/d") };
    const struct edit beside[] = { read_at(50, "text"), change_at(60, EDIT_WRITE, "/w/d/g") };

    assert_false(is_proved(REWIND_BYTES, file, 2, ERR_OK));
    assert_false(is_proved(REWIND_BYTES, above, 2, ERR_OK));
    assert_true(is_proved(REWIND_BYTES, beside, 2, ERR_OK));
}

TEST(an_older_read_of_a_sub_agent_that_is_reported_later_proves_nothing)
{
    const struct edit edits[] = { change_at(60, EDIT_WRITE, "/w/d/f"), read_at(50, "text") };

    assert_false(is_proved(REWIND_BYTES, edits, 2, ERR_OK));
}

TEST(records_that_cannot_all_be_read_prove_nothing)
{
    const struct edit same = read_at(50, "text");

    assert_false(is_proved(REWIND_BYTES, &same, 1, ERR_IO));
}

/* EDIT_SEEN of a command that may have changed the file. */
static struct edit command_at(int64_t ms)
{
    return (struct edit){ .kind = EDIT_SEEN, .path = "/w/d/f", .time_ms = ms };
}

TEST(a_command_between_the_listing_and_the_point_takes_its_proof_away)
{
    const struct edit before[] = { command_at(40), read_at(50, NULL) };
    const struct edit between[] = { read_at(50, NULL), command_at(60) };
    const struct edit after[] = { read_at(50, NULL), command_at(150) };

    assert_true(is_proved(REWIND_ABSENT, before, 2, ERR_OK));
    assert_false(is_proved(REWIND_ABSENT, between, 2, ERR_OK));
    assert_true(is_proved(REWIND_ABSENT, after, 2, ERR_OK)); /* the system's plan judges those */
}

TEST(records_of_one_moment_have_no_order)
{
    const struct edit changed[] = { change_at(50, EDIT_WRITE, "/w/d/f"), read_at(50, "text") };
    const struct edit differ[] = { read_at(50, "else"), read_at(50, "text") };
    const struct edit agree[] = { read_at(50, "text"), read_at(50, "text") };

    assert_false(is_proved(REWIND_BYTES, changed, 2, ERR_OK));
    assert_false(is_proved(REWIND_BYTES, differ, 2, ERR_OK));
    assert_true(is_proved(REWIND_BYTES, agree, 2, ERR_OK));
}

TEST(a_change_between_the_point_and_the_later_turn_proves_nothing)
{
    struct edit in_turn = read_at(160, "text");
    const struct edit edits[] = { read_at(50, "text"), change_at(150, EDIT_WRITE, "/w/d/f") };

    in_turn.turn = SLICE("p");
    assert_true(is_proved(REWIND_BYTES, &in_turn, 1, ERR_OK));
    assert_false(is_proved(REWIND_BYTES, edits, 2, ERR_OK));
}

TEST(another_session_shows_what_it_saw_and_left)
{
    struct edit written = change_at(60, EDIT_WRITE, "/w/d/f"),
                above = change_at(60, EDIT_DELETE, "/w/d"), in_turn = read_at(160, "text");
    const struct edit gone = read_at(50, NULL), late = read_at(150, NULL),
                      text = read_at(50, "text");

    written.after_known = EDIT_TEXT;
    written.after = SLICE("text\n");
    above.after_known = EDIT_ABSENT;
    in_turn.turn = SLICE("p");
    assert_int_equal(look_in_other(REWIND_ABSENT, &gone, 1), PROVED);
    assert_int_equal(look_in_other(REWIND_BYTES, &text, 1), PROVED);
    assert_int_equal(look_in_other(REWIND_BYTES, &written, 1), PROVED);
    assert_int_equal(look_in_other(REWIND_ABSENT, &late, 1), HELD);
    assert_int_equal(look_in_other(REWIND_BYTES, &in_turn, 1), HELD); /* of its own turn */
    assert_int_equal(look_in_other(REWIND_ABSENT, &above, 1), HELD);
}

TEST(another_session_that_changed_the_file_takes_the_proof_away)
{
    const struct edit mine = read_at(50, NULL), then = change_at(60, EDIT_WRITE, "/w/d/f"),
                      since = change_at(150, EDIT_WRITE, "/w/d/f");
    struct recorded before = {
        .edit = &mine, .n = 1, .other_edit = &then, .others = 1, .other_ms = 500
    };
    struct recorded after = {
        .edit = &mine, .n = 1, .other_edit = &since, .others = 1, .other_ms = 500
    };

    assert_int_equal(look(REWIND_ABSENT, &before), HELD);
    assert_int_equal(look(REWIND_ABSENT, &after), HELD);
}

TEST(a_file_that_was_there_is_not_absent)
{
    struct edit listed = read_at(50, NULL);
    const struct edit text = read_at(50, "text");

    listed.after_known = EDIT_SOME;
    assert_int_equal(look_in_other(REWIND_ABSENT, &text, 1), DENIED);
    assert_int_equal(look_in_other(REWIND_ABSENT, &listed, 1), DENIED);
    assert_int_equal(look_in_other(REWIND_BYTES, &listed, 1), HELD);
}

TEST(what_a_session_shows_is_older_than_one_that_cannot_be_read)
{
    const struct edit mine = read_at(50, NULL), other = read_at(40, "text");
    struct recorded r = {
        .edit = &mine, .n = 1, .other_edit = &other, .others = 1, .other_rc = ERR_IO, .other_ms = 90
    };

    assert_int_equal(look(REWIND_ABSENT, &r), PROVED); /* its own read is enough */
    r.n = 0;
    assert_int_equal(look(REWIND_BYTES, &r), HELD);
}
