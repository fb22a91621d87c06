#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lite/json/json.h"
#include "store/systems/common/compose_rows.h"
#include "store/systems/opencode/opencode.h"

/* A conversation of another agent as rows of OpenCode's tables (1.18.33), which are those that `opencode import` inserts:
 * the session, its messages and their parts. An answer of the model is a message of its own, as is each call. Kilo (7.7.9)
 * has the same tables, and another name for the agent that a conversation begins with. */

enum { STAMP_DIGITS = 12, RANDOM_DIGITS = 14 };

struct opencode_new {
    const char *database;
    size_t top; /* how many bytes of the directory are its work tree; 0: no repository */
    struct slice project, worktree;
    bool has_path;
    /* The version of the newest session; the conversation goes on with the agent and the model of its last prompt. */
    struct slice version, agent, model;
    uint64_t stamp; /* of the last id */
};

/* ---- what the database knows ---- */

static size_t new_top(const struct compose *c)
{
    for (size_t n = strlen(c->dir); n > 0; n--) {
        const bool ends = c->dir[n] == '/' || c->dir[n] == '\0';
        const char *git = ends ? arena_format(c->arena, "%.*s/.git", (int)n, c->dir) : NULL;

        if (git && access(git, F_OK) == 0)
            return n;
    }
    return 0;
}

static enum err_code new_project(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct compose *c = arg;
    struct opencode_new *n = c->own;
    struct slice worktree = sqlite_row_text(row, 1);

    /* A repository within that of the project is another project. */
    if (n->top > worktree.n)
        return ERR_OK;
    n->project = arena_copy(c->arena, sqlite_row_text(row, 0));
    n->worktree = arena_copy(c->arena, worktree);
    return c->arena->failed ? err_nomem(e) : ERR_OK;
}

static enum err_code new_global(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct compose *c = arg;
    struct opencode_new *n = c->own;

    (void)row;
    n->project = SLICE("global");
    n->worktree = SLICE("/");
    if (n->top)
        NEED(c->dir = arena_format(c->arena, "%.*s", (int)n->top, c->dir));
    return ERR_OK;
}

static enum err_code new_habits(const struct sqlite_row *row, void *arg, struct err *e)
{
    struct compose *c = arg;
    struct opencode_new *n = c->own;
    struct slice prompt = arena_copy(c->arena, sqlite_row_text(row, 1));

    n->version = arena_copy(c->arena, sqlite_row_text(row, 0));
    json_get(prompt, "model", &n->model);
    json_get_text(prompt, "agent", c->arena, &n->agent);
    return c->arena->failed ? err_nomem(e) : ERR_OK;
}

static enum err_code new_read(struct sqlite_db *db, void *arg, struct err *e)
{
    static const char project[] =
        "SELECT id, worktree FROM project WHERE id <> 'global' AND (worktree = ?1 OR "
        "substr(?1, 1, length(worktree) + 1) = worktree || '/') ORDER BY length(worktree) DESC "
        "LIMIT 1";
    static const char listed[] =
        "SELECT p.id, d.directory FROM project_directory d JOIN project p ON p.id = d.project_id "
        "WHERE d.directory = ?1 LIMIT 1";
    static const char global[] = "SELECT 1 FROM project WHERE id = 'global'";
    static const char habits[] =
        "SELECT s.version, (SELECT m.data FROM message m WHERE m.session_id = s.id AND "
        "instr(m.data, '\"role\":\"user\"') ORDER BY m.time_created DESC, m.id DESC LIMIT 1) AS "
        "said "
        "FROM session s WHERE s.parent_id IS NULL AND said IS NOT NULL ORDER BY s.directory = ?1 "
        "DESC, "
        "s.time_updated DESC LIMIT 1";
    struct compose *c = arg;
    struct opencode_new *n = c->own;
    const struct slice dir = slice_of(c->dir);

    n->project = n->model = n->agent = n->version = (struct slice){ NULL, 0 };
    TRY(sqlite_db_each(db, project, &dir, 1, new_project, c, e));
    if (!n->project.n && sqlite_db_has_column(db, "project_directory", "directory"))
        TRY(sqlite_db_each(db, listed, &dir, 1, new_project, c, e));

    /* OpenCode names a project itself. Started in a work tree, or below it, it gives the sessions of no project to the
     * tree's project that are in the very directory of the tree, so the conversation goes on there. */
    if (!n->project.n)
        TRY(sqlite_db_each(db, global, NULL, 0, new_global, c, e));
    TRY(sqlite_db_each(db, habits, &dir, 1, new_habits, c, e));
    n->has_path = sqlite_db_has_column(db, "session", "path");
    if (!n->project.n)
        return err_set(e, ERR_UNSUPPORTED, c->dir,
                       "continue in: %s does not know this directory: start it there once",
                       c->store->ops->label);
    return ERR_OK;
}

/* ---- rows ---- */

static struct slice new_agent(const struct compose *c)
{
    return c->store->ops == &kilo_ops ? SLICE("code") : SLICE("build");
}

/* An id that is later than those before it, in OpenCode's order: the time of its making, which wraps every two years, and
 * random letters. The ids of sessions descend. */
static void new_id(struct compose *c, const char *kind, char out[HOST_ID])
{
    struct opencode_new *n = c->own;
    const uint64_t most = (UINT64_C(1) << (STAMP_DIGITS * 4)) - 1;
    const uint64_t stamp = ++n->stamp & most;
    char random[HOST_ID];
    size_t k = 0;

    host_generate_id(random);
    for (const char *p = random; *p; p++)
        if (*p != '-')
            random[k++] = *p;
    snprintf(out, HOST_ID, "%s_%0*llx%.*s", kind, STAMP_DIGITS,
             (unsigned long long)(strcmp(kind, "ses") == 0 ? most - stamp : stamp), RANDOM_DIGITS,
             random);
}

static void new_open(struct compose *c, struct jsonout *j, const char *table, const char *id)
{
    jsonout_init(j, &c->rows);
    jsonout_open(j, '[');
    jsonout_text(j, slice_of(table));
    jsonout_open(j, '{');
    jsonout_member(j, "id", slice_of(id));
}

static void new_close(struct compose *c, struct jsonout *j, int64_t updated_ms)
{
    jsonout_int_member(j, "time_created", c->time_ms);
    jsonout_int_member(j, "time_updated", updated_ms);
    jsonout_close(j, '}');
    jsonout_close(j, ']');
    if (j->rc || buf_add_byte(&c->rows, '\n'))
        c->rc = ERR_NOMEM;
}

/* A row with data: of a message, or of a part of the message c->parent. */
static void new_data(struct compose *c, const char *id, const struct jsonout *data)
{
    const bool part = strcmp(id, c->parent) != 0;
    struct jsonout j;

    if (data->rc)
        c->rc = ERR_NOMEM;
    new_open(c, &j, part ? "part" : "message", id);
    if (part)
        jsonout_member(&j, "message_id", slice_of(c->parent));
    jsonout_member(&j, "session_id", slice_of(c->id));
    jsonout_member(&j, "data", buf_slice(data->out));
    new_close(c, &j, c->time_ms);
}

static void new_times(const struct compose *c, struct jsonout *j, const char *first,
                      const char *last)
{
    compose_member(j, "time", '{');
    jsonout_int_member(j, first, c->time_ms);
    if (last)
        jsonout_int_member(j, last, c->time_ms);
    jsonout_close(j, '}');
}

static void new_text(struct compose *c, struct slice text)
{
    AUTO_BUF data = { 0 };
    char id[HOST_ID];
    struct jsonout j;

    jsonout_init(&j, &data);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("text"));
    compose_text(&j, "text", text);
    jsonout_close(&j, '}');
    new_id(c, "prt", id);
    new_data(c, id, &j);
}

static enum err_code opencode_compose_begin(struct compose *c, const char **path, struct err *e)
{
    struct opencode_new *n = arena_zalloc(c->arena, sizeof *n);
    const int64_t now_ms = c->store->env->now_ms;
    struct jsonout j;

    NEED(c->own = n);

    /* The database of the released version, if there are several. */
    const struct sqlite_store *s = sqlite_store_of(c->store);
    const char *released = arena_format(c->arena, "/%s.db", c->store->ops->name), *found = NULL;

    for (size_t i = 0; released && i < s->places; i++)
        if (!s->place[i].folder &&
            (!found || strcmp(strrchr(s->place[i].path, '/'), released) == 0))
            found = s->place[i].path;

    n->database = found;

    if (!n->database)
        return err_set(e, ERR_UNSUPPORTED, c->store->path,
                       "continue in: only %s versions that have a database", c->store->ops->label);
    n->top = new_top(c);
    TRY(sqlite_db_read(n->database, NULL, new_read, c, e));
    n->stamp = (uint64_t)now_ms << STAMP_DIGITS;
    new_id(c, "ses", c->id);
    NEED(*path = arena_format(c->arena, "%s/%s", n->database, c->id));
    const char *slug = arena_format(c->arena, "continued-%s", c->id + strlen("ses_"));
    const char *below = c->dir + n->worktree.n;

    NEED(slug);
    new_open(c, &j, "session", c->id);
    jsonout_member(&j, "project_id", n->project);
    jsonout_text_or_null(&j, "parent_id", SLICE(""));
    jsonout_member(&j, "slug", slice_of(slug));
    jsonout_member(&j, "directory", slice_of(c->dir));
    if (n->has_path)
        compose_text(&j, "path", slice_of(*below == '/' ? below + 1 : below));
    jsonout_member(&j, "title", c->title.n ? c->title : SLICE("Continued session"));
    jsonout_member(&j, "version", n->version.n ? n->version : SLICE("1.2.0"));
    jsonout_text_or_null(&j, "share_url", SLICE(""));
    jsonout_text_or_null(&j, "revert", SLICE(""));
    jsonout_text_or_null(&j, "time_archived", SLICE(""));
    new_close(c, &j, now_ms > c->time_ms ? now_ms : c->time_ms);
    return ERR_OK;
}

static void opencode_compose_prompt(struct compose *c, struct slice text)
{
    const struct opencode_new *n = c->own;
    AUTO_BUF data = { 0 };
    struct jsonout j;

    new_id(c, "msg", c->parent);
    memcpy(c->turn, c->parent, sizeof c->turn);
    jsonout_init(&j, &data);
    jsonout_open(&j, '{');
    jsonout_member(&j, "role", SLICE("user"));
    new_times(c, &j, "created", NULL);
    jsonout_member(&j, "agent", n->agent.n ? n->agent : new_agent(c));
    if (n->model.n)
        jsonout_raw_member(&j, "model", n->model);
    jsonout_close(&j, '}');
    new_data(c, c->parent, &j);
    new_text(c, text);
}

/* No model of OpenCode's gave the answer, and it cost nothing. */
static void new_answer(struct compose *c, const char *finish)
{
    static const char *const counts[] = { "input", "output", "reasoning" };
    const struct opencode_new *n = c->own;
    AUTO_BUF data = { 0 };
    struct jsonout j;

    new_id(c, "msg", c->parent);
    jsonout_init(&j, &data);
    jsonout_open(&j, '{');
    jsonout_member(&j, "parentID", slice_of(c->turn));
    jsonout_member(&j, "role", SLICE("assistant"));
    jsonout_member(&j, "mode", new_agent(c));
    jsonout_member(&j, "agent", new_agent(c));
    compose_member(&j, "path", '{');
    jsonout_member(&j, "cwd", slice_of(c->dir));
    jsonout_member(&j, "root", n->worktree);
    jsonout_close(&j, '}');
    jsonout_int_member(&j, "cost", 0);
    compose_member(&j, "tokens", '{');
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        jsonout_int_member(&j, counts[i], 0);
    compose_member(&j, "cache", '{');
    jsonout_int_member(&j, "read", 0);
    jsonout_int_member(&j, "write", 0);
    jsonout_close(&j, '}');
    jsonout_close(&j, '}');
    jsonout_member(&j, "modelID", SLICE("unknown"));
    jsonout_member(&j, "providerID", SLICE("unknown"));
    new_times(c, &j, "created", "completed");
    jsonout_member(&j, "finish", slice_of(finish));
    jsonout_close(&j, '}');
    new_data(c, c->parent, &j);
}

static void opencode_compose_reply(struct compose *c, struct slice text)
{
    new_answer(c, "stop");
    new_text(c, text);
}

static bool opencode_compose_call(struct compose *c, const struct compose_call *call)
{
    static const struct compose_names names = {
        .tool = { [COMPOSE_COMMAND] = "bash",
                  [COMPOSE_READ] = "read",
                  [COMPOSE_WRITE] = "write",
                  [COMPOSE_REPLACE] = "edit" },
        .path = "filePath",
        .command = "command",
        .content = "content",
        .old_text = "oldString",
        .new_text = "newString",
        .all = "replaceAll",
    };
    AUTO_BUF data = { 0 };
    char id[HOST_ID];
    struct jsonout j;

    new_answer(c, "tool-calls");
    jsonout_init(&j, &data);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("tool"));
    jsonout_member(&j, "tool", slice_of(names.tool[call->meaning]));
    jsonout_member(&j, "callID", slice_of(call->id));
    compose_member(&j, "state", '{');
    jsonout_member(&j, "status", call->failed ? SLICE("error") : SLICE("completed"));
    compose_input(&j, "input", call, &names);
    compose_text(&j, call->failed ? "error" : "output", call->result);
    if (!call->failed)
        compose_text(&j, "title", call->path);
    compose_member(&j, "metadata", '{');
    jsonout_close(&j, '}');
    new_times(c, &j, "start", "end");
    jsonout_close(&j, '}');
    jsonout_close(&j, '}');
    new_id(c, "prt", id);
    new_data(c, id, &j);
    return true;
}

const struct compose_ops opencode_compose = {
    .database = true,
    .begin = opencode_compose_begin,
    .prompt = opencode_compose_prompt,
    .reply = opencode_compose_reply,
    .call = opencode_compose_call,
};
