#include "tests/test.h"

#include "tui/config/resume_command.h"
#include "tui/config/shell.h"

/* The command with these flags set, as one line. */
static void assert_set(const char *command, const char *words, const char *want)
{
    struct arena a = { 0 };
    struct resume r = { .argv = NULL };
    struct slice flag[8];
    struct buf line = { 0 };
    char **typed;
    size_t n = 0;

    assert_int_equal(shell_split(slice_of(command), NULL, 0, &a, &r.argv, NULL), ERR_OK);
    assert_int_equal(shell_split(slice_of(words), NULL, 0, &a, &typed, NULL), ERR_OK);
    for (; typed[n]; n++)
        flag[n] = slice_of(typed[n]);
    assert_int_equal(resume_set(&r, flag, n, &a, NULL), ERR_OK);
    for (char **word = r.argv; *word; word++)
        assert_int_equal(buf_addf(&line, "%s%s", line.n ? " " : "", *word), ERR_OK);
    assert_string_equal(buf_cstr(&line), want);
    buf_fini(&line);
    arena_fini(&a);
}

TEST(new_flags_are_appended)
{
    assert_set("claude --resume x", "--model opus", "claude --resume x --model opus");
    assert_set("claude --resume x", "--verbose --add-dir /a -p",
               "claude --resume x --verbose --add-dir /a -p");
    assert_set("--model --resume x", "--model opus", "--model --resume x --model opus");
}

TEST(a_flag_that_is_there_gets_the_new_value)
{
    assert_set("claude --model opus --resume x", "--model haiku --verbose",
               "claude --model haiku --resume x --verbose");
    assert_set("claude --model=opus --resume x", "--model haiku",
               "claude --model=haiku --resume x");
    assert_set("claude --models=opus --resume x", "--model haiku",
               "claude --models=opus --resume x --model haiku");
    assert_set("claude --model --resume x", "--model haiku",
               "claude --model --resume x --model haiku");
    assert_set("claude --print x", "--print", "claude --print x --print");
    assert_set("claude --model opus --resume x", "--model=haiku",
               "claude --model haiku --resume x");
    assert_set("claude --model=opus", "--model= --add-dir=/a", "claude --model= --add-dir=/a");
}
