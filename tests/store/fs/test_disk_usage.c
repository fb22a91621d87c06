#include "tests/test.h"

#include <unistd.h>

#include "store/fs/disk.h"
#include "tests/support/folder.h"

static struct disk_usage weigh(const struct folder *f, const char *name)
{
    struct disk_usage w = { 0 };
    char path[4096];

    assert_int_equal(disk_usage_add(folder_path(f, name, path), &w, NULL), ERR_OK);
    return w;
}

static void a_tree_weighs_what_its_files_do(void **state)
{
    struct folder f;

    (void)state;
    folder_make(&f);
    folder_put(&f, "d/a", SLICE("1234"));
    folder_put(&f, "d/e/b", SLICE("12"));
    folder_dir(&f, "d/empty");

    assert_int_equal(weigh(&f, "d").files, 2);
    assert_int_equal(weigh(&f, "d").bytes, 6);
    assert_int_equal(weigh(&f, "d/a").bytes, 4);
    folder_remove(&f);
}

static void what_a_link_leads_to_is_not_counted(void **state)
{
    struct folder f;
    char path[4096];

    (void)state;
    folder_make(&f);
    folder_put(&f, "big", SLICE("12345678901234567890"));
    folder_dir(&f, "d");
    assert_int_equal(symlink("../big", folder_path(&f, "d/link", path)), 0);

    assert_int_equal(weigh(&f, "d").files, 1);
    assert_int_equal(weigh(&f, "d").bytes, 6);
    folder_remove(&f);
}

static void what_is_not_there_weighs_nothing(void **state)
{
    struct folder f;

    (void)state;
    folder_make(&f);

    assert_int_equal(weigh(&f, "gone").files, 0);
    assert_int_equal(weigh(&f, "gone").bytes, 0);
    folder_remove(&f);
}

static void its_age_is_that_of_the_newest_thing_in_it(void **state)
{
    struct folder f;

    (void)state;
    folder_make(&f);
    folder_put(&f, "d/a", SLICE("1"));
    folder_put(&f, "d/e/b", SLICE("1"));
    folder_mtime(&f, "d/a", INT64_C(1000000000));
    folder_mtime(&f, "d/e/b", INT64_C(7000000000));
    folder_mtime(&f, "d/e", INT64_C(2000000000));
    folder_mtime(&f, "d", INT64_C(3000000000));

    assert_int_equal(weigh(&f, "d").newest_ms, 7000);
    assert_int_equal(weigh(&f, "gone").newest_ms, 0);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_weighs_what_its_files_do),
        cmocka_unit_test(what_a_link_leads_to_is_not_counted),
        cmocka_unit_test(what_is_not_there_weighs_nothing),
        cmocka_unit_test(its_age_is_that_of_the_newest_thing_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
