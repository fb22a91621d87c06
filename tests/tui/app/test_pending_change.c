#include "tests/test.h"

#include "support/screen/screen.h"

/* Changing sessions from the keyboard: which sessions are meant, what is asked, what is shown. */

/* --- one key destroys nothing; the default answer is the safe one */
AT_SHOP(delete_asks_first_and_enter_keeps_everything, 24, 80)
{
    screen_press(&x->s, "<Down><Del>");
    assert_string_equal(x->s.log, "");
    assert_true(screen_has(&x->s, "Move 1 session, 1.1 MB, to the trash?"));
    assert_true(screen_has(&x->s, "“Payments: idempotency keys”"));
    assert_non_null(strstr(screen_cursor_line(&x->s), "cancel"));
    screen_press(&x->s, "<Enter>");
    assert_string_equal(x->s.log, "");
    assert_false(screen_has(&x->s, "to the trash?"));
}

AT_SHOP(keys_typed_ahead_of_the_question_meet_the_question, 24, 80)
{
    screen_press_only(&x->s, "<Down><Del><Enter>");
    screen_answer(&x->s);
    assert_string_equal(x->s.log, ""); /* neither deleted nor resumed */
}

AT_SHOP(delete_moves_to_the_trash_and_undo_restores, 24, 80)
{
    screen_press(&x->s, "<Down><Del><Down><Enter>");
    assert_string_equal(x->s.log, "trash 22222222\n");
    assert_false(screen_has(&x->s, "idempotency"));
    assert_true(screen_has(&x->s, "moved to trash: 1 session, 1.1 MB — ^X u undo"));
    assert_non_null(strstr(screen_cursor_line(&x->s), "Refund flow"));
    screen_press(&x->s, "<C-x>u");
    assert_true(screen_has(&x->s, "undone: moved to trash — ^X U redo"));
    assert_true(screen_has(&x->s, "idempotency"));
    assert_non_null(strstr(screen_cursor_line(&x->s), "Refund flow"));
}

AT_SHOP(a_question_keeps_its_subject, 24, 80)
{
    screen_press(&x->s, "<Down><Del><Down>");
    x->fake[3].ago_ms = 0; /* meanwhile another session moves to the top */
    screen_send(&x->s, (struct msg){ .kind = MSG_FILES_CHANGED });
    screen_wait(&x->s, 500);
    screen_press(&x->s, "<Enter>");
    assert_string_equal(x->s.log, "trash 22222222\n");
}

AT_SHOP(the_question_is_updated_with_the_exact_size, 24, 80)
{
    x->s.side_bytes = 1024 * 1024;
    screen_press_only(&x->s, "<Down><Del>");
    assert_true(screen_has(&x->s, "Move 1 session, 1.1 MB, to the trash?"));
    screen_press_only(&x->s, "<Down>");
    screen_answer(&x->s);
    assert_true(screen_has(&x->s, "Move 1 session, 2.1 MB, to the trash?"));
    assert_non_null(strstr(screen_cursor_line(&x->s), "move 1 session to the trash"));
}

AT_SHOP(an_unknown_live_state_requires_typing_yes, 24, 80)
{
    x->s.unsure = 1;
    screen_press(&x->s, "<Down><Del>");
    assert_true(screen_has(&x->s, "Cannot tell whether an agent is still writing to it."));
    screen_press(&x->s, "<Down><Enter>");
    assert_string_equal(x->s.log, "");
    screen_press(&x->s, "<Del>yes<Down><Enter>");
    assert_string_equal(x->s.log, "");
    screen_press(&x->s, "<Del>yes");
    assert_string_equal(x->s.log, "");
    screen_press(&x->s, "<Enter>");
    assert_string_equal(x->s.log, "trash unsure 22222222\n");
}

/* --- the store of a team has no trash */
TEST(a_remote_session_is_deleted_for_good_and_only_after_yes)
{
    struct shop x;

    shop_begin(&x);
    x.s.ops.remote = true;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_press(&x.s, "<Down><Del>");
    assert_true(screen_has(&x.s, "Delete 1 session from claude for good?"));
    assert_true(screen_has(&x.s, "“Payments: idempotency keys”"));
    assert_true(screen_has(&x.s, "This cannot be undone."));
    screen_press(&x.s, "<Enter><Del><Down><Enter>");
    assert_string_equal(x.s.log, "");
    screen_press(&x.s, "<Del>yes<Enter>");
    assert_string_equal(x.s.log, "remove 22222222\n");
    assert_false(screen_has(&x.s, "idempotency"));
    assert_true(screen_has(&x.s, "deleted for good: 1 session"));
    assert_false(screen_has(&x.s, "undo"));
    screen_close(&x.s);
}

TEST(a_store_that_cannot_delete_is_explained)
{
    struct shop x;

    shop_begin(&x);
    x.s.ops.remote = true;
    x.fake[1].unsupported = CAN_REMOVE;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_press(&x.s, "<Down><Del>");
    assert_true(screen_has(&x.s, "delete: this session's system cannot do that"));
    assert_string_equal(x.s.log, "");
    screen_close(&x.s);
}

AT_SHOP(a_running_session_cannot_be_deleted, 24, 80)
{
    screen_press(&x->s, "<Del>");
    assert_true(screen_has(&x->s, "delete: an agent has this session open"));
    assert_false(screen_has(&x->s, "to the trash?"));
    screen_press(&x->s, "<C-x><Right><Down><Down><Down><Down><Down>");
    assert_non_null(strstr(screen_cursor_line(&x->s), "d  delete"));
    assert_true(screen_has(&x->s, "  an agent has this session open"));
}

TEST(an_unsupported_change_is_explained)
{
    struct shop x;

    shop_begin(&x);
    x.fake[1].unsupported = CAN_RENAME;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_press(&x.s, "<Down><C-r>");
    assert_true(screen_has(&x.s, "rename: this session's system cannot do that"));
    assert_string_equal(x.s.log, "");
    screen_close(&x.s);
}

/* --- marks first, as one change */
AT_SHOP(all_marked_sessions_are_deleted_at_once, 24, 80)
{
    screen_press(&x->s, "<Tab><Tab><Tab><Up><Del>"); /* the first of the three is running */
    assert_true(screen_has(&x->s, "Move 2 sessions, 1.4 MB, to the trash?"));
    assert_true(screen_has(&x->s, "1 more stays: an agent has it open."));
    screen_press(&x->s, "2");
    assert_string_equal(x->s.log, "trash 22222222 33333333\n");
    assert_true(screen_has(&x->s, "moved to trash: 2 sessions, 1.4 MB"));
    assert_false(screen_has(&x->s, "marked"));
}

AT_SHOP(marked_sessions_that_the_query_hides_are_mentioned, 24, 80)
{
    screen_press(&x->s, "<Down><Tab><Tab>page<Del>");
    assert_true(screen_has(&x->s, "Move 2 sessions"));
    assert_true(screen_has(&x->s, "2 of them are hidden by the filter."));
}

TEST(any_number_of_hidden_marked_sessions_is_mentioned)
{
    enum { MANY = 70 };
    struct shop x;
    struct fake fake[MANY];
    char id[MANY][40];

    shop_begin(&x);
    for (int i = 0; i < MANY; i++) {
        snprintf(id[i], sizeof id[i], "%08d-0000-4000-8000-000000000000", i + 1);
        fake[i] = x.fake[i == 0 ? 3 : 0]; /* only the first one fits "page" */
        fake[i].id = id[i];
        fake[i].flags = 0;
        fake[i].ago_ms = i * MINUTE;
    }
    screen_ready(&x.s, fake, MANY, 24, 80);
    for (int i = 0; i < MANY; i++)
        screen_press(&x.s, "<Tab>");
    screen_press(&x.s, "page<Del>");
    assert_true(screen_has(&x.s, "Move 70 sessions"));
    assert_true(screen_has(&x.s, "69 of them are hidden by the filter."));
    screen_close(&x.s);
}

AT_SHOP(a_mark_vanishes_with_its_session, 24, 80)
{
    screen_press(&x->s, "<Down><Tab>");
    assert_true(screen_has(&x->s, "1 marked"));
    x->fake[1].gone = true;
    screen_send(&x->s, (struct msg){ .kind = MSG_FILES_CHANGED });
    screen_wait(&x->s, 500);
    assert_false(screen_has(&x->s, "marked"));
}

/* --- titles and tags */
AT_SHOP(rename_starts_with_the_current_title_and_shows_at_once, 24, 80)
{
    screen_press(&x->s, "<Down><C-r>");
    assert_non_null(strstr(screen_line(&x->s, 23), " title › Payments: idempotency keys"));
    screen_press(&x->s, "<C-w>tokens<Enter>");
    assert_string_equal(x->s.log, "rename 22222222: Payments: idempotency tokens\n");
    assert_non_null(strstr(screen_cursor_line(&x->s), "Payments: idempotency tokens"));
    assert_true(screen_has(&x->s, "renamed to “Payments: idempotency tokens” — ^X u undo"));
}

TEST(no_letter_acts_while_a_title_is_typed)
{
    struct shop x = { 0 };
    char key[2] = "";

    shop_ready(&x, 24, 80);
    x.s.settings.keys.scheme = KEYS_VIM;
    screen_press(&x.s, "<Down><C-r><C-u>");
    for (char c = '!'; c < 0x7f; c++) {
        if (c == '<')
            continue; /* the name of a key here */
        key[0] = c;
        screen_press(&x.s, key);
        assert_string_equal(x.s.log, "");
        assert_non_null(strchr(screen_line(&x.s, 23), c));
        screen_press(&x.s, "<BS>");
    }
    screen_send(&x.s, (struct msg){ .kind = MSG_PASTE, .u.paste = SLICE("a\nb") });
    assert_non_null(strstr(screen_line(&x.s, 23), " title › a b"));
    screen_press(&x.s, "<Esc>");
    assert_string_equal(x.s.log, "");
    screen_close(&x.s);
}

AT_SHOP(a_blank_title_is_refused_in_the_prompt, 24, 80)
{
    screen_press(&x->s, "<Down><C-r><C-u>  <Enter>");
    assert_string_equal(x->s.log, "");
    assert_true(screen_has(&x->s, "a title cannot be empty"));
    screen_press(&x->s, "x<Enter>");
    assert_string_equal(x->s.log, "rename 22222222:   x\n");
}

AT_SHOP(an_empty_tag_removes_the_tag, 24, 80)
{
    screen_press(&x->s, "<Down><C-x>t");
    assert_non_null(strstr(screen_line(&x->s, 23), " tags (a, b; empty: none) › infra"));
    screen_press(&x->s, "<C-u><Enter>");
    assert_string_equal(x->s.log, "tag 22222222\n");
    assert_true(screen_has(&x->s, "tag removed: 1 session"));
    assert_false(screen_has(&x->s, "#infra"));
}

AT_SHOP(marked_sessions_get_one_tag, 24, 80)
{
    screen_press(&x->s, "<Tab><Tab><C-x>t");
    assert_non_null(strstr(screen_line(&x->s, 23), " tags (a, b) for 2 sessions ›"));
    screen_press(&x->s, "later<Enter>");
    assert_string_equal(x->s.log, "tag 11111111 22222222: later\n");
    assert_true(screen_has(&x->s, "tagged #later: 2 sessions"));
}

/* --- the pin */
AT_SHOP(a_pinned_session_is_at_the_top_until_it_is_unpinned, 24, 80)
{
    screen_press(&x->s, "<End><Up><C-x>P");
    assert_string_equal(x->s.log, "pin 44444444\n");
    assert_true(screen_has(&x->s, "pinned: 1 session"));
    assert_non_null(strstr(screen_line(&x->s, 2), "▌▴  3d ago  Payment page copy"));
    screen_press(&x->s, "<Down>");
    assert_non_null(strstr(screen_line(&x->s, 2), " ▴  3d ago  Payment page copy"));
    screen_press(&x->s, "<C-s><C-s>");
    assert_non_null(strstr(screen_line(&x->s, 2), "Payment page copy"));
    screen_press(&x->s, "<Home><Tab><Tab><C-x>"); /* one of them is pinned */
    assert_true(screen_has(&x->s, "P  pin to the top"));
    screen_press(&x->s, "P<C-x>");
    assert_true(screen_has(&x->s, "P  unpin"));
    screen_press(&x->s, "P");
    assert_string_equal(x->s.log, "pin 44444444\npin 22222222 44444444\nunpin 22222222 44444444\n");
    assert_true(screen_has(&x->s, "unpinned: 2 sessions"));
    assert_false(screen_has(&x->s, "▴"));
}

/* --- the archive */
AT_SHOP(archive_hides_a_session_and_undo_shows_it_again, 24, 80)
{
    screen_press(&x->s, "<Down><C-x>a");
    assert_string_equal(x->s.log, "archive 22222222\n");
    assert_false(screen_has(&x->s, "  Payments: idempotency keys"));
    assert_true(screen_has(&x->s, "4 of 5 sessions"));
    assert_non_null(strstr(screen_cursor_line(&x->s), "Refund flow"));
    screen_press(&x->s, "is:archived");
    assert_non_null(strstr(screen_cursor_line(&x->s), "  Payments: idempotency keys"));
    assert_non_null(strstr(screen_cursor_line(&x->s), "archived"));
    screen_press(&x->s, "<C-x>a<Esc><Esc>");
    assert_non_null(strstr(x->s.log, "unarchive 22222222\n"));
    assert_true(screen_has(&x->s, "  Payments: idempotency keys"));
    assert_true(screen_has(&x->s, "5 sessions"));
}

/* --- errors */
AT_SHOP(an_error_stays_until_it_is_acknowledged, 24, 80)
{
    err_set(&x->s.refusal, ERR_IO, "/full/a.jsonl", "append: no space");
    screen_press(&x->s, "<Down><C-r>!<Enter>");
    assert_true(screen_has(&x->s, "cannot append /full/a.jsonl: no space"));
    assert_true(screen_has(&x->s, "Payments: idempotency keys "));
    screen_wait(&x->s, 60 * 1000);
    assert_true(screen_has(&x->s, "cannot append /full"));
    screen_press(&x->s, "<Down>");
    assert_false(screen_has(&x->s, "cannot append /full"));
}

AT_SHOP(nothing_to_undo_is_no_error, 24, 80)
{
    err_set(&x->s.refusal, ERR_NOT_FOUND, "", "nothing left to undo");
    screen_press(&x->s, "<C-x>u");
    assert_true(screen_has(&x->s, "· nothing left to undo"));
}

/* --- from within a conversation */
AT_SHOP(deleting_the_open_conversation_returns_to_the_list, 24, 80)
{
    screen_press(&x->s, "<Down><Right><C-x>d<Down><Enter>");
    assert_string_equal(x->s.log, "trash 22222222\n");
    assert_false(screen_has(&x->s, "conversation of"));
    assert_true(screen_has(&x->s, "moved to trash: 1 session"));
}

/* There u is half a page up, as in less, and what it would undo is not on the screen. */
AT_SHOP(in_a_conversation_only_the_menu_undoes, 24, 80)
{
    screen_press(&x->s, "<Down><Right><C-x>n!<Enter>");
    assert_true(screen_has(&x->s, "renamed to “Payments: idempotency keys!” — ^X u undo"));
    screen_press(&x->s, "uUo<Del>");
    assert_null(strstr(x->s.log, "undo\n"));
    assert_null(strstr(x->s.log, "redo\n"));
    assert_null(strstr(x->s.log, "edit "));
    assert_null(strstr(x->s.log, "trash"));
    screen_press(&x->s, "<C-x>u");
    assert_non_null(strstr(x->s.log, "undo\n"));
    screen_press(&x->s, "<C-x>U");
    assert_non_null(strstr(x->s.log, "redo\n"));
}

/* --- copies, and going on from a message */
AT_SHOP(a_fork_asks_for_a_title_and_is_then_selected, 24, 80)
{
    screen_press(&x->s, "<Down><C-f>");
    assert_non_null(
        strstr(screen_line(&x->s, 23), " title of the fork › Payments: idempotency keys (fork)"));
    screen_press(&x->s, "<Esc>");
    assert_string_equal(x->s.log, "");
    screen_press(&x->s, "<C-f><C-u>Again<Enter>");
    assert_string_equal(x->s.log, "fork 22222222: Again\n");
    assert_true(screen_has(&x->s, "forked: the fork is selected — ^X u undo"));
    assert_non_null(strstr(screen_cursor_line(&x->s), "Paket")); /* the last one is used */
}

/* Neither is the session under the cursor taken instead of the marked ones. */
AT_SHOP(what_takes_one_session_refuses_several, 24, 80)
{
    screen_press(&x->s, "<Tab><Tab><Right>");
    assert_true(screen_has(&x->s, "read: it takes one session, and several are marked"));
    screen_press(&x->s, "<C-x><Home>"); /* the first action is to resume */
    assert_true(screen_has(&x->s, "it takes one session, and several are marked"));
    screen_press(&x->s, "w");
    assert_true(screen_has(&x->s, "rewind: it takes one session, and several are marked"));
    screen_press(&x->s, "<Up><Tab><C-x>w");
    assert_true(screen_has(&x->s, "rewind: it takes one session, and another one is marked"));
}

AT_SHOP(the_menu_names_the_keys_that_need_no_menu, 24, 80)
{
    screen_press(&x->s, "<C-x>");
    assert_non_null(strstr(screen_text(&x->s), "f  fork                           ^F"));
    assert_non_null(strstr(screen_text(&x->s), "d  delete                   Del"));
    assert_false(screen_has(&x->s, "^U")); /* that key erases, and undoes nothing */
}

AT_SHOP(yes_is_an_answer, 24, 80)
{
    screen_press(&x->s, "<Down><Right>r");
    assert_true(screen_has(&x->s, "Resume after this message?"));
    screen_press(&x->s, "y");
    assert_string_equal(x->s.log, "resume at 22222222\nresume 22222222 in /home/u/src/shop\n");
}

AT_SHOP(only_one_session_is_forked_at_a_time, 24, 80)
{
    screen_press(&x->s, "<Tab><Tab><C-f>");
    assert_true(screen_has(&x->s, "fork: it takes one session, and several are marked"));
    screen_press(&x->s, "<Enter>");
    assert_null(strstr(x->s.log, "fork"));
}

AT_SHOP(a_running_session_is_not_resumed_at_a_message, 24, 80)
{
    screen_press(&x->s, "<Right>r");
    assert_true(screen_has(&x->s, "resume here: an agent has this session open"));
    assert_string_equal(x->s.log, "");
}

AT_SHOP(resuming_at_a_message_asks_and_leaves_all_by_default, 24, 80)
{
    screen_press(&x->s, "<Down><Right>r");
    assert_true(screen_has(&x->s, "Resume after this message?"));
    screen_press(&x->s, "<Enter>");
    assert_string_equal(x->s.log, "");
    screen_press(&x->s, "r<Down><Enter>");
    assert_string_equal(x->s.log, "resume at 22222222\nresume 22222222 in /home/u/src/shop\n");
}

/* Every word of a question and of its answers is visible on the smallest screen. */
TEST(a_question_fits_the_smallest_screen)
{
    struct shop x;

    shop_begin(&x);
    x.s.unsure = 1;
    screen_ready(&x.s, x.fake, SHOP, 12, 50);
    screen_press(&x.s, "<Down><Del>");
    assert_true(screen_has(&x.s, "brings it back."));
    assert_true(screen_has(&x.s, "1  cancel"));
    assert_true(screen_has(&x.s, "or type yes and press Enter"));
    screen_resize(&x.s, 24, 80);
    assert_true(screen_has(&x.s, "until you empty it; undo brings it back."));
    screen_close(&x.s);
}

/* A change by another run of the program, which is undone only after a question. */
static void ask_before_undo(struct screen *s, enum change_request request, const char *what)
{
    struct change_result *c = change_result_new(request);

    assert_non_null(c);
    c->needs_confirmation = true;
    snprintf(c->id, sizeof c->id, "0001-%s", what);
    assert_int_equal(buf_add(&c->text, slice_of(what)), ERR_OK);
    assert_true(name_list_add(&c->edited, SLICE("/src/shop/a.c")));
    screen_send(s, (struct msg){ .kind = MSG_CHANGED, .u.changed = c });
}

/* --- a question that comes while another one is open takes nothing from it */
AT_SHOP(the_second_question_of_an_undo_leaves_the_first_as_it_is, 24, 80)
{
    ask_before_undo(&x->s, CHANGE_UNDO, "the first");
    assert_true(screen_has(&x->s, "Undo the first?"));
    ask_before_undo(&x->s, CHANGE_UNDO, "the second");
    assert_true(screen_has(&x->s, "Undo the first?"));
    screen_press(&x->s, "y");
    assert_true(screen_has(&x->s, "This file changed since. Undo it too?"));
}

AT_SHOP(a_question_about_another_change_is_not_put_over_a_prompt, 24, 80)
{
    screen_press(&x->s, "<C-r>new");
    ask_before_undo(&x->s, CHANGE_RESTORE, "a place that is taken");
    screen_press(&x->s, "<Enter>");
    assert_non_null(strstr(x->s.log, "rename 11111111: "));
}

AT_SHOP(a_question_below_help_is_not_replaced, 24, 80)
{
    ask_before_undo(&x->s, CHANGE_UNDO, "the first");
    screen_press(&x->s, "<F1>");
    ask_before_undo(&x->s, CHANGE_UNDO, "the second");
    screen_press(&x->s, "<Esc>");
    assert_true(screen_has(&x->s, "Undo the first?"));
    screen_press(&x->s, "y");
    assert_true(screen_has(&x->s, "This file changed since. Undo it too?"));
}

/* Its directory is found to be gone while a title is typed. */
AT_SHOP(a_question_about_the_directory_is_not_put_over_a_prompt, 24, 80)
{
    x->s.dir_gone = true;
    screen_press_only(&x->s, "<Down><Enter><C-r>!");
    screen_answer(&x->s);
    screen_press(&x->s, "<Enter>");
    assert_string_equal(x->s.log, "rename 22222222: Payments: idempotency keys!\n");
}

AT_SHOP(a_question_about_a_session_whose_file_goes_resumes_nothing, 24, 80)
{
    x->s.dir_gone = true;
    screen_press(&x->s, "<Down><Enter>");
    assert_true(screen_has(&x->s, "The session's directory no longer exists"));
    x->fake[1].gone = true;
    x->fake[1].size++;
    screen_send(&x->s, (struct msg){ .kind = MSG_FILES_CHANGED });
    x->fake[1].gone = false; /* the list still has it, */
    x->s.now_ms += 500;
    screen_send(&x->s, (struct msg){ .kind = MSG_TICK });
    struct effect e;

    assert_true(effects_pop(&x->s.waiting, &e));
    assert_int_equal(e.kind, EFFECT_LIST);
    screen_answer_one(&x->s, &e);
    effect_fini(&e);
    x->fake[1].gone = true; /* but it can no longer be read */
    screen_answer(&x->s);
    screen_press(&x->s, "2");
    assert_true(screen_has(&x->s, "the session has just gone from the list"));
    assert_string_equal(x->s.log, "");
}

static void name_agents(struct screen *s, unsigned generation)
{
    struct change_result *c = change_result_new(CHANGE_CONTINUE_IN);

    assert_non_null(c);
    c->needs_confirmation = true;
    assert_true(name_list_add(&c->agents, SLICE("codex")));
    screen_send(s, (struct msg){ .kind = MSG_CHANGED, .generation = generation, .u.changed = c });
}

/* The generations of the changes that were asked for. */
static size_t changes_asked(const struct screen *s, unsigned generation[8])
{
    size_t n = 0;

    for (size_t i = 0; i < s->waiting.n && n < 8; i++)
        if (s->waiting.item[i].kind == EFFECT_CHANGE)
            generation[n++] = s->waiting.item[i].generation;
    return n;
}

/* --- an answer about one session asks about no other */
AT_SHOP(only_the_session_that_was_chosen_last_is_asked_about, 24, 80)
{
    unsigned asked[8];

    screen_press_only(&x->s, "<C-x>i<Down><C-x>i");
    assert_int_equal(changes_asked(&x->s, asked), 2);
    name_agents(&x->s, asked[0]);
    assert_false(screen_has(&x->s, "Continue in which agent?"));
    name_agents(&x->s, asked[1]);
    assert_true(screen_has(&x->s, "Continue in which agent?"));
    ask_before_undo(&x->s, CHANGE_RESTORE, "a place that is taken"); /* takes nothing from it */
    screen_press(&x->s, "<Enter>");
    assert_non_null(strstr(x->s.log, "continue in 22222222: codex\n"));
    assert_null(strstr(x->s.log, "continue in 11111111: codex\n"));
}

AT_SHOP(a_session_that_was_left_is_not_resumed_in_place_of_another, 24, 80)
{
    screen_press(&x->s, "<Down><Right>r");
    screen_press_only(&x->s, "y<Left><Down>");
    screen_answer(&x->s);
    assert_string_equal(x->s.log, "resume at 22222222\n");
    assert_true(screen_has(&x->s, "the session resumes after that message"));
}

/* The session is gone, and so is the question about it; what is counted for it comes later. */
AT_SHOP(numbers_for_a_question_that_is_gone_change_no_other, 24, 80)
{
    unsigned asked[8];

    screen_press_only(&x->s, "<Down><Del><Down><Enter><Right><C-x>d");
    assert_int_equal(changes_asked(&x->s, asked), 1);
    struct change_result *c = change_result_new(CHANGE_TRASH);

    assert_non_null(c);
    assert_true(name_list_add(&c->sessions, slice_of(x->fake[1].id)));
    screen_send(&x->s, (struct msg){ .kind = MSG_CHANGED, .generation = asked[0], .u.changed = c });
    ask_before_undo(&x->s, CHANGE_UNDO, "the first");
    screen_answer(&x->s);
    assert_true(screen_has(&x->s, "Undo the first?"));
}

/* The rows of marked sessions turn out to be unreadable: there is nothing to ask a worker about. */
TEST(marked_sessions_that_cannot_be_read_are_not_printed)
{
    struct shop x;
    struct effect e;

    shop_begin(&x);
    screen_open(&x.s, x.fake, 1, 24, 80);
    screen_take(&x.s);
    assert_true(effects_pop(&x.s.waiting, &e));
    screen_answer_one(&x.s, &e);
    effect_fini(&e);
    x.s.now_ms += 2000;
    screen_press_only(&x.s, "<Tab>");
    assert_true(screen_has(&x.s, "1 marked"));
    x.fake[0].gone = true;
    screen_answer(&x.s);
    screen_press_only(&x.s, "<C-o>");
    assert_true(screen_has(&x.s, "none of the marked sessions can be read"));
    assert_int_equal(x.s.waiting.n, 0);
    screen_close(&x.s);
}

/* Another view is opened before the worker has checked that they can be resumed. */
AT_SHOP(the_marked_sessions_are_printed_even_from_another_view, 24, 80)
{
    screen_press(&x->s, "<Tab><Tab>");
    screen_press_only(&x->s, "<C-o><A-b>");
    screen_answer(&x->s);
    assert_string_equal(x->s.log, "print 11111111 22222222\n");
}
