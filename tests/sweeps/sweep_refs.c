#include "tests/support/entire_fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include "store/maintenance/trash.h"
#include "store/systems/entire/entire.h"
#include "tests/sweeps/change_sweep.h"
#include "tests/test.h"

/* The last session of a shadow branch is deleted together with the branch: its tip is below refs/reprise/ from then on.
 * The refs are compared; the files of a session are swept in sweep_trash. */
#define SESSION "a1b2c3d4-0001-4000-8000-00000000000a"
#define NEIGHBOUR "b1b2c3d4-0002-4000-8000-00000000000b"

static void make_repository(struct trial_dir *y)
{
    char state[4096];

    entire_fixture_share(&y->folder, "two-sessions");
    assert_int_equal(
        unlink(
            folder_path(&y->folder, "two-sessions/.git/entire-sessions/" NEIGHBOUR ".json", state)),
        0);
    folder_path(&y->folder, "two-sessions/.git/refs", y->user);
}

/* branch: it was deleted too. If it stays because it cannot be read, that is reported. */
static enum err_code take_it_away(struct trial_dir *y, bool *branch, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct store *st = NULL;
    struct arena a = { 0 };
    struct session_ref ref;
    struct trash_request r;
    struct trash_list list;
    struct change_log *log = NULL;
    char repo[4096];
    enum err_code rc =
        entire_ops.open(&y->env, folder_path(&y->folder, "two-sessions", repo), &st, e);

    if (!rc)
        rc = entire_ops.find(st, &everywhere, SLICE(SESSION), &a, &ref, e);
    if (!rc)
        rc = trash_request_make(&ref, SLICE("t"), TRASH_REQUEST_ALL | TRASH_REQUEST_UNSURE, &a, &r,
                                e);
    if (!rc)
        rc = change_log_open(&y->env, &log, e);
    if (!rc)
        rc = trash_add(log, &y->env, "delete", &r, 1, &list, e);
    *branch = !rc && !list.item[0].stays;
    if (!rc)
        trash_list_fini(&list);
    change_log_close(log);
    store_close(st);
    arena_fini(&a);
    return rc;
}

static enum trial_end take_away(struct trial_dir *y)
{
    struct err e = { 0 };
    bool branch;
    enum err_code rc = take_it_away(y, &branch, &e);

    return rc || branch ? trial_end_of(rc, &e) : END_FAILED;
}

/* A killed git leaves its lock, and so does ours: the next user removes it, as git itself advises. */
static enum trial_end recover(struct trial_dir *y)
{
    struct entire_fixture w = { .folder = y->folder };

    free(entire_fixture_sh(&w, "find two-sessions/.git -name '*.lock' -delete"));
    return change_sweep_recover(y);
}

static void make_deleted(struct trial_dir *y)
{
    make_repository(y);
    assert_int_equal(take_away(y), END_DONE);
}

/* Directories of refs come and go with their contents, the name in the trash is random, and a restored ref is a new
 * file. */
static void blur(char *image)
{
    static const char trash[] = "/reprise/trash/";
    char *to = image;

    for (char *line = image, *end; *line; line = end) {
        size_t n = strcspn(line, "\n");
        const char *mode = memchr(line, ' ', n);

        end = line + n + (line[n] == '\n');
        if (mode && strncmp(mode, " 40", 3) == 0)
            continue;
        if (strncmp(line, trash, sizeof trash - 1) == 0)
            for (char *p = line + sizeof trash - 1; *p != '/' && *p != '\n'; p++)
                *p = 'x';
        if (mode)
            n = (size_t)(mode - line);
        memmove(to, line, n);
        to += n;
        *to++ = '\n';
    }
    *to = '\0';
}

static void hold(const char *name, void (*make)(struct trial_dir *),
                 enum trial_end (*act)(struct trial_dir *),
                 enum trial_end (*undo)(struct trial_dir *))
{
    struct trial s = { .name = name,
                       .make = make,
                       .act = act,
                       .recover = recover,
                       .undo = undo,
                       .blur = blur,
                       .thorough = true,
                       .gives_up = true,
                       .stride = 47 };

    trial_must_hold(&s);
}

TEST(branch_exists_or_is_in_the_trash)
{
    hold("delete of a shadow branch", make_repository, take_away, change_sweep_undo);
}

TEST(branch_is_in_the_trash_or_restored)
{
    hold("undo of that", make_deleted, change_sweep_undo, NULL);
}
