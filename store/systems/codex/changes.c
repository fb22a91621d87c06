#include "store/systems/codex/changes.h"

#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/systems/codex/codex.h"
#include "store/systems/codex/rollout.h"
#include "store/systems/codex/row.h"
#include "store/systems/common/inferred.h"

struct reading {
    struct codex_changes *out;
    struct arena scratch;
    struct slice turn; /* of the lines above, in the arena of the result */
    size_t turn_at, at;
    bool agents;             /* there are sub-agents */
    bool items;              /* commands are recorded as items, so calls are not examined */
    bool failed;             /* the patch of the line failed, perhaps after some of its files */
    struct codex_change now; /* the common part of the changes of a line */
    struct slice thread;
};

static struct slice text_of(struct slice object, const char *path, struct arena *a)
{
    struct slice value, text = { NULL, 0 };

    if (json_at(object, path, &value) && json_type(value) == JSON_STRING &&
        !json_text(value, a, &text))
        a->failed = true;
    return text;
}

/* ---- patches ---- */

static const char *clean_path(const struct reading *r, struct slice path)
{
    struct arena *a = &r->out->arena;

    if (!path.n || memchr(path.p, '\0', path.n) || (path.p[0] != '/' && !r->out->cwd))
        return NULL;
    path = arena_copy(a, path);
    return path.p ? path_normalize(r->out->cwd ? r->out->cwd : "", path.p, a) : NULL;
}

static void add_change(struct reading *r, enum codex_change_kind kind, const char *path,
                       const char *other, struct slice text)
{
    struct codex_changes *c = r->out;
    struct codex_change *list = arena_grow(&c->arena, c->change, c->changes, sizeof *list);

    if (!list || !path)
        return;
    c->change = list;
    struct codex_change x = r->now;

    x.kind = r->failed ? CODEX_UNSURE : kind;
    x.path = path;
    x.other = other;
    x.text = arena_copy(&c->arena, text);
    x.at = r->at;
    list[c->changes++] = x;
}

static void take_file(struct reading *r, struct slice key, struct slice change)
{
    struct arena *a = &r->scratch;
    struct slice name = { NULL, 0 }, type = text_of(change, "type", a);
    struct slice diff = text_of(change, "unified_diff", a), content = text_of(change, "content", a);
    struct slice moved = text_of(change, "move_path", a);

    if (!json_text(key, a, &name))
        return;
    const char *path = clean_path(r, name), *to = moved.n ? clean_path(r, moved) : NULL;

    if (slice_eq(type, SLICE("add")))
        add_change(r, CODEX_ADDED, path, NULL, content);
    else if (slice_eq(type, SLICE("delete")))
        add_change(r, CODEX_DELETED, path, NULL, content);
    else if (to && path && strcmp(to, path) != 0) {
        add_change(r, CODEX_LEFT, path, to, diff);
        add_change(r, CODEX_ARRIVED, to, path, diff);
    } else {
        add_change(r, CODEX_UPDATED, path, NULL, diff);
    }
}

static void take_changes(struct reading *r, const struct codex_row *row)
{
    struct slice status = text_of(row->item, "status", &r->scratch), files, key, change;
    struct json_iter it;

    r->failed = slice_eq(status, SLICE("failed"));
    if ((status.n && !slice_eq(status, SLICE("completed")) && !r->failed) ||
        !json_get(row->item, "changes", &files) || json_type(files) != JSON_OBJECT ||
        !json_iter_open(&it, files))
        return;
    r->now.call = arena_copy(&r->out->arena, codex_row_id(row, &r->scratch));
    if (!time_parse(row->time, &r->now.time_ms))
        r->now.time_ms = TIME_NONE;
    while (json_iter_next(&it, &key, &change))
        take_file(r, key, change);
}

/* ---- commands ---- */

static void add_command(struct reading *r)
{
    struct codex_changes *c = r->out;
    size_t *list = arena_grow(&c->arena, c->command, c->commands, sizeof *list);

    if (!list)
        return;
    c->command = list;
    list[c->commands++] = r->at;
}

/* The program records how it classified a command; "unknown" may be anything. */
static bool is_harmless(struct slice item, struct arena *a)
{
    struct slice list, key, part;
    struct json_iter it;
    bool any = false;

    if (!json_get(item, "parsed_cmd", &list) || json_type(list) != JSON_ARRAY ||
        !json_iter_open(&it, list))
        return false;
    while (json_iter_next(&it, &key, &part)) {
        struct slice type = text_of(part, "type", a);

        any = true;
        if (!slice_eq(type, SLICE("read")) && !slice_eq(type, SLICE("list_files")) &&
            !slice_eq(type, SLICE("search")))
            return false;
    }
    return any;
}

/* A file that a command read existed. Only commands in the directory of the thread are considered,
 * because paths are relative. */
static void take_seen(struct reading *r, struct slice item)
{
    struct codex_changes *c = r->out;
    struct slice dir = text_of(item, "cwd", &r->scratch), code, list, key, part;
    size_t scheme = strlen("file://");
    struct json_iter it;

    if (slice_starts(dir, "file://"))
        dir = (struct slice){ dir.p + scheme, dir.n - scheme };
    if (!c->cwd || !slice_eq(dir, slice_of(c->cwd)) || !json_get(item, "exit_code", &code) ||
        !slice_eq(code, SLICE("0")) || !json_get(item, "parsed_cmd", &list) ||
        json_type(list) != JSON_ARRAY || !json_iter_open(&it, list))
        return;
    while (json_iter_next(&it, &key, &part)) {
        struct codex_seen *seen = arena_grow(&c->arena, c->seen, c->seen_n, sizeof *seen);
        const char *path = slice_eq(text_of(part, "type", &r->scratch), SLICE("read"))
                               ? clean_path(r, text_of(part, "path", &r->scratch))
                               : NULL;

        if (!seen || !path)
            continue;
        c->seen = seen;
        seen[c->seen_n++] = (struct codex_seen){ path, r->at };
    }
}

static void take_call(struct reading *r, const struct codex_row *row)
{
    static const char *const shells[] = { "exec_command", "shell",          "shell_command",
                                          "local_shell",  "container.exec", "write_stdin" };
    struct slice name = text_of(row->item, "name", &r->scratch);
    struct slice input = text_of(row->item, "arguments", &r->scratch);

    if (r->items)
        return;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (slice_eq(name, slice_of(shells[i])) &&
            !inferred_only_reads(text_of(input, "cmd", &r->scratch)))
            add_command(r);
}

/* ---- prompts ---- */

static void take_prompt(struct reading *r, const struct codex_row *row)
{
    enum { LOOK_BACK = 32 };
    struct codex_changes *c = r->out;
    struct codex_point *list = arena_grow(&c->arena, c->point, c->points, sizeof *list);
    size_t *lines = arena_grow(&c->arena, c->prompt, c->prompts, sizeof *lines);
    struct codex_point p = { .id = codex_row_id(row, &r->scratch), .at = r->at };

    if (!p.id.n && r->turn.n && r->at - r->turn_at < LOOK_BACK)
        p.id = r->turn;
    if (!p.id.n)
        p.id = row->time;
    r->turn.n = 0;
    p.id = arena_copy(&c->arena, p.id);
    p.text = arena_copy(&c->arena, codex_row_text(row, &r->scratch));
    if (!time_parse(row->time, &p.time_ms))
        p.time_ms = TIME_NONE;
    if (!list || !lines)
        return;
    c->prompt = lines;
    lines[c->prompts++] = r->at;
    c->point = list;
    list[c->points++] = p;
}

static void take_turn(struct reading *r, const struct codex_row *row)
{
    struct slice id = text_of(row->payload, "turn_id", &r->scratch);

    if (!id.n)
        return;
    r->turn = arena_copy(&r->out->arena, id);
    r->turn_at = r->at;
}

static void take_meta(struct reading *r, const struct codex_row *row)
{
    struct slice cwd = text_of(row->payload, "cwd", &r->scratch);

    r->now.inherited = !slice_eq(text_of(row->payload, "id", &r->scratch), r->thread);
    if (cwd.n && cwd.p[0] == '/' && !memchr(cwd.p, '\0', cwd.n))
        r->out->cwd = arena_copy(&r->out->arena, cwd).p;
    r->out->commit =
        arena_copy(&r->out->arena, text_of(row->payload, "git.commit_hash", &r->scratch));
}

static void take_time(struct reading *r, const struct codex_row *row)
{
    struct codex_changes *c = r->out;
    int64_t *list = arena_grow(&c->arena, c->line_ms, c->lines, sizeof *list);
    int64_t above = c->lines ? c->line_ms[c->lines - 1] : INT64_MIN, now;

    if (!list)
        return;
    c->line_ms = list;
    list[c->lines++] = row && time_parse(row->time, &now) && now > above ? now : above;
}

static void take_agent(struct reading *r, const struct codex_row *row)
{
    struct codex_changes *c = r->out;
    struct slice id =
        r->agents ? text_of(row->item, "agent_thread_id", &r->scratch) : (struct slice){ NULL, 0 };

    for (size_t i = 0; i < c->agents; i++)
        if (slice_eq(c->agent[i], id))
            return;
    if (id.n && !arena_add_copy(&c->arena, &c->agent, &c->agents, id))
        c->arena.failed = true;
}

static void take_line(struct reading *r, struct slice line)
{
    struct codex_row row;

    arena_reset(&r->scratch);
    bool read = codex_row_read(line, &r->scratch, &row);

    take_time(r, read ? &row : NULL);
    if (!read)
        return;
    switch (row.kind) {
    case CODEX_META: take_meta(r, &row); break;
    case CODEX_BEGIN:
    case CODEX_CONTEXT: take_turn(r, &row); break;
    case CODEX_PROMPT: take_prompt(r, &row); break;
    case CODEX_CHANGE: take_changes(r, &row); break;
    case CODEX_CALL: take_call(r, &row); break;
    case CODEX_COMMAND:
        if (!is_harmless(row.item, &r->scratch))
            add_command(r);
        take_seen(r, row.item);
        break;
    case CODEX_OTHER: take_agent(r, &row); break;
    default: break;
    }
}

/* Drops points that are no longer in the conversation. */
static enum err_code drop_points(const struct store *st, const struct session_ref *ref,
                                 struct codex_changes *c, struct err *e)
{
    struct transcript *t;
    struct idset ids = { .n = 0 };
    uint32_t number;
    size_t n = 0;
    enum err_code rc = codex_load(st, ref, NULL, &t, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < t->n && !rc; i++)
        if (t->message[i].kind == MESSAGE_USER && !id128_none(t->message[i].id))
            rc = idset_add(&ids, t->message[i].id, &number) ? err_nomem(e) : ERR_OK;
    for (size_t i = 0; i < c->points && !rc; i++)
        if (idset_has(&ids, id128_of(c->point[i].id)))
            c->point[n++] = c->point[i];
    c->points = n;
    idset_fini(&ids);
    transcript_free(t);
    return rc;
}

enum err_code codex_changes_read(const struct store *st, const struct session_ref *ref,
                                 bool dropped, struct codex_changes *out, struct err *e)
{
    struct codex_changes c = { .changes = 0 };
    struct reading r = { .out = &c, .thread = ref->id };
    struct buf text = { 0 };
    struct slice rest, line;
    bool torn;
    enum err_code rc = rollout_compose_done(st->path, ref->path.p, &text, e);

    rest = buf_slice(&text);
    r.items = !rc && slice_has(rest, "\"CommandExecution\"");
    r.agents = !rc && slice_has(rest, "\"SubAgentActivity\"");
    c.calls_only = !r.items && !slice_has(rest, "\"patch_apply_end\"") &&
                   !slice_has(rest, "\"FileChange\"") && !slice_has(rest, "\"exec_command_end\"");
    for (; !rc && slice_line(&rest, &line, &torn); r.at++)
        take_line(&r, line);
    if (!rc && (c.arena.failed || r.scratch.failed))
        rc = err_nomem(e);
    if (!rc && !dropped)
        rc = drop_points(st, ref, &c, e);
    arena_fini(&r.scratch);
    buf_fini(&text);
    if (rc)
        codex_changes_fini(&c);
    else
        *out = c;
    return rc;
}

void codex_changes_fini(struct codex_changes *c)
{
    arena_fini(&c->arena);
    *c = (struct codex_changes){ .changes = 0 };
}

bool codex_commands_between(const struct codex_changes *c, size_t from, size_t to)
{
    for (size_t i = 0; i < c->commands; i++)
        if (c->command[i] >= from && c->command[i] < to)
            return true;
    return false;
}
