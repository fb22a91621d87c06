#include "tests/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "store/rewind/plan/rewind.h"
#include "tests/sweeps/trial.h"

/* Another process exchanges a directory of the plan with a link to the outside, constantly, while rewinds are planned,
 * applied and recovered. Whatever their result, nothing outside is written, removed or left behind; inside, every file
 * contains bytes that the plan knows; and once it stops, the rewind can be done. */
static const char *const names[] = { "restored", "deleted", "created", "sub/restored" };

enum { FILES = sizeof names / sizeof *names, ROUNDS = 20, MOST_ROUNDS = 2000, LONG_SECONDS = 10 };

static void make_tree(struct trial_dir *y)
{
    char path[4096];

    for (size_t i = 0; i < FILES; i++) {
        char name[64];

        snprintf(name, sizeof name, "outside/%s", names[i]);
        folder_put(&y->folder, name, SLICE("secret\n"));
        snprintf(name, sizeof name, "user/d/%s", names[i]);
        folder_put(&y->folder, name, SLICE("present\n"));
    }
    assert_int_equal(unlink(folder_path(&y->folder, "user/d/created", path)), 0);
    assert_int_equal(symlink("../outside", folder_path(&y->folder, "user/swap", path)), 0);
}

static const struct trial swapping = { .name = "swap", .make = make_tree };

struct swapper {
    char dir[4096], link[4096];
    atomic_bool began, stop;
    long swaps;
};

static void *swap(void *arg)
{
    struct swapper *s = arg;

    while (!atomic_load(&s->stop)) {
        s->swaps += renameat2(AT_FDCWD, s->dir, AT_FDCWD, s->link, RENAME_EXCHANGE) == 0;
        atomic_store(&s->began, true);
    }
    return NULL;
}

struct figures {
    long rounds, done, conflicts, refused, swaps, escapes, strange;
};

static enum err_code plan_of(struct trial_dir *y, struct rewind_plan *plan)
{
    enum err_code rc = ERR_OK;

    *plan =
        (struct rewind_plan){ .system = "claude", .session = "s", .point = "m", .root = y->user };
    for (size_t i = 0; i < FILES && !rc; i++) {
        char name[64], path[4096];
        struct rewind_target t = { .want = i == 1 ? REWIND_ABSENT : REWIND_BYTES,
                                   .source = { .bytes = SLICE("wanted\n") } };

        snprintf(name, sizeof name, "user/d/%s", names[i]);
        t.path = folder_path(&y->folder, name, path);
        rc = rewind_plan_add(plan, &t, NULL);
    }
    return rc;
}

static void carry_out(struct trial_dir *y, struct figures *f)
{
    const struct rewind_options all = { .allow_edited = true };
    struct rewind_plan plan;
    struct rewind_preview preview;
    struct rewind_result result = { 0 };

    assert_int_equal(plan_of(y, &plan), ERR_OK);
    assert_int_equal(rewind_preview(&plan, &all, &preview, NULL), ERR_OK);
    enum err_code rc = rewind_apply(&y->env, &preview, &result, NULL);

    f->refused += rc != ERR_OK || preview.refused > 0;
    f->conflicts += !rc && result.conflicts > 0;
    f->done += !rc && result.conflicts == 0 && preview.refused == 0;
    rewind_result_fini(&result);
    rewind_preview_fini(&preview);
    rewind_plan_fini(&plan);
    y->env.now_ms++;
}

static bool is_known(const struct trial_dir *y, const char *top, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "user/%s/%s", top, name);
    return !folder_has(&y->folder, path) || folder_is(&y->folder, path, "present\n") ||
           folder_is(&y->folder, path, "wanted\n");
}

static void one_round(struct figures *f)
{
    struct trial_dir y;
    struct swapper s = { .began = false };
    pthread_t other;
    size_t recovered;

    trial_dir_make(&y, &swapping);
    char *outside = folder_image(&y.folder, "outside");

    folder_path(&y.folder, "user/d", s.dir);
    folder_path(&y.folder, "user/swap", s.link);
    assert_int_equal(pthread_create(&other, NULL, swap, &s), 0);
    while (!atomic_load(&s.began))
        sched_yield();
    for (int i = 0; i < 10; i++)
        carry_out(&y, f);
    atomic_store(&s.stop, true);
    pthread_join(other, NULL);

    char *after = folder_image(&y.folder, "outside");

    f->escapes += strcmp(outside, after) != 0;
    free(outside);
    free(after);
    if (s.swaps % 2)
        assert_int_equal(renameat2(AT_FDCWD, s.dir, AT_FDCWD, s.link, RENAME_EXCHANGE), 0);
    for (size_t i = 0; i < FILES; i++)
        f->strange += !is_known(&y, "d", names[i]);
    assert_int_equal(rewind_recover(&y.env, &recovered, NULL), ERR_OK);
    f->swaps += s.swaps;
    f->rounds++;
    trial_dir_remove(&y, &swapping);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

TEST(nothing_outside_is_touched)
{
    struct figures f = { 0 };
    double begin = seconds();

    /* Both programs may share one busy processor. */
    while ((trial_is_long() ? seconds() - begin < LONG_SECONDS : f.rounds < ROUNDS) ||
           ((f.swaps == 0 || f.refused == 0) && f.rounds < MOST_ROUNDS))
        one_round(&f);
    printf("%ld rewinds under %ld swaps: %ld done, %ld conflicts, %ld refused; %ld escapes, %ld "
           "strange files\n",
           f.rounds * 10, f.swaps, f.done, f.conflicts, f.refused, f.escapes, f.strange);
    assert_int_equal(f.escapes, 0);
    assert_int_equal(f.strange, 0);
    assert_true(f.swaps > 0);
    assert_true(f.refused > 0);
}
