#include "tests/test.h"

#include <errno.h>

#include "store/fs/disk.h"
#include "support/faults/syscall_hook.h"
#include "tests/support/folder.h"

/* Free space is what the file system reports; if it reports nothing, no operation is refused. */

TEST(free_bytes_are_reported)
{
    static const struct {
        unsigned long blocks, available, size;
        int64_t bytes;
    } cases[] = {
        { 100, 7, 4096, 7 * 4096 },
        { 100, 0, 4096, 0 },
        { 100, 100, 1, 100 },
        { ~0UL, INT64_MAX, 1, INT64_MAX },
        { ~0UL, ~0UL, 4096, INT64_MAX }, /* a file system that says "any number" */
        { ~0UL, 1UL << 51, 4096, INT64_MAX },
        { ~0UL, (1UL << 51) - 1, 4096, INT64_MAX - 4095 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct statvfs fs = { .f_blocks = cases[i].blocks,
                                    .f_bavail = cases[i].available,
                                    .f_frsize = cases[i].size };
        int64_t bytes = -1;

        assert_true(disk_free_bytes(&fs, &bytes));
        assert_int_equal(bytes, cases[i].bytes);
    }
}

TEST(a_file_system_without_figures_is_not_full)
{
    const struct statvfs ramfs = { .f_frsize = 4096 }, odd = { .f_blocks = 9, .f_bavail = 9 };
    int64_t bytes;

    assert_false(disk_free_bytes(&ramfs, &bytes));
    assert_false(disk_free_bytes(&odd, &bytes));
}

TEST(only_a_known_shortage_is_refused)
{
    struct folder f;
    struct err e = { 0 };

    folder_make(&f);
    assert_int_equal(disk_check_space(f.path, 1, "this", &e), ERR_OK);
    assert_int_equal(disk_check_space(f.path, INT64_MAX / 2, "this", &e), ERR_IO);
    assert_non_null(strstr(e.text, "this needs 48"));
    syscall_hook_arm(&(struct syscall_hook){ .call = "statvfs64", .error = ENOSYS });
    assert_int_equal(disk_check_space(f.path, INT64_MAX / 2, "this", &e), ERR_OK);
    assert_true(syscall_hook_fired());
    folder_remove(&f);
}
