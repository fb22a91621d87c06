#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "store/fs/file_at.h"
#include "store/journal/step.h"
#include "store/log/append.h"
#include "store/log/lease.h"
#include "support/faults/syscall_hook.h"
#include "support/scratch.h"

/* The signals that the kernel sends a program that appends to a log, and the leases it takes away. Signals are received
 * in a child process, which must end by itself. */

#define ROWS "{\"a\":1}\n{\"a\":2}\n"

typedef bool host_fn(void **state);

static void in_a_host(void **state, host_fn *fn)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGIO, SIG_DFL);
        signal(SIGXFSZ, SIG_DFL);
        _exit(fn(state) ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_false(WIFSIGNALED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static const char *log_of(void **state)
{
    return scratch_path(state, "log.jsonl");
}

/* Acts as a lister: its open fails, and the lease holder is notified. */
static bool turned_away(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    bool away = fd < 0 && errno == EWOULDBLOCK;

    if (fd >= 0)
        close(fd);
    return away;
}

/* ---- leases ---- */

static bool holds_while_another_opens(void **state)
{
    struct lease lease;
    sigset_t before, after;
    int fd = open(log_of(state), O_RDWR);

    pthread_sigmask(SIG_SETMASK, NULL, &before);
    bool well = lease_acquire(&lease, fd) && lease_is_held(&lease) && turned_away(log_of(state)) &&
                !lease_is_held(&lease);

    lease_release(&lease);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    return well && sigismember(&before, SIGIO) == sigismember(&after, SIGIO) &&
           sigpending(&after) == 0 && !sigismember(&after, SIGIO);
}

static int with_a_log(void **state)
{
    int rc = scratch_setup(state);

    scratch_write(state, "log.jsonl", SLICE(ROWS));
    return rc;
}

#define CASE(name) TEST_WITH(name, with_a_log, scratch_teardown)

CASE(opening_a_log_does_not_kill_the_lease_holder)
{
    NEEDS("leases");
    in_a_host(state, holds_while_another_opens);
}

static void *waits_to_be_told(void *arg)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigwait(&set, arg);
    return NULL;
}

/* Another thread of the host has every signal unblocked except the one that it waits for. */
static bool holds_beside_a_thread(void **state)
{
    pthread_t thread;
    sigset_t set;
    int got = 0;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (pthread_create(&thread, NULL, waits_to_be_told, &got))
        return false;
    bool well = holds_while_another_opens(state);

    pthread_kill(thread, SIGUSR1);
    return pthread_join(thread, NULL) == 0 && well && got == SIGUSR1;
}

CASE(nor_when_another_thread_could_take_the_signal)
{
    NEEDS("leases");
    in_a_host(state, holds_beside_a_thread);
}

static volatile sig_atomic_t told;

static void tell(int signo)
{
    (void)signo;
    told++;
}

/* A signal of the host that is sent while the lease is held arrives once the lease is released; the lease's signal does
 * not. */
static bool host_gets_its_own(void **state)
{
    struct sigaction act = { .sa_handler = tell };
    struct lease lease;
    int fd = open(log_of(state), O_RDWR);

    sigaction(SIGIO, &act, NULL);
    bool well = lease_acquire(&lease, fd) && turned_away(log_of(state));

    lease_release(&lease);
    well = well && told == 0 && lease_acquire(&lease, fd);
    kill(getpid(), SIGIO);
    well = well && told == 0;
    lease_release(&lease);
    sigaction(SIGIO, NULL, &act);
    return well && told == 1 && act.sa_handler == tell;
}

CASE(the_hosts_own_signal_reaches_it)
{
    NEEDS("leases");
    in_a_host(state, host_gets_its_own);
}

/* ---- a limit on the size of files ---- */

static enum err_code append_within(const char *path, rlim_t limit)
{
    const struct rlimit small = { limit, RLIM_INFINITY };
    const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
    char row[2048];

    memset(row, 'x', sizeof row);
    row[sizeof row - 1] = '\n';
    if (setrlimit(RLIMIT_FSIZE, &small))
        return ERR_FORMAT;
    enum err_code rc = log_append(path, (struct slice){ row, sizeof row }, 0, NULL, NULL);

    return setrlimit(RLIMIT_FSIZE, &all) ? ERR_FORMAT : rc;
}

static bool is_blanked(void **state)
{
    size_t n, old = strlen(ROWS);
    char *text = folder_get(*state, "log.jsonl", &n);
    bool well = n == 100 && memcmp(text, ROWS, old) == 0 &&
                strspn(text + old, " ") == n - old - 1 && text[n - 1] == '\n';

    free(text);
    return well;
}

static bool is_as_it_was(void **state)
{
    return append_within(log_of(state), 100) == ERR_IO &&
           (HAS_LEASES ? folder_is(*state, "log.jsonl", ROWS) : is_blanked(state));
}

CASE(an_append_beyond_the_size_limit_is_removed)
{
    in_a_host(state, is_as_it_was);
}

static bool leaves_blanks(void **state)
{
    int other = open(log_of(state), O_RDONLY);

    return other >= 0 && append_within(log_of(state), 100) == ERR_IO && is_blanked(state);
}

CASE(a_blank_line_stays_when_it_cannot_be_cut_off)
{
    in_a_host(state, leaves_blanks);
}

/* ---- a lease that is taken away ---- */

#define AGENTS "{\"agent\":1}\n"

/* As after a long stop of the process: the lease is gone, and the program that waited for it has written. */
static void lease_runs_out(void *arg)
{
    for (int fd = 3; fd < 64; fd++)
        fcntl(fd, F_SETLEASE, F_UNLCK);
    int fd = open(arg, O_WRONLY | O_APPEND);

    assert_int_equal(write(fd, AGENTS, strlen(AGENTS)), strlen(AGENTS));
    close(fd);
}

CASE(rows_written_after_a_lost_lease_are_not_cut_off)
{
    char path[4096];
    struct arena a = { 0 };
    struct step cut = { .kind = STEP_TAIL,
                        .path = folder_path(*state, "log.jsonl", path),
                        .old = SLICE("{\"a\":1}\n{\"a\":2}\n"),
                        .bytes = SLICE("{\"a\":2}\n"),
                        .mtime_ns = MTIME_NOW,
                        .old_mtime_ns = MTIME_NOW };

    syscall_hook_arm(&(struct syscall_hook){
        .call = "pwrite64", .name = "log.jsonl", .then = lease_runs_out, .arg = path });

    assert_int_equal(step_do(&cut, &a, NULL), ERR_LOCKED);
    assert_int_equal(syscall_hook_fired(), HAS_LEASES); /* without them nothing is even tried */
    assert_true(folder_is(*state, "log.jsonl", HAS_LEASES ? ROWS AGENTS : ROWS));
    arena_fini(&a);
}

/* ERR_LOCKED would mean that nothing was changed, and the record of the change would be dropped. */
CASE(an_end_that_cannot_be_restored_is_no_refusal)
{
    char path[4096];
    struct arena a = { 0 };
    struct step cut = { .kind = STEP_TAIL,
                        .path = folder_path(*state, "log.jsonl", path),
                        .old = SLICE("{\"a\":1}\n{\"a\":2}\n"),
                        .bytes = SLICE("{\"a\":2}\n"),
                        .mtime_ns = MTIME_NOW,
                        .old_mtime_ns = MTIME_NOW };

    syscall_hook_arm(&(struct syscall_hook){
        .call = "pwrite64", .name = "log.jsonl", .then = lease_runs_out, .arg = path });
    syscall_hook_arm_also(
        &(struct syscall_hook){ .call = "pwrite64", .name = "log.jsonl", .nth = 2, .error = EIO });

    assert_int_equal(step_do(&cut, &a, NULL), HAS_LEASES ? ERR_IO : ERR_LOCKED);
    assert_int_equal(syscall_hook_fired(), HAS_LEASES);
    arena_fini(&a);
}

/* ---- half an append ---- */

CASE(half_an_append_is_blanked_in_a_log_that_is_open)
{
    char path[4096];
    struct arena a = { 0 };
    struct step s = { .kind = STEP_APPEND,
                      .path = folder_path(*state, "log.jsonl", path),
                      .bytes = SLICE("{\"title\":\"ours\"}\n"),
                      .offset = (int64_t)strlen(ROWS),
                      .old_mtime_ns = MTIME_NOW };
    int agent;

    scratch_write(state, "log.jsonl", SLICE(ROWS "{\"ti"));
    agent = open(path, O_WRONLY | O_APPEND);
    assert_int_equal(step_repair(&s, NULL), ERR_OK);
    assert_int_equal(write(agent, AGENTS, strlen(AGENTS)), strlen(AGENTS));
    close(agent);

    assert_true(folder_is(*state, "log.jsonl", ROWS "   \n" AGENTS));
    arena_fini(&a);
}

CASE(an_append_is_found_behind_any_amount_of_rows)
{
    static const size_t behind[] = { 0, 1, (1 << 20) - 20, (1 << 20) - 1, 1 << 20, 5 << 20 };
    struct step s = { .kind = STEP_APPEND,
                      .path = log_of(state),
                      .bytes = SLICE("{\"title\":\"ours\"}\n"),
                      .offset = (int64_t)strlen(ROWS) };
    bool done;

    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
        struct buf text = { 0 };

        assert_int_equal(buf_add(&text, SLICE(ROWS)), ERR_OK);
        for (size_t n = 0; n < behind[i]; n++)
            assert_int_equal(buf_add_byte(&text, n % 17 ? '{' : '\n'), ERR_OK);
        scratch_write(state, "log.jsonl", buf_slice(&text));
        s.offset = (int64_t)strlen(ROWS);
        assert_int_equal(step_is_done(&s, &done, NULL), ERR_OK);
        assert_false(done);
        assert_int_equal(buf_add(&text, s.bytes), ERR_OK);
        assert_int_equal(buf_add(&text, SLICE("{}\n")), ERR_OK);
        scratch_write(state, "log.jsonl", buf_slice(&text));

        assert_int_equal(step_is_done(&s, &done, NULL), ERR_OK);
        assert_true(done);
        assert_int_equal(s.offset, strlen(ROWS) + behind[i]);
        buf_fini(&text);
    }
}
