/* The whole process `reprise list --json --all` against a bare loop over the same files: open, fstat,
 * 64 KiB of the head, 64 KiB of the tail, close. Every session must be listed, also with 64 descriptors.
 *
 *   bench_list REPRISE CONFIG_DIR [ROUNDS]
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "run.h"

enum { END = 65536, FEW_FILES = 64 };

struct bare {
    size_t sessions, bytes;
    char head[END], tail[END];
};

static void read_ends(struct bare *b, int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    bench_need(fd >= 0 && fstat(fd, &st) == 0, name);
    ssize_t head = pread(fd, b->head, END, 0);
    ssize_t tail = st.st_size > END ? pread(fd, b->tail, END, st.st_size - END) : 0;

    close(fd);
    bench_need(head >= 0 && tail >= 0, name);
    b->sessions++;
    b->bytes += (size_t)head + (size_t)tail;
}

static void read_project(struct bare *b, int projects, const char *name)
{
    int fd = openat(projects, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fdopendir(fd);
    struct dirent *d;

    bench_need(dir != NULL, name);
    while ((d = readdir(dir))) {
        size_t n = strlen(d->d_name);

        if (n > 6 && strcmp(d->d_name + n - 6, ".jsonl") == 0)
            read_ends(b, fd, d->d_name);
    }
    closedir(dir);
}

static void bare_loop(struct bare *b, const char *config)
{
    char path[4096];
    struct dirent *d;
    DIR *dir;

    snprintf(path, sizeof path, "%s/projects", config);
    dir = opendir(path);
    bench_need(dir != NULL, path);
    b->sessions = b->bytes = 0;
    while ((d = readdir(dir)))
        if (d->d_name[0] != '.')
            read_project(b, dirfd(dir), d->d_name);
    closedir(dir);
}

static bool all_listed(const struct run *r, const struct bare *b)
{
    if (r->values == b->sessions)
        return true;
    printf("  %zu of %zu sessions were listed\n", r->values, b->sessions);
    return false;
}

int main(int argc, char **argv)
{
    struct bench_time ours = { 0 }, bare = { 0 };
    static struct bare b;

    if (argc < 3) {
        fputs("usage: bench_list REPRISE CONFIG_DIR [ROUNDS]\n", stderr);
        return 2;
    }
    const char *list[] = { argv[1], "list", "--json", "--all", NULL };
    struct run r = { .argv = list, .config = argv[2] };
    struct run few = { .argv = list, .config = argv[2], .files = FEW_FILES };

    for (int round = argc > 3 ? atoi(argv[3]) : 5; round > 0; round--) {
        double wall = bench_now(), cpu = bench_cpu();

        bare_loop(&b, argv[2]);
        bench_keep_best(&bare, bench_now() - wall, bench_cpu() - cpu);
        run_program(&r);
        bench_keep_best(&ours, r.wall, r.cpu);
    }
    run_program(&few);
    printf("list: %zu sessions, best of the rounds\n", b.sessions);
    printf("  bare loop, both ends     %8.1f ms (cpu %8.1f)\n", bare.wall * 1e3, bare.cpu * 1e3);
    printf("  list --json --all        %8.1f ms (cpu %8.1f)  %.2fx the bare loop\n",
           ours.wall * 1e3, ours.cpu * 1e3, ours.wall / bare.wall);
    printf("  peak memory              %8.1f MB\n", (double)r.peak_kb / 1024);
    return all_listed(&r, &b) && all_listed(&few, &b) ? 0 : 1;
}
