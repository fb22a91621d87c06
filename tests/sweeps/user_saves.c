#include "tests/test.h"

#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/rewind/plan/rewind.h"
#include "tests/support/coverage.h"
#include "tests/sweeps/trial.h"

/* A person saves a file that a rewind is about to change, at every moment: the rewind is stopped before its k-th call,
 * the file is saved, the rewind continues. In every case the person's bytes are in the file or in the undo record
 * afterwards. */
static const char saved[] = "what the person saved\n";

enum how { IN_PLACE, BY_RENAME, BY_OPEN_DESCRIPTOR, HOWS };

static const char *const how_names[HOWS] = { "in place", "by rename",
                                             "through an open descriptor" };
static const char *const files[] = { "user/restored", "user/deleted", "user/created" };

enum { FILES = sizeof files / sizeof *files };

static void make_tree(struct trial_dir *y)
{
    folder_put(&y->folder, files[0], SLICE("present\n"));
    folder_put(&y->folder, files[1], SLICE("present too\n"));
}

static const struct trial saves = { .name = "a person saves", .make = make_tree };

static enum err_code plan_of(struct trial_dir *y, struct rewind_plan *plan)
{
    char path[FILES][4096];
    enum err_code rc = ERR_OK;

    *plan =
        (struct rewind_plan){ .system = "claude", .session = "s", .point = "m", .root = y->user };
    for (size_t i = 0; i < FILES && !rc; i++) {
        struct rewind_target t = { .path = folder_path(&y->folder, files[i], path[i]),
                                   .want = i == 1 ? REWIND_ABSENT : REWIND_BYTES,
                                   .source = { .bytes = SLICE("wanted\n") } };

        rc = rewind_plan_add(plan, &t, NULL);
    }
    return rc;
}

/* END_FAILED is a valid result too: the previewed file no longer exists. */
static enum trial_end apply(struct trial_dir *y)
{
    const struct rewind_options all = { .allow_outside = true, .allow_edited = true };
    struct rewind_plan plan;
    struct rewind_preview preview;
    struct rewind_result result = { 0 };
    enum err_code rc = plan_of(y, &plan);

    if (!rc)
        rc = rewind_preview(&plan, &all, &preview, NULL);
    if (rc)
        return END_FAILED;
    rc = rewind_apply(&y->env, &preview, &result, NULL);
    enum trial_end end = rc ? END_FAILED : result.conflicts ? END_UNFINISHED : END_DONE;

    rewind_result_fini(&result);
    rewind_preview_fini(&preview);
    rewind_plan_fini(&plan);
    return end;
}

static enum trial_end recover(struct trial_dir *y)
{
    size_t recovered;

    return rewind_recover(&y->env, &recovered, NULL) ? END_FAILED : END_DONE;
}

static void save(const struct trial_dir *y, const char *name, enum how how, int held)
{
    struct slice bytes = { saved, sizeof saved - 1 };
    char path[4096], temp[4096];

    if (how == BY_OPEN_DESCRIPTOR && held >= 0) {
        assert_int_equal(ftruncate(held, 0), 0);
        assert_int_equal(pwrite(held, bytes.p, bytes.n, 0), bytes.n);
    } else if (how == BY_RENAME) {
        folder_put(&y->folder, "user/save.tmp", bytes);
        assert_int_equal(rename(folder_path(&y->folder, "user/save.tmp", temp),
                                folder_path(&y->folder, name, path)),
                         0);
    } else {
        folder_put(&y->folder, name, bytes);
    }
}

/* Searches anywhere below the folder: the file itself, or the undo record. */
static bool is_somewhere(const struct trial_dir *y)
{
    char copy[4096];
    char *roots[] = { copy, NULL };
    bool found = false;
    FTSENT *x;

    snprintf(copy, sizeof copy, "%s", y->folder.path);
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

    assert_non_null(fts);
    while ((x = fts_read(fts)))
        if (x->fts_info == FTS_F)
            found |= folder_is(&y->folder, x->fts_path + strlen(y->folder.path) + 1, saved);
    fts_close(fts);
    return found;
}

struct figures {
    long points, done, conflicts, refused, lost, temps;
};

/* Returns false if the rewind ended before its k-th call. */
static bool save_at(long k, const char *name, enum how how, struct figures *f)
{
    struct trial_dir y;
    char path[4096];
    int status;

    trial_dir_make(&y, &saves);
    int held = open(folder_path(&y.folder, name, path), O_WRONLY | O_CLOEXEC);
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        inject_arm(&(struct inject){ .mode = INJECT_STOP, .nth = k });
        int end = (int)apply(&y);

        inject_arm(&(struct inject){ 0 });
        coverage_keep();
        _exit(end);
    }
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    bool stopped = WIFSTOPPED(status);

    if (stopped) {
        save(&y, name, how, held);
        kill(pid, SIGCONT);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(trial_child(&y, recover, NULL, NULL), END_DONE);
        f->points++;
        f->done += WEXITSTATUS(status) == END_DONE;
        f->refused += WEXITSTATUS(status) == END_FAILED;
        f->conflicts += WEXITSTATUS(status) == END_UNFINISHED;
        f->lost += !is_somewhere(&y);
        char *image = trial_dir_image(&y, false);

        f->temps += strstr(image, ".reprise") != NULL;
        free(image);
    }
    if (held >= 0)
        close(held);
    trial_dir_remove(&y, &saves);
    return stopped;
}

TEST(files_saved_during_a_rewind_are_kept)
{
    struct figures all = { 0 };
    long stride = trial_is_long() ? 1 : 7;

    for (size_t i = 0; i < FILES; i++)
        for (enum how how = 0; how < HOWS; how++) {
            struct figures f = { 0 };

            for (long k = 1 + (long)(i + how) % stride; save_at(k, files[i], how, &f); k += stride)
                ;
            printf("%s saved %s: %ld points: %ld done, %ld conflicts, %ld refused; lost %ld, temps "
                   "%ld\n",
                   files[i], how_names[how], f.points, f.done, f.conflicts, f.refused, f.lost,
                   f.temps);
            assert_true(f.points > 0);
            all.lost += f.lost;
            all.temps += f.temps;
        }
    assert_int_equal(all.lost, 0);
    assert_int_equal(all.temps, 0);
}
