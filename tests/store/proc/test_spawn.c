#include "tests/test.h"

#include "store/proc/spawn.h"
#include "support/scratch.h"

static enum err_code shell(const char *script, int timeout_ms, size_t max, struct buf *out)
{
    const char *argv[] = { "sh", "-c", script, NULL };
    struct spawn s = { argv, "/", timeout_ms, max };

    return spawn_read(&s, out, NULL);
}

static void the_output_is_appended(void **state)
{
    (void)state;
    struct buf out = { 0 };

    assert_int_equal(buf_add(&out, SLICE(">")), ERR_OK);
    assert_int_equal(shell("echo one; echo lost >&2; cat; pwd", 60000, 100, &out), ERR_OK);
    assert_true(slice_eq(buf_slice(&out), SLICE(">one\n/\n")));
    buf_fini(&out);
}

static void an_output_larger_than_a_pipe_is_read_completely(void **state)
{
    (void)state;
    struct buf out = { 0 };

    assert_int_equal(shell("dd if=/dev/zero bs=1000 count=1000 2>/dev/null", 60000, 1000000, &out),
                     ERR_OK);
    assert_int_equal(out.n, 1000000);
    buf_fini(&out);
}

static void failure_timeout_and_excess_output_leave_nothing_behind(void **state)
{
    (void)state;
    struct buf out = { 0 };

    assert_int_equal(shell("echo x; exit 3", 60000, 100, &out), ERR_IO);
    assert_int_equal(shell("echo x; kill -9 $$", 60000, 100, &out), ERR_IO);
    assert_int_equal(shell("echo x; sleep 100", 50, 100, &out), ERR_IO);
    assert_int_equal(shell("exec >&-; sleep 100", 50, 100, &out), ERR_IO);
    assert_int_equal(shell("while :; do echo flood; done", 60000, 1000, &out), ERR_IO);
    assert_int_equal(out.n, 0);
    buf_fini(&out);
}

static void a_grandchild_holding_the_pipe_does_not_block_us(void **state)
{
    (void)state;
    struct buf out = { 0 };

    assert_int_equal(shell("sleep 100 & echo done", 60000, 100, &out), ERR_OK);
    assert_true(slice_eq(buf_slice(&out), SLICE("done\n")));
    buf_fini(&out);
}

static void a_missing_program_or_directory_is_not_found(void **state)
{
    (void)state;
    const char *no_program[] = { "no-such-program-anywhere", NULL }, *yes[] = { "true", NULL };
    struct buf out = { 0 };

    assert_int_equal(spawn_read(&(struct spawn){ no_program, "/", 1000, 10 }, &out, NULL),
                     ERR_NOT_FOUND);
    assert_int_equal(spawn_read(&(struct spawn){ yes, "/no/such/dir", 1000, 10 }, &out, NULL),
                     ERR_NOT_FOUND);
    buf_fini(&out);
}

static void variables_that_name_a_repository_are_removed(void **state)
{
    (void)state;
    struct buf out = { 0 };

    setenv("GIT_DIR", "/elsewhere", 1);
    setenv("GIT_AUTHOR_NAME", "someone", 1);
    assert_int_equal(shell("echo \"$GIT_DIR,$GIT_AUTHOR_NAME\"", 60000, 100, &out), ERR_OK);
    assert_true(slice_eq(buf_slice(&out), SLICE(",someone\n")));
    unsetenv("GIT_DIR");
    unsetenv("GIT_AUTHOR_NAME");
    buf_fini(&out);
}

static void no_descriptor_of_ours_reaches_it(void **state)
{
    (void)state;
    struct buf out = { 0 };
    int leak = dup2(0, 57); /* not close-on-exec */

    assert_int_equal(leak, 57);
    assert_int_equal(shell("[ -e /proc/$$/fd/57 ] || echo closed", 60000, 100, &out), ERR_OK);
    assert_true(slice_eq(buf_slice(&out), SLICE("closed\n")));
    close(leak);
    buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_output_is_appended),
        cmocka_unit_test(an_output_larger_than_a_pipe_is_read_completely),
        cmocka_unit_test(failure_timeout_and_excess_output_leave_nothing_behind),
        cmocka_unit_test(a_grandchild_holding_the_pipe_does_not_block_us),
        cmocka_unit_test(a_missing_program_or_directory_is_not_found),
        cmocka_unit_test(variables_that_name_a_repository_are_removed),
        cmocka_unit_test(no_descriptor_of_ours_reaches_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
