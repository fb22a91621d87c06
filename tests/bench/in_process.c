#include "in_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "store/query/listing.h"

static enum err_code count_row(const struct session_row *row, void *arg, struct err *e)
{
    size_t *n = arg;

    (void)row;
    (void)e;
    ++*n;
    return ERR_OK;
}

size_t in_process_list(struct store *st)
{
    const struct listing_query q = { .scope.all = true,
                                     .since_ms = TIME_NONE,
                                     .before_ms = TIME_NONE };
    struct listing *l;
    size_t n = 0;

    bench_need(listing_open(&(struct store *const){ st }, 1, &q, &l, NULL) == ERR_OK, "list");
    bench_need(listing_each(l, count_row, &n, NULL) == ERR_OK, "list");
    listing_close(l);
    return n;
}

/* ---- one session ---- */

/* Reads the file through one buffer, which is the least that any reader of its bytes does. */
static void read_through(const char *path)
{
    static char bytes[1 << 20];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    bench_need(fd >= 0, path);
    while ((n = read(fd, bytes, sizeof bytes)) > 0)
        ;
    bench_need(n == 0, path);
    close(fd);
}

/* Reads the file into memory of its own, as a reader that needs it afterwards does. */
static void read_whole(const char *path, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    bench_need(fd >= 0 && bytes != MAP_FAILED && read(fd, bytes, size) == (ssize_t)size, path);
    munmap(bytes, size);
    close(fd);
}

static size_t load(struct store *st, const struct session_ref *ref)
{
    struct transcript *t;

    bench_need(st->ops->load(st, ref, NULL, &t, NULL) == ERR_OK, "load");
    size_t n = t->n;

    transcript_free(t);
    return n;
}

static void print_load(const char *what, const struct bench_time *t, const struct bench_time *ours)
{
    printf("  %-24s %8.3f ms (cpu %8.3f)", what, t->wall * 1e3, t->cpu * 1e3);
    if (t != ours)
        printf("  load: %.2fx", ours->wall / t->wall);
    putchar('\n');
}

size_t in_process_load(struct store *st, struct slice id, int rounds)
{
    const struct scope everywhere = { .all = true };
    struct bench_time ours = { 0 }, through = { 0 }, whole = { 0 };
    struct arena a = { 0 };
    struct session_ref ref;
    size_t n = 0;

    bench_need(st->ops->find(st, &everywhere, id, &a, &ref, NULL) == ERR_OK, "find");
    for (int i = 0; i < 10 * rounds; i++) {
        double wall = bench_now(), cpu = bench_cpu();

        read_through(ref.path.p);
        bench_keep_best(&through, bench_now() - wall, bench_cpu() - cpu);
        wall = bench_now(), cpu = bench_cpu();
        read_whole(ref.path.p, (size_t)ref.file.size);
        bench_keep_best(&whole, bench_now() - wall, bench_cpu() - cpu);
        wall = bench_now(), cpu = bench_cpu();
        n = load(st, &ref);
        bench_keep_best(&ours, bench_now() - wall, bench_cpu() - cpu);
    }
    printf("%s: a conversation of %zu messages, %lld bytes\n", st->ops->name, n,
           (long long)ref.file.size);
    print_load("read, one buffer kept", &through, &ours);
    print_load("read into new memory", &whole, &ours);
    print_load("load", &ours, &ours);
    arena_fini(&a);
    return n;
}
