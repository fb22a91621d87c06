#include "store/systems/entire/names.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/digest.h"
#include "lite/base/id.h"
#include "lite/json/json.h"

enum { SESSION_ID_MAX = NAME_MAX - 16 };

static bool is_lower_hex(struct slice text)
{
    return text.n > 0 && slice_is_of(text, "0123456789abcdef");
}

static bool entire_is_dots(struct slice part)
{
    return slice_eq(part, SLICE(".")) || slice_eq(part, SLICE(".."));
}

bool entire_session_id_ok(struct slice id)
{
    if (id.n == 0 || id.n > SESSION_ID_MAX || entire_is_dots(id))
        return false;
    for (size_t i = 0; i < id.n; i++)
        if ((unsigned char)id.p[i] < 0x20 || id.p[i] == 0x7f || id.p[i] == '/' || id.p[i] == '\\')
            return false;
    return true;
}

struct slice entire_agent_id(struct slice id)
{
    static const char date[] = "dddd-dd-dd-";
    size_t n = sizeof date - 1;
    struct id128 ignored;

    if (id.n != n + 36 || !id128_uuid(id.p + n, &ignored))
        return id;
    for (size_t i = 0; i < n; i++)
        if (date[i] == 'd' ? id.p[i] < '0' || id.p[i] > '9' : id.p[i] != date[i])
            return id;
    return (struct slice){ id.p + n, id.n - n };
}

bool entire_checkpoint_id_ok(struct slice id)
{
    if (id.n == ENTIRE_HEX_ID)
        return is_lower_hex(id);
    /* A ULID is written in Crockford's base 32, which has no I, L, O and U, and its first digit has three bits. */
    return id.n == ENTIRE_ULID && id.p[0] <= '7' &&
           slice_is_of(id, "0123456789ABCDEFGHJKMNPQRSTVWXYZ");
}

bool entire_tool_id_ok(struct slice id)
{
    return id.n > 0 && id.n <= NAME_MAX / 2 &&
           slice_is_of(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
}

void entire_hash6(struct slice worktree_id, char out[ENTIRE_HASH6 + 1])
{
    uint8_t hash[SHA256_BYTES];

    out[0] = '\0';
    if (digest_of(DIGEST_SHA256, worktree_id, hash))
        digest_hex(hash, ENTIRE_HASH6 / 2, out);
}

void entire_shadow_name(struct slice base, struct slice worktree_id, char out[ENTIRE_SHADOW_NAME])
{
    char hash[ENTIRE_HASH6 + 1];

    if (base.n > ENTIRE_SHORT_COMMIT)
        base.n = ENTIRE_SHORT_COMMIT;
    entire_hash6(worktree_id, hash);
    out[0] = '\0';
    if (hash[0])
        snprintf(out, ENTIRE_SHADOW_NAME, "entire/%.*s-%s", SLICE_ARG(base), hash);
}

enum entire_shape entire_shadow_shape(struct slice branch)
{
    static const char front[] = "entire/";
    size_t n = sizeof front - 1;

    if (!slice_starts(branch, front))
        return ENTIRE_NO_SHADOW;
    struct slice name = { branch.p + n, branch.n - n };
    const char *dash = name.n ? memrchr(name.p, '-', name.n) : NULL;
    struct slice base = { name.p, dash ? (size_t)(dash - name.p) : name.n };

    if (base.n < ENTIRE_SHORT_COMMIT || !is_lower_hex(base))
        return ENTIRE_NO_SHADOW;
    if (!dash)
        return ENTIRE_SHADOW_OLD;
    struct slice hash = { dash + 1, name.n - base.n - 1 };

    return hash.n == ENTIRE_HASH6 && is_lower_hex(hash) ? ENTIRE_SHADOW : ENTIRE_NO_SHADOW;
}

bool entire_ref_checkpoint(struct slice ref, struct slice *id)
{
    static const char front[] = ENTIRE_REFS;
    size_t n = sizeof front - 1;

    if (!slice_starts(ref, front) || ref.n < n + 3 || ref.p[n + 2] != '/')
        return false;
    struct slice name = { ref.p + n + 3, ref.n - n - 3 };

    if (!entire_checkpoint_id_ok(name) || memcmp(ref.p + n, name.p + name.n - 2, 2) != 0)
        return false;
    *id = name;
    return true;
}

/* Cuts "<part>/" off the front. */
static bool drop_part(struct slice *path, struct slice part)
{
    if (path->n <= part.n || memcmp(path->p, part.p, part.n) != 0 || path->p[part.n] != '/')
        return false;
    path->p += part.n + 1;
    path->n -= part.n + 1;
    return true;
}

/* Returns true if no part of the path is empty, "." or "..". */
static bool has_plain_parts(struct slice path)
{
    while (path.n) {
        const char *slash = memchr(path.p, '/', path.n);
        struct slice part = { path.p, slash ? (size_t)(slash - path.p) : path.n };

        if (part.n == 0 || entire_is_dots(part) || memchr(part.p, '\0', part.n))
            return false;
        if (!slash)
            return true;
        path.n -= part.n + 1;
        path.p += part.n + 1;
    }
    return false;
}

bool entire_inner_path(struct slice named, struct slice id, struct slice *inner)
{
    struct slice path = named, shard = { id.p, 2 }, rest = { id.p + 2, id.n - 2 };

    assert(entire_checkpoint_id_ok(id));
    if (path.n && path.p[0] == '/') {
        path.p++;
        path.n--;
    }
    if ((drop_part(&path, shard) && !drop_part(&path, rest)) || !has_plain_parts(path) ||
        path.n > 512)
        return false;
    *inner = path;
    return true;
}

/* ---- trailers ---- */

static bool is_trailer_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct slice entire_trim(struct slice text)
{
    while (text.n && is_trailer_blank(text.p[0])) {
        text.p++;
        text.n--;
    }
    while (text.n && is_trailer_blank(text.p[text.n - 1]))
        text.n--;
    return text;
}

/* Finds the next value of the key in *rest and cuts *rest after it. An empty value stays empty,
 * although Entire's own reader would take the next line for it. */
static bool next_trailer(struct slice *rest, const char *key, struct slice *value)
{
    size_t n = strlen(key);

    while (rest->n) {
        const char *at = slice_find(rest->p, rest->n, key, n);

        if (!at)
            return false;
        struct slice line = { at + n, rest->n - (size_t)(at + n - rest->p) };
        const char *end = line.n ? memchr(line.p, '\n', line.n) : NULL;

        *rest = line;
        if (line.n == 0 || line.p[0] != ':')
            continue;
        if (end) {
            line.n = (size_t)(end - line.p);
            *rest = (struct slice){ end + 1, rest->n - line.n - 1 };
        } else {
            rest->n = 0;
        }
        *value = entire_trim((struct slice){ line.p + 1, line.n - 1 });
        return true;
    }
    return false;
}

struct slice entire_trailer_first(struct slice message, const char *key)
{
    struct slice value = SLICE("");

    return next_trailer(&message, key, &value) ? value : SLICE("");
}

bool entire_trailer_checkpoint(struct slice *rest, struct slice *id)
{
    struct slice value;

    while (next_trailer(rest, TRAILER_CHECKPOINT, &value)) {
        size_t n = 0;

        while (n < value.n && !is_trailer_blank(value.p[n]))
            n++;
        value.n = n;
        if (entire_checkpoint_id_ok(value)) {
            *id = value;
            return true;
        }
    }
    return false;
}

struct slice entire_subject(struct slice message)
{
    struct slice line = SLICE("");
    bool torn;

    while (slice_line(&message, &line, &torn)) {
        line = entire_trim(line);
        if (line.n)
            return line;
    }
    return line;
}

/* ---- sets of file names ---- */

bool names_add(struct names_list *l, struct slice name)
{
    size_t at = 0, high = l->n;
    struct slice *more, copy;

    /* Find the place of the name in the sorted list. */
    while (at < high) {
        size_t middle = at + (high - at) / 2;

        if (slice_compare(l->name[middle], name) < 0)
            at = middle + 1;
        else
            high = middle;
    }
    if (at < l->n && slice_eq(l->name[at], name))
        return true;

    more = arena_grow(l->a, l->name, l->n, sizeof *more);
    copy = arena_copy(l->a, name);
    if (!more || !copy.p)
        return false;
    l->name = more;
    memmove(more + at + 1, more + at, (l->n++ - at) * sizeof *more);
    more[at] = copy;
    return true;
}

bool names_add_json(struct names_list *l, struct slice array)
{
    struct json_iter it;
    struct slice key, value, text;
    bool ok = true;

    if (json_type(array) != JSON_ARRAY || !json_iter_open(&it, array))
        return true;
    while (ok && json_iter_next(&it, &key, &value))
        if (json_type(value) == JSON_STRING)
            ok = json_text(value, l->a, &text) && names_add(l, text);
    return ok;
}
