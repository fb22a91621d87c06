#include "store/journal/record_id.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 15 };

int64_t record_id_time(const char *id)
{
    char digits[DIGITS + 1] = "";

    if (strspn(id, "0123456789") != DIGITS)
        return 0;
    memcpy(digits, id, DIGITS);
    return strtoll(digits, NULL, 10);
}

/* A log that is not there yet has none. */
static enum err_code newest_in(const struct store_env *env, const char *log, int64_t *newest,
                               struct err *e)
{
    char dir[PATH_MAX];
    const struct dirent *x;
    enum err_code rc = env_state_path(env, log, dir, e);
    DIR *d = rc ? NULL : opendir(dir);

    if (!d)
        return rc || errno == ENOENT ? rc : err_sys(e, dir, "read directory");
    while ((errno = 0, x = readdir(d))) {
        int64_t ms = record_id_time(x->d_name);

        *newest = ms > *newest ? ms : *newest;
    }
    if (errno)
        rc = err_sys(e, dir, "read directory");
    closedir(d);
    return rc;
}

enum err_code record_id_next(const struct store_env *env, int64_t *ms, struct err *e)
{
    int64_t newest = 0;
    enum err_code rc = newest_in(env, "changes", &newest, e);

    if (!rc)
        rc = newest_in(env, "rewinds", &newest, e);
    if (!rc)
        *ms = env->now_ms > newest ? env->now_ms : newest + 1;
    return rc;
}
