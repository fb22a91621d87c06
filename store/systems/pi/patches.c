#include <fcntl.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/io/rows.h"
#include "store/fs/path.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/common/inferred.h"
#include "store/systems/common/patches/patch_log.h"
#include "store/systems/common/row_table.h"
#include "store/systems/pi/pi.h"

/* What a log of pi proves about files. pi keeps no copies of them, but the result of an edit has its unified diff
 * (details.patch, since 0.87.1), a call of write has the whole text, and a read shows all of a file. The diff is that of
 * the text with LF as its line ends, so it fits no file with others. A tool that is not pi's own may have done anything. */

/* A call without a result yet. */
struct pi_call {
    struct slice id, name, input;
    int64_t time_ms;
};

struct pi_reading {
    struct patch_log *out;
    const char *home; /* may be NULL */
    struct arena scratch, open;
    struct pi_call *call; /* in `open` */
    size_t calls;
    size_t at;
    int64_t passed;  /* bytes */
    int64_t time_ms; /* of the row */
};

/* As pi resolves a path: without "@", with the home directory for "~". NULL if it is none. */
static const char *pi_path(const struct pi_reading *r, struct slice input)
{
    struct arena *a = &r->out->arena;
    struct slice path;

    if (!r->out->cwd || !json_get_text(input, "path", a, &path))
        return NULL;
    if (path.n && path.p[0] == '@')
        path = (struct slice){ path.p + 1, path.n - 1 };
    if (!path.n || memchr(path.p, '\0', path.n))
        return NULL;
    bool of_home = path.p[0] == '~' && (path.n == 1 || path.p[1] == '/');

    if (of_home && !r->home)
        return NULL;
    const char *text = of_home ? arena_format(a, "%s%.*s", r->home, (int)path.n - 1, path.p + 1)
                               : arena_copy(a, path).p;

    return text ? path_normalize(r->out->cwd, text, a) : NULL;
}

static void pi_add_change(struct pi_reading *r, enum patch_kind kind, const struct pi_call *call,
                          struct slice text, const char *why)
{
    const char *path = pi_path(r, call->input);

    if (path)
        patch_log_add_change(r->out, &(struct patch_change){ .kind = kind,
                                                             .path = path,
                                                             .text = text,
                                                             .why = why,
                                                             .at = r->at,
                                                             .time_ms = r->time_ms,
                                                             .begin_ms = call->time_ms,
                                                             .end_ms = r->time_ms,
                                                             .call = call->id });
}

/* text: empty if it may have done anything. */
static void pi_add_command(struct pi_reading *r, struct slice text)
{
    patch_log_add_command(r->out, text, text.n ? r->out->cwd : NULL, r->at);
}

static void pi_add_seen(struct pi_reading *r, const struct pi_call *call, struct slice text,
                        bool failed, bool cut)
{
    static const char replaced[] = "\xef\xbf\xbd", image[] = "Read image file [";
    struct slice said;
    const char *path = pi_path(r, call->input);
    const bool gone = failed && path && json_get_text(call->input, "path", &r->scratch, &said) &&
                      slice_has(text, "ENOENT") && read_call_is_missing(text, said);
    struct patch_seen seen = { .path = path, .at = r->at, .gone = gone };

    seen.whole = !failed && !cut && !slice_has(text, replaced) && !slice_starts(text, image) &&
                 read_call_path(call->name, call->input, &r->scratch, &said);
    if (seen.whole)
        seen.text = text;
    if (path && (gone || !failed))
        patch_log_add_seen(r->out, &seen);
}

static void pi_add_listing(struct pi_reading *r, struct slice command, struct slice output)
{
    struct patch_log *c = r->out;
    struct patch_listing *list = listed_is_whole(output)
                                     ? arena_grow(&c->arena, c->listing, c->listings, sizeof *list)
                                     : NULL;

    if (!list)
        return;
    c->listing = list;
    list[c->listings++] = (struct patch_listing){ .command = arena_copy(&c->arena, command),
                                                  .output = arena_copy(&c->arena, output),
                                                  .dir = c->cwd,
                                                  .at = r->at };
}

/* Returns whether a call that changes a file failed before it changed anything. */
static bool pi_did_nothing(struct slice said)
{
    static const char *const begins[] = { "Could not find",  "Could not edit",   "Found ",
                                          "No changes made", "edits[",           "oldText must",
                                          "Edit tool input", "Validation failed" };
    static const char *const codes[] = {
        "ENOENT", "EACCES", "EPERM", "EISDIR", "ENOTDIR", "EROFS"
    };
    bool nothing = false;

    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        nothing |= slice_starts(said, begins[i]);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        nothing |= slice_starts(said, codes[i]);
    return nothing;
}

/* A call whose result is said, or that never got one (message is empty). */
static void pi_end_call(struct pi_reading *r, const struct pi_call *call, struct slice message)
{
    static const char *const readers[] = { "read", "grep", "find", "ls", NULL };
    static const char torn[] = "a call that may have changed it has no result",
                      failed_half[] = "a call failed, perhaps after it had changed this file",
                      no_patch[] = "what an edit replaced is not recorded";
    struct arena *a = &r->scratch;
    struct slice said = { NULL, 0 }, text = { NULL, 0 }, cut, flag;
    const bool ended = message.n > 0;
    const bool failed =
        ended && json_get(message, "isError", &flag) && slice_eq(flag, SLICE("true"));
    const bool edits = slice_eq(call->name, SLICE("edit")),
               writes = slice_eq(call->name, SLICE("write"));

    if (ended)
        said = row_text(message, "content", "text", a);
    if (edits || writes) {
        if (failed && pi_did_nothing(said))
            return;
        if (!ended || failed)
            pi_add_change(r, PATCH_UNSURE, call, text, ended ? failed_half : torn);
        else if (writes && json_get_text(call->input, "content", a, &text))
            pi_add_change(r, PATCH_ADDED, call, text, NULL);
        else if (edits && (text = json_text_at(message, "details.patch", a)).n)
            pi_add_change(r, PATCH_UPDATED, call, patch_hunks(text), NULL);
        else
            pi_add_change(r, PATCH_UNSURE, call, text, no_patch);
    } else if (slice_eq(call->name, SLICE("bash"))) {
        text = json_text_at(call->input, "command", a);
        pi_add_command(r, text);
        if (ended && !failed && text.n && !json_at(message, "details.truncation", &cut))
            pi_add_listing(r, text, said);
    } else if (slice_eq(call->name, SLICE("read")) && ended) {
        pi_add_seen(r, call, said, failed, json_at(message, "details.truncation", &cut));
    } else {
        for (size_t i = 0; readers[i]; i++)
            if (slice_eq(call->name, slice_of(readers[i])))
                return;
        pi_add_command(r, SLICE(""));
    }
}

/* Calls that a prompt or the end of the log found without a result. */
static void pi_end_open_calls(struct pi_reading *r)
{
    r->at -= r->at > 0; /* before the prompt */
    for (size_t i = 0; i < r->calls; i++)
        pi_end_call(r, &r->call[i], SLICE(""));
    r->at++;
    r->call = NULL;
    r->calls = 0;
    arena_reset(&r->open);
}

static void pi_read_calls(struct pi_reading *r, struct slice message)
{
    struct slice part, input;
    struct json_iter it;

    json_list_open(&it, message, "content");
    while (json_list_next(&it, &part)) {
        if (!json_get_is(part, "type", "toolCall"))
            continue;
        struct pi_call *list = arena_grow(&r->open, r->call, r->calls, sizeof *list);

        if (!list)
            return;
        if (!json_get(part, "arguments", &input))
            input = SLICE("{}");
        r->call = list;
        list[r->calls++] = (struct pi_call){
            .id = arena_copy(&r->open, json_text_at(part, "id", &r->scratch)),
            .name = arena_copy(&r->open, json_text_at(part, "name", &r->scratch)),
            .input = arena_copy(&r->open, input),
            .time_ms = r->time_ms,
        };
    }
}

static void pi_read_result(struct pi_reading *r, struct slice message)
{
    const struct slice id = json_text_at(message, "toolCallId", &r->scratch);

    for (size_t i = 0; i < r->calls; i++)
        if (slice_eq(r->call[i].id, id)) {
            pi_end_call(r, &r->call[i], message);
            r->call[i] = r->call[--r->calls];
            return;
        }
    pi_add_command(r, SLICE("")); /* the row of its call is lost, so it may be of any call */
}

static bool pi_read_line(struct slice row, void *arg)
{
    struct pi_reading *r = arg;
    struct slice message, role, time, cwd;

    arena_reset(&r->scratch);
    time = json_text_at(row, "timestamp", &r->scratch);
    if (!time_parse(time, &r->time_ms))
        r->time_ms = TIME_NONE;
    if (row.n && !json_valid(row)) {
        pi_add_command(r, SLICE("")); /* it may have been the result of any call */
    } else if (json_get_is(row, "type", "session")) {
        cwd = json_text_at(row, "cwd", &r->scratch);
        if (cwd.n && cwd.p[0] == '/' && !memchr(cwd.p, '\0', cwd.n))
            r->out->cwd = arena_copy(&r->out->arena, cwd).p;
    } else if (json_get_is(row, "type", "message") && json_get(row, "message", &message)) {
        role = json_text_at(message, "role", &r->scratch);
        if (slice_eq(role, SLICE("user"))) {
            const struct slice text = row_text(message, "content", "text", &r->scratch);

            pi_end_open_calls(r);
            patch_log_add_point(r->out,
                                &(struct patch_point){ .id = json_text_at(row, "id", &r->scratch),
                                                       .text = text,
                                                       .time_ms = r->time_ms,
                                                       .at = r->at });
        } else if (slice_eq(role, SLICE("assistant")))
            pi_read_calls(r, message);
        else if (slice_eq(role, SLICE("toolResult")))
            pi_read_result(r, message);
        else if (slice_eq(role, SLICE("bashExecution")))
            pi_add_command(r, json_text_at(message, "command", &r->scratch));
    }
    r->at++;
    r->passed += (int64_t)row.n + 1;
    return !r->out->arena.failed && !r->open.failed && !r->scratch.failed;
}

static enum err_code pi_read_patches(const struct store *st, const struct session_ref *ref,
                                     struct patch_log *out, struct err *e)
{
    CLEANUP(file_close) struct file file = { .fd = -1 };
    struct pi_reading r = { .out = out, .home = st->env->home };

    *out = (struct patch_log){ .lossy = true, .lf_only = true };
    enum err_code rc = file_open(AT_FDCWD, ref->path.p, 0, &file, e);

    if (!rc)
        rc = rows_forward(&file, 0, pi_read_line, &r, e);
    if (!rc && !out->arena.failed && !r.open.failed && !r.scratch.failed && r.passed < file.id.size)
        rc = err_set(e, ERR_FORMAT, ref->path.p,
                     "read patches: the log or one of its rows is too long");
    pi_end_open_calls(&r);
    if (!rc && (out->arena.failed || r.open.failed || r.scratch.failed))
        rc = err_nomem(e);
    arena_fini(&r.scratch);
    arena_fini(&r.open);
    if (!rc)
        rc = patch_log_drop_points(out, st, ref, jsonl_load, e);
    if (rc)
        patch_log_fini(out);
    return rc;
}

enum err_code pi_checkpoints(const struct store *st, const struct session_ref *ref,
                             struct checkpoint_list *out, struct err *e)
{
    struct patch_log log;

    TRY(pi_read_patches(st, ref, &log, e));
    return patch_log_checkpoints(&log, out, e);
}

enum err_code pi_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                      struct rewind_plan *out, struct err *e)
{
    struct patch_log log;

    TRY(pi_read_patches(st, ref, &log, e));
    return patch_log_plan(&log, ref, pi_ops.label, point, out, e);
}
