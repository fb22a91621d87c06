#include "store/systems/copilot/copilot.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/fs/path.h"

enum { INDEX_MAX = 64 << 20, HASH = 64, SCHEMA = 1 };

struct reading {
    struct copilot_snapshots *out;
    const char *backups;
};

static const char digits[] = "0123456789abcdef";

static struct slice encoded_path(struct slice image, struct arena *a)
{
    struct slice encoding = json_text_at(image, "encodedPath.encoding", a);

    if (!slice_eq(encoding, SLICE("unix-bytes")))
        return (struct slice){ NULL, 0 };
    /* The bytes of a path, which need not be UTF-8. */
    struct slice hex = json_text_at(image, "encodedPath.data", a);
    char *out =
        !hex.n || hex.n % 2 || !slice_is_of(hex, digits) ? NULL : arena_alloc(a, hex.n / 2 + 1);

    if (!out)
        return (struct slice){ NULL, 0 };
    for (size_t i = 0; i < hex.n / 2; i++)
        out[i] = (char)(slice_hex_digit(hex.p[2 * i]) * 16 + slice_hex_digit(hex.p[2 * i + 1]));
    return (struct slice){ out, hex.n / 2 };
}

static struct copilot_state copilot_read_state(const struct reading *r, struct slice image)
{
    struct arena *a = &r->out->arena;
    struct copilot_state s = { .was = COPILOT_UNKNOWN };
    struct slice kind = json_text_at(image, "kind", a),
                 hash = json_text_at(image, "contentHash", a),
                 backup = json_text_at(image, "backupFile", a), mode;
    int64_t bits;

    if (slice_eq(kind, SLICE("absent")))
        s.was = COPILOT_ABSENT;
    if (!slice_eq(kind, SLICE("content")) || hash.n != HASH || !slice_is_of(hash, digits))
        return s;
    s.was = COPILOT_CONTENT;
    s.hash = arena_copy(a, hash).p;
    if (backup.n == HASH && slice_is_of(backup, digits))
        s.backup = arena_format(a, "%s/%.*s", r->backups, SLICE_ARG(backup));
    if (json_get(image, "mode", &mode) && json_int(mode, &bits) && bits > 0 && bits <= 0177777)
        s.mode = (uint32_t)bits;
    return s;
}

static void copilot_snapshots_add_file(const struct reading *r, struct copilot_snapshot *to,
                                       struct slice value)
{
    struct arena *a = &r->out->arena;
    struct slice before = { NULL, 0 }, after = { NULL, 0 }, path;
    struct copilot_file *list = arena_grow(a, to->file, to->n, sizeof *list);

    json_get(value, "preimage", &before);
    json_get(value, "postimage", &after);
    path = json_text_at(value, "path", a);
    if (slice_has(path, "\xef\xbf\xbd")) /* its bytes are no UTF-8 */
        path = encoded_path(before, a);
    if (!path.n)
        path = encoded_path(after, a);
    if (!list || !path.n || path.p[0] != '/' || memchr(path.p, '\0', path.n))
        return;
    path = arena_copy(a, path);
    const char *clean = path.p ? path_normalize("", path.p, a) : NULL;

    if (!clean)
        return;
    to->file = list;
    list[to->n++] = (struct copilot_file){ .path = clean,
                                           .before = copilot_read_state(r, before),
                                           .after = copilot_read_state(r, after) };
}

static void read_index(const struct reading *r, struct slice text)
{
    struct slice schema, list, key, value;
    struct json_iter it;
    int64_t number = 0;

    if (!json_valid(text) || !json_get(text, "snapshots", &list) || json_type(list) != JSON_ARRAY) {
        r->out->why = "Copilot's index of snapshots is damaged";
        return;
    }
    if (!json_get(text, "schema", &schema) || !json_int(schema, &number) || number != SCHEMA) {
        r->out->why = "Copilot's index of snapshots has an unknown form";
        return;
    }
    json_iter_open(&it, list);
    while (json_iter_next(&it, &key, &value)) {
        struct copilot_snapshots *out = r->out;
        struct copilot_snapshot s = { .event = json_copy_at(value, "eventId", &out->arena) };
        struct copilot_snapshot *more =
            arena_grow(&out->arena, out->snapshot, out->n, sizeof *more);
        struct slice files, name, file;
        struct json_iter inner;

        s.time_ms = json_time_at(value, "timestamp", &out->arena);
        if (json_get(value, "files", &files) && json_type(files) == JSON_OBJECT &&
            json_iter_open(&inner, files))
            while (json_iter_next(&inner, &name, &file))
                copilot_snapshots_add_file(r, &s, file);
        if (!more)
            continue;
        out->snapshot = more;
        more[out->n++] = s;
    }
}

enum err_code copilot_snapshots_read(const struct session_ref *ref, struct copilot_snapshots *out,
                                     struct err *e)
{
    struct copilot_snapshots s = { .n = 0 };
    struct reading r = { .out = &s };
    struct buf text = { 0 };
    const char *dir = copilot_directory(ref, &s.arena);
    const char *path =
        dir ? arena_format(&s.arena, "%s/rewind-file-snapshots/index.json", dir) : NULL;
    enum err_code rc = ERR_OK;

    if (dir)
        r.backups = arena_format(&s.arena, "%s/rewind-file-snapshots/backups", dir);
    if (path && r.backups)
        rc = file_read_all(AT_FDCWD, path, 0, INDEX_MAX, &text, NULL);
    if (path && !rc)
        read_index(&r, buf_slice(&text));
    else if (rc && rc != ERR_NOT_FOUND && rc != ERR_NOMEM)
        s.why = "Copilot's index of snapshots cannot be read";
    buf_fini(&text);
    if (rc == ERR_NOMEM || s.arena.failed) {
        copilot_snapshots_fini(&s);
        return err_nomem(e);
    }
    *out = s;
    return ERR_OK;
}

void copilot_snapshots_fini(struct copilot_snapshots *s)
{
    arena_fini(&s->arena);
    *s = (struct copilot_snapshots){ .n = 0 };
}
