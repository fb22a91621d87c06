#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tui/commands/out.h"

static void rows_are_written_in_pieces(void **state)
{
    struct out o;
    struct err e;
    char row[1024];
    int fd[2];

    (void)state;
    memset(row, 'x', sizeof row);
    assert_int_equal(pipe(fd), 0);
    out_init(&o, fd[1]);
    for (int i = 0; i < OUT_PIECE / 1024 - 1; i++) {
        assert_int_equal(out_add(&o, (struct slice){ row, sizeof row }, &e), ERR_OK);
        assert_int_equal(out_row(&o, &e), ERR_OK);
    }
    assert_int_equal(o.buf.n, OUT_PIECE - 1024);
    assert_int_equal(out_add(&o, (struct slice){ row, sizeof row }, &e), ERR_OK);
    assert_int_equal(out_row(&o, &e), ERR_OK);
    assert_int_equal(o.buf.n, 0);
    out_fini(&o);
    close(fd[0]);
    close(fd[1]);
}

static void a_reader_that_left_is_no_failure(void **state)
{
    struct out o;
    struct err e;
    int fd[2];

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(fd), 0);
    close(fd[0]);
    out_init(&o, fd[1]);
    assert_int_equal(out_add(&o, SLICE("x"), &e), ERR_OK);
    assert_int_equal(out_flush(&o, &e), ERR_CANCELLED);
    assert_true(o.closed);
    assert_int_equal(out_flush(&o, &e), ERR_CANCELLED);
    out_fini(&o);
    close(fd[1]);
}

static void a_full_disk_is_a_failure(void **state)
{
    struct out o;
    struct err e;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

    (void)state;
    assert_true(fd >= 0);
    out_init(&o, fd);
    assert_int_equal(out_add(&o, SLICE("x"), &e), ERR_OK);
    assert_int_equal(out_flush(&o, &e), ERR_IO);
    assert_false(o.closed);
    assert_string_equal(e.path, "stdout");
    out_fini(&o);
    close(fd);
}

static void text_from_disk_is_cleaned(void **state)
{
    struct out o;
    struct err e;

    (void)state;
    out_init(&o, -1);
    assert_int_equal(out_text(&o,
                              SLICE("a\x1b]0;x\x07"
                                    "b\nc"),
                              &e),
                     ERR_OK);
    assert_string_equal(buf_cstr(&o.buf), "a^[]0;x^Gb c");
    out_fini(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_written_in_pieces),
        cmocka_unit_test(a_reader_that_left_is_no_failure),
        cmocka_unit_test(a_full_disk_is_a_failure),
        cmocka_unit_test(text_from_disk_is_cleaned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
