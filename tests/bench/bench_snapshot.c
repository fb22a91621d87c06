/* A snapshot of a project against a bare walk that calls lstat for each file: when nothing changed, when ten files did,
 * the first one of a clean repository, the next one when ten of its files changed, and the first one without git, which
 * copies everything. Each is a process of its own, as a hook is.
 *
 *   bench_snapshot DIR FILES [ROUNDS]
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "lite/base/time.h"
#include "run.h"
#include "store/snapshots/snapshot.h"

enum { FILES_A_FOLDER = 50, FOLDERS_A_FOLDER = 20, TEN = 10, LIMIT_MS = 600000 };

struct place {
    char project[4096], state[4096];
    int files;
    long touched; /* the next contents */
};

static void file_path(const struct place *p, int i, char out[4200])
{
    int folder = i / FILES_A_FOLDER;

    snprintf(out, 4200, "%s/d%d/e%d/file-%d.c", p->project, folder / FOLDERS_A_FOLDER, folder, i);
}

static void file_put(const struct place *p, int i, long text)
{
    char path[4200];

    file_path(p, i, path);
    FILE *out = fopen(path, "w");

    bench_need(out != NULL, path);
    for (int line = 0; line < 100 + i % 200; line++)
        fprintf(out, "%d %ld: a line of this file\n", line * i, text);
    bench_need(fclose(out) == 0, path);
}

static void project_make(const struct place *p)
{
    char path[4200];

    bench_need(mkdir(p->project, 0700) == 0, p->project);
    for (int i = 0; i < p->files; i++) {
        if (i % (FILES_A_FOLDER * FOLDERS_A_FOLDER) == 0) {
            snprintf(path, sizeof path, "%s/d%d", p->project,
                     i / FILES_A_FOLDER / FOLDERS_A_FOLDER);
            bench_need(mkdir(path, 0700) == 0, path);
        }
        if (i % FILES_A_FOLDER == 0) {
            file_path(p, i, path);
            *strrchr(path, '/') = '\0';
            bench_need(mkdir(path, 0700) == 0, path);
        }
        file_put(p, i, 0);
    }
}

/* ---- what is measured ---- */

static void walk(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fdopendir(fd);
    struct stat st;

    bench_need(d != NULL, name);
    for (const struct dirent *x; (x = readdir(d)) != NULL;)
        if (strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0 &&
            strcmp(x->d_name, ".git") != 0 &&
            fstatat(fd, x->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
            walk(fd, x->d_name);
    closedir(d);
}

static void run_walk(const struct place *p)
{
    walk(AT_FDCWD, p->project);
}

static void run_snapshot(const struct place *p)
{
    const struct store_env env = { .home = "/nowhere", .cwd = p->project, .state_dir = p->state };
    const struct snapshot_request req = {
        .agent = "claude", .session = SLICE("s"), .cwd = p->project, .limit_ms = LIMIT_MS
    };
    struct err e = { .text = "" };

    if (snapshot_take(&env, &req, &e)) {
        fprintf(stderr, "%s\n", e.text);
        _exit(1);
    }
}

struct measured {
    struct bench_time best;
    long peak_kb;
};

static void measure(const struct place *p, void (*fn)(const struct place *), struct measured *m)
{
    double began = bench_now();
    struct rusage used;
    int status;
    pid_t pid = fork();

    bench_need(pid >= 0, "fork");
    if (pid == 0) {
        fn(p);
        _exit(0);
    }
    bench_need(wait4(pid, &status, 0, &used) == pid && status == 0, "run");
    bench_keep_best(&m->best, bench_now() - began,
                    bench_seconds(used.ru_utime) + bench_seconds(used.ru_stime));
    m->peak_kb = used.ru_maxrss > m->peak_kb ? used.ru_maxrss : m->peak_kb;
}

static void report(const char *what, const struct measured *m, const struct measured *bare,
                   const char *goal)
{
    printf("  %-26s %8.1f ms (cpu %7.1f)  %5.2fx the walk's cpu, peak %.1f MB%s\n", what,
           m->best.wall * 1e3, m->best.cpu * 1e3, m->best.cpu / bare->best.cpu,
           (double)m->peak_kb / 1024, goal);
}

static void forget(const struct place *p)
{
    const char *const argv[] = { "rm", "-rf", p->state, NULL };
    struct run r = { .argv = argv, .discard = true };

    run_program(&r);
}

int main(int argc, char **argv)
{
    struct place p = { .files = argc > 2 ? atoi(argv[2]) : 0 };
    int rounds = argc > 3 ? atoi(argv[3]) : 3;
    struct measured bare = { .peak_kb = 0 }, none = bare, ten = bare, clean = bare, next = bare,
                    first = bare;

    if (p.files < TEN || rounds < 1) {
        fprintf(stderr, "usage: bench_snapshot DIR FILES [ROUNDS]\n");
        return 1;
    }
    snprintf(p.project, sizeof p.project, "%.4000s/snapped", argv[1]);
    snprintf(p.state, sizeof p.state, "%.4000s/snapshots", argv[1]);
    project_make(&p);
    measure(&p, run_snapshot, &first);
    for (int i = 0; i < rounds; i++) {
        sleep(1); /* files that were just written are read again */
        measure(&p, run_snapshot, &ten);
        measure(&p, run_walk, &bare);
        measure(&p, run_snapshot, &none);
    }
    ten = (struct measured){ .peak_kb = 0 };
    for (int i = 0; i < rounds; i++) {
        for (int file = 0; file < TEN; file++)
            file_put(&p, file * (p.files / TEN), ++p.touched);
        measure(&p, run_snapshot, &ten);
    }
    const char *const git[][8] = { { "git", "-C", p.project, "init", "-q", NULL },
                                   { "git", "-C", p.project, "add", "-A", NULL } };

    for (size_t i = 0; i < sizeof git / sizeof *git; i++) {
        struct run r = { .argv = git[i], .discard = true };

        run_program(&r);
    }
    sleep(1);
    const char *const touch[] = { "git", "-C", p.project, "add", "-A", "--renormalize", NULL };
    struct run again = { .argv = touch, .discard = true };

    run_program(&again);
    for (int i = 0; i < rounds; i++) {
        forget(&p);
        measure(&p, run_snapshot, &clean);
        /* Their blobs are only in the project's repository until now. */
        for (int file = 0; file < TEN; file++)
            file_put(&p, file * (p.files / TEN) + i, ++p.touched);
        measure(&p, run_snapshot, &next);
    }
    printf("snapshot: %d files, best of the rounds\n", p.files);
    report("bare walk and lstat", &bare, &bare, "");
    report("nothing changed", &none, &bare, "  (goal 1.3, 40 MB)");
    report("ten files changed", &ten, &bare, "  (goal 1.3)");
    report("first, clean repository", &clean, &bare, "  (goal 2)");
    report("ten of its files changed", &next, &bare, "");
    report("first, without git", &first, &bare, "");
    return 0;
}
