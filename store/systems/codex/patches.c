#include "store/systems/common/patches/patch_log.h"

#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/systems/codex/codex.h"
#include "store/systems/codex/rollout.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/inferred.h"

/* The agent keeps no copies of files, so a rewind needs everything in the log that shows what a
 * file contained. One pass over the joined logs collects it, and patch_infer.c draws conclusions:
 *
 *   line -> time, and any of: patch | command | output that shows a file | prompt -> patch_log
 *
 * `at` is the number of a line of the joined text. Each line therefore has an element in line_ms,
 * even one that cannot be parsed. The scratch arena is reset for each line, so a text that is kept
 * is copied. Doubts go to the safe side: a command is assumed to change files unless it is known
 * only to read, and an output counts as a file only if the command did nothing but print it. The
 * effect of a command is never guessed. */

struct reading {
    struct patch_log *out;
    struct arena scratch;
    struct slice turn; /* the turn of the lines above, in the arena of the result */
    size_t turn_at, at;
    bool agents;             /* there are sub-agents */
    bool items;              /* commands are recorded as items, so calls are not examined */
    bool failed;             /* the patch of the line failed, perhaps after some of its files */
    struct patch_change now; /* the common part of the changes of a line */
    struct slice thread;
    struct codex_copies copies;
};

/* ---- patches ---- */

static const char *codex_clean_path(const struct reading *r, struct slice path)
{
    struct arena *a = &r->out->arena;

    if (!path.n || memchr(path.p, '\0', path.n) || (path.p[0] != '/' && !r->out->cwd))
        return NULL;
    path = arena_copy(a, path);
    return path.p ? path_normalize(r->out->cwd ? r->out->cwd : "", path.p, a) : NULL;
}

static void codex_add_change(struct reading *r, enum patch_kind kind, const char *path,
                             const char *other, struct slice text)
{
    struct patch_log *c = r->out;
    struct patch_change *list = arena_grow(&c->arena, c->change, c->changes, sizeof *list);

    if (!list || !path)
        return;
    c->change = list;
    struct patch_change x = r->now;

    x.kind = r->failed ? PATCH_UNSURE : kind;
    x.why = "a patch failed, perhaps after it had changed this file";
    x.path = path;
    x.other = other;
    x.text = arena_copy(&c->arena, text);
    x.at = r->at;
    list[c->changes++] = x;
}

static void codex_add_file(struct reading *r, struct slice key, struct slice change)
{
    struct arena *a = &r->scratch;
    struct slice name = { NULL, 0 }, type = json_text_at(change, "type", a);
    struct slice diff = json_text_at(change, "unified_diff", a),
                 content = json_text_at(change, "content", a);
    struct slice moved = json_text_at(change, "move_path", a);

    if (!json_text(key, a, &name))
        return;
    const char *path = codex_clean_path(r, name), *to = moved.n ? codex_clean_path(r, moved) : NULL;

    if (slice_eq(type, SLICE("add")))
        codex_add_change(r, PATCH_ADDED, path, NULL, content);
    else if (slice_eq(type, SLICE("delete")))
        codex_add_change(r, PATCH_DELETED, path, NULL, content);
    else if (to && path && strcmp(to, path) != 0) {
        codex_add_change(r, PATCH_LEFT, path, to, diff);
        codex_add_change(r, PATCH_ARRIVED, to, path, diff);
    } else {
        codex_add_change(r, PATCH_UPDATED, path, NULL, diff);
    }
}

static int64_t codex_number_at(struct slice object, const char *name)
{
    struct slice value;
    int64_t number;

    return json_get(object, name, &value) && json_int(value, &number) ? number : TIME_NONE;
}

static void codex_read_changes(struct reading *r, const struct codex_row *row)
{
    struct slice status = json_text_at(row->item, "status", &r->scratch), files, key, change;
    struct json_iter it;

    r->failed = slice_eq(status, SLICE("failed"));
    if ((status.n && !slice_eq(status, SLICE("completed")) && !r->failed) ||
        !json_get(row->item, "changes", &files) || json_type(files) != JSON_OBJECT ||
        !json_iter_open(&it, files))
        return;
    r->now.call = arena_copy(&r->out->arena, codex_row_id(row, &r->scratch));
    if (!time_parse(row->time, &r->now.time_ms))
        r->now.time_ms = TIME_NONE;
    r->now.begin_ms = codex_number_at(row->payload, "started_at_ms");
    r->now.end_ms = codex_number_at(row->payload, "completed_at_ms");
    while (json_iter_next(&it, &key, &change))
        codex_add_file(r, key, change);
}

/* ---- commands ---- */

static void codex_add_command(struct reading *r, struct slice text, struct slice dir)
{
    struct patch_log *c = r->out;
    struct patch_command *list = arena_grow(&c->arena, c->command, c->commands, sizeof *list);

    if (!list)
        return;
    c->command = list;
    list[c->commands++] =
        (struct patch_command){ .text = arena_copy(&c->arena, text),
                                .dir = dir.n ? arena_copy(&c->arena, dir).p : NULL,
                                .at = r->at };
}

/* The path in a file URL; a path stays as it is. Empty if it is neither. */
static struct slice path_of_url(struct slice url, struct arena *a)
{
    static const char scheme[] = "file://";
    struct buf path = { 0 };
    struct slice out = url;
    bool ok = true;

    if (!slice_starts(url, scheme))
        return url.n && url.p[0] == '/' ? url : SLICE("");
    for (size_t i = strlen(scheme); i < url.n && ok; i++) {
        int high = url.p[i] == '%' && i + 2 < url.n ? slice_hex_digit(url.p[i + 1]) : -1;
        int low = high >= 0 ? slice_hex_digit(url.p[i + 2]) : -1;

        ok = !buf_add_byte(&path, low >= 0 ? (char)(high * 16 + low) : url.p[i]);
        i += low >= 0 ? 2 : 0;
    }
    out = ok ? arena_copy(a, buf_slice(&path)) : SLICE("");
    buf_fini(&path);
    return out.n && out.p[0] == '/' && !memchr(out.p, '\0', out.n) ? out : SLICE("");
}

/* The text of ["bash", "-lc", text]; empty for any other command. */
static struct slice shell_text(struct slice item, struct arena *a)
{
    struct slice list, key, part, word[3] = { { NULL, 0 } };
    struct json_iter it;
    size_t n = 0;

    if (!json_get(item, "command", &list) || json_type(list) != JSON_ARRAY ||
        !json_iter_open(&it, list))
        return SLICE("");
    while (json_iter_next(&it, &key, &part))
        if (n++ == 3 || !json_text(part, a, &word[n - 1]))
            return SLICE("");
    bool is_shell = n == 3 && (slice_eq(word[1], SLICE("-c")) || slice_eq(word[1], SLICE("-lc")));

    return is_shell ? word[2] : SLICE("");
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
        struct slice type = json_text_at(part, "type", a);

        any = true;
        if (!slice_eq(type, SLICE("read")) && !slice_eq(type, SLICE("list_files")) &&
            !slice_eq(type, SLICE("search")))
            return false;
    }
    return any;
}

/* "sed -n '1,200p' a.txt" printed the whole file if that is shorter. */
static bool prints_lines(struct slice command, struct slice output)
{
    struct slice rest, line;
    size_t most = 0, n = 0;
    bool torn;

    if (!slice_starts(command, "sed -n '1,"))
        return false;
    rest = (struct slice){ command.p + strlen("sed -n '1,"), command.n - strlen("sed -n '1,") };
    for (; rest.n && rest.p[0] >= '0' && rest.p[0] <= '9' && most < SIZE_MAX / 20;
         rest.p++, rest.n--)
        most = most * 10 + (size_t)(rest.p[0] - '0');
    while (slice_line(&output, &line, &torn))
        n++;
    return slice_starts(rest, "p' ") && n < most;
}

/* Returns whether the output of a command that did nothing but read one file is the file, as far as the log can tell:
 * it is cut if it is too long, and what is not UTF-8 is replaced. */
static bool codex_is_whole(struct slice command, struct slice part, struct slice output)
{
    enum { CUT = 60000 };
    static const char replaced[] = "\xef\xbf\xbd";

    bool prints =
        slice_starts(command, "cat ") ? !slice_has(command, " -") : prints_lines(command, output);

    return prints && slice_eq(command, part) && output.n < CUT && !slice_has(output, replaced);
}

/* "cat a.txt" failed because there is no such file. */
static bool codex_is_missing(struct reading *r, struct slice command, struct slice output)
{
    if (!slice_starts(command, "cat ") || slice_has(command, " -") ||
        memchr(command.p, '\'', command.n) || memchr(command.p, '"', command.n))
        return false;
    const char *says = arena_format(&r->scratch, "cat: %.*s: No such file or directory\n",
                                    (int)command.n - 4, command.p + 4);

    return says && slice_eq(output, slice_of(says));
}

/* A file that a command read existed. Only commands in the directory of the thread are considered,
 * because paths are relative. */
static void read_seen(struct reading *r, struct slice item, bool done)
{
    struct slice dir = path_of_url(json_text_at(item, "cwd", &r->scratch), &r->scratch);
    struct slice command = shell_text(item, &r->scratch), list, key, part;
    struct slice output = json_text_at(item, "aggregated_output", &r->scratch);
    struct json_iter it;

    /* A command that failed still shows something if it failed because the file is missing. */
    if (!r->out->cwd || !slice_eq(dir, slice_of(r->out->cwd)) ||
        !(done || codex_is_missing(r, command, output)) || !json_get(item, "parsed_cmd", &list) ||
        json_type(list) != JSON_ARRAY || !json_iter_open(&it, list))
        return;
    while (json_iter_next(&it, &key, &part)) {
        struct patch_seen x = { .at = r->at, .gone = !done };
        struct slice own = json_text_at(part, "cmd", &r->scratch);

        x.path = slice_eq(json_text_at(part, "type", &r->scratch), SLICE("read"))
                     ? codex_clean_path(r, json_text_at(part, "path", &r->scratch))
                     : NULL;
        x.whole = done && output.p && codex_is_whole(command, own, output);
        if (x.whole)
            x.text = output;

        /* Only a command without other parts shows which file was missing. */
        if (x.path && (done || slice_eq(own, command))) {
            struct patch_log *c = r->out;
            struct patch_seen *seen = arena_grow(&c->arena, c->seen, c->seen_n, sizeof *seen);

            if (!seen)
                return;
            c->seen = seen;
            seen[c->seen_n] = x;
            seen[c->seen_n++].text = arena_copy(&c->arena, x.text);
        }
    }
}

static void read_listing(struct reading *r, struct slice item, struct slice command)
{
    struct patch_log *c = r->out;
    struct arena *a = &c->arena;
    struct slice dir = path_of_url(json_text_at(item, "cwd", &r->scratch), &r->scratch);
    struct slice output = json_text_at(item, "aggregated_output", &r->scratch);

    if (!dir.n || !(slice_has(command, "ls") || slice_has(command, "find")) ||
        !listed_is_whole(output))
        return;
    struct patch_listing *list = arena_grow(a, c->listing, c->listings, sizeof *list);

    if (!list)
        return;
    c->listing = list;
    list[c->listings++] = (struct patch_listing){ .command = arena_copy(a, command),
                                                  .output = arena_copy(a, output),
                                                  .dir = arena_copy(a, dir).p,
                                                  .at = r->at };
}

static void codex_read_call(struct reading *r, const struct codex_row *row)
{
    static const char *const shells[] = { "exec_command", "shell",          "shell_command",
                                          "local_shell",  "container.exec", "write_stdin" };
    struct slice name = json_text_at(row->item, "name", &r->scratch);
    struct slice input = json_text_at(row->item, "arguments", &r->scratch);
    struct slice text = json_text_at(input, "cmd", &r->scratch);
    struct slice dir = json_text_at(input, "workdir", &r->scratch);

    if (r->items)
        return;
    if (!dir.n && r->out->cwd)
        dir = slice_of(r->out->cwd);
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (slice_eq(name, slice_of(shells[i])) && !inferred_only_reads(text))
            codex_add_command(r, text, dir.n && dir.p[0] == '/' ? dir : SLICE(""));
}

/* ---- prompts ---- */

static void codex_read_prompt(struct reading *r, const struct codex_row *row)
{
    enum { LOOK_BACK = 32 };
    struct patch_log *c = r->out;
    struct patch_point *list = arena_grow(&c->arena, c->point, c->points, sizeof *list);
    size_t *lines = arena_grow(&c->arena, c->prompt, c->prompts, sizeof *lines);
    struct patch_point p = { .id = codex_row_id(row, &r->scratch), .at = r->at };

    if (!p.id.n && r->turn.n && r->at - r->turn_at < LOOK_BACK)
        p.id = r->turn;
    if (!p.id.n)
        p.id = row->time;
    r->turn.n = 0;
    p.id = arena_copy(&c->arena, p.id);
    p.text = arena_copy(&c->arena, codex_row_prompt(row, &r->scratch));
    if (!time_parse(row->time, &p.time_ms))
        p.time_ms = TIME_NONE;
    if (!list || !lines)
        return;
    c->prompt = lines;
    lines[c->prompts++] = r->at;
    c->point = list;
    list[c->points++] = p;
}

static void codex_read_time(struct reading *r, const struct codex_row *row)
{
    struct patch_log *c = r->out;
    int64_t *list = arena_grow(&c->arena, c->line_ms, c->lines, sizeof *list);
    int64_t above = c->lines ? c->line_ms[c->lines - 1] : INT64_MIN, now;

    if (!list)
        return;
    c->line_ms = list;
    list[c->lines++] = row && time_parse(row->time, &now) && now > above ? now : above;
}

static void codex_read_agent(struct reading *r, const struct codex_row *row)
{
    struct patch_log *c = r->out;
    struct slice id = r->agents ? json_text_at(row->item, "agent_thread_id", &r->scratch)
                                : (struct slice){ NULL, 0 };

    for (size_t i = 0; i < c->agents; i++)
        if (slice_eq(c->agent[i], id))
            return;
    if (id.n && !arena_add_copy(&c->arena, &c->agent, &c->agents, id))
        c->arena.failed = true;
}

static void codex_read_line(struct reading *r, struct slice line)
{
    struct codex_row row;
    struct slice code;

    arena_reset(&r->scratch);
    bool read = codex_row_read(line, &r->scratch, &row);

    /* Every line gets a time, even one that cannot be read. */
    codex_read_time(r, read ? &row : NULL);
    if (!read)
        return;
    r->now.inherited = codex_row_is_copied(&r->copies, &row, r->thread, &r->scratch);
    if (r->now.inherited) {
        r->out->copied_at = r->out->copied_end ? r->out->copied_at : r->at;
        r->out->copied_end = r->at + 1;
    }
    switch (row.kind) {
    case CODEX_META: {
        struct slice cwd = json_text_at(row.payload, "cwd", &r->scratch);

        if (cwd.n && cwd.p[0] == '/' && !memchr(cwd.p, '\0', cwd.n))
            r->out->cwd = arena_copy(&r->out->arena, cwd).p;
        r->out->commit =
            arena_copy(&r->out->arena, json_text_at(row.payload, "git.commit_hash", &r->scratch));
    } break;
    case CODEX_BEGIN:
    case CODEX_CONTEXT: {
        struct slice id = json_text_at(row.payload, "turn_id", &r->scratch);

        if (id.n) {
            r->turn = arena_copy(&r->out->arena, id);
            r->turn_at = r->at;
        }
    } break;
    case CODEX_PROMPT: codex_read_prompt(r, &row); break;
    case CODEX_CHANGE: codex_read_changes(r, &row); break;
    case CODEX_CALL: codex_read_call(r, &row); break;
    case CODEX_COMMAND: {
        struct arena *a = &r->scratch;
        struct slice text = shell_text(row.item, a);
        bool done = json_get(row.item, "exit_code", &code) && slice_eq(code, SLICE("0"));

        /* A command that only reads is no change, but its output may show the text of a file. */
        if (!is_harmless(row.item, a) && !inferred_only_reads(text))
            codex_add_command(r, text, path_of_url(json_text_at(row.item, "cwd", a), a));
        read_seen(r, row.item, done);
        if (done)
            read_listing(r, row.item, text);
    } break;
    case CODEX_OTHER: codex_read_agent(r, &row); break;
    default: break;
    }
}

enum err_code codex_read_patches(const struct store *st, const struct session_ref *ref,
                                 bool dropped, struct patch_log *out, struct err *e)
{
    struct patch_log c = { .changes = 0 };
    struct reading r = { .out = &c, .thread = ref->id };
    struct buf text = { 0 };
    struct slice rest, line;
    bool torn;
    enum err_code rc = rollout_compose_done(st->path, ref->path.p, &text, e);

    rest = buf_slice(&text);

    /* The kinds of rows in the whole log decide how each line is read: items make calls redundant. */
    r.items = !rc && slice_has(rest, "\"CommandExecution\"");
    r.agents = !rc && slice_has(rest, "\"SubAgentActivity\"");
    c.calls_only = !r.items && !slice_has(rest, "\"patch_apply_end\"") &&
                   !slice_has(rest, "\"FileChange\"") && !slice_has(rest, "\"exec_command_end\"");
    for (; !rc && slice_line(&rest, &line, &torn); r.at++)
        codex_read_line(&r, line);
    if (!rc && (c.arena.failed || r.scratch.failed))
        rc = err_nomem(e);
    if (!rc && !dropped)
        rc = patch_log_drop_points(&c, st, ref, codex_load, e);
    arena_fini(&r.scratch);
    buf_fini(&text);
    if (rc)
        patch_log_fini(&c);
    else
        *out = c;
    return rc;
}

static enum err_code codex_read_all_patches(const struct store *st, const struct session_ref *ref,
                                            struct patch_log *out, struct err *e)
{
    TRY(codex_read_patches(st, ref, false, out, e));

    enum err_code rc = codex_add_agents(st, ref, out, e);

    if (rc)
        patch_log_fini(out);
    return rc;
}

enum err_code codex_checkpoints(const struct store *st, const struct session_ref *ref,
                                struct checkpoint_list *out, struct err *e)
{
    struct patch_log log;

    TRY(codex_read_all_patches(st, ref, &log, e));
    return patch_log_checkpoints(&log, out, e);
}

enum err_code codex_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                         struct rewind_plan *out, struct err *e)
{
    struct patch_log log;

    TRY(codex_read_all_patches(st, ref, &log, e));
    return patch_log_plan(&log, ref, codex_ops.label, point, out, e);
}
