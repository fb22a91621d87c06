#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/saved_states.h"
#include "store/systems/qwen/qwen.h"

/* A rewind with Qwen's file history (docs/formats/qwen.md). A snapshot names, for each tracked
 * file, its saved copy from before the prompt's turn. All records of the log are used, including
 * those of rewound turns, because they changed the same files; only the points are limited to the
 * present conversation. */

/* A snapshot is written again for each file that is added to it, and after a rewind. */
struct snapshot {
    struct slice prompt_id;
    int64_t time_ms, turn;
};

struct history {
    struct file_history of;
    const struct qwen *qwen;
    int64_t turn; /* the number of the newest one, from 0; -1: none yet */
    struct snapshot *snapshot;
    size_t snapshots;
    bool awaits; /* the newest prompt has no snapshot yet */
    bool agent;  /* the records are those of a sub-agent */
};

/* ---- snapshots ---- */

/* The number in a promptId ("<session id>########<n>") continues after a rewind, but after a resume
 * it is counted from the remaining turns, so it identifies a turn only together with its time. */
static enum err_code qwen_turn_of(struct history *h, struct slice prompt_id, int64_t time_ms,
                                  int64_t *turn, struct err *e)
{
    struct arena *a = &h->of.states.arena;

    for (size_t i = h->snapshots; i > 0; i--)
        if (h->snapshot[i - 1].time_ms == time_ms &&
            slice_eq(h->snapshot[i - 1].prompt_id, prompt_id)) {
            *turn = h->snapshot[i - 1].turn;
            return ERR_OK;
        }
    struct snapshot *more = arena_grow(a, h->snapshot, h->snapshots, sizeof *more);
    struct slice own = arena_copy(a, prompt_id);

    if (!more || a->failed)
        return err_nomem(e);
    if (h->awaits)
        h->of.point[h->of.n - 1].turn = h->turn;
    else
        h->turn++;
    h->awaits = false;
    h->snapshot = more;
    h->snapshot[h->snapshots++] = (struct snapshot){ own, time_ms, h->turn };
    *turn = h->turn;
    return ERR_OK;
}

static void qwen_read_backup(struct history *h, struct slice entry, struct saved_state *out)
{
    struct arena *a = &h->of.states.arena;
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
    else if (!json_text(value, a, &name) ||
             !(file_history_is_version(name, 16) || file_history_is_version(name, 64)))
        out->why = "its saved copy has a name that Qwen Code does not write";
    else {
        out->content = SAVED_FILE;
        out->file = arena_format(a, "%s/%.*s/%.*s", h->qwen->history, SLICE_ARG(h->of.ref->id),
                                 SLICE_ARG(name));
    }
}

static enum err_code qwen_add_entry(struct history *h, struct slice key, struct slice entry,
                                    const struct saved_state *of, struct err *e)
{
    struct arena *a = &h->of.states.arena;
    struct saved_state x = *of;
    struct slice name;
    const char *path = json_text(key, a, &name) ? file_history_path(&h->of, name) : NULL;
    int64_t saved = json_time_at(entry, "backupTime", a);

    if (a->failed)
        return err_nomem(e);
    if (!path)
        return ERR_OK;
    qwen_read_backup(h, entry, &x);
    x.saved_ms = saved == TIME_NONE ? 0 : saved;
    if (saved != TIME_NONE && saved > x.time_ms)
        x.time_ms = saved;
    return a->failed ? err_nomem(e) : saved_states_add(&h->of.states, path, &x, e);
}

static enum err_code qwen_read_snapshot(struct history *h, struct slice snapshot, struct err *e)
{
    struct arena *a = &h->of.states.arena;
    struct saved_state x = { .time_ms = json_time_at(snapshot, "timestamp", a) };
    struct slice id, files, key, entry;
    struct json_iter it;
    enum err_code rc = ERR_OK;

    if (!json_get_text(snapshot, "promptId", a, &id))
        return a->failed ? err_nomem(e) : ERR_OK;
    rc = qwen_turn_of(h, id, x.time_ms, &x.turn, e);
    if (rc || !json_get(snapshot, "trackedFileBackups", &files) ||
        json_type(files) != JSON_OBJECT || !json_iter_open(&it, files))
        return rc;
    while (!rc && json_iter_next(&it, &key, &entry))
        rc = qwen_add_entry(h, key, entry, &x, e);
    return rc;
}

/* ---- edits ---- */

/* The result of the tool shows whether there was a file. */
static bool is_creation(struct history *h, struct slice row)
{
    struct slice key, part, text;
    struct json_iter parts;
    bool created = false;

    if (!qwen_parts(row, &parts))
        return false;
    while (json_iter_next(&parts, &key, &part))
        created |= json_at(part, "functionResponse.response.output", &text) &&
                   json_text(text, &h->of.states.arena, &text) &&
                   slice_starts(text, "Successfully created and wrote to new file: ");
    return created;
}

/* {"originalContent", "newContent", "filePath"} of a tool that wrote a file. Returns false for other results. */
static bool qwen_read_result(struct history *h, struct slice row, const char **path,
                             struct saved_state *x)
{
    struct arena *a = &h->of.states.arena;
    struct slice result, name, value;

    if (!json_at(row, "toolCallResult.resultDisplay", &result) ||
        json_type(result) != JSON_OBJECT || json_get_true(result, "newContentTruncated") ||
        !json_get_text(result, "filePath", a, &name) ||
        !json_get_text(result, "newContent", a, &x->bytes))
        return false;
    x->has_found = !json_get_true(result, "originalContentTruncated") &&
                   (json_get_text(result, "originalContent", a, &x->found) ||
                    (json_get(result, "originalContent", &value) && json_type(value) == JSON_NULL));
    x->found_absent = is_creation(h, row);
    x->content = SAVED_BYTES;
    x->bytes = arena_copy(a, x->bytes);
    x->found = arena_copy(a, x->found);
    *path = file_history_path(&h->of, name);
    return true;
}

/* The call of a result that only reports success: that of a sub-agent does not contain what was written, and that of a
 * large file only its beginning and end. NULL: no such call, or it failed. */
static const struct file_call *call_of_success(struct history *h, struct slice row)
{
    const struct file_call *call = NULL;
    struct slice key, part, response, id, value;
    struct json_iter parts;

    if (!qwen_parts(row, &parts))
        return NULL;
    while (!call && json_iter_next(&parts, &key, &part))
        if (json_get(part, "functionResponse", &response) &&
            json_get_text(response, "id", &h->of.states.arena, &id) &&
            !json_at(response, "response.error", &value))
            call = file_history_call_of(&h->of, id);
    return call;
}

static enum err_code apply_result(struct history *h, struct slice row, struct err *e)
{
    struct saved_state x = { .time_ms = json_time_at(row, "timestamp", &h->of.states.arena) };
    const struct file_call *call = NULL;
    const char *path = NULL;

    if (!qwen_read_result(h, row, &path, &x)) {
        call = call_of_success(h, row);
        path = call ? call->path : NULL;
    }
    if (h->of.states.arena.failed)
        return err_nomem(e);
    if (!path)
        return ERR_OK;
    if (call)
        TRY(file_history_written(&h->of, call, &x, e));

    x.is_write = true;

    /* The newest turn that began at this time; a sub-agent's records are read after all of the
     * session's. */
    int64_t turn = h->turn;

    if (!h->agent)
        x.turn = turn;
    else {
        for (size_t i = h->of.n; i > 0; i--)
            if (h->of.point[i - 1].turn >= 0) {
                turn = h->of.point[i - 1].turn;
                if (h->of.point[i - 1].time_ms <= x.time_ms)
                    break;
            }
        x.turn = turn;
    }

    return saved_states_add(&h->of.states, path, &x, e);
}

static enum err_code qwen_read_call(struct history *h, struct slice row, struct slice call,
                                    struct err *e)
{
    struct slice name;

    if (!json_get(call, "name", &name))
        return ERR_OK;
    if (json_string_is(name, "run_shell_command")) {
        struct arena *a = &h->of.states.arena;
        struct slice args = { NULL, 0 }, command = { NULL, 0 }, dir;
        bool moved = json_get(call, "args", &args) && json_get_text(args, "directory", a, &dir);

        if (!moved && args.n)
            json_get_text(args, "command", a, &command);
        return a->failed ? err_nomem(e)
                         : file_history_shell(&h->of, json_time_at(row, "timestamp", a), command,
                                              NULL, e);
    }
    if (!json_string_is(name, "write_file") && !json_string_is(name, "edit"))
        return ERR_OK;

    struct arena *a = &h->of.states.arena;
    struct slice args, path;
    struct file_call c = { .whole = false };

    if (!json_get(call, "args", &args) || !json_get_text(args, "file_path", a, &path) ||
        !json_get_text(call, "id", a, &c.id))
        return a->failed ? err_nomem(e) : ERR_OK;
    c.whole = json_get_text(args, "content", a, &c.new);
    c.all = json_get_true(args, "replace_all");
    if (!c.whole && (!json_get_text(args, "old_string", a, &c.old) ||
                     !json_get_text(args, "new_string", a, &c.new)))
        c.old = c.new = (struct slice){ NULL, 0 };
    c.path = file_history_path(&h->of, path);
    return file_history_call(&h->of, &c, e);
}

/* ---- the log ---- */

static enum err_code qwen_read_row(struct slice row, void *arg, bool *stop, struct err *e)
{
    struct history *h = arg;
    struct slice type, list, key, snapshot, cwd;
    struct json_iter it;

    (void)stop;
    if (!json_valid(row) || !json_get(row, "type", &type))
        return ERR_OK;
    if (!h->of.cwd && json_get_text(row, "cwd", &h->of.states.arena, &cwd) && cwd.n &&
        cwd.p[0] == '/' && !memchr(cwd.p, '\0', cwd.n)) {
        h->of.cwd = arena_copy(&h->of.states.arena, cwd).p;
        TRY(h->of.cwd ? ERR_OK : err_nomem(e));
    }
    if (json_string_is(type, "user")) {
        struct arena *a = &h->of.states.arena;
        struct file_point p = { .prompt = qwen_prompt(row, a),
                                .time_ms = json_time_at(row, "timestamp", a) };

        /* A message that was typed while the agent worked is part of its turn. */
        if (h->agent || !p.prompt.n || qwen_subtype(row, a).n ||
            !json_get_text(row, "uuid", a, &p.id))
            return a->failed ? err_nomem(e) : ERR_OK;
        h->awaits = true; /* the first new snapshot after a prompt is that of its turn */
        p.turn = ++h->turn;
        return file_history_point(&h->of, p, e);
    }
    if (json_string_is(type, "assistant")) {
        struct slice part, call;
        struct json_iter parts;

        if (qwen_parts(row, &parts))
            while (json_iter_next(&parts, &key, &part))
                if (json_get(part, "functionCall", &call))
                    TRY(qwen_read_call(h, row, call, e));
        return ERR_OK;
    }
    if (json_string_is(type, "tool_result"))
        return apply_result(h, row, e);

    if (!slice_eq(qwen_subtype(row, &h->of.states.arena), SLICE("file_history_snapshot")))
        return ERR_OK;
    enum err_code rc = ERR_OK;

    if (!json_at(row, "systemPayload.snapshots", &list) || json_type(list) != JSON_ARRAY ||
        !json_iter_open(&it, list))
        return ERR_OK;
    while (!rc && json_iter_next(&it, &key, &snapshot))
        rc = qwen_read_snapshot(h, snapshot, e);
    return rc;
}

/* A sub-agent's edits are tracked in the session's snapshots. */
static enum err_code qwen_read_subagent(const char *path, struct slice id, void *arg, struct err *e)
{
    enum err_code rc = jsonl_each_row(path, &qwen_keys, NULL, qwen_read_row, arg, NULL);

    (void)id;
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

static enum err_code qwen_history_read(struct history *h, const struct store *st,
                                       const struct session_ref *ref, struct err *e)
{
    *h = (struct history){
        .of = { .ref = ref, .former = { .ref = ref }, .states = { .keeps_modes = true } },
        .qwen = qwen_of(st),
        .turn = -1,
    };
    enum err_code rc = jsonl_each_row(ref->path.p, &qwen_keys, NULL, qwen_read_row, h, e);

    h->agent = true;
    if (!rc)
        rc = qwen_each_subagent(ref, qwen_read_subagent, h, e);
    if (rc)
        saved_states_fini(&h->of.states);
    return rc;
}

enum err_code qwen_checkpoints(const struct store *st, const struct session_ref *ref,
                               struct checkpoint_list *out, struct err *e)
{
    struct history h;

    TRY(qwen_history_read(&h, st, ref, e));
    return file_history_checkpoints(&h.of, out, e);
}

enum err_code qwen_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                        struct rewind_plan *out, struct err *e)
{
    struct history h;

    TRY(qwen_history_read(&h, st, ref, e));
    /* the directory that the session's folder is named after: its own, or one above it */
    const char *root =
        h.of.cwd ? config_dir_project_ancestor(ref->folder, slice_of(h.of.cwd), &h.of.states.arena)
                 : NULL;

    return file_history_plan(&h.of, point, root, out, e);
}
