#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/rewind/plan/plan.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/saved_states.h"
#include "store/systems/qwen/qwen.h"

/* Going back with Qwen's file history (docs/formats/qwen.md).
 *
 * A snapshot names, for each tracked file, its saved copy from before the prompt's turn; its promptId ends with the
 * turn's number, which goes on after a rewind. Every record of the log counts here, also those of turns that were rewound, because they changed the same files: only the points are those of the present conversation. */

struct point {
    struct slice id, prompt;
    int64_t time_ms;
    int64_t turn; /* of its snapshot; -1: it has none */
};

/* A call of a tool that writes, until its result. The results of a sub-agent do not contain what was written. */
struct call {
    struct slice id;
    const char *path;
    bool whole; /* content is all of the file */
    struct slice content;
};

struct history {
    const struct qwen *qwen;
    const struct session_ref *ref;
    struct saved_states states; /* its arena owns all texts */
    const char *cwd;            /* NULL: not recorded */
    struct point *point;
    size_t n;
    int64_t turn;  /* of the newest snapshot so far */
    size_t shells; /* commands, in order of time */
    int64_t *shell_ms;
    struct call *call;
    size_t calls;
    bool awaits; /* the newest prompt has no snapshot yet */
    bool agent;  /* the records are those of a sub-agent */
};

/* ---- snapshots ---- */

/* "<session id>########<n>". */
static bool turn_of(struct slice prompt_id, int64_t *turn)
{
    const char *mark = slice_find(prompt_id.p, prompt_id.n, "########", 8);

    return mark &&
           json_int((struct slice){ mark + 8, (size_t)(prompt_id.p + prompt_id.n - mark) - 8 },
                    turn) &&
           *turn >= 0 && *turn < INT32_MAX;
}

static bool is_backup_name(struct slice name)
{
    const char *at = memchr(name.p, '@', name.n);
    size_t hex = at ? (size_t)(at - name.p) : 0, i = hex + 2;

    if ((hex != 16 && hex != 64) || i >= name.n || name.p[hex + 1] != 'v')
        return false;
    for (size_t k = 0; k < hex; k++)
        if (!memchr("0123456789abcdef", name.p[k], 16))
            return false;
    for (; i < name.n; i++)
        if (name.p[i] < '0' || name.p[i] > '9')
            return false;
    return true;
}

static int64_t time_in(struct slice object, const char *name, struct arena *a)
{
    struct slice text;
    int64_t ms;

    return json_get_text(object, name, a, &text) && time_parse(text, &ms) ? ms : TIME_NONE;
}

static void read_backup(struct history *h, struct slice entry, struct saved_state *out)
{
    struct arena *a = &h->states.arena;
    struct slice name, value;
    int64_t version = 0;

    out->is_first = json_get(entry, "version", &value) && json_int(value, &version) && version == 1;
    out->content = SAVED_UNKNOWN;
    if (json_get_true(entry, "failed"))
        out->why = "Qwen Code could not save it";
    else if (!json_get(entry, "backupFileName", &value))
        out->why = "the session does not name its saved copy";
    else if (json_type(value) == JSON_NULL)
        out->content = SAVED_ABSENT;
    else if (!json_text(value, a, &name) || !is_backup_name(name))
        out->why = "its saved copy has a name that Qwen Code does not write";
    else {
        out->content = SAVED_FILE;
        out->file = arena_format(a, "%s/%.*s/%.*s", h->qwen->history, SLICE_ARG(h->ref->id),
                                 SLICE_ARG(name));
    }
}

/* The path of a tracked file; NULL: no path, or out of memory. */
static const char *path_in(struct history *h, struct slice name)
{
    struct arena *a = &h->states.arena;

    if (!name.n || memchr(name.p, '\0', name.n) || (name.p[0] != '/' && !h->cwd))
        return NULL;
    const char *text = arena_copy(a, name).p;

    return text ? path_normalize(h->cwd ? h->cwd : "/", text, a) : NULL;
}

static enum err_code take_entry(struct history *h, struct slice key, struct slice entry,
                                const struct saved_state *of, struct err *e)
{
    struct arena *a = &h->states.arena;
    struct saved_state x = *of;
    struct slice name;
    const char *path = json_text(key, a, &name) ? path_in(h, name) : NULL;
    int64_t saved = time_in(entry, "backupTime", a);

    if (a->failed)
        return err_nomem(e);
    if (!path)
        return ERR_OK;
    read_backup(h, entry, &x);
    if (saved != TIME_NONE && saved > x.time_ms)
        x.time_ms = saved;
    return a->failed ? err_nomem(e) : saved_states_add(&h->states, path, &x, e);
}

static enum err_code take_snapshot(struct history *h, struct slice snapshot, struct err *e)
{
    struct arena *a = &h->states.arena;
    struct saved_state x = { .time_ms = time_in(snapshot, "timestamp", a) };
    struct slice id, files, key, entry;
    struct json_iter it;
    enum err_code rc = ERR_OK;

    if (!json_get_text(snapshot, "promptId", a, &id) || !turn_of(id, &x.turn))
        return a->failed ? err_nomem(e) : ERR_OK;
    h->turn = x.turn;
    if (!json_get(snapshot, "trackedFileBackups", &files) || json_type(files) != JSON_OBJECT ||
        !json_iter_open(&it, files))
        return ERR_OK;
    while (!rc && json_iter_next(&it, &key, &entry))
        rc = take_entry(h, key, entry, &x, e);
    return rc;
}

/* The first snapshot after a prompt is that of its turn. */
static enum err_code take_snapshots(struct history *h, struct slice row, struct err *e)
{
    struct slice list, key, snapshot;
    struct json_iter it;
    enum err_code rc = ERR_OK;
    int64_t before = h->turn;

    if (!json_at(row, "systemPayload.snapshots", &list) || json_type(list) != JSON_ARRAY ||
        !json_iter_open(&it, list))
        return ERR_OK;
    while (!rc && json_iter_next(&it, &key, &snapshot))
        rc = take_snapshot(h, snapshot, e);
    if (h->awaits && h->turn > before)
        h->point[h->n - 1].turn = h->turn;
    h->awaits = h->awaits && h->turn <= before;
    return rc;
}

/* ---- edits ---- */

/* The newest turn that began at this time; a sub-agent's records are read after all of the session's. */
static int64_t turn_at(const struct history *h, int64_t time_ms)
{
    int64_t turn = h->turn;

    if (!h->agent)
        return h->awaits ? h->turn + 1 : h->turn;
    for (size_t i = h->n; i > 0; i--)
        if (h->point[i - 1].turn >= 0) {
            turn = h->point[i - 1].turn;
            if (h->point[i - 1].time_ms <= time_ms)
                break;
        }
    return turn;
}

static enum err_code add_write(struct history *h, const char *path, struct saved_state *x,
                               struct err *e)
{
    x->is_write = true;
    x->turn = turn_at(h, x->time_ms);
    return saved_states_add(&h->states, path, x, e);
}

/* {"originalContent", "newContent", "filePath"} of a tool that wrote a file. Returns false for other results. */
static bool read_result(struct history *h, struct slice row, const char **path,
                        struct saved_state *x)
{
    struct arena *a = &h->states.arena;
    struct slice result, name, value;

    if (!json_at(row, "toolCallResult.resultDisplay", &result) ||
        json_type(result) != JSON_OBJECT || !json_get_text(result, "filePath", a, &name) ||
        !json_get_text(result, "newContent", a, &x->bytes))
        return false;
    x->has_found = json_get_text(result, "originalContent", a, &x->found) ||
                   (json_get(result, "originalContent", &value) && json_type(value) == JSON_NULL);
    x->content = SAVED_BYTES;
    x->bytes = arena_copy(a, x->bytes);
    x->found = arena_copy(a, x->found);
    *path = path_in(h, name);
    return true;
}

/* The same from the call, for a result that only says that it succeeded. */
static bool read_success(struct history *h, struct slice row, const char **path,
                         struct saved_state *x)
{
    struct slice key, part, response, id, value;
    struct json_iter parts;

    if (!qwen_parts(row, &parts))
        return false;
    while (json_iter_next(&parts, &key, &part)) {
        if (!json_get(part, "functionResponse", &response) ||
            !json_get_text(response, "id", &h->states.arena, &id) ||
            json_at(response, "response.error", &value))
            continue;
        for (size_t i = h->calls; i > 0; i--)
            if (slice_eq(h->call[i - 1].id, id)) {
                x->content = h->call[i - 1].whole ? SAVED_BYTES : SAVED_UNKNOWN;
                x->bytes = h->call[i - 1].content;
                *path = h->call[i - 1].path;
                return true;
            }
    }
    return false;
}

static enum err_code take_result(struct history *h, struct slice row, struct err *e)
{
    struct saved_state x = { .time_ms = time_in(row, "timestamp", &h->states.arena) };
    const char *path = NULL;
    bool wrote = read_result(h, row, &path, &x) || read_success(h, row, &path, &x);

    if (h->states.arena.failed)
        return err_nomem(e);
    return wrote && path ? add_write(h, path, &x, e) : ERR_OK;
}

static enum err_code take_shell(struct history *h, struct slice row, struct err *e)
{
    int64_t *more = arena_grow(&h->states.arena, h->shell_ms, h->shells, sizeof *more);

    if (!more)
        return err_nomem(e);
    h->shell_ms = more;
    h->shell_ms[h->shells++] = time_in(row, "timestamp", &h->states.arena);
    return ERR_OK;
}

static enum err_code take_write_call(struct history *h, struct slice call, struct err *e)
{
    struct arena *a = &h->states.arena;
    struct slice args, path;
    struct call c = { .whole = false };
    struct call *more;

    if (!json_get(call, "args", &args) || !json_get_text(args, "file_path", a, &path) ||
        !json_get_text(call, "id", a, &c.id))
        return a->failed ? err_nomem(e) : ERR_OK;
    c.whole = json_get_text(args, "content", a, &c.content);
    c.content = arena_copy(a, c.content);
    c.id = arena_copy(a, c.id);
    c.path = path_in(h, path);
    more = arena_grow(a, h->call, h->calls, sizeof *more);
    if (!more || a->failed)
        return err_nomem(e);
    h->call = more;
    h->call[h->calls++] = c;
    return ERR_OK;
}

static enum err_code take_call(struct history *h, struct slice row, struct slice call,
                               struct err *e)
{
    struct slice name;

    if (!json_get(call, "name", &name))
        return ERR_OK;
    if (json_string_is(name, "run_shell_command"))
        return take_shell(h, row, e);
    return json_string_is(name, "write_file") || json_string_is(name, "edit")
               ? take_write_call(h, call, e)
               : ERR_OK;
}

static enum err_code take_calls(struct history *h, struct slice row, struct err *e)
{
    struct slice key, part, call;
    struct json_iter parts;
    enum err_code rc = ERR_OK;

    if (!qwen_parts(row, &parts))
        return ERR_OK;
    while (!rc && json_iter_next(&parts, &key, &part))
        if (json_get(part, "functionCall", &call))
            rc = take_call(h, row, call, e);
    return rc;
}

/* ---- the log ---- */

static enum err_code take_prompt(struct history *h, struct slice row, struct err *e)
{
    struct arena *a = &h->states.arena;
    struct point p = { .prompt = qwen_prompt(row, a),
                       .time_ms = time_in(row, "timestamp", a),
                       .turn = -1 };
    struct point *more;

    if (h->agent || !p.prompt.n || !json_get_text(row, "uuid", a, &p.id))
        return a->failed ? err_nomem(e) : ERR_OK;
    p.prompt = arena_copy(a, p.prompt);
    p.id = arena_copy(a, p.id);
    more = arena_grow(a, h->point, h->n, sizeof *more);
    if (!more || a->failed)
        return err_nomem(e);
    h->point = more;
    h->point[h->n++] = p;
    h->awaits = true;
    return ERR_OK;
}

static enum err_code take_cwd(struct history *h, struct slice row, struct err *e)
{
    struct slice cwd;

    if (h->cwd || !json_get_text(row, "cwd", &h->states.arena, &cwd) || !cwd.n || cwd.p[0] != '/' ||
        memchr(cwd.p, '\0', cwd.n))
        return ERR_OK;
    h->cwd = arena_copy(&h->states.arena, cwd).p;
    return h->cwd ? ERR_OK : err_nomem(e);
}

static enum err_code take_row(struct slice row, void *arg, bool *stop, struct err *e)
{
    struct history *h = arg;
    struct slice type;
    enum err_code rc = ERR_OK;

    (void)stop;
    if (!json_valid(row) || !json_get(row, "type", &type))
        return ERR_OK;
    rc = take_cwd(h, row, e);
    if (rc)
        return rc;
    if (json_string_is(type, "user"))
        return take_prompt(h, row, e);
    if (json_string_is(type, "assistant"))
        return take_calls(h, row, e);
    if (json_string_is(type, "tool_result"))
        return take_result(h, row, e);
    return slice_eq(qwen_subtype(row, &h->states.arena), SLICE("file_history_snapshot"))
               ? take_snapshots(h, row, e)
               : ERR_OK;
}

/* A sub-agent's edits are tracked in the session's snapshots. */
static enum err_code take_subagent(const char *path, struct slice id, void *arg, struct err *e)
{
    enum err_code rc = jsonl_each_row(path, &qwen_keys, NULL, take_row, arg, NULL);

    (void)id;
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

static void history_fini(struct history *h)
{
    saved_states_fini(&h->states);
}

static enum err_code history_read(struct history *h, const struct store *st,
                                  const struct session_ref *ref, struct err *e)
{
    *h = (struct history){
        .qwen = qwen_of(st), .ref = ref, .states = { .keeps_modes = true }, .turn = -1
    };
    enum err_code rc = jsonl_each_row(ref->path.p, &qwen_keys, NULL, take_row, h, e);

    h->agent = true;
    if (!rc)
        rc = qwen_each_subagent(ref, take_subagent, h, e);
    if (rc)
        history_fini(h);
    return rc;
}

/* ---- the points ---- */

static bool ran_shell(const struct history *h, int64_t from, int64_t to)
{
    for (size_t i = 0; i < h->shells; i++)
        if (h->shell_ms[i] >= from && h->shell_ms[i] < to)
            return true;
    return false;
}

/* The ids of the conversation's messages. */
static enum err_code read_conversation(const struct store *st, const struct session_ref *ref,
                                       struct idset *ids, struct err *e)
{
    struct transcript *t;
    uint32_t number;
    enum err_code rc = jsonl_load(st, ref, NULL, &t, e);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && i < t->n; i++)
        if (idset_add(ids, t->message[i].id, &number))
            rc = err_nomem(e);
    transcript_free(t);
    return rc;
}

static void add_point(const struct history *h, size_t i, struct checkpoint_list *list)
{
    const struct point *p = &h->point[i];
    int64_t next = i + 1 < h->n ? h->point[i + 1].time_ms : INT64_MAX;

    list->checkpoint[list->n++] = (struct checkpoint){
        .id = p->id,
        .message = p->id,
        .prompt = p->prompt,
        .time_ms = p->time_ms,
        .kind = CHECKPOINT_TURN,
        .files = p->turn < 0 ? 0 : saved_states_written(&h->states, p->turn),
        .shell = ran_shell(h, p->time_ms, next),
        .why = p->turn < 0 ? "Qwen Code keeps no file history of turns without its screen" : NULL,
    };
}

enum err_code qwen_checkpoints(const struct store *st, const struct session_ref *ref,
                               struct checkpoint_list *out, struct err *e)
{
    struct checkpoint_list list = { .n = 0 };
    struct idset shown = { 0 };
    struct history h;
    enum err_code rc = history_read(&h, st, ref, e);

    if (rc)
        return rc;
    rc = read_conversation(st, ref, &shown, e);
    list.checkpoint = arena_zalloc(&h.states.arena, (h.n + 1) * sizeof *list.checkpoint);
    if (!rc && !list.checkpoint)
        rc = err_nomem(e);
    for (size_t i = 0; !rc && i < h.n; i++)
        if (idset_has(&shown, id128_of(h.point[i].id)))
            add_point(&h, i, &list);
    idset_fini(&shown);
    if (rc) {
        history_fini(&h);
        return rc;
    }
    list.arena = h.states.arena; /* it owns the texts */
    h.states.arena = (struct arena){ 0 };
    history_fini(&h);
    *out = list;
    return ERR_OK;
}

/* ---- the plan ---- */

static enum err_code find_point(const struct history *h, struct slice id, const struct point **out,
                                struct err *e)
{
    size_t hits = 0;

    for (size_t i = 0; i < h->n; i++) {
        bool same = slice_eq(h->point[i].id, id);

        if (!same && !jsonl_begins(h->point[i].id, id))
            continue;
        *out = &h->point[i];
        hits = same ? 1 : hits + 1;
        if (same)
            break;
    }
    if (hits == 1)
        return (*out)->turn >= 0
                   ? ERR_OK
                   : err_set(e, ERR_NOT_FOUND, h->ref->path.p,
                             "rewind: Qwen Code keeps no file history of turns without its screen");
    return hits ? err_set(e, ERR_USAGE, h->ref->path.p, "rewind: several prompts begin so")
                : err_set(e, ERR_NOT_FOUND, h->ref->path.p, "rewind: no such prompt");
}

/* The directory that the session's folder is named after: its own, or one above it. */
static const char *root_of(struct history *h)
{
    return h->cwd ? config_dir_project_ancestor(h->ref->folder, slice_of(h->cwd), &h->states.arena)
                  : NULL;
}

static enum err_code note_shell(const struct history *h, const struct point *p,
                                struct rewind_plan *plan, struct err *e)
{
    return ran_shell(h, p->time_ms, INT64_MAX)
               ? rewind_plan_note(plan,
                                  "shell commands ran since then: what they changed in other files "
                                  "is not covered",
                                  e)
               : ERR_OK;
}

static enum err_code fill_plan(struct history *h, const struct point *p, struct rewind_plan *plan,
                               struct err *e)
{
    struct arena *a = &plan->arena;

    plan->system = qwen_ops.name;
    plan->session = arena_copy(a, h->ref->id).p;
    plan->point = arena_copy(a, p->id).p;
    plan->point_ms = p->time_ms;
    if (!plan->session || !plan->point)
        return err_nomem(e);
    enum err_code rc = rewind_plan_root(h->qwen->jsonl.base.env, plan, root_of(h), e);

    if (!rc)
        rc = saved_states_plan(&h->states, p->turn, plan, e);
    return rc ? rc : note_shell(h, p, plan, e);
}

enum err_code qwen_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                        struct rewind_plan *out, struct err *e)
{
    struct rewind_plan plan = { 0 };
    const struct point *p = NULL;
    struct history h;
    enum err_code rc = history_read(&h, st, ref, e);

    if (rc)
        return rc;
    rc = find_point(&h, point, &p, e);
    if (!rc)
        rc = fill_plan(&h, p, &plan, e);
    history_fini(&h);
    if (rc)
        rewind_plan_fini(&plan);
    else
        *out = plan;
    return rc;
}
