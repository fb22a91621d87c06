/* The whole process `reprise messages ID --limit 20` on a large transcript against `cat` of it: finding the
 * conversation takes one pass over the file, however few messages are asked for.
 *
 *   bench_messages REPRISE CONFIG_DIR FILE [ROUNDS]     FILE: CONFIG_DIR/projects/<project>/<ID>.jsonl
 */
#include <string.h>

#include "bench.h"
#include "run.h"

enum { MESSAGES = 20 };

static void id_of(const char *path, char id[64])
{
    const char *name = strrchr(path, '/');

    snprintf(id, 64, "%s", name ? name + 1 : path);
    id[strcspn(id, ".")] = '\0';
}

int main(int argc, char **argv)
{
    struct bench_time ours = { 0 }, cat = { 0 };
    char id[64];

    if (argc < 4) {
        fputs("usage: bench_messages REPRISE CONFIG_DIR FILE [ROUNDS]\n", stderr);
        return 2;
    }
    id_of(argv[3], id);
    const char *messages[] = { argv[1], "messages", id, "--limit", "20", "--json", NULL };
    const char *read_it[] = { "cat", argv[3], NULL };
    struct run r = { .argv = messages, .config = argv[2] };
    struct run base = { .argv = read_it, .discard = true };

    for (int round = argc > 4 ? atoi(argv[4]) : 5; round > 0; round--) {
        run_program(&base);
        bench_keep_best(&cat, base.wall, base.cpu);
        run_program(&r);
        bench_keep_best(&ours, r.wall, r.cpu);
    }
    printf("messages: %s, best of the rounds\n", argv[3]);
    printf("  cat                      %8.1f ms (cpu %8.1f)\n", cat.wall * 1e3, cat.cpu * 1e3);
    printf("  messages --limit 20      %8.1f ms (cpu %8.1f)  %.2fx cat\n", ours.wall * 1e3,
           ours.cpu * 1e3, ours.wall / cat.wall);
    printf("  peak memory              %8.1f MB\n", (double)r.peak_kb / 1024);
    if (r.values != MESSAGES)
        printf("  %zu messages came, not %d\n", r.values, MESSAGES);
    return r.values != MESSAGES;
}
