#include "tests/test.h"

#include "lite/base/time.h"
#include "tui/filter/query.h"

static const int64_t now = INT64_C(1772000000000);
static const int64_t day = 24 * 60 * 60 * 1000;

static struct query parse(const char *text)
{
    struct query q;

    assert_true(query_parse(&q, slice_of(text), now));
    return q;
}

static void assert_needle(const struct term *t, const char *text)
{
    assert_int_equal(t->needle.n, strlen(text));
    assert_memory_equal(t->needle.text, text, t->needle.n);
}

TEST(plain_words_are_fuzzy_and_all_must_match)
{
    struct query q = parse("  fix  Loop ");

    assert_int_equal(q.n, 2);
    assert_int_equal(q.term[0].kind, TERM_FUZZY);
    assert_needle(&q.term[0], "fix");
    assert_false(q.term[0].needle.keep_case);
    assert_needle(&q.term[1], "loop");
    assert_true(q.term[1].needle.keep_case);
    assert_false(q.term[1].or_before);
    assert_int_equal(parse("").n, 0);
}

TEST(signs_around_a_word_are_those_of_fzf)
{
    struct query q = parse("'exact ^start end$ ^whole$ !not !^no a | b");

    assert_int_equal(q.n, 8);
    assert_int_equal(q.term[0].kind, TERM_EXACT);
    assert_int_equal(q.term[0].anchor, ANCHOR_NONE);
    assert_int_equal(q.term[1].anchor, ANCHOR_START);
    assert_int_equal(q.term[2].anchor, ANCHOR_END);
    assert_needle(&q.term[2], "end");
    assert_int_equal(q.term[3].anchor, ANCHOR_BOTH);
    assert_true(q.term[4].negate);
    assert_int_equal(q.term[4].kind, TERM_EXACT);
    assert_int_equal(q.term[5].anchor, ANCHOR_START);
    assert_true(q.term[5].negate);
    assert_false(q.term[6].or_before);
    assert_true(q.term[7].or_before);
}

TEST(a_word_between_slashes_is_a_regular_expression)
{
    struct query q = parse("/fix(es)?\\d/ !/a\" \"b/ | /open \"/quoted/\" / /(/");

    assert_int_equal(q.n, 5);
    assert_int_equal(q.term[0].kind, TERM_REGEX);
    assert_non_null(q.term[0].matcher);
    assert_int_equal(q.term[1].kind, TERM_REGEX);
    assert_true(q.term[1].negate);
    assert_int_equal(q.term[2].kind, TERM_FUZZY); /* not closed yet */
    assert_int_equal(q.term[3].kind, TERM_EXACT);
    assert_non_null(strstr(q.problem, "parenthesis"));
    assert_false(q.narrows);
    query_fini(&q);
}

TEST(quotes_and_backslashes_keep_blanks_in_a_word)
{
    struct query q = parse("\"two words\" a\\ b \"still open");

    assert_int_equal(q.n, 3);
    assert_int_equal(q.term[0].kind, TERM_EXACT);
    assert_needle(&q.term[0], "two words");
    assert_needle(&q.term[1], "a b");
    assert_needle(&q.term[2], "still open");
    assert_int_equal(parse("\"tag:x\"").term[0].kind, TERM_EXACT);
}

TEST(fields_are_known_by_their_names)
{
    struct query q = parse("tag:infra branch:\"a b\" sys:claude dir:shop id:1234 !tag:x");

    assert_int_equal(q.n, 6);
    assert_int_equal(q.term[0].kind, TERM_TAG);
    assert_needle(&q.term[0], "infra");
    assert_int_equal(q.term[1].kind, TERM_BRANCH);
    assert_needle(&q.term[1], "a b");
    assert_int_equal(q.term[2].kind, TERM_SYSTEM);
    assert_int_equal(q.term[3].kind, TERM_DIR);
    assert_int_equal(q.term[4].kind, TERM_ID);
    assert_true(q.term[5].negate);
}

TEST(an_agent_and_a_project_are_fields)
{
    struct query q = parse("agent:codex system:codex project:shop !agent:claude agent:\"a b\"");

    assert_int_equal(q.n, 5);
    assert_int_equal(q.term[0].kind, TERM_SYSTEM);
    assert_needle(&q.term[0], "codex");
    assert_int_equal(q.term[1].kind, TERM_SYSTEM);
    assert_int_equal(q.term[2].kind, TERM_DIR);
    assert_true(q.term[3].negate);
    assert_needle(&q.term[4], "a b");
    assert_string_equal(q.problem, "");
}

TEST(a_field_that_does_not_exist_is_a_problem_that_names_the_fields)
{
    static const char *const unknown[] = { "foo:bar",     "!foo:bar",     "foo:\"b c\"",
                                           "Agent:codex", "foo:\xc3\xbc", "a_very:x foo:bar" };

    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        struct query q = parse(unknown[i]);

        assert_true(q.incomplete);
        assert_non_null(strstr(q.problem, "no such field "));
        assert_non_null(strstr(q.problem, "(agent project branch tag id before after size is)"));
    }
    assert_int_equal(parse("pay foo:bar").n, 1);
}

TEST(other_text_with_a_colon_is_text)
{
    static const char *const texts[] = {
        "https://example.com/a",
        "file:///etc",
        "src:12",
        "localhost:8080",
        "c:\\x",
        "c:x",
        "10:30",
        "a1:b",
        "fix:",
        "std::vector",
        ":foo",
        "a_b:c",
        "feat(ui):x",
        "'foo:bar",
        "^foo:bar",
        "\"foo:bar\"",
        "!'foo:bar",
        "git@github.com:owner",
        "foo:",
        "x:y",
        "foo:-bar",
        "foo\\ b:c",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct query q = parse(texts[i]);

        if (q.n != 1 || q.problem[0] || q.term[0].kind > TERM_EXACT)
            fail_msg("%s: %zu terms, %s", texts[i], q.n, q.problem);
    }
}

TEST(times_are_ages_or_days)
{
    struct query q = parse("before:2w after:2026-01-31");
    int64_t then;

    assert_int_equal(q.n, 2);
    assert_int_equal(q.term[0].kind, TERM_BEFORE);
    assert_int_equal(q.term[0].value, now - 14 * day);
    assert_true(time_parse(SLICE("2026-01-31"), &then));
    assert_int_equal(q.term[1].value, then);
}

TEST(sizes_have_units_and_a_side)
{
    struct query q = parse("size:>10M size:<100k size:512 size:>=1G size:2KB");

    assert_int_equal(q.n, 5);
    assert_int_equal(q.term[0].kind, TERM_LARGER);
    assert_int_equal(q.term[0].value, INT64_C(10) << 20);
    assert_int_equal(q.term[1].kind, TERM_SMALLER);
    assert_int_equal(q.term[1].value, 100 << 10);
    assert_int_equal(q.term[2].value, 512);
    assert_int_equal(q.term[3].value, INT64_C(1) << 30);
    assert_int_equal(q.term[4].value, 2048);
}

TEST(a_state_is_recognised_by_its_prefix)
{
    assert_int_equal(parse("is:running").term[0].value, IS_RUNNING);
    assert_int_equal(parse("is:wait").term[0].value, IS_WAITING);
    assert_int_equal(parse("is:arch").term[0].value, IS_ARCHIVED);
    assert_int_equal(parse("is:interrupted").term[0].value, IS_INTERRUPTED);
}

TEST(a_field_without_a_value_filters_nothing)
{
    static const char *const typing[] = { "tag:",  "before:", "size:", "size:>", "is:",
                                          "!tag:", "!",       "'",     "^" };

    for (size_t i = 0; i < sizeof typing / sizeof *typing; i++) {
        struct query q = parse(typing[i]);

        assert_int_equal(q.n, 0);
        assert_string_equal(q.problem, "");
    }
}

TEST(invalid_terms_are_reported_and_ignored)
{
    struct query q = parse("before:soon fix");

    assert_int_equal(q.n, 1);
    assert_needle(&q.term[0], "fix");
    assert_non_null(strstr(q.problem, "before:"));
    assert_non_null(strstr(parse("size:big").problem, "size:"));
    assert_non_null(strstr(parse("is:blue").problem, "is:"));
    assert_non_null(strstr(parse("size:99999999999999999999M").problem, "size:"));
}

/* The words as "a|b", and the number of terms before the //. */
static void assert_content(const char *text, const char *words, size_t terms)
{
    struct query q = parse(text);

    assert_true(q.content);
    for (size_t i = 0; i < q.words_n; i++)
        q.words[i] = q.words[i] ? q.words[i] : '|';
    assert_int_equal(q.words_n, strlen(words));
    assert_memory_equal(q.words, words, q.words_n);
    assert_int_equal(q.n, terms);
}

TEST(two_slashes_search_the_conversations)
{
    assert_content("//find me", "find|me", 0);
    assert_content("// find  me ", "find|me", 0);
    assert_content("//\"find me\" a\\ b c\\\"d", "find me|a b|c\"d", 0);
    assert_content("//\"still open", "still open", 0);
    assert_content("//Capital !x tag:y /z/ // a", "Capital|!x|tag:y|/z/|//|a", 0);
    assert_content("//", "", 0);
    assert_content("// \"\" x", "x", 0);
    assert_false(parse("/single").content);
    assert_false(parse("https://x").content);
    assert_false(parse("\"a //b\"").content);
    assert_int_equal(query_content_at(SLICE("a //b")), 2);
    assert_int_equal(query_content_at(SLICE("a /b")), 4);
}

TEST(what_is_before_two_slashes_filters)
{
    struct query q = parse("dir:shop after:1w !agent:codex pay // retry backoff");

    assert_content("dir:shop // x", "x", 1);
    assert_int_equal(q.n, 4);
    assert_int_equal(q.term[0].kind, TERM_DIR);
    assert_int_equal(q.term[1].kind, TERM_AFTER);
    assert_true(q.term[2].negate);
    assert_needle(&q.term[3], "pay");
    assert_non_null(strstr(parse("foo:bar // x").problem, "no such field"));
}

TEST(too_much_after_two_slashes_is_a_problem)
{
    char text[3000] = "//";

    for (size_t i = 0; i < 33; i++)
        strcat(text, "ab ");
    assert_non_null(strstr(parse(text).problem, "too many words"));
    text[2] = '\0';
    for (size_t i = 0; i < QUERY_CONTENT; i++)
        strcat(text, "a");
    assert_string_equal(parse(text).problem, "");
    strcat(text, "a");
    assert_non_null(strstr(parse(text).problem, "too many words"));
    text[2] = '\0';
    for (size_t i = 0; i < QUERY_CONTENT / 2 + 2; i++)
        strcat(text, i < 30 ? "a " : "a");
    strcat(text, " bbb");
    assert_true(parse(text).words_n <= QUERY_CONTENT);
}

TEST(only_plain_words_narrow)
{
    assert_true(parse("fix lo").narrows);
    assert_true(parse("'fix ^lo").narrows);
    assert_false(parse("fix !lo").narrows);
    assert_false(parse("a | b").narrows);
    assert_false(parse("end$").narrows);
    assert_false(parse("tag:x").narrows);
}

TEST(excess_words_are_ignored)
{
    struct query q = parse("a b c d e f g h i j k l m n o p q r s t u v w x y z");

    assert_int_equal(q.n, QUERY_TERMS);
}

TEST(fields_alone_do_not_rank)
{
    static const char *const plain[] = { "", "tag:x is:fork", "before:2w !main" };

    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        struct query q = parse(plain[i]);

        assert_false(query_ranks(&q));
    }
    struct query words = parse("tag:x pay"), exact = parse("'pay");

    assert_true(query_ranks(&words));
    assert_true(query_ranks(&exact));
}

TEST(the_value_of_a_field_at_the_end_is_found)
{
    static const struct {
        const char *text;
        enum term_kind kind;
        size_t value; /* 0: none */
    } cases[] = {
        { "tag:", TERM_TAG, 4 },
        { "pay !branch:ma", TERM_BRANCH, 12 },
        { "dir:\"a b", TERM_DIR, 5 },
        { "dir:\"a\" is:", TERM_IS, 11 },
        { "system:codex ", TERM_TAG, 0 },
        { "agent:co", TERM_SYSTEM, 6 },
        { "project:", TERM_DIR, 8 },
        { "//tag:x", TERM_TAG, 0 },
        { "pay // tag:x", TERM_TAG, 0 },
        { "\"tag:x", TERM_TAG, 0 },
        { "tag", TERM_TAG, 0 },
        { "", TERM_TAG, 0 },
        { "!", TERM_TAG, 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum term_kind kind;
        size_t value = 0;

        if (query_value_at_end(slice_of(cases[i].text), &kind, &value) != (cases[i].value > 0) ||
            value != cases[i].value || (value && kind != cases[i].kind))
            fail_msg("%s: value at %zu", cases[i].text, value);
    }
}
