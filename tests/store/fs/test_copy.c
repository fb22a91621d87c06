#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "store/fs/copy.h"
#include "support/faults/access_list.h"
#include "support/faults/syscall_hook.h"
#include "tests/support/scratch.h"

/* A copy equals its source, and any difference is noticed before anything of the source is removed. */

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

IN_SCRATCH(a_tree_is_copied_with_modes_and_times)
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

static void set_attribute(void **state, const char *name, const char *key, struct slice value)
{
    if (setxattr(scratch_path(state, name), key, value.p, value.n, 0) == 0)
        return;
    assert_int_equal(errno, ENOTSUP);
    print_message("skipped: this file system has no extended attributes\n");
    skip();
}

static bool has_attribute(void **state, const char *name, const char *key, struct slice value)
{
    char got[64];
    ssize_t n = getxattr(scratch_path(state, name), key, got, sizeof got);

    return n == (ssize_t)value.n && memcmp(got, value.p, value.n) == 0;
}

IN_SCRATCH(extended_attributes_and_access_lists_are_copied)
{
    static const char inherited[] = "system.posix_acl_default";
    const struct slice list = { (const char *)&acl, sizeof acl };

    scratch_write(state, "from/sub/a", SLICE("one\n"));
    scratch_write(state, "from/sub/plain", SLICE("two\n"));
    set_attribute(state, "from/sub/a", "user.note", SLICE("kept"));
    set_attribute(state, "from/sub", "user.empty", SLICE(""));
    set_attribute(state, "from/sub/a", ACL, list);
    set_attribute(state, "from/sub", inherited, list);
    assert_int_equal(copied(state), ERR_OK);
    assert_true(has_attribute(state, "to/sub/a", "user.note", SLICE("kept")));
    assert_true(has_attribute(state, "to/sub", "user.empty", SLICE("")));
    assert_true(has_attribute(state, "to/sub/a", ACL, list));
    assert_true(has_attribute(state, "to/sub", inherited, list));
    assert_int_equal(listxattr(scratch_path(state, "to/sub/plain"), NULL, 0),
                     listxattr(scratch_path(state, "from/sub/plain"), NULL, 0));
    assert_int_equal(stat_of(state, "to/sub/a").st_mode, stat_of(state, "from/sub/a").st_mode);
}

/* A refused copy is better than an incomplete one: the source is kept, and its owner gets an error. */
IN_SCRATCH(a_tree_that_cannot_be_copied_faithfully_is_refused)
{
    static const struct syscall_hook broken[] = {
        { .call = "fsetxattr", .name = "a", .error = ENOTSUP },
        { .call = "fsetxattr", .name = "sub", .error = ENOSPC },
        { .call = "flistxattr", .name = "a", .error = EIO },
    };

    scratch_write(state, "from/sub/a", SLICE("one\n"));
    set_attribute(state, "from/sub/a", "user.note", SLICE("kept"));
    set_attribute(state, "from/sub", "user.note", SLICE("kept"));
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        syscall_hook_arm(&broken[i]);
        assert_int_equal(copied(state), ERR_IO);
        assert_true(syscall_hook_fired());
        assert_int_equal(copy_remove(scratch_path(state, "to"), NULL), ERR_OK);
    }
    assert_int_equal(copied(state), ERR_OK);
}

IN_SCRATCH(hard_links_stay_hard_links)
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

IN_SCRATCH(a_source_that_changed_since_is_not_removed)
{
    scratch_write(state, "from/a", SLICE("one\n"));
    scratch_write(state, "from/b", SLICE("two\n"));
    assert_int_equal(copied(state), ERR_OK);
    scratch_append(state, "from/b", SLICE("three\n"));
    assert_int_equal(copy_compare(scratch_path(state, "from"), scratch_path(state, "to"), NULL),
                     ERR_STALE);
    assert_int_equal(
        copy_remove_source(scratch_path(state, "from"), scratch_path(state, "to"), NULL),
        ERR_STALE);
    assert_true(folder_is(*state, "from/b", "two\nthree\n"));
}

static void empty_source(void *arg)
{
    assert_int_equal(truncate(arg, 0), 0);
}

IN_SCRATCH(a_source_that_changes_meanwhile_is_named)
{
    char path[4096];
    struct err e = { 0 };

    scratch_write(state, "from", SLICE("one\n"));
    snprintf(path, sizeof path, "%s", scratch_path(state, "from"));
    syscall_hook_arm(
        &(struct syscall_hook){ .call = "write", .name = "to", .then = empty_source, .arg = path });
    assert_int_equal(copy_tree(path, scratch_path(state, "to"), &e), ERR_STALE);
    assert_true(syscall_hook_fired());
    assert_string_equal(e.path, path);
}

IN_SCRATCH(special_files_are_not_copied)
{
    folder_dir(*state, "from");
    assert_int_equal(mkfifo(scratch_path(state, "from/fifo"), 0600), 0);
    assert_int_equal(copied(state), ERR_UNSAFE);
    assert_int_equal(copy_remove(scratch_path(state, "to"), NULL), ERR_OK);
    assert_int_equal(copy_remove(scratch_path(state, "to"), NULL), ERR_OK);
    assert_false(folder_has(*state, "to"));
}
