/* The whole process `reprise export` on a large transcript: JSONL against `cat` of it, Markdown, HTML and text against
 * `reprise messages`, which reads and takes apart the same rows.
 *
 *   bench_export REPRISE CONFIG_DIR FILE [ROUNDS]     FILE: CONFIG_DIR/projects/<project>/<ID>.jsonl
 */
#include <string.h>
#include <sys/stat.h>

#include "../bench.h"
#include "../run.h"

enum { OURS = 5 };

static void id_of(const char *path, char id[64])
{
    const char *name = strrchr(path, '/');

    snprintf(id, 64, "%s", name ? name + 1 : path);
    id[strcspn(id, ".")] = '\0';
}

/* One program of the comparison. */
struct contestant {
    const char *name;
    const char *argv[8];
    struct bench_time best;
    struct run run;
};

static void time_program(struct contestant *c, const char *config)
{
    c->run = (struct run){ .argv = c->argv, .config = config };
    run_program(&c->run);
    bench_keep_best(&c->best, c->run.wall, c->run.cpu);
}

int main(int argc, char **argv)
{
    char id[64];
    struct stat st;

    if (argc < 4) {
        fputs("usage: bench_export REPRISE CONFIG_DIR FILE [ROUNDS]\n", stderr);
        return 2;
    }
    id_of(argv[3], id);
    bench_need(stat(argv[3], &st) == 0, argv[3]);
    struct contestant cat = { .name = "cat", .argv = { "cat", argv[3] } };
    struct contestant messages = { .name = "messages", .argv = { argv[1], "messages", id } };
    struct contestant ours[OURS] = {
        { .name = "jsonl", .argv = { argv[1], "export", id, "--format", "jsonl" } },
        { .name = "md", .argv = { argv[1], "export", id, "--format", "md" } },
        { .name = "html", .argv = { argv[1], "export", id, "--format", "html" } },
        { .name = "txt", .argv = { argv[1], "export", id, "--format", "txt" } },
        { .name = "md --redact", .argv = { argv[1], "export", id, "--format", "md", "--redact" } },
    };

    for (int round = argc > 4 ? atoi(argv[4]) : 3; round > 0; round--) {
        time_program(&cat, NULL);
        time_program(&messages, argv[2]);
        for (int i = 0; i < OURS; i++)
            time_program(&ours[i], argv[2]);
    }
    printf("export: %s, %.0f MB, best of the rounds\n", argv[3], (double)st.st_size / 1e6);
    printf("  cat            %8.1f ms\n", cat.best.wall * 1e3);
    printf("  messages       %8.1f ms  peak %6.1f MB\n", messages.best.wall * 1e3,
           (double)messages.run.peak_kb / 1024);
    for (int i = 0; i < OURS; i++)
        printf("  %-12s   %8.1f ms  peak %6.1f MB  %6.2fx cat  %6.2fx messages\n", ours[i].name,
               ours[i].best.wall * 1e3, (double)ours[i].run.peak_kb / 1024,
               ours[i].best.wall / cat.best.wall, ours[i].best.wall / messages.best.wall);
    return ours[0].run.bytes == (size_t)st.st_size ? 0 : 1;
}
