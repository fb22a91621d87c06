#include "store/systems/cline/cline.h"

#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/common/memory_rows.h"

/* The row of a list: the session's own document, and the first and last messages. */

enum { WINDOW = 128 << 10 };

static void cline_read_session(struct slice session, struct session_row *row, struct arena *a)
{
    enum { CWD, MODEL, STARTED, METADATA, N };
    static const char *const names[] = { "cwd", "model", "started_at", "metadata" };
    struct slice value[N];

    json_get_each(session, names, N, value);
    row->cwd = json_text_of(value[CWD], a);
    row->model = json_text_of(value[MODEL], a);
    if (!time_parse(json_text_of(value[STARTED], a), &row->created_ms))
        row->created_ms = TIME_NONE;
    row->git_branch = json_text_at(value[METADATA], "git.branch", a);
    row->parent_id = json_text_at(value[METADATA], "fork.forkedFromSessionId", a);
    row->custom_title = json_text_at(value[METADATA], "title", a);
    row->flags |= row->parent_id.n ? SESSION_FORK : 0u;
}

/* Prompts, the last time, and whether the last message waits for an answer. */
static void cline_read_messages(struct slice lines, struct session_row *row, struct arena *a)
{
    struct slice rest = lines, line;
    bool torn, waits = false;

    while (slice_line(&rest, &line, &torn)) {
        bool valid = json_valid(line);
        struct slice prompt = valid ? cline_prompt(line, a) : SLICE("");
        int64_t ms = valid ? cline_time(line) : TIME_NONE;

        if (prompt.n) {
            row->first_prompt = row->first_prompt.n ? row->first_prompt : prompt;
            row->last_prompt = prompt;
        }
        waits = valid && (prompt.n || cline_is_result(line));
        row->activity_ms = ms == TIME_NONE ? row->activity_ms : ms;
    }
    row->flags |= waits ? SESSION_INTERRUPTED : 0u;
}

enum err_code cline_describe(const struct store *st, const struct scope *scope,
                             const struct session_ref *ref, struct session_row *row, struct err *e)
{
    struct arena a = { 0 };
    struct document_rows c = { .damaged = false };
    struct buf session = { 0 };
    enum err_code rc = cline_session_read(ref, &session);

    (void)st;
    session_row_reset(row);
    row->ref = *ref;
    row->ref.preread = (struct slice){ NULL, 0 };
    if (!rc)
        rc = cline_chat_read(ref, WINDOW, &c, e);
    if (rc == ERR_NOMEM || rc == ERR_NOT_FOUND)
        goto end;
    row->hidden = rc ? HIDDEN_UNREADABLE : HIDDEN_NOT;
    if (session.n)
        cline_read_session(buf_slice(&session), row, &a);
    cline_read_messages(buf_slice(&c.lines), row, &a);
    if (!row->hidden && !row->first_prompt.n && !c.whole) { /* it is longer than what was read */
        document_rows_fini(&c);
        rc = cline_chat_read(ref, DOCUMENT_MOST, &c, e);
        if (rc == ERR_NOMEM || rc == ERR_NOT_FOUND)
            goto end;
        row->hidden = rc ? HIDDEN_UNREADABLE : HIDDEN_NOT;
        cline_read_messages(buf_slice(&c.lines), row, &a);
    }
    row->flags |= (c.damaged ? SESSION_DAMAGED : 0u) | (c.torn ? SESSION_TORN : 0u);

    /* Cline makes a title from the first line of the first prompt. */
    if (slice_eq(row->custom_title, row->first_prompt))
        row->custom_title = SLICE("");
    row->modified_ms = session_modified_ms(&row->ref.file);
    if (row->activity_ms == TIME_NONE)
        row->activity_ms = row->modified_ms;
    row->summary = row->custom_title.n   ? row->custom_title
                   : row->first_prompt.n ? row->first_prompt
                                         : row->ref.id;
    row->can = CAN_RESUME | CAN_REWIND;
    if (!row->hidden) {
        if (!row->custom_title.n && !row->first_prompt.n)
            row->hidden = HIDDEN_EMPTY;
        else if (!config_dir_in_scope(scope, row->cwd, &a))
            row->hidden = HIDDEN_COLLISION;
    }

    rc = !a.failed && session_row_keep(row) ? ERR_OK : err_nomem(e);
end:
    document_rows_fini(&c);
    buf_fini(&session);
    arena_fini(&a);
    return rc == ERR_NOMEM ? err_nomem(e) : rc;
}

/* ---- sub-agents: the first prompt of each is its task, and the last answer its outcome ---- */

static enum err_code cline_describe_agent(const struct session_ref *ref, struct subagent_list *list,
                                          struct err *e)
{
    struct arena *a = &list->arena;
    struct document_rows c = { .damaged = false };
    struct slice rest, line, content;
    bool torn;
    struct subagent *x = &list->agent[list->n++];
    enum err_code rc = cline_chat_read(ref, WINDOW, &c, NULL);

    *x = (struct subagent){ .id = arena_copy(a, ref->id),
                            .bytes = ref->file.size,
                            .time_ms = session_modified_ms(&ref->file) };
    rest = buf_slice(&c.lines);
    while (slice_line(&rest, &line, &torn))
        if (json_valid(line)) {
            x->task = x->task.n ? x->task : arena_copy(a, cline_prompt(line, a));
            x->outcome = cline_role_is(line, "assistant") && json_get(line, "content", &content)
                             ? arena_copy(a, content_texts(content, a))
                             : SLICE("");
            x->end = x->outcome.n ? SUBAGENT_DONE : SUBAGENT_OPEN;
        }
    document_rows_fini(&c);
    return rc == ERR_NOMEM || a->failed ? err_nomem(e) : ERR_OK;
}

enum err_code cline_describe_subagents(const struct store *st, const struct session_ref *ref,
                                       const atomic_bool *cancel, struct subagent_list *out,
                                       struct err *e)
{
    struct subagent_list list = { .n = 0 };
    struct session_ref agent;
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = cline_subagents(st, ref, &list.arena, &ids, &n, e);

    if (!rc && !(list.agent = arena_zalloc(&list.arena, (n + 1) * sizeof *list.agent)))
        rc = err_nomem(e);
    for (size_t i = 0; i < n && !rc; i++) {
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "list sub-agents");
        else if (!cline_subagent(st, ref, ids[i], &list.arena, &agent, NULL))
            rc = cline_describe_agent(&agent, &list, e);
    }
    if (rc)
        subagent_list_fini(&list);
    else
        *out = list;
    return rc;
}

static const char variable[] = "CLINE_DATA_DIR", suffix[] = ".messages.json";
enum { SUFFIX = sizeof suffix - 1, ID_MOST = 200 };

static const char *sessions_variable(const struct store_env *env)
{
    const char *sessions = env_value(env->environment, "CLINE_SESSION_DATA_DIR");

    return sessions && sessions[0] ? sessions : NULL;
}

/* NULL: not known, or out of memory. */
static char *cline_default_path(const struct store_env *env)
{
    const char *data = env_value(env->environment, variable);
    const char *dir = env_value(env->environment, "CLINE_DIR");

    if (sessions_variable(env))
        return config_dir_absolute(env, sessions_variable(env));
    if (data && data[0])
        return config_dir_absolute(env, data);
    if (dir && dir[0] == '/')
        return config_dir_join(dir, "data");
    return env->home ? config_dir_join(env->home, ".cline/data") : NULL;
}

static bool cline_is_id(struct slice id)
{
    return slice_is_of(id, JSONL_ID_CHARACTERS ".") && id.n > 0 && id.n <= ID_MOST &&
           id.p[0] != '-' && id.p[0] != '.';
}

static const struct session_dirs dirs = { .log = suffix, .named = true };
static const struct jsonl_format format = { .keys = &cline_keys,
                                            .dirs = &dirs,
                                            .is_id = cline_is_id,
                                            .id_name = "a Cline session id",
                                            .variable = variable,
                                            .usual = cline_default_path };

static enum err_code cline_open(const struct store_env *env, const char *path, struct store **out,
                                struct err *e)
{
    const char *inside = path || !sessions_variable(env) ? "sessions" : "";

    return jsonl_store_open(&cline_ops, &format, env, path, inside, out, e);
}

/* ---- sub-agents: the other documents in the directory of a session ---- */

static bool name_document(const char *name, struct slice *id)
{
    size_t n = strlen(name);

    *id = (struct slice){ name, n > SUFFIX ? n - SUFFIX : 0 };
    return n > SUFFIX && strcmp(name + n - SUFFIX, suffix) == 0 && cline_is_id(*id);
}

enum err_code cline_subagents(const struct store *st, const struct session_ref *ref,
                              struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    struct slice *name = NULL;
    size_t names = 0;
    enum err_code rc = session_dirs_names(ref, "", name_document, a, &name, &names, e);

    (void)st;
    *ids = name;
    *n = 0;
    for (size_t i = 0; i < names && !rc; i++) {
        const struct slice id = { name[i].p, name[i].n - SUFFIX };

        if (!slice_eq(id, ref->id))
            name[(*n)++] = id;
    }
    return rc;
}

enum err_code cline_subagent(const struct store *st, const struct session_ref *ref,
                             struct slice agent, struct arena *a, struct session_ref *out,
                             struct err *e)
{
    struct slice dir = session_dirs_of(ref);

    if (!cline_is_id(agent) || slice_eq(agent, ref->id))
        return err_set(e, ERR_NOT_FOUND, ref->path.p,
                       "read sub-agent: no such sub-agent; see reprise subagents");
    return jsonl_ref_at(st,
                        arena_format(a, "%.*s/%.*s%s", SLICE_ARG(dir), SLICE_ARG(agent), suffix),
                        agent, a, out, e);
}

const struct store_ops cline_ops = {
    .name = "cline",
    .label = "Cline",
    .folders = "sessions",
    .resume_command = "cline --id {id}",
    .change_command = { [STORE_COMMAND_RENAME] =
                            "cline history update --session-id {id} --title {title}",
                        [STORE_COMMAND_DELETE] = "cline history delete --session-id {id}" },
    .deleted_parts = session_dirs_parts,
    .open = cline_open,
    SESSION_DIRS_LIST,
    .describe = cline_describe,
    .tail = cline_tail,
    .load = cline_load,
    .blocks = cline_blocks,
    .messages = block_messages,
    .subagents = cline_subagents,
    .subagent = cline_subagent,
    .describe_subagents = cline_describe_subagents,
    .agent_variable = jsonl_agent_variable,
    .usage = cline_usage,
    .edits = cline_edits,
    .checkpoints = cline_checkpoints,
    .plan = cline_plan,
    .check = document_check,
    .one_document = true,
    .no_hooks = "no hook of Cline is documented to run at the end of every turn",
    .why = {
        [ABILITY_RENAME] = "Cline keeps its titles in a database, too: cline history update",
        [ABILITY_DELETE] = "Cline keeps its sessions in a database, too: cline history delete",
        [ABILITY_ARCHIVE] = "Cline sessions cannot be archived",
        [ABILITY_TAG] = "Cline sessions have no tags",
        [ABILITY_FORK] = "Cline forks a session only on its screen: /fork",
        [ABILITY_NAME_FORK] = "Cline forks a session only on its screen: /fork",
        [ABILITY_RESUME_AT] = "Cline continues after the last message: use its own checkpoints",
        [ABILITY_TOMBSTONE] = "a Cline document is the only copy of its messages",
        [ABILITY_REAPPEND] = "Cline keeps its metadata beside the messages",
        [ABILITY_RETRIEVE] = "Cline's sessions are already where it looks for them",
        [ABILITY_MOVE] = "Cline keeps an index of its own: resume it by its id",
        [ABILITY_HAVE_BRANCHES] = "Cline sessions have no branches",
        [ABILITY_SET] = "Cline sessions have no settings that other programs may write",
    },
};
