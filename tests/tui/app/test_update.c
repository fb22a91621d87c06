#include "tests/test.h"

#include "support/screen/screen.h"

/* The rules of the screen that a person may rely on, each as a test. */
/* --- 1. typing is always safe */
AT_SHOP(typing_any_letter_never_acts, 24, 80)
{
    char key[2] = "";

    for (char c = ' '; c < 0x7f; c++) {
        if (c == '?' || c == '<')
            continue; /* help on an empty query; and the name of a key here */
        key[0] = c;
        screen_press(&x->s, key);
        assert_string_equal(x->s.log, "");
        assert_int_equal(screen_line(&x->s, 1)[0], '>');
        assert_true(c == ' ' || strchr(screen_line(&x->s, 1) + 1, c) != NULL);
        screen_press(&x->s, "<BS>");
    }
    screen_press(&x->s, "qqq");
    assert_string_equal(x->s.log, "");
    assert_string_equal(screen_line(&x->s, 1), "> qqq");
}

AT_SHOP(pasted_text_is_never_keys, 24, 80)
{
    screen_send(&x->s, (struct msg){ .kind = MSG_PASTE, .u.paste = SLICE("refund\n\x1b") });
    screen_answer(&x->s);
    assert_string_equal(x->s.log, "");
    assert_string_equal(screen_line(&x->s, 1), "> refund");
    assert_true(screen_has(&x->s, "Refund flow"));
}

/* The keys stay beside it, and work. */
AT_SHOP(a_silent_server_is_named_until_it_answers, 24, 80)
{
    screen_send(&x->s, (struct msg){ .kind = MSG_SILENCE, .u.silent = "team" });
    assert_true(screen_has(&x->s, "no answer from team yet"));
    assert_true(screen_has(&x->s, "resume"));
    screen_press(&x->s, "refund");
    assert_string_equal(screen_line(&x->s, 1), "> refund");
    assert_true(screen_has(&x->s, "no answer from team yet"));
    screen_send(&x->s, (struct msg){ .kind = MSG_SILENCE });
    assert_false(screen_has(&x->s, "no answer from team yet"));
}

AT_SHOP(a_question_mark_opens_help_only_on_an_empty_query, 24, 80)
{
    screen_press(&x->s, "a?");
    assert_string_equal(screen_line(&x->s, 1), "> a?");
    screen_press(&x->s, "<C-u>?");
    assert_true(screen_has(&x->s, "In the list of sessions"));
}

/* --- 2. unavailable actions are shown with the reason */
AT_SHOP(the_menu_shows_every_action_and_why_some_cannot_be_done, 24, 80)
{
    screen_press(&x->s, "<C-x>");
    assert_true(screen_has(&x->s, "r  resume"));
    assert_true(screen_has(&x->s, "e  export"));
    assert_true(screen_has(&x->s, "w  rewind files"));
    assert_true(screen_has(&x->s, "c  clean up"));
    screen_press(&x->s, "E<Esc>"); /* a letter without an action */
    assert_false(screen_has(&x->s, "resume the session"));
    assert_string_equal(x->s.log, "");
}

AT_SHOP(letters_of_the_menu_act, 24, 80)
{
    screen_press(&x->s, "<Down><C-x>y");
    assert_string_equal(x->s.log, "copy 22222222-0000-4000-8000-000000000002\n");
    screen_press(&x->s, "<C-x>r");
    assert_non_null(strstr(x->s.log, "resume 22222222 in /home/u/src/shop\n"));
}

/* --- 3. never wait; late replies are dropped */
TEST(keys_are_answered_before_anything_is_listed)
{
    struct shop x;

    shop_begin(&x);
    screen_open(&x.s, x.fake, SHOP, 24, 80);
    screen_press_only(&x.s, "ref");
    assert_string_equal(screen_line(&x.s, 1), "> ref");
    screen_answer(&x.s);
    screen_wait(&x.s, 200);
    assert_true(screen_has(&x.s, "Refund flow"));
    assert_false(screen_has(&x.s, "Payment page"));
    screen_close(&x.s);
}

TEST(a_spinner_appears_only_after_a_delay)
{
    struct shop x = { 0 };

    x.s.settings.ascii = true;
    shop_begin(&x);
    screen_open(&x.s, x.fake, SHOP, 24, 80);
    screen_take(&x.s);
    assert_false(screen_has(&x.s, "Loading sessions"));
    x.s.now_ms += 140;
    screen_send(&x.s, (struct msg){ .kind = MSG_TICK });
    assert_false(screen_has(&x.s, "Loading sessions"));
    x.s.now_ms += 20;
    screen_send(&x.s, (struct msg){ .kind = MSG_TICK });
    assert_true(screen_has(&x.s, "Loading sessions"));
    screen_close(&x.s);
}

TEST(an_enter_pressed_too_early_waits_for_the_list)
{
    struct shop x;

    shop_begin(&x);
    screen_open(&x.s, x.fake, SHOP, 24, 80);
    screen_press_only(&x.s, "refund<Enter>");
    assert_string_equal(x.s.log, "");
    screen_answer(&x.s);
    screen_wait(&x.s, 200);
    assert_string_equal(x.s.log, "resume 33333333 in /home/u/src/shop-wt\n");
    screen_close(&x.s);
}

/* The keys that follow are for what the first one opens, and wait with it. */
TEST(an_action_typed_too_early_waits_for_its_session)
{
    struct shop x;

    shop_begin(&x);
    screen_open(&x.s, x.fake, SHOP, 24, 80);
    screen_press_only(&x.s, "refund<C-r><C-u>Money back");
    assert_false(screen_has(&x.s, "no session is selected"));
    screen_answer(&x.s);
    screen_wait(&x.s, 200);
    assert_true(screen_has(&x.s, "title › Money back"));
    screen_press(&x.s, "<Esc>");
    assert_string_equal(screen_line(&x.s, 1), "> refund");
    screen_close(&x.s);

    shop_begin(&x);
    screen_open(&x.s, x.fake, SHOP, 24, 80);
    screen_press_only(&x.s, "<C-x>n<Esc><Esc>"); /* is taken back */
    screen_answer(&x.s);
    screen_wait(&x.s, 200);
    assert_true(screen_has(&x.s, "type to filter"));
    screen_close(&x.s);

    shop_begin(&x);
    screen_open(&x.s, x.fake, SHOP, 24, 80);
    screen_press_only(&x.s, "<Down><C-x>nMoney back");
    screen_answer(&x.s);
    screen_wait(&x.s, 400);
    assert_true(screen_has(&x.s, "title › "));
    assert_true(screen_has(&x.s, "Money back"));
    screen_close(&x.s);

    shop_begin(&x);
    screen_open(&x.s, x.fake, 0, 24, 80);
    screen_press_only(&x.s, "<C-r>");
    screen_answer(&x.s);
    screen_wait(&x.s, 200);
    assert_true(screen_has(&x.s, "rename: no session is selected"));
    screen_close(&x.s);
}

AT_SHOP(a_late_answer_is_dropped, 24, 80)
{
    struct ref_list *refs;
    struct session_ref ref;

    ref = (struct session_ref){
        .store = &x->s.store, .id = SLICE("late"), .path = SLICE("/late"), .folder = SLICE("")
    };
    refs = ref_list_one(&ref, (struct slice){ 0 });
    assert_non_null(refs);
    screen_send(&x->s,
                (struct msg){ .kind = MSG_SESSIONS, .generation = 9999, .u.sessions = refs });
    screen_send(&x->s, (struct msg){ .kind = MSG_LISTED, .generation = 9999 });
    screen_wait(&x->s, 500);
    assert_true(screen_has(&x->s, "5 sessions"));
}

/* --- 4. the selection sticks to the session */
AT_SHOP(the_selection_sticks_through_sorting_resizing_and_refreshing, 24, 80)
{
    screen_press(&x->s, "<Down><Down>");
    assert_non_null(strstr(screen_cursor_line(&x->s), "Refund flow"));
    for (int i = 0; i < 4; i++) {
        screen_press(&x->s, "<C-s>");
        assert_non_null(strstr(screen_cursor_line(&x->s), "Refund flow"));
    }
    screen_resize(&x->s, 12, 50);
    assert_non_null(strstr(screen_cursor_line(&x->s), "Refund flow"));
    screen_resize(&x->s, 60, 200);
    assert_non_null(strstr(screen_cursor_line(&x->s), "Refund flow"));
    x->fake[4].ago_ms = 1000; /* another session moves to the top */
    screen_send(&x->s, (struct msg){ .kind = MSG_FILES_CHANGED });
    screen_wait(&x->s, 1000);
    assert_int_equal(x->s.listings, 2);
    assert_non_null(strstr(screen_line(&x->s, 2), "Änderungen"));
    assert_non_null(strstr(screen_cursor_line(&x->s), "Refund flow"));
}

AT_SHOP(the_selection_sticks_through_filtering, 24, 80)
{
    screen_press(&x->s, "<Down><Down><Down>");
    assert_non_null(strstr(screen_cursor_line(&x->s), "Payment page"));
    screen_press(&x->s, "pa");
    assert_non_null(strstr(screen_cursor_line(&x->s), "Payment page"));
    screen_press(&x->s, "<BS><BS>");
    assert_non_null(strstr(screen_cursor_line(&x->s), "Payment page"));
}

AT_SHOP(an_untouched_selection_is_the_best_match, 24, 80)
{
    screen_press(&x->s, "page");
    assert_non_null(strstr(screen_cursor_line(&x->s), "Payment page"));
}

AT_SHOP(the_neighbour_is_selected_when_a_session_vanishes, 24, 80)
{
    screen_press(&x->s, "<Down>");
    x->fake[1].gone = true;
    screen_press(&x->s, "<F5>");
    assert_false(screen_has(&x->s, "idempotency"));
    assert_non_null(strstr(screen_cursor_line(&x->s), "Refund flow"));
    assert_true(screen_has(&x->s, "4 sessions"));
}

/* --- 5. Esc goes one step back */
AT_SHOP(escape_goes_back_step_by_step_and_then_leaves, 24, 80)
{
    screen_press(&x->s, "pay<Tab><C-x>");
    assert_true(screen_has(&x->s, "resume the session"));
    screen_press(&x->s, "<Esc>");
    assert_false(screen_has(&x->s, "resume the session"));
    assert_string_equal(x->s.log, "");
    screen_press(&x->s, "<Esc>");
    assert_true(screen_has(&x->s, "5 sessions"));
    assert_true(screen_has(&x->s, "1 marked"));
    screen_press(&x->s, "<Esc>");
    assert_false(screen_has(&x->s, "marked"));
    assert_string_equal(x->s.log, "");
    screen_press(&x->s, "<Esc>");
    assert_string_equal(x->s.log, "quit 130\n");
}

AT_SHOP(escape_leaves_the_conversation_for_the_list, 24, 80)
{
    screen_press(&x->s, "<Down><Right>");
    assert_true(screen_has(&x->s, "conversation of Payments: idempotency keys"));
    screen_press(&x->s, "s");
    assert_true(screen_has(&x->s, "no sub-agents in this test"));
    screen_press(&x->s, "?");
    assert_true(screen_has(&x->s, "In a conversation"));
    screen_press(&x->s, "<Esc><Esc>");
    assert_non_null(strstr(screen_cursor_line(&x->s), "idempotency"));
    assert_string_equal(x->s.log, "");
}

TEST(control_c_leaves_from_everywhere)
{
    static const char *const ways[] = { "", "pay", "<C-x>", "?", "<Right>", "<Right>/", "<Enter>" };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct shop x;

        shop_ready(&x, 24, 80);
        screen_press(&x.s, ways[i]);
        screen_press(&x.s, "<C-c>");
        assert_string_equal(x.s.log, "quit 130\n");
        screen_close(&x.s);
    }
}

AT_SHOP(q_leaves_a_view_as_escape_does, 24, 80)
{
    screen_press(&x->s, "<Down><Right>q");
    assert_string_equal(x->s.log, "");
    assert_non_null(strstr(screen_cursor_line(&x->s), "idempotency"));
}

AT_SHOP(the_first_escape_only_removes_a_message, 24, 80)
{
    screen_press(&x->s, "pay<Down><Tab><Up><Up><Right>");
    assert_true(screen_has(&x->s, "another one is marked"));
    screen_press(&x->s, "<Esc>");
    assert_false(screen_has(&x->s, "another one is marked"));
    assert_true(screen_has(&x->s, "> pay"));
    screen_press(&x->s, "<Esc>");
    assert_false(screen_has(&x->s, "> pay"));
}

AT_SHOP(clearing_the_query_keeps_the_selected_session, 24, 80)
{
    static const char *const ways[] = { "<Esc>", "<C-u>", "<C-s>" };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        screen_press(&x->s, "<Home>Refund");
        assert_non_null(strstr(screen_cursor_line(&x->s), "Refund flow"));
        screen_press(&x->s, ways[i]);
        assert_non_null(strstr(screen_cursor_line(&x->s), "Refund flow"));
        screen_press(&x->s, "<C-u>");
    }
}

/* --- 6. nothing dangerous by accident */
AT_SHOP(enter_twice_on_a_fresh_screen_changes_no_file, 24, 80)
{
    screen_press(&x->s, "<Enter><Enter>");
    assert_string_equal(x->s.log, ""); /* the newest is running: Enter chooses no */
    screen_press(&x->s, "<Down><Enter><Enter>");
    assert_string_equal(x->s.log, "resume 22222222 in /home/u/src/shop\n");
}

AT_SHOP(resuming_a_running_session_asks_with_the_safe_answer_selected, 24, 80)
{
    screen_press(&x->s, "<Enter>");
    assert_true(screen_has(&x->s, "This session is running"));
    assert_non_null(strstr(screen_cursor_line(&x->s), "cancel"));
    screen_press(&x->s, "<Enter>");
    assert_string_equal(x->s.log, "");
    screen_press(&x->s, "<Enter>2");
    assert_string_equal(x->s.log, "resume 11111111 in /home/u/src/shop\n");
}

AT_SHOP(a_running_agent_can_be_gone_to, 24, 80)
{
    x->s.pane = "%3";
    screen_press(&x->s, "<Enter>");
    assert_true(screen_has(&x->s, "has it open on /dev/pts/4."));
    assert_true(screen_has(&x->s, "go to it (tmux work:1.0)"));
    assert_non_null(strstr(screen_cursor_line(&x->s), "cancel"));
    screen_press(&x->s, "3");
    assert_string_equal(x->s.log, "resume 11111111 in /home/u/src/shop\n");
}

AT_SHOP(going_to_a_running_agent_ends_the_program, 24, 80)
{
    x->s.pane = "%3";
    screen_press(&x->s, "<Enter>2");
    assert_string_equal(x->s.log, "show %3\nquit 0\n");
}

AT_SHOP(a_missing_directory_is_no_dead_end, 24, 80)
{
    x->s.dir_gone = true;
    screen_press(&x->s, "<Down><Enter>");
    assert_true(screen_has(&x->s, "The session's directory no longer exists"));
    assert_true(screen_has(&x->s, "in its repository: ~/src/main"));
    assert_true(screen_has(&x->s, "here: ~/src/shop"));
    screen_press(&x->s, "<Enter>");
    assert_string_equal(x->s.log, "");
    screen_press(&x->s, "<Enter><Down><Enter>");
    assert_string_equal(x->s.log, "resume 22222222 in /home/u/src/main\n");
}

TEST(a_title_typed_for_a_refused_prompt_goes_nowhere)
{
    struct shop x;

    shop_begin(&x);
    x.fake[1].unsupported = CAN_RENAME;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    for (int again = 0; again < 2; again++) {
        screen_press(&x.s, "<Down><C-r>");
        assert_true(screen_has(&x.s, "rename: "));
        screen_press(&x.s, "A better<C-w><BS>? title<C-u>du");
        screen_send(&x.s, (struct msg){ .kind = MSG_PASTE, .u.paste = SLICE("a\nb") });
        screen_wait(&x.s, 60000);
        assert_true(screen_has(&x.s, "rename: "));
        assert_true(screen_has(&x.s, "type to filter"));
        screen_press(&x.s, "<Enter>");
        assert_false(screen_has(&x.s, "rename: "));
        assert_string_equal(x.s.log, "");
        screen_press(&x.s, "<Up>");
    }
    screen_press(&x.s, "<Down><C-r><Esc>pay");
    assert_non_null(strstr(screen_line(&x.s, 1), "> pay"));
    screen_close(&x.s);
}

/* There letters are actions: archive, undo, delete. */
TEST(a_title_typed_for_a_refused_prompt_is_no_keys_of_vim)
{
    struct shop x;

    shop_begin(&x);
    x.s.settings.keys.scheme = KEYS_VIM;
    x.fake[1].unsupported = CAN_RENAME | CAN_FORK;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_press(&x.s, "<Down>");
    for (int key = 0; key < 2; key++) {
        screen_press(&x.s, key ? "<C-r>" : "<C-f>");
        screen_press(&x.s, "auditing jwq");
        assert_true(screen_has(&x.s, key ? "rename: " : "fork: "));
        assert_true(screen_has(&x.s, "Payment page copy"));
        screen_press(&x.s, "<Enter>");
        assert_string_equal(x.s.log, "");
    }
    screen_press(&x.s, "y");
    assert_string_equal(x.s.log, "copy 22222222-0000-4000-8000-000000000002\n");
    screen_close(&x.s);
}

AT_SHOP(an_error_stays_until_a_key_is_pressed, 24, 80)
{
    struct err e;

    err_set(&e, ERR_IO, "/home/u/.claude/projects", "list sessions");
    x->s.problems = problem_list_new();
    assert_true(problem_list_add(x->s.problems, "claude", &e));
    screen_press(&x->s, "<F5>");
    assert_true(screen_has(&x->s, "list sessions: /home/u/.claude/projects"));
    screen_wait(&x->s, 60000);
    assert_true(screen_has(&x->s, "list sessions: /home/u/.claude/projects"));
    screen_press(&x->s, "<Down>");
    assert_false(screen_has(&x->s, "list sessions"));
}

AT_SHOP(a_lasting_error_is_shown_once, 24, 110)
{
    struct err e;

    for (int listing = 0; listing < 2; listing++) {
        x->s.problems = problem_list_new();
        err_set(&e, ERR_IO, "/home/u/.claude/projects/-a", "list sessions");
        assert_true(problem_list_add(x->s.problems, "claude", &e));
        err_set(&e, ERR_IO, "/home/u/.claude/projects/-b", "list sessions");
        assert_true(problem_list_add(x->s.problems, "claude", &e));
        screen_press(&x->s, "<F5>");
        assert_int_equal(screen_has(&x->s, "-a (and 1 more)"), listing == 0);
        screen_press(&x->s, "<Down>");
    }
    x->s.problems = problem_list_new();
    assert_true(problem_list_add(x->s.problems, "claude", &e));
    screen_press(&x->s, "<F5>");
    assert_true(screen_has(&x->s, "list sessions: /home/u/.claude/projects/-b"));
}

TEST(an_action_is_named_once_in_the_footer)
{
    struct shop x;

    shop_begin(&x);
    x.s.settings.ascii = true;
    screen_ready(&x.s, x.fake, SHOP, 24, 100);
    screen_press(&x.s, "<F1>");
    assert_true(screen_has(&x.s, " Up  Down  PgDn "));
    assert_false(screen_has(&x.s, "Up up"));
    screen_close(&x.s);
}

/* The way out is shown at every width, help after it. */
TEST(the_way_back_is_in_every_footer)
{
    static const char *const views[] = { "<C-x>w", "<C-x>w<Tab>", "<C-x>D", "<C-x>c",
                                         "<C-x>X", "<C-x>H",      "<A-x>" };

    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        for (int cols = 50; cols <= 120; cols += 10) {
            struct shop x;

            shop_begin(&x);
            x.fake[1].gone = x.fake[3].gone = true;
            screen_ready(&x.s, x.fake, SHOP, 24, cols);
            screen_press(&x.s, views[i]);
            assert_non_null(strstr(screen_line(&x.s, 23), "Esc back"));
            assert_non_null(strstr(screen_line(&x.s, 23), "? help"));
            screen_close(&x.s);
        }
}

AT_SHOP(an_idle_program_is_not_woken, 24, 100)
{
    assert_true(model_wake_ms(x->s.model) == TIME_NONE);
}

AT_SHOP(after_the_choice_nothing_changes, 24, 80)
{
    screen_press(&x->s, "<Down><Enter>");
    screen_press(&x->s, "<Esc><C-c><Down>");
    assert_string_equal(x->s.log, "resume 22222222 in /home/u/src/shop\n");
}

TEST(more_requests_than_fit_do_no_harm)
{
    struct effects fx = { 0 };

    for (int i = 0; i < 2 * EFFECTS_MAX; i++)
        assert_non_null(effect_add(&fx, EFFECT_LIST, REQUESTER_LIST));
    assert_int_equal(fx.n, EFFECTS_MAX);
    effects_fini(&fx);
}
