#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>

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
