#include "tui/term/loop.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "store/api/env.h"
#include "store/proc/live.h"
#include "tui/jobs/jobs.h"
#include "tui/term/term.h"
#include "tui/text/human.h"

/* Keys, signals, replies of workers, changes of files and the clock all change one model, which has
 * no lock. Therefore only the thread of this loop touches the model, and every message reaches it
 * through loop_deliver(), which carries out the effects of the message before the next event is
 * read.
 *
 *     poll -> signals -> keys -> replies -> files -> held Esc -> clock -> at most one frame
 *
 * A key must never wait for other work: replies are delivered for a few milliseconds only, and no
 * longer than until a key arrives. A frame that a key asked for is drawn at once; others have a
 * least distance. An effect has one owner: a submitted one belongs to the workers, leave() moves
 * the contents of the last one out, and all others are freed here. At the end the terminal is
 * restored before the workers are awaited, so that a slow change leaves no dead screen. */

enum {
    READ_BYTES = 4096,
    ANSWERS_MS = 6, /* for replies of workers before a frame is drawn */
    FRAME_MS = 25,  /* between frames without a key; less before the first answer to one */
    WAIT_MAX_MS = 3600000,
    SILENCE_MS = 200,     /* how often to check the servers that questions wait for */
    BACKGROUND_MS = 1000, /* in which a terminal answers; until then Esc is held back longer */
    LEAVE_MS = 500,       /* since the question: a shell would read the answer as typed text */
    WORKER_THREADS = 3,   /* one may search conversations for a while */
};

struct loop {
    const struct loop_setup *setup;
    struct model *model;
    struct terminal *term;
    struct workers *workers;
    struct term_signals signals;
    struct input input;
    struct watch watch;
    struct frame frame;
    bool stale;             /* the screen shows an older state of the model */
    bool pressed;           /* and the user is waiting for it */
    bool listed, described; /* the first sessions have come, and their titles */
    int64_t painted_ms;
    bool painted_key; /* the last frame was drawn for a key; the next one may answer it */
    /* when the held-back input becomes keys; TIME_NONE if nothing is held */
    int64_t esc_ms;
    int64_t asked_ms;   /* the terminal for its background */
    const char *silent; /* as it was last delivered */
    bool done;
    struct effect chosen;
};

static int64_t now_ms(void)
{
    return time_clock_ms(CLOCK_REALTIME);
}

/* ---- messages in, effects out ---- */

static void run_effects(struct loop *l);

static void loop_deliver(struct loop *l, struct msg m)
{
    m.now_ms = now_ms();

    /* The first rows and their titles are as urgent as the reply to a key. */
    bool sessions = m.kind == MSG_SESSIONS || m.kind == MSG_LISTED;

    if (m.kind == MSG_SESSIONS)
        watch_sessions(&l->watch, m.u.sessions->ref, m.u.sessions->n);
    if ((sessions && !l->listed) || (m.kind == MSG_DESCRIBED && !l->described))
        l->pressed = true;
    l->listed |= m.kind == MSG_LISTED;
    l->described |= m.kind == MSG_DESCRIBED;

    update(l->model, &m);
    l->stale = true;
    run_effects(l);
}

static void show_notice(struct loop *l, bool error, const char *text)
{
    loop_deliver(l, (struct msg){ .kind = MSG_NOTICE, .u.notice = { error, slice_of(text) } });
}

static void show_error(struct loop *l, const struct err *e)
{
    char text[400];

    err_sentence(e, text, sizeof text);
    show_notice(l, true, text);
}

static void deliver_resize(struct loop *l)
{
    struct msg m = { .kind = MSG_RESIZE };

    term_size(l->term, &m.u.size.rows, &m.u.size.cols);
    loop_deliver(l, m);
}

static void deliver_continue(struct loop *l)
{
    term_enter(l->term);
    deliver_resize(l);
    loop_deliver(l, (struct msg){ .kind = MSG_CONTINUE });
}

/* Reads the terminal's answer before another program could read it. */
static void await_answer(struct loop *l)
{
    struct pollfd fd = { .fd = term_input(l->term), .events = POLLIN };
    int64_t left;

    while (l->input.expects && (left = l->asked_ms + LEAVE_MS - now_ms()) > 0) {
        struct input_event ignored;
        char bytes[READ_BYTES];

        if (poll(&fd, 1, (int)(left < LEAVE_MS ? left : LEAVE_MS)) <= 0)
            continue;
        ssize_t n = read(fd.fd, bytes, sizeof bytes);

        if (n <= 0)
            return;
        input_feed(&l->input, (struct slice){ bytes, (size_t)n });
        while (input_next(&l->input, now_ms(), false, &ignored))
            ;
    }
}

static void suspend(struct loop *l)
{
    await_answer(l);
    term_leave(l->term);
    term_signals_suspend(&l->signals);
    deliver_continue(l);
}

/* Names what was copied if it is short: an id, a path. */
static void copy_to_clipboard(struct loop *l, const struct effect *fx)
{
    enum { SHORT = 100 };
    const struct slice copied = buf_slice(&fx->text);
    struct err e = { 0 };
    char text[SHORT + 16];
    size_t lines = 1;

    if (term_copy(l->term, buf_slice(&fx->text), &e)) {
        show_error(l, &e);
        return;
    }
    for (size_t i = 0; i + 1 < copied.n; i++)
        lines += copied.p[i] == '\n';
    if (lines == 1 && copied.n <= SHORT)
        snprintf(text, sizeof text, "copied: %.*s", SLICE_ARG(copied));
    else
        snprintf(text, sizeof text, "copied %zu line%s", lines, lines == 1 ? "" : "s");
    show_notice(l, false, text);
}

static void edit_copy(struct loop *l, struct effect *fx)
{
    const char *path = buf_cstr(&fx->text);
    struct buf kept = { 0 };
    struct err e = { 0 };

    if (!path)
        return;
    await_answer(l);
    term_leave(l->term);
    enum err_code rc = editor_run_copy(
        &(struct editor){ l->setup->editor, l->setup->temp_dir, &l->signals, term_output(l->term) },
        path, &kept, &e);

    deliver_continue(l);
    if (rc)
        show_error(l, &e);
    else if (kept.n > 0)
        show_notice(l, false, kept.p);
    buf_fini(&kept);
}

static void leave(struct loop *l, struct effect *fx)
{
    if (l->done)
        return;
    l->done = true;
    l->chosen = *fx;
    fx->text = (struct buf){ 0 }; /* handed over, */
    fx->names = NULL;             /* and so are the flags */
}

static void run_effect(struct loop *l, struct effect *fx)
{
    switch (fx->kind) {
    case EFFECT_LIST:
    case EFFECT_DESCRIBE:
    case EFFECT_DISK_USAGE:
    case EFFECT_FULL_SCAN:
    case EFFECT_TAIL:
    case EFFECT_LOAD:
    case EFFECT_READ:
    case EFFECT_GREP:
    case EFFECT_SEARCH:
    case EFFECT_USAGE:
    case EFFECT_SUBAGENTS:
    case EFFECT_BRANCHES:
    case EFFECT_TERMINAL:
    case EFFECT_RESUME_DIRS:
    case EFFECT_CHECKPOINTS:
    case EFFECT_TURN_LINES:
    case EFFECT_PREVIEW:
    case EFFECT_TURN_FILES:
    case EFFECT_TURN_FILE:
    case EFFECT_COMPARE:
    case EFFECT_REWIND:
    case EFFECT_UNDO_REWIND:
    case EFFECT_BLAME:
    case EFFECT_BISECT:
    case EFFECT_ESTIMATE_DELETE:
    case EFFECT_SWEEP:
    case EFFECT_TRASH:
    case EFFECT_LOG:
    case EFFECT_BOARD:
    case EFFECT_COMPARE_SESSIONS:
    case EFFECT_TAKE:
    case EFFECT_USAGE_GROUPS:
    case EFFECT_CHECK_SESSION:
    case EFFECT_CHECK_STORE:
    case EFFECT_EXPORT:
    case EFFECT_CHANGE: {
        struct msg failed = { .kind = MSG_FAILED, .generation = fx->generation };

        if (!workers_submit(l->workers, fx)) {
            err_nomem(&failed.u.error);
            loop_deliver(l, failed);
        }
    }
        return; /* the workers own it now */
    case EFFECT_CANCEL: workers_cancel(l->workers, fx->generation); break;
    case EFFECT_RESUME:
    case EFFECT_GO:
    case EFFECT_PRINT:
    case EFFECT_QUIT: leave(l, fx); break;
    case EFFECT_COPY: copy_to_clipboard(l, fx); break;
    case EFFECT_EDIT: edit_copy(l, fx); break;
    case EFFECT_SUSPEND: suspend(l); break;
    case EFFECT_REDRAW: term_invalidate(l->term); break;
    }
    effect_fini(fx);
}

static void run_effects(struct loop *l)
{
    struct effect fx;

    while (effects_pop(model_effects(l->model), &fx)) {
        if (l->done)
            effect_fini(&fx);
        else
            run_effect(l, &fx);
    }
}

static void quit(struct loop *l, int code)
{
    struct effect fx = { .kind = EFFECT_QUIT, .code = code };

    leave(l, &fx);
}

/* ---- events ---- */

static void read_keys(struct loop *l, bool quiet)
{
    struct input_event ev;

    while (!l->done && input_next(&l->input, now_ms(), quiet, &ev)) {
        l->pressed = true;
        switch (ev.kind) {
        case INPUT_KEY: loop_deliver(l, (struct msg){ .kind = MSG_KEY, .u.key = ev.key }); break;
        case INPUT_PASTE:
            loop_deliver(l, (struct msg){ .kind = MSG_PASTE, .u.paste = ev.paste });
            break;
        case INPUT_MOUSE:
            loop_deliver(l, (struct msg){ .kind = MSG_MOUSE, .u.mouse = ev.mouse });
            break;
        case INPUT_BACKGROUND: /* the first frame did not wait for it */
            if (ev.light && l->setup->light && term_background_asked(l->term)) {
                term_set_theme(l->term, l->setup->light);
                l->stale = true;
            }
            break;
        case INPUT_ANSWERED: break;
        }
    }

    /* A terminal that has not answered for this long will not answer. */
    const int64_t now = now_ms();

    l->input.expects = l->input.expects && now - l->asked_ms < BACKGROUND_MS;
    const int64_t hold = input_hold_ms(&l->input, model_esc_quits(l->model));

    l->esc_ms = hold == TIME_NONE ? TIME_NONE : now + hold;
}

/* Reads everything that is available, so that a burst of keys becomes one frame. */
static void read_input(struct loop *l)
{
    char bytes[READ_BYTES];

    for (;;) {
        ssize_t n = read(term_input(l->term), bytes, sizeof bytes);

        if (n > 0) {
            input_feed(&l->input, (struct slice){ bytes, (size_t)n });
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0 || errno != EAGAIN)
            quit(l, 128 + SIGHUP); /* the terminal is gone */
        break;
    }
    read_keys(l, false);
}

/* ---- drawing ---- */

static int64_t frame_due_ms(const struct loop *l)
{
    if (!l->stale)
        return TIME_NONE;
    return l->pressed ? 0 : l->painted_ms + (l->painted_key ? ANSWERS_MS : FRAME_MS);
}

static void paint_if_due(struct loop *l)
{
    int64_t due = frame_due_ms(l);
    int rows, cols;

    if (l->done || due == TIME_NONE || now_ms() < due)
        return;
    term_size(l->term, &rows, &cols);
    if (l->frame.rows != rows || l->frame.cols != cols) {
        frame_fini(&l->frame);
        if (!frame_init(&l->frame, rows, cols, l->setup->context->settings->ascii))
            return;
    }
    frame_clear(&l->frame);
    render(l->model, &l->frame);
    term_paint(l->term, &l->frame);
    l->painted_key = l->pressed;
    l->stale = l->pressed = false;
    l->painted_ms = now_ms();
}

/* ---- waiting ---- */

static void sooner(int64_t *at, int64_t ms)
{
    if (ms != TIME_NONE && (*at == TIME_NONE || ms < *at))
        *at = ms;
}

/* The timeout of poll, -1 for none. It is limited, so that a jump of the clock does not leave us
 * asleep. */
static int timeout_of(const struct loop *l)
{
    int64_t at = TIME_NONE, now = now_ms();

    sooner(&at, l->esc_ms);
    sooner(&at, watch_due_ms(&l->watch, model_follows(l->model)));
    sooner(&at, model_wake_ms(l->model));
    sooner(&at, frame_due_ms(l));
    if (l->silent || (jobs_have_servers(l->setup->context) && workers_busy(l->workers)))
        sooner(&at, now + SILENCE_MS);
    if (at == TIME_NONE)
        return -1;
    if (at <= now)
        return 0;
    return at - now < WAIT_MAX_MS ? (int)(at - now) : WAIT_MAX_MS;
}

static void run_once(struct loop *l)
{
    struct pollfd fds[] = {
        { .fd = term_input(l->term), .events = POLLIN },
        { .fd = l->signals.of.fd, .events = POLLIN },
        { .fd = workers_fd(l->workers), .events = POLLIN },
        { .fd = l->watch.fd, .events = POLLIN },
    };
    int number;
    struct msg m;

    if (poll(fds, sizeof fds / sizeof fds[0], timeout_of(l)) < 0 && errno != EINTR) {
        quit(l, 1);
        return;
    }
    if (fds[1].revents) {
        while (!l->done && (number = term_signals_next(&l->signals)) != 0) {
            if (number == SIGWINCH)
                deliver_resize(l);
            else if (number == SIGTSTP)
                suspend(l);
            else
                quit(l, 128 + number);
        }
    }
    if (fds[0].revents && !l->done)
        read_input(l);
    if (fds[2].revents) {
        int64_t until = now_ms() + ANSWERS_MS;

        while (!l->done && workers_pop(l->workers, &m)) {
            loop_deliver(l, m);
            /* A key goes before everything else. */
            if (now_ms() >= until || poll(fds, 1, 0) > 0)
                break;
        }
    }
    if (fds[3].revents)
        watch_read(&l->watch, now_ms());

    int64_t now = now_ms(), wake = model_wake_ms(l->model),
            due = watch_due_ms(&l->watch, model_follows(l->model));

    if (l->esc_ms != TIME_NONE && now >= l->esc_ms)
        read_keys(l, true);
    if (due != TIME_NONE && now >= due) {
        watch_mark_reported(&l->watch, now);
        loop_deliver(l, (struct msg){ .kind = MSG_FILES_CHANGED,
                                      .u.logged = watch_log_grew(&l->watch, now) });
    }
    if (wake != TIME_NONE && now >= wake && !l->done)
        loop_deliver(l, (struct msg){ .kind = MSG_TICK });

    const char *silent = jobs_silent_store(l->setup->context);

    if (silent != l->silent && !l->done)
        loop_deliver(l, (struct msg){ .kind = MSG_SILENCE, .u.silent = silent });
    l->silent = silent;

    paint_if_due(l);
}

static void watch_stores(struct loop *l)
{
    const struct job_context *d = l->setup->context;
    char hosts[PATH_MAX], changes[PATH_MAX];

    watch_init(&l->watch);
    for (size_t i = 0; i < d->stores; i++) {
        const struct store_ops *ops = d->store[i]->ops;
        const char *const below[] = { ops->folders ? ops->folders : "", ops->running_folder };
        char path[PATH_MAX];

        for (size_t k = 0; k < 2; k++)
            if (below[k] && snprintf(path, sizeof path, "%s%s%s", d->store[i]->path,
                                     *below[k] ? "/" : "", below[k]) < (int)sizeof path)
                watch_root(&l->watch, path);
    }
    if (d->stores && env_state_path(d->store[0]->env, LIVE_HOSTS_DIR, hosts, NULL) == ERR_OK)
        watch_root(&l->watch, hosts);
    if (d->stores && env_state_path(d->store[0]->env, "changes", changes, NULL) == ERR_OK)
        watch_log(&l->watch, changes);
}

enum err_code loop_run(const struct loop_setup *setup, struct model *model, struct outcome *out,
                       struct err *e)
{
    struct loop l = {
        .setup = setup, .model = model, .esc_ms = TIME_NONE, .signals.of.fd = -1, .watch.fd = -1
    };
    enum err_code rc = term_signals_block(&l.signals, e);

    if (rc == ERR_OK) {
        rc = term_open(&setup->term, &l.term, e);
        l.input.expects = rc == ERR_OK && term_background_asked(l.term);
        l.asked_ms = now_ms();
    }
    if (rc == ERR_OK)
        rc = workers_new(setup->context, WORKER_THREADS, &l.workers, e);
    if (rc == ERR_OK) {
        watch_stores(&l);
        deliver_resize(&l);
        l.pressed = true; /* the first frame is waited for */
        paint_if_due(&l);
        while (!l.done)
            run_once(&l);
        out->chosen = l.chosen;
    }
    if (l.term)
        await_answer(&l);
    term_close(l.term); /* first: the rest may take a moment */
    jobs_interrupt(l.setup->context, true);
    workers_free(l.workers);
    jobs_interrupt(l.setup->context, false);
    watch_fini(&l.watch);
    input_fini(&l.input);
    frame_fini(&l.frame);
    term_signals_unblock(&l.signals);

    return rc;
}
