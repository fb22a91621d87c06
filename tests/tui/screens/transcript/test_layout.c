#include "tests/test.h"

#include "tui/screens/transcript/layout.h"

static const char *cut(const char *text, int cols)
{
    static char out[200];
    const struct layout_options look = { .glyphs = layout_glyphs_for(true) };
    struct buf b = { 0 };

    int used = layout_cut(&look, &b, slice_of(text), cols);

    snprintf(out, sizeof out, "%d %.*s", used, SLICE_ARG(buf_slice(&b)));
    buf_fini(&b);
    return out;
}

TEST(text_that_does_not_fit_is_cut)
{
    assert_string_equal(cut("compacted", 9), "9 compacted");
    assert_string_equal(cut("compacted", 8), "8 compact~");
}

TEST(colours_of_programs_take_no_room)
{
    assert_string_equal(cut("\033[2mCompacted (ctrl+o)\033[22m", 18), "18 Compacted (ctrl+o)");
    assert_string_equal(cut("\033[1;31mred\033[0m and \033[38;5;4mblue\033[m", 12),
                        "12 red and blue");
    assert_string_equal(cut("\033[2m", 5), "0 ");
}

TEST(other_escapes_are_shown_visibly)
{
    assert_string_equal(cut("a\033[2Jb", 9), "7 a^[[2Jb");
    assert_string_equal(cut("\033[2", 9), "4 ^[[2");
    assert_string_equal(cut("\033", 9), "2 ^[");
}

TEST(lines_are_counted)
{
    assert_int_equal(tool_count_lines((struct slice){ 0 }), 0); /* a result without a text */
    assert_int_equal(tool_count_lines(SLICE("a")), 1);
    assert_int_equal(tool_count_lines(SLICE("a\n\nb\n")), 3);
}
