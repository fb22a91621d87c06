#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/systems/crush/crush.h"

/* The saved versions of a session's files: version 0 is the file before its first edit, and each
 * edit adds one. If a file was changed by hand before an edit, that content is also a version,
 * without any mark; then there are more versions than edits. */

static const char files_sql[] = "SELECT path, content, version, created_at FROM files WHERE "
                                "session_id = ?1 ORDER BY path, version";
static const char names_sql[] =
    "SELECT path, '', version, created_at FROM files WHERE session_id = ?1 ORDER BY path, version";
static const char messages_sql[] = "SELECT id, role, parts, created_at FROM messages WHERE "
                                   "session_id = ?1 ORDER BY created_at, rowid";

struct reading {
    const struct session_ref *ref;
    const char *project;
    bool contents;
    struct crush_versions *out;
};

/* The absolute path, in the arena; empty if the path cannot be made absolute. */
static struct slice crush_absolute(const struct reading *r, struct slice path)
{
    struct arena *a = &r->out->arena;
    const char *text, *full;

    if (!path.n || memchr(path.p, '\0', path.n) || (path.p[0] != '/' && !r->project))
        return SLICE("");
    text = arena_copy(a, path).p;
    full = text ? path_normalize(r->project ? r->project : "", text, a) : NULL;
    return full ? slice_of(full) : SLICE("");
}

/* ---- versions ---- */

static enum err_code add_version(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct reading *r = arg;
    struct crush_versions *v = r->out;
    struct crush_version *more = arena_grow(&v->arena, v->version, v->n, sizeof *more);

    if (!more)
        return err_nomem(e);
    v->version = more;
    more[v->n] = (struct crush_version){ .path = crush_absolute(r, sqlite_row_text(row, 0)),
                                         .content = arena_copy(&v->arena, sqlite_row_text(row, 1)),
                                         .number = sqlite_row_int(row, 2),
                                         .time_ms = crush_time(sqlite_row_int(row, 3)) };
    v->n += more[v->n].path.n > 0;
    return v->arena.failed ? err_nomem(e) : ERR_OK;
}

/* ---- prompts and edits ---- */

static bool crush_add_prompt(struct crush_versions *v, const struct sqlite_row *row)
{
    struct arena *a = &v->arena;
    struct slice text = crush_prompt(sqlite_row_text(row, 2), a);
    struct crush_prompt *more = text.n ? arena_grow(a, v->prompt, v->prompts, sizeof *more) : NULL;

    if (!text.n)
        return true;
    if (!more)
        return false;
    v->prompt = more;
    v->prompt[v->prompts++] =
        (struct crush_prompt){ .id = arena_copy(a, sqlite_row_text(row, 0)),
                               .text = arena_copy(a, text),
                               .time_ms = crush_time(sqlite_row_int(row, 3)) };
    return !a->failed;
}

static bool crush_add_edit(struct reading *r, struct slice data, int64_t time_ms)
{
    static const char *const writers[] = { "edit", "write", "multiedit" };
    struct crush_versions *v = r->out;
    struct slice name, input, path, call = SLICE("");
    struct crush_edit *more;

    if (!json_get(data, "name", &name) || json_key_in(name, writers, 3) == 3 ||
        !json_get_text(data, "input", &v->arena, &input) || !json_valid(input) ||
        !json_get_text(input, "file_path", &v->arena, &path))
        return !v->arena.failed;
    more = arena_grow(&v->arena, v->edit, v->edits, sizeof *more);
    if (!more)
        return false;
    v->edit = more;
    json_get_text(data, "id", &v->arena, &call);
    v->edit[v->edits++] =
        (struct crush_edit){ crush_absolute(r, path), arena_copy(&v->arena, call), time_ms };
    return !v->arena.failed;
}

/* A call that failed wrote nothing. */
static bool drop_failed(struct reading *r, struct slice data, int64_t time_ms)
{
    struct crush_versions *v = r->out;
    struct slice call;

    (void)time_ms;
    if (json_get_true(data, "is_error") && json_get_text(data, "tool_call_id", &v->arena, &call))
        for (size_t i = 0; i < v->edits; i++)
            if (slice_eq(v->edit[i].call, call))
                v->edit[i].path = SLICE("");
    return !v->arena.failed;
}

typedef bool part_fn(struct reading *r, struct slice data, int64_t time_ms);

/* Calls the function with the data of each part of this type. */
static bool each_part(struct reading *r, const struct sqlite_row *row, const char *wanted,
                      part_fn *fn)
{
    struct slice parts = sqlite_row_text(row, 2), key, part, data;
    struct json_iter it;
    bool ok = true;

    if (json_valid(parts) && json_iter_open(&it, parts))
        while (ok && json_iter_next(&it, &key, &part))
            if (json_get_is(part, "type", wanted) && json_get(part, "data", &data))
                ok = fn(r, data, crush_time(sqlite_row_int(row, 3)));
    return ok;
}

static enum err_code crush_read_message(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct reading *r = arg;
    struct slice role = sqlite_row_text(row, 1);
    bool ok = slice_eq(role, SLICE("user"))        ? crush_add_prompt(r->out, row)
              : slice_eq(role, SLICE("assistant")) ? each_part(r, row, "tool_call", crush_add_edit)
              : slice_eq(role, SLICE("tool"))      ? each_part(r, row, "tool_result", drop_failed)
                                                   : true;

    return ok ? ERR_OK : err_nomem(e);
}

/* Begins anew if it is called again. */
static enum err_code crush_read_all(struct sqlite_db *db, void *arg, struct err *e)
{
    struct reading *r = arg;
    struct arena arena = r->out->arena;

    arena_reset(&arena);
    *r->out = (struct crush_versions){ .arena = arena };
    enum err_code rc = sqlite_db_each(db, messages_sql, &r->ref->id, 1, crush_read_message, r, e);

    return rc ? rc
              : sqlite_db_each(db, r->contents ? files_sql : names_sql, &r->ref->id, 1, add_version,
                               r, e);
}

enum err_code crush_versions_read(const struct session_ref *ref, bool contents,
                                  struct crush_versions *out, struct err *e)
{
    const struct sqlite_place *place = sqlite_store_place(ref);
    CLEANUP(crush_versions_fini) struct crush_versions v = { .n = 0 };
    struct reading r = { ref, place ? place->project : NULL, contents, &v };

    TRY(sqlite_store_read(ref, NULL, crush_read_all, &r, e));
    HAND_OVER(out, v);
    return ERR_OK;
}

void crush_versions_fini(struct crush_versions *v)
{
    arena_fini(&v->arena);
    *v = (struct crush_versions){ .n = 0 };
}
