#include "store/systems/goat/dialect.h"

#include <string.h>
#include <strings.h>

#include "lite/json/json.h"

enum { NAMES_MAX = 32 }; /* most names in one call */

bool goat_key_is(struct slice key, const char *name)
{
    size_t n = strlen(name);

    if (key.n == n + 2 && strncasecmp(key.p + 1, name, n) == 0)
        return true;
    return memchr(key.p, '\\', key.n) && json_string_is(key, name);
}

/* Compares the first letter before anything else; every name begins with one. */
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

/* The requested names, and their values so far. */
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

/* The index of the name that the key matches; n if the key matches no name, or if an exact spelling
 * was found before. */
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

/* goat.md B1, "order written", and B4. */
const struct goat_dialect_names goat_dialects[GOAT_DIALECTS] = {
    [GOAT_SHIPPED] = {
        .name = "shipped",
        .member = {
            { "id", GOAT_ID, false },
            { "cwd", GOAT_CWD, false },
            { "model", GOAT_MODEL, false },
            { "parent_session_id", GOAT_PARENT, true },
            { "fork_point_uuid", GOAT_FORK_POINT, true },
            { "created_at", GOAT_CREATED, false },
            { "updated_at", GOAT_UPDATED, false },
            { "message_count", GOAT_MESSAGES, false },
            { "turn_count", GOAT_TURNS, false },
            { "total_cost_usd", GOAT_COST, false },
            { "leaf_title", GOAT_TITLE, true },
            { "project_hash", GOAT_HASH, true },
            { "exit_reason", GOAT_EXIT, true },
            { "agent_name", GOAT_AGENT, true },
        },
        .blobs = "files",
        .point = "user_message_uuid", .point_time = "created_at", .files = "files",
        .path = "path", .exists = "exists", .hash = "hash", .size = "size",
    },
    [GOAT_SPEC] = {
        .name = "spec",
        .member = {
            { "id", GOAT_ID, false },
            { "project_hash", GOAT_HASH, false },
            { "cwd", GOAT_CWD, false },
            { "model", GOAT_MODEL, false },
            { "created_at", GOAT_CREATED, false },
            { "updated_at", GOAT_UPDATED, false },
            { "message_count", GOAT_MESSAGES, false },
            { "turn_count", GOAT_TURNS, false },
            { "total_tokens", GOAT_TOKENS, false },
            { "exit_reason", GOAT_EXIT, true },
            { "parent_id", GOAT_PARENT, true },
            { "agent_name", GOAT_AGENT, true },
        },
        .blobs = "files",
        .point = "UserMessageUUID", .point_time = "CreatedAt", .files = "Files",
        .path = "Path", .exists = "Exists", .hash = "Hash", .size = "Size",
        .flat = true,
    },
    [GOAT_DOC] = {
        .name = "doc",
        .member = {
            { "session_id", GOAT_ID, false },
            { "created_at", GOAT_CREATED, false },
            { "model", GOAT_MODEL, false },
            { "cwd", GOAT_CWD, false },
            { "turn_count", GOAT_TURNS, false },
            { "total_cost_usd", GOAT_COST, false },
            { "exit_reason", GOAT_EXIT, false },
            { "agent_name", GOAT_AGENT, false },
        },
        .blobs = "blobs",
        .point = "checkpoint_id", .point_time = "created_at", .files = "files",
        .path = "path", .hash = "hash",
        .flat = true,
    },
};

enum goat_dialect goat_dialect_named(struct slice name)
{
    int d = 0;

    while (d < GOAT_DIALECTS && !slice_eq(name, slice_of(goat_dialects[d].name)))
        d++;
    return (enum goat_dialect)d;
}

const char *goat_key(enum goat_dialect d, enum goat_field field)
{
    for (const struct goat_member *m = goat_dialects[d].member; m->key; m++)
        if (m->field == field)
            return m->key;
    return NULL;
}

enum goat_form goat_form(enum goat_field field)
{
    switch (field) {
    case GOAT_CREATED:
    case GOAT_UPDATED: return GOAT_TIME;
    case GOAT_MESSAGES:
    case GOAT_TURNS:
    case GOAT_TOKENS: return GOAT_INT;
    case GOAT_COST: return GOAT_FLOAT;
    default: return GOAT_TEXT;
    }
}

/* Returns true if the project's hash comes directly after the id, as only the `spec` dialect writes
 * it. */
static bool hash_is_second(struct slice object)
{
    struct json_iter it;
    struct slice key, value;

    return json_iter_open(&it, object) && json_iter_next(&it, &key, &value) &&
           goat_key_is(key, "id") && json_iter_next(&it, &key, &value) &&
           goat_key_is(key, "project_hash");
}

enum goat_dialect goat_dialect_of_metadata(struct slice object, const struct goat_telltale *has)
{
    if (has->session_id && !has->id)
        return GOAT_DOC;
    if (!has->total_cost && (has->parent_id || has->total_tokens || hash_is_second(object)))
        return GOAT_SPEC;
    return GOAT_SHIPPED;
}

enum goat_dialect goat_dialect_of_manifest(struct slice object)
{
    struct slice value;

    if (json_get(object, "checkpoint_id", &value))
        return GOAT_DOC;
    return json_get(object, "UserMessageUUID", &value) ? GOAT_SPEC : GOAT_SHIPPED;
}
