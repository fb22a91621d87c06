/* The whole process `reprise list --json --all` against a bare loop over the same files: open, fstat,
 * 64 KiB of the head, 64 KiB of the tail, close. Every session must be listed, also with 64 descriptors.
 * And its first screen, `list --all --limit 50`, and the completion of an id, against a loop that only calls stat on the files.
 *
 *   bench_list REPRISE CONFIG_DIR [ROUNDS [TITLE MEMORY_MB]]     MEMORY_MB: the memory that the list may have
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "run.h"

enum { END = 65536, FEW_FILES = 64, SCREENFUL = 50 };

struct bare {
    bool look_only; /* size and time of each file */
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

static void look_at(struct bare *b, int dir, const char *name)
{
    struct stat st;

    bench_need(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0, name);
    b->sessions++;
}

static void read_project(struct bare *b, int projects, const char *name)
{
    int fd = openat(projects, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fdopendir(fd);
    struct dirent *d;

    bench_need(dir != NULL, name);
    while ((d = readdir(dir))) {
        size_t n = strlen(d->d_name);

        if (n <= 6 || strcmp(d->d_name + n - 6, ".jsonl") != 0)
            continue;
        if (b->look_only)
            look_at(b, fd, d->d_name);
        else
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

struct race {
    struct run *run;
    struct bare *bare;
    struct bench_time ours, theirs;
};

/* Runs them alternately, so that both see the same machine. */
static void race(struct race *r, const char *config)
{
    double wall = bench_now(), cpu = bench_cpu();

    bare_loop(r->bare, config);
    bench_keep_best(&r->theirs, bench_now() - wall, bench_cpu() - cpu);
    run_program(r->run);
    bench_keep_best(&r->ours, r->run->wall, r->run->cpu);
}

static void report(const char *ours, const char *theirs, const struct race *r)
{
    printf("  %-24s %8.1f ms (cpu %8.1f)\n", theirs, r->theirs.wall * 1e3, r->theirs.cpu * 1e3);
    printf("  %-24s %8.1f ms (cpu %8.1f)  %.2fx the loop\n", ours, r->ours.wall * 1e3,
           r->ours.cpu * 1e3, r->ours.wall / r->theirs.wall);
}

int main(int argc, char **argv)
{
    static struct bare ends, looks = { .look_only = true };

    if (argc < 3) {
        fputs("usage: bench_list REPRISE CONFIG_DIR [ROUNDS]\n", stderr);
        return 2;
    }
    const char *list[] = { argv[1], "list", "--json", "--all", NULL };
    const char *screen[] = { argv[1], "list", "--json", "--all", "--limit", "50", NULL };
    const char *word[] = { argv[1], "complete", "--", "info", "", NULL };
    struct run all = { .argv = list, .config = argv[2] };
    struct run few = { .argv = list, .config = argv[2], .files = FEW_FILES };
    struct run first = { .argv = screen, .config = argv[2] };
    struct run ids = { .argv = word, .config = argv[2] };
    struct race whole = { .run = &all, .bare = &ends }, page = { .run = &first, .bare = &looks };
    struct race completion = { .run = &ids, .bare = &looks };

    for (int round = argc > 3 ? atoi(argv[3]) : 5; round > 0; round--) {
        race(&whole, argv[2]);
        race(&completion, argv[2]);
        race(&page, argv[2]);
    }
    run_program(&few);
    const double memory_mb = (double)all.peak_kb / 1024, most_mb = argc > 5 ? atof(argv[5]) : 12;

    printf("%s: %zu sessions, best of the rounds\n", argc > 4 ? argv[4] : "list", ends.sessions);
    report("list --json --all", "bare loop, both ends", &whole);
    printf("  its cpu                  %8.1f ms  %.2fx that of the loop\n", whole.ours.cpu * 1e3,
           whole.ours.cpu / whole.theirs.cpu);
    printf("  its memory               %8.1f MB  %.2fx %g MB\n", memory_mb, memory_mb / most_mb,
           most_mb);
    report("list --limit 50", "stat loop", &page);
    report("completion of an id", "stat loop", &completion);
    bool screenful = first.values == (ends.sessions < SCREENFUL ? ends.sessions : SCREENFUL);

    if (!screenful)
        printf("  %zu sessions of the first screen were listed\n", first.values);
    if (!ids.bytes)
        printf("  no id was completed\n");
    return all_listed(&all, &ends) && all_listed(&few, &ends) && screenful && ids.bytes ? 0 : 1;
}
