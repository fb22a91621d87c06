#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/buf.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/claude/claude.h"

/* When the agent starts, it removes transcripts whose mtime is older than `cleanupPeriodDays` of its settings, 30 when
 * they do not say. Where it cannot tell the period (settings that do not parse, a period that is none) it removes
 * nothing. Settings of a project or of an administrator may say otherwise; they are not looked at. */
enum { DEFAULT_DAYS = 30, SETTINGS_MAX = 16 << 20, NUMBER_MAX = 32 };
#define DAY_MS (24.0 * 60 * 60 * 1000)
#define DAYS_MAX 1e7 /* what is beyond never comes */

static int64_t period_of(struct slice number)
{
    char text[NUMBER_MAX];
    double days;

    if (json_type(number) != JSON_NUMBER || number.n >= sizeof text)
        return TIME_NONE;
    memcpy(text, number.p, number.n);
    text[number.n] = '\0';
    days = strtod(text, NULL);
    return days > 0 && days < DAYS_MAX ? (int64_t)(days * DAY_MS) : TIME_NONE;
}

int64_t claude_retention(const char *config)
{
    struct buf path = { 0 }, text = { 0 };
    struct slice value;
    int64_t period = (int64_t)(DEFAULT_DAYS * DAY_MS);
    enum err_code rc = buf_addf(&path, "%s/settings.json", config);

    if (rc || !buf_cstr(&path))
        rc = ERR_NOMEM;
    else
        rc = file_read_all(AT_FDCWD, path.p, FILE_FOLLOW, SETTINGS_MAX, &text, NULL);
    if (rc)
        period = rc == ERR_NOT_FOUND ? period : TIME_NONE;
    else if (!json_valid(buf_slice(&text)) || json_type(buf_slice(&text)) != JSON_OBJECT)
        period = TIME_NONE;
    else if (json_get(buf_slice(&text), "cleanupPeriodDays", &value))
        period = period_of(value);
    buf_fini(&path);
    buf_fini(&text);
    return period;
}
