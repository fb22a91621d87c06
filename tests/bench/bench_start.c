/* The start of the program against that of fzf and of /bin/true; and the screen against the times in which a person notices
 * no delay: the first byte, the first row, and the slowest of a few keys.
 *
 *   bench_start process REPRISE STATIC [ROUNDS]               STATIC: the static program, or a path where there is none
 *   bench_start TITLE REPRISE CONFIG_DIR FIRST_ROW_MS [ROUNDS]
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "run.h"
#include "screen.h"

enum { STARTS_A_ROUND = 10, QUIET_MS = 600, ANSWER_MOST_MS = 20000 };
static const double FIRST_BYTE_MS = 5, KEY_MS = 8;

/* ---- the process ---- */

struct starter {
    const char *name;
    const char *const argv[3];
    struct bench_time best;
    int of; /* index of the baseline; -1: it is one */
};

static void report_process(const struct starter *all, const struct starter *s)
{
    printf("  %-24s %8.2f ms (cpu %8.2f)", s->name, s->best.wall * 1e3, s->best.cpu * 1e3);
    if (s->of >= 0)
        printf("  %.2fx", s->best.wall / all[s->of].best.wall);
    puts("");
}

static int bench_process(char **argv, int rounds)
{
    struct starter all[] = {
        { "/bin/true", { "/bin/true" }, { 0, 0 }, -1 },
        { "fzf", { "fzf", "--version" }, { 0, 0 }, -1 },
        { "reprise beside fzf", { argv[2], "--version" }, { 0, 0 }, 1 },
        { "the static one beside true", { argv[3], "--version" }, { 0, 0 }, 0 },
    };
    const size_t n = sizeof all / sizeof *all;
    bool has[] = { true, system("command -v fzf >/dev/null 2>&1") == 0, true,
                   access(argv[3], X_OK) == 0 };

    for (int i = rounds * STARTS_A_ROUND; i > 0; i--)
        for (size_t k = 0; k < n; k++) {
            struct run r = { .argv = all[k].argv, .discard = true };

            if (!has[k])
                continue;
            run_program(&r);
            bench_keep_best(&all[k].best, r.wall, r.cpu);
        }
    puts("start: a process, best of the rounds");
    for (size_t k = 0; k < n; k++)
        if (has[k] && (all[k].of < 0 || has[all[k].of]))
            report_process(all, &all[k]);
        else
            printf("  %s: not here\n", all[k].name);
    return 0;
}

/* ---- the screen ---- */

static void report_ms(const char *name, double seconds, double goal_ms)
{
    printf("  %-24s %8.2f ms  %.2fx %g ms\n", name, seconds * 1e3, seconds * 1e3 / goal_ms,
           goal_ms);
}

/* Seconds until the screen answers a key. */
static double answer(struct screen *s, const char *key)
{
    struct pollfd wait = { .fd = s->fd, .events = POLLIN };
    double begin = bench_now();

    bench_need(write(s->fd, key, strlen(key)) == (ssize_t)strlen(key), "press a key");
    bench_need(poll(&wait, 1, ANSWER_MOST_MS) == 1, "an answer to a key");
    return bench_now() - begin;
}

static int bench_screen(char **argv, int rounds)
{
    static const char *const keys[] = { "p", "a", "y", "\x7f", "\x15", "\x1b[B", "\x1b[6~" };
    enum { KEYS = sizeof keys / sizeof *keys };
    char *const picker[] = { argv[2], (char[]){ "--all" }, NULL };
    double first = 0, rows = 0, best[KEYS] = { 0 }, slowest = 0;

    setenv("CLAUDE_CONFIG_DIR", argv[3], 1);
    setenv("HOME", argv[3], 1);
    for (int i = 0; i < rounds; i++) {
        struct screen s;

        screen_start(&s, picker);
        screen_settle(&s, QUIET_MS);
        bench_need(s.rows > 0, "a row on the screen");
        first = first == 0 || s.first < first ? s.first : first;
        rows = rows == 0 || s.rows < rows ? s.rows : rows;
        for (int k = 0; k < KEYS; k++) {
            double took = answer(&s, keys[k]);

            best[k] = best[k] == 0 || took < best[k] ? took : best[k];
            screen_settle(&s, QUIET_MS / 2);
        }
        screen_stop(&s);
    }
    for (int k = 0; k < KEYS; k++)
        slowest = best[k] > slowest ? best[k] : slowest;
    printf("%s: on a terminal, best of the rounds\n", argv[1]);
    report_ms("first byte", first, FIRST_BYTE_MS);
    report_ms("first row", rows, atof(argv[4]));
    report_ms("slowest key", slowest, KEY_MS);
    return 0;
}

int main(int argc, char **argv)
{
    bool process = argc > 3 && strcmp(argv[1], "process") == 0;

    if (!process && argc < 5) {
        fputs("usage: bench_start process REPRISE STATIC [ROUNDS]\n"
              "       bench_start TITLE REPRISE CONFIG_DIR FIRST_ROW_MS [ROUNDS]\n",
              stderr);
        return 2;
    }
    return process ? bench_process(argv, argc > 4 ? atoi(argv[4]) : 5)
                   : bench_screen(argv, argc > 5 ? atoi(argv[5]) : 5);
}
