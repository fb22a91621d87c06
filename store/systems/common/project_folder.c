#include "store/systems/common/project_folder.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/utf8.h"

static bool kept(uint32_t cp)
{
    return (cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z') || (cp >= '0' && cp <= '9');
}

struct slice project_folder_flatten(struct slice path, struct arena *a)
{
    char *name = arena_alloc(a, path.n + 1);
    size_t n = 0;

    if (!name)
        return (struct slice){ NULL, 0 };
    /* A character never has more UTF-16 units than bytes, so the name is no longer than the path. */
    while (path.n) {
        uint32_t cp = utf8_next(&path, true);

        if (cp > 0xFFFF)
            name[n++] = '-';
        name[n++] = kept(cp) ? (char)cp : '-';
    }
    name[n] = '\0';
    return (struct slice){ name, n };
}

/* JavaScript's classic string hash: h * 31 + unit in 32 bits, over UTF-16 units. */
static uint32_t hash_add(uint32_t h, uint32_t unit)
{
    return h * 31 + unit;
}

static uint32_t path_hash(struct slice path)
{
    uint32_t h = 0;

    while (path.n) {
        uint32_t cp = utf8_next(&path, true);

        if (cp > 0xFFFF) {
            h = hash_add(h, 0xD800 + ((cp - 0x10000) >> 10));
            cp = 0xDC00 + (cp & 0x3FF);
        }
        h = hash_add(h, cp);
    }
    return h & UINT32_C(0x80000000) ? ~h + 1 : h; /* absolute value; INT32_MIN fits unsigned */
}

static size_t put_base36(uint32_t n, char out[8])
{
    char digits[8];
    size_t count = 0;

    do
        digits[count++] = "0123456789abcdefghijklmnopqrstuvwxyz"[n % 36];
    while (n /= 36);
    for (size_t i = 0; i < count; i++)
        out[i] = digits[count - 1 - i];
    out[count] = '\0';
    return count;
}

struct slice project_folder_name(struct slice path, struct arena *a)
{
    struct slice flat = project_folder_flatten(path, a);
    char hash[8];

    if (!flat.p || flat.n <= PROJECT_FOLDER_NAME_MAX)
        return flat;
    size_t n = put_base36(path_hash(path), hash), size = PROJECT_FOLDER_NAME_MAX + 1 + n;
    char *name = arena_alloc(a, size + 1);

    if (!name)
        return (struct slice){ NULL, 0 };
    snprintf(name, size + 1, "%.*s-%s", PROJECT_FOLDER_NAME_MAX, flat.p, hash);
    return (struct slice){ name, size };
}

/* The next unit of a flattened path, -1 at its end; *pending: a second '-' is due. */
static int flat_unit(struct slice *path, bool *pending)
{
    if (*pending) {
        *pending = false;
        return '-';
    }
    if (!path->n)
        return -1;
    uint32_t cp = utf8_next(path, true);

    *pending = cp > 0xFFFF;
    return kept(cp) ? (int)cp : '-';
}

bool project_folder_same(struct slice a, struct slice b)
{
    bool a_pending = false, b_pending = false;
    int unit;

    do {
        unit = flat_unit(&a, &a_pending);
        if (unit != flat_unit(&b, &b_pending))
            return false;
    } while (unit >= 0);
    return true;
}

const char *project_folder_ancestor(struct slice folder, struct slice path, struct arena *a)
{
    const size_t cut = PROJECT_FOLDER_NAME_MAX + 1; /* with the '-' behind it */

    while (path.n) {
        struct slice name = project_folder_name(path, a);

        if (!name.p)
            return NULL;
        if (slice_eq(name, folder) ||
            (name.n > cut && folder.n > cut && memcmp(name.p, folder.p, cut) == 0))
            return arena_copy(a, path).p;
        const char *slash = memrchr(path.p, '/', path.n);

        path.n = slash ? (size_t)(slash - path.p) : 0;
    }
    return NULL;
}
