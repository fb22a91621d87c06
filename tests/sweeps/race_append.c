#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/log/append.h"
#include "tests/sweeps/trial.h"

/* Records of many writers: "<writer> <number> xxx... <writer> <number>\n". Each must be in the file complete, once, and
 * on a line of its own; lengths differ so that no match is accidental. */
enum { WRITERS = 4, AGENT = 9, RECORD_MAX = 4096 };

static size_t record_of(int writer, int number, char out[RECORD_MAX])
{
    char ends[32];
    int n = snprintf(ends, sizeof ends, "%d %06d", writer, number);
    size_t fill = (size_t)(number * 37 % 3000) + 1;

    memcpy(out, ends, (size_t)n);
    out[n] = ' ';
    memset(out + n + 1, 'x', fill);
    out[(size_t)n + 1 + fill] = ' ';
    memcpy(out + (size_t)n + fill + 2, ends, (size_t)n);
    out[(size_t)n * 2 + fill + 2] = '\n';
    return (size_t)n * 2 + fill + 3;
}

static int records_each(void)
{
    return trial_is_long() ? 20000 : 1500;
}

static void append_all(const char *path, int writer)
{
    char record[RECORD_MAX];

    for (int i = 0; i < records_each(); i++) {
        size_t n = record_of(writer, i, record);

        if (log_append(path, (struct slice){ record, n }, 0, NULL, NULL))
            _exit(1);
    }
    _exit(0);
}

/* Writes as an agent does: open, one write, close. Our lease delays the open for a moment, unless it is non-blocking;
 * this one waits. */
static void write_as_agent(const char *path, int count)
{
    char record[RECORD_MAX];

    for (int i = 0; i < count; i++) {
        size_t n = record_of(AGENT, i, record);
        int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);

        if (fd < 0 || write(fd, record, n) != (ssize_t)n)
            _exit(1);
        close(fd);
    }
    _exit(0);
}

static long count_whole(const char *text, size_t size, int writer, int count)
{
    char record[RECORD_MAX];
    const char *at = text, *end = text + size;
    long whole = 0;

    /* Each writer's records are in order: each is searched after the previous one. */
    for (int i = 0; i < count; i++) {
        size_t n = record_of(writer, i, record);
        const char *found = memmem(at, (size_t)(end - at), record, n);

        if (found && (found == text || found[-1] == '\n')) {
            whole++;
            at = found + n;
        }
    }
    return whole;
}

static void wait_well(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void nothing(struct trial_dir *y)
{
    folder_put(&y->folder, "user/log.jsonl", SLICE(""));
}

static const struct trial none = { .name = "race", .make = nothing };

TEST(no_record_is_lost_or_split)
{
    struct trial_dir y;
    char path[4096];
    pid_t pid[WRITERS + 1];
    size_t size;
    long lost = 0, all = (WRITERS + 1) * (long)records_each();

    trial_dir_make(&y, &none);
    folder_path(&y.folder, "user/log.jsonl", path);
    for (int w = 0; w <= WRITERS; w++) {
        pid[w] = fork();
        if (pid[w] == 0 && w < WRITERS)
            append_all(path, w);
        else if (pid[w] == 0)
            write_as_agent(path, records_each());
    }
    for (int w = 0; w <= WRITERS; w++)
        wait_well(pid[w]);
    char *text = folder_get(&y.folder, "user/log.jsonl", &size);

    for (int w = 0; w <= WRITERS; w++)
        lost += records_each() - count_whole(text, size, w < WRITERS ? w : AGENT, records_each());
    printf("appending beside an agent: %ld records of %d writers, %ld lost\n", all, WRITERS + 1,
           lost);
    free(text);
    trial_dir_remove(&y, &none);
    assert_int_equal(lost, 0);
}

/* One change and its undo; STALE and LOCKED are valid results. */
static bool rename_and_undo(struct trial_dir *y, const char *path, int number)
{
    struct change_log *log;
    struct change *c = change_new("rename");
    char text[64];
    int n = snprintf(text, sizeof text, "{\"title\":%d}\n", number);
    struct step s = { .kind = STEP_APPEND,
                      .path = path,
                      .bytes = { text, (size_t)n },
                      .opposite =
                          number % 2 ? SLICE("{\"title\":\"\"}\n") : (struct slice){ NULL, 0 },
                      .mtime_ns = MTIME_NOW };

    y->env.now_ms++;
    assert_int_equal(change_add(c, &s, NULL), ERR_OK);
    assert_int_equal(change_log_open(&y->env, &log, NULL), ERR_OK);
    assert_int_equal(change_run(log, c, NULL), ERR_OK);
    enum err_code rc = change_undo(log, NULL, NULL, NULL);

    assert_true(rc == ERR_OK || rc == ERR_STALE || rc == ERR_LOCKED);
    change_log_close(log);
    change_free(c);
    return rc == ERR_OK;
}

TEST(undo_never_cuts_off_rows_of_an_agent)
{
    struct trial_dir y;
    char path[4096];
    size_t size;
    long undone = 0, tries = 0;
    int count = records_each() * 10;
    int status;

    trial_dir_make(&y, &none);
    folder_path(&y.folder, "user/log.jsonl", path);
    pid_t pid = fork();

    if (pid == 0)
        write_as_agent(path, count);
    for (; waitpid(pid, &status, WNOHANG) == 0; tries++)
        undone += rename_and_undo(&y, path, (int)tries);
    assert_int_equal(status, 0);
    char *text = folder_get(&y.folder, "user/log.jsonl", &size);
    long lost = count - count_whole(text, size, AGENT, count);

    printf("undo beside an agent: %ld of %ld renames undone, %d records, %ld lost\n", undone, tries,
           count, lost);
    free(text);
    trial_dir_remove(&y, &none);
    assert_true(tries > 0);
    assert_int_equal(lost, 0);
}
