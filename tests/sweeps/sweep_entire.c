#include "tests/support/entire_fixture.h"

#include <fcntl.h>
#include <stdlib.h>

#include "lite/io/file.h"
#include "store/rewind/plan/plan.h"
#include "store/systems/entire/entire.h"
#include "tests/sweeps/rewind_sweep.h"
#include "tests/test.h"

/* A rewind of an Entire session: its plan comes from a shadow branch, and git saves the work tree before the first file
 * changes. The work tree is compared; the repository is beside it. */
#define SESSION "a1b2c3d4-0001-4000-8000-00000000000a"

static void make_repository(struct trial_dir *y)
{
    struct entire_fixture w = { .folder = y->folder };

    entire_fixture_share(&y->folder, "two-sessions");
    folder_path(&y->folder, "two-sessions", y->user);
    /* The first point: the time from the start to it is known, its hash is not. */
    free(entire_fixture_sh(
        &w,
        "mv two-sessions/.git git && echo \"gitdir: $PWD/git\" >two-sessions/.git && "
        "awk '$2==%d{printf \"%%s\", $1}' expected/two-sessions/points.tsv >point",
        1770631200 + 120));
}

static enum err_code plan_of(struct trial_dir *y, struct rewind_plan *plan, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct store *st = NULL;
    struct arena a = { 0 };
    struct buf point = { 0 };
    struct session_ref ref;
    char path[4096];
    enum err_code rc =
        file_read_all(AT_FDCWD, folder_path(&y->folder, "point", path), 0, 64, &point, e);

    if (!rc)
        rc = entire_ops.open(&y->env, y->user, &st, e);
    if (!rc)
        rc = entire_ops.find(st, &everywhere, SLICE(SESSION), &a, &ref, e);
    if (!rc)
        rc = rewind_plan_make(&ref, buf_slice(&point), REWIND_CODE, plan, e);
    store_close(st);
    buf_fini(&point);
    arena_fini(&a);
    return rc;
}

static enum trial_end apply(struct trial_dir *y)
{
    return rewind_sweep_apply(y, plan_of);
}

/* Masks the path of the repository. */
static void blur(char *image)
{
    static const char front[] = "reprise-test-";

    for (char *p = image; (p = strstr(p, front));) {
        p += strlen(front);
        memset(p, 'x', strcspn(p, "/"));
    }
}

TEST(files_of_a_shadow_branch_are_restored_or_unchanged)
{
    struct trial s = { .name = "rewind of an Entire session",
                       .make = make_repository,
                       .act = apply,
                       .recover = rewind_sweep_recover,
                       .undo = rewind_sweep_undo,
                       .blur = blur,
                       .thorough = true,
                       .stride = 61 };

    /* A repository takes long to create, and recovery is the engine's, tested with other systems. */
    if (trial_is_long())
        trial_must_hold(&s);
    else
        trial_must_hold_once(&s);
}
