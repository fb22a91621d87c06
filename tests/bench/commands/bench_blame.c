/* The whole process `reprise blame` over a store against `rg -c` for the file's name over the same files, or `grep -rc`
 * where there is no rg: for a file that no session names, and for one that tools of many sessions name.
 *
 *   bench_blame REPRISE CONFIG_DIR [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../bench.h"
#include "../run.h"

static bool has_rg(void)
{
    return system("command -v rg >/dev/null 2>&1") == 0;
}

/* A file of a few lines; its name is all that counts. */
static bool write_file(const char *path)
{
    FILE *f = fopen(path, "w");

    if (!f)
        return false;
    fputs("one\ntwo\nthree\n", f);
    return fclose(f) == 0;
}

static int race(const char *title, const char *name, char **argv, bool rg, int rounds)
{
    struct bench_time ours = { 0 }, theirs = { 0 };
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", argv[2], name);
    const char *blame[] = { argv[1], "blame", "--json", path, NULL };
    const char *with_rg[] = { "rg", "-c", "--no-ignore", "-F", name, argv[2], NULL };
    const char *with_grep[] = { "grep", "-rcF", name, argv[2], NULL };
    struct run us = { .argv = blame, .config = argv[2] };
    struct run them = { .argv = rg ? with_rg : with_grep, .may_fail = true };

    if (!write_file(path))
        return 1;
    for (; rounds > 0; rounds--) {
        run_program(&them);
        bench_keep_best(&theirs, them.wall, them.cpu);
        run_program(&us);
        bench_keep_best(&ours, us.wall, us.cpu);
    }
    unlink(path);
    printf("blame: %s, best of the rounds\n", title);
    printf("  %-24s %8.1f ms (cpu %8.1f)\n", rg ? "rg -c" : "grep -rc", theirs.wall * 1e3,
           theirs.cpu * 1e3);
    printf("  %-24s %8.1f ms (cpu %8.1f)  %.2fx\n", "reprise blame", ours.wall * 1e3,
           ours.cpu * 1e3, ours.wall / theirs.wall);
    printf("  peak memory              %8.1f MB\n", (double)us.peak_kb / 1024);
    return us.bytes == 0;
}

int main(int argc, char **argv)
{
    int rounds = argc > 3 ? atoi(argv[3]) : 5, failed;

    if (argc < 3) {
        fputs("usage: bench_blame REPRISE CONFIG_DIR [ROUNDS]\n", stderr);
        return 2;
    }
    failed = race("a file that no session names", "zebrafish.c", argv, has_rg(), rounds);
    return race("a word in most rows as its name", "function", argv, has_rg(), rounds) | failed;
}
