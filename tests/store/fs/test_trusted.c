#include "store/fs/path.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "tests/test.h"

static void set_mode(void **state, const char *name, mode_t mode)
{
    assert_int_equal(chmod(scratch_path(state, name), mode), 0);
}

static void assert_trusted(void **state, const char *name, enum err_code code, const char *why)
{
    struct err e = { 0 };

    assert_int_equal(path_trusted("/", scratch_path(state, name), &e), code);
    assert_true(!why || strstr(e.text, why) || strstr(e.path, why));
}

IN_SCRATCH(a_file_of_mine_in_folders_of_mine)
{
    scratch_write(state, "a/b/file", SLICE("x"));
    set_mode(state, "a", 0755);
    set_mode(state, "a/b", 0700);
    set_mode(state, "a/b/file", 0644);
    assert_trusted(state, "a/b/file", ERR_OK, NULL);
    assert_trusted(state, "a/./b//../b/file", ERR_OK, NULL);
    assert_int_equal(path_trusted(*state, "a/b/file", NULL), ERR_OK);
    assert_trusted(state, "a/none", ERR_NOT_FOUND, NULL);
}

IN_SCRATCH(others_can_write_to_the_file)
{
    scratch_write(state, "file", SLICE("x"));
    set_mode(state, "file", 0646);
    assert_trusted(state, "file", ERR_UNSAFE, "can be written by others");
}

IN_SCRATCH(others_can_write_to_a_folder_above)
{
    scratch_write(state, "a/b/c/file", SLICE("x"));
    set_mode(state, "a/b/c/file", 0600);
    set_mode(state, "a/b/c", 0700);
    set_mode(state, "a/b", 0700);
    set_mode(state, "a", 0707);
    assert_trusted(state, "a/b/c/file", ERR_UNSAFE, "/a");
    set_mode(state, "a", 01777); /* as /tmp */
    assert_trusted(state, "a/b/c/file", ERR_OK, NULL);
    assert_trusted(state, "a/b/../b/c/file", ERR_OK, NULL);
}

IN_SCRATCH(a_link_in_a_folder_that_others_can_write_to)
{
    scratch_write(state, "good/file", SLICE("x"));
    scratch_write(state, "open/x", SLICE("x"));
    set_mode(state, "good", 0700);
    set_mode(state, "good/file", 0600);
    assert_int_equal(symlink("../good", scratch_path(state, "open/link")), 0);
    assert_int_equal(
        symlink(scratch_path(state, "open/link/file"), scratch_path(state, "good/round")), 0);
    set_mode(state, "open", 0700);
    assert_trusted(state, "open/link/file", ERR_OK, NULL);
    assert_trusted(state, "good/round", ERR_OK, NULL);
    set_mode(state, "open", 0777);
    assert_trusted(state, "open/link/file", ERR_UNSAFE, "/open");
    assert_trusted(state, "good/round", ERR_UNSAFE, "/open");
    assert_int_equal(symlink("self", scratch_path(state, "good/self")), 0);
    assert_trusted(state, "good/self", ERR_UNSAFE, "too many links");
}

IN_SCRATCH(another_user_owns_it)
{
    if (geteuid() != 0)
        skip();
    scratch_write(state, "a/file", SLICE("x"));
    set_mode(state, "a", 01777);
    set_mode(state, "a/file", 0600);
    assert_int_equal(chown(scratch_path(state, "a/file"), 54321, 0), 0);
    assert_trusted(state, "a/file", ERR_UNSAFE, "belongs to another user");
    assert_int_equal(chown(scratch_path(state, "a/file"), 0, 0), 0);
    assert_int_equal(chown(scratch_path(state, "a"), 54321, 0), 0);
    assert_trusted(state, "a/file", ERR_UNSAFE, "belongs to another user");
}
