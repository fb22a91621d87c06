/* The whole process `reprise search --count` over a store against `rg -c` over the same files, or `grep -rc` where there is
 * no rg: for a word that is in no text, for one that is in almost every row, and until the first match of each session.
 *
 *   bench_search REPRISE CONFIG_DIR [ROUNDS]
 */
#include <stdbool.h>
#include <string.h>

#include "../bench.h"
#include "../run.h"

static bool has_rg(void)
{
    return system("command -v rg >/dev/null 2>&1") == 0;
}

struct race {
    const char *title, *word, *option;
    bool found; /* the word is in the corpus */
};

static int race(const struct race *r, char **argv, bool rg, int rounds)
{
    struct bench_time ours = { 0 }, theirs = { 0 };
    const char *search[] = { argv[1], "search", "--all", "--json", r->option, r->word, NULL };
    const char *with_rg[] = { "rg", "-c", "--no-ignore", r->word, argv[2], NULL };
    const char *with_grep[] = { "grep", "-rc", r->word, argv[2], NULL };
    struct run us = { .argv = search, .config = argv[2] };
    struct run them = { .argv = rg ? with_rg : with_grep, .discard = true, .may_fail = true };

    for (; rounds > 0; rounds--) {
        run_program(&them);
        bench_keep_best(&theirs, them.wall, them.cpu);
        run_program(&us);
        bench_keep_best(&ours, us.wall, us.cpu);
    }
    printf("search: %s, best of the rounds\n", r->title);
    printf("  %-24s %8.1f ms (cpu %8.1f)\n", rg ? "rg -c" : "grep -rc", theirs.wall * 1e3,
           theirs.cpu * 1e3);
    printf("  search %-17s %8.1f ms (cpu %8.1f)  %.2fx\n", r->option, ours.wall * 1e3,
           ours.cpu * 1e3, ours.wall / theirs.wall);
    printf("  peak memory              %8.1f MB, %zu sessions\n", (double)us.peak_kb / 1024,
           us.values);
    return (us.values > 0) != r->found;
}

int main(int argc, char **argv)
{
    static const struct race races[] = {
        { "a word that nobody said", "zebrafish", "--count", false },
        { "a word in most rows", "function", "--count", true },
        { "the same, until the first match", "function", "--sessions", true },
    };
    int failed = 0;

    if (argc < 3) {
        fputs("usage: bench_search REPRISE CONFIG_DIR [ROUNDS]\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < sizeof races / sizeof *races; i++)
        failed |= race(&races[i], argv, has_rg(), argc > 3 ? atoi(argv[3]) : 5);
    return failed;
}
