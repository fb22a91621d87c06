#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/opencode/opencode.h"

/* The trees of a session: OpenCode writes one when a step begins and one when it ends, if the project is a git
 * repository. */

static const char sql[] =
    "SELECT m.id, m.time_created, m.data, p.data, s.project_id, s.time_created, "
    "m.id >= " OPENCODE_REVERTED " FROM message m JOIN session s ON s.id = m.session_id "
    "LEFT JOIN part p ON p.message_id = m.id WHERE m.session_id = ?1 "
    "ORDER BY m.time_created, m.id, p.id";

enum column {
    COLUMN_ID,
    COLUMN_TIME,
    COLUMN_MESSAGE,
    COLUMN_PART,
    COLUMN_PROJECT,
    COLUMN_BEGAN,
    COLUMN_UNDONE,
};

enum { TREE_DIGITS = 40 };

struct reading {
    const struct session_ref *ref;
    struct opencode_steps *out;
};

/* The snapshot of a part, in the arena; empty: none. */
static struct slice tree_of(struct slice part, struct arena *a)
{
    struct slice hex;

    return json_get_text(part, "snapshot", a, &hex) && hex.n == TREE_DIGITS &&
                   slice_is_of(hex, "0123456789abcdef")
               ? arena_copy(a, hex)
               : SLICE("");
}

/* ---- prompts ---- */

/* ---- steps ---- */

static int64_t opencode_time_in(struct slice message, const char *name)
{
    struct slice value;
    int64_t ms;

    return json_at(message, name, &value) && json_int(value, &ms) ? ms : TIME_NONE;
}

static bool opencode_steps_add_file(struct opencode_steps *s, struct slice path)
{
    struct opencode_step *step = s->n ? &s->step[s->n - 1] : NULL;

    if (!step || !path.n || path.p[0] != '/')
        return true;
    for (size_t i = 0; i < step->files; i++)
        if (slice_eq(step->file[i], path))
            return true;
    return arena_add_copy(&s->arena, &step->file, &step->files, path);
}

static bool opencode_add_call(struct opencode_steps *s, struct opencode_call call)
{
    struct opencode_step *step = s->n ? &s->step[s->n - 1] : NULL;
    struct opencode_call *more;

    if (!step)
        return true;
    more = arena_grow(&s->arena, step->call, step->calls, sizeof *more);
    if (!more)
        return false;
    step->call = more;
    step->call[step->calls++] = call;
    return !s->arena.failed;
}

/* A file that a tool changes, and nothing else. */
static bool add_edited(struct opencode_steps *s, struct opencode_call call)
{
    return opencode_steps_add_file(s, call.path) && opencode_add_call(s, call);
}

static bool add_tool(struct opencode_steps *s, struct slice part)
{
    static const char *const tools[] = { "apply_patch", "write", "edit", "multiedit",
                                         /* those that change nothing: */
                                         "read", "list", "ls", "glob", "grep", "webfetch",
                                         "websearch", "codesearch", "todowrite", "todoread",
                                         "question", "skill", "lsp", "invalid" };
    enum { PATCH, WRITE, EDIT, MULTIEDIT, READS, TOOLS = sizeof tools / sizeof *tools };
    struct opencode_call call = { .dir = s->cwd };
    struct slice tool, exists;

    if (!json_get(part, "tool", &tool))
        return true;
    size_t which = json_key_in(tool, tools, TOOLS);

    if (which == PATCH) {
        /* The files of a patch, and the names to which it moved them. */
        struct slice files, key, file, path;
        struct json_iter it;
        bool ok = true;

        if (!json_at(part, "state.metadata.files", &files) || json_type(files) != JSON_ARRAY ||
            !json_iter_open(&it, files))
            return true;
        while (ok && json_iter_next(&it, &key, &file)) {
            if ((path = json_copy_at(file, "filePath", &s->arena)).p)
                ok = add_edited(s, (struct opencode_call){ .path = path });
            if (ok && (path = json_copy_at(file, "movePath", &s->arena)).p)
                ok = add_edited(s, (struct opencode_call){ .path = path });
        }
        return ok;
    }
    if (which < READS) {
        call.path = json_copy_at(part, "state.input.filePath", &s->arena);
        /* a write that has ended records whether there was a file */
        if (which == WRITE && json_at(part, "state.metadata.exists", &exists)) {
            call.text = json_copy_at(part, "state.input.content", &s->arena);
            call.found = json_type(exists) == JSON_TRUE ? OPENCODE_FOUND : OPENCODE_FOUND_NONE;
        }
        return !call.path.n || add_edited(s, call);
    }
    if (which == TOOLS && json_string_is(tool, "bash")) {
        struct slice dir = json_copy_at(part, "state.input.workdir", &s->arena);

        call.command = json_copy_at(part, "state.input.command", &s->arena);
        if (dir.n && dir.p[0] == '/')
            call.dir = dir;
    }
    return which < TOOLS || opencode_add_call(s, call);
}

/* ---- reading ---- */

static bool read_user_part(struct opencode_steps *s, const struct sqlite_row *row,
                           struct slice part)
{
    struct slice text = opencode_prompt(part, &s->arena);

    if (!text.n)
        return true;

    struct arena *a = &s->arena;
    struct slice id = sqlite_row_text(row, COLUMN_ID);
    struct opencode_prompt *more;

    /* A fork keeps the times of its copies in the messages themselves. */
    struct slice value;
    int64_t ms;
    int64_t asked = json_at(sqlite_row_text(row, COLUMN_MESSAGE), "time.created", &value) &&
                            json_int(value, &ms)
                        ? ms
                        : sqlite_row_int(row, COLUMN_TIME);

    if (s->prompts && slice_eq(s->prompt[s->prompts - 1].id, id)) {
        /* A prompt of several parts. */
        const char *both = arena_format(a, "%.*s\n%.*s", (int)s->prompt[s->prompts - 1].text.n,
                                        s->prompt[s->prompts - 1].text.p, (int)text.n, text.p);

        if (both)
            s->prompt[s->prompts - 1].text = slice_of(both);
        return both != NULL;
    }
    more = arena_grow(a, s->prompt, s->prompts, sizeof *more);
    if (!more)
        return false;
    s->prompt = more;
    s->prompt[s->prompts++] =
        (struct opencode_prompt){ .id = arena_copy(a, id),
                                  .text = arena_copy(a, text),
                                  .time_ms = asked,
                                  .undone = sqlite_row_int(row, COLUMN_UNDONE) != 0,
                                  .copied = asked < sqlite_row_int(row, COLUMN_BEGAN),
                                  .step = s->n };
    return !a->failed;
}

static bool read_step_part(struct opencode_steps *s, struct slice message, struct slice part)
{
    static const char *const types[] = { "step-start", "step-finish", "patch", "tool" };
    struct slice type, files, key, value, path;
    struct json_iter it;

    if (!json_get(part, "type", &type))
        return true;
    switch (json_key_in(type, types, 4)) {
    case 0: {
        struct opencode_step *more = arena_grow(&s->arena, s->step, s->n, sizeof *more);

        if (!more)
            return false;

        /* A step that was cut off has no finish, and so no tree after it. */
        s->step = more;
        s->step[s->n++] =
            (struct opencode_step){ .before = tree_of(part, &s->arena),
                                    .after = SLICE(""),
                                    .begin_ms = opencode_time_in(message, "time.created"),
                                    .end_ms = opencode_time_in(message, "time.completed") };
        return !s->arena.failed;
    }
    case 1:
        if (s->n)
            s->step[s->n - 1].after = tree_of(part, &s->arena);
        return !s->arena.failed;
    case 2: {
        bool ok = true;

        if (json_get(part, "files", &files) && json_iter_open(&it, files))
            while (ok && json_iter_next(&it, &key, &value))
                if (json_text(value, &s->arena, &path))
                    ok = opencode_steps_add_file(s, path);
        return ok;
    }
    case 3: return add_tool(s, part);
    default: return true;
    }
}

static enum err_code opencode_read_row(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct opencode_steps *s = ((struct reading *)arg)->out;
    struct slice message = sqlite_row_text(row, COLUMN_MESSAGE), role;
    struct slice part = sqlite_row_text(row, COLUMN_PART);
    bool user, ok = true;

    if (!json_valid(message) || !json_get(message, "role", &role))
        return ERR_OK;
    user = json_string_is(role, "user");
    if (!s->project.n)
        s->project = arena_copy(&s->arena, sqlite_row_text(row, COLUMN_PROJECT));
    if (!user) {
        /* The work tree according to the newest answer. "/" means no repository: then it is the
         * directory of the session. */
        struct arena *a = &s->arena;
        struct slice path, root, cwd;

        if (json_get(message, "path", &path) && json_get_text(path, "cwd", a, &cwd) && cwd.n &&
            cwd.p[0] == '/' && !slice_eq(cwd, s->cwd))
            s->cwd = arena_copy(a, cwd);
        if (json_get(message, "path", &path) && json_get_text(path, "root", a, &root) &&
            (!slice_eq(root, SLICE("/")) || json_get_text(path, "cwd", a, &root)) && root.n > 1 &&
            root.p[0] == '/' && !memchr(root.p, '\0', root.n))
            s->root = arena_copy(a, root);
        ok = !a->failed;
    }
    if (ok && json_valid(part))
        ok = user ? read_user_part(s, row, part) : read_step_part(s, message, part);
    if (!sqlite_row_int(row, COLUMN_UNDONE))
        s->kept = s->n;
    return ok && !s->arena.failed ? ERR_OK : err_nomem(e);
}

/* Begins anew if it is called again. */
static enum err_code read_steps(struct sqlite_db *db, void *arg, struct err *e)
{
    struct reading *r = arg;
    struct arena arena = r->out->arena;

    arena_reset(&arena);
    *r->out = (struct opencode_steps){
        .arena = arena, .root = SLICE(""), .cwd = SLICE(""), .project = SLICE("")
    };
    return sqlite_db_each(db, sql, &r->ref->id, 1, opencode_read_row, r, e);
}

enum err_code opencode_steps_read(const struct session_ref *ref, struct opencode_steps *out,
                                  struct err *e)
{
    CLEANUP(opencode_steps_fini) struct opencode_steps s = { .n = 0 };
    struct reading r = { .ref = ref, .out = &s };

    TRY(sqlite_store_read(ref, NULL, read_steps, &r, e));
    HAND_OVER(out, s);
    return ERR_OK;
}

void opencode_steps_fini(struct opencode_steps *s)
{
    arena_fini(&s->arena);
    *s = (struct opencode_steps){ .n = 0 };
}

struct slice opencode_steps_tree(const struct opencode_steps *s, const struct opencode_prompt *p)
{
    return p->step < s->n ? s->step[p->step].before : SLICE("");
}
