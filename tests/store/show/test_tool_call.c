#include "tests/test.h"

#include "store/show/tool_call.h"

/* What a reader sees of a tool call. */

static struct block call_of(const char *name, const char *input)
{
    return (
        struct block){ .kind = BLOCK_TOOL_CALL, .name = slice_of(name), .input = slice_of(input) };
}

static void assert_lines(const char *name, const char *input, size_t added, size_t removed)
{
    struct block call = call_of(name, input);
    struct hunks d = { .n = 0 };

    tool_call_hunks(&d, &call, NULL);
    assert_int_equal(d.rc, ERR_OK);
    assert_int_equal(d.added, added);
    assert_int_equal(d.removed, removed);
    hunks_fini(&d);
}

TEST(edits_of_all_agents_have_a_diff)
{
    assert_lines(
        "Edit",
        "{\"file_path\":\"/a\",\"old_string\":\"1\\n2\\n\",\"new_string\":\"1\\n3\\n4\\n\"}", 2, 1);
    assert_lines("MultiEdit",
                 "{\"file_path\":\"/a\",\"edits\":[{\"old_string\":\"a\",\"new_string\":\"b\"},"
                 "{\"old_string\":\"c\",\"new_string\":\"\"}]}",
                 1, 2);
    assert_lines("Create", "{\"file_path\":\"/a\",\"content\":\"shut\\ntight\\n\"}", 2, 0);
    assert_lines("search_replace",
                 "{\"file_path\":\"a\",\"content\":\"<<<<<<< SEARCH\\ntight\\n=======\\noiled\\n"
                 ">>>>>>> REPLACE\"}",
                 1, 1);
    assert_lines("apply_patch",
                 "{\"input\":\"*** Begin Patch\\n*** Update File: a\\n@@\\n x\\n-y\\n+z\\n*** Add "
                 "File: b\\n+n\\n"
                 "*** End Patch\"}",
                 2, 1);
    assert_lines("Read", "{\"file_path\":\"/a\"}", 0, 0);
    assert_lines("Bash", "{\"command\":\"rm a\"}", 0, 0);
}

static void assert_subject(const char *name, const char *input, const char *want, bool is_path)
{
    struct block call = call_of(name, input);
    struct arena a = { 0 };
    bool path;
    struct slice text = tool_call_subject(&call, &a, &path);

    assert_true(slice_eq(text, slice_of(want)));
    assert_int_equal(path, is_path);
    arena_fini(&a);
}

TEST(a_call_is_about_a_file_or_a_command)
{
    assert_subject("Read", "{\"file_path\":\"/a/b.c\"}", "/a/b.c", true);
    assert_subject("Bash", "{\"command\":\"/bin/ls\"}", "/bin/ls", false);
    assert_subject("TodoWrite", "{\"todos\":[{},{}]}", "2 todos", false);
    assert_subject("read_files", "{\"files\":[{\"path\":\"/a/b.c\"}]}", "/a/b.c", true);
    assert_subject("read_files", "{\"files\":[{\"path\":\"/a\"},{\"path\":\"/b\"}]}", "2 files",
                   false);
    assert_subject("run_commands", "{\"commands\":[\"ls\",\"pwd\"]}", "ls; pwd", false);
}

static void assert_result(const char *text, const char *want)
{
    struct block result = { .kind = BLOCK_TOOL_RESULT, .text = slice_of(text) };

    assert_true(slice_eq(tool_call_result(&result), slice_of(want)));
}

TEST(an_error_is_shown_without_its_tags)
{
    assert_result("<tool_use_error>no such file</tool_use_error>", "no such file");
    assert_result("<tool_error>cut", "cut");
    assert_result("a <tool_error>", "a <tool_error>");
}
