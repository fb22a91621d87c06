#include "lite/json/json.h"
#include "store/systems/common/sqlite/sqlite_store.h"
#include "store/systems/opencode/opencode.h"

/* Before version 1.2, OpenCode kept each session, message and part as a JSON file:
 *
 *     session/<project>/<session>.json    message/<session>/<message>.json    part/<message>/<part>.json
 *
 * Ids ascend with time. The rows of the later database are made from them here. */

enum { FILE_MOST = SQLITE_VALUE_MOST / 2 }; /* twice as much is read */
static const char suffix[] = ".json";

const char opencode_tables[] =
    "CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT);"
    "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, "
    "title TEXT, revert TEXT, model TEXT, time_created INTEGER, time_updated INTEGER, "
    "time_archived INTEGER);"
    "CREATE INDEX parent ON session (parent_id);"
    "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);"
    "CREATE INDEX of_session ON message (session_id, time_created, id);"
    "CREATE TABLE part (id TEXT, message_id TEXT, data TEXT, PRIMARY KEY (message_id, id));";

/* OpenCode writes the files indented, and json() as it later wrote the database. A damaged text stays as it is. */
#define DATA(n) "CASE WHEN json_valid(" n ") THEN json(" n ") ELSE " n " END"
static const char add_session[] =
    "INSERT OR IGNORE INTO session SELECT ?1, ?2, json_extract(?3, '$.parentID'), "
    "coalesce(json_extract(?3, '$.directory'), ''), coalesce(json_extract(?3, '$.title'), ''), "
    "json_extract(?3, '$.revert'), NULL, json_extract(?3, '$.time.created'), "
    "coalesce(json_extract(?3, '$.time.updated'), json_extract(?3, '$.time.created'), 0), "
    "json_extract(?3, '$.time.archived')";
static const char add_message[] =
    "INSERT OR IGNORE INTO message SELECT ?1, ?2, CASE WHEN json_valid(?3) THEN "
    "json_extract(?3, '$.time.created') END, " DATA("?3");
static const char add_part[] = "INSERT OR IGNORE INTO part SELECT ?1, ?2, " DATA("?3");
static const char add_models[] =
    "UPDATE session SET model = (SELECT json_object('id', coalesce(json_extract(m.data, "
    "'$.modelID'), json_extract(m.data, '$.model.modelID'))) FROM message m WHERE m.session_id = "
    "session.id AND json_valid(m.data) ORDER BY m.time_created DESC, m.id DESC LIMIT 1)";

struct filling {
    struct sqlite_db *db;
    const char *storage;
    struct arena arena, *names; /* own the texts of one session; the names of all sessions */
    struct buf bytes;           /* the last file */
    struct folder_ids agents;   /* the sub-agents that the session's calls name */
    struct err *e;
};

/* The text is empty if the file cannot be read. */
static enum err_code opencode_read_text(struct filling *f, const char *path)
{
    int64_t modified;

    return sqlite_folder_text(path, FILE_MOST, &f->bytes, &modified, f->e);
}

/* Inserts the text that was read under this id and that of what it belongs to. */
static enum err_code opencode_insert(struct filling *f, const char *sql, struct slice id,
                                     struct slice of)
{
    const struct slice value[] = { id, of, buf_slice(&f->bytes) };

    return f->bytes.n ? sqlite_db_each(f->db, sql, value, 3, NULL, NULL, f->e) : ERR_OK;
}

/* ---- messages ---- */

static enum err_code note_agent(struct filling *f, struct slice part)
{
    struct slice agent;

    if (json_type(part) != JSON_OBJECT || !json_get_is(part, "type", "tool"))
        return ERR_OK;
    agent = json_text_at(part, "state.metadata.sessionId", &f->arena);
    return !sqlite_store_is_id(agent) ||
                   arena_add_copy(&f->arena, &f->agents.of, &f->agents.n, agent)
               ? ERR_OK
               : err_nomem(f->e);
}

/* *prompt: a person wrote the message. */
static enum err_code fill_parts(struct filling *f, struct slice message, bool *prompt)
{
    const char *folder = arena_format(&f->arena, "%s/part/%.*s", f->storage, SLICE_ARG(message));
    struct folder_ids part;
    enum err_code rc = sqlite_folder_ids(folder, suffix, &f->arena, &part, f->e);

    *prompt = false;
    for (size_t i = 0; i < part.n && !rc; i++) {
        rc = opencode_read_text(
            f, arena_format(&f->arena, "%s/%.*s%s", folder, SLICE_ARG(part.of[i]), suffix));
        if (!rc)
            rc = opencode_insert(f, add_part, part.of[i], message);
        if (!rc && json_valid(buf_slice(&f->bytes))) {
            *prompt |= opencode_prompt(buf_slice(&f->bytes), &f->arena).n > 0;
            rc = note_agent(f, buf_slice(&f->bytes));
        }
    }
    return rc;
}

/* With its parts, if a person or `all` asks for them. */
static enum err_code fill_message(struct filling *f, struct slice session, struct slice id,
                                  bool all, bool *prompt)
{
    enum err_code rc =
        opencode_read_text(f, arena_format(&f->arena, "%s/message/%.*s/%.*s%s", f->storage,
                                           SLICE_ARG(session), SLICE_ARG(id), suffix));

    *prompt = false;
    all |= json_get_is(buf_slice(&f->bytes), "role", "user");
    if (!rc)
        rc = opencode_insert(f, add_message, id, session);
    return rc || !all ? rc : fill_parts(f, id, prompt);
}

static enum err_code opencode_read_messages(struct filling *f, struct slice session,
                                            struct folder_ids *out)
{
    const char *folder = arena_format(&f->arena, "%s/message/%.*s", f->storage, SLICE_ARG(session));

    return sqlite_folder_ids(folder, suffix, &f->arena, out, f->e);
}

static enum err_code fill_all(struct filling *f, struct slice session)
{
    struct folder_ids message;
    bool prompt;
    enum err_code rc = opencode_read_messages(f, session, &message);

    for (size_t i = 0; i < message.n && !rc; i++)
        rc = fill_message(f, session, message.of[i], true, &prompt);
    return rc;
}

/* What a list needs: the newest message, and the first and the last prompt that was not reverted. */
static enum err_code fill_ends(struct filling *f, struct slice session, struct slice reverted)
{
    struct folder_ids message;
    bool found = false;
    enum err_code rc = opencode_read_messages(f, session, &message);
    size_t n = message.n, first = 0;

    if (!rc && n)
        rc = fill_message(f, session, message.of[n - 1], false, &found);
    while (n && reverted.n && slice_compare(message.of[n - 1], reverted) >= 0)
        n--;
    for (found = false; first < n && !found && !rc; first++)
        rc = fill_message(f, session, message.of[first], false, &found);
    for (found = false; n > first && !found && !rc; n--)
        rc = fill_message(f, session, message.of[n - 1], false, &found);
    return rc;
}

/* ---- sessions ---- */

static enum err_code opencode_fill_session(struct filling *f, struct slice project, struct slice id,
                                           bool all)
{
    struct slice reverted;
    enum err_code rc =
        opencode_read_text(f, arena_format(&f->arena, "%s/session/%.*s/%.*s%s", f->storage,
                                           SLICE_ARG(project), SLICE_ARG(id), suffix));

    if (!rc && f->bytes.n && !json_valid(buf_slice(&f->bytes))) {
        f->bytes.n = 0;
        rc = buf_add(&f->bytes, SLICE("{}")) ? err_nomem(f->e) : ERR_OK;
    }
    if (rc || !f->bytes.n)
        return rc;
    reverted = json_copy_at(buf_slice(&f->bytes), "revert.messageID", &f->arena);
    rc = opencode_insert(f, add_session, id, project);
    if (!rc)
        rc = all ? fill_all(f, id) : fill_ends(f, id, reverted);
    return rc ? rc : f->arena.failed ? err_nomem(f->e) : ERR_OK;
}

/* A session with its sub-agents, if it belongs to the project. */
static enum err_code fill_one(struct filling *f, struct slice project, struct slice id)
{
    enum err_code rc = opencode_fill_session(f, project, id, true);
    size_t n = f->agents.n;

    for (size_t i = 0; i < n && !rc; i++)
        rc = opencode_fill_session(f, project, f->agents.of[i], true);
    return rc;
}

static enum err_code fill_list(struct filling *f, struct slice project)
{
    const char *folder = arena_format(f->names, "%s/session/%.*s", f->storage, SLICE_ARG(project));
    struct folder_ids session;
    enum err_code rc = sqlite_folder_ids(folder, suffix, f->names, &session, f->e);

    for (size_t i = 0; i < session.n && !rc; i++) {
        rc = opencode_fill_session(f, project, session.of[i], false);
        arena_reset(&f->arena);
        f->agents = (struct folder_ids){ NULL, 0 };
    }
    return rc;
}

static enum err_code fill_projects(struct filling *f, struct slice id)
{
    const char *folder = arena_format(f->names, "%s/session", f->storage);
    struct folder_ids project;

    TRY(sqlite_folder_ids(folder, "", f->names, &project, f->e));
    for (size_t i = 0; i < project.n; i++)
        TRY(id.n ? fill_one(f, project.of[i], id) : fill_list(f, project.of[i]));
    return sqlite_db_each(f->db, add_models, NULL, 0, NULL, NULL, f->e);
}

enum err_code opencode_fill(struct sqlite_db *db, const struct sqlite_place *place, struct slice id,
                            struct err *e)
{
    struct arena names = { 0 };
    struct filling f = { .db = db, .storage = place->path, .names = &names, .e = e };
    enum err_code rc = fill_projects(&f, id);

    arena_fini(&f.arena);
    arena_fini(&names);
    buf_fini(&f.bytes);
    return rc;
}
