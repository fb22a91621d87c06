#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/codex/codex.h"
#include "store/systems/codex/rollout.h"
#include "store/systems/common/config_dir.h"

/* Each thread has one row, made from its newest rollout. The instructions at the beginning of a
 * rollout are longer than the window used for other agents (80 KiB before the first prompt), so
 * more is read. */

enum {
    HEAD = 128 << 10,
    HEAD_MOST = 1 << 20,
    PACKED = 2 << 20, /* of an archive's text; its end could only be reached by reading all of it */
    TAIL = 32 << 10,
    SHOWS_KIND = 512, /* bytes of a line that contain its kind */
};

/* ---- enumerate, find ---- */

static struct session_ref ref_of(const struct store *st, const struct rollout *x)
{
    return (struct session_ref){
        .store = st,
        .id = x->thread,
        .path = x->path,
        .folder = SLICE(""),
        .file = x->file,
        .recent_ms = codex_threads_find(codex_of(st)->threads, x->thread, NULL).updated_ms,
    };
}

enum err_code codex_enumerate(const struct store *st, const struct scope *scope, session_ref_fn *fn,
                              void *arg, struct err *e)
{
    struct rollouts all;
    bool more = true;
    enum err_code rc = rollouts_read(st->path, NULL, NULL, &all, e);

    (void)scope;
    if (rc)
        return rc;
    if (all.n)
        codex_threads_refresh(codex_of(st)->threads);
    for (size_t i = 0; i < all.n && more; i++) {
        struct session_ref ref = ref_of(st, &all.rollout[i]);

        if (i + 1 == all.n || !slice_eq(ref.id, all.rollout[i + 1].thread))
            more = fn(&ref, arg);
    }
    rollouts_fini(&all);
    return ERR_OK;
}

enum err_code codex_unreadable(const struct store *st, const struct scope *scope, unreadable_fn *fn,
                               void *arg, struct err *e)
{
    struct rollouts all;
    enum err_code rc = rollouts_read(st->path, fn, arg, &all, e);

    (void)scope;
    if (!rc)
        rollouts_fini(&all);
    codex_threads_report(codex_of(st)->threads, fn, arg);
    return rc;
}

static enum err_code copy_ref(const struct store *st, const struct rollout *x, struct arena *a,
                              struct session_ref *ref, struct err *e)
{
    struct session_ref found = ref_of(st, x);

    return session_ref_copy(a, &found, ref) ? ERR_OK : err_nomem(e);
}

enum err_code codex_find(const struct store *st, const struct scope *scope, struct slice id,
                         struct arena *a, struct session_ref *ref, struct err *e)
{
    struct rollouts all;

    (void)scope;
    if (!codex_is_id(id))
        return err_set(e, ERR_USAGE, "", "find session: not a Codex session id");
    enum err_code rc = rollouts_read(st->path, NULL, NULL, &all, e);

    if (rc)
        return rc;
    codex_threads_refresh(codex_of(st)->threads);
    const struct rollout *x = rollouts_newest(&all, id);

    rc = x ? copy_ref(st, x, a, ref, e)
           : err_set(e, ERR_NOT_FOUND, st->path, "find session: no such session");
    rollouts_fini(&all);
    return rc;
}

enum err_code codex_at_path(const struct store *st, struct slice path, struct arena *a,
                            struct session_ref *ref, struct err *e)
{
    const char *name = memrchr(path.p, '/', path.n);
    struct rollout x = { .packed = false };
    struct stat sb;

    if (!name ||
        !rollout_name((struct slice){ name + 1, path.n - (size_t)(name + 1 - path.p) }, &x))
        return err_set(e, ERR_NOT_FOUND, path.p, "open session: no such session");
    x.path = arena_copy(a, path);
    if (!x.path.p)
        return err_nomem(e);
    if (lstat(x.path.p, &sb) != 0 || !S_ISREG(sb.st_mode))
        return err_set(e, ERR_NOT_FOUND, path.p, "open session: no such session");
    x.file = file_id_of(&sb);
    return copy_ref(st, &x, a, ref, e);
}

/* ---- describe ---- */

struct describing {
    struct session_row *row;
    struct arena *a;
    struct buf head, tail;
    bool whole;              /* head is all of it */
    bool sub_agent;          /* of another thread */
    bool open;               /* its last turn has no end */
    struct slice own_prompt; /* the first one of this log */
};

/* The program's own picker shows threads of these sources, and threads that name none. */
static bool is_interactive(struct slice source, struct arena *a)
{
    static const char *const shown[] = { "cli", "vscode", "atlas", "chatgpt" };
    struct slice name = { NULL, 0 };

    if (!source.n || json_type(source) == JSON_NULL)
        return true;
    if (json_type(source) == JSON_OBJECT)
        name = json_text_at(source, "custom", a);
    else if (!json_text(source, a, &name))
        return false;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (slice_eq(name, slice_of(shown[i])))
            return true;
    return false;
}

static void read_meta(struct describing *d, struct slice payload)
{
    struct session_row *row = d->row;
    struct slice source = { NULL, 0 }, inner, at = json_text_at(payload, "timestamp", d->a);

    json_get(payload, "source", &source);
    d->sub_agent = json_type(source) == JSON_OBJECT &&
                   (json_get(source, "subagent", &inner) || json_get(source, "subAgent", &inner));
    row->cwd = json_text_at(payload, "cwd", d->a);
    row->git_branch = json_text_at(payload, "git.branch", d->a);
    row->parent_id = json_text_at(payload, "forked_from_id", d->a);
    row->agent_name = json_text_at(payload, "agent_nickname", d->a);
    row->agent_setting = json_text_at(payload, "agent_role", d->a);
    row->flags |= row->parent_id.n ? SESSION_FORK : 0U;
    row->flags |= is_interactive(source, d->a) ? 0U : SESSION_PROGRAMMATIC;
    if (!time_parse(at, &row->created_ms))
        row->created_ms = TIME_NONE;
}

static bool shows(struct slice line, const char *what)
{
    struct slice front = { line.p, line.n < SHOWS_KIND ? line.n : SHOWS_KIND };

    return slice_has(front, what);
}

/* If the first line is longer than the part that was read, that part is used. */
static void read_first_line(struct describing *d, struct slice line)
{
    struct slice payload;

    if (shows(line, "\"session_meta\"") && json_get(line, "payload", &payload))
        read_meta(d, payload);
    else if (shows(line, "\"session_meta\"")) {
        const char *at = slice_find(line.p, line.n, "\"payload\":", 10);

        if (at)
            read_meta(d, (struct slice){ at + 10, (size_t)(line.p + line.n - at - 10) });
    }
}

/* Codex does not list a thread whose prompts are blank. */
static struct slice prompt_of(const struct codex_row *row, struct arena *a)
{
    struct slice prompt = codex_row_prompt(row, a);

    return utf8_js_trim(prompt).n ? prompt : SLICE("");
}

static void read_head_line(struct describing *d, struct slice line)
{
    struct codex_row row;

    if (!d->row->model.n && shows(line, "\"turn_context\"") && codex_row_read(line, d->a, &row))
        d->row->model = json_text_at(row.payload, "model", d->a);
    if ((shows(line, "\"UserMessage\"") || shows(line, "\"user_message\"")) &&
        codex_row_read(line, d->a, &row) && row.kind == CODEX_PROMPT)
        d->row->first_prompt = prompt_of(&row, d->a);
}

static void read_head(struct describing *d)
{
    struct slice rest = buf_slice(&d->head), line;
    bool torn, first = true;

    while (!d->row->first_prompt.n && slice_line(&rest, &line, &torn)) {
        if (first)
            read_first_line(d, line);
        else if (!torn || d->whole)
            read_head_line(d, line);
        first = false;
    }
}

static size_t turns_taken_back(const struct codex_row *row)
{
    struct slice value;
    int64_t n;

    return json_get(row->payload, "num_turns", &value) && json_int(value, &n) && n > 0 ? (size_t)n
                                                                                       : 0;
}

/* Old versions record no ends of turns, so a turn with an answer has ended. */
static bool is_open(const struct describing *d, enum codex_kind kind, bool answered)
{
    return kind == CODEX_BEGIN ||
           (kind == CODEX_PROMPT &&
            !(answered && !slice_has(buf_slice(&d->head), "\"task_started\"")));
}

/* Looks backwards for the newest time, the end of the last turn and the last prompt that a rollback
 * left. */
static void read_tail(struct describing *d, struct slice rest, bool cut)
{
    struct slice line;
    struct codex_row row;
    bool torn, ended = false, answered = false;
    size_t gone = 0; /* prompts that a rollback dropped */

    while (!d->row->last_prompt.n && slice_last_line(&rest, &line, &torn)) {
        bool first_of_part = cut && rest.n == 0;
        bool begins = shows(line, "\"task_started\""),
             prompt = shows(line, "\"UserMessage\"") || shows(line, "\"user_message\"");
        bool ends = shows(line, "\"task_complete\"") || shows(line, "\"turn_aborted\"") ||
                    shows(line, "\"thread_rolled_back\"");
        bool dated = d->row->activity_ms != TIME_NONE;

        answered |= shows(line, "\"agent_message\"");
        if (first_of_part || (dated && !begins && !prompt && !ends) ||
            !codex_row_read(line, d->a, &row))
            continue;
        if (!dated && !time_parse(row.time, &d->row->activity_ms))
            d->row->activity_ms = TIME_NONE;
        if (!ended)
            d->open = is_open(d, row.kind, answered);
        ended |= row.kind == CODEX_END || row.kind == CODEX_NOTE || row.kind == CODEX_ROLLBACK ||
                 d->open;
        gone += row.kind == CODEX_ROLLBACK ? turns_taken_back(&row) : 0;
        if (row.kind == CODEX_PROMPT && gone)
            gone--;
        else if (row.kind == CODEX_PROMPT)
            d->row->last_prompt = codex_row_prompt(&row, d->a);
    }
}

static enum err_code read_end(struct describing *d, struct err *e)
{
    struct file f;
    enum err_code rc = file_open(AT_FDCWD, d->row->ref.path.p, 0, &f, e);

    if (rc)
        return rc;
    int64_t from = f.id.size > TAIL ? f.id.size - TAIL : 0;

    rc = file_read_part(&f, from, TAIL, &d->tail, e);
    file_close(&f);
    if (!rc)
        read_tail(d, buf_slice(&d->tail), from > 0);
    return rc;
}

static void read_first_prompt(struct describing *d, struct slice text)
{
    struct slice line;
    struct codex_row row;
    bool torn;

    while (!d->row->first_prompt.n && slice_line(&text, &line, &torn))
        if ((shows(line, "\"UserMessage\"") || shows(line, "\"user_message\"")) &&
            codex_row_read(line, d->a, &row) && row.kind == CODEX_PROMPT)
            d->row->first_prompt = arena_copy(d->a, prompt_of(&row, d->a));
}

/* The first prompt of a conversation that continues another rollout is in that rollout, if it is
 * not too far from its beginning. */
static enum err_code follow_base(struct describing *d, struct slice text, struct err *e)
{
    enum { LINKS = 8 };
    struct slice own = d->row->first_prompt, line;
    struct rollout_base base;
    struct buf above = { 0 };
    enum err_code rc = ERR_OK;
    bool torn, whole;

    for (int i = 0; i < LINKS && !rc && slice_line(&text, &line, &torn) && !torn; i++) {
        rollout_base_read(line, d->a, &base);
        const char *path =
            base.end > 0 ? codex_places_find(codex_of(d->row->ref.store)->places, base.id, d->a)
                         : NULL;

        if (!path)
            break;
        base.id.n = 0;
        above.n = 0;
        rc = rollout_text(path, base.end < HEAD_MOST ? (size_t)base.end : HEAD_MOST, &above, &whole,
                          NULL);
        d->row->first_prompt.n = 0;
        text = buf_slice(&above);
        if (!rc)
            read_first_prompt(d, text);
        if (rc || !d->row->first_prompt.n)
            d->row->first_prompt = own;
    }
    buf_fini(&above);
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

/* The oldest logs have no events. */
static void read_raw_prompts(struct describing *d)
{
    struct slice rest = buf_slice(&d->head), line;
    struct codex_row row;
    bool torn;

    while (slice_line(&rest, &line, &torn)) {
        if ((torn && !d->whole) || !shows(line, "\"response_item\"") ||
            !codex_row_read(line, d->a, &row) || row.kind != CODEX_ASKED)
            continue;
        d->row->last_prompt = codex_row_prompt(&row, d->a);
        if (!d->row->first_prompt.n)
            d->row->first_prompt = d->row->last_prompt;
    }
    if (!d->whole)
        d->row->last_prompt.n = 0;
}

static enum err_code read_texts(struct describing *d, struct err *e)
{
    const char *path = d->row->ref.path.p;
    bool packed = slice_has(d->row->ref.path, ".zst");
    size_t most[] = { packed ? PACKED : HEAD, HEAD_MOST };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < 2 && !rc && !d->row->first_prompt.n; i++) {
        if (i && (d->whole || packed))
            break;
        d->head.n = 0;
        rc = rollout_text(path, most[i], &d->head, &d->whole, e);
        if (!rc)
            read_head(d);
    }
    if (rc)
        return rc;
    if (d->whole || (packed && d->head.n < PACKED))
        read_tail(d, buf_slice(&d->head), false);
    else if (!packed)
        rc = read_end(d, e);
    if (!rc && !d->row->first_prompt.n && !d->row->last_prompt.n)
        read_raw_prompts(d);
    d->own_prompt = d->row->first_prompt;
    return rc ? rc : follow_base(d, buf_slice(&d->head), e);
}

static bool ends_torn(const struct describing *d)
{
    const struct buf *end = d->whole ? &d->head : &d->tail;

    return end->n && end->p[end->n - 1] != '\n';
}

static void set_hidden(struct describing *d, const struct scope *scope)
{
    struct session_row *row = d->row;
    const bool elsewhere = !config_dir_in_scope(scope, row->cwd, d->a);

    if (elsewhere && row->cwd.n)
        row->hidden = HIDDEN_COLLISION;
    else if (d->sub_agent)
        row->hidden = HIDDEN_SIDECHAIN;
    else if (!row->first_prompt.n && !row->parent_id.n && !row->custom_title.n)
        row->hidden = HIDDEN_EMPTY;
    else if (row->flags & SESSION_PROGRAMMATIC)
        row->hidden = scope->leave_programmatic ? HIDDEN_PROGRAMMATIC : HIDDEN_COMMAND;
    else if (elsewhere)
        row->hidden = HIDDEN_COLLISION;
}

static void complete_row(struct describing *d, const struct scope *scope)
{
    struct session_row *row = d->row;
    const struct codex *x = codex_of(row->ref.store);

    struct codex_thread thread = codex_threads_find(x->threads, row->ref.id, d->a);

    row->custom_title = thread.name;
    if (thread.cwd.n) /* a thread may be resumed in another directory */
        row->cwd = thread.cwd;
    if (!row->custom_title.n)
        row->custom_title = codex_names_find(x->names, row->ref.id, d->a);
    row->flags |= ends_torn(d) ? SESSION_TORN : 0U;
    row->flags |= d->open ? SESSION_INTERRUPTED : 0U;
    row->flags |= SESSION_ARCHIVED_KNOWN;
    if (slice_has(row->ref.path, "/archived_sessions/"))
        row->flags |= SESSION_ARCHIVED;
    row->modified_ms = session_modified_ms(&row->ref.file);
    if (row->activity_ms == TIME_NONE)
        row->activity_ms = row->modified_ms;
    /* its own first prompt distinguishes a fork from its parent */
    row->summary = row->custom_title.n                   ? row->custom_title
                   : row->parent_id.n && d->own_prompt.n ? d->own_prompt
                   : row->first_prompt.n                 ? row->first_prompt
                   : row->last_prompt.n                  ? row->last_prompt
                                                         : row->ref.id;
    row->can = CAN_RESUME | CAN_REWIND;
    set_hidden(d, scope);
}

enum err_code codex_describe(const struct store *st, const struct scope *scope,
                             const struct session_ref *ref, struct session_row *row, struct err *e)
{
    struct arena a = { 0 };
    struct describing d = { .row = row, .a = &a };
    struct stat sb;
    enum err_code rc;

    (void)st;
    session_row_reset(row);
    row->ref = *ref;
    rc = read_texts(&d, e);
    if (rc && rc != ERR_NOMEM && rc != ERR_NOT_FOUND) {
        row->hidden = HIDDEN_UNREADABLE;
        rc = ERR_OK;
    } else if (!rc) {
        if (lstat(ref->path.p, &sb) == 0)
            row->ref.file = file_id_of(&sb);
        complete_row(&d, scope);
    }
    if (row->hidden == HIDDEN_UNREADABLE)
        row->modified_ms = row->activity_ms = session_modified_ms(&ref->file);
    row->ref.preread = (struct slice){ NULL, 0 };
    if (!rc && (a.failed || !session_row_keep(row)))
        rc = err_nomem(e);
    buf_fini(&d.head);
    buf_fini(&d.tail);
    arena_fini(&a);
    return rc;
}

/* ---- sub-agents ---- */

static bool is_child(const struct rollout *x, struct slice parent)
{
    enum { FRONT = 16 << 10 };
    struct arena a = { 0 };
    struct buf text = { 0 };
    bool whole, is = false;

    if (!rollout_text(x->path.p, FRONT, &text, &whole, NULL)) {
        const char *at = slice_find(text.p, text.n, "\"payload\":", 10);
        struct slice payload = { at, at ? (size_t)(text.p + text.n - at) : 0 };

        if (at) {
            payload = (struct slice){ at + 10, payload.n - 10 };
            is =
                slice_eq(json_text_at(payload, "parent_thread_id", &a), parent) ||
                slice_eq(json_text_at(payload, "source.subagent.thread_spawn.parent_thread_id", &a),
                         parent);
        }
    }
    buf_fini(&text);
    arena_fini(&a);
    return is;
}

/* A sub-agent is created while its parent is being written, and ids begin with the time of
 * creation. */
static bool may_be_child(const struct rollout *x, const struct session_ref *ref)
{
    enum { SLACK_MS = 60000 };

    return memcmp(x->thread.p, ref->id.p, ref->id.n) > 0 &&
           rollout_born_ms(x->thread) <= session_modified_ms(&ref->file) + SLACK_MS;
}

enum err_code codex_subagents(const struct store *st, const struct session_ref *ref,
                              struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    struct rollouts all;
    struct slice *found = NULL;
    size_t count = 0;
    enum err_code rc = rollouts_read(st->path, NULL, NULL, &all, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < all.n && !a->failed; i++) {
        const struct rollout *x = &all.rollout[i];
        bool again = i && slice_eq(x->thread, all.rollout[i - 1].thread);

        if (!again && may_be_child(x, ref) && is_child(x, ref->id) &&
            !arena_add_copy(a, &found, &count, x->thread))
            rc = err_nomem(e);
    }
    rollouts_fini(&all);
    if (rc || a->failed)
        return err_nomem(e);
    *ids = found;
    *n = count;
    return ERR_OK;
}

enum err_code codex_subagent(const struct store *st, const struct session_ref *ref,
                             struct slice agent, struct arena *a, struct session_ref *out,
                             struct err *e)
{
    enum err_code rc = codex_is_id(agent) ? codex_find(st, NULL, agent, a, out, e) : ERR_NOT_FOUND;

    return rc == ERR_NOT_FOUND ? err_set(e, rc, ref->path.p, "no sub-agent %.*s", SLICE_ARG(agent))
                               : rc;
}

/* ---- what Codex deletes: the rollouts of a thread and of its sub-agents ---- */

/* Adds the sub-agents of a thread after it, and theirs. */
static enum err_code add_family(const struct store *st, struct slice thread, struct arena *a,
                                struct slice **family, size_t *n, struct err *e)
{
    enum err_code rc = arena_add_copy(a, family, n, thread) ? ERR_OK : err_nomem(e);

    for (size_t at = *n - 1; at < *n && !rc; at++) {
        struct session_ref ref = { 0 };
        struct slice *ids = NULL;
        size_t found = 0;

        rc = codex_find(st, NULL, (*family)[at], a, &ref, e);
        if (!rc)
            rc = codex_subagents(st, &ref, a, &ids, &found, e);
        for (size_t i = 0; i < found && !rc; i++)
            if (!arena_add_copy(a, family, n, ids[i]))
                rc = err_nomem(e);
    }
    return rc;
}

static bool is_of(const struct rollout *x, const struct slice *family, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (slice_eq(x->thread, family[i]))
            return true;
    return false;
}

enum err_code codex_deleted_parts(const struct store *st, const struct session_ref *ref, bool all,
                                  struct arena *a, const char ***part, size_t *n, struct err *e)
{
    struct slice *family = NULL;
    struct rollouts every;
    size_t members = 0;
    enum err_code rc = rollouts_read(st->path, NULL, NULL, &every, e);

    (void)all;
    *part = NULL;
    *n = 0;
    if (rc)
        return rc;
    rc = add_family(st, ref->id, a, &family, &members, e);
    if (!rc && !arena_add_text(a, part, n, ref->path.p)) /* the transcript first */
        rc = err_nomem(e);
    for (size_t i = 0; i < every.n && !rc; i++)
        if (is_of(&every.rollout[i], family, members) &&
            !slice_eq(every.rollout[i].path, ref->path) &&
            !arena_add_text(a, part, n, every.rollout[i].path.p))
            rc = err_nomem(e);
    rollouts_fini(&every);
    return rc;
}
