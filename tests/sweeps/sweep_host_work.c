#include "tests/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "store/rewind/record/host_work.h"
#include "store/systems/goat/goat.h"
#include "tests/sweeps/trial.h"

/* The record of what a host's turns changed, which is written anew when older states are most of it: broken at every
 * call, and with several hosts at once. No state that was recorded is ever lost. */

/* The end of a turn that changed a file. */
static enum trial_end end_turn(struct trial_dir *y, const char *name)
{
    char file[4096], state[4096];
    struct store_env env = y->env;
    struct store st = { .ops = &goat_ops, .env = &env };
    struct session_ref ref = { .store = &st, .id = SLICE("s-1") };
    struct err e = { 0 };

    env.state_dir = folder_path(&y->folder, "user", state);
    const char *const files[] = { folder_path(&y->folder, name, file) };

    return trial_end_of(host_work_record(&ref, files, 1, &e), &e);
}

static enum trial_end end_first_turn(struct trial_dir *y)
{
    return end_turn(y, "files/a");
}

static enum trial_end end_next_turn(struct trial_dir *y)
{
    return end_turn(y, "files/b");
}

/* The path of the only record; "" if there is none. */
static void find_record(const struct trial_dir *y, char name[4096])
{
    char dir[4096];
    DIR *d = opendir(folder_path(&y->folder, "user/host-work", dir));

    name[0] = '\0';
    for (const struct dirent *x; d && (x = readdir(d));)
        if (x->d_name[0] != '.')
            snprintf(name, 4096, "user/host-work/%.200s", x->d_name);
    if (d)
        closedir(d);
}

/* More of old states than a record keeps: of `kept` the newest is what counts. */
static void grow_record(struct trial_dir *y)
{
    static const char old[] = "{\"path\":\"/kept\",\"sha256\":\"\"}\n";
    char name[4096], path[4096];
    struct buf text = { 0 };

    find_record(y, name);
    for (size_t i = 0; i < (1100 << 10) / (sizeof old - 1); i++)
        assert_int_equal(buf_add(&text, SLICE(old)), ERR_OK);
    int fd = open(folder_path(&y->folder, name, path), O_WRONLY | O_APPEND | O_CLOEXEC);

    assert_true(fd >= 0 && write(fd, text.p, text.n) == (ssize_t)text.n);
    close(fd);
    buf_fini(&text);
}

static void make_record(struct trial_dir *y)
{
    folder_put(&y->folder, "files/a", SLICE("1"));
    folder_put(&y->folder, "files/b", SLICE("2"));
    folder_put(&y->folder, "files/c", SLICE("3"));
    assert_int_equal(end_turn(y, "files/c"), END_DONE);
    grow_record(y);
}

static bool has_state(const char *record, const char *name)
{
    char line[100];

    snprintf(line, sizeof line, "/%s\",\"sha256\":\"", name);
    return strstr(record, line) != NULL;
}

/* All that was recorded is there, and nothing but the record and its lock. */
static bool nothing_is_lost(const struct trial_dir *y, bool done)
{
    char name[4096], dir[4096];
    bool kept, clean = true;

    find_record(y, name);
    if (!name[0])
        return false;
    size_t n;
    char *text = folder_get(&y->folder, name, &n);

    kept = has_state(text, "kept") && has_state(text, "files/c") && has_state(text, "files/b") &&
           (!done || has_state(text, "files/a"));
    free(text);
    DIR *d = opendir(folder_path(&y->folder, "user/host-work", dir));

    for (const struct dirent *x; (x = readdir(d));)
        clean = clean && (x->d_name[0] != '.' || strncmp(x->d_name, ".reprise", 8) != 0);
    closedir(d);
    return kept && clean;
}

TEST(a_record_that_is_written_anew_loses_nothing)
{
    struct trial s = { .name = "compaction of a host's record",
                       .make = make_record,
                       .act = end_first_turn,
                       .recover = end_next_turn,
                       .tolerates = nothing_is_lost,
                       .leaves = true };

    trial_must_hold_once(&s);
}

enum { HOSTS = 4, TURNS = 25 };

static void run_host(struct trial_dir *y, int host)
{
    char name[64];
    int failed = 0;

    for (int i = 0; i < TURNS; i++) {
        snprintf(name, sizeof name, "files/%d-%d", host, i);
        folder_put(&y->folder, name, slice_of(name));
        failed += end_turn(y, name) != END_DONE;
        grow_record(y);
    }
    _exit(failed != 0);
}

TEST(several_hosts_lose_no_line)
{
    const struct trial s = { .name = "several hosts", .make = make_record };
    struct trial_dir y;
    char name[4096];
    int status;

    trial_dir_make(&y, &s);
    for (int host = 0; host < HOSTS; host++) {
        pid_t pid = fork();

        assert_true(pid >= 0);
        if (pid == 0)
            run_host(&y, host);
    }
    for (int host = 0; host < HOSTS; host++) {
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    find_record(&y, name);
    size_t n;
    char *text = folder_get(&y.folder, name, &n);

    for (int host = 0; host < HOSTS; host++)
        for (int i = 0; i < TURNS; i++) {
            snprintf(name, sizeof name, "files/%d-%d", host, i);
            if (!has_state(text, name))
                fail_msg("%s is lost", name);
        }
    free(text);
    trial_dir_remove(&y, &s);
}
