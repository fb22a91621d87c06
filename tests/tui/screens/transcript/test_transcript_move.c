#include "support/screen/transcript_drive.h"

TEST(the_end_is_shown_first_and_the_cursor_is_on_it)
{
    struct drive d;

    open_long_conversation(&d, 500, REQUESTER_VIEWER, 12, 40);

    assert_true(screen_holds(&d, "answer 499"));
    assert_true(screen_holds(&d, "entry 1000 of 1000"));
    assert_cursor_on(&d, "answer 499");
    drive_fini(&d);
}

TEST(both_ends_are_one_key_away)
{
    struct drive d;

    open_long_conversation(&d, 3000, REQUESTER_VIEWER, 12, 40);
    drive_act(&d, ACT_FIRST);
    assert_true(screen_holds(&d, "prompt 0\n") || screen_holds(&d, "prompt 0 "));
    drive_act(&d, ACT_LAST);
    assert_cursor_on(&d, "answer 2999");
    drive_fini(&d);
}

TEST(keys_move_by_lines_pages_and_prompts)
{
    struct drive d;

    open_long_conversation(&d, 300, REQUESTER_VIEWER, 22, 40);
    drive_act(&d, ACT_PROMPT_PREV);
    assert_cursor_on(&d, "prompt 299");
    drive_act(&d, ACT_PROMPT_PREV);
    assert_cursor_on(&d, "prompt 298");
    drive_act(&d, ACT_DOWN);
    drive_act(&d, ACT_DOWN);
    assert_cursor_on(&d, "answer 298");
    drive_act(&d, ACT_PROMPT_NEXT);
    assert_cursor_on(&d, "prompt 299");
    drive_act(&d, ACT_PAGE_UP);
    drive_act(&d, ACT_PAGE_DOWN);
    assert_cursor_on(&d, "prompt 299");
    drive_act(&d, ACT_HALF_UP);
    drive_act(&d, ACT_HALF_DOWN);
    assert_cursor_on(&d, "prompt 299");
    drive_fini(&d);
}

TEST(prompts_far_outside_the_loaded_part_are_found)
{
    struct drive d;
    struct buf rows = { 0 };

    assert_int_equal(buf_addf(&rows, USER("the only prompt")), ERR_OK);
    for (int i = 0; i < 2000; i++)
        assert_int_equal(buf_addf(&rows, SAID("answer %d"), i), ERR_OK);
    drive_init(&d, buf_slice(&rows));
    drive_open(&d, REQUESTER_VIEWER, 20, 40);
    drive_act(&d, ACT_PROMPT_PREV);

    assert_cursor_on(&d, "the only prompt");
    drive_act(&d, ACT_PROMPT_NEXT);
    assert_cursor_on(&d, "answer 1999");
    drive_fini(&d);
    buf_fini(&rows);
}

TEST(only_messages_around_the_screen_are_read)
{
    struct drive d;

    open_long_conversation(&d, 20000, REQUESTER_VIEWER, 40, 80);
    assert_in_range(d.reads, 1, 8);
    unsigned before = d.reads;

    for (int i = 0; i < 20; i++)
        drive_act(&d, ACT_UP);
    assert_in_range(d.reads - before, 0, 2);
    drive_fini(&d);
}

TEST(every_line_is_passed_on_the_way_up_and_down)
{
    struct drive d;
    char name[32];

    open_long_conversation(&d, 200, REQUESTER_VIEWER, 14, 40);
    for (int i = 199; i >= 0; i--) {
        snprintf(name, sizeof name, "answer %d ", i);
        assert_cursor_on(&d, name);
        for (int k = 0; k < 5; k++)
            drive_act(&d, ACT_UP);
    }
    drive_act(&d, ACT_LAST);
    assert_cursor_on(&d, "answer 199");
    drive_fini(&d);
}

TEST(the_whole_conversation_replaces_the_tail_without_a_jump)
{
    struct drive d;
    struct buf rows_text = long_conversation(400);

    drive_init(&d, buf_slice(&rows_text));
    d.tail_rows = 60;
    d.hold_load = true;
    drive_open(&d, REQUESTER_VIEWER, 14, 40);
    assert_true(screen_holds(&d, "end of"));
    for (int i = 0; i < 9; i++)
        drive_act(&d, ACT_PAGE_UP);
    drive_act(&d, ACT_UP);
    char *before = drive_screen(&d);
    int y = d.frame.cursor_y;

    drive_release_load(&d);
    char *after = drive_screen(&d);

    assert_int_equal(d.frame.cursor_y, y);
    assert_non_null(strstr(after, " of 800"));
    /* the first line and the scroll bar show more now; the text must not move */
    char *a = strchr(before, '\n'), *b = strchr(after, '\n');

    while (a && b) {
        char *a_end = strchrnul(a + 1, '\n'), *b_end = strchrnul(b + 1, '\n');
        size_t n = (size_t)(a_end - a) < 30 ? (size_t)(a_end - a) : 30;

        assert_memory_equal(a, b, n);
        a = *a_end ? a_end : NULL;
        b = *b_end ? b_end : NULL;
    }
    free(before);
    free(after);
    drive_act(&d, ACT_FIRST);
    assert_true(screen_holds(&d, "prompt 0 "));
    drive_fini(&d);
    buf_fini(&rows_text);
}

/* --- a conversation on a server */
static void open_remote(struct drive *d, int prompts, size_t tail_rows)
{
    struct buf rows = long_conversation(prompts);

    drive_init(d, buf_slice(&rows));
    d->store.ops = &drive_remote_ops;
    d->remote = true;
    d->tail_rows = tail_rows;
    drive_open(d, REQUESTER_VIEWER, 14, 40);
    buf_fini(&rows);
}

TEST(a_remote_conversation_is_read_as_far_as_the_reader_goes)
{
    struct drive d;
    char name[32];

    open_remote(&d, 1000, 100);
    assert_true(screen_holds(&d, "last "));
    assert_int_equal(d.tails, 1);
    for (int i = 999; i >= 0; i--) { /* no line is left out or repeated where pages meet */
        snprintf(name, sizeof name, "answer %d ", i);
        assert_cursor_on(&d, name);
        assert_in_range(d.tails, 1, i > 970 ? 1 : i > 830 ? 2 : i > 230 ? 3 : 4);
        for (int k = 0; k < 5; k++)
            drive_act(&d, ACT_UP);
    }
    assert_int_equal(d.loads, 0);
    assert_true(screen_holds(&d, "entry 1 of 2000"));
    drive_fini(&d);
}

TEST(what_is_looked_for_in_a_remote_conversation_is_looked_for_in_all_of_it)
{
    struct drive d;

    open_remote(&d, 400, 20);
    drive_act(&d, ACT_FIRST);
    assert_int_equal(d.loads, 1);
    assert_true(screen_holds(&d, "prompt 0 "));
    drive_fini(&d);
    open_remote(&d, 400, 20);
    drive_act(&d, ACT_SEARCH);
    drive_type(&d, "prompt 17 ");
    assert_int_equal(d.loads, 1);
    assert_true(screen_holds(&d, "prompt 17 "));
    drive_fini(&d);
}

TEST(a_server_that_is_gone_is_named_and_asked_again_after_a_key)
{
    struct drive d;

    open_remote(&d, 400, 100);
    d.gone = true;
    for (int i = 0; i < 40; i++)
        drive_act(&d, ACT_PAGE_UP);
    assert_true(screen_holds(&d, "the server is gone"));
    unsigned before = d.tails;

    drive_answer_all(&d);
    assert_int_equal(d.tails, before); /* not again and again */
    d.gone = false;
    drive_act(&d, ACT_UP);
    drive_act(&d, ACT_UP);
    assert_false(screen_holds(&d, "the server is gone"));
    assert_in_range(d.tails, before + 1, before + 2);
    drive_fini(&d);
}

TEST(going_to_the_beginning_waits_for_the_whole_conversation)
{
    struct drive d;
    struct buf rows_text = long_conversation(400);

    drive_init(&d, buf_slice(&rows_text));
    d.tail_rows = 60;
    d.hold_load = true;
    drive_open(&d, REQUESTER_VIEWER, 14, 40);
    drive_act(&d, ACT_FIRST);
    assert_false(screen_holds(&d, "prompt 0 "));
    drive_release_load(&d);

    assert_true(screen_holds(&d, "prompt 0 "));
    drive_fini(&d);
    buf_fini(&rows_text);
}

TEST(new_messages_appear_at_the_end)
{
    struct drive d;

    open_long_conversation(&d, 50, REQUESTER_VIEWER, 14, 40);
    drive_append(&d, SLICE(SAID("and more")));
    transcript_view_reload(d.view, &d.ref, &d.fx);
    drive_answer_all(&d);
    assert_cursor_on(&d, "and more");

    drive_act(&d, ACT_PAGE_UP);
    drive_act(&d, ACT_PAGE_UP);
    drive_append(&d, SLICE(SAID("much more")));
    transcript_view_reload(d.view, &d.ref, &d.fx);
    drive_answer_all(&d);
    assert_false(screen_holds(&d, "much more"));
    drive_act(&d, ACT_LAST);
    assert_cursor_on(&d, "much more");
    drive_fini(&d);
}

TEST(the_position_survives_resize_and_folding)
{
    struct drive d;

    open_long_conversation(&d, 300, REQUESTER_VIEWER, 20, 60);
    for (int i = 0; i < 30; i++)
        drive_act(&d, ACT_PROMPT_PREV);
    assert_cursor_on(&d, "prompt 270");
    drive_resize(&d, 40, 100);
    assert_cursor_on(&d, "prompt 270");
    drive_resize(&d, 12, 50);
    assert_cursor_on(&d, "prompt 270");
    for (int i = 0; i < 15; i++)
        drive_act(&d, ACT_PROMPT_NEXT);
    assert_cursor_on(&d, "prompt 285");
    drive_resize(&d, 90, 100);
    drive_act(&d, ACT_PROMPT_NEXT);
    assert_cursor_on(&d, "prompt 286");
    drive_resize(&d, 12, 50);
    assert_cursor_on(&d, "prompt 286");
    for (int i = 0; i < 16; i++)
        drive_act(&d, ACT_PROMPT_PREV);
    for (int i = 0; i < 3; i++) {
        drive_act(&d, ACT_FOLD_LEVEL);
        assert_cursor_on(&d, "prompt 270");
    }
    drive_fini(&d);
}

TEST(a_search_that_finds_nothing_leaves_the_cursor_where_it_was)
{
    struct drive d;

    open_long_conversation(&d, 300, REQUESTER_VIEWER, 14, 60);
    drive_act(&d, ACT_PROMPT_PREV);
    assert_cursor_on(&d, "prompt 299");
    drive_act(&d, ACT_SEARCH);
    drive_type(&d, "prompt 200");
    assert_true(screen_holds(&d, "entry 401"));
    drive_type(&d, " nowhere");
    assert_true(screen_holds(&d, "not found"));
    drive_act(&d, ACT_ACCEPT);
    assert_cursor_on(&d, "prompt 299");
    drive_fini(&d);
}

/* Large messages are read in several steps. */
TEST(the_cursor_follows_the_end_that_is_read_later_unless_it_was_moved)
{
    struct buf rows = long_conversation(20);

    for (int moved = 0; moved < 2; moved++) {
        struct drive d;

        drive_init(&d, buf_slice(&rows));
        d.read_first = 39;
        drive_open(&d, REQUESTER_VIEWER, 90, 40);
        assert_cursor_on(&d, "prompt 19");
        if (moved)
            transcript_view_act(d.view, ACT_UP, &d.fx);
        drive_answer_all(&d);
        assert_cursor_on(&d, moved ? "────" : "answer 19");
        drive_fini(&d);
    }
    buf_fini(&rows);
}

/* They are counted after the conversation was shown. */
TEST(the_cursor_is_on_the_tokens_of_the_last_turn)
{
    struct drive d;
    struct buf rows = long_conversation(20);

    assert_int_equal(buf_add(&rows, SLICE("{\"type\":\"system\",\"subtype\":\"turn_duration\","
                                          "\"durationMs\":1500}\n")),
                     ERR_OK);
    drive_init(&d, buf_slice(&rows));
    d.counts = true;
    drive_open(&d, REQUESTER_VIEWER, 14, 40);
    assert_cursor_on(&d, "1.2k in, 34 out");
    assert_true(screen_holds(&d, "entry 41 of 41"));

    /* What is copied there is the reply above. */
    drive_act(&d, ACT_COPY);
    assert_true(slice_eq(buf_slice(&d.copied), SLICE("answer 19")));
    assert_cursor_on(&d, "1.2k in, 34 out");
    drive_fini(&d);
    buf_fini(&rows);
}

TEST(the_cursor_stays_at_the_end_when_more_is_unfolded_below_it)
{
    struct drive d;

    open_long_conversation(&d, 50, REQUESTER_VIEWER, 14, 40);
    drive_append(
        &d, SLICE("{\"type\":\"system\",\"subtype\":\"stop_hook_summary\",\"durationMs\":1500}\n"));
    transcript_view_reload(d.view, &d.ref, &d.fx);
    drive_answer_all(&d);
    assert_cursor_on(&d, "answer 49");
    assert_true(screen_holds(&d, "entry 100 of 101"));
    drive_act(&d, ACT_FOLD_LEVEL);
    assert_true(screen_holds(&d, "entry 101 of 101"));
    drive_fini(&d);
}

TEST(a_preview_that_is_scrolled_up_gets_the_rest)
{
    struct drive d;

    open_long_conversation(&d, 3000, REQUESTER_PREVIEW, 8, 60);
    assert_true(screen_holds(&d, "answer 2999"));
    transcript_view_scroll(d.view, -100000, &d.fx);
    assert_int_equal(d.fx.n, 1);
    drive_answer_all(&d);
    transcript_view_scroll(d.view, -100000, &d.fx);
    assert_true(screen_holds(&d, "prompt 0"));
    drive_fini(&d);
}

TEST(completed_requests_are_not_cancelled_at_the_end)
{
    struct drive d;

    open_long_conversation(&d, 300, REQUESTER_VIEWER, 14, 60);
    assert_int_equal(d.fx.n, 0);
    transcript_view_close(d.view, &d.fx);
    assert_int_equal(d.fx.n, 0);
    drive_fini(&d);
}

TEST(broken_lines_are_shown_in_their_place)
{
    struct drive d;

    drive_init(&d, SLICE(USER("a") "{\"type\":\"user\",\n" SAID("b")));
    drive_open(&d, REQUESTER_PREVIEW, 8, 60);

    assert_true(screen_holds(&d, "unreadable line"));
    assert_true(screen_holds(&d, "● b"));
    drive_fini(&d);
}

static void take_away(struct drive *d, struct slice rows)
{
    assert_int_equal(truncate(d->path, 0), 0);
    drive_append(d, rows);
    transcript_view_reload(d->view, &d->ref, &d->fx);
    drive_answer_all(d);
}

/* --- the file gets shorter: places and hits of the earlier reading are nowhere */
TEST(a_search_that_is_given_up_in_a_shorter_file_stays_where_it_is)
{
    struct drive d;

    open_long_conversation(&d, 30, REQUESTER_VIEWER, 14, 60);
    drive_act(&d, ACT_SEARCH);
    take_away(&d, SLICE(USER("the only prompt") SAID("the only answer")));
    drive_act(&d, ACT_BACK);
    assert_true(screen_holds(&d, "the only prompt"));
    drive_act(&d, ACT_RAW);
    assert_true(screen_holds(&d, "\"type\""));
    drive_fini(&d);
}

/* The answer to a question about the words before comes after new ones are begun. */
TEST(late_hits_belong_to_the_words_before)
{
    struct drive d;
    struct effect q;

    open_long_conversation(&d, 30, REQUESTER_VIEWER, 14, 60);
    drive_act(&d, ACT_SEARCH);
    transcript_view_key(d.view, (struct key){ '2', 0 }, &d.fx);
    assert_true(effects_pop(&d.fx, &q));
    assert_int_equal(q.kind, EFFECT_SEARCH);
    drive_act(&d, ACT_ACCEPT);
    drive_act(&d, ACT_SEARCH);
    struct drive_search search = { &d, q.generation };

    assert_int_equal(jobs_search_transcript(q.conversation, buf_slice(&q.text), NULL, drive_found,
                                            &search, NULL),
                     ERR_OK);
    effect_fini(&q);
    drive_act(&d, ACT_SEARCH_NEXT);
    assert_false(screen_holds(&d, "answer 3"));
    take_away(&d, SLICE(USER("the only prompt")));
    take_away(&d, SLICE(USER("the only prompt") SAID("and an answer")));
    drive_act(&d, ACT_SEARCH_NEXT);
    assert_true(screen_holds(&d, "the only prompt"));
    assert_true(screen_holds(&d, "and an answer"));
    drive_fini(&d);
}

/* Its end is a line that is not known yet. */
TEST(nothing_is_copied_before_the_first_rows_are_read)
{
    struct drive d;
    struct effect q;

    drive_init(&d, SLICE(USER("a prompt") SAID("an answer")));
    d.view = transcript_view_new(&d.settings, REQUESTER_VIEWER);
    assert_non_null(d.view);
    assert_true(frame_init(&d.frame, 14, 60, false));
    transcript_view_resize(d.view, 14, 60, &d.fx);
    assert_true(transcript_view_open(d.view, &d.ref, SLICE("A title"), SLICE(""), &d.fx));
    assert_true(effects_pop(&d.fx, &q));
    drive_transcript_asked(&d, &q);
    effect_fini(&q);
    transcript_view_act(d.view, ACT_COPY, &d.fx);
    assert_true(screen_holds(&d, "no text here"));
    drive_answer_all(&d);
    drive_act(&d, ACT_COPY);
    assert_true(slice_eq(buf_slice(&d.copied), SLICE("an answer")));
    drive_fini(&d);
}
