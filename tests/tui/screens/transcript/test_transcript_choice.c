#include "support/screen/transcript_drive.h"

/* Branches of a conversation: chosen from a list, read over it, and acted on. */

static void open_branched(struct drive *d, size_t branches)
{
    struct buf rows_text = long_conversation(2);

    drive_init(d, buf_slice(&rows_text));
    d->branches = branches;
    drive_open(d, REQUESTER_VIEWER, 16, 60);
    buf_fini(&rows_text);
}

TEST(the_resume_point_is_shown)
{
    struct drive d;

    open_branched(&d, 1);
    assert_true(screen_holds(&d, "── a resume continues here "));
    drive_fini(&d);
    open_branched(&d, 0);
    assert_false(screen_holds(&d, "a resume continues"));
    drive_fini(&d);
}

TEST(branches_are_listed_after_the_current_path)
{
    struct drive d;

    open_branched(&d, 2);
    drive_act(&d, ACT_BRANCHES);
    assert_true(screen_holds(&d, "╭─ branches ─"));
    assert_true(screen_holds(&d, "the current conversation"));
    assert_cursor_on(&d, "2 of 3");
    assert_cursor_on(&d, "?  Try a queue"); /* their lengths are left out on a narrow screen */
    assert_true(screen_holds(&d, "3 of 3        ?  (no prompt)"));
    assert_true(screen_holds(&d, "a resume continues here")); /* the conversation stays in sight */

    drive_act(&d, ACT_BACK);
    frame_fini(&d.frame);
    assert_true(frame_init(&d.frame, 20, 80, false));
    transcript_view_resize(d.view, 20, 80, &d.fx);
    drive_act(&d, ACT_BRANCHES); /* branches that begin and end alike differ in their lengths */
    assert_cursor_on(&d, "2 of 3     1 message   Try a queue");
    assert_true(screen_holds(&d, "3 of 3     2 messages"));

    drive_act(&d, ACT_BACK);
    frame_fini(&d.frame);
    assert_true(frame_init(&d.frame, 20, 110, false));
    transcript_view_resize(d.view, 20, 110, &d.fx);
    drive_act(&d, ACT_BRANCHES);
    assert_cursor_on(&d, "2 of 3        ?     1 message   Try a queue");
    assert_true(screen_holds(&d, "3 of 3        ?     2 messages"));
    assert_int_equal(transcript_view_key_context(d.view), IN_MENU);
    assert_int_equal(drive_act(&d, ACT_BACK), TRANSCRIPT_DONE);
    assert_false(screen_holds(&d, "branches"));
    drive_fini(&d);
}

TEST(a_branch_is_read_from_where_it_leaves)
{
    struct drive d;
    struct id128 id;
    int64_t ms;

    open_branched(&d, 2);
    drive_act(&d, ACT_BRANCHES);
    drive_act(&d, ACT_DOWN);
    drive_act(&d, ACT_ACCEPT);
    assert_true(screen_holds(&d, " Branch 3 of 3: (no prompt)"));
    assert_true(screen_holds(&d, "── another branch begins here "));
    assert_true(transcript_view_message(d.view, &id, &ms)); /* r and f act on this branch */
    assert_true(id128_eq(id, (struct id128){ 7, 1 }));
    assert_int_equal(drive_act(&d, ACT_BACK), TRANSCRIPT_DONE);
    assert_true(screen_holds(&d, " A title"));
    assert_false(screen_holds(&d, "another branch"));
    drive_fini(&d);
}

TEST(leaving_a_branch_reopens_the_list)
{
    struct drive d;

    open_branched(&d, 2);
    drive_act(&d, ACT_BRANCHES);
    drive_act(&d, ACT_ACCEPT);
    assert_true(screen_holds(&d, " Branch 2 of 3: Try a queue"));
    drive_act(&d, ACT_BRANCHES);
    assert_true(screen_holds(&d, "the current conversation"));
    drive_act(&d, ACT_FIRST);
    drive_act(&d, ACT_ACCEPT);
    assert_true(screen_holds(&d, "a resume continues here"));
    assert_int_equal(drive_act(&d, ACT_BACK), TRANSCRIPT_BACK);
    drive_fini(&d);
}

TEST(sub_agents_are_listed_with_their_results)
{
    struct drive d;
    struct store_ops ops = drive_ops;

    open_branched(&d, 0);
    ops.subagents = drive_subagents;
    d.store.ops = &ops;
    drive_act(&d, ACT_SUBAGENTS);
    assert_cursor_on(&d, "done         4.1 KB  Explore  Audit the shop: 23 rout");
    assert_true(screen_holds(&d, "unfinished     12 B           b2"));
    drive_act(&d, ACT_ACCEPT);
    assert_true(screen_holds(&d, " sub-agent: Audit the shop"));
    drive_act(&d, ACT_BACK);
    assert_cursor_on(&d, "done         4.1 KB  Explore  Audit the shop: 23 rout");
    drive_act(&d, ACT_DOWN);
    drive_act(&d, ACT_ACCEPT);
    assert_true(screen_holds(&d, " sub-agent b2"));
    drive_fini(&d);
}

TEST(a_conversation_without_branches_is_reported)
{
    struct drive d;

    open_branched(&d, 0);
    drive_act(&d, ACT_BRANCHES);
    assert_true(screen_holds(&d, "this conversation has no other branches"));
    assert_true(transcript_view_dismiss(d.view));
    assert_false(screen_holds(&d, "this conversation has no other branches"));
    assert_false(transcript_view_dismiss(d.view));
    drive_fini(&d);
}

/* The list of sub-agents comes when one of them is read already. */
TEST(a_late_list_of_sub_agents_opens_no_second_one)
{
    struct store_ops ops = drive_ops;
    struct drive d;
    struct effect q;

    open_branched(&d, 0);
    ops.subagents = drive_subagents;
    d.store.ops = &ops;
    transcript_view_act(d.view, ACT_SUBAGENTS, &d.fx);
    assert_true(effects_pop(&d.fx, &q));
    assert_int_equal(q.kind, EFFECT_SUBAGENTS);
    transcript_view_search_in(d.view, SLICE("b2"), SLICE("word"), false, &d.fx);
    drive_answer_all(&d);
    assert_true(screen_holds(&d, " sub-agent b2"));
    struct subagent_list *list = calloc(1, sizeof *list);

    assert_non_null(list);
    list->agent = arena_zalloc(&list->arena, sizeof *list->agent);
    assert_non_null(list->agent);
    list->agent[list->n++] = (struct subagent){ .id = SLICE("a1") };
    drive_answer(
        &d, (struct msg){ .kind = MSG_SUBAGENTS, .generation = q.generation, .u.subagents = list });
    effect_fini(&q);
    assert_true(screen_holds(&d, " sub-agent b2"));
    drive_fini(&d);
}
