#include "tests/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/api/store.h"
#include "store/fs/copy.h"
#include "store/host/host_session.h"
#include "store/proc/live.h"
#include "tests/support/folder.h"

/* A host that writes in the background, with a store of one of the systems. */
struct host {
    struct folder folder;
    struct store_env env;
    const struct store_ops *ops;
    struct store *store;
    struct arena a;
    struct host_session *session;
    char place[4096], state[4096];
    int failures;
};

static struct host *host_new(const char *system)
{
    struct host *h = calloc(1, sizeof *h);

    folder_make(&h->folder);
    folder_path(&h->folder, strcmp(system, "claude") == 0 ? "config" : "sessions", h->place);
    folder_path(&h->folder, "state", h->state);
    h->env =
        (struct store_env){ .cwd = h->folder.path, .state_dir = h->state, .now_ms = 1700000000000 };
    h->ops = store_system(slice_of(system));
    assert_int_equal(host_make(h->ops, &h->env, h->place, NULL), ERR_OK);
    assert_int_equal(h->ops->open(&h->env, h->place, &h->store, NULL), ERR_OK);
    return h;
}

static void host_free(struct host *h)
{
    assert_int_equal(host_session_close(h->session, NULL), ERR_OK);
    store_close(h->store);
    arena_fini(&h->a);
    folder_remove(&h->folder);
    free(h);
}

static void note_failure(const struct err *failure, void *arg)
{
    struct host *h = arg;

    (void)failure;
    h->failures++;
}

/* An hour: only what the test does makes the thread write. */
#define NEVER 3600000

static void begin(struct host *h, struct host_session_options o)
{
    const struct host_create req = { .cwd = slice_of(h->folder.path) };

    o.background = true;
    o.failed = note_failure;
    o.arg = h;
    assert_int_equal(host_session_create(h->store, &req, &o, &h->session, NULL), ERR_OK);
}

static enum err_code append_row(struct host *h, const char *text, struct host_appended *done,
                                struct err *e)
{
    struct slice row = slice_of(text);
    const struct host_append req = { .row = &row, .n = 1 };

    return host_session_append(h->session, &req, &h->a, done, e);
}

/* The n-th prompt, in the form of the system. */
static const char *prompt(const struct host *h, int n, char out[200])
{
    snprintf(out, 200,
             strcmp(h->ops->name, "claude") == 0
                 ? "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"prompt %d\"}}"
                 : "{\"role\":\"user\",\"content\":\"prompt %d\"}",
             n);
    return out;
}

static enum err_code append_prompt(struct host *h, int n)
{
    struct host_appended done;
    char text[200];

    return append_row(h, prompt(h, n, text), &done, NULL);
}

struct seen {
    size_t n;
    bool in_order;
};

static enum err_code see_message(struct slice json, void *arg, struct err *e)
{
    struct seen *s = arg;
    char text[40];
    int n = snprintf(text, sizeof text, "\"prompt %zu\"", s->n++);

    (void)e;
    s->in_order &= memmem(json.p, json.n, text, (size_t)n) != NULL;
    return ERR_OK;
}

static struct seen seen(struct host *h)
{
    const struct message_query all = { .session = host_session_id(h->session) };
    struct seen s = { .in_order = true };
    struct session_ref ref;

    assert_int_equal(
        h->ops->find(h->store, &(struct scope){ .all = true }, all.session, &h->a, &ref, NULL),
        ERR_OK);
    assert_int_equal(h->ops->messages(h->store, &ref, &all, see_message, &s, NULL), ERR_OK);
    return s;
}

static struct host_session_counts counts(struct host *h)
{
    struct host_session_counts c;

    host_session_counts(h->session, &c);
    return c;
}

static void nap(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* ---- every system ---- */

static void rows_are_written_in_order(const char *system)
{
    struct host *h = host_new(system);

    begin(h, (struct host_session_options){ .interval_ms = NEVER });
    for (int i = 0; i < 100; i++)
        assert_int_equal(append_prompt(h, i), ERR_OK);
    assert_int_equal(counts(h).written, 0);
    assert_int_equal(host_session_flush(h->session, NULL), ERR_OK);

    const struct seen s = seen(h);

    assert_int_equal(s.n, 100);
    assert_true(s.in_order);
    assert_int_equal(counts(h).written, 100);
    assert_int_equal(counts(h).batches, 1);
    host_free(h);
}

TEST(rows_of_claude_are_written_in_order)
{
    rows_are_written_in_order("claude");
}

TEST(rows_of_goat_are_written_in_order)
{
    rows_are_written_in_order("goat");
}

TEST(rows_of_exathena_are_written_in_order)
{
    rows_are_written_in_order("exathena");
}

TEST(ids_and_errors_come_at_once)
{
    static const char *const systems[] = { "claude", "goat", "exathena" };
    struct host_appended done;
    char text[200];

    for (size_t i = 0; i < 3; i++) {
        struct host *h = host_new(systems[i]);

        begin(h, (struct host_session_options){ .interval_ms = NEVER });
        assert_int_equal(append_row(h, prompt(h, 0, text), &done, NULL), ERR_OK);
        assert_true(done.id[0].n > 10);
        assert_int_equal(append_row(h, "{\"x\":1}", &done, NULL), ERR_USAGE);
        assert_int_equal(append_row(h, "[1]", &done, NULL), ERR_USAGE);
        assert_int_equal(host_session_flush(h->session, NULL), ERR_OK);
        assert_int_equal(seen(h).n, 1);
        host_free(h);
    }
}

/* ---- when it is written ---- */

TEST(the_thread_writes_after_the_interval)
{
    struct host *h = host_new("claude");

    begin(h, (struct host_session_options){ .interval_ms = 5 });
    for (int i = 0; i < 3; i++)
        assert_int_equal(append_prompt(h, i), ERR_OK);
    while (counts(h).written < 3)
        nap();

    assert_int_equal(seen(h).n, 3);
    host_free(h);
}

TEST(a_full_batch_does_not_wait)
{
    struct host *h = host_new("claude");

    begin(h, (struct host_session_options){ .interval_ms = NEVER, .batch_rows = 4 });
    for (int i = 0; i < 4; i++)
        assert_int_equal(append_prompt(h, i), ERR_OK);
    while (counts(h).written < 4)
        nap();
    host_free(h);
}

/* The thread always has something to write while more comes. */
TEST(rows_come_while_others_are_written)
{
    struct host *h = host_new("exathena");

    begin(h, (struct host_session_options){
                 .interval_ms = HOST_AT_ONCE, .batch_rows = 16, .durable = HOST_DURABLE_FLUSH });
    for (int i = 0; i < 3000; i++)
        assert_int_equal(append_prompt(h, i), ERR_OK);
    assert_int_equal(host_session_flush(h->session, NULL), ERR_OK);

    const struct seen s = seen(h);

    assert_int_equal(s.n, 3000);
    assert_true(s.in_order);
    host_free(h);
}

TEST(a_row_by_itself_is_a_batch)
{
    struct host *h = host_new("goat");

    begin(h, (struct host_session_options){ .interval_ms = NEVER, .durable = HOST_DURABLE_ROW });
    for (int i = 0; i < 5; i++)
        assert_int_equal(append_prompt(h, i), ERR_OK);
    assert_int_equal(host_session_flush(h->session, NULL), ERR_OK);

    assert_int_equal(counts(h).batches, 5);
    host_free(h);
}

TEST(closing_writes_what_is_left)
{
    struct host *h = host_new("claude");
    const struct scope everywhere = { .all = true };
    struct session_ref ref;
    struct slice id;

    begin(h, (struct host_session_options){ .interval_ms = NEVER, .durable = HOST_DURABLE_FLUSH });
    id = arena_copy(&h->a, host_session_id(h->session));
    for (int i = 0; i < 20; i++)
        assert_int_equal(append_prompt(h, i), ERR_OK);
    assert_int_equal(host_session_close(h->session, NULL), ERR_OK);

    assert_int_equal(h->ops->find(h->store, &everywhere, id, &h->a, &ref, NULL), ERR_OK);
    assert_int_equal(host_session_open(h->store, &ref, NULL, &h->session, NULL), ERR_OK);
    assert_int_equal(seen(h).n, 20);
    host_free(h);
}

TEST(a_full_queue_makes_the_caller_wait)
{
    struct host *h = host_new("claude");

    begin(h, (struct host_session_options){ .interval_ms = NEVER,
                                            .batch_rows = 1000,
                                            .queue_rows = 8,
                                            .durable = HOST_DURABLE_FLUSH });
    for (int i = 0; i < 200; i++) {
        assert_int_equal(append_prompt(h, i), ERR_OK);
        assert_true(counts(h).queued <= 8);
    }
    assert_int_equal(host_session_flush(h->session, NULL), ERR_OK);

    assert_int_equal(seen(h).n, 200);
    host_free(h);
}

/* ---- failures ---- */

TEST(a_failure_is_reported_and_its_rows_are_kept)
{
    struct host *h = host_new("goat");
    char there[4096], away[4096];
    struct host_appended done;
    struct err e = { 0 };
    char text[200];

    begin(h, (struct host_session_options){ .interval_ms = 1 });
    assert_int_equal(append_prompt(h, 0), ERR_OK);
    assert_int_equal(host_session_flush(h->session, NULL), ERR_OK);
    folder_path(&h->folder, "sessions", there);
    folder_path(&h->folder, "elsewhere", away);
    assert_int_equal(rename(there, away), 0);

    assert_int_equal(append_prompt(h, 1), ERR_OK);
    while (append_row(h, prompt(h, 2, text), &done, &e) == ERR_OK)
        nap();
    assert_int_not_equal(e.code, ERR_OK);
    assert_int_not_equal(host_session_flush(h->session, NULL), ERR_OK);
    size_t waiting = counts(h).queued;

    assert_true(waiting >= 1);
    assert_int_equal(rename(away, there), 0);
    assert_int_equal(host_session_flush(h->session, NULL), ERR_OK);

    assert_true(seen(h).n >= 1 + waiting);
    assert_int_equal(counts(h).queued, 0);
    assert_int_equal(counts(h).lost, 0);
    assert_true(h->failures > 0);
    host_free(h);
}

TEST(what_can_never_be_written_does_not_stay)
{
    struct host *h = host_new("claude");
    const struct host_setting wrong = { SLICE("no such key"), SLICE("x") };

    begin(h, (struct host_session_options){ .interval_ms = NEVER });
    assert_int_equal(append_prompt(h, 0), ERR_OK);
    assert_int_equal(host_session_set(h->session, &wrong, 1, NULL), ERR_OK);
    assert_int_equal(append_prompt(h, 1), ERR_OK);

    assert_int_equal(host_session_flush(h->session, NULL), ERR_USAGE);
    assert_int_equal(counts(h).lost, 1);
    assert_int_equal(seen(h).n, 2);
    assert_int_equal(host_session_flush(h->session, NULL), ERR_OK);
    host_free(h);
}

/* ---- threads and processes ---- */

static void *append_many(void *arg)
{
    struct host *h = arg;
    struct arena a = { 0 };
    char text[200];

    for (int i = 0; i < 100; i++) {
        struct slice row = slice_of(prompt(h, i, text));
        const struct host_append req = { .row = &row, .n = 1 };
        struct host_appended done;

        if (host_session_append(h->session, &req, &a, &done, NULL) ||
            (i % 10 == 0 && host_session_flush(h->session, NULL)))
            return arg;
    }
    arena_fini(&a);
    return NULL;
}

static void threads_share_a_session(const struct host_session_options *options)
{
    struct host *h = host_new("claude");
    const struct host_create req = { .cwd = slice_of(h->folder.path) };
    pthread_t thread[4];
    void *failed;

    assert_int_equal(host_session_create(h->store, &req, options, &h->session, NULL), ERR_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, append_many, h), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(thread[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(host_session_flush(h->session, NULL), ERR_OK);

    assert_int_equal(seen(h).n, 400);
    host_free(h);
}

TEST(threads_share_a_session_in_the_background)
{
    const struct host_session_options o = {
        .background = true, .interval_ms = 1, .queue_rows = 16, .durable = HOST_DURABLE_FLUSH
    };

    threads_share_a_session(&o);
}

TEST(threads_share_a_session_that_writes_at_once)
{
    const struct host_session_options o = { .durable = HOST_DURABLE_FLUSH };

    threads_share_a_session(&o);
}

TEST(a_child_writes_nothing_of_its_parent)
{
    struct host *h = host_new("claude");
    int status;

    begin(h, (struct host_session_options){ .interval_ms = NEVER });
    for (int i = 0; i < 10; i++)
        assert_int_equal(append_prompt(h, i), ERR_OK);
    pid_t pid = fork();

    if (pid == 0)
        _exit(append_prompt(h, 10) != ERR_UNSUPPORTED ||
              host_session_flush(h->session, NULL) != ERR_UNSUPPORTED ||
              host_session_close(h->session, NULL) != ERR_OK);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(host_session_flush(h->session, NULL), ERR_OK);

    assert_int_equal(seen(h).n, 10);
    host_free(h);
}

/* A child that is forked in the middle of an append inherits the descriptor that is locked. */
TEST(a_child_that_lives_on_does_not_keep_the_lock)
{
    struct host *h = host_new("goat");
    pid_t pid[20];

    begin(h, (struct host_session_options){ .interval_ms = HOST_AT_ONCE,
                                            .durable = HOST_DURABLE_FLUSH });
    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 10; k++)
            assert_int_equal(append_prompt(h, 10 * i + k), ERR_OK);
        if ((pid[i] = fork()) == 0) {
            alarm(60); /* should the parent die */
            pause();
            _exit(0);
        }
    }
    assert_int_equal(host_session_flush(h->session, NULL), ERR_OK);
    for (int i = 0; i < 20; i++) {
        kill(pid[i], SIGKILL);
        waitpid(pid[i], NULL, 0);
    }

    assert_int_equal(seen(h).n, 200);
    assert_int_equal(h->failures, 0);
    host_free(h);
}

/* ---- other programs ---- */

static const char *const each_system[] = { "claude", "goat", "exathena" };

static struct session_ref find_session(struct host *h)
{
    const struct scope everywhere = { .all = true };
    struct session_ref ref;

    assert_int_equal(
        h->ops->find(h->store, &everywhere, host_session_id(h->session), &h->a, &ref, NULL),
        ERR_OK);
    return ref;
}

/* What another process finds out about the session before it deletes it. */
static enum live_state state_elsewhere(const struct session_ref *ref)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        struct live live;

        _exit(live_check(&ref, 1, &live, NULL) ? 99 : (int)live.state);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return (enum live_state)WEXITSTATUS(status);
}

TEST(an_open_session_is_announced_to_other_programs)
{
    for (size_t i = 0; i < 3; i++) {
        struct host *h = host_new(each_system[i]);

        begin(h, (struct host_session_options){ .interval_ms = NEVER });
        assert_int_equal(append_prompt(h, 0), ERR_OK);
        assert_int_equal(host_session_flush(h->session, NULL), ERR_OK);

        const struct session_ref ref = find_session(h);

        assert_int_equal(state_elsewhere(&ref), LIVE_RUNNING);
        assert_int_equal(host_session_close(h->session, NULL), ERR_OK);
        h->session = NULL;
        assert_int_equal(state_elsewhere(&ref), LIVE_QUIET);
        host_free(h);
    }
}

TEST(a_killed_host_leaves_no_announcement)
{
    struct host *h = host_new("goat");
    const struct host_create req = { .id = SLICE("killed"), .cwd = slice_of(h->folder.path) };
    struct session_ref ref;
    int ready[2], status;
    char byte;

    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();

    if (pid == 0) {
        bool ok = !host_session_create(h->store, &req, NULL, &h->session, NULL);

        alarm(60); /* should the parent die */
        if (write(ready[1], ok ? "y" : "n", 1) == 1)
            pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_int_equal(
        h->ops->find(h->store, &(struct scope){ .all = true }, req.id, &h->a, &ref, NULL), ERR_OK);
    assert_int_equal(state_elsewhere(&ref), LIVE_RUNNING);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);

    assert_int_equal(state_elsewhere(&ref), LIVE_QUIET);
    close(ready[0]);
    close(ready[1]);
    host_free(h);
}

/* Somebody removes the session, or moves it away, while the host has it open. */
static void make_it_gone(struct host *h, bool moved)
{
    const struct session_ref ref = find_session(h);
    char away[4096];

    if (moved)
        assert_int_equal(rename(ref.path.p, folder_path(&h->folder, "away", away)), 0);
    else
        assert_int_equal(copy_remove(ref.path.p, NULL), ERR_OK);
}

TEST(a_removed_session_is_made_again_with_all_its_rows)
{
    for (size_t i = 0; i < 12; i++) {
        struct host *h = host_new(each_system[i % 3]);
        bool background = i < 6, moved = i % 2;
        const struct host_create req = { .cwd = slice_of(h->folder.path) };
        const struct host_session_options options = { .background = background,
                                                      .interval_ms = NEVER,
                                                      .durable = i % 4 ? HOST_DURABLE_BATCH
                                                                       : HOST_DURABLE_FLUSH,
                                                      .failed = note_failure,
                                                      .arg = h };

        assert_int_equal(host_session_create(h->store, &req, &options, &h->session, NULL), ERR_OK);
        for (int k = 0; k < 5; k++)
            assert_int_equal(append_prompt(h, k), ERR_OK);
        assert_int_equal(host_session_flush(h->session, NULL), ERR_OK);
        make_it_gone(h, moved);
        for (int k = 5; k < 10; k++)
            assert_int_equal(append_prompt(h, k), ERR_OK);
        assert_int_equal(host_session_flush(h->session, NULL), ERR_OK);

        const struct seen s = seen(h);

        assert_int_equal(s.n, 10);
        assert_true(s.in_order);
        assert_int_equal(counts(h).remade, 1);
        assert_int_equal(counts(h).lost, 0);
        assert_int_equal(h->failures, 1);
        host_free(h);
    }
}

TEST(rows_that_were_not_synced_yet_survive_a_removal)
{
    struct host *h = host_new("exathena");
    const struct host_create req = { .cwd = slice_of(h->folder.path) };
    const struct host_session_options options = { .durable = HOST_DURABLE_FLUSH };

    assert_int_equal(host_session_create(h->store, &req, &options, &h->session, NULL), ERR_OK);
    assert_int_equal(append_prompt(h, 0), ERR_OK);
    make_it_gone(h, false);
    assert_int_equal(host_session_flush(h->session, NULL), ERR_OK);

    assert_int_equal(seen(h).n, 1);
    assert_int_equal(counts(h).remade, 1);
    host_free(h);
}
