#include "tests/sweeps/trial.h"

#include "tests/test.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fts.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/git/gitfiles.h"
#include "support/faults/memory.h"
#include "tests/support/coverage.h"
#include "tests/support/grown_logs.h"

struct fault {
    const char *name;
    enum inject_mode mode;
    int error;
    bool stays;
    bool looks, renames;
    bool thorough; /* only on request */
    bool harmless; /* retried: the operation succeeds all the same */
};

/* clang-format off */
static const struct fault faults[] = {
    { .name = "kill", .mode = INJECT_KILL },
    { .name = "kill after", .mode = INJECT_KILL_AFTER },
    { .name = "torn write", .mode = INJECT_TORN },
    { .name = "power cut", .mode = INJECT_POWER_CUT },
    { .name = "power cut, zeros", .mode = INJECT_POWER_CUT_ZEROS },
    { .name = "short write", .mode = INJECT_SHORT, .harmless = true },
    { .name = "no space", .mode = INJECT_ERROR, .error = ENOSPC },
    { .name = "no space from then on", .mode = INJECT_ERROR, .error = ENOSPC, .stays = true },
    { .name = "quota", .mode = INJECT_ERROR, .error = EDQUOT },
    { .name = "i/o error", .mode = INJECT_ERROR, .error = EIO },
    { .name = "i/o errors from then on", .mode = INJECT_ERROR, .error = EIO, .stays = true },
    { .name = "fsync fails afterwards", .mode = INJECT_ERROR_AFTER, .error = EIO },
    { .name = "read-only", .mode = INJECT_ERROR, .error = EROFS, .thorough = true },
    { .name = "another file system", .mode = INJECT_ERROR, .error = EXDEV, .renames = true, .thorough = true },
    { .name = "busy", .mode = INJECT_ERROR, .error = EBUSY, .renames = true, .thorough = true },
    { .name = "interrupted", .mode = INJECT_INTERRUPTED, .error = EINTR, .harmless = true, .thorough = true },
    { .name = "interrupted read", .mode = INJECT_INTERRUPTED, .error = EINTR, .looks = true, .harmless = true, .thorough = true },
    { .name = "cannot be looked at", .mode = INJECT_ERROR, .error = EIO, .looks = true, .thorough = true },
    { .name = "cannot be looked at from then on", .mode = INJECT_ERROR, .error = EACCES, .looks = true, .stays = true, .thorough = true },
    { .name = "no memory", .mode = INJECT_NO_MEMORY, .stays = true, .thorough = true },
};
/* clang-format on */

enum { WAYS = sizeof faults / sizeof *faults };

bool trial_is_long(void)
{
    const char *how = getenv("REPRISE_SWEEP");

    return how && strcmp(how, "long") == 0;
}

/* One call of how many is broken: every one in the long form, as many as the sweep says under `./run test long`, and a
 * tenth of these in a run of every day, where each kind of fault begins at another call. */
static long trial_stride(const struct trial *s)
{
    enum { EVERY_DAY = 10 };
    const long stride = s->stride > 1 ? s->stride : 1;

    return trial_is_long() ? 1 : getenv("REPRISE_LONG") ? stride : EVERY_DAY * stride;
}

enum trial_end trial_end_of(enum err_code rc, const struct err *e)
{
    if (rc && getenv("REPRISE_SWEEP_TELL"))
        fprintf(stderr, "%s: %s\n", e->path, e->text);
    if (!rc)
        return END_DONE;
    /* Succeeded or not, the operation could not be completed or synced; this is reported. */
    return strstr(e->text, "unfinished") || strstr(e->text, "perhaps not durably") ? END_UNFINISHED
                                                                                   : END_FAILED;
}

/* Names that exist only while reprise works: intents, temporary files, unfinished copies. */
static long count_temps(const char *dir)
{
    char copy[4096];
    char *roots[] = { copy, NULL };
    FTSENT *x;
    long n = 0;

    snprintf(copy, sizeof copy, "%s", dir);
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

    assert_non_null(fts);
    while ((x = fts_read(fts))) {
        size_t len = strlen(x->fts_name);
        bool ours = strncmp(x->fts_name, ".reprise", 8) == 0 ||
                    strstr(x->fts_name, ".reprise-copy") ||
                    (len > 7 && strcmp(x->fts_name + len - 7, ".intent") == 0);

        if (strncmp(x->fts_name, "lost-", 5) == 0)
            fts_set(fts, x, FTS_SKIP);
        else if (ours && x->fts_info != FTS_DP)
            n++;
    }
    fts_close(fts);
    return n;
}

static char *image_of(const struct trial *s, const struct trial_dir *y, bool times)
{
    char *image = trial_dir_image(y, times);

    if (s->blur)
        s->blur(image);
    return image;
}

/* ---- one run ---- */

int trial_child(struct trial_dir *y, enum trial_end (*fn)(struct trial_dir *y),
                const struct inject *how, long *count)
{
    int status;
    _Atomic long *counter =
        mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct inject armed = how ? *how : (struct inject){ 0 };

    assert_ptr_not_equal(counter, MAP_FAILED);
    armed.counter = counter;
    assert_int_equal(gitlib_ready(NULL),
                     ERR_OK); /* takes ten milliseconds: done once, not in every child */
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        inject_arm(&armed);
        if (armed.mode == INJECT_NO_MEMORY) {
            cJSON_InitHooks(&(cJSON_Hooks){ malloc, free });
            memory_fail_at(armed.nth);
        }
        int end = (int)fn(y);

        if (armed.mode == INJECT_NO_MEMORY)
            *counter = memory_failed() ? armed.nth : 0;
        memory_fail_at(0);
        inject_arm(&(struct inject){ 0 });
        coverage_keep();
        _exit(end);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (count)
        *count = *counter;
    munmap((void *)counter, sizeof *counter);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return -1;
    if (!WIFEXITED(status) || WEXITSTATUS(status) > END_UNFINISHED)
        fail_msg("the operation ended with status %x", (unsigned)status);
    return WEXITSTATUS(status);
}

struct images {
    char *old, *old_times, *new;
};

static struct images images_of(const struct trial *s, long *calls)
{
    struct trial_dir y;
    struct inject how = { .no_tmpfile = s->no_tmpfile };
    struct images im;

    trial_dir_make(&y, s);
    grown_logs_begin(y.user);
    im.old = image_of(s, &y, false);
    im.old_times = image_of(s, &y, true);
    assert_int_equal(trial_child(&y, s->act, &how, calls), END_DONE);
    grown_logs_learn(y.user);
    im.new = image_of(s, &y, false);
    if (strcmp(im.old, im.new) == 0)
        fail_msg("%s: nothing happens, so nothing is tested", s->name);
    trial_dir_remove(&y, s);
    return im;
}

static void images_free(struct images *im)
{
    free(im->old);
    free(im->old_times);
    free(im->new);
}

/* If this variable is set, each problem is printed with the tree as it was. */
static void complain(const struct trial *s, const char *fault, const char *point, const char *what,
                     const char *image)
{
    if (getenv("REPRISE_SWEEP_TELL"))
        printf("  %s, %s at %s: %s\n%s\n", s->name, fault, point, what, image ? image : "");
}

static void check_undo(const struct trial *s, struct trial_dir *y, const struct images *im,
                       const char *fault, const char *point, struct tally *t)
{
    if (!s->undo)
        return;
    struct inject how = { .no_tmpfile = s->no_tmpfile };
    int end = trial_child(y, s->undo, &how, NULL);
    char *now = image_of(s, y, true);

    if (end != END_DONE || strcmp(now, im->old_times) != 0) {
        t->undo_failed++;
        complain(s, fault, point, "undo did not give the old tree back", now);
    }
    free(now);
}

/* Checks the tree after the operation ended in any way (-1: it was killed) and the next command ran. */
static void check(const struct trial *s, struct trial_dir *y, const struct images *im, int end,
                  const char *fault, const char *point, struct tally *t)
{
    char *now = image_of(s, y, false);
    bool is_old = strcmp(now, im->old) == 0, is_new = strcmp(now, im->new) == 0;

    t->old += is_old;
    t->new += is_new;
    if (!is_old && !is_new && !(s->tolerates && s->tolerates(y, end == END_DONE))) {
        t->torn++;
        complain(s, fault, point, "neither old nor new", now);
    }
    if ((end == END_DONE && is_old) || (end == END_FAILED && is_new)) {
        t->untrue++;
        complain(s, fault, point, end == END_DONE ? "said done" : "said failed", NULL);
    }
    long temps = count_temps(y->state) + count_temps(y->data);

    if (temps) {
        t->temps += temps;
        complain(s, fault, point, "names of ours stay in the state or data directory", NULL);
    }
    free(now);
    if (is_old) {
        now = image_of(s, y, true);
        if (strcmp(now, im->old_times) != 0) {
            t->times++;
            complain(s, fault, point, "a time is not the old one", now);
        }
        free(now);
    }
    if (is_new)
        check_undo(s, y, im, fault, point, t);
}

static void recover(const struct trial *s, struct trial_dir *y, const char *fault,
                    const char *point, struct tally *t)
{
    struct inject how = { .no_tmpfile = s->no_tmpfile };

    if (trial_child(y, s->recover, &how, NULL) == END_DONE)
        return;
    t->unrecovered++;
    complain(s, fault, point, "the next command failed", NULL);
}

/* An error is not a crash: everything is cleaned up before the command ends. */
static void check_at_once(const struct trial *s, const struct trial_dir *y, const struct images *im,
                          const struct fault *w, const char *point, struct tally *t)
{
    char *now = image_of(s, y, false);

    if (!w->stays && !s->leaves && strcmp(now, im->old) != 0) {
        t->left_at_once++;
        complain(s, w->name, point, "a failed operation left something behind", now);
    }
    free(now);
}

/* Returns true if the operation ended before its k-th call. */
static bool run_at(const struct trial *s, const struct images *im, const struct fault *w, long k,
                   struct tally *t)
{
    struct trial_dir y;
    struct inject how = { .mode = w->mode,
                          .nth = k,
                          .error = w->error,
                          .stays = w->stays,
                          .looks = w->looks,
                          .renames = w->renames,
                          .no_tmpfile = s->no_tmpfile };
    long count;
    char point[32];

    snprintf(point, sizeof point, "%ld", k);
    trial_dir_make(&y, s);
    int end = trial_child(&y, s->act, &how, &count);

    if (count >= k) {
        t->runs++;
        /* Without leases the rest of a row is not written, because another program's may be there by now. */
        bool fails = s->gives_up || (w->mode == INJECT_SHORT && !HAS_LEASES);

        if (s->thorough && !fails && w->harmless && end != END_DONE) {
            t->untrue++;
            complain(s, w->name, point, "failed of what is to be tried again", NULL);
        }
        if (end == END_FAILED)
            check_at_once(s, &y, im, w, point, t);
        recover(s, &y, w->name, point, t);
        check(s, &y, im, end, w->name, point, t);
    }
    trial_dir_remove(&y, s);
    return count < k;
}

static void print_tally(const struct trial *s, const char *how, const struct tally *t)
{
    printf("%s%s: %ld calls, %ld runs: %ld old, %ld new; torn %ld, untrue %ld, unrecovered %ld, "
           "undo failed %ld, "
           "left at once %ld, temps %ld, times %ld\n",
           s->name, how, t->calls, t->runs, t->old, t->new, t->torn, t->untrue, t->unrecovered,
           t->undo_failed, t->left_at_once, t->temps, t->times);
    fflush(stdout);
}

struct tally trial_run(const struct trial *s)
{
    struct tally t = { 0 };
    struct images im = images_of(s, &t.calls);
    long stride = trial_stride(s);

    for (int w = 0; w < WAYS; w++)
        for (long k = 1 + w % stride; !faults[w].thorough || s->thorough; k += stride)
            if (run_at(s, &im, &faults[w], k, &t))
                break;
    images_free(&im);
    print_tally(s, "", &t);
    return t;
}

/* ---- crashes in the recovery ---- */

/* How the recovery is broken: kills and power cuts in turn, and in the long form errors of changing and of reading
 * calls. */
enum second { CRASHES, ERRORS, BLIND, SECONDS };

static struct inject second_of(const struct trial *s, enum second how, long nth)
{
    enum inject_mode crash = nth % 2 ? INJECT_KILL : INJECT_POWER_CUT;

    return (struct inject){ .mode = how == CRASHES ? crash : INJECT_ERROR,
                            .nth = nth,
                            .error = EIO,
                            .looks = how == BLIND,
                            .no_tmpfile = s->no_tmpfile };
}

/* Returns true if the recovery ended before its call. */
static bool run_twice_at(const struct trial *s, const struct images *im, long first,
                         const struct inject *two, struct tally *t)
{
    struct trial_dir y;
    struct inject one = { .mode = INJECT_KILL, .nth = first, .no_tmpfile = s->no_tmpfile };
    long count = 0;
    char point[48];

    snprintf(point, sizeof point, "%ld, then %ld", first, two->nth);
    trial_dir_make(&y, s);
    if (trial_child(&y, s->act, &one, NULL) == -1)
        trial_child(&y, s->recover, two, &count);
    if (count >= two->nth) {
        const char *fault = two->looks                  ? "a recovery that sees nothing"
                            : two->mode == INJECT_ERROR ? "an error in the recovery"
                                                        : "a crash in the recovery";

        t->runs++;
        recover(s, &y, fault, point, t);
        check(s, &y, im, -1, fault, point, t);
    }
    trial_dir_remove(&y, s);
    return count < two->nth;
}

static void run_twice_from(const struct trial *s, const struct images *im, long first,
                           enum second how, struct tally *t)
{
    struct inject two;
    bool all = trial_stride(s) == 1;
    long few = getenv("REPRISE_LONG") ? 3 : 7;
    /* A recovery reads much more often than it changes something. An odd step alternates kills and power cuts. */
    long step = all ? 1 : how == BLIND ? 31 : few, nth = 1 + (first + (long)how) % step;

    for (;;) {
        two = second_of(s, how, nth);
        if (run_twice_at(s, im, first, &two, t))
            return;
        nth += step;
    }
}

struct tally trial_run_twice(const struct trial *s)
{
    struct tally t = { 0 };
    struct images im = images_of(s, &t.calls);
    /* Some first crashes, and every possible second one, or a few of them where the sweep has a stride. */
    long stride = trial_is_long() ? 1 : 1 + t.calls / (trial_stride(s) > 1 ? 5 : 15);

    for (long k = 1; k <= t.calls; k += stride)
        for (enum second how = CRASHES; how < (s->thorough ? SECONDS : ERRORS); how++)
            run_twice_from(s, &im, k, how, &t);
    images_free(&im);
    print_tally(s, ", crashes in the recovery", &t);
    return t;
}

bool tally_is_clean(const struct tally *t)
{
    return t->runs > 0 && !t->torn && !t->untrue && !t->unrecovered && !t->undo_failed &&
           !t->left_at_once && !t->temps && !t->times;
}

void trial_must_hold_once(const struct trial *s)
{
    struct tally once = trial_run(s);

    assert_true(tally_is_clean(&once));
}

void trial_must_hold(const struct trial *s)
{
    struct tally once = trial_run(s), twice = trial_run_twice(s);

    assert_true(tally_is_clean(&once));
    assert_true(tally_is_clean(&twice));
}
