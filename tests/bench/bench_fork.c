/* The whole process `reprise fork ID` of a large session against `cp` of it and `sync` of the copy: both leave a
 * complete new file on disk. Each fork is undone (`reprise undo`), so that the store stays as it was.
 *
 *   bench_fork REPRISE CONFIG_DIR FILE [ROUNDS]     FILE: CONFIG_DIR/projects/<project>/<ID>.jsonl
 */
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "run.h"

static void id_of(const char *path, char id[64])
{
    const char *name = strrchr(path, '/');

    snprintf(id, 64, "%s", name ? name + 1 : path);
    id[strcspn(id, ".")] = '\0';
}

int main(int argc, char **argv)
{
    struct bench_time ours = { 0 }, theirs = { 0 };
    char id[64], copy[4200];

    if (argc < 4) {
        fputs("usage: bench_fork REPRISE CONFIG_DIR FILE [ROUNDS]\n", stderr);
        return 2;
    }
    id_of(argv[3], id);
    snprintf(copy, sizeof copy, "%.4000s/copy", argv[2]);
    const char *fork_it[] = { argv[1], "fork", id, "--json", NULL };
    const char *undo[] = { argv[1], "undo", "--all", NULL };
    const char *copy_it[] = { "sh", "-c", "cp \"$1\" \"$2\" && sync \"$2\"", "sh", argv[3],
                              copy, NULL };
    struct run r = { .argv = fork_it, .config = argv[2] };
    struct run back = { .argv = undo, .config = argv[2], .discard = true };
    struct run base = { .argv = copy_it, .discard = true };

    for (int round = argc > 4 ? atoi(argv[4]) : 3; round > 0; round--) {
        run_program(&base);
        bench_keep_best(&theirs, base.wall, base.cpu);
        bench_need(unlink(copy) == 0, copy);
        run_program(&r);
        bench_keep_best(&ours, r.wall, r.cpu);
        if (r.values != 1) {
            fputs("  the fork did not answer\n", stderr);
            return 1;
        }
        run_program(&back);
    }
    printf("fork: %s, best of the rounds\n", argv[3]);
    printf("  cp and sync              %8.1f ms (cpu %8.1f)\n", theirs.wall * 1e3,
           theirs.cpu * 1e3);
    printf("  fork, durable, undoable  %8.1f ms (cpu %8.1f)  %.2fx cp and sync\n", ours.wall * 1e3,
           ours.cpu * 1e3, ours.wall / theirs.wall);
    printf("  peak memory              %8.1f MB\n", (double)r.peak_kb / 1024);
    return 0;
}
