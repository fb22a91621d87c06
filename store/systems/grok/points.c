#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/systems/common/saved_states.h"
#include "store/systems/grok/grok.h"

/* A rewind with rewind_points.jsonl, which contains, for each prompt by its number, the texts of
 * the files that its turn read or wrote, from before and after it. Grok's screen never uses them,
 * because it rewinds only the conversation; it then adds the points of the dropped prompts to the
 * previous point, so the first text of a file is still the one from before all of them. A null
 * before a turn means that the file did not exist; after a turn, it may also mean a file that is
 * not text. Files that were only read are left alone. */

static enum err_code grok_add_state(struct file_history *h, struct slice key, struct slice snapshot,
                                    int64_t turn, bool after, struct err *e)
{
    struct arena *a = &h->states.arena;
    struct saved_state x = { .turn = turn, .is_write = after, .is_first = !after };
    struct slice name;
    const char *path;

    if (!json_text(key, a, &name))
        return a->failed ? err_nomem(e) : ERR_OK;
    path = file_history_path(h, name);

    struct slice value, text;

    x.time_ms = json_time_at(snapshot, "captured_at", a);

    /* A null before an edit means that there was no file; after it, only that its text was not recorded. */
    x.content = SAVED_UNKNOWN;
    x.why = "Grok did not record its text";
    if (json_get_text(snapshot, "content", a, &text)) {
        x.content = SAVED_BYTES;
        x.bytes = arena_copy(a, text);
    } else if (!after && json_get(snapshot, "content", &value) && json_type(value) == JSON_NULL) {
        x.content = SAVED_ABSENT;
    }

    if (a->failed)
        return err_nomem(e);
    return path ? saved_states_add(&h->states, path, &x, e) : ERR_OK;
}

static enum err_code add_states(struct file_history *h, struct slice befores, struct slice afters,
                                int64_t turn, bool after, struct err *e)
{
    struct slice key, snapshot;
    struct json_iter it;
    enum err_code rc = ERR_OK;

    if (json_type(after ? afters : befores) != JSON_OBJECT ||
        !json_iter_open(&it, after ? afters : befores))
        return ERR_OK;
    while (!rc && json_iter_next(&it, &key, &snapshot)) {
        /* A file with the same text before and after was only read. */
        struct arena a = { 0 };
        struct slice name, other, x, y;
        bool same = json_text(key, &a, &name) && name.n && !memchr(name.p, '\0', name.n);

        if (same) {
            const char *path = arena_copy(&a, name).p;

            same = path && json_get(after ? befores : afters, path, &other) &&
                   json_get(snapshot, "content", &x) && json_get(other, "content", &y) &&
                   json_type(x) == JSON_STRING && slice_eq(x, y);
        }
        arena_fini(&a);
        if (!same)
            rc = grok_add_state(h, key, snapshot, turn, after, e);
    }
    return rc;
}

struct grok_history {
    struct file_history of;
    bool agent; /* the rows are those of a sub-agent */
};

static enum err_code grok_read_point(struct slice row, void *arg, bool *stop, struct err *e)
{
    struct grok_history *g = arg;
    struct slice value, befores = SLICE(""), afters = SLICE("");
    int64_t turn;

    (void)stop;
    if (!json_valid(row) || !json_get(row, "prompt_index", &value) || !json_int(value, &turn) ||
        turn < 0 || turn > INT32_MAX)
        return ERR_OK;
    json_get(row, "file_snapshots", &befores);
    json_get(row, "after_snapshots", &afters);
    if (g->agent) {
        /* The turn of the session in which a sub-agent worked at that time. */
        int64_t time_ms = json_time_at(row, "created_at", &g->of.states.arena);
        size_t i = g->of.n;

        while (i > 1 && g->of.point[i - 1].time_ms > time_ms)
            i--;
        turn = i ? g->of.point[i - 1].turn : 0;
    }
    TRY(add_states(&g->of, befores, afters, turn, false, e));
    return add_states(&g->of, befores, afters, turn, true, e);
}

/* ---- the prompts ---- */

static enum err_code grok_read_row(struct file_history *h, struct slice row, bool agent,
                                   struct err *e)
{
    struct arena *a = &h->states.arena;
    struct file_point p = { .time_ms = json_time_at(row, "time", a), .turn = -1 };
    struct slice kind;

    if (!json_get(row, "kind", &kind))
        return ERR_OK;
    if (json_string_is(kind, "call")) {
        /* Older programs record the kind of a call, newer ones a command. */
        struct slice value;
        bool ran =
            (json_at(row, "update.rawInput.command", &value) && json_type(value) == JSON_STRING) ||
            (json_at(row, "update.kind", &value) && json_string_is(value, "execute"));

        return ran ? file_history_shell(h, p.time_ms, SLICE(""), NULL, e) : ERR_OK;
    }
    if (agent || !json_string_is(kind, "user") || !json_get_text(row, "id", a, &p.id) ||
        !json_get_text(row, "text", a, &p.prompt))
        return a->failed ? err_nomem(e) : ERR_OK;
    p.turn = (int64_t)h->n;
    return file_history_point(h, p, e);
}

/* The prompts and the commands of a log, and the points beside it. */
static enum err_code grok_read_log(struct grok_history *g, const struct session_ref *of,
                                   struct err *e)
{
    static const struct index_keys keys = { .type = "prompt_index" };
    struct slice dir = session_dirs_of(of), rest, line;
    const char *path =
        arena_format(&g->of.states.arena, "%.*s/rewind_points.jsonl", SLICE_ARG(dir));
    AUTO_BUF rows = { 0 };
    bool torn;

    if (!path)
        return err_nomem(e);
    TRY(grok_compose(of->path.p, false, &rows, e));
    rest = buf_slice(&rows);
    while (slice_line(&rest, &line, &torn))
        TRY(grok_read_row(&g->of, line, g->agent, e));

    enum err_code rc = jsonl_each_row(path, &keys, NULL, grok_read_point, g, e);

    return rc == ERR_NOT_FOUND ? ERR_OK : rc; /* no turn read or wrote a file */
}

/* A sub-agent has points of its own. One whose files cannot be read is left out. */
static enum err_code grok_read_agents(struct grok_history *g, const struct store *st, struct err *e)
{
    struct arena *a = &g->of.states.arena;
    struct session_ref agent;
    struct slice *ids = NULL;
    size_t n = 0;

    g->agent = true;
    TRY(grok_subagents(st, g->of.ref, a, &ids, &n, e));
    for (size_t i = 0; i < n; i++) {
        enum err_code rc = grok_subagent(st, g->of.ref, ids[i], a, &agent, NULL);

        if (!rc)
            rc = grok_read_log(g, &agent, NULL);
        if (rc == ERR_NOMEM)
            return err_nomem(e);
    }
    return ERR_OK;
}

static enum err_code grok_history_read(struct grok_history *g, const struct store *st,
                                       const struct session_ref *ref, struct err *e)
{
    struct arena *a = &g->of.states.arena;
    struct buf summary = { 0 };
    struct slice cwd;

    *g = (struct grok_history){ .of = { .ref = ref } };
    enum err_code rc = session_dirs_json(ref, "summary.json", 4 << 20, &summary);

    if (!rc && summary.n && json_at(buf_slice(&summary), "info.cwd", &cwd) &&
        json_text(cwd, a, &cwd) && cwd.n && cwd.p[0] == '/' && !memchr(cwd.p, '\0', cwd.n))
        g->of.cwd = arena_copy(a, cwd).p;
    buf_fini(&summary);
    rc = rc || a->failed ? err_nomem(e) : ERR_OK;
    if (!rc)
        rc = grok_read_log(g, ref, e);
    if (!rc)
        rc = grok_read_agents(g, st, e);
    if (rc)
        saved_states_fini(&g->of.states);
    return rc;
}

enum err_code grok_checkpoints(const struct store *st, const struct session_ref *ref,
                               struct checkpoint_list *out, struct err *e)
{
    struct grok_history h;

    TRY(grok_history_read(&h, st, ref, e));
    return file_history_checkpoints(&h.of, out, e);
}

enum err_code grok_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                        struct rewind_plan *out, struct err *e)
{
    struct grok_history h;

    TRY(grok_history_read(&h, st, ref, e));
    /* the directory must be the one that the session's folder is named after */
    struct slice named =
        grok_directory((const struct jsonl_store *)st, ref->folder.p, &h.of.states.arena);
    bool is = h.of.cwd && slice_eq(named, slice_of(h.of.cwd));

    return file_history_plan(&h.of, point, is ? h.of.cwd : NULL, out, e);
}
