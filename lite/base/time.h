#ifndef LITE_BASE_TIME_H
#define LITE_BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "lite/base/slice.h"

/* Times are milliseconds since the epoch, UTC. TIME_NONE means unknown (0 is a real time). */
#define TIME_NONE INT64_MIN

/* Reads RFC 3339 and the ISO 8601 forms that JavaScript's Date.parse reads ("2026-03-01", "…T10:00Z", six-digit
 * years, offsets, fractions of any length, which are cut to ms). A date-time without an offset is local time there
 * and is taken as UTC here. As in JavaScript, 24:00 is midnight, and a day that its month lacks runs over into the
 * next month (02-30 is 03-02). Returns false for anything else. */
bool time_parse(struct slice text, int64_t *ms);
/* "2026-03-01T10:00:02.000Z"; out needs TIME_TEXT bytes. */
enum { TIME_TEXT = 32 };
void time_format(int64_t ms, char out[TIME_TEXT]);

/* The time of a file system or clock in nanoseconds since the epoch. Times before 1843 or after 2262 are clamped, so
 * that any two may be subtracted. */
int64_t time_ns(struct timespec t);
int64_t time_ns_of_ms(int64_t ms);
/* The same in milliseconds, not clamped. */
int64_t time_ms_of(struct timespec t);

/* What CLOCK_REALTIME or CLOCK_MONOTONIC shows. */
int64_t time_clock_ms(clockid_t clock);
/* A clock that only goes forward, cheap to read and exact to a few milliseconds. */
int64_t time_coarse_ms(void);

#endif
