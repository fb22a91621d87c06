#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/change/copy.h"
#include "tests/support/scratch.h"

/* A copy is the same as what was copied, and what is not is noticed before anything of the source goes. */

static struct stat stat_of(void **state, const char *name)
{
    struct stat st;

    assert_int_equal(lstat(scratch_path(state, name), &st), 0);
    return st;
}

static enum err_code copied(void **state)
{
    return copy_tree(scratch_path(state, "from"), scratch_path(state, "to"), NULL);
}

static void a_tree_is_copied_with_modes_and_times(void **state)
{
    scratch_write(state, "from/sub/a", SLICE("one\n"));
    folder_mtime(*state, "from/sub/a", 1700000000123456789);
    assert_int_equal(chmod(scratch_path(state, "from/sub/a"), 0640), 0);
    assert_int_equal(chmod(scratch_path(state, "from/sub"), 0710), 0);
    assert_int_equal(symlink("sub/a", scratch_path(state, "from/link")), 0);
    assert_int_equal(copied(state), ERR_OK);
    char *from = folder_image(*state, "from"), *to = folder_image(*state, "to");

    assert_string_equal(from, to);
    free(from);
    free(to);
    assert_int_equal(copy_compare(scratch_path(state, "from"), scratch_path(state, "to"), NULL),
                     ERR_OK);
}

static void names_of_one_file_stay_names_of_one_file(void **state)
{
    scratch_write(state, "from/a", SLICE("one\n"));
    scratch_write(state, "from/sub/other", SLICE("another\n"));
    assert_int_equal(link(scratch_path(state, "from/a"), scratch_path(state, "from/sub/b")), 0);
    assert_int_equal(link(scratch_path(state, "from/a"), scratch_path(state, "outside")), 0);
    assert_int_equal(copied(state), ERR_OK);
    assert_true(folder_is(*state, "to/sub/b", "one\n"));
    assert_int_equal(stat_of(state, "to/a").st_ino, stat_of(state, "to/sub/b").st_ino);
    assert_int_equal(stat_of(state, "to/a").st_nlink, 2);
    assert_int_equal(stat_of(state, "to/sub/other").st_nlink, 1);
}

static void what_went_on_since_is_not_removed(void **state)
{
    scratch_write(state, "from/a", SLICE("one\n"));
    scratch_write(state, "from/b", SLICE("two\n"));
    assert_int_equal(copied(state), ERR_OK);
    scratch_append(state, "from/b", SLICE("three\n"));
    assert_int_equal(copy_compare(scratch_path(state, "from"), scratch_path(state, "to"), NULL),
                     ERR_STALE);
    assert_int_equal(copy_settle(scratch_path(state, "from"), scratch_path(state, "to"), NULL),
                     ERR_STALE);
    assert_true(folder_is(*state, "from/b", "two\nthree\n"));
}

static void what_is_no_file_is_not_copied(void **state)
{
    folder_dir(*state, "from");
    assert_int_equal(mkfifo(scratch_path(state, "from/fifo"), 0600), 0);
    assert_int_equal(copied(state), ERR_UNSAFE);
    assert_int_equal(copy_remove(scratch_path(state, "to"), NULL), ERR_OK);
    assert_int_equal(copy_remove(scratch_path(state, "to"), NULL), ERR_OK);
    assert_false(folder_has(*state, "to"));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_tree_is_copied_with_modes_and_times),
        CASE(names_of_one_file_stay_names_of_one_file),
        CASE(what_went_on_since_is_not_removed),
        CASE(what_is_no_file_is_not_copied),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
