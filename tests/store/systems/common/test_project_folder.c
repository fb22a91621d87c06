#include "tests/test.h"

#include "store/systems/common/config_dir.h"

static void expect_name(const char *path, const char *name)
{
    struct arena a = { 0 };
    struct slice got = config_dir_project_name(slice_of(path), &a);

    assert_non_null(got.p);
    assert_string_equal(got.p, name);
    arena_fini(&a);
}

/* Checks the end of the folder name for a path of one repeated part. */
static void expect_end(const char *front, const char *piece, size_t n, const char *end)
{
    struct arena a = { 0 };
    char path[1000];
    size_t len = strlen(front);

    memcpy(path, front, len);
    for (size_t i = 0; i < n; i++, len += strlen(piece))
        memcpy(path + len, piece, strlen(piece));
    struct slice got = config_dir_project_name((struct slice){ path, len }, &a);

    assert_int_equal(got.n, CONFIG_DIR_PROJECT_NAME_MAX + strlen(end));
    assert_string_equal(got.p + CONFIG_DIR_PROJECT_NAME_MAX, end);
    arena_fini(&a);
}

TEST(all_but_letters_and_digits_become_dashes)
{
    expect_name("/work/a b_c.d", "-work-a-b-c-d");
    expect_name("/work/\xF0\x9F\x98\x80x", "-work---x");
    expect_name("/caf\xC3\xA9", "-caf-");
    expect_name("/cafe\xCC\x81", "-cafe-");
    expect_name("/", "-");
    expect_name("", "");
}

TEST(a_long_name_is_cut_and_gets_a_hash)
{
    expect_end("/", "\xC3\xA9", 200, "-s4uqmp");
    expect_end("/", "\xF0\x9F\x98\x80", 120, "-fp2zqh");
    expect_end("", "/zzzzzzzzzz", 30, "-m1zcyo");
    expect_end("", "ab", 100, "");
}

TEST(paths_that_flatten_alike_share_a_folder)
{
    assert_true(config_dir_same_project(SLICE("/a.b"), SLICE("/a-b")));
    assert_true(config_dir_same_project(SLICE("/\xF0\x9F\x98\x80"), SLICE("/--")));
    assert_false(config_dir_same_project(SLICE("/a.b"), SLICE("/a.b/")));
    assert_false(config_dir_same_project(SLICE("/A"), SLICE("/a")));
}

static const char *stands_for(const char *folder, const char *path, struct arena *a)
{
    return config_dir_project_ancestor(slice_of(folder), slice_of(path), a);
}

TEST(a_folder_matches_a_directory_or_one_above_it)
{
    struct arena a = { 0 };

    assert_string_equal(stands_for("-home-u-p", "/home/u/p", &a), "/home/u/p");
    assert_string_equal(stands_for("-home-u-p", "/home/u/p/sub/x", &a), "/home/u/p");
    assert_string_equal(stands_for("-home-u-p", "/home/u-p", &a), "/home/u-p");
    assert_null(stands_for("-home-u-p", "/", &a));
    assert_null(stands_for("-home-u-p", "/home/u", &a));
    assert_null(stands_for("-home-u-p", "/home/u/q", &a));
    assert_null(stands_for("", "/home/u", &a));
    assert_null(stands_for("-home-u-p", "", &a));
    arena_fini(&a);
}
