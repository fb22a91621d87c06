/* A rewind of many files against git doing the like: the dry run against `git diff --no-index --numstat` of the same
 * pairs, the apply (durable, with an undo record) against `git checkout` of the same bytes. The line counts of both
 * must agree. And a rewind of one large file, which is streamed, against `cp` of it.
 *
 *   bench_rewind DIR FILES [ROUNDS [BYTES]]
 */
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "run.h"
#include "store/rewind/plan/rewind.h"

enum { LINES = 200, CHANGED_EVERY = 17 };
enum { UNCHANGED_MS = 10 }; /* the goal for a thousand files */

struct place {
    char then[4096], now[4096], state[4096];
    int files;
};

static void file_write(const char *dir, int file, bool now)
{
    char path[4200];

    snprintf(path, sizeof path, "%s/f%05d.txt", dir, file);
    FILE *out = fopen(path, "w");

    bench_need(out != NULL, path);
    for (int i = 0; i < LINES; i++)
        fprintf(out, "line %d of file %d says something%s\n", i, file,
                now && (i + file) % CHANGED_EVERY == 0 ? ", changed since" : "");
    bench_need(fclose(out) == 0, path);
}

static void trees_make(struct place *p, const char *dir)
{
    snprintf(p->then, sizeof p->then, "%.4000s/then", dir);
    snprintf(p->now, sizeof p->now, "%.4000s/now", dir);
    snprintf(p->state, sizeof p->state, "%.4000s/state", dir);
    bench_need(mkdir(p->then, 0700) == 0 && mkdir(p->now, 0700) == 0, dir);
    for (int i = 0; i < p->files; i++) {
        file_write(p->then, i, false);
        file_write(p->now, i, true);
    }
}

static void plan_make(const struct place *p, struct rewind_plan *plan)
{
    *plan = (struct rewind_plan){ .system = "bench", .session = "s", .point = "m", .root = p->now };
    for (int i = 0; i < p->files; i++) {
        char path[4200], source[4200];

        snprintf(path, sizeof path, "%s/f%05d.txt", p->now, i);
        snprintf(source, sizeof source, "%s/f%05d.txt", p->then, i);
        struct rewind_target t = { .path = path,
                                   .want = REWIND_BYTES,
                                   .source = { .file = source } };

        bench_need(rewind_plan_add(plan, &t, NULL) == ERR_OK, "plan");
    }
}

/* A dry run in which the wanted files are copies of those that are there, also in their times. */
static void bench_unchanged(const struct place *p, int rounds)
{
    const struct rewind_options all = { .allow_edited = true };
    char twin[4200];
    const char *argv[] = { "cp", "-rp", p->now, twin, NULL };
    struct run cp = { .argv = argv, .discard = true };
    struct place copied = *p;
    struct bench_time ours = { 0 };
    struct rewind_plan plan;

    snprintf(twin, sizeof twin, "%.4000s.twin", p->now);
    run_program(&cp);
    snprintf(copied.then, sizeof copied.then, "%.4000s", twin);
    plan_make(&copied, &plan);
    for (int i = 0; i < rounds; i++) {
        struct rewind_preview preview;
        double at = bench_now(), used = bench_cpu();

        bench_need(rewind_preview(&plan, &all, &preview, NULL) == ERR_OK, "preview");
        bench_keep_best(&ours, bench_now() - at, bench_cpu() - used);
        bench_need(preview.insertions == 0 && preview.deletions == 0, "no change");
        rewind_preview_fini(&preview);
    }
    rewind_plan_fini(&plan);
    printf("  dry run, all unchanged   %8.1f ms (cpu %8.1f)  %.2fx %d ms\n", ours.wall * 1e3,
           ours.cpu * 1e3, ours.wall * 1e3 / UNCHANGED_MS, UNCHANGED_MS);
}

static void git(const char *dir, double *wall, double *cpu, const char *first, ...)
{
    const char *argv[16] = {
        "git", "-C", dir, "-c", "user.name=b", "-c", "user.email=b@example.invalid", first
    };
    int n = 8;
    va_list ap;

    va_start(ap, first);
    while (n < 15 && (argv[n] = va_arg(ap, const char *)))
        n++;
    va_end(ap);
    const bool diff = strcmp(first, "diff") == 0;
    struct run r = { .argv = argv, .discard = !diff, .may_fail = diff };

    run_program(&r);
    *wall = r.wall;
    *cpu = r.cpu;
}

static void bench_dry(const struct place *p, int rounds)
{
    const struct rewind_options all = { .allow_edited = true };
    struct bench_time ours = { 0 }, theirs = { 0 };
    struct rewind_plan plan;
    double wall, cpu;

    plan_make(p, &plan);
    for (int i = 0; i < rounds; i++) {
        struct rewind_preview preview;
        double at = bench_now(), used = bench_cpu();

        bench_need(rewind_preview(&plan, &all, &preview, NULL) == ERR_OK, "preview");
        bench_keep_best(&ours, bench_now() - at, bench_cpu() - used);
        bench_need(preview.insertions == preview.deletions && preview.insertions > 0,
                   "line counts");
        rewind_preview_fini(&preview);
        git(p->now, &wall, &cpu, "diff", "--no-index", "--numstat", p->now, p->then, NULL);
        bench_keep_best(&theirs, wall, cpu);
    }
    rewind_plan_fini(&plan);
    printf("rewind: %d files of %d lines, best of the rounds\n", p->files, LINES);
    printf("  git diff --numstat       %8.1f ms (cpu %8.1f)\n", theirs.wall * 1e3,
           theirs.cpu * 1e3);
    printf("  dry run                  %8.1f ms (cpu %8.1f)  %.2fx git diff\n", ours.wall * 1e3,
           ours.cpu * 1e3, ours.wall / theirs.wall);
}

/* Runs the apply, then its undo, each a rewind of all files. */
static void apply_once(const struct store_env *env, const struct rewind_plan *plan,
                       struct bench_time *best)
{
    const struct rewind_options all = { .allow_edited = true };
    struct rewind_preview preview;
    struct rewind_result result;

    bench_need(rewind_preview(plan, &all, &preview, NULL) == ERR_OK, "preview");
    double at = bench_now(), used = bench_cpu();

    bench_need(rewind_apply(env, &preview, &result, NULL) == ERR_OK && result.conflicts == 0,
               "apply");
    bench_keep_best(best, bench_now() - at, bench_cpu() - used);
    rewind_result_fini(&result);
    rewind_preview_fini(&preview);
}

static void bench_apply(const struct place *p, int rounds)
{
    struct store_env env = { .state_dir = p->state, .now_ms = 1800000000000 };
    struct bench_time ours = { 0 }, theirs = { 0 };
    double wall, cpu;

    git(p->now, &wall, &cpu, "init", "-q", NULL);
    git(p->now, &wall, &cpu, "add", "-A", NULL);
    git(p->now, &wall, &cpu, "commit", "-qm", "now", NULL);
    for (int i = 0; i < rounds; i++) {
        struct rewind_plan plan;

        plan_make(p, &plan);
        apply_once(&env, &plan, &ours);
        rewind_plan_fini(&plan);
        git(p->now, &wall, &cpu, "checkout", "-q", "--", ".", NULL); /* the same files restored */
        bench_keep_best(&theirs, wall, cpu);
        env.now_ms++;
    }
    printf("  git checkout             %8.1f ms (cpu %8.1f)\n", theirs.wall * 1e3,
           theirs.cpu * 1e3);
    printf("  apply, durable, undoable %8.1f ms (cpu %8.1f)  %.2fx git checkout\n", ours.wall * 1e3,
           ours.cpu * 1e3, ours.wall / theirs.wall);
}

/* ---- one large file ---- */

/* Writes texts of equal length, different in every line or not at all. */
static void large_write(const char *path, long long bytes, char letter)
{
    static char piece[1 << 16];
    FILE *out = fopen(path, "w");

    bench_need(out != NULL, path);
    for (size_t i = 0; i < sizeof piece; i++)
        piece[i] = i % 80 == 79 ? '\n' : (char)(letter + (char)(i % 7));
    for (long long left = bytes; left > 0; left -= (long long)sizeof piece) {
        size_t n = left < (long long)sizeof piece ? (size_t)left : sizeof piece;

        bench_need(fwrite(piece, 1, n, out) == n, path);
    }
    bench_need(fclose(out) == 0, path);
}

static void copy(const char *from, const char *to, struct bench_time *best)
{
    const char *argv[] = { "cp", from, to, NULL };
    struct run r = { .argv = argv, .discard = true };

    run_program(&r);
    if (best)
        bench_keep_best(best, r.wall, r.cpu);
}

static void rewind_alone(const struct place *p, const char *path, const char *source)
{
    const struct rewind_target target = { .path = path,
                                          .want = REWIND_BYTES,
                                          .source = { .file = source } };
    const struct store_env env = { .state_dir = p->state, .now_ms = 1900000000000 };
    struct rewind_plan plan = { .system = "bench", .session = "s", .point = "m", .root = p->now };
    struct bench_time unused = { 0 };

    bench_need(rewind_plan_add(&plan, &target, NULL) == ERR_OK, "plan");
    apply_once(&env, &plan, &unused);
    rewind_plan_fini(&plan);
}

/* Runs the dry run and the apply in a process of their own, to measure its peak memory. */
static long rewind_large(const struct place *p, const char *path, const char *source,
                         struct bench_time *best)
{
    double begin = bench_now();
    struct rusage usage;
    int status;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    bench_need(pid >= 0, "fork");
    if (pid == 0) {
        rewind_alone(p, path, source);
        _exit(0);
    }
    bench_need(wait4(pid, &status, 0, &usage) == pid && status == 0, "rewind of a large file");
    bench_keep_best(best, bench_now() - begin,
                    bench_seconds(usage.ru_utime) + bench_seconds(usage.ru_stime));
    return usage.ru_maxrss;
}

static void bench_large(const struct place *p, long long bytes, int rounds)
{
    struct bench_time ours = { 0 }, theirs = { 0 };
    char before[4200], after[4200], path[4200];
    long peak_kb = 0;

    snprintf(before, sizeof before, "%s/large", p->then);
    snprintf(after, sizeof after, "%s/large.after", p->then);
    snprintf(path, sizeof path, "%s/large", p->now);
    large_write(before, bytes, 'a');
    large_write(after, bytes, 'A');
    for (int i = 0; i < rounds; i++) {
        copy(before, path, &theirs);
        copy(after, path, NULL);
        long kb = rewind_large(p, path, before, &ours);

        peak_kb = kb > peak_kb ? kb : peak_kb;
    }
    printf("  cp of %.3f GB            %8.1f ms (cpu %8.1f)\n", (double)bytes / 1e9,
           theirs.wall * 1e3, theirs.cpu * 1e3);
    printf("  dry run and apply of it  %8.1f ms (cpu %8.1f)  %.2fx cp, peak %.1f MB\n",
           ours.wall * 1e3, ours.cpu * 1e3, ours.wall / theirs.wall, (double)peak_kb / 1e3);
}

int main(int argc, char **argv)
{
    struct place p = { .files = argc > 2 ? atoi(argv[2]) : 0 };
    long long bytes = argc > 4 ? atoll(argv[4]) : 0;
    int rounds = argc > 3 ? atoi(argv[3]) : 3;

    if (p.files <= 0) {
        fputs("usage: bench_rewind DIR FILES [ROUNDS [BYTES]]\n", stderr);
        return 2;
    }
    trees_make(&p, argv[1]);
    bench_dry(&p, rounds);
    bench_unchanged(&p, rounds);
    bench_apply(&p, rounds);
    if (bytes > 0)
        bench_large(&p, bytes, rounds);
    return 0;
}
