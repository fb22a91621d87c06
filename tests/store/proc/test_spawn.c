#include "tests/test.h"

#include "store/proc/process.h"
#include "support/scratch.h"

static enum err_code shell(const char *script, int timeout_ms, size_t max, struct buf *out)
{
    const char *argv[] = { "sh", "-c", script, NULL };
    struct spawn s = { .argv = argv, .dir = "/", .timeout_ms = timeout_ms, .max = max };

    return spawn_read(&s, out, NULL);
}

TEST(the_output_is_appended)
{
    struct buf out = { 0 };

    assert_int_equal(buf_add(&out, SLICE(">")), ERR_OK);
    assert_int_equal(shell("echo one; echo lost >&2; cat; pwd", 60000, 100, &out), ERR_OK);
    assert_true(slice_eq(buf_slice(&out), SLICE(">one\n/\n")));
    buf_fini(&out);
}

TEST(an_output_larger_than_a_pipe_is_read_completely)
{
    struct buf out = { 0 };

    assert_int_equal(shell("dd if=/dev/zero bs=1000 count=1000 2>/dev/null", 60000, 1000000, &out),
                     ERR_OK);
    assert_int_equal(out.n, 1000000);
    buf_fini(&out);
}

TEST(failure_timeout_and_excess_output_leave_nothing_behind)
{
    struct buf out = { 0 };

    assert_int_equal(shell("echo x; exit 3", 60000, 100, &out), ERR_IO);
    assert_int_equal(shell("echo x; kill -9 $$", 60000, 100, &out), ERR_IO);
    assert_int_equal(shell("echo x; sleep 100", 50, 100, &out), ERR_IO);
    assert_int_equal(shell("exec >&-; sleep 100", 50, 100, &out), ERR_IO);
    assert_int_equal(shell("while :; do echo flood; done", 60000, 1000, &out), ERR_IO);
    assert_int_equal(out.n, 0);
    buf_fini(&out);
}

TEST(a_variable_is_set_and_unset_and_errors_are_kept)
{
    const char *argv[] = { "sh", "-c", "echo ${SPAWN_TEST-none}; echo why >&2; exit $CODE", NULL };
    struct buf out = { 0 }, errors = { 0 };
    struct spawn s = { .argv = argv, .dir = "/", .timeout_ms = 60000, .max = 100 };

    assert_int_equal(setenv("SPAWN_TEST", "ours", 1), 0);
    assert_int_equal(setenv("CODE", "0", 1), 0);
    assert_int_equal(spawn_read(&s, &out, NULL), ERR_OK);
    s.variable = "SPAWN_TEST";
    assert_int_equal(spawn_read(&s, &out, NULL), ERR_OK);
    s.value = "a = b";
    assert_int_equal(spawn_read(&s, &out, NULL), ERR_OK);
    assert_true(slice_eq(buf_slice(&out), SLICE("ours\nnone\na = b\n")));
    s.errors = &errors;
    assert_int_equal(setenv("CODE", "3", 1), 0);
    assert_int_equal(spawn_read(&s, &out, NULL), ERR_IO);
    assert_true(slice_eq(buf_slice(&errors), SLICE("a = b\nwhy\n")));
    buf_fini(&out);
    buf_fini(&errors);
}

TEST(a_grandchild_holding_the_pipe_does_not_block_us)
{
    struct buf out = { 0 };

    assert_int_equal(shell("sleep 100 & echo done", 60000, 100, &out), ERR_OK);
    assert_true(slice_eq(buf_slice(&out), SLICE("done\n")));
    buf_fini(&out);
}

TEST(a_missing_program_or_directory_is_not_found)
{
    const char *no_program[] = { "no-such-program-anywhere", NULL }, *yes[] = { "true", NULL };
    struct buf out = { 0 };

    assert_int_equal(
        spawn_read(&(struct spawn){ .argv = no_program, .dir = "/", .timeout_ms = 1000, .max = 10 },
                   &out, NULL),
        ERR_NOT_FOUND);
    assert_int_equal(
        spawn_read(
            &(struct spawn){ .argv = yes, .dir = "/no/such/dir", .timeout_ms = 1000, .max = 10 },
            &out, NULL),
        ERR_NOT_FOUND);
    buf_fini(&out);
}

TEST(variables_that_name_a_repository_are_removed)
{
    struct buf out = { 0 };

    setenv("GIT_DIR", "/elsewhere", 1);
    setenv("GIT_AUTHOR_NAME", "someone", 1);
    assert_int_equal(shell("echo \"$GIT_DIR,$GIT_AUTHOR_NAME\"", 60000, 100, &out), ERR_OK);
    assert_true(slice_eq(buf_slice(&out), SLICE(",someone\n")));
    unsetenv("GIT_DIR");
    unsetenv("GIT_AUTHOR_NAME");
    buf_fini(&out);
}

TEST(no_descriptor_of_ours_reaches_it)
{
    struct buf out = { 0 };
    int leak = dup2(0, 57); /* not close-on-exec */

    assert_int_equal(leak, 57);
    assert_int_equal(shell("[ -e /proc/$$/fd/57 ] || echo closed", 60000, 100, &out), ERR_OK);
    assert_true(slice_eq(buf_slice(&out), SLICE("closed\n")));
    close(leak);
    buf_fini(&out);
}
