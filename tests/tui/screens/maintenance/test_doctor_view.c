#include "tests/test.h"

#include "support/screen/screen.h"

/* The findings of the doctor about one session, and the repair of the repairable ones. */

#define PATH "/home/u/.claude/projects/shop/22222222-0000-4000-8000-000000000002.jsonl"

static const struct finding findings[] = {
    { .kind = FINDING_EXPIRES,
      .path = PATH,
      .why = "the agent's own cleanup removes it in 5 days" },
    { .kind = FINDING_SPLICED_LINE,
      .path = PATH,
      .line = 7,
      .why = "two rows run into each other" },
    { .kind = FINDING_TORN_TAIL,
      .path = PATH,
      .line = 1204,
      .why = "the last line is cut and has no newline: the agent would glue its next row to it",
      .fixable = true },
};

static void examine(struct shop *x, int rows, int cols)
{
    shop_begin(x);
    x->fake[1].flags |= SESSION_TORN;
    x->fake[1].finding = findings;
    x->fake[1].findings = 3;
    screen_ready(&x->s, x->fake, SHOP, rows, cols);
    screen_press(&x->s, "<Down><C-x>X");
}

TEST(damage_comes_first_with_its_line)
{
    struct shop x;

    examine(&x, 24, 100);
    assert_string_equal(screen_line(&x.s, 0),
                        " doctor  Payments: idempotency keys                                   "
                        "3 findings, 1 can be repaired");
    assert_string_equal(screen_line(&x.s, 2), "▌  line 7      spliced-line     two rows run into "
                                              "each other");
    assert_non_null(strstr(screen_line(&x.s, 3), " + line 1204   torn-tail        the last line"));
    assert_non_null(strstr(screen_line(&x.s, 4), "expires          the agent's own cleanup"));
    screen_press(&x.s, "<Down>");
    assert_string_equal(screen_line(&x.s, 20), "  ~/.claude/projects/shop/22222222-0000-4000-8000-"
                                               "000000000002.jsonl");
    assert_true(screen_has(&x.s, "the agent would glue its next row to it"));
    screen_close(&x.s);
}

TEST(a_notice_is_no_damage_and_is_said_once)
{
    struct shop x;

    for (int cols = 50; cols <= 100; cols += 50) {
        shop_begin(&x);
        x.fake[1].finding = findings; /* the first: when the session expires */
        x.fake[1].findings = 1;
        screen_ready(&x.s, x.fake, SHOP, 24, cols);
        screen_press(&x.s, "<Down><C-x>X");
        assert_non_null(strstr(screen_line(&x.s, 0), " not damaged"));
        assert_non_null(strstr(screen_line(&x.s, 2), "the agent's own cleanup"));
        for (int y = 20; y < 24; y++)
            assert_null(strstr(screen_line(&x.s, y), "own cleanup"));
        screen_close(&x.s);
    }
}

TEST(repairing_asks_once_and_mentions_undo)
{
    struct shop x;

    examine(&x, 24, 80);
    screen_press(&x.s, "F");
    assert_true(screen_has(&x.s, "Repair 1 of 3 findings?"));
    assert_true(screen_has(&x.s, "“Payments: idempotency keys”"));
    screen_press(&x.s, "<Enter>"); /* the safe answer */
    assert_string_equal(x.s.log, "");
    screen_press(&x.s, "F<Down><Enter>");
    assert_string_equal(x.s.log, "fix 22222222\n");
    assert_true(screen_has(&x.s, "repaired: 1 finding — u undo"));
    assert_true(screen_has(&x.s, "2 findings"));
    screen_press(&x.s, "F");
    assert_true(screen_has(&x.s, "repair: nothing here is safe to repair"));
    screen_close(&x.s);
}

TEST(a_failed_repair_is_explained)
{
    struct shop x;

    examine(&x, 24, 80);
    err_set(&x.s.refusal, ERR_STALE, "x.jsonl", "repair: an agent has it open");
    screen_press(&x.s, "F<Down><Enter>");
    assert_true(screen_has(&x.s, "cannot repair x.jsonl: an agent has it open"));
    screen_close(&x.s);
}

AT_SHOP(a_sound_session_is_reported_as_sound, 24, 80)
{
    screen_press(&x->s, "<C-x>X");
    assert_true(screen_has(&x->s, "This session is not damaged"));
    screen_press(&x->s, "<Esc>");
    assert_non_null(strstr(screen_line(&x->s, 0), " reprise "));
}

TEST(doctor_opens_from_a_conversation_and_returns_to_it)
{
    struct shop x;

    examine(&x, 24, 80);
    screen_press(&x.s, "<Enter>");
    assert_true(screen_has(&x.s, "conversation of Payments"));
    screen_press(&x.s, "<Esc>");
    assert_non_null(strstr(screen_line(&x.s, 0), " doctor "));
    screen_press(&x.s, "<Esc><Right><C-x>X");
    assert_non_null(strstr(screen_line(&x.s, 0), " doctor "));
    screen_press(&x.s, "<Enter>"); /* it is already open in the view below */
    assert_true(screen_has(&x.s, "conversation of Payments"));
    screen_press(&x.s, "<Esc>");
    assert_non_null(strstr(screen_line(&x.s, 0), " reprise "));
    screen_close(&x.s);
}

AT_SHOP(an_unreadable_session_shows_the_reason, 24, 80)
{
    struct msg failed = { .kind = MSG_FAILED };

    screen_press_only(&x->s, "<C-x>X");
    assert_true(screen_has(&x->s, "Checking the session ..."));
    screen_press_only(&x->s, "F");
    assert_true(screen_has(&x->s, "repair: the session is still being checked"));
    failed.generation = x->s.waiting.item[x->s.waiting.n - 1].generation;
    err_set(&failed.u.error, ERR_FORMAT, "/s.jsonl", "read transcript");
    screen_send(&x->s, failed);
    assert_true(screen_has(&x->s, "/s.jsonl: read transcript"));
}
