#include "tests/test.h"

#include "store/systems/claude/list/discover.h"

/* Checks the first prompt of these rows, or the command that stands for it; "" for none. */
static void expect(const char *head, const char *want)
{
    struct arena a = { 0 };
    struct prompt prompt = { 0 };
    char got[1000] = "";

    assert_true(prompt_first(slice_of(head), &a, &prompt));
    struct slice text = prompt.text.p ? prompt.text : prompt.command;

    assert_true(text.n < sizeof got);
    if (text.n)
        memcpy(got, text.p, text.n);
    assert_string_equal(got, want);
    arena_fini(&a);
}

#define USER(content) "{\"type\":\"user\",\"message\":{\"content\":" content "}}\n"

TEST(the_first_real_text_is_the_prompt)
{
    expect(USER("\"  two\\nlines \""), "two lines");
    expect(USER("\"\"")
               USER("[{\"type\":\"text\",\"text\":\" \"},{\"type\":\"text\",\"text\":\"b\"}]"),
           "b");
    expect("{\"type\": \"user\",\"message\":{\"content\":\"spaced\"}}", "spaced");
}

TEST(rows_not_written_by_a_person_are_skipped)
{
    expect("{\"type\":\"user\",\"isMeta\":true,\"message\":{\"content\":\"m\"}}\n" USER("\"x\""),
           "x");
    expect("{\"type\":\"user\",\"isCompactSummary\": true,\"message\":{\"content\":\"m\"}}\n" USER(
               "\"x\""),
           "x");
    expect(USER("[{\"type\":\"tool_result\"},{\"type\":\"text\",\"text\":\"r\"}]") USER("\"x\""),
           "x");
    expect(USER("\"<local-command-stdout>o\"") USER("\"[Request interrupted by user]\"")
               USER("\"x\""),
           "x");
    expect(USER("\"<Tag> stays\""), "<Tag> stays");
    expect("{\"type\":\"user\",\"message\":{\"content\":\"torn", "");
}

TEST(a_command_replaces_a_missing_prompt)
{
    expect(USER("\"<command-name>/one</command-name>\"")
               USER("\"<command-name>/two</command-name>\""),
           "/one");
    expect(USER("\"<command-name>/one</command-name>\"") USER("\"x\""), "x");
    expect(USER("\"a <bash-input> ls </bash-input>\""), "! ls");
}

TEST(pasted_blocks_are_unwrapped)
{
    expect(USER("\"a\\n\\n\\n<pasted_content id=\\\"ab12\\\">\\nbody\\n</pasted_content "
                "id=\\\"ab12\\\">\\n\\nz\""),
           "a bodyz");
    expect(USER("\"<pasted_content id=\\\"ab12\\\">\\n\\n</pasted_content id=\\\"ab12\\\">z\""),
           "z");
    expect(USER("\"x <pasted_content id=\\\"ab12\\\">\\nb\\n</pasted_content id=\\\"ab13\\\">\""),
           "x <pasted_content id=\"ab12\"> b </pasted_content id=\"ab13\">");
}

TEST(a_long_prompt_is_cut_at_200_units)
{
    char head[700], want[300];
    char letters[300];

    memset(letters, 'a', sizeof letters);
    snprintf(head, sizeof head, USER("\"%.200s\""), letters);
    snprintf(want, sizeof want, "%.200s", letters);
    expect(head, want);
    snprintf(head, sizeof head, USER("\"%.199s\xF0\x9F\x98\x80\""), letters);
    snprintf(want, sizeof want, "%.199s\xE2\x80\xA6", letters);
    expect(head, want);
}

TEST(media_are_named_if_there_is_no_text)
{
    struct slice image = SLICE("{\"type\":\"user\",\"x\":{\"type\": \"image\"}}");

    assert_true(slice_eq(prompt_media(image), SLICE("Image")));
    assert_true(slice_eq(prompt_media(SLICE("{\"type\":\"user\",\"x\":{\"type\":\"document\"}}")),
                         SLICE("Document")));
    assert_int_equal(prompt_media(SLICE("{\"type\":\"x\",\"y\":{\"type\":\"image\"}}")).n, 0);
}

/* Titles as the picker of the client 2.1.332 showed them. */
TEST(tags_and_what_is_between_them_are_left_out_of_titles)
{
    static const struct {
        const char *title, *shown; /* "": as it is */
    } cases[] = {
        { "<b>bold</b> one", "one" },
        { "two <B>X</B> y", "" },
        { "three <em>y</em> <z>", "three <z>" },
        { "if a<b four", "" },
        { "<i>five", "" },
        { "P <a href=\"x\">l</a> six", "P six" },
        { "seven <T>foo</T> <b>x</i>", "" },
        { "<b>all</b>", "" },
        { "<b>all</b>\n <i>of it</i>", "" },
        { "nine <b-c>x</b-c> end", "nine end" },
        { "ten <b1>x</b1>", "ten" },
        { "a <b>a <b>n</b> m</b> z", "a m</b> z" },
        { "a <i>b\nc</i>\nq", "a q" },
        { "a <bc>x</b>y</bc>", "a" },
        { "a</b> <b/> <b", "" },
        { "", "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = { 0 };
        struct slice shown = { NULL, 0 };

        assert_true(prompt_without_tags(slice_of(cases[i].title), &a, &shown));
        assert_true(slice_eq(shown, slice_of(cases[i].shown)));
        arena_fini(&a);
    }
}
