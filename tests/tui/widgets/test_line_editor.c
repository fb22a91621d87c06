#include "tests/test.h"

#include <stdlib.h>

#include "tui/widgets/line_editor.h"

static struct line_editor typed(const char *text)
{
    struct line_editor e = { 0 };

    line_editor_set(&e, slice_of(text));
    return e;
}

static bool press(struct line_editor *e, uint32_t code, uint8_t mods)
{
    return line_editor_key(e, (struct key){ code, mods });
}

static void assert_text(const struct line_editor *e, const char *text, size_t cursor)
{
    assert_int_equal(e->n, strlen(text));
    assert_memory_equal(e->text, text, e->n);
    assert_int_equal(e->cursor, cursor);
}

TEST(letters_are_inserted_at_the_cursor)
{
    struct line_editor e = typed("ac");

    assert_true(press(&e, KEYCODE_LEFT, 0));
    assert_true(press(&e, 'b', 0));
    assert_text(&e, "abc", 2);
    assert_true(press(&e, 0x4e2d, 0));
    assert_text(&e, "ab中c", 5);
}

TEST(whole_characters_are_moved_over_and_deleted)
{
    struct line_editor e = typed("ä中😀");

    assert_true(press(&e, KEYCODE_BACKSPACE, 0));
    assert_text(&e, "ä中", 5);
    assert_true(press(&e, KEYCODE_LEFT, 0));
    assert_text(&e, "ä中", 2);
    assert_true(press(&e, KEYCODE_DELETE, 0));
    assert_text(&e, "ä", 2);
    assert_false(press(&e, KEYCODE_RIGHT, 0));
}

TEST(words_and_ends_are_cut_as_in_a_shell)
{
    struct line_editor e = typed("one two  three");

    assert_true(press(&e, 'w', MOD_CTRL));
    assert_text(&e, "one two  ", 9);
    assert_true(press(&e, 'b', MOD_ALT));
    assert_text(&e, "one two  ", 4);
    assert_true(press(&e, 'k', MOD_CTRL));
    assert_text(&e, "one ", 4);
    assert_true(press(&e, 'a', MOD_CTRL));
    assert_true(press(&e, 'd', MOD_ALT));
    assert_text(&e, " ", 0);
    e = typed("gone");
    assert_true(press(&e, 'u', MOD_CTRL));
    assert_text(&e, "", 0);
    assert_false(press(&e, 'u', MOD_CTRL));
}

TEST(other_keys_are_left_to_others)
{
    struct line_editor e = typed("x");

    assert_false(press(&e, KEYCODE_UP, 0));
    assert_false(press(&e, 'x', MOD_CTRL));
    assert_false(press(&e, KEYCODE_ENTER, 0));
    assert_false(press(&e, 'x', MOD_ALT));
    assert_text(&e, "x", 1);
}

TEST(pasted_text_has_no_controls_and_no_invalid_bytes)
{
    struct line_editor e = { 0 };

    line_editor_insert(&e, SLICE("a\x1b[0m\nb\xff"));
    assert_text(&e, "a [0m b\xef\xbf\xbd", 10);
}

TEST(a_full_line_takes_no_more)
{
    struct line_editor e = { 0 };
    char long_text[LINE_EDITOR_MAX + 100];

    memset(long_text, 'x', sizeof long_text);
    line_editor_insert(&e, (struct slice){ long_text, sizeof long_text });
    assert_int_equal(e.n, LINE_EDITOR_MAX);
    press(&e, 'y', 0);
    assert_int_equal(e.n, LINE_EDITOR_MAX);
    assert_int_equal(e.text[LINE_EDITOR_MAX - 1], 'x');
}

TEST(a_long_line_scrolls_to_its_cursor)
{
    struct line_editor e = typed("0123456789abcdef");
    struct frame f;

    assert_true(frame_init(&f, 1, 8, false));
    frame_clear(&f);
    line_editor_draw(&e, &f, (struct rect){ 0, 0, 1, 8 }, STYLE_TEXT, true);
    assert_int_equal(f.cursor_x, 7);
    char *text = frame_dump(&f);

    assert_non_null(text);
    assert_int_equal(strncmp(text, "…abcdef", strlen("…abcdef")), 0);
    free(text);
    frame_fini(&f);
}

static void assert_drawn(const struct line_editor *e, int w, int cursor, const char *want)
{
    struct frame f;

    assert_true(frame_init(&f, 1, 20, false));
    frame_clear(&f);
    line_editor_draw(e, &f, (struct rect){ 0, 0, 1, w }, STYLE_TEXT, true);
    char *text = frame_dump(&f);

    assert_non_null(text);
    assert_int_equal(strncmp(text, want, strlen(want)), 0);
    assert_int_equal(f.cursor_x, cursor);
    free(text);
    frame_fini(&f);
}

/* What is left out has a sign on its side, and the cursor is never on a sign. */
TEST(a_line_that_is_cut_at_the_right_says_so)
{
    struct line_editor e = typed("0123456789abcdef");

    press(&e, KEYCODE_HOME, 0);
    assert_drawn(&e, 8, 0, "0123456…");
    for (int i = 0; i < 6; i++)
        press(&e, KEYCODE_RIGHT, 0);
    assert_drawn(&e, 8, 6, "0123456…");
    press(&e, KEYCODE_RIGHT, 0);
    assert_drawn(&e, 8, 6, "…234567…");
    e = typed("領収書メ"); /* of two columns each */
    press(&e, KEYCODE_HOME, 0);
    assert_drawn(&e, 5, 0, "領収…");
    assert_drawn(&e, 6, 0, "領収 …");
    e = typed("01234567");
    press(&e, KEYCODE_LEFT, 0);
    assert_drawn(&e, 9, 7, "01234567\n");
}
