/* How long a plan takes for a session that tracks very many files, while a rewind of the same files waits to be
 * finished: the baseline is an eighth of the files in the same run.
 *
 *   bench_files DIR FILES [ROUNDS]
 */
#include <sys/stat.h>

#include "bench.h"
#include "store/api/store.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/record/record.h"
#include "store/systems/claude/claude.h"

enum { TIMES = 8 };

#define ID "5e550000-0000-4000-8000-000000000001"
#define POINT "00000001-0000-4000-8000-000000000000"

struct place {
    char root[2048], store[2048], history[2048], path[2048], state[2048];
    int files;
};

static void dir_make(char out[2048], const char *parent, const char *name)
{
    snprintf(out, 2048, "%.1900s/%s", parent, name);
    bench_need(mkdir(out, 0700) == 0, out);
}

static void backup_write(const char *dir, int file)
{
    char path[4200];

    snprintf(path, sizeof path, "%s/%016x@v1", dir, file);
    FILE *out = fopen(path, "w");

    bench_need(out != NULL, path);
    fprintf(out, "file %d\n", file);
    bench_need(fclose(out) == 0, path);
}

/* One prompt and its snapshot of all files. */
static void session_write(const struct place *p)
{
    FILE *out = fopen(p->path, "w");

    bench_need(out != NULL, p->path);
    fprintf(out,
            "{\"parentUuid\":null,\"isSidechain\":false,\"cwd\":\"%s\",\"sessionId\":\"" ID
            "\",\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go on\"},\"uuid\":"
            "\"" POINT "\",\"timestamp\":\"2026-03-01T10:00:00.000Z\"}\n"
            "{\"type\":\"file-history-snapshot\",\"messageId\":\"" POINT "\",\"snapshot\":{"
            "\"messageId\":\"" POINT "\",\"trackedFileBackups\":{",
            p->root);
    for (int f = 0; f < p->files; f++) {
        backup_write(p->history, f);
        fprintf(out,
                "%s\"f%d\":{\"backupFileName\":\"%016x@v1\",\"version\":1,\"backupTime\":"
                "\"2026-03-01T10:00:00.000Z\"}",
                f ? "," : "", f, f);
    }
    fprintf(out, "},\"timestamp\":\"2026-03-01T10:00:00.000Z\"},\"isSnapshotUpdate\":false}\n");
    bench_need(fclose(out) == 0, p->path);
}

/* A rewind of the same files that has to wait. */
static void record_write(const struct place *p)
{
    static const char id[] = "000001700000000-00c0ffee";
    char rewinds[2048], dir[2048], path[4200];
    struct rewind_tx tx = { .id = id,
                            .version = TX_VERSION,
                            .system = "claude",
                            .session = ID,
                            .point = POINT,
                            .project = p->root,
                            .n = (size_t)p->files };

    dir_make(rewinds, p->state, "rewinds");
    dir_make(dir, rewinds, id);
    tx.dir = dir;
    tx.entry = arena_zalloc(&tx.arena, tx.n * sizeof *tx.entry);
    for (int f = 0; f < p->files; f++) {
        snprintf(path, sizeof path, "%s/f%d", p->root, f);
        tx.entry[f] = (struct rewind_tx_entry){ .path = arena_copy(&tx.arena, slice_of(path)).p,
                                                .root = p->root,
                                                .action = REWIND_CREATE };
    }
    bench_need(!tx.arena.failed && rewind_tx_write_plan(&tx, NULL) == ERR_OK &&
                   rewind_tx_mark(&tx, TX_INTENT, NULL) == ERR_OK,
               "record");
    rewind_tx_fini(&tx);
}

static void place_make(struct place *p, const char *dir, int files)
{
    char top[2048], part[2048], folder[2048], name[32];

    p->files = files;
    snprintf(name, sizeof name, "%d", files);
    dir_make(top, dir, name);
    dir_make(p->root, top, "ws");
    dir_make(p->store, top, "cfg");
    dir_make(p->state, top, "state");
    dir_make(part, p->store, "projects");
    dir_make(folder, part, "-p");
    snprintf(p->path, sizeof p->path, "%.1900s/" ID ".jsonl", folder);
    dir_make(part, p->store, "file-history");
    dir_make(p->history, part, ID);
    session_write(p);
    record_write(p);
}

static double plan_best(const struct place *p, int rounds)
{
    struct store_env env = { .cwd = p->root, .claude_config_dir = p->store, .state_dir = p->state };
    struct session_ref ref = { .id = SLICE(ID), .path = slice_of(p->path) };
    struct store *st;
    double best = 1e9;

    bench_need(claude_ops.open(&env, p->store, &st, NULL) == ERR_OK, "open");
    ref.store = st;
    for (int i = 0; i < rounds; i++) {
        struct rewind_plan plan;
        double start = bench_now();

        bench_need(rewind_plan_make(&ref, SLICE(POINT), REWIND_CODE, &plan, NULL) == ERR_OK,
                   "plan");
        double took = bench_now() - start;

        best = took < best ? took : best;
        bench_need(plan.n == (size_t)p->files, "every file is planned");
        for (size_t f = 0; f < plan.n; f++)
            bench_need(plan.target[f].conflict, "every file is held");
        rewind_plan_fini(&plan);
    }
    store_close(st);
    return best;
}

int main(int argc, char **argv)
{
    int files = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 40000;
    int rounds = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 5;
    struct place few, many;

    bench_need(argc > 1 && files >= TIMES, "usage: bench_files DIR FILES [ROUNDS]");
    place_make(&few, argv[1], files / TIMES);
    place_make(&many, argv[1], files / TIMES * TIMES);
    double one = plan_best(&few, rounds), all = plan_best(&many, rounds);

    printf("plan beside a waiting record: %d files %.1f ms, %d files %.1f ms: %.2f times as long "
           "a file\n",
           few.files, one * 1e3, many.files, all * 1e3, all / one / TIMES);
    return 0;
}
