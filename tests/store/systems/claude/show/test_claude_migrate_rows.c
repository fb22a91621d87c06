#include "tests/test.h"

#include "lite/json/json.h"
#include "store/systems/claude/show/item_list.h"

static void becomes(enum claude_kind kind, const char *cwd, const char *row, const char *want)
{
    struct arena a = { 0 };
    struct slice got;

    assert_true(json_valid(slice_of(row)));
    assert_int_equal(claude_migrate_row(slice_of(row), kind, slice_of(cwd), &a, &got), ERR_OK);
    if (!slice_eq(got, slice_of(want)))
        fail_msg("%s became %.*s", row, SLICE_ARG(got));
    arena_fini(&a);
}

TEST(old_kinds_of_attachments_get_their_new_names)
{
    becomes(CLAUDE_ATTACHMENT, "/w",
            "{\"n\":1.0,\"attachment\":{\"type\":\"new_file\",\"filename\":\"/w/a/b.c\"},\"m\":2}",
            "{\"n\":1.0,\"attachment\":{\"type\":\"file\",\"filename\":\"/w/a/b.c\","
            "\"displayPath\":\"a/b.c\"},\"m\":2}");
    becomes(CLAUDE_ATTACHMENT, "/w",
            "{\"attachment\":{\"type\":\"new_directory\",\"path\":\"/w/a\"}}",
            "{\"attachment\":{\"type\":\"directory\",\"path\":\"/w/a\",\"displayPath\":\"a\"}}");
}

TEST(a_missing_shown_path_is_filled_in)
{
    becomes(CLAUDE_ATTACHMENT, "/w",
            "{\"attachment\":{\"type\":\"edited_text_file\",\"filename\":\"/w/a\"}}",
            "{\"attachment\":{\"type\":\"edited_text_file\",\"filename\":\"/w/a\","
            "\"displayPath\":\"a\"}}");
    becomes(CLAUDE_ATTACHMENT, "/w", "{\"attachment\":{\"type\":\"skill\",\"skillDir\":\"/s\"}}",
            "{\"attachment\":{\"type\":\"skill\",\"skillDir\":\"/s\",\"displayPath\":\"../s\"}}");
}

static void shown(const char *cwd, const char *path, const char *want)
{
    char row[256], wanted[256];

    snprintf(row, sizeof row, "{\"attachment\":{\"path\":\"%s\"}}", path);
    snprintf(wanted, sizeof wanted, "{\"attachment\":{\"path\":\"%s\",\"displayPath\":\"%s\"}}",
             path, want);
    becomes(CLAUDE_ATTACHMENT, cwd, row, wanted);
}

/* The results of node's path.relative. */
TEST(shown_paths_are_relative_to_the_directory)
{
    shown("/w/a", "/w/a/x", "x");
    shown("/w/a/", "/w/a/x", "x");
    shown("/w/a", "/w/ab", "../ab");
    shown("/w/ab", "/w/a", "../a");
    shown("/w/a", "/w/b/c", "../b/c");
    shown("/w/a/b", "/w", "../..");
    shown("/w", "/x", "../x");
    shown("/w", "/w", "");
    shown("/", "/x/y", "x/y");
    shown("/w", "x/y", "x/y");
    shown("", "/x/y", "/x/y");
}

TEST(an_unknown_permission_mode_is_removed)
{
    becomes(CLAUDE_USER, "/w", "{\"a\":1,\"permissionMode\":\"yolo\",\"b\":2}",
            "{\"a\":1,\"b\":2}");
    becomes(CLAUDE_USER, "/w", "{\"permissionMode\":7}", "{}");
    becomes(CLAUDE_USER, "/w", "{\"permissionMode\":\"plan\"}", "{\"permissionMode\":\"plan\"}");
    becomes(CLAUDE_ASSISTANT, "/w", "{\"permissionMode\":\"yolo\"}",
            "{\"permissionMode\":\"yolo\"}");
}

TEST(everything_else_is_borrowed)
{
    static const char *const rows[] = {
        "{\"attachment\":{\"type\":\"date\"}}",
        "{\"attachment\":{\"type\":\"file\",\"filename\":\"/w/a\",\"displayPath\":\"b\"}}",
        "{\"attachment\":{\"path\":\"\",\"filename\":7}}",
        "{\"attachment\":7}",
        "{}",
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = { 0 };
        struct slice row = { rows[i], strlen(rows[i]) }, got;

        assert_int_equal(claude_migrate_row(row, CLAUDE_ATTACHMENT, SLICE("/w"), &a, &got), ERR_OK);
        assert_ptr_equal(got.p, row.p);
        assert_int_equal(got.n, row.n);
        arena_fini(&a);
    }
}
