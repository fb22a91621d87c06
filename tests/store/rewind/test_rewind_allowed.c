#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/faults/syscall_hook.h"
#include "support/rewind/rewind_case.h"
#include "tests/support/coverage.h"

/* Files that may not be moved or changed are found before INTENT: after it the rewind could never be finished and would
 * block every later one. Each case is reported in one line and leaves everything as it was. */

enum { ME = 12345, OTHER = 12346 };

static const struct rewind_options everything = { .allow_outside = true, .allow_edited = true };

static void want_mode(struct rewind_case *p, const char *text, uint32_t mode)
{
    struct rewind_target t = {
        .path = p->f, .source.bytes = { text, strlen(text) }, .has_mode = true, .mode = mode
    };

    assert_int_equal(rewind_plan_add(&p->plan, &t, NULL), ERR_OK);
}

/* The three ways in which an existing file changes. */
static void want_in_way(struct rewind_case *p, int way)
{
    if (way == 0)
        want(p, p->f, "old\n");
    else if (way == 1)
        want(p, p->f, NULL);
    else
        want_mode(p, "present\n", 0600);
}

/* The preview shows it, and the rest is done. An apply of a preview from before it was so changes nothing. */
static bool is_refused(struct rewind_case *p)
{
    struct rewind_entry *x;
    size_t refused = 0;

    rewind_preview_fini(&p->preview);
    if (rewind_preview(&p->plan, &everything, &p->preview, &p->e) != ERR_OK)
        return false;
    for (size_t i = 0; i < p->preview.n; i++) {
        x = &p->preview.entry[i];
        if (x->action != REWIND_REFUSED)
            continue;
        if (x->rule != REWIND_RULE_ACCESS || !x->why)
            return false;
        refused++;
        x->action = x->target->want == REWIND_ABSENT ? REWIND_DELETE
                    : x->seen.exists                 ? REWIND_RESTORE
                                                     : REWIND_CREATE;
        x->chosen = true;
    }
    enum err_code rc = apply(p);

    return refused && rc == ERR_IO && !strstr(p->e.text, "unfinished") &&
           folder_is(&p->folder, "ws/d/f", "present\n") && nothing_of_ours_is_left(p);
}

/* ---- immutable files ---- */

/* The file's other flags are kept. */
static bool make_fixed(const char *path, int flag)
{
    int flags = 0, fd = open(path, O_RDONLY | O_CLOEXEC);
    bool done = fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0;

    flags = (flags & ~(FS_IMMUTABLE_FL | FS_APPEND_FL)) | flag;
    done = done && ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
    close(fd);
    return done;
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(immutable_files_are_left_alone)
{
    NEEDS("statx, which shows immutable files");
    static const int kinds[] = { FS_IMMUTABLE_FL, FS_APPEND_FL };

    for (int way = 0; way < 3; way++)
        for (size_t k = 0; k < 2; k++) {
            struct rewind_case *p;

            assert_int_equal(set_up((void **)&p), 0);
            want_in_way(p, way);
            bool can = make_fixed(p->f, kinds[k]), refused = can && is_refused(p);

            make_fixed(p->f, 0);
            tear_down((void **)&p);
            if (!can)
                skip(); /* only root may set it, and not on every file system */
            assert_true(refused);
        }
}

/* An append-only directory does not give a name away, so our own file would stay in it. The attributes of its files may
 * change. */
CASE(an_append_only_directory_keeps_its_names)
{
    NEEDS("statx, which shows immutable files");
    for (int way = 0; way < 3; way++) {
        struct rewind_case *p;
        char dir[4096];
        struct stat st;

        assert_int_equal(set_up((void **)&p), 0);
        want_in_way(p, way);
        bool can = make_fixed(folder_path(&p->folder, "ws/d", dir), FS_APPEND_FL);
        bool refused = can && is_refused(p), looked = stat(p->f, &st) == 0;

        make_fixed(dir, 0);
        tear_down((void **)&p);
        if (!can)
            skip();
        assert_true(looked);
        assert_int_equal(refused, way < 2);
        assert_int_equal((st.st_mode & 0777) == 0600, way == 2);
    }
}

/* ---- other people's files ---- */

/* Runs in a process of a user that is not root. */
static bool is_so_for_me(struct rewind_case *p, bool (*is_so)(struct rewind_case *p))
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        bool so = setgid(ME) == 0 && setuid(ME) == 0 && is_so(p);

        coverage_keep();
        _exit(so ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The project and the records are the user's; the directory is open to all, as /tmp is, or belongs to another user. */
static void give(struct rewind_case *p, mode_t dir_mode, uid_t dir_owner, mode_t mode)
{
    static const char *const mine[] = { "", "ws", "ws/d", "ws/d/g", "state" };
    char path[4096];

    folder_dir(&p->folder, "state");
    for (size_t i = 0; i < sizeof mine / sizeof *mine; i++)
        assert_int_equal(chown(folder_path(&p->folder, mine[i], path), ME, ME), 0);
    assert_int_equal(chown(p->f, OTHER, OTHER), 0);
    assert_int_equal(chmod(p->f, mode), 0);
    folder_path(&p->folder, "ws/d", path);
    assert_int_equal(chown(path, dir_owner, dir_owner), 0);
    assert_int_equal(chmod(path, dir_mode), 0);
}

CASE(other_peoples_files_are_left_alone)
{
    static const struct {
        mode_t dir_mode;
        uid_t dir_owner;
        int way;
    } cases[] = { { 01777, OTHER, 0 }, { 01777, OTHER, 1 }, { 0755, OTHER, 1 }, { 0777, OTHER, 1 },
                  { 0755, ME, 2 },     { 0755, ME, 1 },     { 01777, ME, 1 },   { 0755, ME, 0 } };

    if (geteuid() != 0)
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rewind_case *p;

        assert_int_equal(set_up((void **)&p), 0);
        give(p, cases[i].dir_mode, cases[i].dir_owner, 0644);
        want_in_way(p, cases[i].way);
        bool refused = is_so_for_me(p, is_refused);

        tear_down((void **)&p);
        if (!refused)
            fail_msg("case %zu was not refused", i);
    }
}

static bool is_done(struct rewind_case *p)
{
    return look(p) == ERR_OK && apply(p) == ERR_OK && p->result.outcome[0] == REWIND_DONE;
}

/* Even if other users may not change them. */
CASE(files_owned_by_the_user_are_changed)
{
    static const struct {
        mode_t dir_mode;
        uid_t dir_owner;
    } dirs[] = { { 0755, ME }, { 01777, OTHER }, { 01777, ME } };

    if (geteuid() != 0)
        skip();
    for (int i = 0; i < 9; i++) {
        struct rewind_case *p;

        assert_int_equal(set_up((void **)&p), 0);
        give(p, dirs[i / 3].dir_mode, dirs[i / 3].dir_owner, 0644);
        assert_int_equal(chown(p->f, ME, ME), 0);
        want_in_way(p, i % 3);
        bool done = is_so_for_me(p, is_done);

        tear_down((void **)&p);
        if (!done)
            fail_msg("case %d was not done", i);
    }
}

/* ---- read-only ---- */

/* Found at the second file, when a temporary file of the first exists already. */
CASE(files_outside_the_project_may_be_read_only)
{
    struct rewind_case *p = *state;
    char out[4096];

    folder_dir(&p->folder, "out");
    if (mount("tmpfs", folder_path(&p->folder, "out", out), "tmpfs", 0, "size=1m"))
        skip();
    folder_put(&p->folder, "out/f", SLICE("present\n"));
    assert_int_equal(mount(NULL, out, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    want(p, p->f, "old\n");
    want_in(p, "out/f", "old\n");
    want_in(p, "out/made/here", "old\n");
    bool refused = is_refused(p);
    int why = p->e.sys;

    umount2(out, MNT_DETACH);
    assert_true(refused);
    assert_int_equal(why, EROFS);
}

/* It cannot be known whether the file is read-only, and after INTENT it would be too late to find out. */
CASE(nothing_is_done_if_the_file_system_reports_no_flags)
{
    for (int way = 0; way < 3; way++) {
        struct rewind_case *p;

        assert_int_equal(set_up((void **)&p), 0);
        want_in_way(p, way);
        syscall_hook_arm(
            &(struct syscall_hook){ .call = "fstatvfs64", .stays = true, .error = EIO });
        bool refused = is_refused(p);
        int why = p->e.sys;

        assert_true(syscall_hook_fired());
        tear_down((void **)&p);
        assert_true(refused);
        assert_int_equal(why, EIO);
    }
}

/* Names cannot be exchanged, and a file cannot have two of them (exFAT). */
CASE(nothing_is_done_if_names_cannot_be_moved)
{
    for (int way = 0; way < 2; way++) {
        struct rewind_case *p;

        assert_int_equal(set_up((void **)&p), 0);
        want_in_way(p, way);
        syscall_hook_arm(
            &(struct syscall_hook){ .call = "renameat2", .name = "*probe", .error = EINVAL });
        syscall_hook_arm_also(
            &(struct syscall_hook){ .call = "linkat", .name = "*probe2", .error = EPERM });
        (void)!rewind_preview(&p->plan, &everything, &p->preview, &p->e);
        enum err_code rc = apply(p);
        bool clean = folder_is(&p->folder, "ws/d/f", "present\n") && nothing_of_ours_is_left(p);

        assert_true(syscall_hook_fired());
        tear_down((void **)&p);
        assert_int_equal(rc, ERR_UNSUPPORTED);
        assert_true(clean);
    }
}

/* A ramfs has no blocks, so no free ones are reported. */
CASE(a_file_system_without_block_counts_has_room)
{
    struct rewind_case *p = *state;

    folder_dir(&p->folder, "state");
    if (mount("ramfs", p->state, "ramfs", 0, NULL))
        skip();
    want(p, p->f, "old\n");
    bool done = is_done(p);

    umount2(p->state, MNT_DETACH);
    assert_true(done);
}

/* Nothing needs recovery, so nothing needs to be written. */
CASE(records_are_readable_on_a_read_only_file_system)
{
    struct rewind_case *p = *state;
    struct rewind_records list;
    size_t recovered = 9;

    folder_dir(&p->folder, "state");
    if (mount("tmpfs", p->state, "tmpfs", 0, "size=1m"))
        skip();
    want(p, p->f, "old\n");
    enum err_code rc = look(p);

    if (!rc)
        rc = apply(p);
    if (!rc && mount(NULL, p->state, NULL, MS_REMOUNT | MS_RDONLY, NULL))
        rc = ERR_IO;
    if (!rc)
        rc = rewind_recover(&p->env, &recovered, &p->e);
    if (!rc)
        rc = rewind_records_read(&p->env, &list, &p->e);
    umount2(p->state, MNT_DETACH);
    assert_int_equal(rc, ERR_OK);
    assert_int_equal(recovered, 0);
    assert_int_equal(list.n, 1);
    rewind_records_fini(&list);
}

/* A new file is refused where nothing can be made, however many directories are missing. */
CASE(nothing_is_made_where_nothing_can_be_made)
{
    static const char *const names[] = { "ws/d/new", "ws/d/made/here/new" };

    if (geteuid() != 0)
        skip();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct rewind_case *p;

        assert_int_equal(set_up((void **)&p), 0);
        give(p, 0555, ME, 0644);
        want_in(p, names[i], "old\n");
        bool refused = is_so_for_me(p, is_refused);

        tear_down((void **)&p);
        if (!refused)
            fail_msg("%s was not refused", names[i]);
    }
}

/* One file that cannot be replaced is no reason to leave the others as they are. */
CASE(the_other_files_are_rewound)
{
    struct rewind_case *p = *state;
    char out[4096];

    folder_dir(&p->folder, "ws/fixed");
    if (mount("tmpfs", folder_path(&p->folder, "ws/fixed", out), "tmpfs", 0, "size=1m"))
        skip();
    folder_put(&p->folder, "ws/fixed/f", SLICE("present\n"));
    assert_int_equal(mount(NULL, out, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    want(p, p->f, "old\n");
    want_in(p, "ws/fixed/f", "old\n");
    want_in(p, "ws/fixed/gone/new", "old\n");
    bool done = look(p) == ERR_OK && p->preview.refused == 2 && apply(p) == ERR_OK &&
                folder_is(&p->folder, "ws/d/f", "old\n") &&
                folder_is(&p->folder, "ws/fixed/f", "present\n");

    umount2(out, MNT_DETACH);
    assert_true(done);
}
