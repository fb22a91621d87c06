/* How long the rewind view takes to open on a session of many turns: the points, and the preview of a rewind to the
 * newest.
 *
 *   bench_turns DIR TURNS [ROUNDS]
 */
#include <string.h>
#include <sys/stat.h>

#include "bench.h"
#include "store/api/store.h"
#include "store/rewind/plan/plan.h"
#include "store/systems/claude/claude.h"

enum { FILES = 3, STEPS = 8, LINES = 200 };

#define ID "5e550000-0000-4000-8000-000000000001"

struct place {
    char root[4096], store[4096], history[4096], path[4096];
    int turns;
};

static void dir_make(const char *path)
{
    bench_need(mkdir(path, 0700) == 0, path);
}

static void file_write(const char *dir, int file, int version, const char *suffix)
{
    char path[4200];

    snprintf(path, sizeof path, "%s/%016x%s", dir, file, suffix);
    FILE *out = fopen(path, "w");

    bench_need(out != NULL, path);
    for (int i = 0; i < LINES; i++)
        fprintf(out, "line %d of file %d says something%s\n", i, file,
                i % 40 < version % 40 ? ", changed" : "");
    bench_need(fclose(out) == 0, path);
}

static void row(FILE *out, const struct place *p, int turn, int step, const char *type,
                const char *content)
{
    fprintf(
        out,
        "{\"parentUuid\":\"%08x-0000-4000-8000-%012x\",\"isSidechain\":false,\"cwd\":\"%s\","
        "\"sessionId\":\"" ID "\",\"type\":\"%s\",\"message\":{\"role\":\"%s\",\"content\":%s},"
        "\"uuid\":\"%08x-0000-4000-8000-%012x\",\"timestamp\":\"2026-03-01T10:%02d:%02d.000Z\"}\n",
        step ? turn : turn - 1, step ? step - 1 : STEPS, p->root, type, type, content, turn, step,
        turn / 60 % 60, turn % 60);
}

/* Writes a prompt, edits and commands with results of some KB, and the snapshot of all files. */
static void turn_write(FILE *out, const struct place *p, int turn)
{
    char text[3000], content[3300];

    row(out, p, turn, 0, "user", "\"Please go on with the next part\"");
    fprintf(out,
            "{\"type\":\"file-history-snapshot\",\"messageId\":\"%08x-0000-4000-8000-%012x\","
            "\"snapshot\":{\"messageId\":\"%08x-0000-4000-8000-%012x\",\"trackedFileBackups\":{",
            turn, 0, turn, 0);
    for (int f = 0; f < FILES; f++) {
        char suffix[24];

        snprintf(suffix, sizeof suffix, "@v%d", turn + 1);
        file_write(p->history, f, turn, suffix);
        fprintf(out,
                "%s\"f%d\":{\"backupFileName\":\"%016x%s\",\"version\":%d,\"backupTime\":\"2026-03-"
                "01T10:%02d:%02d.000Z\"}",
                f ? "," : "", f, f, suffix, turn + 1, turn / 60 % 60, turn % 60);
    }
    fprintf(out, "},\"timestamp\":\"2026-03-01T10:%02d:%02d.000Z\"},\"isSnapshotUpdate\":false}\n",
            turn / 60 % 60, turn % 60);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (int step = 1; step <= STEPS; step++) {
        bool call = step % 2;

        snprintf(
            content, sizeof content,
            call ? "[{\"type\":\"tool_use\",\"id\":\"t%d_%d\",\"name\":\"%s\",\"input\":{"
                   "\"command\":\"%.200s\"}}]"
                 : "[{\"type\":\"tool_result\",\"tool_use_id\":\"t%d_%d\",\"content\":\"%s%s\"}]",
            turn, call ? step : step - 1,
            call && step == 3 && turn % 2 ? "Bash"
            : call                        ? "Read"
                                          : "",
            text);
        row(out, p, turn, step, call ? "assistant" : "user", content);
    }
}

static void session_put_on_disk(struct place *p, const char *dir)
{
    char part[4200];

    snprintf(p->root, sizeof p->root, "%.4000s/ws", dir);
    snprintf(p->store, sizeof p->store, "%.4000s/cfg", dir);
    dir_make(p->root);
    dir_make(p->store);
    snprintf(part, sizeof part, "%s/projects", p->store);
    dir_make(part);
    snprintf(part, sizeof part, "%s/projects/-p", p->store);
    dir_make(part);
    snprintf(p->path, sizeof p->path, "%.4000s/" ID ".jsonl", part);
    snprintf(part, sizeof part, "%s/file-history", p->store);
    dir_make(part);
    snprintf(p->history, sizeof p->history, "%.4000s/" ID, part);
    dir_make(p->history);
    FILE *out = fopen(p->path, "w");

    bench_need(out != NULL, p->path);
    for (int turn = 1; turn <= p->turns; turn++)
        turn_write(out, p, turn);
    bench_need(fclose(out) == 0, p->path);
    for (int f = 0; f < FILES; f++) {
        char name[16], path[4200];

        snprintf(name, sizeof name, "f%d", f);
        snprintf(path, sizeof path, "%s/%s", p->root, name);
        file_write(p->root, f, p->turns + 1, "");
        char from[4200];

        snprintf(from, sizeof from, "%s/%016x", p->root, f);
        bench_need(rename(from, path) == 0, path);
    }
}

static void open_once(const struct session_ref *ref, struct place *p, double *points,
                      double *prospect)
{
    static const struct rewind_options none;
    struct checkpoint_list list = { 0 };
    struct rewind_plan plan;
    struct rewind_preview preview;
    double start = bench_now();

    bench_need(ref->store->ops->checkpoints(ref->store, ref, &list, NULL) == ERR_OK, "points");
    *points = bench_now() - start;
    bench_need(list.n == (size_t)p->turns, "every turn is a point");
    start = bench_now();
    bench_need(rewind_plan_make(ref, list.checkpoint[list.n - 1].id, REWIND_CODE, &plan, NULL) ==
                   ERR_OK,
               "plan");
    bench_need(rewind_preview(&plan, &none, &preview, NULL) == ERR_OK, "preview");
    *prospect = bench_now() - start;
    rewind_preview_fini(&preview);
    rewind_plan_fini(&plan);
    checkpoint_list_fini(&list);
}

int main(int argc, char **argv)
{
    struct place p = { .turns = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 112 };
    int rounds = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 10;
    char state[4200];

    bench_need(argc > 1, "usage: bench_turns DIR TURNS [ROUNDS]");
    session_put_on_disk(&p, argv[1]);
    snprintf(state, sizeof state, "%s/state", argv[1]);
    struct store_env env = { .cwd = p.root, .claude_config_dir = p.store, .state_dir = state };
    struct store *st;
    struct session_ref ref = { .id = SLICE(ID), .path = { p.path, strlen(p.path) } };
    double best = 1e9, best_points = 0;

    bench_need(claude_ops.open(&env, p.store, &st, NULL) == ERR_OK, "open");
    ref.store = st;
    for (int i = 0; i < rounds; i++) {
        double points, prospect;

        open_once(&ref, &p, &points, &prospect);
        if (points + prospect < best) {
            best = points + prospect;
            best_points = points;
        }
    }
    printf("%d turns: points %.1f ms, first look %.1f ms, together %.1f ms\n", p.turns,
           best_points * 1e3, (best - best_points) * 1e3, best * 1e3);
    store_close(st);
    return 0;
}
