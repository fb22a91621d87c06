#include "tests/test.h"

#include "store/rewind/record/records.h"
#include "support/rewind/rewind_case.h"

/* A session knows its own last snapshot, and not that we have rewound since. */

/* The session's view: the file was `text` at the point and is "present" now. */
static struct rewind_plan plan_to(struct rewind_case *p, const char *text)
{
    struct rewind_plan plan = { .system = "fake", .session = "s", .point = "m", .root = p->root };
    struct rewind_target t = { .path = p->f,
                               .want = text ? REWIND_BYTES : REWIND_ABSENT,
                               .source = { .bytes = { text, text ? strlen(text) : 0 } },
                               .has_last = true,
                               .last = { .bytes = SLICE("present\n") } };

    assert_int_equal(rewind_plan_add(&plan, &t, NULL), ERR_OK);
    assert_int_equal(rewind_plan_known_state(&p->env, &plan, NULL), ERR_OK);
    return plan;
}

static bool is_edited(struct rewind_case *p, const char *to)
{
    static const struct rewind_options none;
    struct rewind_plan plan = plan_to(p, to);
    struct rewind_preview preview;

    assert_int_equal(rewind_preview(&plan, &none, &preview, NULL), ERR_OK);
    bool edited = preview.entry[0].edited;

    rewind_preview_fini(&preview);
    rewind_plan_fini(&plan);
    return edited;
}

static void carry_out_with(struct rewind_case *p, struct rewind_plan *plan,
                           const struct rewind_options *options)
{
    struct rewind_preview preview;
    struct rewind_result result;

    assert_int_equal(rewind_preview(plan, options, &preview, NULL), ERR_OK);
    assert_int_equal(preview.refused, 0);
    assert_int_equal(rewind_apply(&p->env, &preview, &result, NULL), ERR_OK);
    rewind_result_fini(&result);
    rewind_preview_fini(&preview);
    rewind_plan_fini(plan);
    p->env.now_ms += 1000;
}

static void carry_out(struct rewind_case *p, struct rewind_plan *plan)
{
    static const struct rewind_options none;

    carry_out_with(p, plan, &none);
}

static void go_to(struct rewind_case *p, const char *text)
{
    struct rewind_plan plan = plan_to(p, text);

    carry_out(p, &plan);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(our_own_rewind_is_not_a_hand_edit)
{
    struct rewind_case *p = *state;

    go_to(p, "first\n");
    assert_false(is_edited(p, "second\n"));
    go_to(p, "second\n");
    assert_true(folder_is(&p->folder, "ws/d/f", "second\n"));
    go_to(p, NULL);
    assert_false(is_edited(p, "first\n"));
}

CASE(an_edit_after_our_rewind_is_detected)
{
    struct rewind_case *p = *state;

    go_to(p, "first\n");
    folder_put(&p->folder, "ws/d/f", SLICE("mine\n"));
    assert_true(is_edited(p, "second\n"));
}

/* The bytes of the older record are not what we left last. */
CASE(only_the_newest_record_counts)
{
    struct rewind_case *p = *state;

    go_to(p, "first\n");
    go_to(p, "second\n");
    folder_put(&p->folder, "ws/d/f", SLICE("first\n"));
    assert_true(is_edited(p, NULL));
}

CASE(an_undo_is_a_known_state_too)
{
    struct rewind_case *p = *state;
    struct rewind_plan back;

    go_to(p, "first\n");
    assert_int_equal(rewind_undo_plan(&p->env, NULL, &back, NULL), ERR_OK);
    carry_out(p, &back);
    assert_false(is_edited(p, "second\n"));
    folder_put(&p->folder, "ws/d/f", SLICE("first\n"));
    assert_true(is_edited(p, "second\n"));
}

/* A hand edit that was replaced with consent and restored by an undo is a hand edit again. */
CASE(hand_edits_restored_by_an_undo_are_still_hand_edits)
{
    struct rewind_case *p = *state;
    struct rewind_plan there, back;

    folder_put(&p->folder, "ws/d/f", SLICE("mine\n"));
    for (int i = 0; i < 2; i++) {
        assert_true(is_edited(p, "first\n"));
        there = plan_to(p, "first\n");
        carry_out_with(p, &there, &all);
        assert_false(is_edited(p, "second\n"));
        assert_int_equal(rewind_undo_plan(&p->env, NULL, &back, NULL), ERR_OK);
        carry_out(p, &back);
        assert_true(folder_is(&p->folder, "ws/d/f", "mine\n"));
    }
    assert_true(is_edited(p, "first\n"));
}

/* An undo that is undone leaves the state of the rewind. */
CASE(an_undone_undo_is_known)
{
    struct rewind_case *p = *state;
    struct rewind_records records;
    struct rewind_plan back;

    go_to(p, "first\n");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rewind_records_read(&p->env, &records, NULL), ERR_OK);
        assert_int_equal(rewind_undo_plan(&p->env, records.record[0].id, &back, NULL), ERR_OK);
        rewind_records_fini(&records);
        carry_out(p, &back);
    }
    assert_true(folder_is(&p->folder, "ws/d/f", "first\n"));
    assert_false(is_edited(p, "second\n"));
}

/* A rewind of some hunks over a hand edit keeps the rest of it. */
CASE(partly_kept_hand_edits_are_still_hand_edits)
{
    struct rewind_case *p = *state;
    struct rewind_plan plan;

    folder_put(&p->folder, "ws/d/f", SLICE("mine\n"));
    plan = plan_to(p, "first\n");
    plan.target[0].mixed = true;
    carry_out_with(p, &plan, &all);
    assert_true(is_edited(p, "second\n"));
}
