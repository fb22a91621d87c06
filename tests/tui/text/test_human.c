#include "tests/test.h"

#include <stdlib.h>
#include <time.h>

#include "tui/text/human.h"

#define MIN INT64_C(60000)
#define HOUR (60 * MIN)
#define DAY (24 * HOUR)

static const int64_t now = INT64_C(1800000000000); /* 2027-01-15T08:00:00Z */

static void assert_age(int64_t back, const char *want)
{
    char out[HUMAN_AGE];

    human_age(now, now - back, out);
    assert_string_equal(out, want);
}

TEST(age_is_shown_in_the_largest_unit)
{
    assert_age(0, "now");
    assert_age(MIN - 1, "now");
    assert_age(MIN, "1m ago");
    assert_age(HOUR - 1, "59m ago");
    assert_age(23 * HOUR, "23h ago");
    assert_age(6 * DAY, "6d ago");
    assert_age(27 * DAY, "3w ago");
    assert_age(28 * DAY - 1, "3w ago");
    assert_age(14 * DAY, "2w ago");
}

TEST(after_four_weeks_an_age_is_a_date)
{
    char out[HUMAN_AGE];

    assert_age(28 * DAY, "Dec 2026");
    assert_age(364 * DAY, "Jan 2026");
    assert_age(800 * DAY, "Nov 2024");
    human_age(now + 200 * DAY, now, out);
    assert_string_equal(out, "Jan 15");
    human_age(now + 200 * DAY, now - 8 * DAY, out);
    assert_string_equal(out, "Jan 07");
}

TEST(in_narrow_columns_a_date_keeps_its_day_or_year)
{
    static const struct {
        int64_t back;
        const char *want;
    } cases[] = { { 0, "now" }, { 23 * HOUR, "23h" }, { 27 * DAY, "3w" }, { 28 * DAY, "Dec'26" } };
    char out[HUMAN_AGE];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        human_age_short(now, now - cases[i].back, out);
        assert_string_equal(out, cases[i].want);
        assert_true(strlen(out) <= HUMAN_AGE_SHORT_COLUMNS);
    }
    human_age_short(now + 200 * DAY, now - 8 * DAY, out);
    assert_string_equal(out, "Jan 07");
}

TEST(impossible_times_are_unknown)
{
    char out[HUMAN_AGE];

    human_age(now, TIME_NONE, out);
    assert_string_equal(out, "?");
    human_age(now, 0, out);
    assert_string_equal(out, "?");
    human_age(now, now + 2 * DAY, out);
    assert_string_equal(out, "?");
    human_age(now, now + MIN, out);
    assert_string_equal(out, "now");
}

static bool parse(const char *text, int64_t *ms)
{
    return human_time_parse(slice_of(text), now, ms);
}

TEST(spans_count_back_from_now)
{
    int64_t ms = 0;

    assert_true(parse("30m", &ms));
    assert_int_equal(ms, now - 30 * MIN);
    assert_true(parse("2w", &ms));
    assert_int_equal(ms, now - 14 * DAY);
    assert_true(parse("1mo", &ms));
    assert_int_equal(ms, now - 30 * DAY);
}

TEST(dates_are_local_days)
{
    int64_t ms = 0;

    assert_true(parse("2027-01-15", &ms));
    assert_int_equal(ms, INT64_C(1800000000000) - 8 * HOUR - 2 * HOUR); /* midnight is 22:00Z */
    assert_true(parse("today", &ms));
    assert_int_equal(ms, INT64_C(1800000000000) - 10 * HOUR);
    assert_true(parse("yesterday", &ms));
    assert_int_equal(ms, INT64_C(1800000000000) - 10 * HOUR - DAY);
    assert_true(parse("2027-01-15T08:00:00Z", &ms));
    assert_int_equal(ms, now);
}

TEST(invalid_times_are_refused_in_queries)
{
    static const char *const words[] = { "",    "w",        "2",          "2 w",     "2x",
                                         "-2w", "9999999w", "2027-13-45", "tomorrow" };
    int64_t ms = 42;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        assert_false(parse(words[i], &ms));
    assert_int_equal(ms, 42);
}

TEST(the_time_left_is_shown_in_the_last_week)
{
    const int64_t hour = 3600 * 1000;
    char text[HUMAN_TIME_LEFT];

    assert_false(human_time_left(now, TIME_NONE, text));
    assert_false(human_time_left(now, now + 7 * 24 * hour, text));
    assert_true(human_time_left(now, now + 7 * 24 * hour - 1, text));
    assert_string_equal(text, "expires 6d");
    assert_true(human_time_left(now, now + 24 * hour - 1, text));
    assert_string_equal(text, "expires 23h");
    assert_true(human_time_left(now, now, text));
    assert_string_equal(text, "expires");
}

TEST(what_something_took_is_in_the_two_largest_units)
{
    static const struct {
        int64_t second;
        const char *text;
    } of[] = { { 0, "0s" },       { 59, "59s" },      { 60, "1m 0s" },       { 3599, "59m 59s" },
               { 3600, "1h 0m" }, { 18180, "5h 3m" }, { 172799, "47h 59m" }, { 187200, "2d 4h" } };
    char text[HUMAN_TOOK];

    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        human_took(of[i].second * 1000 + 999, text);
        assert_string_equal(text, of[i].text);
    }
}

TEST_MAIN
{
    setenv("TZ", "UTC-2", 1); /* two hours east of Greenwich */
    tzset();
    return test_run(NULL, NULL);
}
