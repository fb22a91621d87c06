#include "store/systems/goat/members.h"

#include <string.h>
#include <strings.h>

#include "lite/json.h"

enum { NAMES_MAX = 32 }; /* that anybody asks for at once */

bool goat_key_is(struct slice key, const char *name)
{
    size_t n = strlen(name);

    if (key.n == n + 2 && strncasecmp(key.p + 1, name, n) == 0)
        return true;
    return memchr(key.p, '\\', key.n) && json_string_is(key, name);
}

/* Names are told apart by length and first letter before anything is compared. */
static bool says(struct slice key, const char *name, size_t n, bool escaped, bool *exact)
{
    if (escaped) {
        *exact = json_string_is(key, name);
        return *exact;
    }
    if (key.n != n + 2 || (key.p[1] | 0x20) != (name[0] | 0x20) ||
        strncasecmp(key.p + 1, name, n) != 0)
        return false;
    *exact = memcmp(key.p + 1, name, n) == 0;
    return true;
}

void goat_members(struct slice object, const char *const name[], size_t n, struct slice value[])
{
    struct json_iter it;
    struct slice key, found;
    bool exact[NAMES_MAX] = { false }, same;
    size_t length[NAMES_MAX];

    for (size_t i = 0; i < n; i++) {
        value[i] = (struct slice){ NULL, 0 };
        length[i] = strlen(name[i]);
    }
    if (json_type(object) != JSON_OBJECT || !json_iter_open(&it, object))
        return;
    while (json_iter_next(&it, &key, &found)) {
        bool escaped = memchr(key.p, '\\', key.n) != NULL;

        for (size_t i = 0; i < n; i++) {
            if (!says(key, name[i], length[i], escaped, &same))
                continue;
            if (same || !exact[i])
                value[i] = found;
            exact[i] |= same;
            break;
        }
    }
}
