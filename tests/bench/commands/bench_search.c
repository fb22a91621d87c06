/* The whole process `reprise search` over a store against `rg` over the same files, or `grep` where there is no rg: for a
 * word that is in no text, for one that is in almost every row, until the first match of each session, until the
 * first hit is printed and from an interrupt to the end; and the first hit on the screen from the last key on, and the
 * next frame from Esc on.
 *
 *   bench_search REPRISE CONFIG_DIR [ROUNDS [TITLE]]     TITLE: only whole searches
 */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bench.h"
#include "../run.h"

enum { ROWS = 40, COLS = 120, START_QUIET_MS = 400, MOST_MS = 60000 };
enum { HIT_MS = 30 }; /* the goal */

static const char common[] = "function";

static bool has_rg(void)
{
    return system("command -v rg >/dev/null 2>&1") == 0;
}

struct race {
    const char *title, *word, *option;
    bool found; /* the word is in the corpus */
};

static int race(const struct race *r, const char *title, char **argv, bool rg, int rounds)
{
    struct bench_time ours = { 0 }, theirs = { 0 };
    const char *search[] = { argv[1], "search", "--all", "--json", r->option, r->word, NULL };
    const char *with_rg[] = { "rg", "-c", "--no-ignore", r->word, argv[2], NULL };
    const char *with_grep[] = { "grep", "-rc", r->word, argv[2], NULL };
    struct run us = { .argv = search, .config = argv[2], .may_fail = true };
    struct run them = { .argv = rg ? with_rg : with_grep, .may_fail = true };

    for (; rounds > 0; rounds--) {
        run_program(&them);
        bench_keep_best(&theirs, them.wall, them.cpu);
        run_program(&us);
        bench_keep_best(&ours, us.wall, us.cpu);
    }
    printf("%s: %s, best of the rounds\n", title, r->title);
    printf("  %-24s %8.1f ms (cpu %8.1f)\n", rg ? "rg -c" : "grep -rc", theirs.wall * 1e3,
           theirs.cpu * 1e3);
    printf("  search %-17s %8.1f ms (cpu %8.1f)  %.2fx, cpu %.2fx\n", r->option, ours.wall * 1e3,
           ours.cpu * 1e3, ours.wall / theirs.wall, ours.cpu / theirs.cpu);
    printf("  peak memory              %8.1f MB, %zu sessions\n", (double)us.peak_kb / 1024,
           us.values);
    return (us.values > 0) != r->found;
}

/* ---- the first hit, and the end ---- */

struct answer {
    double first, end; /* seconds until the first byte, and from an interrupt then to the end */
    double peak_mb;
};

/* Keeps the best of both times. Returns false if nothing was printed. */
static bool answer(char *const argv[], struct answer *a)
{
    struct rusage usage;
    int ends[2], status;
    char bytes[4096];

    bench_need(pipe(ends) == 0, "pipe");
    double begin = bench_now();
    pid_t pid = fork();

    bench_need(pid >= 0, "fork");
    if (pid == 0) {
        bench_need(dup2(ends[1], 1) == 1, "dup2");
        execvp(argv[0], argv);
        _exit(127);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], bytes, sizeof bytes);
    double first = bench_now() - begin;

    kill(pid, SIGINT);
    begin = bench_now();
    while (read(ends[0], bytes, sizeof bytes) > 0)
        continue;
    bench_need(wait4(pid, &status, 0, &usage) == pid, "wait");
    double end = bench_now() - begin;

    close(ends[0]);
    a->first = a->first == 0 || first < a->first ? first : a->first;
    a->end = a->end == 0 || end < a->end ? end : a->end;
    a->peak_mb = (double)usage.ru_maxrss / 1024;
    return n > 0;
}

static int race_first_hit(char **argv, bool rg, int rounds)
{
    char *const search[] = { argv[1], (char[]){ "search" }, (char[]){ "--all" },
                             (char *)(size_t)common, NULL };
    char *const with_rg[] = { (char[]){ "rg" }, (char[]){ "--no-ignore" }, (char *)(size_t)common,
                              argv[2], NULL };
    char *const with_grep[] = { (char[]){ "grep" }, (char[]){ "-r" }, (char *)(size_t)common,
                                argv[2], NULL };
    struct answer ours = { 0 }, theirs = { 0 };
    bool found = true;

    for (; rounds > 0; rounds--) {
        found &= answer(rg ? with_rg : with_grep, &theirs);
        found &= answer(search, &ours);
    }
    puts("search: a word in most rows, until the first hit is printed, and from an interrupt then");
    printf("  %-24s %8.1f ms, ended %6.1f ms later\n", rg ? "rg" : "grep -r", theirs.first * 1e3,
           theirs.end * 1e3);
    printf("  search                   %8.1f ms, ended %6.1f ms later  %.2fx, %.2fx\n",
           ours.first * 1e3, ours.end * 1e3, ours.first / theirs.first, ours.end / theirs.end);
    return !found;
}

static int all_hits(char **argv)
{
    const char *search[] = { argv[1], "search", "--all", common, NULL };
    struct run us = { .argv = search, .config = argv[2], .may_fail = true };

    run_program(&us);
    printf("search: all hits printed\n  search                   %8.1f ms (cpu %8.1f), %.1f MB of "
           "them\n",
           us.wall * 1e3, us.cpu * 1e3, (double)us.bytes / 1e6);
    printf("  peak memory              %8.1f MB\n", (double)us.peak_kb / 1024);
    return us.bytes == 0;
}

/* ---- on the screen ---- */

/* Reads until the terminal is given these bytes, or for so long nothing. Returns false if they did not come. */
static bool read_until(int fd, const char *sign, int quiet_ms)
{
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    char bytes[8192];
    size_t kept = 0;

    while (poll(&wait, 1, quiet_ms) > 0) {
        ssize_t n = read(fd, bytes + kept, sizeof bytes - kept);

        if (n <= 0)
            return false;
        size_t have = kept + (size_t)n;

        if (sign && memmem(bytes, have, sign, strlen(sign)))
            return true;
        kept = have < 3 ? have : 3;
        memmove(bytes, bytes + have - kept, kept);
    }
    return false;
}

static int first_on_screen(char **argv, int rounds)
{
    static const char times[] = "\xc3\x97"; /* "3x" before the line of a hit, and nowhere else */
    struct winsize size = { .ws_row = ROWS, .ws_col = COLS };
    double titles = 0, hit = 0, stop = 0;
    bool found = true;

    for (; rounds > 0; rounds--) {
        int fd;
        pid_t pid = forkpty(&fd, NULL, NULL, &size);

        bench_need(pid >= 0, "forkpty");
        if (pid == 0) {
            execl(argv[1], argv[1], "--all", (char *)NULL);
            _exit(127);
        }
        read_until(fd, NULL, START_QUIET_MS);
        double begin = bench_now();

        /* the baseline: the same word in the titles only */
        bench_need(write(fd, common, strlen(common)) == (ssize_t)strlen(common), "type");
        found &= read_until(fd, "\033", MOST_MS);
        titles = titles == 0 || bench_now() - begin < titles ? bench_now() - begin : titles;
        read_until(fd, NULL, START_QUIET_MS);
        bench_need(write(fd, "\025//", 3) == 3, "type");
        read_until(fd, NULL, START_QUIET_MS);
        begin = bench_now();

        bench_need(write(fd, common, strlen(common)) == (ssize_t)strlen(common), "type");
        found &= read_until(fd, times, MOST_MS);
        double now = bench_now();

        hit = hit == 0 || now - begin < hit ? now - begin : hit;
        read_until(fd, NULL, 0);
        begin = bench_now();
        bench_need(write(fd, "\033", 1) == 1, "type");
        found &= read_until(fd, "\033", MOST_MS);
        now = bench_now();
        stop = stop == 0 || now - begin < stop ? now - begin : stop;
        kill(pid, SIGTERM);
        read_until(fd, NULL, START_QUIET_MS);
        waitpid(pid, NULL, 0);
        close(fd);
    }
    printf("search: on the screen\n  typed as a filter        %8.1f ms\n"
           "  typed to the first hit   %8.1f ms  %.2fx\n"
           "  the first hit            %8.1f ms  %.2fx %d ms\n"
           "  Esc to the next frame    %8.1f ms\n",
           titles * 1e3, hit * 1e3, hit / titles, hit * 1e3, hit * 1e3 / HIT_MS, HIT_MS,
           stop * 1e3);
    return !found;
}

int main(int argc, char **argv)
{
    static const struct race races[] = {
        { "a word that nobody said", "zebrafish", "--count", false },
        { "a word in most rows", common, "--count", true },
        { "the same, until the first match", common, "--sessions", true },
        { "a word that nobody said, by session", "zebrafish", "--sessions", false },
    };
    int failed = 0, rounds = argc > 3 ? atoi(argv[3]) : 5;

    if (argc < 3) {
        fputs("usage: bench_search REPRISE CONFIG_DIR [ROUNDS]\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < sizeof races / sizeof *races; i++)
        failed |= race(&races[i], argc > 4 ? argv[4] : "search", argv, has_rg(), rounds);
    if (argc > 4)
        return failed;
    setenv("CLAUDE_CONFIG_DIR", argv[2], 1);
    setenv("HOME", argv[2], 1);
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    failed |= race_first_hit(argv, has_rg(), rounds);
    failed |= all_hits(argv);
    failed |= first_on_screen(argv, rounds);
    return failed;
}
