#include "tests/test.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/screen/screen.h"
#include "tui/data/board_rows.h"

/* The board: which sessions run, where Enter and the arrow lead, and when it is read again. */

static int asked;

/* The first `running` sessions of the shop; the second one waits. Those of an even number are in a pane. */
static size_t running;
static int process;

static void answer(struct screen *s, const struct effect *e)
{
    if (e->kind != EFFECT_BOARD)
        return;
    struct board_rows *rows = calloc(1, sizeof *rows);

    assert_non_null(rows);
    asked++;
    rows->running.row = calloc(running + 1, sizeof *rows->running.row);
    rows->terminal = calloc(running + 1, sizeof *rows->terminal);
    assert_true(rows->running.row && rows->terminal);
    for (size_t i = 0; i < running; i++) {
        struct session_row *row = session_row_new();
        char path[160];

        assert_non_null(row);
        row->ref = screen_ref(s, &s->fake[i], path);
        row->summary = slice_of(s->fake[i].title);
        row->cwd = slice_of(s->fake[i].cwd);
        row->last_prompt = SLICE("Go on");
        row->flags = SESSION_LIVE;
        row->live_pid = process;
        row->state = i == 1 ? SESSION_REQUIRES_ACTION : SESSION_RUNNING;
        row->flags |= i == 1 ? SESSION_WAITS : 0;
        row->waits_for = i == 1 ? SLICE("permission to use Bash") : SLICE("");
        row->since_ms = s->now_ms - 5 * MINUTE;
        assert_true(session_row_keep(row));
        rows->running.row[rows->running.n++] = row;
        rows->terminal[i] = (struct agent_terminal){ .name = "/dev/pts/4" };
        if (i % 2 == 0)
            rows->terminal[i] = (struct agent_terminal){ .kind = TERMINAL_TMUX,
                                                         .name = "/dev/pts/4",
                                                         .pane = "%3",
                                                         .place = "work:1.0",
                                                         .near = i == 0 };
    }
    screen_send(s, (struct msg){ .kind = MSG_BOARD, .generation = e->generation, .u.board = rows });
}

static void open_board(struct shop *x, size_t n, int rows, int cols)
{
    shop_begin(x);
    x->s.answer = answer;
    x->s.pane = "%3";
    running = n;
    process = getpid();
    asked = 0;
    screen_ready(&x->s, x->fake, SHOP, rows, cols);
    screen_press(&x->s, "<C-x>B");
}

TEST(a_row_says_what_runs_how_long_and_where)
{
    struct shop x;

    open_board(&x, 3, 24, 120);
    assert_non_null(strstr(screen_line(&x.s, 0), " board  1 waiting  2 busy  3 running"));
    assert_non_null(strstr(screen_line(&x.s, 1), "tmux work:1.0  ~/src/shop  Go on"));
    assert_non_null(strstr(screen_line(&x.s, 3), "▌ busy    5m     Fix the payment retry loop"));
    assert_non_null(strstr(screen_line(&x.s, 3), "tmux work:1.0"));
    assert_non_null(strstr(screen_line(&x.s, 4), "waiting 5m"));
    assert_non_null(strstr(screen_line(&x.s, 4), "permission to use Bash"));
    assert_non_null(strstr(screen_line(&x.s, 23), " Enter go to it  → read  Esc back  ? help"));
    /* A column is as wide as what is in it. */
    assert_non_null(strstr(screen_line(&x.s, 4), "Payments: idempotency keys  shop     perm"));
    screen_resize(&x.s, 20, 60);
    assert_non_null(
        strstr(screen_line(&x.s, 4), "waiting 5m     Payments: idempotency keys  permission"));
    screen_press(&x.s, "<Esc>");
    assert_false(screen_has(&x.s, "3 running"));
    screen_close(&x.s);
}

TEST(enter_goes_to_the_terminal_or_says_why_not)
{
    struct shop x;

    open_board(&x, 3, 24, 80);
    screen_press(&x.s, "<Down><Enter>");
    assert_true(screen_has(&x.s, "it runs on /dev/pts/4, which nothing that reprise knows"));
    assert_string_equal(x.s.log, "");
    screen_press(&x.s, "<Up><Enter>");
    assert_string_equal(x.s.log, "show %3\nquit 0\n");
    screen_close(&x.s);
}

TEST(from_another_terminal_enter_attaches)
{
    struct shop x;

    open_board(&x, 3, 24, 80);
    screen_press(&x.s, "<End><Enter>");
    assert_string_equal(x.s.log, "go 33333333\n");
    screen_close(&x.s);
}

TEST(the_arrow_reads_along_and_comes_back)
{
    struct shop x;

    open_board(&x, 3, 24, 80);
    screen_press(&x.s, "<Down><Right>");
    assert_true(screen_has(&x.s, "conversation of Payments: idempotency keys"));
    screen_press(&x.s, "<Esc>");
    assert_non_null(strstr(screen_cursor_line(&x.s), "waiting 5m     Payments"));
    screen_close(&x.s);
}

/* Without a change only the life of the processes is checked. */
TEST(it_is_read_again_after_a_change_or_a_death)
{
    struct shop x;

    open_board(&x, 2, 24, 80);
    assert_int_equal(asked, 1);
    for (int i = 0; i < 5; i++)
        screen_wait(&x.s, 1000);
    assert_int_equal(asked, 1);
    running = 3;
    screen_send(&x.s, (struct msg){ .kind = MSG_FILES_CHANGED });
    screen_answer(&x.s);
    assert_int_equal(asked, 2);
    assert_true(screen_has(&x.s, "3 running"));

    const pid_t child = fork();

    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    process = child;
    screen_send(&x.s, (struct msg){ .kind = MSG_FILES_CHANGED });
    screen_answer(&x.s);
    running = 0;
    screen_wait(&x.s, 1000);
    assert_true(screen_has(&x.s, "No session is running"));
    assert_false(screen_has(&x.s, "0 busy"));
    screen_press(&x.s, "<Enter>");
    assert_true(screen_has(&x.s, "go to it: no session is running"));
    screen_close(&x.s);
}
