#include "tests/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lite/json/json.h"
#include "store/api/store.h"
#include "store/host/host_session.h"
#include "tests/support/folder.h"
#include "tests/sweeps/trial.h"

/* Kills a host at any moment while it writes in the background. Afterwards its log has whole rows only, in order and
 * each once, and all that were flushed; and it can be appended to. Rows are long, so that many kills hit the write. */

enum { LONG_ROW = 300000, FLUSH_EVERY = 7 };

struct world {
    struct folder folder;
    struct store_env env;
    const struct store_ops *ops;
    struct store *store;
    struct session_ref ref;
    struct arena a;
    char place[4096], state[4096];
};

static enum err_code append_number(const struct world *w, struct host_session *s, int n,
                                   struct arena *a)
{
    static char text[LONG_ROW + 200];
    bool claude = strcmp(w->ops->name, "claude") == 0;
    int width = n % 5 == 4 ? LONG_ROW : 10;
    int length =
        snprintf(text, sizeof text,
                 claude ? "{\"type\":\"user\",\"uuid\":\"row-%d\",\"message\":{\"role\":"
                          "\"user\",\"content\":\"#%d#%*d\"}}"
                        : "{\"uuid\":\"row-%d\",\"role\":\"user\",\"content\":\"#%d#%*d\"}",
                 n, n, width, n);
    struct slice row = { text, (size_t)length };
    const struct host_append req = { .row = &row, .n = 1 };
    struct host_appended done;

    return host_session_append(s, &req, a, &done, NULL);
}

static void make_world(struct world *w, const char *system)
{
    const struct host_create req = { .cwd = slice_of(w->folder.path) };
    const struct scope everywhere = { .all = true };
    struct host_session *s;

    *w = (struct world){ .ops = store_system(slice_of(system)) };
    folder_make(&w->folder);
    folder_path(&w->folder, strcmp(system, "claude") == 0 ? "config" : "sessions", w->place);
    folder_path(&w->folder, "state", w->state);
    w->env =
        (struct store_env){ .cwd = w->folder.path, .state_dir = w->state, .now_ms = 1700000000000 };
    assert_int_equal(host_make(w->ops, &w->env, w->place, NULL), ERR_OK);
    assert_int_equal(w->ops->open(&w->env, w->place, &w->store, NULL), ERR_OK);
    assert_int_equal(host_session_create(w->store, &req, NULL, &s, NULL), ERR_OK);
    struct slice id = arena_copy(&w->a, host_session_id(s));

    assert_int_equal(append_number(w, s, 0, &w->a), ERR_OK);
    assert_int_equal(host_session_close(s, NULL), ERR_OK);
    assert_int_equal(w->ops->find(w->store, &everywhere, id, &w->a, &w->ref, NULL), ERR_OK);
}

static void remove_world(struct world *w)
{
    store_close(w->store);
    arena_fini(&w->a);
    folder_remove(&w->folder);
}

/* The host that is killed. It reports every row that it flushed. */
static void run_host(const struct world *w, enum host_durable durable, int report)
{
    const struct host_session_options o = { .background = true,
                                            .durable = durable,
                                            .interval_ms = HOST_AT_ONCE };
    struct host_session *s;
    struct arena a = { 0 };

    if (host_session_open(w->store, &w->ref, &o, &s, NULL))
        _exit(1);
    for (int n = 1;; n++) {
        if (append_number(w, s, n, &a))
            _exit(2);
        arena_reset(&a);
        if (n % FLUSH_EVERY == 0 &&
            (host_session_flush(s, NULL) || write(report, &n, sizeof n) != sizeof n))
            _exit(3);
    }
}

/* The last row that was flushed before the kill. */
static int kill_host(const struct world *w, enum host_durable durable, long delay_us)
{
    int report[2], n, last = 0, status;

    assert_int_equal(pipe(report), 0);
    pid_t pid = fork();

    if (pid == 0)
        run_host(w, durable, report[1]);
    close(report[1]);
    nanosleep(&(struct timespec){ .tv_nsec = delay_us * 1000 }, NULL);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    while (read(report[0], &n, sizeof n) == sizeof n)
        last = n;
    close(report[0]);
    return last;
}

/* Number of the row in a line; -1: it is another row. */
static int number_in(struct slice line)
{
    const char *at = memmem(line.p, line.n, "#", 1);

    return at ? atoi(at + 1) : -1;
}

/* Every line is whole; the numbered rows are 0, 1, 2, ... Returns the last number. */
static int check_log(const struct world *w)
{
    size_t n;
    char *text = folder_get(&w->folder, w->ref.path.p + strlen(w->folder.path) + 1, &n);
    struct slice rest = { text, n }, line;
    bool torn = false;
    int want = 0;

    while (slice_line(&rest, &line, &torn)) {
        assert_false(torn);
        if (line.n && line.p[0] != ' ')
            assert_true(json_valid(line));
        int number = number_in(line);

        if (number >= 0)
            assert_int_equal(number, want++);
    }
    free(text);
    return want - 1;
}

/* The next program to append finds everything in order. */
static void append_after(const struct world *w, int last)
{
    struct host_session *s;
    struct arena a = { 0 };

    assert_int_equal(host_session_open(w->store, &w->ref, NULL, &s, NULL), ERR_OK);
    assert_int_equal(append_number(w, s, last, &a), ERR_OK);
    assert_int_equal(append_number(w, s, last + 1, &a), ERR_OK);
    assert_int_equal(host_session_close(s, NULL), ERR_OK);
    arena_fini(&a);
}

static void kill_hosts(const char *system, enum host_durable durable)
{
    int kills = trial_is_long() ? 300 : 25, flushed = 0, written = 0;

    for (int i = 0; i < kills; i++) {
        struct world w;

        make_world(&w, system);
        int last = kill_host(&w, durable, 200 + i * 30000 / kills);

        /* A retried row is not written twice, whether it got into the log or not. */
        append_after(&w, last);
        int there = check_log(&w);

        assert_true(there >= last + 1);
        flushed += last;
        written += there;
        remove_world(&w);
    }
    printf("%s: %d hosts killed, %d rows flushed, %d there\n", system, kills, flushed, written);
}

TEST(rows_of_claude_are_whole)
{
    kill_hosts("claude", HOST_DURABLE_FLUSH);
    kill_hosts("claude", HOST_DURABLE_BATCH);
}

TEST(rows_of_goat_are_whole)
{
    kill_hosts("goat", HOST_DURABLE_FLUSH);
    kill_hosts("goat", HOST_DURABLE_ROW);
}

TEST(rows_of_exathena_are_whole)
{
    kill_hosts("exathena", HOST_DURABLE_FLUSH);
    kill_hosts("exathena", HOST_DURABLE_BATCH);
}
