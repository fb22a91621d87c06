#include "store/maintenance/continue_in.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lite/base/id.h"
#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "store/api/compose.h"
#include "store/api/edit.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "store/journal/contents.h"
#include "store/keep/keep.h"
#include "store/rewind/plan/origin.h"
#include "store/show/plain.h"
#include "store/show/tool_call.h"

/* A person must see beforehand what a continuation leaves out. So the plan and the real run share
 * their code, and only the place that gets the rows differs.
 *
 *   messages -> texts and calls -> rows -> counted, or a new file and MOVE, or contents and ROWS
 *
 * The new session appears as a whole, by one step at the end. It begins with a prompt, its times
 * never go back, and each text is valid UTF-8 without NULs. A copied call has an id that marks it
 * as a copy, so that its edit is not mistaken for new work. Thinking and sub-agents are left out
 * and only counted; an image becomes a line of text. */

enum { ROWS_IN_MEMORY = 64 << 10 };

static const struct scope continue_everywhere = { .all = true };

_Static_assert((int)EDIT_MARK <= (int)HOST_ID, "a mark is as long as an id at most");

struct continuing {
    struct continue_in *out;
    const struct compose_ops *form;
    struct compose c;
    struct slice session;  /* the id of the original */
    struct arena arena;    /* What one message needs. */
    struct disk_new *to;   /* a file that gets the rows, */
    struct contents *rows; /* or what they are inserted from; both NULL: they are only counted */

    bool begun;
    struct idset answered; /* calls that had a result; some agents record it twice */
};

void continue_in_fini(struct continue_in *c)
{
    change_free(c->change);
    arena_fini(&c->arena);
    *c = (struct continue_in){ 0 };
}

bool continue_in_can(const struct store *to)
{
    return to->ops->compose && !to->ops->remote && !keep_store_is(to);
}

static bool continue_in_suits(const struct store_ops *to, const char *format)
{
    return to->compose && (!format || strcmp(store_format(to), format) != 0);
}

const char *continue_in_agents(struct arena *a, const char *format)
{
    const char *list = "";
    size_t left = 0;

    for (size_t i = 0; store_systems[i]; i++)
        left += continue_in_suits(store_systems[i], format);
    for (size_t i = 0; list && store_systems[i]; i++)
        if (continue_in_suits(store_systems[i], format)) {
            left--;
            list = arena_format(a, "%s%s%s", list, store_systems[i]->name,
                                left > 1    ? ", "
                                : left == 1 ? " or "
                                            : "");
        }
    return list;
}

/* ---- texts ---- */

/* A text as models accept it. */
static struct slice continue_clean(struct continuing *w, struct slice text)
{
    struct slice whole = text;
    size_t n = 0;

    if (utf8_valid(text) && !(text.n && memchr(text.p, '\0', text.n)))
        return text;
    w->out->repaired++;
    if (!utf8_repair(text, &w->arena, &whole))
        return (struct slice){ NULL, 0 };
    char *clean = arena_alloc(&w->arena, whole.n + 1);

    for (size_t i = 0; clean && i < whole.n; i++)
        if (whole.p[i])
            clean[n++] = whole.p[i];
    return (struct slice){ clean, n };
}

static struct slice continue_text_at(struct continuing *w, struct slice object, const char *name)
{
    struct slice text = { NULL, 0 };

    if (!json_get_text(object, name, &w->arena, &text))
        text.n = 0;
    return continue_clean(w, text);
}

static void continue_say(struct continuing *w, bool user, struct slice text)
{
    if (utf8_js_trim(text).n == 0)
        return;
    (user ? w->form->prompt : w->form->reply)(&w->c, text);
    (*(user ? &w->out->prompts : &w->out->replies))++;
}

/* ---- calls ---- */

/* Returns true if the call reads the whole of one file. */
static bool continue_reads(struct slice name, struct slice input)
{
    static const char *const names[] = { "Read",           "read",     "read_file", "ReadFile",
                                         "read_text_file", "readFile", "view" };
    struct json_iter it;
    struct slice key, value;
    size_t members = 0;
    bool reads = false;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        reads |= slice_eq(name, slice_of(names[i]));
    for (bool more = reads && json_iter_open(&it, input);
         more && json_iter_next(&it, &key, &value);)
        members++;
    return reads && members == 1;
}

/* What the call means for other agents; false: nothing that they have. */
static bool continue_meaning(struct continuing *w, struct slice name, struct slice input,
                             struct compose_call *call)
{
    struct tool_inputs edits = { .a = &w->arena };
    const char *path = NULL;

    if (tool_inputs_command(name, input, &w->arena, &call->text)) {
        call->meaning = COMPOSE_COMMAND;
    } else if (continue_reads(name, input) && tool_inputs_path(input, &w->arena, &call->path)) {
        call->meaning = COMPOSE_READ;
        path = arena_copy(&w->arena, call->path).p;
    } else {
        tool_inputs_read(name, input, &edits);

        /* Other agents have calls that write a whole file or replace one text, and no others. */
        if (edits.n != 1)
            return false;
        const struct edit *x = edits.edit;
        const bool writes = x->kind == EDIT_WRITE && x->after_known == EDIT_TEXT;

        if (!writes && (x->kind != EDIT_REPLACE || x->replacements != 1))
            return false;
        path = x->path;
        call->meaning = writes ? COMPOSE_WRITE : COMPOSE_REPLACE;
        call->text = writes ? x->after : x->replacement->new_text;
        if (!writes) {
            call->old_text = x->replacement->old_text;
            call->all = x->replacement->all;
        }
    }
    path = path ? path_normalize(w->out->dir, path, &w->arena) : NULL;
    call->path = path ? slice_of(path) : (struct slice){ NULL, 0 };
    return call->meaning == COMPOSE_COMMAND ||
           (call->path.n && utf8_valid(call->path) &&
            (call->meaning != COMPOSE_REPLACE || call->old_text.n));
}

static void continue_call(struct continuing *w, struct slice tool)
{
    struct slice name = continue_text_at(w, tool, "name"), input = { NULL, 0 }, value;
    struct compose_call call = { .failed = json_get(tool, "ok", &value) &&
                                           json_type(value) == JSON_FALSE };
    const bool ran = json_get(tool, "result", &value);
    const struct slice call_id = continue_text_at(w, tool, "call");
    const struct id128 id = id128_of(call_id);
    char mark[HOST_ID];
    uint32_t number;

    call.result = continue_text_at(w, tool, "result");
    json_get(tool, "input", &input);
    w->out->agents += json_get(tool, "agent", &value);

    /* A result in a row of its own is left out if it was written with its call. */
    if (input.n ? ran && idset_add(&w->answered, id, &number) : idset_has(&w->answered, id)) {
        w->c.rc = input.n ? ERR_NOMEM : w->c.rc;
        return;
    }
    if (ran && input.n && continue_meaning(w, name, input, &call)) {
        call.text = continue_clean(w, call.text);
        call.old_text = continue_clean(w, call.old_text);

        /* The id marks the call as a copy, so that its edit is not taken for new work. */
        if (!edit_mark(w->session, call_id, mark))
            host_generate_id(mark);
        call.id = mark;
        if (w->form->call(&w->c, &call)) {
            w->out->calls++;
            return;
        }
    }

    /* A call as a text of the agent's. */
    struct slice text = { NULL, 0 };
    AUTO_BUF out = { 0 };

    if (json_type(input) != JSON_STRING || !json_text(input, &w->arena, &text))
        text = input;
    const struct slice answer = !input.n ? SLICE("")
                                : ran    ? SLICE("\n[Result]\n")
                                         : SLICE("\n[No result was recorded]");

    if (buf_addf(&out, "[%s ", input.n ? "Tool call:" : "Result of") || buf_add(&out, name) ||
        buf_add(&out, SLICE("]\n")) || buf_add(&out, text) || buf_add(&out, answer) ||
        buf_add(&out, call.result))
        w->c.rc = ERR_NOMEM;
    else
        continue_say(w, false, continue_clean(w, buf_slice(&out)));
    w->out->texts++;
    w->out->unanswered += !ran;
    /* The text was counted as a reply, which it is not. */
    w->out->replies--;
}

/* ---- messages ---- */

/* The text of a message, with a line for each image and document. */
static struct slice continue_text(struct continuing *w, struct slice message)
{
    struct slice text = continue_text_at(w, message, "text"), item, name;
    struct json_iter it;

    json_list_open(&it, message, "media");
    while (json_list_next(&it, &item)) {
        name = continue_clean(w, json_text_of(item, &w->arena));
        const char *line = arena_format(&w->arena, "%.*s%s[%.*s, left out]", SLICE_ARG(text),
                                        text.n ? "\n" : "", SLICE_ARG(name));

        w->out->media++;
        if (line)
            text = slice_of(line);
    }
    return text;
}

static enum err_code continue_pass_on(struct continuing *w, struct err *e)
{
    enum err_code rc = w->c.rc || w->arena.failed || w->c.arena->failed ? err_nomem(e) : ERR_OK;

    if (!rc && w->to)
        rc = disk_write(w->to->fd, buf_slice(&w->c.rows), NULL, w->to->path, e);
    if (!rc && w->rows)
        rc = contents_add(w->rows, buf_slice(&w->c.rows), e);
    w->out->bytes += (int64_t)w->c.rows.n;
    w->c.rows.n = 0;
    return rc;
}

static enum err_code continue_message(struct slice message, void *arg, struct err *e)
{
    struct continuing *w = arg;
    struct slice value, tool, text;
    struct json_iter it;
    int64_t ms;

    arena_reset(&w->arena);
    const bool user = json_get_is(message, "role", "user");

    if (json_get(message, "time", &value) && json_int(value, &ms) &&
        (!w->begun || ms > w->c.time_ms) && ms > 0)
        w->c.time_ms = ms;
    time_format(w->c.time_ms, w->c.time);
    if (!w->begun) {
        /* A model is always asked first. */
        w->begun = true;
        TRY(w->form->begin(&w->c, &w->out->path, e));
        if (!user)
            w->form->prompt(&w->c, SLICE("[The conversation begins with a reply.]"));
        NEED((w->out->id = arena_copy(&w->out->arena, slice_of(w->c.id))).p);
    }
    text = continue_text(w, message);
    w->out->thoughts += continue_text_at(w, message, "thinking").n > 0;
    continue_say(w, user, text);
    json_list_open(&it, message, "tools");
    while (json_list_next(&it, &tool))
        continue_call(w, tool);
    return continue_pass_on(w, e);
}

static enum err_code continue_write(struct continuing *w, const struct session_ref *ref,
                                    struct err *e)
{
    const struct message_query q = { .session = ref->id };

    TRY(plain_messages(ref->store, ref, &q, continue_message, w, e));
    if (!w->begun)
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "continue: the session has no messages");
    if (w->form->end)
        w->form->end(&w->c);
    w->out->elsewhere = strcmp(w->c.dir, w->out->dir) != 0;
    w->out->dir = w->c.dir;
    return continue_pass_on(w, e);
}

/* ---- the session ---- */

/* Where the session is continued, and what it is called. */
static enum err_code continue_about(const struct session_ref *ref, struct continuing *w,
                                    struct err *e)
{
    CLEANUP(session_row_free_at) struct session_row *row = session_row_new();
    struct continue_in *out = w->out;

    NEED(row);
    TRY(ref->store->ops->describe(ref->store, &continue_everywhere, ref, row, e));
    out->title = arena_copy(&out->arena, session_row_title(row));
    w->c.title = arena_copy(&out->arena, continue_clean(w, out->title));
    w->c.branch = arena_copy(&out->arena, continue_clean(w, session_row_branch(row)));
    out->repaired = 0; /* they are no texts of the conversation */
    out->dir = arena_copy(&out->arena, row->cwd).p;
    w->c.time_ms = row->created_ms != TIME_NONE ? row->created_ms : ref->store->env->now_ms;
    NEED(out->title.p && w->c.title.p && w->c.branch.p && out->dir);
    if (out->dir[0] != '/' || !utf8_valid(row->cwd))
        return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                       "continue: the directory of the session is not known");
    w->c.dir = out->dir;
    return ERR_OK;
}

static void continue_end(struct continuing *w)
{
    arena_fini(&w->arena);
    buf_fini(&w->c.rows);
    idset_fini(&w->answered);
}

static enum err_code continue_open(const struct session_ref *ref, const struct store *to,
                                   struct continuing *w, struct err *e)
{
    w->form = to->ops->compose;
    w->session = ref->id;
    w->c.store = to;
    w->c.arena = &w->out->arena;
    w->out->to = to;

    struct continue_in *out = w->out;
    const char *why = to->ops->unpersisted ? to->ops->unpersisted(to) : NULL;

    if (!to->ops->compose) {
        const char *agents = continue_in_agents(&out->arena, NULL);

        NEED(agents);
        return err_set(e, ERR_UNSUPPORTED, to->ops->name,
                       "continue in: sessions can only be made for %s", agents);
    }
    if (strcmp(store_format(ref->store->ops), store_format(to->ops)) == 0)
        return err_set(e, ERR_USAGE, to->ops->name,
                       "continue in: it is a session of this agent: resume or fork it");
    TRY(why ? err_set(e, ERR_UNSUPPORTED, to->path, "continue: %s", why) : ERR_OK);

    return continue_about(ref, w, e);
}

enum err_code continue_in_plan(const struct session_ref *ref, const struct store *to,
                               struct continue_in *out, struct err *e)
{
    *out = (struct continue_in){ 0 };
    struct continuing w = { .out = out };
    enum err_code rc = continue_open(ref, to, &w, e);

    if (!rc)
        rc = continue_write(&w, ref, e);
    continue_end(&w);
    if (rc)
        continue_in_fini(out);
    return rc;
}

/* Writes the new session completely and durably where forks are made, before any of it appears among the sessions. */
static enum err_code continue_stage(struct continuing *w, const struct session_ref *ref,
                                    struct fork_result *made, struct err *e)
{
    char dir[PATH_MAX];
    struct disk_new to;

    TRY(env_data_path(ref->store->env, "forks", dir, e));
    TRY(disk_private_dir(dir, e));
    TRY(disk_new_open(dir, 0600, &to, e));
    w->to = &to;
    enum err_code rc = continue_write(w, ref, e);
    const char *name = rc ? NULL : strrchr(w->out->path, '/') + 1;

    if (!rc)
        made->staged = arena_format(&w->out->arena, "%s/%s", dir, name);
    if (!rc && made->staged)
        return disk_new_publish(&to, name, e);
    disk_new_discard(&to);
    return rc ? rc : err_nomem(e);
}

static enum err_code continue_change(struct continue_in *out, const struct session_ref *ref,
                                     const struct step *make, struct err *e)
{
    struct change *c = out->change;

    c->text =
        arena_format(&c->arena, "continued in %s as %.*s", out->to->ops->name, SLICE_ARG(out->id));
    NEED(c->text);
    TRY(origin_add_session(c, ref, e));
    TRY(change_add_session(c, out->to->ops->name, out->id, e));
    if (out->to->ops->adopt)
        TRY(out->to->ops->adopt(out->to,
                                out->to->ops->folder_of(out->to, slice_of(out->dir), &out->arena),
                                slice_of(out->dir), c, e));
    TRY(change_add(c, make, e));
    return change_do(ref->store->env, c, e);
}

static enum err_code continue_parent(const struct continue_in *out, char folder[PATH_MAX],
                                     struct err *e)
{
    return path_parent(out->path, folder)
               ? ERR_OK
               : err_set(e, ERR_UNSAFE, out->path, "continue: the name is too long");
}

static enum err_code continue_file(struct continuing *w, const struct session_ref *ref,
                                   struct err *e)
{
    struct step move = { .kind = STEP_MOVE, .made = true };
    struct fork_result made = { .path = NULL };
    char folder[PATH_MAX];

    change_sweep_forks(ref->store->env);
    enum err_code rc = continue_stage(w, ref, &made, e);

    if (!rc)
        rc = continue_parent(w->out, folder, e);
    if (!rc)
        rc = disk_make_dir(folder, 0700, e);
    move.path = made.staged;
    move.to = w->out->path;
    if (!rc)
        rc = continue_change(w->out, ref, &move, e);
    if (rc && made.staged && !w->out->change->unfinished)
        change_discard_fork(&made);
    return rc;
}

static enum err_code continue_database(struct continuing *w, const struct session_ref *ref,
                                       struct err *e)
{
    struct contents rows = { .change = w->out->change,
                             .env = ref->store->env,
                             .most = ROWS_IN_MEMORY };
    struct step insert = { .kind = STEP_ROWS, .old_absent = true };
    char database[PATH_MAX];

    w->rows = &rows;
    enum err_code rc = continue_write(w, ref, e);

    if (!rc)
        rc = contents_end(&rows, &insert.bytes, &insert.bytes_part, e);
    if (!rc)
        rc = continue_parent(w->out, database, e);
    insert.path = database;
    if (!rc)
        rc = continue_change(w->out, ref, &insert, e);
    contents_fini(&rows, rc != ERR_OK);
    return rc;
}

enum err_code continue_in_do(const struct session_ref *ref, const struct store *to,
                             struct continue_in *out, struct err *e)
{
    *out = (struct continue_in){ .change = change_new("continue") };
    struct continuing w = { .out = out };
    enum err_code rc = out->change ? continue_open(ref, to, &w, e) : err_nomem(e);

    if (!rc)
        rc = (w.form->database ? continue_database : continue_file)(&w, ref, e);
    continue_end(&w);
    if (rc)
        continue_in_fini(out);
    return rc;
}
