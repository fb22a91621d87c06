#include "tests/test.h"

#include <unistd.h>

#include "store/fs/disk.h"
#include "tests/support/folder.h"

static struct disk_usage usage_of(const struct folder *f, const char *name)
{
    struct disk_usage w = { 0 };
    char path[4096];

    assert_int_equal(disk_usage_add(folder_path(f, name, path), &w, NULL), ERR_OK);
    return w;
}

TEST(the_usage_of_a_tree_is_that_of_its_files)
{
    struct folder f;

    folder_make(&f);
    folder_put(&f, "d/a", SLICE("1234"));
    folder_put(&f, "d/e/b", SLICE("12"));
    folder_dir(&f, "d/empty");

    assert_int_equal(usage_of(&f, "d").files, 2);
    assert_int_equal(usage_of(&f, "d").bytes, 6);
    assert_int_equal(usage_of(&f, "d/a").bytes, 4);
    folder_remove(&f);
}

TEST(link_targets_are_not_counted)
{
    struct folder f;
    char path[4096];

    folder_make(&f);
    folder_put(&f, "big", SLICE("12345678901234567890"));
    folder_dir(&f, "d");
    assert_int_equal(symlink("../big", folder_path(&f, "d/link", path)), 0);

    assert_int_equal(usage_of(&f, "d").files, 1);
    assert_int_equal(usage_of(&f, "d").bytes, 6);
    folder_remove(&f);
}

TEST(a_missing_path_uses_nothing)
{
    struct folder f;

    folder_make(&f);

    assert_int_equal(usage_of(&f, "gone").files, 0);
    assert_int_equal(usage_of(&f, "gone").bytes, 0);
    folder_remove(&f);
}

TEST(the_time_of_a_tree_is_that_of_its_newest_entry)
{
    struct folder f;

    folder_make(&f);
    folder_put(&f, "d/a", SLICE("1"));
    folder_put(&f, "d/e/b", SLICE("1"));
    folder_mtime(&f, "d/a", INT64_C(1000000000));
    folder_mtime(&f, "d/e/b", INT64_C(7000000000));
    folder_mtime(&f, "d/e", INT64_C(2000000000));
    folder_mtime(&f, "d", INT64_C(3000000000));

    assert_int_equal(usage_of(&f, "d").newest_ms, 7000);
    assert_int_equal(usage_of(&f, "gone").newest_ms, 0);
    folder_remove(&f);
}
