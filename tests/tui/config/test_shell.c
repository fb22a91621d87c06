#include "tests/test.h"

#include <stdlib.h>
#include <unistd.h>

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
    assert_quoted(slice_of("%self"), "'%self'");
    assert_quoted(slice_of("it's $HOME `x`"), "'it'\\''s $HOME `x`'");
    assert_quoted(slice_of("it\\'; touch X #"), "'it'\\\\\\''; touch X #'");
    assert_quoted(slice_of("''"), "\\'\\'");
}

TEST(control_bytes_are_escaped_not_printed)
{
    assert_quoted(slice_of("a\x1b[31m'\\\nb"), "\"$(printf 'a\\033\\13331m\\047\\134\\012b')\"");
    assert_quoted(slice_of("\xc2\x9b"), "\"$(printf '\\302\\233')\"");
    assert_quoted(slice_of("a\xe2\x80\xae"), "\"$(printf 'a\\342\\200\\256')\"");
    assert_quoted(slice_of("-!\xff"), "\"$(printf '\\055\\041\\377')\"");
    assert_quoted(slice_of("a\n\n"), "\"$(printf 'a')\"'\n\n'");
}

/* Appends "printf '%s\0' WORD" for each word, and what that must print. */
static void add_word(struct buf *script, struct buf *want, struct slice word)
{
    assert_int_equal(buf_add(script, SLICE("printf '%s\\0' ")), ERR_OK);
    assert_int_equal(shell_quote(script, word), ERR_OK);
    assert_int_equal(buf_add_byte(script, '\n'), ERR_OK);
    assert_int_equal(buf_add(want, word), ERR_OK);
    assert_int_equal(buf_add_byte(want, 0), ERR_OK);
}

/* Every byte but NUL, and a few hundred words of the bytes and words that some shell reads in its own way. */
static void add_words(struct buf *script, struct buf *want)
{
    static const char *const pieces[] = { "a",
                                          "'",
                                          "\\",
                                          "\"",
                                          "$",
                                          "`",
                                          " ",
                                          "\n",
                                          "\t",
                                          "-",
                                          "~",
                                          "!",
                                          "#",
                                          ";",
                                          "&",
                                          "|",
                                          "(",
                                          ")",
                                          "{",
                                          "}",
                                          "*",
                                          "?",
                                          "[",
                                          "]",
                                          "=",
                                          "%",
                                          "^",
                                          "\xff",
                                          "\xc3",
                                          "\x1b",
                                          "\xe2\x80\xae",
                                          "\r",
                                          "$(touch X)",
                                          "; touch X #",
                                          "\\'",
                                          "\\\\",
                                          "%self",
                                          "caf\xc3\xa9",
                                          "%s",
                                          "\\n",
                                          "\x7f",
                                          "''",
                                          "!!",
                                          "<(x)",
                                          "$HOME" };
    char all[255];
    uint32_t random = 1;

    for (int i = 1; i < 256; i++)
        all[i - 1] = (char)i;
    add_word(script, want, (struct slice){ all, 255 });
    add_word(script, want, SLICE(""));
    for (int i = 0; i < 200; i++) {
        struct buf word = { 0 };
        size_t n = 1 + (random >> 16) % 4;

        for (size_t k = 0; k < n; k++) {
            random = random * 1103515245u + 12345u;
            size_t at = (random >> 16) % (sizeof pieces / sizeof *pieces);

            assert_int_equal(buf_addf(&word, "%s", pieces[at]), ERR_OK);
        }
        add_word(script, want, buf_slice(&word));
        buf_fini(&word);
    }
}

TEST(every_shell_reads_what_was_quoted)
{
    static const char *const shells[] = { "sh", "dash", "bash -H", "zsh -f -o rcquotes",
                                          "fish -N" };
    char path[] = "/tmp/reprise-quote-XXXXXX", line[256];
    struct buf script = { 0 }, want = { 0 };
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    add_words(&script, &want);
    assert_int_equal(write(fd, script.p, script.n), (ssize_t)script.n);
    close(fd);
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        snprintf(line, sizeof line, "command -v %.*s >/dev/null", (int)strcspn(shells[i], " "),
                 shells[i]);
        if (system(line) != 0)
            continue;
        snprintf(line, sizeof line, "HOME=/dev/null %s %s </dev/null 2>&1", shells[i], path);
        FILE *p = popen(line, "r");
        char *back = malloc(want.n + 1);

        assert_true(p && back);
        size_t n = fread(back, 1, want.n + 1, p);

        pclose(p);
        if (n != want.n || memcmp(back, want.p, n) != 0)
            fail_msg("%s: other words", shells[i]);
        free(back);
    }
    unlink(path);
    buf_fini(&script);
    buf_fini(&want);
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
