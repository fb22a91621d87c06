#include "tests/test.h"

#include <signal.h>
#include <sys/wait.h>

#include "lite/base/buf.h"
#include "lite/base/time.h"
#include "lite/io/file.h"
#include "store/proc/live.h"
#include "support/scratch.h"

/* A process that does nothing until it is killed, or until this test ends and so closes the pipe. */
static pid_t sleeper(void)
{
    int ends[2];
    char byte;

    scratch_need(pipe(ends) == 0, "pipe");
    pid_t pid = fork();

    scratch_need(pid >= 0, "fork");
    if (pid == 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) != 0);
    }
    close(ends[0]);
    return pid;
}

/* What is known of a process that exists: without a process table it may be any. */
static enum live_state known_as(enum live_state state)
{
    return HAS_PROCESS_TABLE ? state : LIVE_UNKNOWN;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* Finds the start time as ps would, by splitting at blanks, which is right for our own plain name. */
static unsigned long long start_of(pid_t pid)
{
    unsigned long long start = 0;
    char path[64];
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "r");
    scratch_need(f != NULL, path);
    scratch_need(fscanf(f,
                        "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                        "%*s %*s %*s %*s %llu",
                        &start) == 1,
                 path);
    fclose(f);
    return start;
}

static void put_entry(void **state, const char *name, const char *text)
{
    char path[128];

    mkdir(scratch_path(state, "sessions"), 0700);
    snprintf(path, sizeof path, "sessions/%s", name);
    scratch_write(state, path, slice_of(text));
}

static void put_process(void **state, pid_t pid, const char *id, unsigned long long start,
                        const char *more)
{
    char name[32], text[512];

    snprintf(name, sizeof name, "%d.json", (int)pid);
    snprintf(text, sizeof text, "{\"pid\":%d,\"sessionId\":\"%s\",\"procStart\":\"%llu\"%s}",
             (int)pid, id, start, more);
    put_entry(state, name, text);
}

static struct live ask(void **state, const char *id)
{
    struct live_table table;
    struct live live;

    assert_int_equal(live_read(*state, &table, NULL), ERR_OK);
    live = live_of(&table, slice_of(id));
    live_fini(&table);
    return live;
}

IN_SCRATCH(a_running_process_has_its_session_open)
{
    pid_t pid = sleeper();
    struct live live;

    put_process(state, pid, "a", start_of(pid), ",\"status\":\"busy\"");
    live = ask(state, "a");
    assert_int_equal(live.state, known_as(LIVE_RUNNING));
    assert_int_equal(live.pid, pid);
    assert_int_equal(live.busy, HAS_PROCESS_TABLE);
    assert_int_equal(ask(state, "other").state, LIVE_QUIET);
    assert_int_equal(ask(state, "other").pid, 0);
    end(pid);
}

/* What a row shows of the session, described while the process runs. */
static struct session_row *shown(void **state, const char *more)
{
    struct live_cache *cache;
    struct session_row *row = session_row_new();
    pid_t pid = sleeper();
    char name[64];

    put_process(state, pid, "a", start_of(pid), more);
    cache = live_cache_new(*state);
    assert_non_null(cache);
    session_row_reset(row);
    row->ref.id = SLICE("a");
    assert_true(live_cache_show(cache, row));
    live_cache_free(cache);
    end(pid);
    snprintf(name, sizeof name, "sessions/%d.json", (int)pid);
    unlink(scratch_path(state, name));
    return row;
}

IN_SCRATCH(all_states_of_a_running_session_are_shown)
{
    static const struct {
        const char *more;
        enum session_state state;
        unsigned flags;
        const char *waits_for;
        int64_t since;
    } cases[] = {
        { "", SESSION_IDLE, 0, "", TIME_NONE },
        { ",\"status\":\"idle\",\"statusUpdatedAt\":1772359200000", SESSION_IDLE, 0, "",
          INT64_C(1772359200000) },
        { ",\"status\":\"busy\",\"kind\":\"bg\"", SESSION_RUNNING, SESSION_BACKGROUND, "",
          TIME_NONE },
        { ",\"status\":\"shell\",\"waitingFor\":\"x\",\"kind\":\"interactive\"", SESSION_RUNNING,
          SESSION_SHELL, "", TIME_NONE },
        { ",\"statusUpdatedAt\":\"2026-03-01T10:00:00.000Z\",\"waitingFor\":\"permission: "
          "B\\u0061sh\",\"status\":\"waiting\"",
          SESSION_REQUIRES_ACTION, SESSION_WAITS, "permission: Bash", INT64_C(1772359200000) },
        { ",\"status\":\"waiting\",\"waitingFor\":7,\"statusUpdatedAt\":\"soon\"",
          SESSION_REQUIRES_ACTION, SESSION_WAITS, "", TIME_NONE },
        { ",\"status\":\"of a later version\"", SESSION_UNKNOWN, 0, "", TIME_NONE },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases && HAS_PROCESS_TABLE; i++) {
        struct session_row *row = shown(state, cases[i].more);

        assert_int_equal(row->state, cases[i].state);
        assert_int_equal(row->flags, SESSION_LIVE | cases[i].flags);
        assert_int_equal(row->since_ms, cases[i].since);
        assert_true(slice_eq(row->waits_for, slice_of(cases[i].waits_for)));
        session_row_free(row);
    }
}

IN_SCRATCH(entries_may_be_as_large_as_their_agent_writes_them)
{
    static char more[LIVE_ENTRY_MAX + 100];
    char name[32];

    for (int k = 0; k < 2; k++) {
        size_t n = k ? LIVE_ENTRY_MAX : LIVE_ENTRY_MAX - 200;

        memset(more, 'x', n);
        memcpy(more, "{\"sessionId\":\"a\",\"name\":\"", 25);
        memcpy(more + n, "\"}", 3);
        snprintf(name, sizeof name, "%d.json", (int)getpid());
        put_entry(state, name, more);
        assert_int_equal(ask(state, "a").state, k ? LIVE_QUIET : LIVE_UNKNOWN);
    }
}

IN_SCRATCH(the_entry_of_a_killed_process_no_longer_counts)
{
    pid_t pid = sleeper();
    struct live live;

    put_process(state, pid, "a", start_of(pid), ",\"status\":\"busy\"");
    kill(pid, SIGKILL);
    siginfo_t info;
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT); /* still a zombie */
    assert_int_equal(ask(state, "a").state, known_as(LIVE_QUIET));
    waitpid(pid, NULL, 0);
    live = ask(state, "a");
    assert_int_equal(live.state, LIVE_QUIET);
    assert_int_equal(live.pid, pid);
    assert_false(live.busy);
}

IN_SCRATCH(an_entry_with_a_reused_pid_is_quiet)
{
    put_process(state, getpid(), "a", start_of(getpid()) + 1, "");
    assert_int_equal(ask(state, "a").state, known_as(LIVE_QUIET));
}

IN_SCRATCH(another_machine_or_container_is_unknown)
{
    unsigned long long start = start_of(getpid());

    put_process(state, getpid(), "a", start, ",\"pidDomain\":\"linux:feedface:pid:[1]\"");
    assert_int_equal(ask(state, "a").state, LIVE_UNKNOWN);
}

IN_SCRATCH(our_own_domain_is_known)
{
    NEEDS("names of process id spaces");
    char space[64] = "", domain[256], id[64] = "";
    FILE *f = fopen("/etc/machine-id", "r");

    if (!f || fscanf(f, "%63s", id) != 1)
        skip();
    fclose(f);
    assert_true(readlink("/proc/self/ns/pid", space, sizeof space - 1) > 0);
    snprintf(domain, sizeof domain, ",\"pidDomain\":\"linux:%s:%s\"", id, space);
    put_process(state, getpid(), "a", start_of(getpid()), domain);
    assert_int_equal(ask(state, "a").state, LIVE_RUNNING);
}

IN_SCRATCH(an_entry_without_a_start_time_is_unknown)
{
    char text[64], name[32];

    snprintf(name, sizeof name, "%d.json", (int)getpid());
    snprintf(text, sizeof text, "{\"sessionId\":\"a\"}");
    put_entry(state, name, text);
    assert_int_equal(ask(state, "a").state, LIVE_UNKNOWN);
}

IN_SCRATCH(the_liveliest_of_several_entries_counts)
{
    put_process(state, 2147483646, "a", 1, "");
    put_process(state, getpid(), "a", start_of(getpid()), "");
    put_process(state, 2147483645, "a", 1, "");
    assert_int_equal(ask(state, "a").state, known_as(LIVE_RUNNING));
    assert_int_equal(ask(state, "a").pid, getpid());
}

IN_SCRATCH(other_files_are_skipped)
{
    struct live_table table;

    put_entry(state, "1.json", "not json");
    put_entry(state, "2.json", "{\"sessionId\":7}");
    put_entry(state, "0.json", "{\"sessionId\":\"a\"}");
    put_entry(state, "-5.json", "{\"sessionId\":\"a\"}");
    put_entry(state, "12x.json", "{\"sessionId\":\"a\"}");
    put_entry(state, "99999999999999999999.json", "{\"sessionId\":\"a\"}");
    put_entry(state, "heartbeat", "{\"sessionId\":\"a\"}");
    assert_int_equal(mkfifo(scratch_path(state, "sessions/3.json"), 0600), 0);

    assert_int_equal(live_read(*state, &table, NULL), ERR_OK);
    assert_int_equal(table.n, 0);
    live_fini(&table);
}

IN_SCRATCH(a_missing_registry_is_empty)
{
    assert_int_equal(ask(state, "a").state, LIVE_QUIET);
    scratch_write(state, "sessions", SLICE("a file"));
    assert_int_equal(ask(state, "a").state, LIVE_QUIET);
}

IN_SCRATCH(a_registry_that_cannot_be_read_is_unknown)
{
    struct live_table table;
    char config[8192];

    memset(config, 'x', sizeof config - 1);
    config[sizeof config - 1] = '\0';
    assert_int_equal(live_read(config, &table, NULL), ERR_OK);
    assert_int_equal(live_of(&table, SLICE("a")).state, LIVE_UNKNOWN);
    live_fini(&table);
}
