/* Go directory sessions: listing them against a bare loop that opens and reads the two files of each, and loading one
 * conversation against reading its bytes. Both sides do all of their work in this process, one after the other, and
 * must find everything.
 *
 *   bench_goat DIR SESSIONS MESSAGES [ROUNDS]     DIR is created and kept
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "in_process.h"
#include "prose.h"
#include "store/api/store.h"
#include "store/systems/goat/goat.h"

enum { END = 65536, FEW = 12 };

struct place {
    char sessions[4096];
    size_t n;
    struct store_env env;
    struct store *store;
};

static void put_metadata(const char *dir, size_t i)
{
    char path[4400];

    snprintf(path, sizeof path, "%s/metadata.json", dir);
    FILE *f = fopen(path, "w");

    bench_need(f != NULL, path);
    fprintf(
        f,
        "{\n  \"id\": \"s-%06zu\",\n  \"cwd\": \"/srv/app\",\n  \"model\": \"claude-sonnet-4-5\",\n"
        "  \"created_at\": \"2026-02-09T02:48:28.123456789Z\",\n"
        "  \"updated_at\": \"2026-02-%02zuT02:%02zu:%02zu.5Z\",\n  \"message_count\": 12,\n"
        "  \"turn_count\": 4,\n  \"total_cost_usd\": 0.0348,\n  \"exit_reason\": \"end_turn\"\n}",
        i, 1 + i % 28, i / 60 % 60, i % 60);
    fclose(f);
}

static void begin_message(FILE *f, size_t i, const char *role)
{
    fprintf(f,
            "{\"uuid\":\"48dabefd-dfeb-4490-9bd7-%012zx\",\"timestamp\":\"2026-02-09T02:48:28."
            "405055655Z\",\"message\":{\"role\":\"%s\",\"content\":\"",
            i, role);
}

static void put_messages(const char *dir, size_t n)
{
    static const char *const role[] = { "user", "assistant", "tool", "assistant" };
    char path[4400];

    snprintf(path, sizeof path, "%s/messages.jsonl", dir);
    FILE *f = fopen(path, "w");

    bench_need(f != NULL, path);
    for (size_t i = 0; i < n; i++) {
        begin_message(f, i, role[i % 4]);
        for (size_t k = 0; k < 6 + i % 40; k++)
            fputs("what was said in this turn, line by line \\u003cand\\u003e so on\\n", f);
        fputs("\"}}\n", f);
    }
    fclose(f);
}

/* The loaded conversation is as long as real ones are. */
static void put_conversation(const char *dir, size_t n)
{
    struct rng d = rng_of(n);
    struct prose *prose = prose_new(&d);
    char path[4400];

    snprintf(path, sizeof path, "%s/messages.jsonl", dir);
    FILE *f = fopen(path, "w");

    bench_need(f && prose, path);
    for (size_t i = 0; i < n; i++) {
        begin_message(f, i, prose_role(i));
        prose_message(prose, &d, prose_role(i), f);
        fputs("\"}}\n", f);
    }
    bench_need(fclose(f) == 0, path);
    prose_free(prose);
}

static void build(struct place *p, size_t messages)
{
    char dir[4200];

    for (size_t i = 0; i <= p->n; i++) {
        snprintf(dir, sizeof dir, "%s/s-%06zu", p->sessions, i);
        if (mkdir(dir, 0755) != 0)
            continue; /* left by an earlier run */
        put_metadata(dir, i);
        if (i < p->n)
            put_messages(dir, FEW);
        else
            put_conversation(dir, messages);
    }
}

/* ---- bare ---- */

static size_t read_ends(int dir, const char *name)
{
    static char bytes[END];
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    bench_need(fd >= 0 && fstat(fd, &st) == 0, name);
    ssize_t head = pread(fd, bytes, END, 0);
    ssize_t tail = st.st_size > END ? pread(fd, bytes, END, st.st_size - END) : 0;

    close(fd);
    bench_need(head >= 0 && tail >= 0, name);
    return (size_t)(head + tail);
}

static size_t bare_list(const struct place *p)
{
    DIR *dir = opendir(p->sessions);
    struct dirent *d;
    char name[512];
    size_t n = 0;

    bench_need(dir != NULL, p->sessions);
    while ((d = readdir(dir))) {
        if (d->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/metadata.json", d->d_name);
        read_ends(dirfd(dir), name);
        snprintf(name, sizeof name, "%s/messages.jsonl", d->d_name);
        read_ends(dirfd(dir), name);
        n++;
    }
    closedir(dir);
    return n;
}

/* ---- ours ---- */

/* ---- both ---- */

static int race_list(const struct place *p, int rounds)
{
    struct bench_time ours = { 0 }, theirs = { 0 };
    size_t listed = 0, there = 0;

    for (int i = 0; i < rounds; i++) {
        double wall = bench_now(), cpu = bench_cpu();

        there = bare_list(p);
        bench_keep_best(&theirs, bench_now() - wall, bench_cpu() - cpu);
        wall = bench_now(), cpu = bench_cpu();
        listed = in_process_list(p->store);
        bench_keep_best(&ours, bench_now() - wall, bench_cpu() - cpu);
    }
    printf("goat: %zu sessions, best of the rounds\n", there);
    printf("  open, pread, close       %8.2f ms (cpu %8.2f)\n", theirs.wall * 1e3,
           theirs.cpu * 1e3);
    printf("  list                     %8.2f ms (cpu %8.2f)  %.2fx\n", ours.wall * 1e3,
           ours.cpu * 1e3, ours.wall / theirs.wall);
    return listed == there;
}

int main(int argc, char **argv)
{
    struct place p = { .env = { .cwd = "/" } };

    if (argc < 4) {
        fputs("usage: bench_goat DIR SESSIONS MESSAGES [ROUNDS]\n", stderr);
        return 2;
    }
    int rounds = argc > 4 ? atoi(argv[4]) : 5;
    size_t messages = (size_t)atol(argv[3]);

    snprintf(p.sessions, sizeof p.sessions, "%s/sessions", argv[1]);
    p.n = (size_t)atol(argv[2]);
    mkdir(argv[1], 0755);
    mkdir(p.sessions, 0755);
    build(&p, messages);
    bench_need(goat_ops.open(&p.env, p.sessions, &p.store, NULL) == ERR_OK, p.sessions);
    int good = race_list(&p, rounds);
    char id[32];

    snprintf(id, sizeof id, "s-%06zu", p.n);
    good &= in_process_load(p.store, slice_of(id), rounds) == messages;
    store_close(p.store);
    return good ? 0 : 1;
}
