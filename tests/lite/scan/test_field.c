#include "tests/test.h"

#include "lite/scan/field.h"

enum { TITLE, TAG, PROMPT, BRANCH, FIELDS };

static const struct field fields[FIELDS] = {
    [TITLE] = { FIELD_LOOSE, "customTitle", "custom-title" },
    [TAG] = { FIELD_LOOSE, "tag", "tag" },
    [PROMPT] = { FIELD_ROW, "lastPrompt", NULL },
    [BRANCH] = { FIELD_RAW, "gitBranch", NULL },
};

/* The value of one field in a window, or NULL; valid until the next call. */
static const char *value_of(size_t field, const char *window)
{
    static char text[200];
    struct arena a = { 0 };
    struct field_set set;
    struct field_value values[FIELDS];

    field_set_init(&set, fields, FIELDS);
    assert_true(field_set_last(&set, slice_of(window), &a, values, NULL, NULL));
    assert_true(values[field].text.n < sizeof text);
    if (values[field].found) {
        memcpy(text, values[field].text.p, values[field].text.n);
        text[values[field].text.n] = '\0';
    }
    arena_fini(&a);
    return values[field].found ? text : NULL;
}

static const char *first_of(const char *window, bool whole)
{
    static char text[200];
    struct arena a = { 0 };
    struct slice found;

    assert_true(field_first(slice_of(window), whole, "cwd", &a, &found));
    if (found.p) {
        memcpy(text, found.p, found.n);
        text[found.n] = '\0';
    }
    arena_fini(&a);
    return found.p ? text : NULL;
}

TEST(the_last_row_wins_even_when_it_is_empty)
{
    assert_string_equal(value_of(TITLE, "{\"type\":\"custom-title\",\"customTitle\":\"one\"}\n"
                                        "{\"type\":\"custom-title\",\"customTitle\":\"two\"}\n"),
                        "two");
    assert_string_equal(value_of(TITLE, "{\"type\":\"custom-title\",\"customTitle\":\"one\"}\n"
                                        "{\"type\":\"custom-title\",\"customTitle\":\"\"}"),
                        "");
}

TEST(irrelevant_rows_are_skipped)
{
    assert_string_equal(value_of(TITLE, "{\"type\":\"custom-title\",\"customTitle\":\"good\"}\n"
                                        "{\"type\":\"custom-title\",\"customTitle\":7}\n"
                                        "{\"type\":\"x\",\"a\":{\"type\":\"custom-title\","
                                        "\"customTitle\":\"nested\"}}\n"
                                        "{\"type\":\"custom-title\",\"customTitle\":\"torn\n"),
                        "good");
    assert_null(
        value_of(PROMPT, "{\"a\":{\"lastPrompt\":\"nested\"}}\n{\"lastPrompt\" :\"blank\"}"));
    assert_string_equal(value_of(PROMPT, "{\"lastPrompt\": \"any row\"}"), "any row");
}

TEST(a_loose_field_allows_one_blank)
{
    assert_string_equal(value_of(TAG, "{\"type\": \"tag\",\"tag\": \"t\"}"), "t");
    assert_null(value_of(TAG, "{\"type\" : \"tag\",\"tag\":\"t\"}"));
}

TEST(an_entry_glued_to_a_torn_row_is_found)
{
    assert_string_equal(
        value_of(TAG, "{\"type\":\"user\",\"mess{\"type\":\"tag\",\"tag\":\"t\"}\n"), "t");
    assert_null(value_of(TAG, "{\"type\":\"user\",\"x\":{\"type\":\"tag\",\"tag\":\"t\"}\n"));
    assert_null(value_of(TAG, "{\"type\":\"user\",\"x\":[{\"type\":\"tag\",\"tag\":\"t\"}\n"));
}

TEST(raw_fields_count_nested_and_terminated_values)
{
    assert_string_equal(value_of(BRANCH, "{\"a\":{\"gitBranch\": \"one\"}}\n{\"gitBranch\":\"two"),
                        "one");
    assert_string_equal(value_of(BRANCH, "\"gitBranch\":\"a\\u0041\\\"\""), "aA\"");
    assert_string_equal(value_of(BRANCH, "\"gitBranch\":\"a\\q\""), "a\\q");
}

TEST(a_match_inside_a_torn_value_is_skipped)
{
    assert_string_equal(value_of(BRANCH, "\"gitBranch\":\"a{\"gitBranch\":\"b\"}"), "a{");
    assert_string_equal(value_of(BRANCH, "\"gitBranch\":\"a\\\"gitBranch\":\"b\"}"),
                        "a\"gitBranch");
    assert_string_equal(value_of(BRANCH, "\"gitBranch\":\"gitBranch\":\"b\"}"), "gitBranch");
    assert_string_equal(value_of(BRANCH, "\"gitBranch\":\"a\",\"gitBranch\":\"b\"}"), "b");
}

TEST(the_first_raw_value_prefers_the_spelling_without_blank)
{
    assert_string_equal(first_of("{\"cwd\": \"/b\",\"x\":{\"cwd\":\"/a\"}}", true), "/a");
    assert_string_equal(first_of("{\"cwd\": \"/b\"}", true), "/b");
    assert_null(first_of("{\"cwd\": \"/b\"}", false));
    assert_string_equal(first_of("{\"cwd\": \"/b\",\"cwd\":\"/a", true), "/b");
    assert_null(first_of("{\"cwd\":7}", true));
}

struct seen {
    size_t count;
    size_t at;
};

static bool count_two(size_t field, struct slice window, size_t at, void *arg)
{
    struct seen *seen = arg;

    (void)field;
    seen->at = at - (size_t)(field_row(window, at).p - window.p);
    return ++seen->count == 2;
}

TEST(matches_come_last_first_until_the_callback_stops)
{
    static const struct field field = { FIELD_SEEN, "\"timestamp\":\"", NULL };
    struct slice window =
        SLICE("{\"timestamp\":\"1\"}\n{\"timestamp\":\"2\"}\n{\"timestamp\":\"3\"}\n");
    struct seen seen = { 0 };
    struct arena a = { 0 };
    struct field_set set;
    struct field_value value;

    field_set_init(&set, &field, 1);
    assert_true(field_set_last(&set, window, &a, &value, count_two, &seen));

    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.at, sizeof "{" - 1);
    assert_false(value.found);
    arena_fini(&a);
}
