#include "tests/test.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/time.h"

#include "tui/term/term.h"

static char dir[64];

static void write_file(const char *name, const char *mode)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, mode);

    assert_non_null(f);
    fputs("x\n", f);
    fclose(f);
}

static void assert_changed(struct watch *w, int64_t now)
{
    struct pollfd fd = { .fd = w->fd, .events = POLLIN };

    assert_int_equal(poll(&fd, 1, 30000), 1);
    watch_read(w, now);
}

TEST(a_session_that_grows_is_noticed)
{
    char path[128];
    struct watch w;

    write_file("a.jsonl", "w");
    snprintf(path, sizeof path, "%s/a.jsonl", dir);
    const struct session_ref ref = { .path = { path, strlen(path) } };

    watch_init(&w);
    watch_sessions(&w, &ref, 1);
    assert_int_equal(watch_due_ms(&w, false), TIME_NONE);
    write_file("a.jsonl", "a");
    assert_changed(&w, 1000);
    assert_int_equal(watch_due_ms(&w, false), 1000 + WATCH_QUIET_MS);
    watch_fini(&w);
}

TEST(new_and_vanished_sessions_are_noticed)
{
    char path[128];
    struct watch w;

    watch_init(&w);
    watch_root(&w, dir);
    write_file("new.jsonl", "w");
    assert_changed(&w, 1000);
    watch_mark_reported(&w, 2000);
    assert_int_equal(watch_due_ms(&w, false), TIME_NONE);
    snprintf(path, sizeof path, "%s/new.jsonl", dir);
    assert_int_equal(unlink(path), 0);
    assert_changed(&w, 5000);
    assert_int_equal(watch_due_ms(&w, false), 5000 + WATCH_QUIET_MS);
    watch_fini(&w);
}

TEST(a_session_that_keeps_growing_is_reported_periodically)
{
    struct watch w;

    watch_init(&w);
    watch_root(&w, dir);
    write_file("b.jsonl", "w");
    assert_changed(&w, 1000);
    watch_mark_reported(&w, 1150);
    write_file("b.jsonl", "a");
    assert_changed(&w, 1160);
    assert_int_equal(watch_due_ms(&w, false), 1150 + WATCH_EVERY_MS);
    assert_int_equal(watch_due_ms(&w, true), 1150 + WATCH_FOLLOW_EVERY_MS); /* for the board */
    watch_fini(&w);
}

/* The log is made by the first change. */
TEST(a_change_by_another_program_is_noticed_in_the_log)
{
    char above[96], log[112], path[160];
    struct watch w;
    int64_t now = time_clock_ms(CLOCK_REALTIME);

    snprintf(above, sizeof above, "%s/state", dir);
    snprintf(log, sizeof log, "%s/changes", above);
    watch_init(&w);
    watch_log(&w, log);
    assert_false(watch_log_grew(&w, now));
    assert_int_equal(mkdir(above, 0700), 0);
    assert_changed(&w, 1000);
    watch_mark_reported(&w, 1150);
    assert_int_equal(mkdir(log, 0700), 0);
    assert_true(watch_log_grew(&w, now));
    assert_false(watch_log_grew(&w, now + 60000));

    snprintf(path, sizeof path, "%s/0017", log);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_changed(&w, 2000);
    watch_fini(&w);
    assert_int_equal(rmdir(path) | rmdir(log) | rmdir(above), 0);
}

/* The first session of a project: its folder is created, then the file in it. */
TEST(the_first_session_of_a_project_is_noticed)
{
    char path[128];
    struct watch w;

    watch_init(&w);
    watch_root(&w, dir);
    snprintf(path, sizeof path, "%s/project", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_changed(&w, 1000);
    watch_mark_reported(&w, 1150);
    write_file("project/c.jsonl", "w");
    assert_changed(&w, 3000);
    assert_int_equal(watch_due_ms(&w, false), 3000 + WATCH_QUIET_MS);
    watch_fini(&w);
}

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/test_watch.XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    static const char *const names[] = { "a.jsonl", "b.jsonl", "project/c.jsonl" };
    char path[128];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/project", dir);
    rmdir(path);
    return rmdir(dir);
}

TEST_MAIN
{
    return test_run(make_dir, remove_dir);
}
