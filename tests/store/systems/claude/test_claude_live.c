#include "tests/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/log/lease.h"
#include "store/maintenance/trash.h"
#include "store/proc/live.h"
#include "store/systems/claude/claude.h"
#include "tests/support/folder.h"

#define ID "5e550000-0000-4000-8000-000000000001"
#define NAME "cfg/projects/-p/" ID ".jsonl"

/* A session of the directory "here", and a real process with the name of the agent. It is the only one in the process
 * table that the store is given: other agents of this machine do not count. */
struct place {
    struct folder folder;
    struct store_env env;
    struct store *store;
    struct session_ref ref;
    char config[4096], here[4096], path[4096], proc[4096];
    pid_t child;
};

/* An action during a wait, and the path it acts on; the linker puts this in front of the real nanosleep. */
static struct {
    void (*happens)(const char *path);
    const char *path;
} meanwhile;

int __real_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    if (!meanwhile.happens)
        return __real_nanosleep(time, left);
    meanwhile.happens(meanwhile.path);
    return 0;
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    char here[4096];

    folder_make(&p->folder);
    folder_dir(&p->folder, "here");
    folder_dir(&p->folder, "cfg");
    folder_path(&p->folder, "cfg", p->config);
    folder_path(&p->folder, NAME, p->path);
    folder_dir(&p->folder, "proc");
    folder_path(&p->folder, "proc", p->proc);
    assert_non_null(realpath(folder_path(&p->folder, "here", here), p->here));
    p->env = (struct store_env){
        .cwd = p->config, .now_ms = now_ms(), .proc_dir = p->proc, .etc_dir = p->proc
    };
    assert_int_equal(claude_ops.open(&p->env, p->config, &p->store, NULL), ERR_OK);
    p->ref = (struct session_ref){ .store = p->store,
                                   .id = SLICE(ID),
                                   .path = { p->path, strlen(p->path) },
                                   .folder = SLICE("-p") };
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    if (p->child > 0) {
        kill(p->child, SIGKILL);
        waitpid(p->child, NULL, 0);
    }
    store_close(p->store);
    folder_remove(&p->folder);
    free(p);
    return 0;
}

static void write_session(struct place *p)
{
    char row[8192];
    int n = snprintf(row, sizeof row,
                     "{\"type\":\"user\",\"uuid\":\"1\",\"parentUuid\":null,\"cwd\":\"%s\","
                     "\"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n",
                     p->here);

    folder_put(&p->folder, NAME, (struct slice){ row, (size_t)n });
}

/* Links a process of the machine's table, or a file of it, into the store's table. */
static void link_proc(struct place *p, const char *name)
{
    char from[64], to[4200];

    snprintf(from, sizeof from, "/proc/%s", name);
    snprintf(to, sizeof to, "%s/%s", p->proc, name);
    assert_int_equal(symlink(from, to), 0);
}

/* Starts a shell that waits or runs a command; returns when it has the name "claude". */
static void start_agent(struct place *p, const char *cwd, const char *script, const char *option,
                        const char *value)
{
    char variable[4200], byte;
    int ends[2];

    snprintf(variable, sizeof variable, "CLAUDE_CONFIG_DIR=%s", p->config);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    p->child = fork();
    assert_true(p->child >= 0);
    if (p->child == 0) {
        char *env[] = { variable, NULL };

        if (chdir(cwd) == 0)
            execle("/bin/sh", "claude", "-c", script, option, value, NULL, env);
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0); /* closed when the shell has begun */
    close(ends[0]);
    char pid[32];

    snprintf(pid, sizeof pid, "%ld", (long)p->child);
    link_proc(p, pid);
    link_proc(p, "stat");
}

static struct live ask(struct place *p)
{
    const struct session_ref *ref = &p->ref;
    struct live live;

    assert_int_equal(live_check(&ref, 1, &live, NULL), ERR_OK);
    return live;
}

#define WAIT "while :; do sleep 1; done"

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(without_evidence_a_session_is_quiet)
{
    write_session(*state);
    assert_int_equal(ask(*state).state, LIVE_QUIET);
}

CASE(an_agent_started_with_its_id_may_write_to_it)
{
    struct place *p = *state;

    write_session(p);
    start_agent(p, "/", WAIT, "--resume", ID);
    assert_int_equal(ask(p).state, LIVE_UNKNOWN);
    assert_int_equal(ask(p).pid, p->child);
}

CASE(an_agent_in_its_directory_may_write_to_it)
{
    struct place *p = *state;

    start_agent(p, p->here, WAIT, "--model", "x");
    write_session(p);
    assert_int_equal(ask(p).state, LIVE_UNKNOWN);
    assert_int_equal(ask(p).pid, p->child);
}

CASE(an_agent_elsewhere_does_not_count)
{
    struct place *p = *state;

    start_agent(p, "/", WAIT, "--resume", "5e550000-0000-4000-8000-000000000002");
    write_session(p);
    assert_int_equal(ask(p).state, LIVE_QUIET);
}

/* Repeats as long as needed, so that the writer gets its turn. */
CASE(a_changing_file_is_live_while_an_agent_runs)
{
    struct place *p = *state;
    char script[4300];
    int left = 100;

    write_session(p);
    assert_memory_equal(p->path, p->config,
                        strlen(p->config)); /* a name that the shell need not quote */
    snprintf(script, sizeof script, "while :; do echo >>\"$CLAUDE_CONFIG_DIR\"'%s'; done",
             p->path + strlen(p->config));
    start_agent(p, "/", script, "--model", "x");
    while (ask(p).state == LIVE_QUIET && left-- > 0)
        p->env.now_ms = now_ms();
    assert_true(left > 0);
}

static void touch(const char *path)
{
    const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 4000000000 } };

    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void stay(const char *path)
{
    (void)path;
}

/* Adds a byte and resets the time, because clocks of file systems are coarse. */
static void grow(const char *path)
{
    struct stat was;

    assert_int_equal(stat(path, &was), 0);
    assert_int_equal(truncate(path, was.st_size + 1), 0);
    const struct timespec times[2] = { was.st_atim, was.st_mtim };

    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

CASE(another_time_or_another_size_is_a_change)
{
    static const struct {
        void (*happens)(const char *path);
        enum live_state is;
    } want[] = { { stay, LIVE_QUIET }, { grow, LIVE_UNKNOWN }, { touch, LIVE_UNKNOWN } };
    struct place *p = *state;

    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        write_session(p);
        meanwhile.path = p->path;
        meanwhile.happens = want[i].happens;
        enum live_state is = ask(p).state;

        meanwhile.happens = NULL;
        assert_int_equal(is, want[i].is);
    }
}

/* A program that is no known agent and opens the file anew for each row can be noticed in no other way. */
CASE(a_file_being_written_is_not_deleted)
{
    struct place *p = *state;
    struct trash_request request;
    struct arena a = { 0 };
    int left = 100;

    write_session(p);
    p->child = fork();
    assert_true(p->child >= 0);
    while (p->child == 0) {
        int fd = open(p->path, O_WRONLY | O_APPEND | O_CREAT, 0600);

        if (fd < 0 || write(fd, "{}\n", 3) != 3 || close(fd))
            _exit(1);
    }
    while (left-- > 0 && trash_request_make(&p->ref, SLICE(""), TRASH_REQUEST_ALL, &a, &request,
                                            NULL) != ERR_LOCKED)
        p->env.now_ms = now_ms();
    assert_true(left >= 0);
    arena_fini(&a);
}

/* Another process has the session open until the end of the returned pipe is closed. */
static int hold_open(struct place *p)
{
    int ends[2], fd = open(p->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    char byte;

    assert_int_equal(pipe(ends), 0);
    assert_true(fd >= 0);
    p->child = fork();
    assert_true(p->child >= 0);
    if (p->child == 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) != 0);
    }
    close(ends[0]);
    close(fd);
    return ends[1];
}

static void let_go(struct place *p, int hold)
{
    close(hold);
    assert_int_equal(waitpid(p->child, NULL, 0), p->child);
    p->child = 0;
}

CASE(a_process_with_the_file_open_is_found)
{
    struct place *p = *state;

    write_session(p);
    if (lease_file_use(p->path) == LEASE_NOT_KNOWN)
        skip(); /* neither leases nor fuser */
    int hold = hold_open(p);

    assert_int_equal(ask(p).state, LIVE_RUNNING);
    let_go(p, hold);
    assert_int_equal(ask(p).state, LIVE_QUIET);
}

static int reader;

static void stop_reading(int signal)
{
    (void)signal;
    close(reader);
}

CASE(a_program_that_reads_for_a_moment_is_no_agent)
{
    const struct itimerval soon = { .it_value.tv_usec = 20000 };
    const struct sigaction stop = { .sa_handler = stop_reading };
    struct place *p = *state;

    write_session(p);
    reader = open(p->path, O_RDONLY | O_CLOEXEC);
    assert_true(reader >= 0);
    assert_int_equal(sigaction(SIGALRM, &stop, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    assert_int_equal(ask(p).state, LIVE_QUIET);
}

CASE(many_sessions_are_judged_like_single_ones)
{
    struct place *p = *state;
    struct session_ref gone = p->ref, other = p->ref;
    const struct session_ref *ref[] = { &gone, &p->ref, &other };
    char away[4096], beside[4096];
    struct live live[3];

    write_session(p);
    folder_put(&p->folder, "cfg/projects/-p/other.jsonl", SLICE("{}\n"));
    folder_path(&p->folder, "cfg/projects/-p/gone.jsonl", away);
    folder_path(&p->folder, "cfg/projects/-p/other.jsonl", beside);
    gone.path = slice_of(away);
    other.path = slice_of(beside);
    if (lease_file_use(p->path) == LEASE_NOT_KNOWN)
        skip(); /* neither leases nor fuser */
    int hold = hold_open(p);

    assert_int_equal(claude_ops.live_many(p->store, ref, 3, live, NULL), ERR_OK);
    assert_int_equal(live[0].state, LIVE_QUIET);
    assert_int_equal(live[1].state, LIVE_RUNNING);
    assert_int_equal(live[2].state, LIVE_QUIET);
    let_go(p, hold);
}

static void open_to_all(const struct place *p)
{
    static const char *const folders[] = { "", "cfg", "cfg/projects", "cfg/projects/-p" };
    char path[4096];

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(chmod(folder_path(&p->folder, folders[i], path), 0755), 0);
    assert_int_equal(chmod(p->path, 0644), 0);
}

CASE(files_of_another_user_have_an_unknown_state)
{
    struct place *p = *state;

    write_session(p);
    if (geteuid() != 0)
        skip(); /* only root can make such a file */
    open_to_all(p);
    assert_int_equal(seteuid(54321), 0);
    struct live live = ask(p);

    assert_int_equal(seteuid(0), 0);
    assert_int_equal(live.state, LIVE_UNKNOWN);
}

TEST_MAIN
{
    signal(SIGIO, SIG_IGN);
    return test_run(NULL, NULL);
}
