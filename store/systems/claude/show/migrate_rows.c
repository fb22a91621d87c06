#include "store/systems/claude/show/restore.h"

#include "lite/json/json.h"
#include "lite/json/json_edit.h"
#include "lite/json/jsonout.h"
#include "store/systems/claude/chain/row_facts.h"

static bool known_mode(struct slice mode)
{
    static const char *const modes[] = { "default", "acceptEdits", "bypassPermissions",
                                         "plan",    "dontAsk",     "auto" };

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (json_string_is(mode, modes[i]))
            return true;
    return false;
}

/* Moves what was built to the arena. */
static enum err_code move_to_arena(enum err_code rc, struct buf *built, struct arena *a,
                                   struct slice *out)
{
    struct slice copy = { NULL, 0 };

    if (!rc) {
        copy = arena_copy(a, buf_slice(built));
        rc = copy.p ? ERR_OK : ERR_NOMEM;
    }
    if (!rc)
        *out = copy;
    buf_fini(built);
    return rc;
}

static enum err_code set_member(struct slice object, const char *key, struct slice value,
                                struct arena *a, struct slice *out)
{
    struct buf built = { 0 };

    return move_to_arena(json_set(&built, object, key, value), &built, a, out);
}

static enum err_code without_mode(struct slice row, struct arena *a, struct slice *out)
{
    struct buf built = { 0 };

    return move_to_arena(json_remove(&built, row, "permissionMode"), &built, a, out);
}

/* Bytes that both paths begin with, up to the last whole name. */
static size_t common_front(struct slice from, struct slice to)
{
    size_t n = from.n < to.n ? from.n : to.n, i = 0;

    while (i < n && from.p[i] == to.p[i])
        i++;
    bool whole = (i == from.n || from.p[i] == '/') && (i == to.n || to.p[i] == '/');

    while (!whole && i > 0 && from.p[i - 1] != '/')
        i--;
    return i;
}

/* The way from one directory to a file, as path.relative tells it. Paths that are not absolute stay. */
static enum err_code add_relative(struct buf *out, struct slice from, struct slice to)
{
    enum err_code rc = ERR_OK;

    while (from.n > 1 && from.p[from.n - 1] == '/')
        from.n--;
    if (from.n < 2 || to.n == 0 || from.p[0] != '/' || to.p[0] != '/')
        return buf_add(out, from.n == 1 && to.n > 1 ? (struct slice){ to.p + 1, to.n - 1 } : to);
    size_t common = common_front(from, to);
    struct slice up = { from.p + common, from.n - common };
    struct slice down = { to.p + common, to.n - common };

    for (size_t i = 0; !rc && i < up.n; i++)
        if (up.p[i] != '/' && (i == 0 || up.p[i - 1] == '/'))
            rc = buf_add(out, out->n ? SLICE("/..") : SLICE(".."));
    while (down.n && *down.p == '/')
        down = (struct slice){ down.p + 1, down.n - 1 };
    if (!rc && down.n && out->n)
        rc = buf_add_byte(out, '/');
    return rc ? rc : buf_add(out, down);
}

/* A path for people, as a JSON string in the arena. */
static enum err_code shown_path(struct slice path, struct slice cwd, struct arena *a,
                                struct slice *out)
{
    struct buf relative = { 0 }, quoted = { 0 };
    struct jsonout j;
    enum err_code rc = add_relative(&relative, cwd, path);

    jsonout_init(&j, &quoted);
    if (!rc) {
        jsonout_text(&j, buf_slice(&relative));
        rc = j.rc;
    }
    buf_fini(&relative);
    return move_to_arena(rc, &quoted, a, out);
}

/* Old attachments lack the path that is shown, and two kinds of them were renamed (seed 002). */
static enum err_code migrate_attachment(struct slice attachment, struct slice cwd, struct arena *a,
                                        struct slice *out)
{
    static const char *const paths[] = { "filename", "path", "skillDir" };
    struct slice value, path;
    enum err_code rc = ERR_OK;

    *out = attachment;
    if (claude_row_says(attachment, "type", "new_file"))
        rc = set_member(*out, "type", SLICE("\"file\""), a, out);
    else if (claude_row_says(attachment, "type", "new_directory"))
        rc = set_member(*out, "type", SLICE("\"directory\""), a, out);
    if (rc || json_get(attachment, "displayPath", &value))
        return rc;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (!json_get_text(attachment, paths[i], a, &path) || path.n == 0)
            continue;
        rc = shown_path(path, cwd, a, &value);
        return rc ? rc : set_member(*out, "displayPath", value, a, out);
    }
    return ERR_OK;
}

enum err_code claude_migrate_row(struct slice row, enum claude_kind kind, struct slice cwd,
                                 struct arena *a, struct slice *out)
{
    struct slice value, changed;

    *out = row;
    if (kind == CLAUDE_USER && json_get(row, "permissionMode", &value) && !known_mode(value))
        return without_mode(row, a, out);
    if (kind != CLAUDE_ATTACHMENT || !json_get(row, "attachment", &value) ||
        json_type(value) != JSON_OBJECT)
        return ERR_OK;
    enum err_code rc = migrate_attachment(value, cwd, a, &changed);

    if (rc || changed.p == value.p)
        return rc;
    return set_member(row, "attachment", changed, a, out);
}
