#include "tests/test.h"

#include <dirent.h>
#include <errno.h>

#include "store/fs/disk.h"
#include "support/faults/syscall_hook.h"
#include "tests/support/scratch.h"

/* A new file appears complete under its name and replaces nothing, also on file systems that lack one of the ways to do
 * so. */

/* Operations that a file system lacks; 0: it has them. */
static const struct lacks {
    int tmpfile, noreplace, links;
} kinds[] = {
    { 0, 0, 0 },
    { EOPNOTSUPP, 0, 0 },               /* vfat */
    { EISDIR, EINVAL, 0 },              /* NFS */
    { EOPNOTSUPP, EINVAL, EPERM },      /* exFAT */
    { EINVAL, ENOSYS, ENOSYS },         /* some FUSE */
    { EOPNOTSUPP, EINVAL, EOPNOTSUPP }, /* another */
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void arm(const struct lacks *k)
{
    syscall_hook_arm(&(struct syscall_hook){
        .call = "openat64", .name = k->tmpfile ? "." : "-", .error = k->tmpfile });
    syscall_hook_arm_also(&(struct syscall_hook){
        .call = "renameat2", .name = k->noreplace ? NULL : "-", .error = k->noreplace });
    syscall_hook_arm_also(&(struct syscall_hook){
        .call = "linkat", .name = k->links ? NULL : "-", .error = k->links });
}

static enum err_code publish(void **state, const struct lacks *k, struct err *e)
{
    struct disk_new f;

    arm(k);
    enum err_code rc = disk_new_open(*state, 0600, &f, e);

    assert_int_equal(rc, ERR_OK);
    assert_int_equal(disk_write(f.fd, SLICE("new\n"), NULL, "new", e), ERR_OK);
    rc = disk_new_publish(&f, "name", e);
    syscall_hook_fired();
    return rc;
}

static int names_in(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

IN_SCRATCH(a_new_file_gets_its_name)
{
    struct err e = { 0 };

    for (int i = 0; i < KINDS; i++) {
        if (publish(state, &kinds[i], &e))
            fail_msg("kind %d: %s", i, e.text);
        assert_true(folder_is(*state, "name", "new\n"));
        assert_int_equal(names_in(*state), 1);
        assert_int_equal(unlink(scratch_path(state, "name")), 0);
    }
}

IN_SCRATCH(a_new_file_needs_no_proc)
{
    NEEDS("a file without a name");
    struct disk_new f;
    struct err e = { 0 };

    syscall_hook_arm(&(struct syscall_hook){ .call = "stat64", .name = "fd", .error = ENOENT });
    assert_int_equal(disk_new_open(*state, 0600, &f, &e), ERR_OK);
    assert_true(syscall_hook_fired());
    assert_int_equal(names_in(*state), 1); /* it has a temporary name */
    assert_int_equal(disk_new_publish(&f, "name", &e), ERR_OK);
    assert_int_equal(names_in(*state), 1);
}

IN_SCRATCH(an_existing_name_is_not_replaced)
{
    struct err e = { 0 };

    scratch_write(state, "name", SLICE("old\n"));
    for (int i = 0; i < KINDS; i++) {
        assert_int_equal(publish(state, &kinds[i], &e), ERR_STALE);
        assert_true(folder_is(*state, "name", "old\n"));
        assert_int_equal(names_in(*state), 1);
    }
}

/* A failure that is not a lack of the file system is reported, not worked around. */
IN_SCRATCH(a_failing_link_call_is_an_error)
{
    static const struct lacks full = { EOPNOTSUPP, EINVAL, ENOSPC };
    struct err e = { 0 };

    assert_int_equal(publish(state, &full, &e), ERR_IO);
    assert_int_equal(e.sys, ENOSPC);
    assert_int_equal(names_in(*state), 0);
}
