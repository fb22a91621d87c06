#include "tests/test.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "support/rewind/mixed_plan_hook.h"

/* Between a crash and the recovery a person continued working: their work stays, and the rest is done. */

static void recovered_but_for(struct rewind_case *p, int entry, const char *text)
{
    recover(p);
    assert_true(text ? folder_is(&p->folder, place_of[entry], text)
                     : !folder_has(&p->folder, place_of[entry]));
    only_this_is_a_conflict(p, entry);
    mixed_remove(p);
}

TEST(files_saved_since_the_crash_stay)
{
    static const struct {
        const char *call, *name;
        int entry;
    } stops[] = { { "renameat2", "f", F }, { "renameat2", "only", ONLY }, { "renameat2", "h", H } };

    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        struct rewind_case *p = stopped_at(stops[i].call, stops[i].name);

        put_at(p, stops[i].entry, "since\n");
        recovered_but_for(p, stops[i].entry, "since\n");
    }
}

/* Another program wrote exactly the wanted bytes: its file stays. */
TEST(a_file_restored_by_hand_is_not_overwritten)
{
    struct rewind_case *p = stopped_at("renameat2", "f");

    put_at(p, F, "old\n");
    recovered_but_for(p, F, "old\n");
    p = stopped_at("renameat2", "h");
    put_at(p, H, "back\n");
    recovered_but_for(p, H, "back\n");
}

/* A cleaner removed our temporary file, or one of our names is taken. */
TEST(an_entry_without_its_staged_file_is_left_alone)
{
    struct rewind_case *p = stopped_at("renameat2", "f");

    drop_temp(p, F);
    recovered_but_for(p, F, "present\n");
    p = stopped_at("renameat2", "h");
    drop_temp(p, H);
    recovered_but_for(p, H, NULL);
    p = stopped_at("renameat2", "only");
    put_temp(p, ONLY, "somebody's\n");
    recovered_but_for(p, ONLY, "only\n");
}

/* Killed after the exchange; an editor that has the old file open saves into it: its bytes are put back under their
 * name. */
TEST(writes_into_the_old_file_are_put_back)
{
    struct rewind_case *p = stopped_at("renameat2", "o");

    put_temp(p, F, "written since\n");
    recovered_but_for(p, F, "written since\n");
}

static void make_dir(struct rewind_case *p, int entry)
{
    char path[4096];

    assert_int_equal(unlink(folder_path(&p->folder, place_of[entry], path)), 0);
    assert_int_equal(mkdir(path, 0755), 0);
}

TEST(a_path_that_is_no_longer_a_file_is_left_alone)
{
    struct rewind_case *p = stopped_at("renameat2", "f");

    make_dir(p, F);
    recover(p);
    only_this_is_a_conflict(p, F);
    mixed_remove(p);
}

/* ---- modes ---- */

static void to_link(const char *path)
{
    assert_int_equal(symlink("d", path), 0);
}

static void to_socket(const char *path)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(name.sun_path, sizeof name.sun_path, "%.100s", path);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    close(fd);
}

static void to_nothing(const char *path)
{
    (void)path;
}

static void to_equal_size(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    assert_int_equal(write(fd, "SAME\n", 5), 5);
    close(fd);
}

TEST(a_mode_is_set_only_on_the_file_of_the_preview)
{
    static void (*const change[])(const char *) = { to_link, to_socket, to_nothing, to_equal_size };

    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        struct rewind_case *p = stopped_at("renameat2", "h");
        char path[4096];
        struct stat st;

        assert_int_equal(unlink(folder_path(&p->folder, "ws/m", path)), 0);
        change[i](path);
        recover(p);
        assert_true(lstat(path, &st) || !S_ISREG(st.st_mode) || (st.st_mode & 0777) != 0755);
        only_this_is_a_conflict(p, M);
        mixed_remove(p);
    }
}

/* Saved in place with the same size: only its time differs. */
TEST(a_mode_is_not_set_on_a_file_saved_in_place)
{
    struct rewind_case *p = stopped_at("renameat2", "h");
    char path[4096];
    int fd = open(folder_path(&p->folder, "ws/m", path), O_WRONLY | O_CLOEXEC);

    usleep(20000);
    assert_int_equal(pwrite(fd, "SAME\n", 5, 0), 5);
    close(fd);
    recovered_but_for(p, M, "SAME\n");
}

/* ---- directories ---- */

static void move(struct rewind_case *p, const char *from, const char *to)
{
    char a[4096], b[4096];

    assert_int_equal(rename(folder_path(&p->folder, from, a), folder_path(&p->folder, to, b)), 0);
}

static void link_to(struct rewind_case *p, const char *target, const char *name)
{
    char path[4096];

    assert_int_equal(symlink(target, folder_path(&p->folder, name, path)), 0);
}

static void waits(struct rewind_case *p, const char *why)
{
    struct rewind_recovery r;

    assert_int_equal(rewind_recover_all(&p->env, &r, &p->e), ERR_OK);
    assert_int_equal(r.recovered, 0);
    assert_int_equal(r.waiting, 1);
    assert_string_equal(r.first[0].id, record_of(p));
    assert_non_null(strstr(r.first[0].why.text, why));
}

static void is_finished_and_undone(struct rewind_case *p, const char *old)
{
    recover(p);
    assert_true(mixed_is_new(p, false));
    assert_int_equal(mixed_undo(p), ERR_OK);
    assert_true(mixed_is(p, old));
}

/* Before INTENT a file is left beside its target; afterwards the steps of a rewind. */
static struct rewind_case *cut_short_at(const char *call, const char *name, char **old)
{
    struct rewind_case *p = mixed_place(false);

    *old = mixed_image(p);
    if (strcmp(name, "intent") == 0)
        folder_put(&p->folder, "saved/h", SLICE("changed\n"));
    syscall_hook_arm(&(struct syscall_hook){ .call = call, .name = name, .error = EIO });
    assert_int_not_equal(apply(p), ERR_OK);
    assert_true(syscall_hook_fired());
    assert_non_null(strstr(p->e.text, "unfinished"));
    return p;
}

/* Files in a directory that is missing, or in one replaced by a link, are not touched; when it is back, the rewind is
 * completed. */
TEST(recovery_waits_for_a_missing_directory)
{
    static const char *const stops[][2] = { { "renameat2", "f" }, { "renameat", KEPT("0") } };

    for (size_t i = 0; i < 2; i++)
        for (int linked = 0; linked < 2; linked++) {
            char *old, path[4096];
            struct rewind_case *p = cut_short_at(stops[i][0], stops[i][1], &old);

            move(p, "ws/d", "moved");
            if (linked)
                link_to(p, "../moved", "ws/d");
            char *before = folder_image(&p->folder, "moved");

            waits(p,
                  linked ? "a link or a file" : "its directory was moved away or is not mounted");
            char *after = folder_image(&p->folder, "moved");

            assert_string_equal(before, after);
            free(before);
            free(after);
            if (linked)
                assert_int_equal(unlink(folder_path(&p->folder, "ws/d", path)), 0);
            move(p, "moved", "ws/d");
            is_finished_and_undone(p, old);
            free(old);
            mixed_remove(p);
        }
}

static const char *const points[][2] = {
    { "renameat2", "f" }, { "renameat2", "o" }, { "renameat", KEPT("0") }, { "renameat", KEPT("2") }
};

enum { POINTS = sizeof points / sizeof *points };

/* The project is missing, or its name is that of an empty mount point: nothing is done in its place, files outside are
 * restored, and the rest follows when it is back. */
TEST(recovery_waits_for_a_missing_project)
{
    for (size_t i = 0; i < POINTS; i++)
        for (int empty = 0; empty < 2; empty++) {
            char *old, path[4096];
            struct rewind_case *p = cut_short_at(points[i][0], points[i][1], &old);

            move(p, "ws", "moved");
            if (empty)
                folder_dir(&p->folder, "ws");
            waits(p,
                  empty ? "another directory" : "its directory was moved away or is not mounted");
            assert_true(folder_is(&p->folder, "out/o", "old outside\n"));
            assert_int_equal(rmdir(folder_path(&p->folder, "ws", path)), empty ? 0 : -1);
            move(p, "moved", "ws");
            is_finished_and_undone(p, old);
            free(old);
            mixed_remove(p);
        }
}

TEST(dropping_waits_for_a_missing_project)
{
    for (int empty = 0; empty < 2; empty++) {
        char *old, path[4096];
        struct rewind_case *p = cut_short_at("unlink", "intent", &old);

        move(p, "ws", "moved");
        if (empty)
            folder_dir(&p->folder, "ws");
        waits(p, empty ? "another directory" : "its directory was moved away or is not mounted");
        assert_int_equal(rmdir(folder_path(&p->folder, "ws", path)), empty ? 0 : -1);
        move(p, "moved", "ws");
        recover(p);
        assert_true(mixed_is(p, old));
        free(old);
        mixed_remove(p);
    }
}

/* ---- a record that waits ---- */

TEST(a_waiting_record_blocks_only_its_own_files)
{
    char *old, path[4096];
    struct rewind_case *p = cut_short_at("renameat2", "f", &old);
    struct rewind_options both = { .allow_outside = true, .allow_edited = true };
    struct rewind_target t = { .path = folder_path(&p->folder, "out/mine", path),
                               .want = REWIND_BYTES,
                               .source.bytes = SLICE("older\n") };

    move(p, "ws", "moved");
    assert_int_equal(apply(p), ERR_STALE);
    assert_non_null(strstr(p->e.text, "an interrupted rewind is using it"));
    forget(p);
    p->plan = (struct rewind_plan){ .system = "claude", .session = "s", .point = "m" };
    assert_int_equal(rewind_plan_add(&p->plan, &t, NULL), ERR_OK);
    t.path = folder_path(&p->folder, "out/o", path);
    assert_int_equal(rewind_plan_add(&p->plan, &t, NULL), ERR_OK);
    assert_int_equal(rewind_plan_hold(&p->env, &p->plan, NULL), ERR_OK);
    assert_int_equal(rewind_preview(&p->plan, &both, &p->preview, NULL), ERR_OK);
    assert_int_equal(p->preview.refused, 1);
    assert_int_equal(p->preview.entry[1].rule, REWIND_RULE_CONFLICT);
    assert_int_equal(apply(p), ERR_OK);
    assert_true(folder_is(&p->folder, "out/mine", "older\n"));
    assert_int_equal(mixed_undo(p), ERR_OK);
    assert_true(folder_is(&p->folder, "out/mine", "mine\n"));
    move(p, "moved", "ws");
    assert_int_equal(mixed_undo(p), ERR_NOT_FOUND);
    is_finished_and_undone(p, old);
    free(old);
    mixed_remove(p);
}

/* The part done by then can still be undone once it is reachable. */
TEST(a_waiting_record_can_be_given_up)
{
    for (size_t i = 0; i < POINTS; i++) {
        char *old;
        struct rewind_case *p = cut_short_at(points[i][0], points[i][1], &old);
        struct rewind_abandoned a;
        struct rewind_recovery r;
        char id[256];

        snprintf(id, sizeof id, "%s", record_of(p));
        move(p, "ws", "moved");
        assert_int_equal(rewind_abandon(&p->env, "../x", &a, NULL), ERR_NOT_FOUND);
        assert_int_equal(rewind_abandon(&p->env, id, &a, &p->e), ERR_OK);
        assert_int_equal(a.n, 3); /* the files f, only and h */
        assert_non_null(strstr(a.remaining[0], "/ws/d/.reprise-"));
        rewind_abandoned_fini(&a);
        assert_int_equal(rewind_abandon(&p->env, id, &a, NULL), ERR_STALE);
        assert_int_equal(rewind_recover_all(&p->env, &r, NULL), ERR_OK);
        assert_int_equal(r.waiting, 0);
        move(p, "moved", "ws");
        assert_int_equal(mixed_undo(p), ERR_OK);
        assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));
        assert_true(folder_is(&p->folder, "ws/gone/deep/only", "only\n"));
        assert_false(folder_has(&p->folder, "ws/new/deep/h"));
        assert_true(folder_is(&p->folder, "out/o", "new outside\n"));
        free(old);
        mixed_remove(p);
    }
}

TEST(a_record_before_intent_can_be_given_up)
{
    char *old, path[4096];
    struct rewind_case *p = cut_short_at("unlink", "intent", &old);
    struct rewind_abandoned a;
    struct rewind_records list;

    move(p, "ws/d", "moved");
    assert_int_equal(rewind_abandon(&p->env, record_of(p), &a, &p->e), ERR_OK);
    assert_int_equal(a.n, 1);
    move(p, "moved", "ws/d");
    assert_int_equal(unlink(a.remaining[0]), 0);
    rewind_abandoned_fini(&a);
    assert_true(mixed_is(p, old));
    assert_int_equal(rewind_records_read(&p->env, &list, NULL), ERR_OK);
    assert_true(list.record[0].abandoned && list.record[0].empty && !list.record[0].interrupted);
    rewind_records_fini(&list);
    assert_int_equal(mixed_undo(p), ERR_NOT_FOUND);
    snprintf(path, sizeof path, "state/rewinds/%s/kept", record_of(p));
    assert_true(folder_has(&p->folder, path));
    free(old);
    mixed_remove(p);
}

/* ---- what is kept when the record is elsewhere and calls fail there ---- */

static void kept_elsewhere(const char *call, int nth)
{
    struct rewind_case *p = stopped_at("renameat", KEPT("0"));
    size_t recovered;

    put_temp(p, F, "written late\n");
    syscall_hook_arm(
        &(struct syscall_hook){ .call = "renameat", .name = KEPT("0"), .error = EXDEV });
    syscall_hook_arm_also(&(struct syscall_hook){ .call = call, .nth = nth, .error = EIO });
    (void)!rewind_recover(&p->env, &recovered, &p->e);
    (void)syscall_hook_fired();
    syscall_hook_arm(
        &(struct syscall_hook){ .call = "renameat", .name = KEPT("0"), .error = EXDEV });
    assert_int_equal(rewind_recover(&p->env, &recovered, &p->e), ERR_OK);
    (void)syscall_hook_fired();
    assert_true(is_kept(p, F, "written late\n"));
    assert_true(mixed_is_new(p, false));
    mixed_remove(p);
}

TEST(late_writes_are_kept_whatever_fails)
{
    static const char *const calls[] = {
        "openat64", "open64", "fstat64",  "pread64",   "write",
        "fsync",    "close",  "unlinkat", "fstatat64", "renameat"
    };

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int nth = 1; nth <= 25; nth++) /* more than there are */
            kept_elsewhere(calls[i], nth);
}

/* Staged for a conflict: the file is removed, if only at the second try. */
TEST(an_unused_staged_file_is_removed)
{
    struct rewind_case *p = stopped_at("renameat2", "f");
    size_t recovered;
    char temp[4096];

    put_at(p, F, "since\n");
    syscall_hook_arm(&(struct syscall_hook){ .call = "unlinkat", .name = "*-0.tmp", .error = EIO });
    assert_int_not_equal(rewind_recover(&p->env, &recovered, &p->e), ERR_OK);
    assert_true(syscall_hook_fired());
    assert_true(folder_has(&p->folder, temp_of(p, F, temp)));
    recovered_but_for(p, F, "since\n");
}

static void drop_staged(void *arg)
{
    drop_temp(arg, F);
}

/* No decision was made; a cleaner removes our temporary file just before we do. */
TEST(a_staged_file_removed_by_a_cleaner_does_no_harm)
{
    struct rewind_case *p = mixed_place(false);
    char *old = mixed_image(p);

    folder_put(&p->folder, "saved/h", SLICE("changed\n"));
    syscall_hook_arm(&(struct syscall_hook){ .call = "unlink", .name = "intent", .error = EIO });
    assert_int_equal(apply(p), ERR_STALE);
    assert_true(syscall_hook_fired());
    syscall_hook_arm(&(struct syscall_hook){
        .call = "unlinkat", .name = "*-0.tmp", .then = drop_staged, .arg = p });
    recover(p);
    assert_true(syscall_hook_fired());
    assert_true(mixed_is(p, old));
    free(old);
    mixed_remove(p);
}

TEST_MAIN
{
    folder_in_memory();
    return test_run(NULL, NULL);
}
