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
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "screen.h"

enum { QUIET_MS = 150, START_QUIET_MS = 1000, LINES = 3000, STARTS = 5 };
/* How long a busy machine may take to answer a key. */
enum { ANSWER_MOST_MS = 20000 };
enum { IDLE_AFTER_MS = 1000, IDLE_MOST_MS = 60000, IDLE_MS = 2000 };

/* The average number of bytes for one press; false if a press changed nothing. */
static bool press(struct screen *s, const char *key, int times, double *bytes)
{
    size_t sum = 0;
    bool all = true;

    for (int i = 0; i < times; i++) {
        bench_need(write(s->fd, key, strlen(key)) == (ssize_t)strlen(key), "press a key");
        poll(&(struct pollfd){ .fd = s->fd, .events = POLLIN }, 1, ANSWER_MOST_MS);
        size_t n = screen_settle(s, QUIET_MS);

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

    screen_start(&s, argv);
    screen_settle(&s, START_QUIET_MS);
    bool all = press(&s, "j", keys, &cost->line) && press(&s, " ", keys / 4 + 1, &cost->page);

    screen_stop(&s);
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
        bool drawn = screen_settle(s, QUIET_MS) > 0;
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

    screen_start(&s, argv);
    double busy = settle_down(&s);
    long before = naps(s.pid);
    size_t idle = screen_settle(&s, IDLE_MS);

    printf("  at rest after %.1f s, then idle for %d s: %zu bytes, woken %ld times\n", busy,
           IDLE_MS / 1000, idle, naps(s.pid) - before);
    /* Moves down to the edge of the screen; after that each press scrolls by a line. */
    bool all = press(&s, "\x1b[B", SCREEN_ROWS, &edge) && press(&s, "\x1b[B", keys, &cost->line) &&
               press(&s, "\x1b[6~", keys / 4 + 1, &cost->page) && s.rows > 0;

    screen_stop(&s);
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
        screen_start(&s, argv);
        screen_settle(&s, START_QUIET_MS / 2);
        screen_stop(&s);
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

    printf("keys at %dx%d\n", SCREEN_COLS, SCREEN_ROWS);
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
