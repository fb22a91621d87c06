#include <stdlib.h>
#include <string.h>

#include "lite/base/time.h"
#include "store/systems/common/saved_states.h"
#include "store/systems/kimi/kimi.h"

/* A rewind with the file history of Kimi Code, which does not itself rewind files
 * (docs/formats/kimi.md). file_history.tracked names the copy of a file before its first edit in a
 * turn; file_history.checkpoint names the files after a turn, but is missing if the program ended
 * too early. All rows are used, including those of undone turns, because an undo does not change
 * files. */

struct history {
    struct file_history of;
    const char *folder; /* the folder of the agent whose log is read; contains file-history */
    bool agent;         /* the log is that of a sub-agent */
};

/* ---- saved copies ---- */

/* "file-history/<64 digits>@v<n>" */
static bool kimi_is_key(struct slice key)
{
    static const char folder[] = "file-history/";
    const size_t at = sizeof folder - 1;

    return slice_starts(key, folder) &&
           file_history_is_version((struct slice){ key.p + at, key.n - at }, 64);
}

/* The turn of the session in which a sub-agent worked; its log is read after the session's. */
static int64_t kimi_turn_at(const struct history *h, int64_t time_ms)
{
    int64_t turn = h->of.n ? h->of.point[0].turn : 0;

    for (size_t i = 0; i < h->of.n; i++)
        if (h->of.point[i].time_ms <= time_ms)
            turn = h->of.point[i].turn;
    return turn;
}

static int64_t kimi_turn_of(const struct history *h, struct slice row)
{
    struct slice value;
    int64_t turn;

    if (h->agent || !json_get(row, "turnId", &value) || !json_int(value, &turn))
        return kimi_turn_at(h, kimi_time(row));
    return turn;
}

static enum err_code kimi_add_entry(struct history *h, struct slice name, struct slice entry,
                                    struct saved_state *x, struct err *e)
{
    const char *path = file_history_path(&h->of, name);

    struct arena *a = &h->of.states.arena;
    struct slice key, value, hash;

    x->content = SAVED_UNKNOWN;
    if (!json_get(entry, "key", &value))
        x->why = "the session does not name its saved copy";
    else if (json_type(value) == JSON_NULL)
        x->content = SAVED_ABSENT;
    else if (!json_text(value, a, &key) || !kimi_is_key(key))
        x->why = "its saved copy has a name that Kimi Code does not write";
    else {
        x->content = SAVED_FILE;
        x->file = arena_format(a, "%s/%.*s", h->folder, SLICE_ARG(key));
        x->sha256 = json_get_text(entry, "contentHash", a, &hash) && hash.n == 64
                        ? arena_copy(a, hash).p
                        : NULL;
    }

    if (h->of.states.arena.failed)
        return err_nomem(e);
    return path ? saved_states_add(&h->of.states, path, x, e) : ERR_OK;
}

static enum err_code kimi_read_checkpoint(struct history *h, struct slice row, struct err *e)
{
    struct slice entries, key, entry, path;
    struct json_iter it;
    enum err_code rc = ERR_OK;

    if (!json_get(row, "entries", &entries) || json_type(entries) != JSON_OBJECT ||
        !json_iter_open(&it, entries))
        return ERR_OK;
    while (!rc && json_iter_next(&it, &key, &entry)) {
        struct saved_state x = { .time_ms = kimi_time(row),
                                 .turn = kimi_turn_of(h, row),
                                 .is_write = true };

        if (json_text(key, &h->of.states.arena, &path))
            rc = kimi_add_entry(h, path, entry, &x, e);
    }
    return rc;
}

/* ---- edits ---- */

static enum err_code kimi_keep_call(struct history *h, struct slice event, bool whole,
                                    struct err *e)
{
    struct arena *a = &h->of.states.arena;
    struct file_call c = { .whole = whole };
    struct slice args, path;

    if (!json_get(event, "args", &args) || !json_get_text(args, "path", a, &path))
        return a->failed ? err_nomem(e) : ERR_OK;
    json_get_text(event, "toolCallId", a, &c.id);
    json_get_text(args, whole ? "content" : "new_string", a, &c.new);
    json_get_text(args, "old_string", a, &c.old);
    c.all = json_get_true(args, "replace_all");
    c.path = file_history_path(&h->of, path);
    return file_history_call(&h->of, &c, e);
}

static enum err_code kimi_read_call(struct history *h, struct slice row, struct slice event,
                                    struct err *e)
{
    struct slice name, mode;

    if (!json_get(event, "name", &name))
        return ERR_OK;
    if (json_string_is(name, "Bash") || json_string_is(name, "Shell")) {
        struct arena *a = &h->of.states.arena;
        struct slice command = { NULL, 0 }, dir;

        if (!json_at(event, "args.cwd", &dir) && json_at(event, "args.command", &command) &&
            !json_text(command, a, &command))
            command = (struct slice){ NULL, 0 };
        return a->failed ? err_nomem(e)
                         : file_history_shell(&h->of, kimi_time(row), command, NULL, e);
    }
    if (json_string_is(name, "Write"))
        return kimi_keep_call(h, event, !json_at(event, "args.mode", &mode), e);
    return json_string_is(name, "Edit") ? kimi_keep_call(h, event, false, e) : ERR_OK;
}

/* ---- the log ---- */

static enum err_code kimi_read_row(struct slice row, void *arg, bool *stop, struct err *e)
{
    struct history *h = arg;
    struct slice event = { NULL, 0 }, path, entry, value, id, result;
    const struct file_call *call;

    (void)stop;
    if (!json_valid(row) || json_type(row) != JSON_OBJECT)
        return ERR_OK;

    /* Rows of the file history name saved copies, first those from before a turn, then those from after it. */
    if (json_get_is(row, "type", "file_history.tracked")) {
        struct saved_state x = { .time_ms = kimi_time(row),
                                 .turn = kimi_turn_of(h, row),
                                 .is_first = true };

        if (!json_get_text(row, "path", &h->of.states.arena, &path) ||
            !json_get(row, "entry", &entry))
            return ERR_OK;
        return kimi_add_entry(h, path, entry, &x, e);
    }
    if (json_get_is(row, "type", "file_history.checkpoint"))
        return kimi_read_checkpoint(h, row, e);

    /* A prompt that a person typed is a point, unless the log is that of a sub-agent. */
    if (json_get_is(row, "type", "turn.prompt")) {
        if (!kimi_is_typed(row))
            return ERR_OK;
        struct arena *a = &h->of.states.arena;
        struct file_point p = { .prompt = kimi_prompt(row, a),
                                .time_ms = kimi_time(row),
                                .turn = -1 };

        if (h->agent || !json_get_text(row, "promptId", a, &p.id) ||
            !json_get(row, "turnId", &value) || !json_int(value, &p.turn) || p.turn < 0)
            return a->failed ? err_nomem(e) : ERR_OK;
        return file_history_point(&h->of, p, e);
    }

    /* An edit counts once its result arrives without an error; until then only its call is kept. */
    if (!json_get_is(row, "type", "context.append_loop_event") || !json_get(row, "event", &event))
        return ERR_OK;
    if (json_get_is(event, "type", "tool.call"))
        return kimi_read_call(h, row, event, e);

    if (!json_get_is(event, "type", "tool.result"))
        return ERR_OK;
    struct saved_state x = { .time_ms = kimi_time(row),
                             .turn = kimi_turn_at(h, kimi_time(row)),
                             .is_write = true };

    if (!json_get_text(event, "toolCallId", &h->of.states.arena, &id) ||
        !json_get(event, "result", &result) || json_get_true(result, "isError"))
        return ERR_OK;
    call = file_history_call_of(&h->of, id);
    if (!call || !call->path)
        return ERR_OK;
    TRY(file_history_written(&h->of, call, &x, e));
    return saved_states_add(&h->of.states, call->path, &x, e);
}

static enum err_code kimi_read_log(struct history *h, const char *path, struct err *e)
{
    h->folder = arena_format(&h->of.states.arena, "%.*s",
                             (int)(strlen(path) - strlen("/wire.jsonl")), path);
    return h->folder ? jsonl_each_row(path, &kimi_keys, NULL, kimi_read_row, h, e) : err_nomem(e);
}

static enum err_code kimi_history_read(struct history *h, const struct store *st,
                                       const struct session_ref *ref, struct err *e)
{
    struct kimi_state state;
    struct slice *ids;
    struct session_ref agent;
    size_t n;

    *h = (struct history){ .of = { .ref = ref, .states = { .keeps_oldest = true } } };
    kimi_state_read(ref, &h->of.states.arena, &state);
    if (state.cwd.n && state.cwd.p[0] == '/' && !memchr(state.cwd.p, '\0', state.cwd.n))
        h->of.cwd = state.cwd.p;
    enum err_code rc = h->of.states.arena.failed ? err_nomem(e) : kimi_read_log(h, ref->path.p, e);

    if (!rc) {
        /* If the log of a sub-agent cannot be read, its changes are unknown and left out. */
        struct arena *a = &h->of.states.arena;

        rc = kimi_subagents(st, h->of.ref, a, &ids, &n, e);

        h->agent = true;
        for (size_t i = 0; !rc && i < n; i++)
            if (!kimi_subagent(st, h->of.ref, ids[i], a, &agent, NULL) &&
                kimi_read_log(h, agent.path.p, NULL) == ERR_NOMEM)
                rc = err_nomem(e);
    }
    if (rc)
        saved_states_fini(&h->of.states);
    return rc;
}

enum err_code kimi_checkpoints(const struct store *st, const struct session_ref *ref,
                               struct checkpoint_list *out, struct err *e)
{
    struct history h;

    TRY(kimi_history_read(&h, st, ref, e));
    return file_history_checkpoints(&h.of, out, e);
}

enum err_code kimi_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                        struct rewind_plan *out, struct err *e)
{
    struct history h;

    TRY(kimi_history_read(&h, st, ref, e));

    bool in = h.of.cwd && kimi_is_folder_of(ref->folder, slice_of(h.of.cwd));

    return file_history_plan(&h.of, point, in ? h.of.cwd : NULL, out, e);
}
