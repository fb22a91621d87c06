#include "store/systems/goat/members.h"

#include <string.h>
#include <strings.h>

#include "lite/json/json.h"

enum { NAMES_MAX = 32 }; /* that anybody asks for at once */

bool goat_key_is(struct slice key, const char *name)
{
    size_t n = strlen(name);

    if (key.n == n + 2 && strncasecmp(key.p + 1, name, n) == 0)
        return true;
    return memchr(key.p, '\\', key.n) && json_string_is(key, name);
}

/* Names are told apart by their first letter before anything is compared; they begin with one. */
static bool key_matches(struct slice key, const char *name, bool escaped, bool *exact)
{
    size_t n = key.n - 2;

    if (escaped) {
        *exact = json_string_is(key, name);
        return *exact;
    }
    if ((key.p[1] | 0x20) != (name[0] | 0x20) || strncasecmp(key.p + 1, name, n) != 0 || name[n])
        return false;
    *exact = memcmp(key.p + 1, name, n) == 0;
    return true;
}

/* What is asked for, and what was found of it. */
struct asked {
    const char *const *name;
    size_t n;
    struct slice *value;
    bool exact[NAMES_MAX];
};

static void clear_values(struct asked *a)
{
    for (size_t i = 0; i < a->n; i++) {
        a->value[i] = (struct slice){ NULL, 0 };
        a->exact[i] = false;
    }
}

/* The place that a member of this name takes; n: none, or what is there is better. */
static size_t member_index(struct asked *a, struct slice key)
{
    bool escaped = memchr(key.p, '\\', key.n) != NULL, exact;

    for (size_t i = 0; i < a->n; i++) {
        if (!key_matches(key, a->name[i], escaped, &exact))
            continue;
        if (!exact && a->exact[i])
            return a->n;
        a->exact[i] |= exact;
        return i;
    }
    return a->n;
}

static void read_named_members(struct json_iter *it, struct asked *a)
{
    struct slice key, found;

    while (json_iter_next(it, &key, &found)) {
        size_t i = member_index(a, key);

        if (i < a->n)
            a->value[i] = found;
    }
}

void goat_members(struct slice object, const char *const name[], size_t n, struct slice value[])
{
    struct asked a = { .name = name, .n = n, .value = value };
    struct json_iter it;

    clear_values(&a);
    if (json_type(object) == JSON_OBJECT && json_iter_open(&it, object))
        read_named_members(&it, &a);
}

void goat_members_both(struct slice object, const char *const name[], size_t n,
                       struct slice value[], size_t within, struct slice inside[])
{
    struct asked outer = { .name = name, .n = n, .value = value };
    struct asked inner = { .name = name, .n = n, .value = inside };
    struct json_iter it, below;
    struct slice key, found;

    clear_values(&outer);
    clear_values(&inner);
    if (json_type(object) != JSON_OBJECT || !json_iter_open(&it, object))
        return;
    while (json_iter_key(&it, &key)) {
        size_t i = member_index(&outer, key);
        bool into = i == within && json_iter_into(&it, &below) && below.object;

        if (i == within)
            clear_values(&inner);
        if (into)
            read_named_members(&below, &inner);
        if (!(into ? json_iter_back(&it, &below, &found) : json_iter_value(&it, &found)))
            break;
        if (i < n)
            value[i] = found;
    }
}
