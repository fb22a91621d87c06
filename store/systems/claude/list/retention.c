#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/decimal.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/claude/claude.h"

/* When the agent starts, it removes transcripts whose mtime is older than `cleanupPeriodDays` of its settings, 30 by
 * default; with 0 it writes none. If it cannot determine the period (settings that do not parse, a period that is not a
 * number, or negative) it removes nothing. The settings of the project in which it starts take precedence over those of
 * the person, a project's local ones over both, and those of an administrator over all of them.
 *
 * An administrator has two sources here: what a server sent, which the agent keeps in remote-settings.json, and
 * /etc/claude-code, where managed-settings.json comes first and then the files of managed-settings.d by name. The first
 * source alone counts otherwise, but of the periods the longest does. */
enum { DEFAULT_DAYS = 30, SETTINGS_MAX = 16 << 20, NUMBER_MAX = 32 };
#define DAY_MS (24.0 * 60 * 60 * 1000)
#define DAYS_MAX 1e7        /* longer periods never end */
#define UNSET (INT64_C(-1)) /* the files have no period */

struct retention {
    struct arena a;
    const char *odd;  /* the first file with a period that is not understood */
    const char *zero; /* the last one with 0 */
    bool failed;      /* out of memory */
};

static int64_t claude_period_of(struct slice number)
{
    char text[NUMBER_MAX];
    double days;

    if (json_type(number) != JSON_NUMBER || number.n >= sizeof text)
        return TIME_NONE;
    memcpy(text, number.p, number.n);
    text[number.n] = '\0';
    days = decimal_read(text, NULL);
    return days >= 0 && days < DAYS_MAX ? (int64_t)(days * DAY_MS) : TIME_NONE;
}

/* Sets *period if the file has one. */
static void read_period(struct retention *r, const char *dir, const char *name, int64_t *period)
{
    struct buf text = { 0 };
    struct slice value;
    const char *path = arena_format(&r->a, "%s/%s", dir, name);
    enum err_code rc =
        path ? file_read_all(AT_FDCWD, path, FILE_FOLLOW, SETTINGS_MAX, &text, NULL) : ERR_NOMEM;
    int64_t own = UNSET;

    if (rc == ERR_NOMEM)
        r->failed = true;
    else if (rc && rc != ERR_NOT_FOUND)
        own = TIME_NONE;
    else if (!rc && (!json_valid(buf_slice(&text)) || json_type(buf_slice(&text)) != JSON_OBJECT))
        own = TIME_NONE;
    else if (!rc && json_get(buf_slice(&text), "cleanupPeriodDays", &value))
        own = claude_period_of(value);
    buf_fini(&text);
    if (own == TIME_NONE && !r->odd)
        r->odd = path;
    if (own == 0)
        r->zero = path;
    if (own != UNSET)
        *period = own;
}

static int is_settings_part(const struct dirent *d)
{
    size_t n = strlen(d->d_name);

    return d->d_name[0] != '.' && n > 5 && strcmp(d->d_name + n - 5, ".json") == 0;
}

/* strcmp, because the order of alphasort depends on the locale. */
static int by_bytes(const struct dirent **x, const struct dirent **y)
{
    return strcmp((*x)->d_name, (*y)->d_name);
}

static int64_t administrators_period(struct retention *r, const struct claude_settings *places)
{
    struct dirent **part = NULL;
    int64_t sent = UNSET, own = UNSET;
    const char *dir = arena_format(&r->a, "%s/claude-code", places->etc ? places->etc : "/etc"),
               *parts = dir ? arena_format(&r->a, "%s/managed-settings.d", dir) : NULL;

    read_period(r, places->config, "remote-settings.json", &sent);
    if (!parts) {
        r->failed = true;
        return sent;
    }
    read_period(r, dir, "managed-settings.json", &own);
    int n = scandir(parts, &part, is_settings_part, by_bytes);

    for (int i = 0; i < n; i++) {
        read_period(r, parts, part[i]->d_name, &own);
        free(part[i]);
    }
    free(part);
    return sent > own ? sent : own;
}

int64_t claude_retention(const struct claude_settings *places, char **odd)
{
    struct retention r = { .odd = NULL };
    int64_t period = (int64_t)(DEFAULT_DAYS * DAY_MS);

    read_period(&r, places->config, "settings.json", &period);
    if (places->project) {
        read_period(&r, places->project, ".claude/settings.json", &period);
        read_period(&r, places->project, ".claude/settings.local.json", &period);
    }
    int64_t managed = administrators_period(&r, places);

    if (managed != UNSET)
        period = managed;
    if (r.odd || r.failed)
        period = TIME_NONE;
    const char *path = period == 0 ? r.zero : r.odd;

    *odd = path ? strdup(path) : NULL;
    arena_fini(&r.a);
    return period;
}
