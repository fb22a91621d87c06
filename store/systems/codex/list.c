#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/io/file.h"
#include "lite/io/rows.h"
#include "lite/io/window.h"
#include "lite/json/json.h"
#include "store/systems/codex/codex.h"
#include "store/systems/codex/rollout.h"
#include "store/systems/common/config_dir.h"

/* Each thread has one row, made from its newest rollout. Instructions, pastes and screenshots may precede the text of
 * the first prompt, so a rollout is read up to it, however far it is. */

enum {
    NEAR = 1 << 20, /* what is read of sub-agents, and of logs that seem to have no events */
    /* bytes of an archive's text; its end can only be reached by reading all of it */
    PACKED = 2 << 20,
    PACKED_MOST = 64 << 20,
    TAIL = 32 << 10,
    WHOLE = 128 << 10, /* a log that is read as a tail */
    SHOWS_KIND = 512,  /* bytes of a line that contain its kind */
};

/* ---- enumerate, find ---- */

/* What is known of all threads changes while the program runs, but not for each row of a list. */
static void codex_refresh(const struct store *st)
{
    codex_threads_refresh(codex_of(st)->threads);
    codex_names_refresh(codex_of(st)->names);
}

static struct session_ref codex_ref_of(const struct store *st, const struct rollout *x)
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

    (void)scope;
    TRY(rollouts_read(st->path, &all, e));
    if (all.n)
        codex_refresh(st);
    for (size_t i = 0; i < all.n && more; i++) {
        struct session_ref ref = codex_ref_of(st, &all.rollout[i]);

        if (i + 1 == all.n || !slice_eq(ref.id, all.rollout[i + 1].thread))
            more = fn(&ref, arg);
    }
    rollouts_fini(&all);
    return ERR_OK;
}

enum err_code codex_unreadable(const struct store *st, const struct scope *scope, unreadable_fn *fn,
                               void *arg, struct err *e)
{
    enum err_code rc = rollouts_report(st->path, fn, arg, e);

    (void)scope;
    codex_threads_report(codex_of(st)->threads, fn, arg);
    return rc;
}

static enum err_code copy_ref(const struct store *st, const struct rollout *x, struct arena *a,
                              struct session_ref *ref, struct err *e)
{
    struct session_ref found = codex_ref_of(st, x);

    return session_ref_copy(a, &found, ref) ? ERR_OK : err_nomem(e);
}

enum err_code codex_find(const struct store *st, const struct scope *scope, struct slice id,
                         struct arena *a, struct session_ref *ref, struct err *e)
{
    struct rollouts all;

    (void)scope;
    if (!codex_is_id(id))
        return err_set(e, ERR_USAGE, "", "find session: not a Codex session id");
    enum err_code rc = rollouts_read(st->path, &all, e);

    if (rc)
        return rc;
    codex_refresh(st);
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
    codex_refresh(st);
    return copy_ref(st, &x, a, ref, e);
}

/* ---- describe ---- */

/* Every text that is kept is copied, because a row is valid only until the next one is read. */
struct describing {
    struct session_row *row;
    struct arena *a;   /* for what is kept */
    struct arena line; /* for one row */
    struct rollout_base base;
    struct slice prompt;  /* the first one of the log that is read */
    int64_t passed;       /* bytes of it so far */
    bool first;           /* no row of it was read yet */
    bool sub_agent;       /* it is a sub-agent of another thread */
    bool has_events;      /* newer logs do */
    bool acts;            /* the model answered; not looked for in a log with events */
    bool has_turns;       /* and mark where turns begin */
    bool raw;             /* prompts are only as the model sees them */
    bool open;            /* its last turn has no end */
    bool ended, answered; /* seen backwards from the end */
    size_t gone;          /* prompts that a rollback dropped */
    bool torn, damaged, headless;
    struct file log;
    struct buf text;   /* that of a short log */
    struct buf packed; /* the text of an archive, as far as it was read */
    bool whole;
};

/* The program's own picker shows threads of these sources, and threads that name none. */
static bool is_interactive(struct slice source)
{
    static const char *const shown[] = { "cli", "vscode", "atlas", "chatgpt" };
    const size_t n = sizeof shown / sizeof *shown;

    if (!source.n || json_type(source) == JSON_NULL)
        return true;
    if (json_type(source) == JSON_OBJECT)
        json_get(source, "custom", &source);
    return json_type(source) == JSON_STRING && json_key_in(source, shown, n) < n;
}

/* Its instructions are most of the first row, so it is walked once. */
static void codex_list_read_meta(struct describing *d, struct slice payload)
{
    enum { AT, SOURCE, CWD, GIT, PARENT, NICKNAME, ROLE, BASE, NAMES };
    static const char *const names[NAMES] = { "timestamp",  "source",         "cwd",
                                              "git",        "forked_from_id", "agent_nickname",
                                              "agent_role", "history_base" };
    struct session_row *row = d->row;
    struct slice value[NAMES], inner;

    json_get_each(payload, names, NAMES, value);
    rollout_base_of(value[BASE], &d->line, &d->base);
    d->base.id = arena_copy(d->a, d->base.id);
    d->sub_agent =
        json_type(value[SOURCE]) == JSON_OBJECT && (json_get(value[SOURCE], "subagent", &inner) ||
                                                    json_get(value[SOURCE], "subAgent", &inner));
    row->cwd = arena_copy(d->a, json_text_of(value[CWD], d->a));
    row->git_branch = json_copy_at(value[GIT], "branch", d->a);
    row->parent_id = arena_copy(d->a, json_text_of(value[PARENT], d->a));
    row->agent_name = arena_copy(d->a, json_text_of(value[NICKNAME], d->a));
    row->agent_setting = arena_copy(d->a, json_text_of(value[ROLE], d->a));
    row->flags |= row->parent_id.n ? SESSION_FORK : 0U;
    row->flags |= is_interactive(value[SOURCE]) ? 0U : SESSION_PROGRAMMATIC;
    if (!time_parse(json_text_of(value[AT], &d->line), &row->created_ms))
        row->created_ms = TIME_NONE;
}

static bool shows(struct slice line, const char *what)
{
    struct slice front = { line.p, line.n < SHOWS_KIND ? line.n : SHOWS_KIND };

    return slice_has(front, what);
}

static bool shows_prompt(struct slice line)
{
    return shows(line, "\"UserMessage\"") || shows(line, "\"user_message\"");
}

/* Codex does not list a thread whose prompts are blank. */
static struct slice keep_prompt(const struct codex_row *row, struct arena *a)
{
    struct slice prompt = codex_row_prompt(row, a);

    return utf8_js_trim(prompt).n ? arena_copy(a, prompt) : SLICE("");
}

/* Reads one row from the beginning. Returns false at the first prompt. */
static bool see_front_row(struct slice line, void *arg)
{
    struct describing *d = arg;
    struct codex_row row;

    arena_reset(&d->line);
    d->has_events = d->has_events || shows(line, "\"event_msg\"");
    d->has_turns = d->has_turns || shows(line, "\"task_started\"");
    d->acts = d->acts || (!d->has_events && shows(line, "\"response_item\"") &&
                          (shows(line, "\"assistant\"") || shows(line, "_call\"")));
    if (!d->row->model.n && shows(line, "\"turn_context\"") && codex_row_read(line, &d->line, &row))
        d->row->model = json_copy_at(row.payload, "model", d->a);
    if (shows_prompt(line) && codex_row_read(line, &d->line, &row) && row.kind == CODEX_PROMPT)
        d->prompt = keep_prompt(&row, d->a);
    d->passed += (int64_t)line.n;
    return !d->prompt.n && (d->passed < NEAR || !(d->sub_agent || (d->acts && !d->has_events)));
}

/* The oldest logs have no events. */
static bool see_raw_row(struct slice line, void *arg)
{
    struct describing *d = arg;
    struct codex_row row;

    arena_reset(&d->line);
    if (shows(line, "\"response_item\"") && codex_row_read(line, &d->line, &row) &&
        row.kind == CODEX_ASKED)
        d->prompt = keep_prompt(&row, d->a);
    d->passed += (int64_t)line.n;
    return !d->prompt.n && (d->passed < NEAR || !(d->sub_agent || d->has_events));
}

/* The first row contains what precedes the log; the others are passed on. */
static bool see_own_row(struct slice line, void *arg)
{
    static const char *const names[] = { "type", "payload" };
    struct describing *d = arg;
    struct slice value[2];

    if (!d->first)
        return see_front_row(line, d);
    d->first = false;
    line = rows_skip_mark(line);
    arena_reset(&d->line);
    json_get_each(line, names, 2, value);
    d->headless = value[0].n && value[1].n && !json_string_is(value[0], "session_meta");

    if (shows(line, "\"session_meta\"")) {
        /* Perhaps only the beginning of an archive's first line is known. */
        const char *at = value[1].n ? NULL : slice_find(line.p, line.n, "\"payload\":", 10);

        if (at)
            value[1] = (struct slice){ at + 10, (size_t)(line.p + line.n - at - 10) };
        codex_list_read_meta(d, value[1]);
    }
    return true;
}

static bool is_packed_log(const char *path)
{
    return slice_has(slice_of(path), ".zst");
}

/* Reads at least so much of an archive's text, if there is so much. */
static enum err_code read_packed_text(struct describing *d, const char *path, size_t most,
                                      struct err *e)
{
    if (d->whole || (d->packed.n && d->packed.n < PACKED) || d->packed.n >= most)
        return ERR_OK;
    d->packed.n = 0;
    return rollout_text(path, most, &d->packed, &d->whole, e);
}

/* Opens the rollout unless it is open, and reads it at once if it is short: then both its ends are in memory. */
static enum err_code codex_open_log(struct describing *d, const char *path, struct err *e)
{
    if (d->log.fd >= 0)
        return ERR_OK;
    TRY(file_open(AT_FDCWD, path, 0, &d->log, e));
    return d->log.id.size <= WHOLE ? file_read_part(&d->log, 0, (size_t)d->log.id.size, &d->text, e)
                                   : ERR_OK;
}

static void codex_describing_fini(struct describing *d)
{
    file_close(&d->log);
    buf_fini(&d->text);
    buf_fini(&d->packed);
    arena_fini(&d->line);
}

/* Passes the rows at the beginning of a rollout, up to `end`, to fn, until it finds what it looks for. */
static enum err_code each_front_row(struct describing *d, const char *path, int64_t end, bool first,
                                    rows_fn *fn, struct err *e)
{
    if (is_packed_log(path)) {
        /* Passes the rows at the beginning of an archive on. Its last one may be cut. */
        const size_t most[] = { PACKED, PACKED_MOST };
        bool more = true;
        enum err_code rc = ERR_OK;

        for (size_t i = 0; i < 2 && !rc && more; i++) {
            rc = read_packed_text(d, path, most[i], e);
            struct slice text = buf_slice(&d->packed), line;
            bool torn;

            if (end < (int64_t)text.n)
                text.n = (size_t)end;
            d->passed = 0;
            d->first = first;
            while (!rc && more && slice_line(&text, &line, &torn))
                if (!torn || d->whole || d->first)
                    more = fn(line, d);
            if (d->packed.n < most[i] || end <= (int64_t)most[i])
                break;
        }
        return rc;
    }
    TRY(codex_open_log(d, path, e));
    d->passed = 0;
    d->first = first;
    if (d->log.id.size <= WHOLE) {
        /* As rows_forward; a file that became shorter has no last row. */
        struct slice rest = buf_slice(&d->text), line;
        const bool shrank = (int64_t)rest.n < d->log.id.size && (int64_t)rest.n < end;
        bool torn, more = true;

        if (end < (int64_t)rest.n)
            rest.n = (size_t)end;
        while (more && slice_line(&rest, &line, &torn) && !(torn && shrank))
            more = fn(line, d);

        return ERR_OK;
    }
    struct file front = d->log;

    front.id.size = front.id.size < end ? front.id.size : end;
    return rows_forward(&front, 0, fn, d, e);
}

/* Looks backwards for the newest time, the end of the last turn and the last prompt that a rollback left. Returns false
 * at that prompt. */
static bool see_end_row(struct slice line, void *arg)
{
    struct describing *d = arg;
    struct session_row *out = d->row;
    struct codex_row row;
    const bool dated = out->activity_ms != TIME_NONE, ahead = !d->ended;
    const bool begins = ahead && shows(line, "\"task_started\"");
    const bool prompt = d->raw ? shows(line, "\"response_item\"") : shows_prompt(line);
    const bool ends =
        (ahead && (shows(line, "\"task_complete\"") || shows(line, "\"turn_aborted\""))) ||
        shows(line, "\"thread_rolled_back\"");

    arena_reset(&d->line);
    d->has_turns |= begins;
    d->answered |= ahead && shows(line, "\"agent_message\"");
    if ((dated && !begins && !prompt && !ends) || !codex_row_read(line, &d->line, &row))
        return true;
    if (!dated && !time_parse(row.time, &out->activity_ms))
        out->activity_ms = TIME_NONE;
    if (ahead) {
        /* Old versions record no ends of turns, so a turn with an answer has ended. */
        d->open = row.kind == CODEX_BEGIN ||
                  (row.kind == CODEX_PROMPT && !(d->answered && !d->has_turns));
    }
    d->ended |=
        row.kind == CODEX_END || row.kind == CODEX_NOTE || row.kind == CODEX_ROLLBACK || d->open;
    /* A rollback names the number of turns that it removed. */
    struct slice turns;
    int64_t n;

    if (row.kind == CODEX_ROLLBACK && json_get(row.payload, "num_turns", &turns) &&
        json_int(turns, &n) && n > 0)
        d->gone += (size_t)n;
    if (row.kind == CODEX_PROMPT && d->gone)
        d->gone--;
    else if (row.kind == CODEX_PROMPT || (d->raw && row.kind == CODEX_ASKED))
        out->last_prompt = arena_copy(d->a, codex_row_prompt(&row, &d->line));
    return !out->last_prompt.n;
}

/* Beyond the tail, a time is enough, or for a log without events a prompt that is not too far. */
static bool see_row_before_end(struct slice line, void *arg)
{
    struct describing *d = arg;
    bool more = see_end_row(line, d);

    d->passed += (int64_t)line.n;
    return more && (d->row->activity_ms == TIME_NONE || (d->raw && d->passed < NEAR));
}

static void each_row_backwards(struct describing *d, struct slice text, bool cut)
{
    struct slice line;
    bool torn, more = true;

    while (more && slice_last_line(&text, &line, &torn))
        if (!(cut && text.n == 0))
            more = see_end_row(line, d);
}

static enum err_code codex_read_end(struct describing *d, struct err *e)
{
    const char *path = d->row->ref.path.p;

    if (is_packed_log(path)) {
        /* The end of an archive is known only if all of it was read, or up to where it is
         * damaged. */
        const size_t most = d->row->ref.recent_ms ? PACKED : PACKED_MOST;
        enum err_code rc = read_packed_text(d, d->row->ref.path.p, most, e);
        struct slice text = buf_slice(&d->packed);

        if (!rc && (d->whole || text.n < most)) {
            d->torn = d->whole && text.n && text.p[text.n - 1] != '\n';
            each_row_backwards(d, text, false);
        }
        return rc;
    }
    d->passed = 0;
    const struct file *f = &d->log;
    const int64_t size = f->id.size;
    const bool cut = size > WHOLE;
    AUTO_BUF tail = { 0 };

    if (cut)
        TRY(file_read_part(f, size - TAIL, TAIL, &tail, e));
    struct slice text = buf_slice(cut ? &tail : &d->text);
    const char *newline = text.n ? memchr(text.p, '\n', text.n) : NULL;
    int64_t rest = size - (newline ? (int64_t)(text.p + text.n - newline - 1) : 0);

    d->torn = text.n && text.p[text.n - 1] != '\n';
    d->damaged = window_rows_show_damage(text, cut);
    each_row_backwards(d, text, cut);
    if (cut && (d->row->activity_ms == TIME_NONE || (d->raw && !d->row->last_prompt.n)))
        return rows_backward(f, rest, see_row_before_end, d, e);
    return ERR_OK;
}

/* The first prompt of a conversation that continues another rollout is in that rollout. */
static enum err_code follow_base(struct describing *d, struct err *e)
{
    enum { LINKS = 8 };
    enum err_code rc = ERR_OK;

    for (int i = 0; i < LINKS && !rc && d->base.end > 0; i++) {
        struct describing above = { .row = session_row_new(), .a = d->a, .log.fd = -1 };
        const char *path = codex_places_find(codex_of(d->row->ref.store)->places, d->base.id, d->a);
        int64_t end = d->base.end;

        d->base.end = 0;
        if (above.row)
            above.row->ref.store = d->row->ref.store;
        if (!above.row)
            rc = ERR_NOMEM;
        else if (path) {
            above.row->ref.store = d->row->ref.store;
            rc = each_front_row(&above, path, end, true, see_own_row, NULL);
        }
        if (path && !rc) {
            d->base = above.base;
            if (above.prompt.n)
                d->row->first_prompt = above.prompt;
        }
        codex_describing_fini(&above);
        session_row_free(above.row);
    }
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

static enum err_code read_texts(struct describing *d, struct err *e)
{
    const char *path = d->row->ref.path.p;
    enum err_code rc = each_front_row(d, path, INT64_MAX, true, see_own_row, e);

    if (!rc)
        rc = codex_read_end(d, e);
    if (!rc && !d->prompt.n && !d->row->last_prompt.n) {
        rc = each_front_row(d, path, INT64_MAX, false, see_raw_row, e);
        d->raw = d->prompt.n > 0;
        if (!rc && d->raw)
            rc = codex_read_end(d, e);
    }
    d->row->first_prompt = d->prompt;
    return rc ? rc : follow_base(d, e);
}

static void codex_set_hidden(struct describing *d, const struct scope *scope)
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

static void codex_complete_row(struct describing *d, const struct scope *scope)
{
    struct session_row *row = d->row;
    const struct codex *x = codex_of(row->ref.store);

    struct codex_thread thread = codex_threads_find(x->threads, row->ref.id, d->a);

    row->custom_title = thread.name;
    if (thread.cwd.n) /* a thread may be resumed in another directory */
        row->cwd = thread.cwd;
    if (!row->custom_title.n)
        row->custom_title = codex_names_find(x->names, row->ref.id, d->a);
    row->flags |=
        (d->torn ? SESSION_TORN : 0U) | (d->damaged || d->headless ? SESSION_DAMAGED : 0U);
    row->flags |= d->open ? SESSION_INTERRUPTED : 0U;
    row->flags |= SESSION_ARCHIVED_KNOWN;
    if (slice_has(row->ref.path, "/archived_sessions/"))
        row->flags |= SESSION_ARCHIVED;
    row->modified_ms = session_modified_ms(&row->ref.file);
    if (row->activity_ms == TIME_NONE)
        row->activity_ms = row->ref.recent_ms ? row->ref.recent_ms : row->modified_ms;
    /* its own first prompt distinguishes a fork from its parent */
    row->summary = row->custom_title.n               ? row->custom_title
                   : row->parent_id.n && d->prompt.n ? d->prompt
                   : row->first_prompt.n             ? row->first_prompt
                   : row->last_prompt.n              ? row->last_prompt
                                                     : row->ref.id;
    row->can = CAN_RESUME | CAN_REWIND;
    codex_set_hidden(d, scope);
}

enum err_code codex_describe(const struct store *st, const struct scope *scope,
                             const struct session_ref *ref, struct session_row *row, struct err *e)
{
    struct arena a = { 0 };
    struct describing d = { .row = row, .a = &a, .log.fd = -1 };
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
        if (d.log.fd >= 0)
            row->ref.file = d.log.id;
        else if (lstat(ref->path.p, &sb) == 0)
            row->ref.file = file_id_of(&sb);
        codex_complete_row(&d, scope);
    }

    /* An unreadable session still has a place in a list that is sorted by time. */
    if (row->hidden == HIDDEN_UNREADABLE)
        row->modified_ms = row->activity_ms = session_modified_ms(&ref->file);
    row->ref.preread = (struct slice){ NULL, 0 };
    if (!rc && (a.failed || d.line.failed || !session_row_keep(row)))
        rc = err_nomem(e);
    codex_describing_fini(&d);
    arena_fini(&a);
    return rc;
}
