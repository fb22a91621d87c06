/* The cost of the screen: bytes sent for a key beside those of less in the same terminal size, time to the first frame
 * and to the first rows, and what an idle screen does.
 *
 *   bench_keys REPRISE CONFIG_DIR SCRATCH_DIR KEYS
 *
 * The time to the first rows is printed with the time that the program's threads waited for a processor, and with the
 * time of reading only the name, size and time of every transcript once.
 *
 * Every key has to change the screen, or the run fails; times and bytes are only printed. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { ROWS = 60, COLS = 200, QUIET_MS = 150, START_QUIET_MS = 1000, LINES = 3000, STARTS = 5 };
/* How long a busy machine may take to answer a key. */
enum { ANSWER_MOST_MS = 20000 };
enum { IDLE_AFTER_MS = 1000, IDLE_MOST_MS = 60000, IDLE_MS = 2000 };

/* Is before the selected row, so it is shown only when rows are. */
static const char pointer[] = "\xe2\x96\x8c";

/* A program on a terminal of its own. */
struct screen {
    pid_t pid;
    int fd;
    double started;
    double first, rows; /* seconds until the first byte and until the first row; 0: not yet */
    double waited;      /* waited for a processor until then, by the thread that waited longest */
    char last[8];       /* the end of the previous read, for matches across two reads */
};

static void start(struct screen *s, char *const argv[])
{
    struct winsize size = { .ws_row = ROWS, .ws_col = COLS };

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

static void stop(struct screen *s)
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

/* Reads until nothing has come for a while; returns the number of bytes. */
static size_t settle(struct screen *s, int quiet_ms)
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

/* The average number of bytes for one press; false if a press changed nothing. */
static bool press(struct screen *s, const char *key, int times, double *bytes)
{
    size_t sum = 0;
    bool all = true;

    for (int i = 0; i < times; i++) {
        bench_need(write(s->fd, key, strlen(key)) == (ssize_t)strlen(key), "press a key");
        poll(&(struct pollfd){ .fd = s->fd, .events = POLLIN }, 1, ANSWER_MOST_MS);
        size_t n = settle(s, QUIET_MS);

        all &= n > 0;
        sum += n;
    }
    *bytes = (double)sum / times;
    return all;
}

/* Writes lines as wide and as varied as a list of sessions. */
static void write_lines(const char *path)
{
    static const char *const words[] = { "session", "rewind", "fork",  "parser",
                                         "build",   "fix",    "title", "\xc3\xa9t\xc3\xa9",
                                         "ok" };
    FILE *f = fopen(path, "w");
    unsigned seed = 7;

    bench_need(f != NULL, path);
    for (int i = 0; i < LINES; i++) {
        int n = fprintf(f, "%4d  %08x  ", i, (unsigned)i * 2654435761u);

        while (n < 150) {
            seed = seed * 1103515245u + 12345u;
            n += fprintf(f, "%s ", words[(seed >> 16) % 9]);
        }
        fputc('\n', f);
    }
    fclose(f);
}

struct cost {
    double line, page;
};

static bool measure_less(const char *file, int keys, struct cost *cost)
{
    char *const argv[] = { (char[]){ "less" }, (char *)(size_t)file, NULL };
    struct screen s;

    start(&s, argv);
    settle(&s, START_QUIET_MS);
    bool all = press(&s, "j", keys, &cost->line) && press(&s, " ", keys / 4 + 1, &cost->page);

    stop(&s);
    return all;
}

/* Voluntary switches of one thread. */
static long naps_of(const char *tasks, const char *name)
{
    char path[320], line[256];
    long n = 0;

    snprintf(path, sizeof path, "%s/%s/status", tasks, name);
    FILE *f = fopen(path, "r");

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1)
            break;
    if (f)
        fclose(f);
    return n;
}

/* The number of times that any of its threads went to sleep and was woken. */
static long naps(pid_t pid)
{
    char tasks[64];
    struct dirent *entry;
    long n = 0;

    snprintf(tasks, sizeof tasks, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(tasks);

    while (dir && (entry = readdir(dir)))
        n += entry->d_name[0] == '.' ? 0 : naps_of(tasks, entry->d_name);
    if (dir)
        closedir(dir);
    return n;
}

/* Workers go on after the first rows; the screen is idle when no thread was woken for a while. Returns the seconds that
 * this took, at most IDLE_MOST_MS. */
static double settle_down(struct screen *s)
{
    double from = bench_now(), still = from;

    for (long before = naps(s->pid); bench_now() - still < IDLE_AFTER_MS / 1e3;) {
        bool drawn = settle(s, QUIET_MS) > 0;
        long after = naps(s->pid);

        if (bench_now() - from > IDLE_MOST_MS / 1e3)
            break;
        if (drawn || after != before)
            still = bench_now();
        before = after;
    }
    return still - from;
}

static bool measure_ours(char *const argv[], int keys, struct cost *cost)
{
    struct screen s;
    double edge;

    start(&s, argv);
    double busy = settle_down(&s);
    long before = naps(s.pid);
    size_t idle = settle(&s, IDLE_MS);

    printf("  at rest after %.1f s, then idle for %d s: %zu bytes, woken %ld times\n", busy,
           IDLE_MS / 1000, idle, naps(s.pid) - before);
    /* Moves down to the edge of the screen; after that each press scrolls by a line. */
    bool all = press(&s, "\x1b[B", ROWS, &edge) && press(&s, "\x1b[B", keys, &cost->line) &&
               press(&s, "\x1b[6~", keys / 4 + 1, &cost->page) && s.rows > 0;

    stop(&s);
    printf("  cursor by a line: %.0f bytes\n", edge);
    return all;
}

/* Reads names, sizes and times of all files, two folders deep. */
static size_t look_at_all(const char *projects)
{
    DIR *dir = opendir(projects), *folder;
    struct dirent *entry, *file;
    size_t n = 0;

    while (dir && (entry = readdir(dir))) {
        int fd = entry->d_name[0] == '.' ? -1 : openat(dirfd(dir), entry->d_name, O_RDONLY);
        struct stat sb;

        folder = fd >= 0 ? fdopendir(fd) : NULL;
        while (folder && (file = readdir(folder)))
            n += fstatat(fd, file->d_name, &sb, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(sb.st_mode);
        if (folder)
            closedir(folder);
    }
    if (dir)
        closedir(dir);
    return n;
}

static void measure_start(char *const argv[], const char *config)
{
    struct screen best = { 0 };
    double bare = 0;
    size_t files = 0;
    char projects[4096];

    snprintf(projects, sizeof projects, "%s/projects", config);
    for (int i = 0; i < STARTS; i++) {
        struct screen s;
        double from = bench_now();

        files = look_at_all(projects);
        from = bench_now() - from;
        bare = bare == 0 || from < bare ? from : bare;
        start(&s, argv);
        settle(&s, START_QUIET_MS / 2);
        stop(&s);
        if (s.rows > 0 && (best.rows == 0 || s.rows < best.rows))
            best = s;
    }
    printf("  first frame after %.0f ms, first rows after %.0f ms, of which %.0f waiting for a "
           "processor; to look at %zu files alone %.0f ms: %.2fx\n",
           best.first * 1e3, best.rows * 1e3, best.waited * 1e3, files, bare * 1e3,
           best.rows / bare);
}

int main(int argc, char **argv)
{
    char lines[4096], config[4096];
    struct cost less, ours;

    if (argc != 5) {
        fprintf(stderr, "usage: bench_keys REPRISE CONFIG_DIR SCRATCH_DIR KEYS\n");
        return 2;
    }
    int keys = atoi(argv[4]);

    snprintf(lines, sizeof lines, "%s/lines", argv[3]);
    snprintf(config, sizeof config, "%s/config", argv[3]);
    write_lines(lines);
    FILE *f = fopen(config, "w");

    bench_need(f && fputs("preview = off\n", f) >= 0 && fclose(f) == 0, config);
    setenv("CLAUDE_CONFIG_DIR", argv[2], 1);
    char *const picker[] = { argv[1], (char[]){ "--all" }, (char[]){ "--config" }, config, NULL };

    printf("keys at %dx%d\n", COLS, ROWS);
    measure_start(picker, argv[2]);
    if (!measure_ours(picker, keys, &ours)) {
        printf("  a key changed nothing, or no row came\n");
        return 1;
    }
    if (!measure_less(lines, keys, &less)) {
        printf("  scroll %.0f, page %.0f bytes; less could not be run beside it\n", ours.line,
               ours.page);
        return 0;
    }
    printf("  scroll by a line: %.0f bytes, less %.0f: %.2fx\n", ours.line, less.line,
           ours.line / less.line);
    printf("  by a page: %.0f bytes, less %.0f: %.2fx\n", ours.page, less.page,
           ours.page / less.page);
    return 0;
}
