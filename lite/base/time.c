#include "lite/base/time.h"

#include <stdio.h>
#include <time.h>

enum { DAY_MS = 86400000, HOUR_MS = 3600000, MINUTE_MS = 60000 };
static const int64_t LATEST_MS = 8640000000000000; /* JavaScript's Date ends here, on both sides */

/* Days from 1970-01-01 in the proleptic Gregorian calendar. The year is taken to begin in March, so that
 * the leap day is its last and the months before follow one formula; 400 years are always 146097 days. */
static int64_t days_from_civil(int64_t year, int month, int day)
{
    if (month <= 2)
        year--;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * 146097 + day_of_era - 719468;
}

static void civil_from_days(int64_t days, int64_t *year, int *month, int *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t from_march = (5 * day_of_year + 2) / 153;

    *day = (int)(day_of_year - (153 * from_march + 2) / 5 + 1);
    *month = (int)(from_march < 10 ? from_march + 3 : from_march - 9);
    *year = era * 400 + year_of_era + (*month <= 2 ? 1 : 0);
}

static bool accept_char(struct slice *s, char c)
{
    if (s->n == 0 || *s->p != c)
        return false;
    s->p++;
    s->n--;
    return true;
}

static bool accept_any_char(struct slice *s, const char *set)
{
    for (; *set; set++)
        if (accept_char(s, *set))
            return true;
    return false;
}

/* Exactly `digits` digits, between low and high. */
static bool parse_digits(struct slice *s, size_t digits, int low, int high, int *out)
{
    int n = 0;

    if (s->n < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        if (s->p[i] < '0' || s->p[i] > '9')
            return false;
        n = n * 10 + (s->p[i] - '0');
    }
    s->p += digits;
    s->n -= digits;
    *out = n;
    return n >= low && n <= high;
}

/* YYYY, YYYY-MM or YYYY-MM-DD; the year may be +YYYYYY or -YYYYYY, but not -000000. */
static bool parse_date_part(struct slice *s, int64_t *days)
{
    int year, month = 1, day = 1;

    if (accept_char(s, '-')) {
        if (!parse_digits(s, 6, 1, 999999, &year))
            return false;
        year = -year;
    } else if (accept_char(s, '+') ? !parse_digits(s, 6, 0, 999999, &year)
                                   : !parse_digits(s, 4, 0, 9999, &year)) {
        return false;
    }
    if (accept_char(s, '-')) {
        if (!parse_digits(s, 2, 1, 12, &month))
            return false;
        if (accept_char(s, '-') && !parse_digits(s, 2, 1, 31, &day))
            return false;
    }
    *days = days_from_civil(year, month, day);
    return true;
}

/* The digits after the point. Anything finer than a millisecond is cut off and never rounded. */
static bool parse_fraction(struct slice *s, int *ms)
{
    int unit = 100, digit;

    if (!parse_digits(s, 1, 0, 9, &digit))
        return false;
    *ms = digit * unit;
    while (s->n && *s->p >= '0' && *s->p <= '9') {
        unit /= 10;
        *ms += (*s->p - '0') * unit;
        s->p++;
        s->n--;
    }
    return true;
}

/* HH:MM, HH:MM:SS or HH:MM:SS.fraction; 24:00 is the end of the day. */
static bool parse_clock(struct slice *s, int64_t *clock_ms)
{
    int hour, minute, second = 0, ms = 0;

    if (!parse_digits(s, 2, 0, 24, &hour) || !accept_char(s, ':') ||
        !parse_digits(s, 2, 0, 59, &minute))
        return false;
    if (accept_char(s, ':')) {
        if (!parse_digits(s, 2, 0, 59, &second) || (accept_char(s, '.') && !parse_fraction(s, &ms)))
            return false;
    }
    *clock_ms = (int64_t)hour * HOUR_MS + minute * MINUTE_MS + second * 1000 + ms;
    return *clock_ms <= DAY_MS;
}

/* Z, +HH:MM or +HHMM; nothing is UTC here. */
static bool parse_offset(struct slice *s, int64_t *offset_ms)
{
    int hour = 0, minute = 0, sign;

    *offset_ms = 0;
    if (s->n == 0 || accept_any_char(s, "Zz"))
        return true;
    if (accept_char(s, '+'))
        sign = 1;
    else if (accept_char(s, '-'))
        sign = -1;
    else
        return false;
    if (!parse_digits(s, 2, 0, 23, &hour))
        return false;
    accept_char(s, ':');
    if (!parse_digits(s, 2, 0, 59, &minute))
        return false;
    *offset_ms = (int64_t)sign * (hour * HOUR_MS + minute * MINUTE_MS);
    return true;
}

bool time_parse(struct slice text, int64_t *ms)
{
    int64_t days, clock_ms = 0, offset_ms;

    if (!parse_date_part(&text, &days))
        return false;
    if (accept_any_char(&text, "Tt ") && !parse_clock(&text, &clock_ms))
        return false;
    if (!parse_offset(&text, &offset_ms) || text.n)
        return false;
    int64_t t = days * DAY_MS + clock_ms - offset_ms;

    if (t < -LATEST_MS || t > LATEST_MS)
        return false;
    *ms = t;
    return true;
}

void time_format(int64_t ms, char out[TIME_TEXT])
{
    int64_t days = ms / DAY_MS, rest = ms % DAY_MS, year;
    int month, day;

    if (rest < 0) {
        rest += DAY_MS;
        days--;
    }
    civil_from_days(days, &year, &month, &day);
    int clock = (int)rest;
    const char *date = year >= 0 && year <= 9999 ? "%04lld-%02d-%02dT" : "%+07lld-%02d-%02dT";
    int n = snprintf(out, TIME_TEXT, date, (long long)year, month, day);

    snprintf(out + n, TIME_TEXT - (size_t)n, "%02d:%02d:%02d.%03dZ", clock / HOUR_MS,
             clock / MINUTE_MS % 60, clock / 1000 % 60, clock % 1000);
}

/* Seconds whose nanoseconds fit, with room for a difference. */
static const int64_t least_second = INT64_C(-4000000000), most_second = INT64_MAX / 1000000000 - 1;

int64_t time_ns(struct timespec t)
{
    int64_t second = t.tv_sec;

    second = second < least_second ? least_second : second > most_second ? most_second : second;
    return second * 1000000000 + t.tv_nsec;
}

int64_t time_ns_of_ms(int64_t ms)
{
    if (ms < least_second * 1000)
        ms = least_second * 1000;
    return (ms > most_second * 1000 ? most_second * 1000 : ms) * 1000000;
}

int64_t time_ms_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t time_clock_ms(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return time_ms_of(t);
}

int64_t time_coarse_ms(void)
{
#ifdef CLOCK_MONOTONIC_COARSE
    return time_clock_ms(CLOCK_MONOTONIC_COARSE);
#else
    return time_clock_ms(CLOCK_MONOTONIC);
#endif
}
