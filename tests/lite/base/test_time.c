#include "tests/test.h"

#include "lite/base/time.h"

enum { DAY_MS = 86400000 };

struct date {
    int year, month, day;
};

static int month_days(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

/* The slow, certain way to count days: one after the other. */
static void next_day(struct date *d)
{
    if (++d->day <= month_days(d->year, d->month))
        return;
    d->day = 1;
    if (++d->month <= 12)
        return;
    d->month = 1;
    d->year++;
}

static int64_t days_before_1970(int year)
{
    int64_t days = 0;

    for (; year < 1970; year++)
        for (int month = 1; month <= 12; month++)
            days += month_days(year, month);
    return days;
}

static int64_t parsed(const char *text)
{
    int64_t ms;

    assert_true(time_parse(slice_of(text), &ms));
    return ms;
}

TEST(every_day_of_1600_years_is_the_one_after_the_day_before)
{
    struct date d = { 1000, 1, 1 };
    int64_t day = -days_before_1970(1000);

    for (; d.year < 2600; next_day(&d), day++) {
        char text[TIME_TEXT], got[TIME_TEXT];

        snprintf(text, sizeof text, "%04d-%02d-%02dT12:34:56.789Z", d.year, d.month, d.day);
        int64_t ms = parsed(text);

        assert_int_equal(ms, day * DAY_MS + 45296789);
        time_format(ms, got);
        assert_string_equal(got, text);
    }
}

TEST(known_times_are_formatted)
{
    assert_int_equal(parsed("1970-01-01T00:00:00Z"), 0);
    assert_int_equal(parsed("2026-03-01T10:00:02.000Z"), 1772359202000);
    assert_int_equal(parsed("1969-12-31T23:59:59.999Z"), -1);
    assert_int_equal(parsed("+275760-09-13T00:00:00Z"), 8640000000000000);
    assert_int_equal(parsed("-271821-04-20T00:00:00Z"), -8640000000000000);
}

TEST(short_forms_of_iso_8601_are_parsed)
{
    int64_t day = parsed("2026-03-01T00:00:00.000Z");

    assert_int_equal(parsed("2026-03-01"), day);
    assert_int_equal(parsed("2026-03"), day);
    assert_int_equal(parsed("2026"), parsed("2026-01-01"));
    assert_int_equal(parsed("2026-03-01T00:00"), day);
    assert_int_equal(parsed("2026-03-01T00:00Z"), day);
    assert_int_equal(parsed("2026-03-01 00:00:00z"), day);
    assert_int_equal(parsed("+002026-03-01"), day);
    assert_int_equal(parsed("2026-02-28T24:00:00Z"), day);
}

TEST(offsets_are_subtracted)
{
    int64_t ten = parsed("2026-03-01T10:00:00Z");

    assert_int_equal(parsed("2026-03-01T11:00:00+01:00"), ten);
    assert_int_equal(parsed("2026-03-01T05:15:00-0445"), ten);
    assert_int_equal(parsed("2026-02-28T10:01:00-23:59"), ten);
}

TEST(fractions_of_a_millisecond_are_truncated)
{
    assert_int_equal(parsed("1970-01-01T00:00:00.5Z"), 500);
    assert_int_equal(parsed("1970-01-01T00:00:00.0459999999999999Z"), 45);
    assert_int_equal(parsed("1969-12-31T23:59:59.9999Z"), -1);
}

TEST(a_day_beyond_the_month_runs_over)
{
    assert_int_equal(parsed("2026-02-30"), parsed("2026-03-02"));
    assert_int_equal(parsed("2023-02-29T01:00Z"), parsed("2023-03-01T01:00Z"));
    assert_int_equal(parsed("2026-04-31"), parsed("2026-05-01"));
}

TEST(invalid_times_are_refused_and_leave_the_output_alone)
{
    static const char *const wrong[] = {
        "",
        "x",
        "202",
        "20260",
        "2026-",
        "2026-3-1",
        "2026-13-01",
        "2026-00-01",
        "2026-03-00",
        "2026-03-32",
        "2026-03-01T",
        "2026-03-01T10",
        "2026-03-01T10:00:",
        "2026-03-01T10:60",
        "2026-03-01T10:00:60Z",
        "2026-03-01T10:00:00.Z",
        "2026-03-01T10:00.5Z",
        "2026-03-01T10:00:00,5Z",
        "2026-03-01T24:00:01Z",
        "2026-03-01T24:01Z",
        "2026-03-01T25:00Z",
        "2026-03-01T10:00:00+01",
        "2026-03-01T10:00:00+24:00",
        "2026-03-01T10:00:00+23:60",
        "2026-03-01T10:00:00Zx",
        "2026-03-01T10:00:00 Z",
        "-000000-01-01",
        "+275760-09-13T00:00:00.001Z",
        "-271821-04-19T23:59:59.999Z",
        "0x26-03-01",
        "-2026-03-01",
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int64_t ms = 7;

        if (time_parse(slice_of(wrong[i]), &ms))
            fail_msg("%s is read as a time", wrong[i]);
        assert_int_equal(ms, 7);
    }
}

TEST(years_beyond_four_digits_are_printed_with_a_sign)
{
    char text[TIME_TEXT];

    time_format(parsed("+010000-01-01"), text);
    assert_string_equal(text, "+010000-01-01T00:00:00.000Z");
    time_format(parsed("-000001-12-31"), text);
    assert_string_equal(text, "-000001-12-31T00:00:00.000Z");
    time_format(parsed("0000-01-01"), text);
    assert_string_equal(text, "0000-01-01T00:00:00.000Z");
}

TEST(times_beyond_the_nanosecond_range_are_clamped)
{
    int64_t first = time_ns((struct timespec){ INT64_MIN, 0 }),
            last = time_ns((struct timespec){ INT64_MAX, 999999999 });

    assert_int_equal(time_ns((struct timespec){ -1, 999000000 }), -1000000);
    assert_int_equal(time_ns_of_ms(-1), -1000000);
    assert_true(first < 0 && last > 0 && last - time_ns((struct timespec){ 1, 0 }) > 0);
    assert_true(time_ns((struct timespec){ INT64_C(1800000000), 0 }) - first > 0);
    assert_int_equal(time_ns_of_ms(INT64_MIN), first);
    assert_int_equal(time_ns_of_ms(INT64_MAX), last - 999999999);
}

TEST(the_extreme_values_fit_the_buffer)
{
    char text[TIME_TEXT];

    time_format(INT64_MAX, text);
    assert_string_equal(text, "+292278994-08-17T07:12:55.807Z");
    time_format(INT64_MIN, text);
    assert_string_equal(text, "-292275055-05-16T16:47:04.192Z");
}
