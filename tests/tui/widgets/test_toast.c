#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>

#include "lite/base/time.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/toast.h"

TEST(sizes_are_short_and_never_wider_than_seven)
{
    static const struct {
        int64_t bytes;
        const char *text;
    } sizes[] = {
        { 0, "0 B" },
        { 1, "1 B" },
        { 1023, "1023 B" },
        { 1024, "1.0 KB" },
        { 10239, "10 KB" },
        { 1023 * 1024, "1023 KB" },
        { 1024 * 1024, "1.0 MB" },
        { INT64_C(3) << 30, "3.0 GB" },
        { INT64_MAX, "8.0 EB" },
        { -5, "0 B" },
    };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char out[HUMAN_SIZE];

        human_size(sizes[i].bytes, out);
        assert_string_equal(out, sizes[i].text);
        assert_true(strlen(out) <= 7);
    }
}

TEST(the_home_directory_is_a_tilde)
{
    char out[32];

    assert_true(slice_eq(text_path_short(SLICE("/home/u/src"), SLICE("/home/u"), out, sizeof out),
                         SLICE("~/src")));
    assert_true(
        slice_eq(text_path_short(SLICE("/home/u"), SLICE("/home/u"), out, sizeof out), SLICE("~")));
    assert_true(slice_eq(text_path_short(SLICE("/home/user2"), SLICE("/home/u"), out, sizeof out),
                         SLICE("/home/user2")));
    assert_true(
        slice_eq(text_path_short(SLICE("/etc"), SLICE("/"), out, sizeof out), SLICE("/etc")));
    assert_true(
        slice_eq(text_path_short(SLICE("/x"), (struct slice){ 0 }, out, sizeof out), SLICE("/x")));
    assert_true(slice_eq(text_path_short(SLICE("/home/u/0123456789"), SLICE("/home/u"), out, 8),
                         SLICE("/home/u/0123456789")));
}

TEST(the_last_part_of_a_path_names_it)
{
    assert_true(slice_eq(text_path_last(SLICE("/home/u/shop")), SLICE("shop")));
    assert_true(slice_eq(text_path_last(SLICE("/home/u/shop//")), SLICE("shop")));
    assert_true(slice_eq(text_path_last(SLICE("/")), SLICE("/")));
    assert_true(slice_eq(text_path_last(SLICE("shop")), SLICE("shop")));
    assert_int_equal(text_path_last((struct slice){ 0 }).n, 0);
    assert_true(slice_eq(text_path_last(SLICE("D:\\work\\shop")), SLICE("shop")));
    assert_true(slice_eq(text_path_last(SLICE("\\\\wsl$\\Ubuntu\\home\\u/shop/")), SLICE("shop")));
    assert_true(slice_eq(text_path_last(SLICE("/home/u/odd\\name")), SLICE("odd\\name")));
}

TEST(notices_expire_and_errors_stay)
{
    struct toast t = { 0 };

    toast_info(&t, 1000, "copied %d", 3);
    assert_string_equal(t.text, "copied 3");
    assert_true(toast_wake_ms(&t) > 1000);
    toast_tick(&t, toast_wake_ms(&t) - 1);
    assert_string_equal(t.text, "copied 3");
    toast_tick(&t, toast_wake_ms(&t));
    assert_string_equal(t.text, "");
    toast_error_text(&t, SLICE("no"));
    assert_true(toast_wake_ms(&t) == TIME_NONE);
    toast_tick(&t, INT64_MAX);
    assert_string_equal(t.text, "no");
    toast_dismiss(&t);
    assert_string_equal(t.text, "");
}

TEST(a_narrow_screen_cuts_the_middle_of_a_path)
{
    struct toast t = { 0 };
    struct frame f;
    struct err e;

    err_set(&e, ERR_LOCKED, "/home/user/.claude/projects/-home-user-src/0012.jsonl",
            "append: it is in use");
    toast_error(&t, &e);
    assert_true(frame_init(&f, 1, 60, false));
    assert_true(toast_draw(&t, &f, (struct rect){ 0, 0, 1, 60 }));
    char *text = frame_dump(&f);

    assert_non_null(strstr(text, "cannot append /home/"));
    assert_non_null(strstr(text, "\u2026"));
    assert_non_null(strstr(text, "0012.jsonl: it is in use"));
    free(text);
    frame_fini(&f);
}

TEST(an_error_is_a_sentence_as_the_commands_print_it)
{
    struct toast t = { 0 };
    struct err e;

    err_set(&e, ERR_FORMAT, "/a.jsonl", "line 3 is cut");
    toast_error(&t, &e);
    assert_string_equal(t.text, "/a.jsonl: line 3 is cut");
    assert_true(t.error);

    errno = ENOENT;
    err_sys(&e, "/home/user/.claude/projects/-home-user-src/0012.jsonl", "open");
    err_wrap(&e, e.code, "describe session");
    toast_error(&t, &e);
    assert_string_equal(t.text,
                        "cannot open /home/user/.claude/projects/-home-user-src/0012.jsonl: "
                        "No such file or directory");
    assert_int_equal(toast_height(&t, 60), 1); /* the path is cut */
    assert_int_equal(toast_height(&t, 45), 3);
}

TEST(the_spinner_turns_with_the_time)
{
    assert_string_equal(frame_spinner_sign(0, true), frame_spinner_sign(99, true));
    assert_string_not_equal(frame_spinner_sign(0, true), frame_spinner_sign(100, true));
    assert_string_not_equal(frame_spinner_sign(0, false), frame_spinner_sign(100, false));
}
