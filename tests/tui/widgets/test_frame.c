#include "tests/test.h"

#include <stdlib.h>

#include "support/hostile.h"
#include "tui/widgets/frame.h"

static void assert_frame(const struct frame *f, const char *want)
{
    char *dump = frame_dump(f);

    assert_non_null(dump);
    assert_string_equal(dump, want);
    free(dump);
}

TEST(text_is_drawn_where_it_belongs)
{
    struct frame f;

    assert_true(frame_init(&f, 2, 10, false));
    assert_int_equal(frame_puts(&f, 1, 2, 5, STYLE_TITLE, "hello world"), 5);

    assert_frame(&f, "\n  hello\n");
    assert_int_equal(f.cell[12].style, STYLE_TITLE);
    assert_int_equal(f.cell[17].style, STYLE_TEXT);
    frame_fini(&f);
}

TEST(nothing_is_drawn_outside_the_frame)
{
    struct frame f;

    assert_true(frame_init(&f, 2, 4, false));
    assert_int_equal(frame_puts(&f, -1, 0, 9, STYLE_TEXT, "abc"), 0);
    assert_int_equal(frame_puts(&f, 2, 0, 9, STYLE_TEXT, "abc"), 0);
    assert_int_equal(frame_puts(&f, 0, 4, 9, STYLE_TEXT, "abc"), 0);
    assert_int_equal(frame_puts(&f, 0, -1, 9, STYLE_TEXT, "abc"), 0);
    assert_int_equal(frame_puts(&f, 0, 2, 9, STYLE_TEXT, "abc"), 2);
    frame_fill(&f, (struct rect){ -5, -5, 100, 100 }, STYLE_BAR);
    frame_select(&f, (struct rect){ 1, 3, 5, 5 });

    assert_frame(&f, "\n\n");
    assert_int_equal(f.cell[7].selected, 1);
    assert_int_equal(f.cell[6].selected, 0);
    frame_fini(&f);
}

TEST(a_bar_keeps_its_color_on_the_selected_row)
{
    struct frame f;

    for (int ascii = 0; ascii < 2; ascii++) {
        assert_true(frame_init(&f, 1, 8, ascii));
        frame_bar(&f, (struct rect){ 0, 2, 1, 4 }, 5, 8);
        frame_select(&f, (struct rect){ 0, 0, 1, 8 });
        assert_frame(&f, ascii ? "  ###\n" : "  \u2588\u2588\u258C\n");
        assert_int_equal(f.cell[1].selected + f.cell[5].selected, 2);
        assert_int_equal(f.cell[2].selected + f.cell[4].selected, 0);
        frame_fini(&f);
    }
    assert_true(frame_init(&f, 1, 4, false));
    frame_bar(&f, (struct rect){ 0, 2, 1, 4 }, 1, 1);
    frame_bar(&f, (struct rect){ 0, 0, 1, 2 }, 1, INT64_MAX);
    frame_bar(&f, (struct rect){ 0, 1, 1, 1 }, 0, 0);
    assert_frame(&f, "\u258F \u2588\u2588\n");
    frame_fini(&f);
}

TEST(a_wide_cluster_that_does_not_fit_is_left_out)
{
    struct frame f;

    assert_true(frame_init(&f, 1, 5, false));
    assert_int_equal(frame_text(&f, 0, 0, 5, STYLE_TEXT, SLICE("\u4E2D\u6587\u5B57")), 4);

    assert_frame(&f, "\u4E2D\u6587\n");
    assert_int_equal(f.cell[0].width, 2);
    assert_int_equal(f.cell[1].width, 0);
    frame_fini(&f);
}

TEST(half_of_an_overwritten_wide_cluster_becomes_a_blank)
{
    struct frame f;

    assert_true(frame_init(&f, 1, 6, false));
    frame_text(&f, 0, 0, 6, STYLE_TEXT, SLICE("\u4E2D\u6587\u5B57"));
    frame_puts(&f, 0, 1, 2, STYLE_TEXT, "ab");

    assert_frame(&f, " ab \u5B57\n");
    for (int x = 0; x < 4; x++)
        assert_int_equal(f.cell[x].width, 1);
    frame_fini(&f);
}

TEST(long_text_ends_in_an_ellipsis)
{
    struct frame f;

    assert_true(frame_init(&f, 3, 6, false));
    assert_int_equal(frame_text_cut(&f, 0, 0, 6, STYLE_TEXT, SLICE("abcdef")), 6);
    assert_int_equal(frame_text_cut(&f, 1, 0, 6, STYLE_TEXT, SLICE("abcdefg")), 6);
    assert_int_equal(frame_text_cut(&f, 2, 0, 6, STYLE_TEXT, SLICE("\u4E2D\u6587\u5B57x")), 5);

    assert_frame(&f, "abcdef\nabcde…\n\u4E2D\u6587…\n");
    frame_fini(&f);
}

/* Half of a wide cluster at the edge is a blank, so that what follows it stays in its column. */
TEST(text_scrolled_sideways_keeps_its_columns)
{
    struct frame f;

    assert_true(frame_init(&f, 5, 6, false));
    frame_text_from(&f, 0, 0, 6, STYLE_TEXT, SLICE("abcdefgh"), 0);
    frame_text_from(&f, 1, 0, 6, STYLE_TEXT, SLICE("abcdefgh"), 2);
    frame_text_from(&f, 2, 0, 6, STYLE_TEXT, SLICE("abcdefghi"), 2);
    frame_text_from(&f, 3, 0, 6, STYLE_TEXT, SLICE("a\u4E2D\u6587bc"), 1);
    frame_text_from(&f, 4, 0, 6, STYLE_TEXT, SLICE("ab"), 9);

    assert_frame(&f, "abcde…\n…defgh\n…defg…\n… \u6587bc\n…\n");
    frame_fini(&f);
}

TEST(paths_are_cut_in_the_middle)
{
    struct frame f;

    assert_true(frame_init(&f, 3, 9, true));
    frame_text_middle(&f, 0, 0, 9, STYLE_TEXT, SLICE("/home/dev/src"));
    frame_text_middle(&f, 1, 0, 9, STYLE_TEXT, SLICE("/home/dev"));
    frame_text_middle(&f, 2, 0, 1, STYLE_TEXT, SLICE("/home/dev"));

    assert_frame(&f, "/hom~/src\n/home/dev\n~\n");
    frame_fini(&f);
}

TEST(no_hostile_pattern_reaches_a_cell)
{
    struct frame f;

    assert_true(frame_init(&f, 3, 120, false));
    for (size_t i = 0; i < HOSTILE_COUNT; i++) {
        frame_clear(&f);
        frame_text(&f, 0, 0, 120, STYLE_TEXT, hostile[i].text);
        frame_text_cut(&f, 1, 0, 9, STYLE_TEXT, hostile[i].text);
        frame_text_middle(&f, 2, 0, 9, STYLE_TEXT, hostile[i].text);
        char *dump = frame_dump(&f);

        assert_non_null(dump);
        if (hostile_within(slice_of(dump), hostile[i].raw))
            fail_msg("%s reaches a cell", hostile[i].name);
        free(dump);
    }
    frame_fini(&f);
}

TEST(columns_stay_straight_under_any_text)
{
    static const char *const text[] = {
        "plain",
        "\u4E2D\u6587",
        "\U0001F469\u200D\U0001F4BB",
        "e\u0301\u0301\u0301\u0301\u0301\u0301",
        "\u05E9\u05DC\u05D5\u05DD",
        "\U0001F1E9\U0001F1EA\U0001F1E9",
        "\x1b[1m",
        "\u0915\u094D\u0937\u093F",
    };
    struct frame f;

    assert_true(frame_init(&f, 1, 9, false));
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++)
        for (int w = 0; w <= 9; w++) {
            frame_clear(&f);
            int used = frame_puts(&f, 0, 0, w, STYLE_TEXT, text[i]);
            int sum = 0;

            for (int x = 0; x < 9; x++)
                sum += f.cell[x].width;
            assert_in_range(used, 0, w);
            assert_int_equal(sum, 9);
        }
    frame_fini(&f);
}

TEST(an_impossible_size_gives_an_empty_frame)
{
    struct frame f;

    assert_false(frame_init(&f, 0, 10, false));
    assert_false(frame_init(&f, 10, 1001, false));
    assert_int_equal(frame_puts(&f, 0, 0, 10, STYLE_TEXT, "x"), 0);
    frame_fini(&f);
}

TEST(restyling_a_range_keeps_its_text)
{
    struct frame f;

    assert_true(frame_init(&f, 1, 4, false));
    frame_puts(&f, 0, 0, 4, STYLE_TEXT, "abcd");
    frame_style(&f, (struct rect){ 0, 1, 1, 2 }, STYLE_MATCH);

    assert_frame(&f, "abcd\n");
    assert_int_equal(f.cell[0].style, STYLE_TEXT);
    assert_int_equal(f.cell[1].style, STYLE_MATCH);
    assert_int_equal(f.cell[2].style, STYLE_MATCH);
    assert_int_equal(f.cell[3].style, STYLE_TEXT);
    frame_fini(&f);
}
