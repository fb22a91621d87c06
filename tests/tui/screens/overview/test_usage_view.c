#include "tests/test.h"

#include <math.h>
#include <stdlib.h>

#include "support/screen/screen.h"
#include "tui/data/usage_groups.h"

/* The usage: bars by each key, the sessions behind a bar, and the conversation behind a session. */

/* Each session of the shop has one answer on a day of its own; the first three are of one model. */
static void usage_answer_all(struct screen *s, const struct effect *e)
{
    if (e->kind != EFFECT_USAGE_GROUPS)
        return;
    struct usage_groups *g = calloc(1, sizeof *g);
    struct err err = { 0 };

    assert_non_null(g);
    screen_note(s, "usage %d\n", (int)e->scope);
    for (size_t i = 0; i < s->fakes; i++) {
        struct session_row *row = session_row_new();
        char path[160];
        struct usage_record record = { .time_ms = s->now_ms - (int64_t)i * DAY,
                                       .model = i < 3 ? SLICE("large") : SLICE("small"),
                                       .input = 1000 * (int64_t)(i + 1),
                                       .cost = i == 0 ? 1.5 : NAN };

        assert_non_null(row);
        row->ref = screen_ref(s, &s->fake[i], path);
        row->summary = slice_of(s->fake[i].title);
        row->cwd = slice_of(s->fake[i].cwd);
        assert_int_equal(usage_groups_add(g, &row->ref, row,
                                          &(struct usage_list){ .record = &record, .n = 1 }, &err),
                         ERR_OK);
        session_row_free(row);
    }
    assert_int_equal(usage_set_finish(&g->set), ERR_OK);
    screen_send(
        s,
        (struct msg){ .kind = MSG_USAGE_GROUPS, .generation = e->generation, .u.usage_groups = g });
}

static void open_usage(struct shop *x, int rows, int cols)
{
    shop_begin(x);
    x->s.answer = usage_answer_all;
    screen_ready(&x->s, x->fake, SHOP, rows, cols);
    screen_press(&x->s, "<C-x>$");
}

TEST(each_day_has_a_bar_the_newest_first)
{
    struct shop x;

    open_usage(&x, 24, 80);
    assert_non_null(strstr(screen_line(&x.s, 0), " usage by day"));
    assert_non_null(strstr(screen_line(&x.s, 2), "  all            15.0k    $1.50+"));
    assert_non_null(strstr(screen_line(&x.s, 3), "1.0k     $1.50  ███"));
    assert_non_null(strstr(screen_line(&x.s, 7), "5.0k         -  ███████████████"));
    assert_non_null(strstr(screen_line(&x.s, 2), "$1.50+  + 4 answers without a known price"));
    screen_resize(&x.s, 24, 60);
    assert_non_null(strstr(screen_line(&x.s, 2), "$1.50+  + 4 unpriced"));
    screen_resize(&x.s, 24, 120);
    assert_non_null(
        strstr(screen_line(&x.s, 1), "input  output  cache write  cache read  tokens      cost"));
    screen_press(&x.s, "<Esc>");
    assert_false(screen_has(&x.s, "usage by"));
    screen_close(&x.s);
}

TEST(a_bar_opens_its_sessions_and_a_session_its_conversation)
{
    struct shop x;

    open_usage(&x, 24, 80);
    screen_press(&x.s, "<Left><Left>");
    assert_non_null(strstr(screen_line(&x.s, 0), " usage by model"));
    assert_non_null(strstr(screen_line(&x.s, 3), "▌ small"));
    screen_press(&x.s, "<Down><Enter>");
    assert_non_null(strstr(screen_line(&x.s, 0), " usage by session  large"));
    assert_non_null(strstr(screen_line(&x.s, 2), "  all "));
    assert_non_null(strstr(screen_line(&x.s, 3), "▌ Fix the payment retry loop"));
    assert_non_null(strstr(screen_line(&x.s, 5), "3.0k"));
    assert_string_equal(screen_line(&x.s, 6), "");
    screen_press(&x.s, "<Down><Enter>");
    assert_true(screen_has(&x.s, "conversation of Payments: idempotency keys"));
    screen_press(&x.s, "<Esc><Esc>");
    assert_non_null(strstr(screen_cursor_line(&x.s), "▌ large"));
    screen_close(&x.s);
}

TEST(the_scope_is_that_of_the_list)
{
    struct shop x;

    open_usage(&x, 24, 80);
    screen_press(&x.s, "<C-a>");
    assert_true(screen_has(&x.s, "all projects"));
    assert_string_equal(x.s.log, "usage 0\nusage 2\n");
    screen_close(&x.s);
}
