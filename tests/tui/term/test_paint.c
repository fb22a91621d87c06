#include "tests/test.h"

#include <curses.h>
#include <locale.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tui/term/term.h"

/* curses draws into memory; returns what it has sent since the last call. */
static FILE *drawn;
static SCREEN *screen;
static char sent[65536];

static const char *take_sent(void)
{
    int fd = fileno(drawn);
    off_t n = lseek(fd, 0, SEEK_CUR);

    assert_true(n < (off_t)sizeof sent);
    assert_int_equal(pread(fd, sent, (size_t)n, 0), n);
    sent[n] = '\0';
    assert_int_equal(ftruncate(fd, 0), 0);
    lseek(fd, 0, SEEK_SET);
    return sent;
}

static int open_screen(void **state)
{
    FILE *none = fopen("/dev/null", "r");

    (void)state;
    drawn = fdopen(memfd_create("screen", 0), "w");
    screen = newterm("xterm-256color", drawn, none);
    if (!screen)
        return -1;
    resizeterm(10, 40);
    endwin();
    take_sent();
    return 0;
}

static int close_screen(void **state)
{
    (void)state;
    endwin();
    delscreen(screen);
    return fclose(drawn);
}

static void fill(struct frame *f)
{
    char line[40];

    frame_clear(f);
    f->cursor_y = f->cursor_x = 0;
    for (int y = 0; y < f->rows; y++) {
        snprintf(line, sizeof line, "row %d of them", y);
        frame_puts(f, y, 0, f->cols, STYLE_TEXT, line);
    }
}

TEST(an_unchanged_frame_sends_nothing)
{
    struct theme theme;
    struct paint p;
    struct frame f;

    theme_fill(&theme, THEME_DARK);
    paint_init(&p, &theme, (struct paint_colours){ .wanted = COLOURS_AUTO });
    assert_true(frame_init(&f, 10, 40, false));
    fill(&f);
    paint_frame(&p, &f);
    assert_non_null(strstr(take_sent(), "row 9 of them"));
    paint_frame(&p, &f);
    assert_string_equal(take_sent(), "");
    frame_fini(&f);
    paint_fini(&p);
}

TEST(only_changed_cells_are_sent)
{
    struct theme theme;
    struct paint p;
    struct frame f;

    theme_fill(&theme, THEME_DARK);
    paint_init(&p, &theme, (struct paint_colours){ .wanted = COLOURS_AUTO });
    assert_true(frame_init(&f, 10, 40, false));
    fill(&f);
    paint_frame(&p, &f);
    take_sent();
    frame_puts(&f, 4, 4, 10, STYLE_TEXT, "!");
    paint_frame(&p, &f);
    assert_non_null(strchr(take_sent(), '!'));
    assert_true(strlen(sent) < 24);
    assert_null(strstr(sent, "\x1b[2J"));
    frame_fini(&f);
    paint_fini(&p);
}

/* A wide character, marks on a letter (as many as a cell holds) and the last column all stay in their cells. */
TEST(clusters_keep_their_columns)
{
    struct theme theme;
    struct paint p;
    struct frame f;

    theme_fill(&theme, THEME_DARK);
    paint_init(&p, &theme, (struct paint_colours){ .wanted = COLOURS_NONE });
    assert_true(frame_init(&f, 10, 40, false));
    frame_clear(&f);
    frame_puts(&f, 8, 0, 2, STYLE_TEXT, "o\xcc\x81\xcc\x82\xcc\x83\xcc\x84");
    frame_puts(&f, 9, 34, 6, STYLE_TEXT, "e\xcc\x81\xe6\x97\xa5x\xe6\x9c\xac");
    paint_frame(&p, &f);
    assert_non_null(strstr(take_sent(), "o\xcc\x81\xcc\x82\xcc\x83\xcc\x84"));
    assert_non_null(strstr(sent, "e\xcc\x81\xe6\x97\xa5x\xe6\x9c\xac"));
    frame_fini(&f);
    paint_fini(&p);
}

/* In a locale with another character set only ASCII is sent, and the columns stay. */
TEST(another_locale_gets_ascii)
{
    struct theme theme;
    struct paint p;
    struct frame f;

    assert_non_null(setlocale(LC_CTYPE, "C"));
    theme_fill(&theme, THEME_DARK);
    paint_init(&p, &theme, (struct paint_colours){ .wanted = COLOURS_NONE });
    assert_true(frame_init(&f, 10, 40, false));
    frame_clear(&f);
    frame_puts(&f, 5, 0, 40, STYLE_TEXT, "Gr\u00f6\u00dfer \u65e5\u672c \u201cx\u201d \u2026|");
    paint_frame(&p, &f);
    assert_non_null(strstr(take_sent(), "Gro?er ? ?  \"x\" ~|"));
    for (const char *byte = sent; *byte; byte++)
        assert_true((signed char)*byte > 0);
    setlocale(LC_CTYPE, "C.UTF-8");
    frame_fini(&f);
    paint_fini(&p);
}

static const char *paint_match(enum colours colours, bool no_color)
{
    struct theme theme;
    struct paint p;
    struct frame f;

    theme_fill(&theme, THEME_DARK);
    paint_init(&p, &theme, (struct paint_colours){ colours, no_color, false });
    assert_true(frame_init(&f, 10, 40, false));
    frame_clear(&f);
    paint_frame(&p, &f);
    take_sent();
    frame_puts(&f, 0, 0, 40, STYLE_MATCH, "match");
    paint_frame(&p, &f);
    frame_fini(&f);
    paint_fini(&p);
    return take_sent();
}

TEST(without_colours_attributes_remain)
{
    assert_non_null(strstr(paint_match(COLOURS_AUTO, false), "\x1b[33m"));
    assert_null(strstr(paint_match(COLOURS_AUTO, true), "\x1b[33m"));
    assert_null(strstr(paint_match(COLOURS_NONE, false), "\x1b[33m"));
    assert_non_null(strstr(sent, "\x1b[0;1;4m"));
}

static const char *paint_in(enum theme_id id, struct paint_colours colours)
{
    static struct buf out;
    struct theme theme, other;
    struct paint p;
    struct frame f;

    theme_fill(&theme, id);
    theme.look[STYLE_MARK].fg = 255; /* a number that a true colour must not take */
    theme_fill(&other, THEME_DARK);
    paint_init(&p, &other, colours);
    assert_true(frame_init(&f, 10, 40, false));
    frame_clear(&f);
    paint_frame(&p, &f);
    take_sent();
    paint_set_theme(&p, &theme);
    frame_puts(&f, 0, 0, 40, STYLE_MATCH, "match");
    frame_puts(&f, 1, 0, 40, STYLE_MARK, "mark");
    paint_frame(&p, &f);
    out.n = 0;
    assert_int_equal(paint_expand(&p, slice_of(take_sent()), &out), ERR_OK);
    frame_fini(&f);
    paint_fini(&p);
    return buf_cstr(&out);
}

TEST(a_theme_is_drawn_in_as_many_colours_as_there_are)
{
    const char *painted;

    painted = paint_in(THEME_CONTRAST, (struct paint_colours){ .true_colour = true });
    assert_non_null(strstr(painted, "\x1b[38;2;255;255;92m"));
    assert_non_null(strstr(painted, "\x1b[48;2;0;0;0m"));
    assert_non_null(strstr(painted, "\x1b[38;2;255;255;255m"));
    assert_null(strstr(painted, "\x1b[48;5;"));
    painted = paint_in(THEME_CONTRAST, (struct paint_colours){ .wanted = COLOURS_TRUE });
    assert_non_null(strstr(painted, "38;2;255;255;92"));
    painted = paint_in(THEME_CONTRAST,
                       (struct paint_colours){ .wanted = COLOURS_256, .true_colour = true });
    assert_null(strstr(painted, ";2;"));
    assert_non_null(strstr(painted, "\x1b[38;5;227m"));
    painted = paint_in(THEME_CONTRAST,
                       (struct paint_colours){ .wanted = COLOURS_16, .true_colour = true });
    assert_non_null(strstr(painted, "\x1b[33m"));
    assert_null(strstr(painted, "8;5;"));
    painted =
        paint_in(THEME_CONTRAST, (struct paint_colours){ .no_color = true, .true_colour = true });
    assert_null(strstr(painted, "\x1b[3"));
    assert_null(strstr(painted, "8;2;"));
}

TEST_MAIN
{
    setlocale(LC_CTYPE, "C.UTF-8");
    return test_run(open_screen, close_screen);
}
