#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/cursor/cursor.h"

/* The row of a list is made from meta.json and, for what that lacks (prompts, model, the title of
 * an older version), from the database. */

enum { META_MOST = 1 << 20, LOOKS_MOST = 100 /* messages from each end */ };

struct describing {
    struct session_row *row;
    struct arena *arena;
    struct slice name; /* of the session, as the database has it */
};

static int64_t time_at(struct slice object, const char *name)
{
    struct slice value;
    int64_t ms;

    return json_get(object, name, &value) && json_int(value, &ms) && ms > 0 ? ms : TIME_NONE;
}

/* ---- the database ---- */

static enum err_code look_at(struct sqlite_db *db, const struct cursor_state *s, size_t i,
                             struct buf *message, struct describing *d, struct slice *prompt,
                             struct err *e)
{
    enum err_code rc = cursor_blob_read(db, s->message[i], message, e);
    struct slice json = buf_slice(message);

    *prompt = SLICE("");
    if (!rc && json_valid(json)) {
        *prompt = arena_copy(d->arena, cursor_prompt(json, d->arena));
        if (i + 1 == s->n && !cursor_role_is(json, "assistant"))
            d->row->flags |= SESSION_INTERRUPTED;
    }
    return rc;
}

static enum err_code read_prompts(struct sqlite_db *db, const struct cursor_state *s,
                                  struct describing *d, struct err *e)
{
    struct buf message = { 0 };
    struct slice prompt = SLICE("");
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && !prompt.n && i < s->n && i < LOOKS_MOST; i++)
        rc = look_at(db, s, i, &message, d, &prompt, e);
    d->row->first_prompt = prompt;
    prompt = SLICE("");
    for (size_t i = 0; !rc && !prompt.n && i < s->n && i < LOOKS_MOST; i++)
        rc = look_at(db, s, s->n - 1 - i, &message, d, &prompt, e);
    d->row->last_prompt = prompt;
    buf_fini(&message);
    return rc;
}

/* Begins anew if it is called again. */
static enum err_code read_database(struct sqlite_db *db, void *arg, struct err *e)
{
    struct describing *d = arg;
    struct cursor_state s;
    enum err_code rc = cursor_state_read(db, &s, e);

    if (rc)
        return rc;
    d->row->flags = 0;
    d->name = json_copy_at(s.meta, "name", d->arena);
    d->row->model = json_copy_at(s.meta, "lastUsedModel", d->arena);
    d->row->created_ms = time_at(s.meta, "createdAt");
    d->row->cwd = arena_copy(d->arena, s.workspace);
    rc = read_prompts(db, &s, d, e);
    cursor_state_fini(&s);
    return rc;
}

/* ---- the row ---- */

static void read_meta(struct slice meta, struct session_row *row, struct arena *a)
{
    struct slice cwd = json_copy_at(meta, "cwd", a);
    int64_t created = time_at(meta, "createdAtMs"), updated = time_at(meta, "updatedAtMs");

    row->custom_title = json_copy_at(meta, "title", a);
    row->cwd = cwd.n ? cwd : row->cwd;
    row->created_ms = created == TIME_NONE ? row->created_ms : created;
    row->activity_ms = updated == TIME_NONE ? row->activity_ms : updated;
    if (json_get_true(meta, "isSubagent") && !row->hidden)
        row->hidden = HIDDEN_SIDECHAIN;
}

static void complete(const struct scope *scope, const struct describing *d)
{
    struct session_row *row = d->row;

    if (!row->custom_title.n && !slice_eq(d->name, SLICE("New Agent")))
        row->custom_title = d->name;
    row->flags |= SESSION_AI_TITLE;
    if (!row->cwd.n)
        row->cwd = cursor_directory(scope, row->ref.folder.p);
    row->modified_ms = session_modified_ms(&row->ref.file);
    if (row->activity_ms == TIME_NONE)
        row->activity_ms = row->modified_ms;
    row->summary = row->custom_title.n   ? row->custom_title
                   : row->first_prompt.n ? row->first_prompt
                                         : row->ref.id;
    row->can = CAN_RESUME;
    if (row->hidden)
        return;
    if (!row->first_prompt.n && !row->last_prompt.n)
        row->hidden = HIDDEN_EMPTY;
    else if (!config_dir_in_scope(scope, row->cwd, d->arena))
        row->hidden = HIDDEN_COLLISION;
}

static void set_problem(struct session_row *row, enum err_code rc)
{
    switch (rc) {
    case ERR_OK: return;
    case ERR_FORMAT: row->problem = "its database is damaged"; break;
    case ERR_LOCKED: row->problem = "Cursor is writing to its database"; break;
    case ERR_UNSUPPORTED:
        row->problem = "SQLite is not installed, or its database is too large";
        break;
    default: row->hidden = HIDDEN_UNREADABLE; return;
    }
    row->hidden = HIDDEN_DAMAGED;
}

enum err_code cursor_describe(const struct store *st, const struct scope *scope,
                              const struct session_ref *ref, struct session_row *row, struct err *e)
{
    struct arena a = { 0 };
    struct buf meta = { 0 };
    struct describing d = { .row = row, .arena = &a, .name = SLICE("") };

    (void)st;
    session_row_reset(row);
    row->ref = *ref;
    row->ref.preread = (struct slice){ NULL, 0 };
    enum err_code rc = sqlite_db_read(ref->path.p, NULL, read_database, &d, e);

    if (rc != ERR_NOMEM && rc != ERR_NOT_FOUND) {
        set_problem(row, rc);
        rc = session_dirs_json(ref, "meta.json", META_MOST, &meta);
        if (!rc && meta.n)
            read_meta(buf_slice(&meta), row, &a);
        complete(scope, &d);
        rc = !rc && !a.failed && session_row_keep(row) ? ERR_OK : err_nomem(e);
    }
    buf_fini(&meta);
    arena_fini(&a);
    return rc;
}
