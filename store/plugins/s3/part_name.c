#include <stdio.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/plugins/s3/s3.h"

/* part-MS-HEX.jsonl */

enum { MS_DIGITS = 13, HEX_DIGITS = 6 };
#define FRONT "part-"
#define MS_MOST INT64_C(9999999999999)

int64_t s3_part_ms(const char *name)
{
    int64_t ms = 0;

    if (strncmp(name, FRONT, sizeof FRONT - 1) != 0)
        return -1;
    name += sizeof FRONT - 1;
    for (int i = 0; i < MS_DIGITS; i++) {
        if (name[i] < '0' || name[i] > '9')
            return -1;
        ms = ms * 10 + (name[i] - '0');
    }
    return name[MS_DIGITS] == '-' ? ms : -1;
}

static void write_name(int64_t ms, const char *hex, char out[S3_PART_NAME])
{
    snprintf(out, S3_PART_NAME, FRONT "%0*lld-%.*s.jsonl", MS_DIGITS, (long long)ms, HEX_DIGITS,
             hex);
}

/* A time after the newest part, even if another machine's clock is ahead of this one. */
int s3_part_now(struct s3 *s3, const struct s3_part *newest, unsigned random,
                char out[S3_PART_NAME])
{
    int64_t now = time_clock_ms(CLOCK_REALTIME);
    char hex[16];

    pthread_mutex_lock(&s3->lock);
    now = !newest || now > newest->ms ? now : newest->ms + 1;
    now = now > s3->last_ms ? now : s3->last_ms + 1;
    if (now <= MS_MOST)
        s3->last_ms = now;
    pthread_mutex_unlock(&s3->lock);
    if (now > MS_MOST)
        return REPRISE_PLUGIN_CHANGED;
    snprintf(hex, sizeof hex, "%06x", random & 0xffffffU);
    write_name(now, hex, out);
    return REPRISE_PLUGIN_OK;
}

int64_t s3_row_ms(struct slice row)
{
    struct arena a = { 0 };
    struct slice text;
    int64_t ms;

    if (!json_get_text(row, "timestamp", &a, &text) || !time_parse(text, &ms) || ms <= 0 ||
        ms > time_clock_ms(CLOCK_REALTIME))
        ms = TIME_NONE;
    arena_fini(&a);
    return ms;
}

int s3_part_chain(const struct s3_part *newest, struct slice rows, char out[S3_PART_NAME])
{
    int64_t ms = TIME_NONE;
    char sum[S3_SHA256_TEXT];
    struct slice row;
    bool torn;

    /* The time of the first row that has one. */
    while (ms == TIME_NONE && slice_line(&rows, &row, &torn))
        ms = s3_row_ms(row);
    int rc = s3_sha256(slice_of(newest ? newest->name : ""), sum);

    if (rc)
        return rc;
    if (newest && newest->ms && ms <= newest->ms)
        ms = newest->ms + 1;
    if (ms == TIME_NONE)
        return REPRISE_PLUGIN_NOT_FOUND;
    if (ms > MS_MOST)
        return REPRISE_PLUGIN_CHANGED;
    write_name(ms, sum, out);
    return REPRISE_PLUGIN_OK;
}

bool s3_part_continues(const char *name, const char *before)
{
    char sum[S3_SHA256_TEXT];

    return s3_part_ms(name) >= 0 && !s3_sha256(slice_of(before), sum) &&
           strncmp(name + sizeof FRONT - 1 + MS_DIGITS + 1, sum, HEX_DIGITS) == 0;
}
