#include <string.h>

#include "lite/base/arena.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"

/* JSON Merge Patch (RFC 7396). */

enum { DEEPEST = 256 };

struct merging {
    struct jsonout j;
    struct arena a; /* decoded keys */
    enum err_code rc;
};

static void merge_value(struct merging *m, struct slice target, struct slice patch, int depth);

/* A key that cannot be decoded (out of memory) equals no other. */
static bool same_key(struct merging *m, struct slice a, struct slice b)
{
    struct slice one, two;

    if (slice_eq(a, b))
        return true;
    if (!memchr(a.p, '\\', a.n) && !memchr(b.p, '\\', b.n))
        return false;
    if (!json_text(a, &m->a, &one) || !json_text(b, &m->a, &two)) {
        m->rc = ERR_NOMEM;
        return false;
    }
    return slice_eq(one, two);
}

/* The last member with this key; false if the object has no such member. */
static bool find_member(struct merging *m, struct slice object, struct slice key,
                        struct slice *value)
{
    struct slice other, v;
    struct json_iter it;
    bool found = false;

    if (json_type(object) != JSON_OBJECT || !json_iter_open(&it, object))
        return false;
    while (json_iter_next(&it, &other, &v))
        if (same_key(m, key, other)) {
            *value = v;
            found = true;
        }
    return found;
}

/* Returns true if no later member has the same key: only that one counts. */
static bool counts(struct merging *m, struct json_iter rest, struct slice key)
{
    struct slice other, value;

    while (json_iter_next(&rest, &other, &value))
        if (same_key(m, key, other))
            return false;
    return true;
}

static void merge_member(struct merging *m, struct slice key, struct slice old, struct slice patch,
                         int depth)
{
    if (json_type(patch) == JSON_NULL)
        return;
    jsonout_raw_key(&m->j, key);
    merge_value(m, old, patch, depth);
}

/* Members of the target keep their places, and those that only the patch has are added after
 * them. */
static void merge_objects(struct merging *m, struct slice target, struct slice patch, int depth)
{
    struct slice key, value, change;
    struct json_iter it;

    jsonout_open(&m->j, '{');
    if (json_type(target) == JSON_OBJECT && json_iter_open(&it, target))
        while (!m->rc && json_iter_next(&it, &key, &value)) {
            if (!counts(m, it, key))
                continue;
            if (find_member(m, patch, key, &change)) {
                merge_member(m, key, value, change, depth);
            } else {
                jsonout_raw_key(&m->j, key);
                jsonout_raw(&m->j, value);
            }
        }
    for (bool more = json_iter_open(&it, patch);
         more && !m->rc && json_iter_next(&it, &key, &change);)
        if (counts(m, it, key) && !find_member(m, target, key, &value))
            merge_member(m, key, (struct slice){ NULL, 0 }, change, depth);
    jsonout_close(&m->j, '}');
}

static void merge_value(struct merging *m, struct slice target, struct slice patch, int depth)
{
    if (depth == 0)
        m->rc = ERR_USAGE;
    else if (json_type(patch) != JSON_OBJECT)
        jsonout_raw(&m->j, patch);
    else
        merge_objects(m, target, patch, depth - 1);
}

enum err_code json_merge(struct buf *out, struct slice target, struct slice patch)
{
    struct merging m = { .rc = ERR_OK };

    jsonout_init(&m.j, out);
    merge_value(&m, target, patch, DEEPEST);
    arena_fini(&m.a);
    return m.rc ? m.rc : m.j.rc;
}
