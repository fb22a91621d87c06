#include "screen.h"

#include <dirent.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* Is before the selected row, so it is shown only when rows are. */
static const char pointer[] = "\xe2\x96\x8c";

void screen_start(struct screen *s, char *const argv[])
{
    struct winsize size = { .ws_row = SCREEN_ROWS, .ws_col = SCREEN_COLS };

    *s = (struct screen){ .started = bench_now() };
    s->pid = forkpty(&s->fd, NULL, NULL, &size);
    bench_need(s->pid >= 0, "forkpty");
    if (s->pid > 0)
        return;
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("LESS");
    execvp(argv[0], argv);
    _exit(127);
}

void screen_stop(struct screen *s)
{
    kill(s->pid, SIGTERM);
    waitpid(s->pid, NULL, 0);
    close(s->fd);
}

/* Seconds that a thread was ready to run and did not. */
static double waited(const char *tasks, const char *name)
{
    char path[320];
    double ran = 0, wait = 0;

    snprintf(path, sizeof path, "%s/%s/schedstat", tasks, name);
    FILE *f = fopen(path, "r");

    if (!f)
        return 0;
    if (fscanf(f, "%lf %lf", &ran, &wait) != 2)
        wait = 0;
    fclose(f);
    return wait / 1e9;
}

static double longest_wait(pid_t pid)
{
    char tasks[64];
    struct dirent *entry;
    double longest = 0;

    snprintf(tasks, sizeof tasks, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(tasks);

    while (dir && (entry = readdir(dir))) {
        double one = entry->d_name[0] == '.' ? 0 : waited(tasks, entry->d_name);

        longest = one > longest ? one : longest;
    }
    if (dir)
        closedir(dir);
    return longest;
}

static void note_times(struct screen *s, const char *bytes, size_t n)
{
    char joined[sizeof s->last + 4096];
    size_t kept = strlen(s->last);

    if (s->first == 0)
        s->first = bench_now() - s->started;
    memcpy(joined, s->last, kept);
    memcpy(joined + kept, bytes, n);
    if (s->rows == 0 && memmem(joined, kept + n, pointer, strlen(pointer))) {
        s->rows = bench_now() - s->started;
        s->waited = longest_wait(s->pid);
    }
    size_t keep = n < 3 ? n : 3;

    memcpy(s->last, bytes + n - keep, keep);
    s->last[keep] = '\0';
}

size_t screen_settle(struct screen *s, int quiet_ms)
{
    struct pollfd fd = { .fd = s->fd, .events = POLLIN };
    char bytes[4096];
    size_t sum = 0;

    while (poll(&fd, 1, quiet_ms) > 0) {
        ssize_t n = read(s->fd, bytes, sizeof bytes);

        if (n <= 0)
            break;
        note_times(s, bytes, (size_t)n);
        sum += (size_t)n;
    }
    return sum;
}
