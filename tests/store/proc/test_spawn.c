#include "tests/test.h"

#include "store/proc/spawn.h"
#include "support/scratch.h"

static enum err_code shell(const char *script, int timeout_ms, size_t max, struct buf *out)
{
    const char *argv[] = { "sh", "-c", script, NULL };
    struct spawn s = { argv, "/", timeout_ms, max };

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

    assert_int_equal(spawn_read(&(struct spawn){ no_program, "/", 1000, 10 }, &out, NULL),
                     ERR_NOT_FOUND);
    assert_int_equal(spawn_read(&(struct spawn){ yes, "/no/such/dir", 1000, 10 }, &out, NULL),
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
