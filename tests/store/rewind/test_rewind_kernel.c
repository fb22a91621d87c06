#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support/faults/old_kernel.h"
#include "support/rewind/rewind_case.h"
#include "tests/support/coverage.h"

/* Old kernels, read-only and other file systems, and the attributes of a file that must be kept: the rest of the fault
 * cases of test_rewind_cases.c. */

/* ---- 2, 40: separate file systems, which only root can mount ---- */

static bool mount_on(const struct rewind_case *p, const char *name)
{
    char path[4096];

    return mount("tmpfs", folder_path(&p->folder, name, path), "tmpfs", 0, "size=1m") == 0;
}

static void make_read_only(const struct rewind_case *p, const char *name)
{
    char path[4096];

    assert_int_equal(
        mount(NULL, folder_path(&p->folder, name, path), NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(a_read_only_file_system_is_reported_before_anything_is_copied)
{
    struct rewind_case *p = *state;

    if (!mount_on(p, "ws"))
        skip();
    folder_put(&p->folder, "ws/f", SLICE("present\n"));
    want_in(p, "ws/f", "old\n");
    enum err_code looked = look(p);

    make_read_only(p, "ws");
    enum err_code rc = apply(p);
    bool clean = nothing_of_ours_is_left(p);

    umount2(p->root, MNT_DETACH);
    assert_int_equal(looked, ERR_OK);
    assert_int_equal(rc, ERR_IO);
    assert_int_equal(p->e.sys, EROFS);
    assert_string_equal(p->e.path, p->root);
    assert_true(clean);
}

static bool bind_f(const struct rewind_case *p)
{
    return mount(p->f, p->f, NULL, MS_BIND, NULL) == 0;
}

/* Its name cannot be moved; the preview finds that out, or apply at the latest. */
CASE(a_file_that_is_a_mount_point_is_refused)
{
    NEEDS("statx, which shows mounts of the same file system");
    struct rewind_case *p = *state;

    want(p, p->f, "old\n");
    want_in(p, "ws/d/g", "older\n");
    assert_int_equal(look(p), ERR_OK);
    if (!bind_f(p))
        skip();
    enum err_code rc = apply(p);
    bool clean = nothing_of_ours_is_left(p);
    int sys = p->e.sys;

    (void)!look(p);
    size_t refused = p->preview.refused;
    enum rewind_rule rule = p->preview.entry[0].rule;
    enum err_code rest = apply(p);

    umount2(p->f, MNT_DETACH);
    assert_int_equal(rc, ERR_IO);
    assert_int_equal(sys, EBUSY);
    assert_true(clean);
    assert_int_equal(refused, 1);
    assert_int_equal(rule, REWIND_RULE_ACCESS);
    assert_int_equal(rest, ERR_OK);
    assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));
    assert_true(folder_is(&p->folder, "ws/d/g", "older\n"));
}

/* In a directory that others could write to, a record of another user, or one of ours with a file of theirs. */
CASE(records_of_another_user_are_not_carried_out)
{
    static const char *const theirs[] = { "", "/plan", "/intent" };
    struct rewind_case *p = *state;
    char dir[5000], path[8192], rewinds[4096];
    struct stat st;

    want(p, p->f, "old\n");
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(apply(p), ERR_OK);
    folder_path(&p->folder, "state/rewinds", rewinds);
    snprintf(dir, sizeof dir, "%s/%s", rewinds, p->result.undo);
    snprintf(path, sizeof path, "%s/done", dir);
    assert_int_equal(unlink(path), 0);
    for (size_t i = 0; i < 3; i++) {
        struct rewind_records list;
        struct rewind_recovery r;

        snprintf(path, sizeof path, "%s%s", dir, theirs[i]);
        if (geteuid() != 0 || chown(path, 65534, 65534))
            skip();
        assert_int_equal(chmod(rewinds, 0777), 0);
        assert_int_equal(rewind_recover_all(&p->env, &r, NULL), ERR_OK);
        assert_int_equal(r.recovered + r.waiting, 0);
        assert_int_equal(stat(rewinds, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0700);
        assert_int_equal(rewind_records_read(&p->env, &list, NULL), ERR_OK);
        assert_int_equal(list.n, 0);
        assert_string_equal(list.unread, "");
        rewind_records_fini(&list);
        assert_int_equal(chown(path, 0, 0), 0);
    }
}

CASE(a_dry_run_works_on_a_read_only_file_system)
{
    struct rewind_case *p = *state;

    if (!mount_on(p, "ws"))
        skip();
    folder_put(&p->folder, "ws/f", SLICE("present\n"));
    make_read_only(p, "ws");
    want_in(p, "ws/f", "old\n");
    char *before = folder_image(&p->folder, "ws");
    enum err_code rc = look(p);
    char *after = folder_image(&p->folder, "ws");

    umount2(p->root, MNT_DETACH);
    assert_int_equal(rc, ERR_OK);
    assert_int_equal(p->preview.entry[0].action, REWIND_REFUSED);
    assert_string_equal(p->preview.entry[0].why, "its file system is read-only");
    assert_string_equal(before, after);
    assert_false(folder_has(&p->folder, "state"));
    free(before);
    free(after);
}

/* The record is on another file system: replaced files cannot be moved there, so their copies stay. */
CASE(a_record_on_another_file_system_works_as_well)
{
    struct rewind_case *p = *state;

    folder_dir(&p->folder, "state");
    if (!mount_on(p, "state"))
        skip();
    want(p, p->f, "old\n");
    want_in(p, "ws/d/g", NULL);
    enum err_code looked = look(p), rc = apply(p);
    bool done = folder_is(&p->folder, "ws/d/f", "old\n") && !folder_has(&p->folder, "ws/d/g");
    enum err_code undone = undo(p);

    umount2(p->state, MNT_DETACH);
    assert_int_equal(looked, ERR_OK);
    assert_int_equal(rc, ERR_OK);
    assert_true(done);
    assert_int_equal(undone, ERR_OK);
    assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));
    assert_true(folder_is(&p->folder, "ws/d/g", "also\n"));
}

/* ---- old kernels, owners and attributes ---- */

enum { AS_WANTED, OTHERWISE, CANNOT };

/* In a child, because the setting cannot be undone in a process. */
static int on_old_kernel(struct rewind_case *p, long call, int error, enum err_code expected)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        if (!kernel_refuses(call, error))
            _exit(CANNOT);
        enum err_code rc = look(p) ? ERR_IO : apply(p);

        if (rc != expected)
            fprintf(stderr, "%s: %s\n", p->e.path, p->e.text);
        coverage_keep();
        _exit(rc == expected ? AS_WANTED : OTHERWISE);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT)
        skip();
    return WEXITSTATUS(status);
}

CASE(without_openat2_directories_are_walked)
{
    struct rewind_case *p = *state;
    char link_path[4096];

    want(p, p->f, "old\n");
    want_in(p, "ws/d/g", NULL);
    want_in(p, "ws/new/deep/h", "new\n");
    assert_int_equal(on_old_kernel(p, SYS_openat2, ENOSYS, ERR_OK), AS_WANTED);
    assert_true(folder_is(&p->folder, "ws/d/f", "old\n"));
    assert_false(folder_has(&p->folder, "ws/d/g"));
    assert_true(folder_is(&p->folder, "ws/new/deep/h", "new\n"));
    p->env.now_ms++;
    assert_int_equal(undo(p), ERR_OK);
    assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));
    assert_false(folder_has(&p->folder, "ws/new"));

    /* and links in the path are not followed there either */
    folder_put(&p->folder, "outside/f", SLICE("secret\n"));
    assert_int_equal(symlink("../outside", folder_path(&p->folder, "ws/link", link_path)), 0);
    forget(p);
    p->plan =
        (struct rewind_plan){ .system = "claude", .session = "s", .point = "m", .root = p->root };
    want_in(p, "ws/link/f", "x\n");
    assert_int_equal(on_old_kernel(p, SYS_openat2, ENOSYS, ERR_OK), AS_WANTED);
    assert_true(folder_is(&p->folder, "outside/f", "secret\n"));
}

/* Names are moved one by one, and nothing of that is left. */
CASE(without_renameat2_names_are_moved_one_by_one)
{
    static const char *const wanted[] = { "ws/d/f", "ws/d/g", "ws/d/new" };
    static const char *const texts[] = { "old\n", NULL, "new\n" };
    static const int errors[] = { ENOSYS, EINVAL };

    for (size_t i = 0; i < 6; i++) {
        struct rewind_case *p;

        assert_int_equal(set_up((void **)&p), 0);
        want_in(p, wanted[i / 2], texts[i / 2]);
        char *before = folder_image(&p->folder, "ws");

        assert_int_equal(on_old_kernel(p, SYS_renameat2, errors[i % 2], ERR_OK), AS_WANTED);
        if (texts[i / 2])
            assert_true(folder_is(&p->folder, wanted[i / 2], texts[i / 2]));
        else
            assert_false(folder_has(&p->folder, wanted[i / 2]));
        p->env.now_ms++;
        assert_int_equal(undo(p), ERR_OK);
        char *after = folder_image(&p->folder, "ws");

        assert_string_equal(before, after);
        free(before);
        free(after);
        tear_down((void **)&p);
    }
}

/* Version 2, then the entries: owner rw-, user 12345 r--, group r--, mask r--, others r--. */
static const uint8_t acl[] = { 2,    0,    0,    0,    1,    0,    6,    0,    0xff, 0xff, 0xff,
                               0xff, 2,    0,    4,    0,    0x39, 0x30, 0,    0,    4,    0,
                               4,    0,    0xff, 0xff, 0xff, 0xff, 16,   0,    4,    0,    0xff,
                               0xff, 0xff, 0xff, 32,   0,    4,    0,    0xff, 0xff, 0xff, 0xff };

CASE(an_owner_and_an_acl_are_kept)
{
    struct rewind_case *p = *state;
    uint8_t got[sizeof acl];
    struct stat st;
    bool has_acl = setxattr(p->f, "system.posix_acl_access", acl, sizeof acl, 0) == 0;
    bool owned = chown(p->f, 1234, 2345) == 0;

    if (!has_acl && !owned)
        skip();
    want(p, p->f, "old\n");
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(apply(p), ERR_OK);
    assert_int_equal(stat(p->f, &st), 0);
    if (owned) {
        assert_int_equal(st.st_uid, 1234);
        assert_int_equal(st.st_gid, 2345);
    }
    if (has_acl) {
        assert_int_equal(getxattr(p->f, "system.posix_acl_access", got, sizeof got), sizeof got);
        assert_memory_equal(got, acl, sizeof acl);
    }
}

/* A file of the user that belongs to another group. */
CASE(a_group_is_kept)
{
    struct rewind_case *p = *state;
    struct stat st;

    if (chown(p->f, (uid_t)-1, 2345))
        skip();
    want(p, p->f, "old\n");
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(apply(p), ERR_OK);
    assert_int_equal(stat(p->f, &st), 0);
    assert_int_equal(st.st_gid, 2345);
}

CASE(attributes_that_cannot_be_kept_stop_the_rewind)
{
    static const struct {
        long call;
        int error;
        bool owner;
    } way[] = { { SYS_fchown, EPERM, true },
                { SYS_fsetxattr, EPERM, false },
                { SYS_fgetxattr, EIO, false },
                { SYS_flistxattr, EIO, false } };

    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        struct rewind_case *p;

        assert_int_equal(set_up((void **)&p), 0);
        bool arranged = way[i].owner ? chown(p->f, 1234, 2345) == 0
                                     : setxattr(p->f, "user.note", "kept", 4, 0) == 0;

        want(p, p->f, "old\n");
        if (arranged)
            assert_int_equal(on_old_kernel(p, way[i].call, way[i].error, ERR_IO), AS_WANTED);
        assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));
        assert_true(nothing_of_ours_is_left(p));
        tear_down((void **)&p);
    }
}

/* Directories of some network file systems cannot be synced, and some have no locks. */
CASE(other_file_systems_work_or_explain_why_not)
{
    struct rewind_case *p = *state;

    want(p, p->f, "old\n");
    assert_int_equal(on_old_kernel(p, SYS_flock, ENOLCK, ERR_IO), AS_WANTED);
    assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));
    assert_int_equal(on_old_kernel(p, SYS_fsync, EINVAL, ERR_OK), AS_WANTED);
    assert_true(folder_is(&p->folder, "ws/d/f", "old\n"));
}
