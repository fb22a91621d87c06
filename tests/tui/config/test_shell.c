#include "tests/test.h"

#include "tui/config/shell.h"

static void assert_quoted(struct slice word, const char *want)
{
    struct buf out = { 0 };

    assert_int_equal(shell_quote(&out, word), ERR_OK);
    assert_string_equal(buf_cstr(&out), want);
    buf_fini(&out);
}

TEST(plain_words_are_not_quoted)
{
    assert_quoted(slice_of("/home/u/src/shop-2.0"), "/home/u/src/shop-2.0");
    assert_quoted(slice_of("--resume"), "--resume");
    assert_quoted(slice_of("caf\xc3\xa9"), "'caf\xc3\xa9'");
}

TEST(special_words_are_quoted)
{
    assert_quoted(slice_of(""), "''");
    assert_quoted(slice_of("a b"), "'a b'");
    assert_quoted(slice_of("~"), "'~'");
    assert_quoted(slice_of("=ls"), "'=ls'");
    assert_quoted(slice_of("it's $HOME `x`"), "'it'\\''s $HOME `x`'");
}

TEST(control_bytes_are_escaped_not_printed)
{
    assert_quoted(slice_of("a\x1b[31m'\\\n"), "$'a\\033[31m\\047\\134\\012'");
    assert_quoted(slice_of("\xc2\x9b"), "$'\\302\\233'");
    assert_quoted(slice_of("a\xe2\x80\xae"), "$'a\\342\\200\\256'");
    assert_quoted(slice_of("\xff"), "$'\\377'");
}

/* Every byte but NUL, through bash and back. */
TEST(a_shell_reads_what_was_quoted)
{
    char word[256], line[2048], back[512];
    struct buf out = { 0 };

    for (int i = 1; i < 256; i++)
        word[i - 1] = (char)i;
    assert_int_equal(shell_quote(&out, (struct slice){ word, 255 }), ERR_OK);
    snprintf(line, sizeof line,
             "exec bash -c 'read -r -d \"\" x; eval \"printf %%s $x\"' <<'EOF'\n%s\nEOF\n",
             buf_cstr(&out));
    FILE *p = popen(line, "r");

    assert_non_null(p);
    size_t n = fread(back, 1, sizeof back, p);

    pclose(p);
    assert_int_equal(n, 255);
    assert_memory_equal(back, word, 255);
    buf_fini(&out);
}

static char **split(const char *line, struct arena *a)
{
    static const struct shell_value values[] = {
        { "id", { "x y'z", 5 } },
        { "cwd", { "", 0 } },
    };
    char **argv = NULL;
    enum err_code rc = shell_split(slice_of(line), values, 2, a, &argv, NULL);

    return rc ? NULL : argv;
}

TEST(words_are_split_at_blanks)
{
    struct arena a = { 0 };
    char **argv = split("  claude\t--resume  \"a b\"'c d'\\ e  ", &a);

    assert_string_equal(argv[0], "claude");
    assert_string_equal(argv[1], "--resume");
    assert_string_equal(argv[2], "a bc d e");
    assert_null(argv[3]);
    arena_fini(&a);
}

TEST(a_value_is_never_split_or_read_again)
{
    struct arena a = { 0 };
    char **argv = split("run {id} \"{id}\" '{id}' --x={id} {cwd} {other} {", &a);

    assert_string_equal(argv[1], "x y'z");
    assert_string_equal(argv[2], "x y'z");
    assert_string_equal(argv[3], "{id}");
    assert_string_equal(argv[4], "--x=x y'z");
    assert_string_equal(argv[5], "");
    assert_string_equal(argv[6], "{other}");
    assert_string_equal(argv[7], "{");
    assert_null(argv[8]);
    arena_fini(&a);
}

TEST(an_open_quote_or_nothing_is_refused)
{
    struct arena a = { 0 };

    assert_null(split("claude 'x", &a));
    assert_null(split("claude \"x", &a));
    assert_null(split("   ", &a));
    assert_null(split("", &a));
    arena_fini(&a);
}
