#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/fs/copy.h"
#include "support/faults/syscall_hook.h"
#include "tests/support/scratch.h"

/* A file or tree is moved completely, on one file system and across two, even where a name can be given only after a
 * check; an existing target stays. */

static enum err_code moved(void **state, int first, int then)
{
    syscall_hook_arm(&(struct syscall_hook){ .call = "renameat2", .name = "from", .error = first });
    if (then)
        syscall_hook_arm_also(&(struct syscall_hook){
            .call = "renameat2", .name = "to.reprise-copy", .error = then });
    enum err_code rc = fs_move(scratch_path(state, "from"), scratch_path(state, "to"), NULL);

    assert_true(syscall_hook_fired());
    return rc;
}

static const struct {
    int first, then; /* the errors of the renames of the source and of its copy */
} ways[] = { { EINVAL, 0 }, { ENOSYS, 0 }, { EXDEV, 0 }, { EXDEV, EINVAL }, { EXDEV, ENOSYS } };
enum { WAYS = sizeof ways / sizeof *ways };

IN_SCRATCH(a_tree_is_moved)
{
    for (int i = 0; i < WAYS; i++) {
        scratch_write(state, "from/sub/a", SLICE("one\n"));
        char *before = folder_image(*state, "from");

        assert_int_equal(moved(state, ways[i].first, ways[i].then), ERR_OK);
        char *after = folder_image(*state, "to");

        assert_string_equal(before, after);
        assert_false(folder_has(*state, "from"));
        assert_false(folder_has(*state, "to.reprise-copy"));
        assert_int_equal(rename(scratch_path(state, "to"), scratch_path(state, "done")), 0);
        assert_int_equal(unlink(scratch_path(state, "done/sub/a")), 0);
        assert_int_equal(rmdir(scratch_path(state, "done/sub")), 0);
        assert_int_equal(rmdir(scratch_path(state, "done")), 0);
        free(before);
        free(after);
    }
}

IN_SCRATCH(a_place_below_a_file_or_with_a_long_name_is_no_move_that_was_begun)
{
    char below[300] = "to/x";

    scratch_write(state, "from", SLICE("new\n"));
    scratch_write(state, "to", SLICE("old\n"));
    for (int i = 0; i < 2; i++) {
        const char *from = scratch_path(state, "from"), *to = scratch_path(state, below);
        bool done = true;

        assert_int_not_equal(fs_move(from, to, NULL), ERR_OK);
        assert_int_equal(fs_move_is_done(from, to, &done, NULL), ERR_OK);
        assert_false(done);
        assert_int_equal(fs_move_repair(from, to, NULL), ERR_OK);
        memset(below, 'x', sizeof below - 1);
    }
    assert_true(folder_is(*state, "from", "new\n"));
    assert_true(folder_is(*state, "to", "old\n"));
}

IN_SCRATCH(an_existing_target_stays)
{
    scratch_write(state, "from", SLICE("new\n"));
    scratch_write(state, "to", SLICE("old\n"));
    for (int i = 0; i < WAYS; i++) {
        assert_int_equal(moved(state, ways[i].first, ways[i].then), ERR_STALE);
        assert_true(folder_is(*state, "from", "new\n"));
        assert_true(folder_is(*state, "to", "old\n"));
        assert_false(folder_has(*state, "to.reprise-copy"));
    }
}

static struct {
    void **state;
    const char *changed;
} meanwhile;

/* The order in which the files are removed is that of the directory, so the one that is still there changes. */
static void change_other(void *name)
{
    if (folder_has(*meanwhile.state, name) && !meanwhile.changed) {
        scratch_append(meanwhile.state, name, SLICE("three\n"));
        meanwhile.changed = name;
    }
}

static void add_c(void *arg)
{
    (void)arg;
    scratch_write(meanwhile.state, "from/c", SLICE("new\n"));
}

static void refuse_move(void **state)
{
    const char *from = scratch_path(state, "from");

    syscall_hook_arm_also(
        &(struct syscall_hook){ .call = "renameat2", .name = "from", .error = EXDEV });
    assert_int_not_equal(fs_move(from, scratch_path(state, "to"), NULL), ERR_OK);
    assert_false(folder_has(*state, "to"));
    assert_false(folder_has(*state, "to.reprise-copy"));
}

/* Another program writes when a part of the source is removed already: all of it comes back, and no copy stays. */
IN_SCRATCH(a_source_that_changes_during_its_removal_is_whole)
{
    char a[] = "from/a", b[] = "from/b";

    meanwhile.state = state;
    meanwhile.changed = NULL;
    scratch_write(state, a, SLICE("one\n"));
    scratch_write(state, b, SLICE("one\n"));
    folder_mtime(*state, a, 1700000000123456789);
    folder_mtime(*state, b, 1700000000123456789);
    char *before = folder_image(*state, "from");

    syscall_hook_arm(&(struct syscall_hook){ .call = "rmdir", .name = "from", .then = add_c });
    refuse_move(state);
    assert_true(syscall_hook_fired());
    assert_true(folder_is(*state, "from/c", "new\n"));
    assert_int_equal(unlink(scratch_path(state, "from/c")), 0);
    char *after = folder_image(*state, "from");

    assert_string_equal(before, after);
    free(before);
    free(after);

    syscall_hook_arm(
        &(struct syscall_hook){ .call = "unlink", .name = "a", .then = change_other, .arg = b });
    syscall_hook_arm_also(
        &(struct syscall_hook){ .call = "unlink", .name = "b", .then = change_other, .arg = a });
    refuse_move(state);
    syscall_hook_fired();
    assert_non_null(meanwhile.changed);
    assert_true(folder_is(*state, meanwhile.changed, "one\nthree\n"));
    assert_true(folder_is(*state, meanwhile.changed == a ? b : a, "one\n"));
}
