/* ExAthena: many sessions listed against a bare loop over the same files (open, fstat, both ends, close), once in this
 * process as the loop is, and once as the whole process `reprise list --json` with its start and its output; and loading
 * a session of 1,000 messages against reading its bytes.
 *
 *   bench_athena REPRISE EMPTY_DIR [SESSIONS [ROUNDS]]
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "in_process.h"
#include "prose.h"
#include "run.h"
#include "store/api/store.h"
#include "store/systems/exathena/exathena.h"

enum { END = 65536, FEW = 40, MANY = 400, MESSAGES = 1000, TEXT = 400 };

static void begin_event(FILE *f, size_t i, bool user)
{
    fprintf(f, "{\"data\":{\"message\":{%s\"role\":\"%s\",\"content\":\"%zu ",
            user ? "" : "\"name\":null,\"tool_calls\":null,\"tool_results\":null,",
            user ? "user" : "assistant", i);
}

static void end_event(FILE *f, size_t i, bool user)
{
    fprintf(
        f,
        "\"}},\"ts\":\"2026-11-21T20:%02zu:%02zu.%06zuZ\",\"event\":\"%s\",\"uuid\":\"e%010zu\"}\n",
        i / 60 % 60, i % 60, i, user ? "user_message" : "assistant_message", i);
}

static void put_event(FILE *f, size_t i, bool user)
{
    static const char text[] = "The gate creaks, and the hinge wants oil. ";

    begin_event(f, i, user);
    for (size_t n = 0; n < TEXT; n += sizeof text - 1)
        fputs(text, f);
    end_event(f, i, user);
}

static void put_session(const char *dir, const char *name, size_t events)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/.exathena/sessions/%s.jsonl", dir, name);
    FILE *f = fopen(path, "w");

    bench_need(f != NULL, path);
    for (size_t i = 0; i < events; i++)
        put_event(f, i, i % 2 == 0);
    bench_need(fclose(f) == 0, path);
}

/* The loaded session is as long as real ones are. */
static void put_long(const char *dir)
{
    struct rng d = rng_of(MESSAGES);
    struct prose *prose = prose_new(&d);
    char path[4096];

    snprintf(path, sizeof path, "%s/.exathena/sessions/long.jsonl", dir);
    FILE *f = fopen(path, "w");

    bench_need(f && prose, path);
    for (size_t i = 0; i < MESSAGES; i++) {
        bool user = strcmp(prose_role(i), "user") == 0;

        begin_event(f, i, user);
        prose_message(prose, &d, prose_role(i), f);
        end_event(f, i, user);
    }
    bench_need(fclose(f) == 0, path);
    prose_free(prose);
}

static void make(const char *dir, size_t sessions)
{
    char name[4096];

    snprintf(name, sizeof name, "%s/.exathena", dir);
    bench_need(mkdir(name, 0755) == 0, name);
    snprintf(name, sizeof name, "%s/.exathena/sessions", dir);
    bench_need(mkdir(name, 0755) == 0, name);
    for (size_t i = 1; i < sessions; i++) {
        snprintf(name, sizeof name, "session-%06zu", i);
        put_session(dir, name, i % 10 ? FEW : MANY);
    }
    put_long(dir);
}

/* ---- the loop ---- */

static size_t bare_loop(const char *dir)
{
    static char ends[2][END];
    char path[4096];
    struct dirent *d;
    size_t n = 0;

    snprintf(path, sizeof path, "%s/.exathena/sessions", dir);
    DIR *sessions = opendir(path);

    bench_need(sessions != NULL, path);
    while ((d = readdir(sessions))) {
        struct stat st;

        if (d->d_name[0] == '.')
            continue;
        int fd = openat(dirfd(sessions), d->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

        bench_need(fd >= 0 && fstat(fd, &st) == 0, d->d_name);
        bench_need(pread(fd, ends[0], END, 0) >= 0, d->d_name);
        if (st.st_size > END)
            bench_need(pread(fd, ends[1], END, st.st_size - END) >= 0, d->d_name);
        close(fd);
        n++;
    }
    closedir(sessions);
    return n;
}

/* All of them must list the same sessions. */
static bool race_lists(const char *dir, struct store *st, struct run *run, int rounds)
{
    struct bench_time bare = { 0 }, ours = { 0 }, program = { 0 };
    size_t there = 0, listed = 0;

    for (int i = 0; i < rounds; i++) {
        double wall = bench_now(), cpu = bench_cpu();

        there = bare_loop(dir);
        bench_keep_best(&bare, bench_now() - wall, bench_cpu() - cpu);
        wall = bench_now();
        cpu = bench_cpu();
        listed = in_process_list(st);
        bench_keep_best(&ours, bench_now() - wall, bench_cpu() - cpu);
        run_program(run);
        bench_keep_best(&program, run->wall, run->cpu);
    }
    printf("exathena: %zu sessions, best of the rounds\n", there);
    printf("  bare loop, both ends     %8.1f ms (cpu %8.1f)\n", bare.wall * 1e3, bare.cpu * 1e3);
    printf("  list                     %8.1f ms (cpu %8.1f)  %.2fx the loop\n", ours.wall * 1e3,
           ours.cpu * 1e3, ours.wall / bare.wall);
    printf("  list --json, the program %8.1f ms (cpu %8.1f)  %.2fx the loop\n", program.wall * 1e3,
           program.cpu * 1e3, program.wall / bare.wall);
    return listed == there && run->values == there;
}

int main(int argc, char **argv)
{
    char path[4096];
    struct store *st;

    if (argc < 3) {
        fputs("usage: bench_athena REPRISE EMPTY_DIR [SESSIONS [ROUNDS]]\n", stderr);
        return 2;
    }
    int rounds = argc > 4 ? atoi(argv[4]) : 5;
    const struct store_env env = { .home = argv[2], .cwd = argv[2] };

    make(argv[2], argc > 3 ? (size_t)atoi(argv[3]) : 1000);
    bench_need(!exathena_ops.open(&env, argv[2], &st, NULL), argv[2]);
    snprintf(path, sizeof path, "exathena:%s", argv[2]);
    const char *list[] = { argv[1], "list", "--json", "--all", "--store", path, NULL };
    struct run run = { .argv = list, .config = argv[2] };
    bool listed = race_lists(argv[2], st, &run, rounds);
    bool loaded = in_process_load(st, SLICE("long"), rounds) == MESSAGES;

    store_close(st);
    return listed && loaded ? 0 : 1;
}
