#include "tui/text/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void human_size(int64_t bytes, char out[HUMAN_SIZE])
{
    static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB", "EB" };
    double n = bytes > 0 ? (double)bytes : 0;
    size_t unit = 0;

    for (; n >= 1023.5 && unit + 1 < sizeof units / sizeof *units; unit++)
        n /= 1024;
    snprintf(out, HUMAN_SIZE, unit > 0 && n < 9.95 ? "%.1f %s" : "%.0f %s", n, units[unit]);
}

void human_count(int64_t n, char out[HUMAN_COUNT])
{
    static const char units[] = " kMGTPE";
    double x = n > 0 ? (double)n : 0;
    size_t unit = 0;

    for (; x >= (unit ? 999.5 : 1000) && units[unit + 1]; unit++)
        x /= 1000;
    if (unit == 0)
        snprintf(out, HUMAN_COUNT, "%.0f", x);
    else
        snprintf(out, HUMAN_COUNT, x < 99.95 ? "%.1f%c" : "%.0f%c", x, units[unit]);
}

/* Cuts digits off the front. Returns false for no digits or far too many. */
static bool cut_number(struct slice *rest, int64_t *out)
{
    int64_t n = 0;
    size_t i = 0;

    for (; i < rest->n && rest->p[i] >= '0' && rest->p[i] <= '9'; i++) {
        if (i == 9)
            return false;
        n = n * 10 + (rest->p[i] - '0');
    }
    *rest = (struct slice){ rest->p + i, rest->n - i };
    *out = n;
    return i > 0;
}

bool human_size_parse(struct slice text, int64_t *bytes)
{
    static const char units[] = "kmgt";
    int64_t n;

    if (!cut_number(&text, &n))
        return false;
    if (text.n > 0 && (text.p[text.n - 1] == 'b' || text.p[text.n - 1] == 'B'))
        text.n--;
    if (text.n == 0) {
        *bytes = n;
        return true;
    }
    const char *unit = text.p[0] ? strchr(units, text.p[0] | 0x20) : NULL;

    if (text.n != 1 || !unit || *unit == '\0' || n > INT64_MAX >> 10 * (unit - units + 1))
        return false;
    *bytes = n << 10 * (unit - units + 1);
    return true;
}

enum {
    MINUTE = 60 * 1000,
    HOUR = 60 * MINUTE,
    DAY = 24 * HOUR,
};
#define WEEK (INT64_C(7) * DAY)
#define MONTH (INT64_C(30) * DAY)
#define YEAR (INT64_C(365) * DAY)

/* Largest first: an age is written in the first unit that it reaches. */
static const struct {
    int64_t ms;
    const char *name;
} units[] = {
    { YEAR, "y" }, { MONTH, "mo" }, { WEEK, "w" }, { DAY, "d" }, { HOUR, "h" }, { MINUTE, "m" },
};
enum { UNITS = sizeof units / sizeof units[0] };

/* "Jan 07", or "Jan 2025" in another year, in local time: after weeks, ages of many rows would be the same. Returns false
 * if the time has no local date. */
static bool age_date(int64_t now_ms, int64_t then_ms, char out[HUMAN_AGE])
{
    static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    time_t now = (time_t)(now_ms / 1000), then = (time_t)(then_ms / 1000);
    struct tm today, day;

    if (!localtime_r(&now, &today) || !localtime_r(&then, &day))
        return false;
    if (day.tm_year == today.tm_year)
        snprintf(out, HUMAN_AGE, "%s %02d", months[day.tm_mon], day.tm_mday);
    else
        snprintf(out, HUMAN_AGE, "%s %d", months[day.tm_mon], day.tm_year + 1900);
    return true;
}

void human_age(int64_t now_ms, int64_t then_ms, char out[HUMAN_AGE])
{
    /* An age would be misleading. */
    if (then_ms == TIME_NONE || then_ms <= 0 || then_ms > now_ms + DAY) {
        snprintf(out, HUMAN_AGE, "?");
        return;
    }
    const int64_t age = then_ms > now_ms ? 0 : now_ms - then_ms;

    if (age >= 4 * WEEK && age_date(now_ms, then_ms, out))
        return;
    size_t unit = 0;

    while (unit < UNITS && age < units[unit].ms)
        unit++;
    if (unit == UNITS) {
        snprintf(out, HUMAN_AGE, "now");
        return;
    }
    snprintf(out, HUMAN_AGE, "%d%s ago", (int)(age / units[unit].ms % 10000), units[unit].name);
}

void human_age_short(int64_t now_ms, int64_t then_ms, char out[HUMAN_AGE])
{
    human_age(now_ms, then_ms, out);
    char *second = strchr(out, ' ');

    if (!second)
        return;
    if (strcmp(second, " ago") == 0)
        *second = '\0';
    else if (strlen(second) == sizeof " 2025" - 1) {
        *second = '\'';
        memmove(second + 1, second + 3, 3);
    }
}

static const char *format_local(int64_t ms, const char *format, char out[HUMAN_DATE])
{
    time_t t = (time_t)(ms / 1000);
    struct tm day;

    if (ms == TIME_NONE || ms <= 0 || !localtime_r(&t, &day) ||
        strftime(out, HUMAN_DATE, format, &day) == 0)
        out[0] = '\0';
    return out;
}

const char *human_date(int64_t ms, char out[HUMAN_DATE])
{
    return format_local(ms, "%Y-%m-%d %H:%M", out);
}

const char *human_day(int64_t ms, char out[HUMAN_DATE])
{
    return format_local(ms, "%Y-%m-%d", out);
}

const char *human_week(int64_t ms, char out[HUMAN_DATE])
{
    return format_local(ms, "%G-W%V", out);
}

const char *human_month(int64_t ms, char out[HUMAN_DATE])
{
    return format_local(ms, "%Y-%m", out);
}

void human_took(int64_t ms, char out[HUMAN_TOOK])
{
    const int64_t second = ms / 1000, minute = second / 60, hour = minute / 60;

    if (second < 60)
        snprintf(out, HUMAN_TOOK, "%" PRId64 "s", second);
    else if (minute < 60)
        snprintf(out, HUMAN_TOOK, "%" PRId64 "m %" PRId64 "s", minute, second % 60);
    else if (hour < 48)
        snprintf(out, HUMAN_TOOK, "%" PRId64 "h %" PRId64 "m", hour, minute % 60);
    else
        snprintf(out, HUMAN_TOOK, "%" PRId64 "d %" PRId64 "h", hour / 24, hour % 24);
}

bool human_time_left(int64_t now_ms, int64_t until_ms, char out[HUMAN_TIME_LEFT])
{
    if (until_ms == TIME_NONE || until_ms - now_ms >= WEEK)
        return false;
    int64_t hours = (until_ms - now_ms) / HOUR;

    if (until_ms <= now_ms)
        snprintf(out, HUMAN_TIME_LEFT, "expires");
    else if (hours < 24)
        snprintf(out, HUMAN_TIME_LEFT, "expires %dh", (int)hours);
    else
        snprintf(out, HUMAN_TIME_LEFT, "expires %dd", (int)(hours / 24));
    return true;
}

/* The local midnight at which the day of `ms` begins, `days` days later. */
static int64_t midnight(int64_t ms, int days)
{
    time_t t = (time_t)(ms / 1000);
    struct tm day;

    if (!localtime_r(&t, &day))
        return ms;
    day.tm_hour = day.tm_min = day.tm_sec = 0;
    day.tm_mday += days;
    day.tm_isdst = -1;
    return (int64_t)mktime(&day) * 1000;
}

static bool parse_back(struct slice text, int64_t now_ms, int64_t *ms)
{
    int64_t n = 0;
    size_t i = 0;

    while (i < text.n && i < 6 && text.p[i] >= '0' && text.p[i] <= '9')
        n = n * 10 + (text.p[i++] - '0');
    struct slice unit = { text.p + i, text.n - i };

    for (size_t k = 0; i > 0 && k < UNITS; k++)
        if (slice_eq(unit, slice_of(units[k].name))) {
            *ms = now_ms - n * units[k].ms;
            return true;
        }
    return false;
}

bool human_time_parse(struct slice text, int64_t now_ms, int64_t *ms)
{
    if (slice_eq(text, SLICE("today")) || slice_eq(text, SLICE("yesterday"))) {
        *ms = midnight(now_ms, slice_eq(text, SLICE("today")) ? 0 : -1);
        return true;
    }

    /* A date without a time means local midnight, not midnight in UTC. */
    if (parse_back(text, now_ms, ms))
        return true;

    char date[11];
    struct tm day = { .tm_isdst = -1 };
    int64_t utc;

    if (!time_parse(text, &utc))
        return false;
    if (text.n != 10) {
        *ms = utc;
        return true;
    }
    memcpy(date, text.p, 10);
    date[10] = '\0';
    if (!strptime(date, "%Y-%m-%d", &day))
        return false;
    *ms = (int64_t)mktime(&day) * 1000;
    return true;
}
