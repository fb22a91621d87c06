#include "store/systems/claude/rewind/tracked_files.h"

#include <stdlib.h>

#include "lite/json/json.h"

void claude_tracked_fini(struct claude_tracked *t)
{
    free(t->file);
    free(t->slot);
    *t = (struct claude_tracked){ 0 };
}

void claude_tracked_clear(struct claude_tracked *t)
{
    t->n = 0;
    if (t->slots)
        memset(t->slot, 0, t->slots * sizeof *t->slot);
}

/* Where the path is, or the empty slot where it belongs. */
static uint32_t *find_tracked_slot(const struct claude_tracked *t, struct id128 path)
{
    size_t i = (size_t)(path.hi ^ path.lo) & (t->slots - 1);

    while (t->slot[i] && !id128_eq(t->file[t->slot[i] - 1].path, path))
        i = (i + 1) & (t->slots - 1);
    return &t->slot[i];
}

static enum err_code grow_slots(struct claude_tracked *t)
{
    size_t slots = t->slots ? 2 * t->slots : 64;
    uint32_t *slot = calloc(slots, sizeof *slot);

    if (!slot)
        return ERR_NOMEM;
    free(t->slot);
    t->slot = slot;
    t->slots = slots;
    for (size_t i = 0; i < t->n; i++)
        *find_tracked_slot(t, t->file[i].path) = (uint32_t)i + 1;
    return ERR_OK;
}

static enum err_code grow_files(struct claude_tracked *t)
{
    size_t cap = t->cap ? 2 * t->cap : 32;
    struct claude_tracked_file *more =
        cap > UINT32_MAX / sizeof *more ? NULL : realloc(t->file, cap * sizeof *more);

    if (!more)
        return ERR_NOMEM;
    t->file = more;
    t->cap = cap;
    return ERR_OK;
}

static enum err_code hash_path_key(struct slice key, struct id128 *path)
{
    struct arena a = { 0 };
    struct slice text;
    bool ok = json_text(key, &a, &text);

    if (ok)
        *path = id128_of(text);
    arena_fini(&a);
    return ok ? ERR_OK : ERR_NOMEM;
}

enum err_code claude_tracked_set(struct claude_tracked *t, struct slice key, struct slice backup)
{
    struct id128 path;

    if (json_type(key) != JSON_STRING)
        return ERR_OK;
    if (hash_path_key(key, &path) || (t->n == t->cap && grow_files(t)) ||
        (t->n + 1 > t->slots / 2 && grow_slots(t)))
        return ERR_NOMEM;
    uint32_t *slot = find_tracked_slot(t, path);

    if (*slot) {
        t->file[*slot - 1].backup = backup;
        return ERR_OK;
    }
    t->file[t->n++] = (struct claude_tracked_file){ path, key, backup };
    *slot = (uint32_t)t->n;
    return ERR_OK;
}

enum err_code claude_tracked_read(struct claude_tracked *t, struct slice object)
{
    struct json_iter it;
    struct slice key, value;
    enum err_code rc = ERR_OK;

    if (json_type(object) != JSON_OBJECT)
        return ERR_OK;
    for (bool more = json_iter_open(&it, object); more && !rc && json_iter_next(&it, &key, &value);)
        rc = claude_tracked_set(t, key, value);
    return rc;
}

void claude_tracked_write(const struct claude_tracked *t, struct jsonout *j)
{
    jsonout_open(j, '{');
    for (size_t i = 0; i < t->n; i++) {
        jsonout_raw_key(j, t->file[i].key);
        jsonout_raw(j, t->file[i].backup);
    }
    jsonout_close(j, '}');
}
