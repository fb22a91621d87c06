#ifndef TUI_TEXT_HUMAN_H
#define TUI_TEXT_HUMAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/base/time.h"

/* "832 B", "14 KB", "3.2 MB": at most seven columns, in steps of 1024. */
enum { HUMAN_SIZE = 16 };
void human_size(int64_t bytes, char out[HUMAN_SIZE]);

/* "10M", "500k", "3GB": a whole number of at most nine digits with k, M, G or T, in steps of 1024. */
bool human_size_parse(struct slice text, int64_t *bytes);

/* "832", "14.2k", "3.2M", "120M": at most five columns, in steps of 1000. */
enum { HUMAN_COUNT = 16 };
void human_count(int64_t n, char out[HUMAN_COUNT]);

/* Times as people write and read them. */

/* "now", "5m ago", "2h ago", "3d ago", "3w ago"; after four weeks the local date: "Jan 07", or "Jan 2025" in another year;
 * "?" for a time that is not known or is more than a day in the future (a clock that jumped). */
enum { HUMAN_AGE = 16, HUMAN_AGE_COLUMNS = 8 };
void human_age(int64_t now_ms, int64_t then_ms, char out[HUMAN_AGE]);
/* The same for narrow columns: "5m", "3w", "Jan 07", "Jan'25". */
enum { HUMAN_AGE_SHORT_COLUMNS = 6 };
void human_age_short(int64_t now_ms, int64_t then_ms, char out[HUMAN_AGE]);
/* "2026-11-22 14:03" in local time; "" for an unknown time. Returns `out`. */
enum { HUMAN_DATE = 32 };
const char *human_date(int64_t ms, char out[HUMAN_DATE]);
/* The same without the time of day; the week of ISO 8601, "2026-W48"; the month, "2026-11". */
const char *human_day(int64_t ms, char out[HUMAN_DATE]);
const char *human_week(int64_t ms, char out[HUMAN_DATE]);
const char *human_month(int64_t ms, char out[HUMAN_DATE]);

/* How long something took: "45s", "3m 20s", "5h 3m", "3d 4h". */
enum { HUMAN_TOOK = 32 };
void human_took(int64_t ms, char out[HUMAN_TOOK]);

/* The time left if it is less than a week: "expires 6d", "expires 5h", or "expires" once it has passed.
 * Returns false if there is more time, or no limit. */
enum { HUMAN_TIME_LEFT = 12 };
bool human_time_left(int64_t now_ms, int64_t until_ms, char out[HUMAN_TIME_LEFT]);

/* "30m", "12h", "3d", "2w", "6mo", "1y" before now; "today", "yesterday"; a date ("2026-03-01": its
 * local midnight) or a time of RFC 3339. Returns false for any other text. */
bool human_time_parse(struct slice text, int64_t now_ms, int64_t *ms);

/* ---- errors (sentence.c) ---- */

/* Writes what failed as a person reads it, in a command and on the screen: "cannot VERB OBJECT: REASON (STATE)", or the
 * word that was typed and what is wrong with it; always NUL-terminated. The path is data: clean the text before it is
 * printed. Returns where in `out` the path is, so that a narrow screen can cut it and not the reason; empty if it is not
 * there, or is a word that was typed. */
struct slice err_sentence(const struct err *e, char *out, size_t cap);

#endif
