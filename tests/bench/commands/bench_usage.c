/* The whole process `reprise usage` over a store against `cat` of the same files, which only reads them.
 *
 *   bench_usage REPRISE CONFIG_DIR [ROUNDS]
 */
#include <stdbool.h>

#include "../bench.h"
#include "../run.h"

int main(int argc, char **argv)
{
    struct bench_time ours = { 0 }, theirs = { 0 };

    if (argc < 3) {
        fputs("usage: bench_usage REPRISE CONFIG_DIR [ROUNDS]\n", stderr);
        return 2;
    }
    const char *usage[] = { argv[1], "usage", "--all", "--by", "model", NULL };
    const char *cat[] = { "sh", "-c", "find \"$0/projects\" -name '*.jsonl' -exec cat {} +",
                          argv[2], NULL };
    struct run us = { .argv = usage, .config = argv[2] };
    struct run them = { .argv = cat, .discard = true };

    for (int rounds = argc > 3 ? atoi(argv[3]) : 5; rounds > 0; rounds--) {
        run_program(&them);
        bench_keep_best(&theirs, them.wall, them.cpu);
        run_program(&us);
        bench_keep_best(&ours, us.wall, us.cpu);
    }
    puts("usage: tokens of all sessions, best of the rounds");
    printf("  cat, all bytes           %8.1f ms (cpu %8.1f)\n", theirs.wall * 1e3,
           theirs.cpu * 1e3);
    printf("  usage                    %8.1f ms (cpu %8.1f)  %.2fx\n", ours.wall * 1e3,
           ours.cpu * 1e3, ours.wall / theirs.wall);
    printf("  peak memory              %8.1f MB, %zu bytes\n", (double)us.peak_kb / 1024, us.bytes);
    return us.bytes == 0;
}
