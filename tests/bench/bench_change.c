/* Changes of sessions, each the whole process, durable and undoable:
 *
 *   rename and append        of a session of 2 GB against one of 2 KB: neither may depend on the size
 *   tag                      the same. A tag is added to those that the session has, and only reading the whole log
 *                            shows that there are none if none is near its end: the first tag costs that, once
 *   delete           many sessions to the trash of the same file system against `mv` of the same files
 *   move             the same sessions to the folder of another directory, against the same `mv`
 *
 *   bench_change REPRISE DIR SESSIONS [ROUNDS]
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "run.h"

#define SMALL "01234567-89ab-4cde-8f01-000000000001"
#define LARGE "01234567-89ab-4cde-8f01-000000000002"
#define ROW                                                                                        \
    "{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\"message\":{\"role\":\"user\"," \
    "\"content\":\"%s\"},\"uuid\":\"11111111-2222-4333-8444-%012d\",\"timestamp\":"                \
    "\"2026-03-01T10:00:00.000Z\",\"cwd\":\"/srv/app\",\"sessionId\":\"%s\"}\n"
enum { SMALL_ROWS = 8 };
static const off_t LARGE_BYTES = (off_t)2 << 30;

struct place {
    char config[4096], folder[4200], away[4200];
};

static void session_path(const struct place *p, const char *id, char out[4300])
{
    snprintf(out, 4300, "%s/%s.jsonl", p->folder, id);
}

/* Rows at both ends; a large session has a hole between them. */
static void session_put_on_disk(const struct place *p, const char *id, off_t size)
{
    char path[4300];

    session_path(p, id, path);
    FILE *out = fopen(path, "w");

    bench_need(out != NULL, path);
    for (int i = 0; i < SMALL_ROWS / 2; i++)
        fprintf(out, ROW, "the beginning", i, id);
    fflush(out);
    if (size)
        bench_need(ftruncate(fileno(out), size) == 0 && fseeko(out, size - 1, SEEK_SET) == 0, path);
    if (size)
        fputc('\n', out);
    for (int i = SMALL_ROWS / 2; i < SMALL_ROWS; i++)
        fprintf(out, ROW, "the end", i, id);
    bench_need(fclose(out) == 0, path);
}

static void place_make(struct place *p, const char *dir, const char *name)
{
    char projects[4200];

    snprintf(p->config, sizeof p->config, "%.4000s/%s", dir, name);
    snprintf(projects, sizeof projects, "%s/projects", p->config);
    snprintf(p->folder, sizeof p->folder, "%s/projects/-srv-app", p->config);
    snprintf(p->away, sizeof p->away, "%s/away", p->config);
    bench_need(mkdir(p->config, 0700) == 0 && mkdir(projects, 0700) == 0 &&
                   mkdir(p->folder, 0700) == 0 && mkdir(p->away, 0700) == 0,
               p->config);
}

static void time_one(const struct place *p, const char *reprise, const char *what, const char *id,
                     const char *text, struct bench_time *best)
{
    const char *argv[] = { reprise, what, id, text, NULL };
    struct run r = { .argv = argv, .config = p->config, .discard = true };
    int input = dup(STDIN_FILENO), rows = strcmp(what, "append") == 0 ? open(text, O_RDONLY) : -1;

    if (rows >= 0) {
        argv[3] = NULL;
        bench_need(dup2(rows, STDIN_FILENO) >= 0 && close(rows) == 0, text);
    }
    run_program(&r);
    bench_need(dup2(input, STDIN_FILENO) >= 0 && close(input) == 0, "standard input");
    bench_keep_best(best, r.wall, r.cpu);
}

/* The rows that an append adds. They have no uuid of the caller, so the file is not searched for it. */
static void rows_make(const struct place *p, char path[4300])
{
    snprintf(path, 4300, "%s/rows", p->config);
    FILE *out = fopen(path, "w");

    bench_need(out != NULL, path);
    fputs("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go on\"}}\n", out);
    bench_need(fclose(out) == 0, path);
}

static void bench_one_row(const struct place *p, const char *reprise, const char *what, int rounds)
{
    struct bench_time small = { 0 }, large = { 0 };

    for (int i = 0; i < rounds; i++) {
        char text[4300];

        if (strcmp(what, "append") == 0)
            rows_make(p, text);
        else
            snprintf(text, sizeof text, "round %d", i);
        time_one(p, reprise, what, SMALL, text, &small);
        time_one(p, reprise, what, LARGE, text, &large);
    }
    printf("  %-6s 2 KB              %8.1f ms (cpu %8.1f)\n", what, small.wall * 1e3,
           small.cpu * 1e3);
    printf("  %-6s 2 GB              %8.1f ms (cpu %8.1f)  %.2fx that of 2 KB\n", what,
           large.wall * 1e3, large.cpu * 1e3, large.wall / small.wall);
}

/* ---- deleting ---- */

struct crowd {
    struct place place;
    int n;
    char (*id)[40];
    const char **argv; /* room for a command and its options around the names */
};

static void crowd_make(struct crowd *c, const char *dir, int n)
{
    *c = (struct crowd){ .n = n,
                         .id = calloc((size_t)n, sizeof *c->id),
                         .argv = calloc((size_t)n + 8, sizeof *c->argv) };
    place_make(&c->place, dir, "crowd");
    bench_need(c->id && c->argv, "memory");
    for (int i = 0; i < n; i++) {
        snprintf(c->id[i], sizeof *c->id, "01234567-89ab-4cde-8f01-1%011d", i);
        session_put_on_disk(&c->place, c->id[i], 0);
    }
}

static void mv(struct crowd *c, const char *from, const char *to, struct bench_time *best)
{
    size_t n = 0;

    c->argv[n++] = "mv";
    c->argv[n++] = "-t";
    c->argv[n++] = to;
    for (int i = 0; i < c->n; i++) {
        char *path = malloc(strlen(from) + 64);

        bench_need(path != NULL, "memory");
        snprintf(path, strlen(from) + 64, "%s/%s.jsonl", from, c->id[i]);
        c->argv[n++] = path;
    }
    c->argv[n] = NULL;
    struct run r = { .argv = c->argv, .discard = true };

    run_program(&r);
    if (best)
        bench_keep_best(best, r.wall, r.cpu);
    for (int i = 0; i < c->n; i++)
        free((char *)c->argv[3 + i]);
}

/* Runs the command in c->argv, and undoes it. */
static void there_and_back(struct crowd *c, const char *reprise, struct bench_time *best,
                           struct bench_time *back)
{
    const char *undo[] = { reprise, "undo", "--all", NULL };
    struct run r = { .argv = c->argv, .config = c->place.config, .discard = true };
    struct run u = { .argv = undo, .config = c->place.config, .discard = true };

    run_program(&r);
    bench_keep_best(best, r.wall, r.cpu);
    run_program(&u);
    bench_keep_best(back, u.wall, u.cpu);
}

static void delete_all(struct crowd *c, const char *reprise, struct bench_time *best,
                       struct bench_time *back)
{
    size_t n = 0;

    c->argv[n++] = reprise;
    c->argv[n++] = "delete";
    for (int i = 0; i < c->n; i++)
        c->argv[n++] = c->id[i];
    c->argv[n] = NULL;
    there_and_back(c, reprise, best, back);
}

static void move_all(struct crowd *c, const char *reprise, struct bench_time *best,
                     struct bench_time *back)
{
    size_t n = 0;

    c->argv[n++] = reprise;
    c->argv[n++] = "move";
    c->argv[n++] = "/srv/app";
    c->argv[n++] = c->place.away;
    c->argv[n++] = "--apply";
    c->argv[n] = NULL;
    there_and_back(c, reprise, best, back);
}

static void print_times(const char *what, struct bench_time ours, struct bench_time theirs)
{
    printf("  %-24s %8.1f ms (cpu %8.1f)  %.2fx mv\n", what, ours.wall * 1e3, ours.cpu * 1e3,
           ours.wall / theirs.wall);
}

static void bench_many(const char *reprise, const char *dir, int n, int rounds)
{
    struct bench_time theirs = { 0 }, gone = { 0 }, back = { 0 }, moved = { 0 }, home = { 0 };
    struct crowd c;

    crowd_make(&c, dir, n);
    for (int i = 0; i < rounds; i++) {
        mv(&c, c.place.folder, c.place.away, &theirs);
        mv(&c, c.place.away, c.place.folder, NULL);
        delete_all(&c, reprise, &gone, &back);
        move_all(&c, reprise, &moved, &home);
    }
    printf("  mv of %d sessions      %8.1f ms (cpu %8.1f)\n", n, theirs.wall * 1e3,
           theirs.cpu * 1e3);
    print_times("delete to the trash", gone, theirs);
    print_times("undo of that", back, theirs);
    print_times("move to another project", moved, theirs);
    print_times("undo of the move", home, theirs);
    free(c.id);
    free(c.argv);
}

int main(int argc, char **argv)
{
    int sessions = argc > 3 ? atoi(argv[3]) : 0, rounds = argc > 4 ? atoi(argv[4]) : 5;
    struct place p;

    if (sessions <= 0) {
        fputs("usage: bench_change REPRISE DIR SESSIONS [ROUNDS]\n", stderr);
        return 2;
    }
    place_make(&p, argv[2], "sizes");
    session_put_on_disk(&p, SMALL, 0);
    session_put_on_disk(&p, LARGE, LARGE_BYTES);
    printf("changes, best of the rounds\n");
    bench_one_row(&p, argv[1], "rename", rounds);
    bench_one_row(&p, argv[1], "tag", rounds);
    bench_one_row(&p, argv[1], "append", rounds);
    bench_many(argv[1], argv[2], sessions, rounds);
    return 0;
}
