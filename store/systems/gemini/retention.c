#include <fcntl.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/gemini/gemini.h"

/* When the program starts, it deletes sessions of the project that were last updated longer ago than
 * general.sessionRetention.maxAge of its settings, 30 days by default. Settings that do not parse (comments are allowed
 * there) and periods that the program refuses mean that the period is not known. Settings of a project may override
 * these and are not read. */

enum { SETTINGS_MAX = 4 << 20, DEFAULT_DAYS = 30, DIGITS_MOST = 6 };
static const int64_t day_ms = INT64_C(24) * 60 * 60 * 1000;

/* "30d", "24h", "1w", "2m" */
static int64_t period_of(struct slice text)
{
    int64_t n, unit;

    if (text.n < 2 || text.n > DIGITS_MOST + 1 ||
        !json_int((struct slice){ text.p, text.n - 1 }, &n) || n <= 0)
        return TIME_NONE;
    switch (text.p[text.n - 1]) {
    case 'h': unit = day_ms / 24; break;
    case 'd': unit = day_ms; break;
    case 'w': unit = 7 * day_ms; break;
    case 'm': unit = 30 * day_ms; break;
    default: return TIME_NONE;
    }
    return n * unit >= day_ms ? n * unit : TIME_NONE;
}

static int64_t read_settings(struct slice settings, struct arena *a)
{
    struct slice value;

    if (!json_valid(settings) || json_type(settings) != JSON_OBJECT ||
        (json_at(settings, "general.sessionRetention.enabled", &value) &&
         json_type(value) == JSON_FALSE))
        return TIME_NONE;
    return json_at(settings, "general.sessionRetention.maxAge", &value)
               ? period_of(json_text_of(value, a))
               : DEFAULT_DAYS * day_ms;
}

int64_t gemini_retention(const char *store)
{
    struct arena a = { 0 };
    struct buf text = { 0 };
    const char *path = arena_format(&a, "%s/settings.json", store);
    enum err_code rc =
        path ? file_read_all(AT_FDCWD, path, FILE_FOLLOW, SETTINGS_MAX, &text, NULL) : ERR_NOMEM;
    int64_t ms = rc == ERR_NOT_FOUND ? DEFAULT_DAYS * day_ms
                 : rc                ? TIME_NONE
                                     : read_settings(buf_slice(&text), &a);

    buf_fini(&text);
    arena_fini(&a);
    return ms;
}
