#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/api/env.h"
#include "store/fs/kernel.h"
#include "store/proc/live.h"
#include "store/proc/process.h"
#include "store/proc/terminal.h"
#include "store/query/listing.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"
#include "tui/data/board_rows.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"

/* `reprise board`, `status` and `go`: the sessions at which agents work now.
 *
 * With --watch the board is read again after a change in a watched folder, at most a tenth of the time, and printed if
 * it differs. Without a change it is only checked, once a second, whether the processes still run, because one that was
 * killed changes no file; and the ages change with the minute. */
enum {
    BOARD_STATE_COLUMNS = 8,
    BOARD_AGE_COLUMNS = 8,
    BOARD_AGENT_COLUMNS = 8,
    BOARD_PROJECT_COLUMNS = 14,
    BOARD_BEFORE_DETAIL = BOARD_STATE_COLUMNS + BOARD_AGE_COLUMNS + 2,
    BOARD_BEFORE_TITLE = BOARD_BEFORE_DETAIL + BOARD_AGENT_COLUMNS + BOARD_PROJECT_COLUMNS + 4,
    BOARD_TEXT_LEAST = 10,
    BOARD_CHECK_MS = 1000,
    BOARD_REST = 10, /* it may take a tenth of the time */
    BOARD_NOTICE_MS = 2000,
    BOARD_MINUTE_MS = 60 * 1000,
};

struct board {
    struct invocation *in;
    struct sessions s;
    struct board_rows rows, before; /* as it is, and as it was read before */
    struct fs_watch *changes;       /* NULL: nothing can be watched */
    bool watching;
    size_t lines; /* the height of the terminal that is watched; 0: no limit */
    int64_t read_ms, took_ms;
    struct buf shown; /* what was printed last */
};

/* ---- printing ---- */

static void board_write_json(struct out *o, const struct session_row *row,
                             const struct agent_terminal *t)
{
    out_open(o, NULL, '{');
    listing_row_json_members(out_json(o), row);
    out_bool(o, "open", (row->flags & SESSION_LIVE) != 0);
    if (row->live_pid > 0)
        out_int(o, "pid", row->live_pid);
    if (t->name[0]) {
        out_open(o, "terminal", '{');
        out_string(o, "tty", t->name);
        out_string(o, "program", terminal_kind_name(t->kind));
        out_string(o, "place", t->place);
        out_close(o, '}');
    }
    out_close(o, '}');
}

/* On a terminal what a session asks, or was asked, is a second line; elsewhere each session is one line. */
static void board_write_text(struct out *o, const struct session_row *row,
                             const struct agent_terminal *t, int64_t now_ms)
{
    const struct slice asks = row->waits_for.n ? row->waits_for : row->last_prompt;
    const char *program = terminal_kind_name(t->kind);
    const size_t columns = o->columns ? o->columns : SIZE_MAX / 2;
    char age[HUMAN_AGE], place[160];

    human_age(now_ms, running_since_ms(row), age);
    out_style(o, row->state == SESSION_REQUIRES_ACTION ? OUT_FLAGS : OUT_PLAIN);
    out_addf(o, "%-*s", BOARD_STATE_COLUMNS, running_state(row));
    out_style(o, OUT_AGE);
    out_addf(o, "%*s  ", BOARD_AGE_COLUMNS, age);
    session_line_column(slice_of(row->ref.store->ops->name), BOARD_AGENT_COLUMNS, o);
    out_style(o, OUT_PLAIN);
    out_addf(o, "  ");
    session_line_column(text_path_last(row->cwd), BOARD_PROJECT_COLUMNS, o);
    out_addf(o, "  ");
    session_line_cut(session_row_title(row),
                     columns > BOARD_BEFORE_TITLE + BOARD_TEXT_LEAST ? columns - BOARD_BEFORE_TITLE
                                                                     : BOARD_TEXT_LEAST,
                     o);

    /* The detail is the place, then what the session asks. The terminal is named by its device if its program is not
     * known. */
    const int n = snprintf(place, sizeof place, "%s%s%s%s", program, *program ? " " : "",
                           *program ? t->place : t->name, t->name[0] && asks.n ? ": " : "");
    const size_t used = BOARD_BEFORE_DETAIL + (size_t)n;

    out_style(o, OUT_AGE);
    if (o->columns && (n || asks.n))
        out_addf(o, "\n%*s", BOARD_BEFORE_DETAIL, "");
    else if (n || asks.n)
        out_addf(o, "  ");
    out_text(o, slice_of(place));
    session_line_cut(asks, columns > used + BOARD_TEXT_LEAST ? columns - used : BOARD_TEXT_LEAST,
                     o);
    out_style(o, OUT_PLAIN);
    out_addf(o, "\n");
}

static void board_write(struct board *b, int64_t now_ms)
{
    struct out *o = &b->in->out;
    const bool lines = o->wants_json && b->watching;
    size_t shown = b->rows.running.n;

    /* Two lines for each; those that wait are first, and must not leave the screen at the top. */
    if (b->lines && !o->wants_json && 2 * shown >= b->lines)
        shown = b->lines > 4 ? (b->lines - 2) / 2 : 1;

    if (lines)
        out_open(o, NULL, '[');
    for (size_t i = 0; i < shown; i++) {
        const struct session_row *row = b->rows.running.row[i];
        const struct agent_terminal *t = &b->rows.terminal[i];

        if (o->wants_json && !lines)
            out_json_row(o);
        if (o->wants_json)
            board_write_json(o, row, t);
        else
            board_write_text(o, row, t, now_ms);
    }
    if (lines)
        out_end(o, ']');
    else if (o->wants_json)
        out_json_rows_end(o);
    else if (!b->rows.running.n)
        out_addf(o, "no session is running\n");
    else if (shown < b->rows.running.n)
        out_addf(o, "and %zu more\n", b->rows.running.n - shown);
}

static enum err_code board_read(struct board *b, struct err *e)
{
    board_rows_fini(&b->rows);
    b->read_ms = time_clock_ms(CLOCK_MONOTONIC);
    TRY(board_rows_read(b->s.store, b->s.n, &b->s.scope, &b->in->world->env, &b->rows, e));
    b->took_ms = time_clock_ms(CLOCK_MONOTONIC) - b->read_ms;
    return ERR_OK;
}

/* ---- watching ---- */

/* Rings for a session that began to wait: a bell, the notifications that terminals know, and the desktop's. */
static enum err_code board_ring(struct board *b, const struct session_row *row, struct err *e)
{
    AUTO_BUF text = { 0 }, said = { 0 };

    TRY(clean_add(&text, session_row_title(row)));
    NEED(!buf_add(&text, SLICE(" waits for you")));
    if (row->waits_for.n)
        NEED(!buf_add(&text, SLICE(": ")) && !clean_add(&text, row->waits_for));
    NEED(buf_cstr(&text));
    const char *const argv[] = {
        "notify-send", "--app-name=reprise", "--", "reprise", text.p, NULL
    };

    if (isatty(b->in->err_fd))
        dprintf(b->in->err_fd, "\a\33]9;%s\33\\\33]777;notify;reprise;%s\33\\", text.p, text.p);
    /* Without the program or the desktop there is only the bell. */
    if ((env_value(b->in->world->env.environment, "DISPLAY") ||
         env_value(b->in->world->env.environment, "WAYLAND_DISPLAY")) &&
        spawn_read(&(struct spawn){ .argv = argv,
                                    .dir = b->in->world->env.cwd,
                                    .timeout_ms = BOARD_NOTICE_MS,
                                    .max = OUT_PIECE },
                   &said, NULL))
        said.n = 0;
    return ERR_OK;
}

/* Those that wait already when the board is read first do not ring. */
static enum err_code board_ring_new(struct board *b, struct err *e)
{
    for (size_t i = 0; i < b->rows.running.n; i++) {
        const struct session_row *row = b->rows.running.row[i];
        bool waited = false;

        for (size_t k = 0; k < b->before.running.n && !waited; k++)
            waited = b->before.running.row[k]->state == SESSION_REQUIRES_ACTION &&
                     slice_eq(b->before.running.row[k]->ref.id, row->ref.id);
        if (row->state == SESSION_REQUIRES_ACTION && !waited)
            TRY(board_ring(b, row, e));
    }
    return ERR_OK;
}

/* Returns when the board may have changed. */
static void board_wait(const struct board *b)
{
    const int64_t shown_ms = env_now_ms(&b->in->world->env);
    const int64_t rested_ms = b->read_ms + b->took_ms * BOARD_REST;
    struct pollfd changes = { .fd = b->changes ? fs_watch_fd(b->changes) : -1, .events = POLLIN };

    for (;;) {
        const int64_t now_ms = time_clock_ms(CLOCK_MONOTONIC);

        if (poll(&changes, 1, BOARD_CHECK_MS) > 0) {
            if (now_ms < rested_ms)
                poll(NULL, 0, (int)(rested_ms - now_ms));
            if (fs_watch_read(b->changes))
                return;
        }
        if (!b->changes || running_ended(&b->rows.running) ||
            env_now_ms(&b->in->world->env) / BOARD_MINUTE_MS != shown_ms / BOARD_MINUTE_MS)
            return;
    }
}

static enum err_code board_watch_on(struct board *b, struct err *e)
{
    struct out *o = &b->in->out;

    b->watching = true;

    /* Watch the folders of the stores, and those of the running sessions. */
    char path[PATH_MAX];

    b->changes = fs_watch_new();
    for (size_t i = 0; b->changes && i < b->s.n; i++) {
        const struct store *st = b->s.store[i];
        const char *const below[] = { st->ops->folders ? st->ops->folders : "",
                                      st->ops->running_folder };

        for (size_t k = 0; k < 2 && !st->ops->remote; k++)
            if (below[k] && snprintf(path, sizeof path, "%s%s%s", st->path, *below[k] ? "/" : "",
                                     below[k]) < (int)sizeof path)
                (void)fs_watch_add(b->changes, path, true);
    }
    if (b->changes && !env_state_path(&b->in->world->env, LIVE_HOSTS_DIR, path, NULL))
        (void)fs_watch_add(b->changes, path, true);
    for (size_t i = 0; b->changes && i < b->rows.running.n; i++) {
        const struct slice file = b->rows.running.row[i]->ref.path;
        const char *slash = file.n ? memrchr(file.p, '/', file.n) : NULL;

        if (slash &&
            snprintf(path, sizeof path, "%.*s", (int)(slash - file.p), file.p) < (int)sizeof path)
            (void)fs_watch_add(b->changes, path, false);
    }

    for (bool first = true;; first = false) {
        o->columns = command_terminal_size(o->fd, &b->lines); /* it may have been resized */
        board_write(b, env_now_ms(&b->in->world->env));
        if (first || !slice_eq(buf_slice(&o->buf), buf_slice(&b->shown))) {
            b->shown.n = 0;
            NEED(!buf_add(&b->shown, buf_slice(&o->buf)));
            if (o->columns && !o->wants_json && write(o->fd, "\33[H\33[2J", 7) != 7)
                return err_sys(e, "", "write the board");
            TRY(out_flush(o, e));
        }
        o->buf.n = 0;
        board_wait(b);
        HAND_OVER(&b->before, b->rows);
        const enum err_code rc = board_read(b, e);

        if (!rc && option_given(&b->in->options, OPTION_BELL))
            TRY(board_ring_new(b, e));
        board_rows_fini(&b->before);
        TRY(rc);
    }
}

/* ---- the commands ---- */

static void board_close(struct board *b)
{
    board_rows_fini(&b->before);
    board_rows_fini(&b->rows);
    fs_watch_free(b->changes);
    buf_fini(&b->shown);
    sessions_close(&b->s);
}

enum err_code board_run(struct invocation *in, struct err *e)
{
    CLEANUP(board_close) struct board b = { .in = in };

    TRY(sessions_open(in, true, &b.s, e));
    TRY(board_read(&b, e));
    if (option_given(&in->options, OPTION_WATCH) || option_given(&in->options, OPTION_BELL))
        return board_watch_on(&b, e);
    board_write(&b, in->world->env.now_ms);
    return ERR_OK;
}

enum err_code board_status_run(struct invocation *in, struct err *e)
{
    CLEANUP(board_close) struct board b = { .in = in };
    struct out *o = &in->out;
    struct running_counts n;

    TRY(sessions_open(in, true, &b.s, e));
    TRY(running_count(b.s.store, b.s.n, &n, e));
    if (o->wants_json) {
        out_open(o, NULL, '{');
        out_int(o, "schemaVersion", OUT_SCHEMA_VERSION);
        out_int(o, "waiting", (int64_t)n.waiting);
        out_int(o, "busy", (int64_t)n.busy);
        out_int(o, "idle", (int64_t)n.idle);
        out_end(o, '}');
        return ERR_OK;
    }
    if (n.waiting)
        out_addf(o, "%zu waiting", n.waiting);
    if (n.busy)
        out_addf(o, "%s%zu busy", n.waiting ? ", " : "", n.busy);
    out_addf(o, "\n");
    return ERR_OK;
}

enum err_code board_go(struct invocation *in, const struct session_row *row, struct err *e)
{
    const char *argv[TERMINAL_ATTACH_MAX];
    struct agent_terminal t;

    terminal_find(&in->world->env, row->live_pid, &t);
    if (!t.name[0])
        return err_set(e, ERR_NOT_FOUND, row->ref.path.p,
                       row->live_pid > 0 ? "go to session: its process %d has no terminal"
                                         : "go to session: its process is not known",
                       row->live_pid);
    if (option_given(&in->options, OPTION_PRINT)) {
        if (in->out.wants_json) {
            board_write_json(&in->out, row, &t);
            out_addf(&in->out, "\n");
        } else {
            out_addf(&in->out, "%s%s", terminal_kind_name(t.kind), t.kind ? " " : "");
            out_text(&in->out, slice_of(t.kind ? t.place : t.name)); /* other programs chose it */
            out_addf(&in->out, "\n");
        }
        return ERR_OK;
    }
    if (terminal_can_show(&t))
        return terminal_show(&in->world->env, &t, e);
    if (!terminal_attach(&t, argv))
        return err_set(e, ERR_UNSUPPORTED, row->ref.path.p,
                       "go to session: it runs on %s, which no program that reprise knows can "
                       "bring to the front",
                       t.name);
    if (!isatty(STDIN_FILENO) || !isatty(in->out.fd))
        return err_set(e, ERR_UNSUPPORTED, row->ref.path.p,
                       "go to session: it runs in %s %s, and this is not a terminal that could "
                       "show it",
                       terminal_kind_name(t.kind), t.place);
    execvp(argv[0], (char *const *)argv);
    return err_sys(e, argv[0], "go to session");
}

enum err_code board_go_session(struct invocation *in, struct sessions *s,
                               const struct session_ref *ref, struct err *e)
{
    CLEANUP(running_fini) struct running running = { 0 };
    struct store *const store[] = { (struct store *)ref->store };

    TRY(running_read(store, 1, &s->scope, &running, e));
    for (size_t i = 0; i < running.n; i++)
        if (slice_eq(running.row[i]->ref.id, ref->id) && (running.row[i]->flags & SESSION_LIVE))
            return board_go(in, running.row[i], e);
    return err_set(e, ERR_NOT_FOUND, ref->path.p,
                   "go to session: no program is running it; reprise --resume resumes it");
}
