/* Appends of a host, in this process:
 *
 *   in the background   the time that the calling thread spends on each of 1,000 rows, against a write() of each row
 *   to a large session  one row through host_append, and through a session that stays open, against write() and fsync()
 *                       of the same bytes to a file beside it
 *
 *   bench_session DIR CONFIG TRANSCRIPT [ROUNDS]
 *
 * The transcript is a session of the configuration; rows are added to it.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "lite/base/err.h"
#include "store/api/host.h"
#include "store/api/store.h"
#include "store/host/host_session.h"

enum { BACKGROUND_ROWS = 1000, ROW_BYTES = 2000 };

struct bench {
    struct store_env env;
    struct store *store;
    struct arena a;
    char state[4096], beside[4096];
    int next;
    char row[ROW_BYTES + 400];
};

static void need(enum err_code rc, const struct err *e)
{
    char line[512];

    if (!rc)
        return;
    err_format(e, line, sizeof line);
    fprintf(stderr, "bench_session: %s\n", line);
    exit(1);
}

/* The next row, with an id of its own as agents give it. */
static struct slice next_row(struct bench *b)
{
    int n = snprintf(b->row, sizeof b->row,
                     "{\"type\":\"user\",\"uuid\":\"bbbbbbbb-2222-4333-8444-%012d\",\"message\":{"
                     "\"role\":\"user\","
                     "\"content\":\"%*d\"}}",
                     b->next, ROW_BYTES, b->next);

    b->next++;
    return (struct slice){ b->row, (size_t)n };
}

static void write_beside(struct bench *b, int fd, bool sync)
{
    struct slice row = next_row(b);

    bench_need(write(fd, row.p, row.n) == (ssize_t)row.n && (!sync || fsync(fd) == 0), b->beside);
}

/* ---- in the background ---- */

static double append_in_background(struct bench *b)
{
    const struct host_session_options o = { .background = true };
    const struct host_create req = { .cwd = SLICE("/srv/app") };
    struct host_session *s;
    struct arena a = { 0 };
    struct err e = { 0 };

    need(host_session_create(b->store, &req, &o, &s, &e), &e);
    double begin = bench_now();

    for (int i = 0; i < BACKGROUND_ROWS; i++) {
        struct slice row = next_row(b);
        const struct host_append one = { .row = &row, .n = 1 };
        struct host_appended done;

        need(host_session_append(s, &one, &a, &done, &e), &e);
    }
    double spent = bench_now() - begin;

    need(host_session_close(s, &e), &e);
    arena_fini(&a);
    return spent;
}

static double write_each(struct bench *b, int fd)
{
    double begin = bench_now();

    for (int i = 0; i < BACKGROUND_ROWS; i++)
        write_beside(b, fd, false);
    return bench_now() - begin;
}

static void bench_background(struct bench *b, int fd, int rounds)
{
    struct bench_time ours = { 0 }, theirs = { 0 };

    for (int i = 0; i < rounds; i++) {
        bench_keep_best(&theirs, write_each(b, fd), 0);
        bench_keep_best(&ours, append_in_background(b), 0);
    }
    printf("  1,000 rows, write() each   %8.4f ms a row\n", theirs.wall * 1e3 / BACKGROUND_ROWS);
    printf("  the same, in the background%8.4f ms a row in the calling thread  %.2fx write()\n",
           ours.wall * 1e3 / BACKGROUND_ROWS, ours.wall / theirs.wall);
}

/* ---- to a large session ---- */

struct manner {
    const char *name;
    struct host_session *session; /* NULL: one call */
    struct bench_time best;
};

static void append_one(struct bench *b, const struct session_ref *ref, struct manner *m)
{
    struct slice row = next_row(b);
    const struct host_append one = { .row = &row, .n = 1 };
    struct host_appended done;
    struct arena a = { 0 };
    struct err e = { 0 };
    double begin = bench_now();

    need(m->session ? host_session_append(m->session, &one, &a, &done, &e)
                    : host_append(b->store, ref, &one, &a, &done, &e),
         &e);
    bench_keep_best(&m->best, bench_now() - begin, 0);
    /* A row that the transcript has from an earlier run is not written, and would count as a fast append. */
    bench_need(done.n == 1 && done.present == 0, "the row was there already");
    arena_fini(&a);
}

static void sync_one(struct bench *b, int fd, struct bench_time *best)
{
    double begin = bench_now();

    write_beside(b, fd, true);
    bench_keep_best(best, bench_now() - begin, 0);
}

static void bench_large(struct bench *b, const struct session_ref *ref, int fd, int rounds)
{
    const struct host_session_options later = { .durable = HOST_DURABLE_FLUSH };
    struct manner manner[] = { { .name = "one call" },
                               { .name = "open session" },
                               { .name = "open, synced later" } };
    struct bench_time theirs = { 0 };
    struct stat st;
    struct err e = { 0 };

    bench_need(stat(ref->path.p, &st) == 0, ref->path.p);
    need(host_session_open(b->store, ref, NULL, &manner[1].session, &e), &e);
    need(host_session_open(b->store, ref, &later, &manner[2].session, &e), &e);
    for (size_t m = 0; m < 3; m++)
        for (int i = 0; i < rounds * 5; i++) {
            append_one(b, ref, &manner[m]);
            sync_one(b, fd, &theirs);
        }
    printf("  a row, write() and fsync() %8.3f ms\n", theirs.wall * 1e3);
    for (size_t m = 0; m < 3; m++) {
        printf("  to %4lld MB, %-19s%8.3f ms  %.2fx that\n", (long long)st.st_size / 1000000,
               manner[m].name, manner[m].best.wall * 1e3, manner[m].best.wall / theirs.wall);
        need(host_session_close(manner[m].session, &e), &e);
    }
}

static void find_session(struct bench *b, const char *transcript, struct session_ref *ref)
{
    const struct scope everywhere = { .all = true };
    const char *name = strrchr(transcript, '/');
    struct err e = { 0 };

    bench_need(name && strlen(name) > 6, transcript);
    need(b->store->ops->find(b->store, &everywhere,
                             (struct slice){ name + 1, strlen(name + 1) - strlen(".jsonl") }, &b->a,
                             ref, &e),
         &e);
}

int main(int argc, char **argv)
{
    static struct bench b;
    int rounds = argc > 4 ? atoi(argv[4]) : 5;
    struct session_ref ref;
    struct err e = { 0 };

    if (argc < 4) {
        fputs("usage: bench_session DIR CONFIG TRANSCRIPT [ROUNDS]\n", stderr);
        return 2;
    }
    snprintf(b.state, sizeof b.state, "%.4000s/state", argv[1]);
    snprintf(b.beside, sizeof b.beside, "%.4000s/beside", argv[2]);
    b.env = (struct store_env){ .cwd = "/", .state_dir = b.state, .now_ms = 1700000000000 };
    need(store_system(SLICE("claude"))->open(&b.env, argv[2], &b.store, &e), &e);
    find_session(&b, argv[3], &ref);
    int fd = open(b.beside, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);

    bench_need(fd >= 0, b.beside);
    printf("appends of a host, best of the rounds\n");
    bench_background(&b, fd, rounds);
    bench_large(&b, &ref, fd, rounds);
    close(fd);
    store_close(b.store);
    arena_fini(&b.a);
    return 0;
}
