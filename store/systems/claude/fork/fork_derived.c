#include "store/systems/claude/fork/fork_derived.h"

#include <string.h>

#include "lite/base/utf8.h"
#include "lite/json/json.h"

#define SESSION_TYPE SLICE("\"claude_code_session\"")
#define VIA_FORK SLICE("\"fork\"")

enum { NAME_MOST = 256 };

static bool same(const struct fork_source *a, const struct fork_source *b)
{
    return slice_eq(a->type, b->type) && slice_eq(a->id, b->id) && slice_eq(a->via, b->via) &&
           slice_eq(a->started, b->started);
}

static bool copy_source_value(struct fork_derived *d, struct slice *value)
{
    if (value->n == 0)
        return true;
    *value = arena_copy(&d->arena, *value);
    return value->p != NULL;
}

static enum err_code add_source(struct fork_derived *d, struct fork_source s)
{
    for (size_t i = 0; i < d->n; i++)
        if (same(&d->source[i], &s))
            return ERR_OK;
    if (d->n == d->cap) {
        size_t cap = d->cap ? 2 * d->cap : 8;
        struct fork_source *more = arena_alloc(&d->arena, cap * sizeof *more);

        if (!more)
            return ERR_NOMEM;
        if (d->n)
            memcpy(more, d->source, d->n * sizeof *more);
        d->source = more;
        d->cap = cap;
    }
    if (!copy_source_value(d, &s.type) || !copy_source_value(d, &s.id) ||
        !copy_source_value(d, &s.via) || !copy_source_value(d, &s.started))
        return ERR_NOMEM;
    d->source[d->n++] = s;
    return ERR_OK;
}

/* A string of a reasonable length without control characters. */
static bool is_name(struct slice value)
{
    struct arena a = { 0 };
    struct slice text;
    bool fine = json_type(value) == JSON_STRING && json_text(value, &a, &text) && text.n > 0 &&
                text.n <= NAME_MOST;

    for (size_t i = 0; fine && i < text.n; i++)
        fine = (unsigned char)text.p[i] >= 0x20 && text.p[i] != 0x7f;
    arena_fini(&a);
    return fine;
}

static bool is_one_of_strings(struct slice value, const char *const names[])
{
    if (json_type(value) != JSON_STRING)
        return false;
    for (size_t i = 0; names[i]; i++)
        if (json_string_is(value, names[i]))
            return true;
    return false;
}

static bool read_source(struct slice entry, struct fork_source *s)
{
    static const char *const types[] = { "claude_code_session", "unknown", NULL };
    static const char *const vias[] = { "clear",    "fork",     "branch", "background", "cloud",
                                        "teleport", "teammate", "launch", "subprocess", "resume",
                                        "import",   "compact",  NULL };

    *s = (struct fork_source){ .started = { NULL, 0 } };
    if (json_type(entry) != JSON_OBJECT || !json_get(entry, "type", &s->type) ||
        !is_one_of_strings(s->type, types) || !json_get(entry, "via", &s->via) ||
        !is_one_of_strings(s->via, vias) || !json_get(entry, "id", &s->id))
        return false;
    if (!json_get(entry, "started", &s->started) || !is_name(s->started))
        s->started = (struct slice){ NULL, 0 };
    return json_string_is(s->type, "unknown") ? json_type(s->id) == JSON_NULL : is_name(s->id);
}

enum err_code fork_derived_read(struct fork_derived *d, struct slice row, bool *damaged)
{
    struct json_iter it;
    struct slice list = { NULL, 0 }, key, value, version;
    struct fork_source s;
    int64_t v = 0;
    bool known = json_get(row, "v", &version) && json_int(version, &v) && v == 1 &&
                 json_get(row, "sessions", &list) && json_type(list) == JSON_ARRAY;
    enum err_code rc = ERR_OK;

    if (!known)
        list = (struct slice){ NULL, 0 };
    *damaged = !known;
    for (bool more = json_iter_open(&it, list); more && json_iter_next(&it, &key, &value);)
        *damaged = *damaged || !read_source(value, &s);
    if (!*damaged)
        d->n = 0;
    d->any = true;
    for (bool more = json_iter_open(&it, list); more && json_iter_next(&it, &key, &value) && !rc;)
        if (read_source(value, &s))
            rc = add_source(d, s);
    return rc;
}

enum err_code fork_derived_copied(struct fork_derived *d, struct slice row)
{
    struct slice from, id;

    if (!json_get(row, "forkedFrom", &from) || json_type(from) != JSON_OBJECT ||
        !json_get(from, "sessionId", &id) || !is_name(id))
        return ERR_OK;
    for (size_t i = 0; i < d->n; i++)
        if (slice_eq(d->source[i].id, id))
            return ERR_OK;
    return add_source(d, (struct fork_source){ .type = SESSION_TYPE, .id = id, .via = VIA_FORK });
}

static void write_source(struct jsonout *j, const struct fork_source *s)
{
    jsonout_open(j, '{');
    jsonout_key(j, "type");
    jsonout_raw(j, s->type);
    jsonout_key(j, "id");
    jsonout_raw(j, s->id);
    jsonout_key(j, "via");
    jsonout_raw(j, s->via);
    if (s->started.n) {
        jsonout_key(j, "started");
        jsonout_raw(j, s->started);
    }
    jsonout_close(j, '}');
}

enum err_code fork_derived_write(struct fork_derived *d, struct slice from, struct jsonout *j)
{
    char *id = arena_format(&d->arena, "\"%.*s\"", SLICE_ARG(from));
    enum err_code rc = id ? add_source(d, (struct fork_source){ .type = SESSION_TYPE,
                                                                .id = { id, from.n + 2 },
                                                                .via = VIA_FORK })
                          : ERR_NOMEM;

    jsonout_open(j, '[');
    for (size_t i = 0; i < d->n && !rc; i++)
        write_source(j, &d->source[i]);
    jsonout_close(j, ']');
    return rc ? rc : j->rc;
}

void fork_derived_fini(struct fork_derived *d)
{
    arena_fini(&d->arena);
    *d = (struct fork_derived){ 0 };
}
