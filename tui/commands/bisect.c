#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "store/fs/path.h"
#include "store/proc/process.h"
#include "store/rewind/plan/by_snapshots.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/rewind.h"
#include "tui/app/effect.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/session.h"
#include "tui/text/human.h"

/* `reprise bisect ID -- COMMAND`: the first turn after which the command fails. The states of a session are those at its
 * points, oldest first, and the present one. The command runs in a copy of the project; its exit codes are those of
 * `git bisect run`: 0 good, 125 cannot be tested, up to 127 bad. */

extern char **environ;

enum verdict { VERDICT_NONE, VERDICT_GOOD, VERDICT_BAD, VERDICT_SKIP };

static const char *const verdict_names[] = { "", "good", "bad", "skip" };

struct tested {
    size_t state;
    enum verdict verdict;
    int exit_code;
    bool ran; /* the files were not those of a state that was tested before */
    uint8_t sha256[32];
};

struct bisect {
    struct invocation *in;
    const struct session_ref *ref;
    struct checkpoint_list list;
    size_t *point; /* the numbers in `list` of the points that can be restored */
    size_t points;
    size_t last; /* the last state: points for the present one */
    struct scratch_tree *tree;
    const char *dir; /* where the command runs */
    struct tested *tested;
    size_t tests, runs;
    size_t unknown;                   /* the most files of one state that could not be restored */
    const struct bisect_watch *watch; /* on the screen; or NULL */
    int output;                       /* then what is written is read here */
};

/* ---- running the command ---- */

static volatile sig_atomic_t bisect_signal, bisect_child;

/* Notes the signal, because the copy has to be removed before this program ends, and ends the command by it. */
static void bisect_handle_signal(int sig)
{
    const int error = errno;

    bisect_signal = sig;
    if (bisect_child)
        kill(-(pid_t)bisect_child, sig);
    errno = error;
}

/* The output of the command goes to standard error, since standard output has the answer; on the screen, to the pipe. It has a process group of its
 * own, which a signal ends as a whole. */
static int bisect_start(const struct bisect *b, pid_t *child)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t all, none;

    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, b->in->err_fd, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_addchdir_np(&files, b->dir);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETPGROUP);
    const int failed =
        posix_spawnp(child, b->in->argv[1], &files, &attributes, b->in->argv + 1, environ);

    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* Passes on what was written, waiting for it at most `wait_ms`. A command that writes without end is slowed down. */
static void bisect_pass_on(const struct bisect *b, int wait_ms)
{
    enum { READS = 16 };
    const struct timespec pause = { .tv_nsec = 20 * 1000000L };
    struct pollfd fd = { .fd = b->output, .events = POLLIN };
    char text[4096];
    int reads = 0;

    for (; reads < READS && poll(&fd, 1, reads ? 0 : wait_ms) > 0; reads++) {
        const ssize_t n = read(b->output, text, sizeof text);

        if (n <= 0)
            return;
        b->watch->output(b->watch->arg, (struct slice){ text, (size_t)n });
    }
    if (reads == READS)
        nanosleep(&pause, NULL);
}

/* Waits for the command. If the person ends it, its process group gets a second to clean up. Processes in the background
 * are ended with it. */
static int bisect_follow(const struct bisect *b, pid_t child, int *status)
{
    enum { LOOK_MS = 20, PATIENCE = 50 };
    siginfo_t ended = { 0 };

    for (int since = 0; ended.si_pid == 0; since += atomic_load(b->watch->cancelled)) {
        if (since > 0)
            kill(-child, since < PATIENCE ? SIGTERM : SIGKILL);
        bisect_pass_on(b, LOOK_MS);
        if (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) && errno != EINTR)
            return errno;
    }
    kill(-child, SIGKILL);
    bisect_pass_on(b, 0);
    return waitpid(child, status, 0) < 0 ? errno : 0;
}

/* Waits for the command; the handler ends it by signals, and this function by one that came before the handler knew it. */
static int bisect_wait(pid_t child, int *status)
{
    siginfo_t ended;

    bisect_child = child;
    if (bisect_signal)
        kill(-child, bisect_signal);
    while (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT))
        if (errno != EINTR)
            break;
    bisect_child = 0; /* until it is reaped, the number is its own */
    return waitpid(child, status, 0) < 0 ? errno : 0;
}

/* The program that an error is about, or "" for a shell, which is not what was typed. */
static const char *bisect_program(const struct bisect *b)
{
    return strcmp(b->in->argv[1], "sh") == 0 ? "" : b->in->argv[1];
}

/* A signal that would end this program ends the command, and the copy is removed. */
static enum err_code bisect_run_command(const struct bisect *b, struct tested *t, struct err *e)
{
    static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    enum { ENDING = sizeof ending / sizeof *ending };
    struct sigaction old[ENDING];
    const struct sigaction handler = { .sa_handler = bisect_handle_signal };
    pid_t child = 0;
    int status = 0, failed;

    for (size_t i = 0; i < ENDING && !b->watch; i++)
        sigaction(ending[i], &handler, &old[i]);
    failed = bisect_start(b, &child);
    if (!failed)
        failed = b->watch ? bisect_follow(b, child, &status) : bisect_wait(child, &status);
    for (size_t i = 0; i < ENDING && !b->watch; i++)
        sigaction(ending[i], &old[i], NULL);
    if (b->watch && atomic_load(b->watch->cancelled))
        return err_set(e, ERR_CANCELLED, "", "bisect: interrupted");
    if (failed) {
        errno = failed;
        return err_sys(e, b->in->argv[1], "run the command");
    }
    if (bisect_signal) {
        b->in->exit_code = 128 + bisect_signal;
        return err_set(e, ERR_CANCELLED, "", "bisect: interrupted");
    }

    /* As in git bisect run, 125 skips a state, and a signal or a code above 127 ends the search. */
    if (WIFSIGNALED(status))
        return err_set(e, ERR_IO, bisect_program(b), "bisect: the command was ended by signal %d",
                       WTERMSIG(status));
    t->exit_code = WEXITSTATUS(status);
    if (t->exit_code > 127)
        return err_set(e, ERR_IO, bisect_program(b),
                       "bisect: the command ended with %d, which is neither good nor bad",
                       t->exit_code);
    t->verdict = t->exit_code == 0     ? VERDICT_GOOD
                 : t->exit_code == 125 ? VERDICT_SKIP
                                       : VERDICT_BAD;
    return ERR_OK;
}

static const struct checkpoint *bisect_point(const struct bisect *b, size_t state)
{
    return &b->list.checkpoint[b->point[state]];
}

/* The files as they were at the point itself, even where the agent's own rewind goes back further. */
static enum err_code bisect_plan(const struct bisect *b, size_t state, struct rewind_plan *out,
                                 struct err *e)
{
    return (b->ref->store->ops->plan_inferred ? rewind_plan_infer : rewind_plan_make)(
        b->ref, bisect_point(b, state)->id, REWIND_CODE, out, e);
}

/* Sets the copy to a state, and runs the command if its files differ from those of every state before. */
static enum err_code bisect_test(struct bisect *b, size_t state, enum verdict *out, struct err *e)
{
    struct tested *t = &b->tested[b->tests];
    struct rewind_plan plan;
    struct scratch_state files;
    const bool present = state == b->points;

    for (size_t i = 0; i < b->tests; i++)
        if (b->tested[i].state == state) {
            *out = b->tested[i].verdict;
            return ERR_OK;
        }

    /* The entry counts only once its verdict is known, so an error leaves the list as it was. */
    *t = (struct tested){ .state = state };
    if (!present)
        TRY(bisect_plan(b, state, &plan, e));
    enum err_code rc = scratch_tree_set(b->tree, present ? NULL : &plan, &files, e);

    if (!present)
        rewind_plan_fini(&plan);
    if (rc)
        return rc;
    memcpy(t->sha256, files.sha256, sizeof t->sha256);
    b->unknown = files.unknown > b->unknown ? files.unknown : b->unknown;

    /* Two states with the same files have the same verdict. */
    for (size_t i = 0; i < b->tests && !t->verdict; i++)
        if (memcmp(b->tested[i].sha256, t->sha256, sizeof t->sha256) == 0) {
            t->verdict = b->tested[i].verdict;
            t->exit_code = b->tested[i].exit_code;
        }
    if (!t->verdict) {
        TRY(bisect_run_command(b, t, e));
        t->ran = true;
        b->runs++;
    }
    b->tests++;
    *out = t->verdict;
    if (!b->in->out.wants_json && t->ran) {
        out_addf(&b->in->out, present ? "%s: the present files" : "%s: before turn %zu",
                 verdict_names[t->verdict], state + 1);
        out_addf(&b->in->out, " (%zu file%s changed)\n", files.changed,
                 files.changed == 1 ? "" : "s");
        TRY(out_flush(&b->in->out, e));
    }
    return ERR_OK;
}

/* ---- the search ---- */

/* Tests the states between a good and a bad one, beginning in the middle, until one can be judged. *out is VERDICT_SKIP if
 * none can. */
static enum err_code bisect_test_between(struct bisect *b, size_t good, size_t bad, size_t *state,
                                         enum verdict *out, struct err *e)
{
    const size_t middle = good + (bad - good) / 2;

    *out = VERDICT_SKIP;
    for (size_t far = 0; far < bad - good && *out == VERDICT_SKIP; far++) {
        if (middle + far < bad)
            TRY(bisect_test(b, *state = middle + far, out, e));
        if (*out == VERDICT_SKIP && far > 0 && middle > good + far)
            TRY(bisect_test(b, *state = middle - far, out, e));
    }
    return ERR_OK;
}

/* Both ends are believed at first, as git does, and tested only if the answer depends on nothing else. */
static enum err_code bisect_search(struct bisect *b, size_t first, size_t *good, size_t *bad,
                                   struct err *e)
{
    enum verdict v = VERDICT_GOOD;
    size_t state;

    *good = first;
    *bad = b->last;
    while (*bad - *good > 1 && v != VERDICT_SKIP) {
        TRY(bisect_test_between(b, *good, *bad, &state, &v, e));
        if (v == VERDICT_GOOD)
            *good = state;
        else if (v == VERDICT_BAD)
            *bad = state;
    }

    /* An end that did not move has not been tested yet. */
    if (*bad == b->last) {
        TRY(bisect_test(b, *bad, &v, e));
        if (v == VERDICT_GOOD)
            return err_set(e, ERR_NOT_FOUND, bisect_program(b),
                           "bisect: the command does not fail %s",
                           b->last == b->points ? "now" : "at the last point");
    }
    if (*good == first) {
        TRY(bisect_test(b, *good, &v, e));
        if (v == VERDICT_BAD)
            return err_set(e, ERR_NOT_FOUND, bisect_program(b),
                           "bisect: the command fails at the first point already");
    }
    return ERR_OK;
}

/* ---- the answer ---- */

/* The turn between a state and the next one. Points that come after their turns belong to the state that follows; the
 * present state has none. */
static const struct checkpoint *bisect_turn(const struct bisect *b, size_t state)
{
    if (!bisect_point(b, state)->after)
        return bisect_point(b, state);
    return state + 1 < b->points ? bisect_point(b, state + 1) : NULL;
}

static void bisect_write_json(const struct bisect *b, size_t good, size_t bad)
{
    struct out *o = &b->in->out;

    out_open(o, NULL, '{');
    out_bool(o, "found", bad - good == 1);
    out_open(o, "turns", '[');
    for (size_t i = good; i < bad; i++) {
        const struct checkpoint *c = bisect_turn(b, i);

        out_open(o, NULL, '{');
        if (c) {
            out_member(o, "id", c->id);
            out_member(o, "messageId", c->message);
            if (c->time_ms != TIME_NONE)
                out_int(o, "timestamp", c->time_ms);
            out_member(o, "prompt", c->prompt);
        }
        out_close(o, '}');
    }
    out_close(o, ']');
    out_int(o, "states", (int64_t)(b->points + 1));
    out_int(o, "runs", (int64_t)b->runs);
    out_int(o, "unknownFiles", (int64_t)b->unknown);
    out_open(o, "tests", '[');
    for (size_t i = 0; i < b->tests; i++) {
        const struct tested *t = &b->tested[i];

        out_open(o, NULL, '{');

        /* The state after the last point is that of the present files. */
        if (t->state < b->points)
            out_member(o, "before", bisect_point(b, t->state)->id);
        else
            out_bool(o, "present", true);
        out_string(o, "result", verdict_names[t->verdict]);
        out_int(o, "exit", t->exit_code);
        out_bool(o, "ran", t->ran);
        out_close(o, '}');
    }
    out_close(o, ']');
    out_end(o, '}');
}

/* The screen selects the turn and cuts at its edge: an id and a command are for those who type them. */
static void bisect_write_text(const struct bisect *b, size_t good, size_t bad)
{
    enum { PROMPT_COLUMNS = 60, PROMPT_ON_SCREEN = 400 };
    struct out *o = &b->in->out;

    out_addf(o,
             bad - good == 1 ? "the first bad turn, after %zu run%s:\n"
                             : "the first bad turn is one of these, after %zu run%s:\n",
             b->runs, b->runs == 1 ? "" : "s");
    for (size_t i = good; i < bad; i++) {
        const struct checkpoint *c = bisect_turn(b, i);
        char age[HUMAN_AGE];

        if (!c) {
            out_addf(o, "  after the last turn\n");
            continue;
        }
        human_age(b->in->world->env.now_ms, c->time_ms, age);
        out_addf(o, "  turn %zu, %s: ", i + 1, age);
        session_line_cut(c->prompt, b->watch ? PROMPT_ON_SCREEN : PROMPT_COLUMNS, o);
        out_line(o, b->watch ? "" : "  ", b->watch ? SLICE("") : c->id);
    }

    if (!b->watch && bad - good == 1 && bisect_turn(b, good) && !bisect_turn(b, good)->after) {
        out_addf(o, "what it changed: reprise rewind ");
        out_text(o, b->ref->id);
        out_line(o, " --only --to ", bisect_turn(b, good)->id);
    }
}

/* ---- the command ---- */

/* The number of the state at a point, whose id may be cut. */
static enum err_code bisect_state_of(const struct bisect *b, const char *option, const char *id,
                                     size_t *out, struct err *e)
{
    size_t found = 0;

    for (size_t i = 0; i < b->points; i++) {
        const struct checkpoint *c = bisect_point(b, i);

        if (slice_starts(c->id, id) || slice_starts(c->message, id)) {
            *out = i;
            found++;
        }
    }
    return found == 1 ? ERR_OK
           : found    ? err_set(e, ERR_USAGE, id, "%s: several points begin with it", option)
                      : err_set(e, ERR_NOT_FOUND, id,
                                "%s: no such point; reprise checkpoints lists them", option);
}

static enum err_code bisect_read_points(struct bisect *b, struct arena *a, struct err *e)
{
    TRY(rewind_checkpoints(b->ref, &b->list, e));
    NEED(b->point = arena_alloc(a, (b->list.n + 1) * sizeof *b->point));
    NEED(b->tested = arena_alloc(a, (b->list.n + 2) * sizeof *b->tested));
    for (size_t i = 0; i < b->list.n; i++)
        if (!b->list.checkpoint[i].why)
            b->point[b->points++] = i;
    b->last = b->points;
    return b->points ? ERR_OK
                     : err_set(e, ERR_NOT_FOUND, "",
                               "bisect: the session has no point that can be restored");
}

/* Copies the project. The command runs where this program does, if that is in the project. */
static enum err_code bisect_copy(struct bisect *b, struct arena *a, struct err *e)
{
    const struct process_env *world = b->in->world;
    struct rewind_plan plan;

    TRY(bisect_plan(b, 0, &plan, e));
    const char *root = plan.root && !plan.wide ? arena_copy_text(a, plan.root) : NULL;
    const bool known = plan.root && !plan.wide;

    rewind_plan_fini(&plan);
    if (!known)
        return err_set(e, ERR_UNSUPPORTED, "",
                       "bisect: the session was not in the directory of a project");
    NEED(root);
    TRY(scratch_tree_open(root, world->temp_dir, &b->tree, e));
    b->dir = scratch_tree_path(b->tree);
    if (path_under(slice_of(world->env.cwd), slice_of(root)))
        NEED(b->dir = arena_format(a, "%s%s", b->dir, world->env.cwd + strlen(root)));
    return ERR_OK;
}

/* *turn gets the id of the first bad turn, if it is one. It may be NULL. */
static enum err_code bisect_run(struct invocation *in, struct sessions *s,
                                const struct session_ref *ref, const struct bisect_watch *watch,
                                int output, struct buf *turn, struct err *e)
{
    struct bisect b = { .in = in, .ref = ref, .watch = watch, .output = output };
    size_t first = 0, good, bad;
    enum err_code rc = bisect_read_points(&b, &s->arena, e);

    if (!rc && in->options.from)
        rc = bisect_state_of(&b, "--from", in->options.from, &first, e);
    if (!rc && in->options.to)
        rc = bisect_state_of(&b, "--to", in->options.to, &b.last, e);
    if (!rc && first >= b.last)
        rc = err_set(e, ERR_USAGE, "--to", "bisect: it is not after the first point");
    if (!rc)
        rc = bisect_copy(&b, &s->arena, e);
    if (!rc)
        rc = bisect_search(&b, first, &good, &bad, e);
    if (!rc && in->out.wants_json)
        bisect_write_json(&b, good, bad);
    else if (!rc)
        bisect_write_text(&b, good, bad);
    if (!rc && turn && bad - good == 1 && bisect_turn(&b, good))
        rc = buf_add(turn, bisect_turn(&b, good)->id) ? err_nomem(e) : ERR_OK;

    /* The warning may explain a failure, so it is due in any case. */
    if (b.unknown)
        command_warn(in, ERR_NOT_FOUND, "",
                     "bisect: the states of %zu file%s are not known everywhere: there they are as "
                     "they are now",
                     b.unknown, b.unknown == 1 ? "" : "s");
    scratch_tree_close(b.tree);
    checkpoint_list_fini(&b.list);
    return rc;
}

enum err_code bisect_session(struct invocation *in, struct sessions *s,
                             const struct session_ref *ref, struct err *e)
{
    return bisect_run(in, s, ref, NULL, -1, NULL, e);
}

enum err_code bisect_on_screen(const struct invocation *screen, struct sessions *s,
                               const struct session_ref *ref, char *command,
                               const struct bisect_watch *watch, struct buf *turn, struct err *e)
{
    char name[] = "", sh[] = "sh", c[] = "-c", *argv[] = { name, sh, c, command, NULL };
    struct invocation in = *screen;
    struct bisect left = { .watch = watch };
    int ends[2];

    if (proc_pipe(ends, false))
        return err_sys(e, "", "follow the command");
    in.options = (struct options){ .given = 0 };
    in.argc = 4;
    in.argv = argv;
    in.err_fd = ends[1];
    out_init(&in.out, ends[1]);
    enum err_code rc = bisect_run(&in, s, ref, watch, ends[0], turn, e);

    if (!rc)
        rc = out_flush(&in.out, e);
    out_fini(&in.out);
    left.output = ends[0];
    bisect_pass_on(&left, 0);
    close(ends[0]);
    close(ends[1]);
    return rc;
}
