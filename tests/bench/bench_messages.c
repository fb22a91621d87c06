/* The whole process `reprise messages ID --limit 20` on a large transcript against `cat` of it: finding the beginning of
 * the conversation takes one pass over the file, however few messages are asked for. And the newest ones, --tail 20, against
 * reading the end of the file that they are in.
 *
 *   bench_messages REPRISE CONFIG_DIR FILE [ROUNDS]     FILE: CONFIG_DIR/projects/<project>/<ID>.jsonl
 */
#include <string.h>

#include "bench.h"
#include "run.h"

enum { MESSAGES = 20 }; /* as text below, and so is the window: 256 KiB */

static void id_of(const char *path, char id[64])
{
    const char *name = strrchr(path, '/');

    snprintf(id, 64, "%s", name ? name + 1 : path);
    id[strcspn(id, ".")] = '\0';
}

int main(int argc, char **argv)
{
    struct bench_time ours = { 0 }, cat = { 0 }, newest = { 0 }, window = { 0 };
    char id[64];

    if (argc < 4) {
        fputs("usage: bench_messages REPRISE CONFIG_DIR FILE [ROUNDS]\n", stderr);
        return 2;
    }
    id_of(argv[3], id);
    const char *messages[] = { argv[1], "messages", id, "--limit", "20", "--json", NULL };
    const char *read_it[] = { "cat", argv[3], NULL };
    const char *tail[] = { argv[1], "messages", id, "--tail", "20", "--json", NULL };
    const char *read_end[] = { "tail", "-c", "262144", argv[3], NULL };
    struct run end = { .argv = tail, .config = argv[2] };
    struct run end_base = { .argv = read_end, .discard = true };
    struct run r = { .argv = messages, .config = argv[2] };
    struct run base = { .argv = read_it, .discard = true };

    for (int round = argc > 4 ? atoi(argv[4]) : 5; round > 0; round--) {
        run_program(&base);
        bench_keep_best(&cat, base.wall, base.cpu);
        run_program(&r);
        bench_keep_best(&ours, r.wall, r.cpu);
        run_program(&end_base);
        bench_keep_best(&window, end_base.wall, end_base.cpu);
        run_program(&end);
        bench_keep_best(&newest, end.wall, end.cpu);
    }
    printf("messages: %s, best of the rounds\n", argv[3]);
    printf("  cat                      %8.1f ms (cpu %8.1f)\n", cat.wall * 1e3, cat.cpu * 1e3);
    printf("  messages --limit 20      %8.1f ms (cpu %8.1f)  %.2fx cat\n", ours.wall * 1e3,
           ours.cpu * 1e3, ours.wall / cat.wall);
    printf("  peak memory              %8.1f MB\n", (double)r.peak_kb / 1024);
    printf("  tail, the last 256 KiB   %8.1f ms (cpu %8.1f)\n", window.wall * 1e3,
           window.cpu * 1e3);
    printf("  messages --tail 20       %8.1f ms (cpu %8.1f)  %.2fx tail\n", newest.wall * 1e3,
           newest.cpu * 1e3, newest.wall / window.wall);
    if (r.values != MESSAGES || end.values != MESSAGES)
        printf("  %zu and %zu messages came, not %d\n", r.values, end.values, MESSAGES);
    return r.values != MESSAGES || end.values != MESSAGES;
}
