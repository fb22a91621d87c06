#include "store/systems/goat/members.h"

#include <string.h>
#include <strings.h>

#include "lite/json.h"

enum { NAMES_MAX = 32 };

bool goat_key_is(struct slice key, const char *name)
{
    size_t n = strlen(name);

    if (key.n == n + 2 && strncasecmp(key.p + 1, name, n) == 0)
        return true;
    return memchr(key.p, '\\', key.n) && json_string_is(key, name);
}

static bool is_exactly(struct slice key, const char *name)
{
    return json_string_is(key, name);
}

void goat_members(struct slice object, const char *const name[], size_t n, struct slice value[])
{
    struct json_iter it;
    struct slice key, found;
    bool exact[NAMES_MAX] = { false };

    for (size_t i = 0; i < n; i++)
        value[i] = (struct slice){ NULL, 0 };
    if (json_type(object) != JSON_OBJECT || !json_iter_open(&it, object))
        return;
    while (json_iter_next(&it, &key, &found))
        for (size_t i = 0; i < n && i < NAMES_MAX; i++) {
            if (!goat_key_is(key, name[i]))
                continue;
            bool same = is_exactly(key, name[i]);

            if (same || !exact[i])
                value[i] = found;
            exact[i] |= same;
            break;
        }
}
