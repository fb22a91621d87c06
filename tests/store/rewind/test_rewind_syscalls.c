#include "tests/test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/rewind/mixed_plan_hook.h"

/* A person changes files while a rewind is under way: between the check of a file and the exchange of names, or between
 * two exchanges. Their changes stay, the files they replaced are in the record, and the rest is done. */

static void save_f(void *arg)
{
    save(arg, F, "saved\n");
}

static void save_only(void *arg)
{
    save(arg, ONLY, "saved\n");
}

static void save_only_again(void *arg)
{
    save(arg, ONLY, "again\n");
}

static void save_h(void *arg)
{
    save(arg, H, "saved\n");
}

static void drop_f(void *arg)
{
    drop(arg, F);
}

static void drop_only(void *arg)
{
    drop(arg, ONLY);
}

static void applied_with(const struct syscall_hook *m, struct rewind_case *p, int entry)
{
    struct syscall_hook with = *m;

    with.arg = p;
    syscall_hook_arm(&with);
    assert_int_equal(apply(p), ERR_OK);
    assert_true(syscall_hook_fired());
    assert_int_equal(p->result.conflicts, 1);
    assert_int_equal(p->result.outcome[entry], REWIND_CONFLICT);
}

TEST(a_file_saved_before_the_exchange_stays)
{
    struct rewind_case *p = mixed_place(false);

    applied_with(&(struct syscall_hook){ .call = "renameat2", .name = "f", .then = save_f }, p, F);
    assert_true(folder_is(&p->folder, "ws/d/f", "saved\n"));
    only_this_is_a_conflict(p, F);
    assert_true(folder_is(&p->folder, "ws/d/f", "saved\n"));
    mixed_remove(p);
}

static void fork_child(void *child)
{
    const pid_t pid = fork();

    if (pid == 0) {
        pause();
        _exit(0);
    }
    *(pid_t *)child = pid;
}

/* A host may fork while one of its threads rewinds; its child has all descriptors. */
TEST(a_forked_child_keeps_no_lock)
{
    struct rewind_case *p = mixed_place(false);
    struct rewind_abandoned none;
    pid_t child = -1;

    syscall_hook_arm(&(struct syscall_hook){
        .call = "renameat2", .name = "f", .then = fork_child, .arg = &child });
    assert_int_equal(apply(p), ERR_OK);
    assert_true(syscall_hook_fired());
    const enum err_code rc = rewind_abandon(&p->env, "0", &none, NULL);

    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(rc, ERR_NOT_FOUND);
    mixed_remove(p);
}

TEST(a_file_removed_before_the_exchange_stays_removed)
{
    struct rewind_case *p = mixed_place(false);

    applied_with(&(struct syscall_hook){ .call = "renameat2", .name = "f", .then = drop_f }, p, F);
    assert_false(folder_has(&p->folder, "ws/d/f"));
    only_this_is_a_conflict(p, F);
    mixed_remove(p);
}

/* Saved before the exchange, and removed before it can be put back. */
TEST(a_file_that_cannot_be_put_back_is_in_the_record)
{
    struct rewind_case *p = mixed_place(false);

    syscall_hook_arm(
        &(struct syscall_hook){ .call = "renameat2", .name = "f", .then = save_f, .arg = p });
    syscall_hook_arm_also(&(struct syscall_hook){
        .call = "renameat2", .name = "f", .nth = 2, .then = drop_f, .arg = p });
    assert_int_equal(apply(p), ERR_OK);
    assert_true(syscall_hook_fired());
    assert_int_equal(p->result.outcome[F], REWIND_CONFLICT);
    assert_false(folder_has(&p->folder, "ws/d/f"));
    assert_true(is_kept(p, F, "saved\n"));
    only_this_is_a_conflict(p, F);
    mixed_remove(p);
}

/* Putting it back fails for the moment: the next start does it. */
TEST(a_file_that_could_not_be_put_back_is_put_back_later)
{
    static const struct {
        const char *name;
        void (*save)(void *);
        int entry;
    } way[] = { { "f", save_f, F }, { "only", save_only, ONLY } };

    for (size_t i = 0; i < 2; i++) {
        struct rewind_case *p = mixed_place(false);

        syscall_hook_arm(&(struct syscall_hook){
            .call = "renameat2", .name = way[i].name, .then = way[i].save, .arg = p });
        syscall_hook_arm_also(&(struct syscall_hook){
            .call = "renameat2", .name = way[i].name, .nth = 2, .error = EIO });
        assert_int_equal(apply(p), ERR_IO);
        assert_true(syscall_hook_fired());
        recover(p);
        /* The file to be deleted was moved away, and its name is free: it is in the record. */
        if (way[i].entry == F)
            assert_true(folder_is(&p->folder, "ws/d/f", "saved\n"));
        else
            assert_true(is_kept(p, ONLY, "saved\n"));
        only_this_is_a_conflict(p, way[i].entry);
        mixed_remove(p);
    }
}

TEST(a_file_saved_before_its_removal_stays)
{
    struct rewind_case *p = mixed_place(false);

    applied_with(&(struct syscall_hook){ .call = "renameat2", .name = "only", .then = save_only },
                 p, ONLY);
    assert_true(folder_is(&p->folder, "ws/gone/deep/only", "saved\n"));
    only_this_is_a_conflict(p, ONLY);
    mixed_remove(p);
}

TEST(of_two_saves_the_newer_stays_and_the_older_is_recorded)
{
    struct rewind_case *p = mixed_place(false);

    syscall_hook_arm(
        &(struct syscall_hook){ .call = "renameat2", .name = "only", .then = save_only, .arg = p });
    syscall_hook_arm_also(&(struct syscall_hook){
        .call = "renameat2", .name = "only", .nth = 2, .then = save_only_again, .arg = p });
    assert_int_equal(apply(p), ERR_OK);
    assert_true(syscall_hook_fired());
    assert_true(folder_is(&p->folder, "ws/gone/deep/only", "again\n"));
    assert_true(is_kept(p, ONLY, "saved\n"));
    only_this_is_a_conflict(p, ONLY);
    mixed_remove(p);
}

TEST(a_file_removed_before_its_removal_is_gone)
{
    struct rewind_case *p = mixed_place(false);

    applied_with(&(struct syscall_hook){ .call = "renameat2", .name = "only", .then = drop_only },
                 p, ONLY);
    assert_false(folder_has(&p->folder, "ws/gone/deep/only"));
    mixed_remove(p);
}

TEST(a_file_created_before_the_restore_stays)
{
    struct rewind_case *p = mixed_place(false);

    applied_with(&(struct syscall_hook){ .call = "renameat2", .name = "h", .then = save_h }, p, H);
    assert_true(folder_is(&p->folder, "ws/new/deep/h", "saved\n"));
    only_this_is_a_conflict(p, H);
    mixed_remove(p);
}

static void cut_old(void *arg)
{
    struct rewind_case *p = arg;
    char temp[4096], path[4096];

    assert_int_equal(truncate(folder_path(&p->folder, temp_of(p, F, temp), path), 3), 0);
}

/* An editor that has the old file open truncates it while it is read. */
TEST(a_file_that_shrinks_while_it_is_read_stays)
{
    struct rewind_case *p = mixed_place(false);

    applied_with(&(struct syscall_hook){ .call = "pread64", .name = "*-0.tmp", .then = cut_old }, p,
                 F);
    assert_true(folder_is(&p->folder, "ws/d/f", "pre"));
    only_this_is_a_conflict(p, F);
    mixed_remove(p);
}

static void touch_staged(void *arg)
{
    struct rewind_case *p = arg;
    char temp[4096], path[4096];

    assert_int_equal(chmod(folder_path(&p->folder, temp_of(p, F, temp), path), 0640), 0);
}

/* A staged file is recognised by its metadata; one that was touched since is read, and has the wanted bytes. */
TEST(a_staged_file_that_was_touched_is_read)
{
    struct rewind_case *p = mixed_place(false);

    usleep(20000); /* one tick of the clock of ctimes */
    syscall_hook_arm(&(struct syscall_hook){
        .call = "fstatat64", .name = "*-0.tmp", .then = touch_staged, .arg = p });
    assert_int_equal(apply(p), ERR_OK);
    assert_true(syscall_hook_fired());
    assert_int_equal(p->result.conflicts, 0);
    assert_true(mixed_is_new(p, false));
    mixed_remove(p);
}

/* ---- before anything is decided ---- */

#define CASE(name) TEST_WITH(name, set_up, tear_down)

/* This error is not about the file, so the file is neither refused nor called changed. */
CASE(running_out_of_descriptors_is_reported)
{
    struct rewind_case *p = *state;

    want(p, p->f, "old\n");
    syscall_hook_arm(&(struct syscall_hook){ .call = "openat64", .name = "f", .error = EMFILE });
    assert_int_equal(look(p), ERR_IO);
    assert_true(syscall_hook_fired());
    assert_int_equal(p->e.sys, EMFILE);
    for (int absent = 0; absent < 2; absent++) {
        p->plan.target[0].want = absent ? REWIND_ABSENT : REWIND_BYTES;
        assert_int_equal(look(p), ERR_OK);
        syscall_hook_arm(
            &(struct syscall_hook){ .call = "openat64", .name = "f", .error = EMFILE });
        assert_int_equal(apply(p), ERR_IO);
        assert_true(syscall_hook_fired());
        assert_int_equal(p->e.sys, EMFILE);
        assert_null(strstr(p->e.text, "changed"));
        assert_true(nothing_of_ours_is_left(p));
    }
}

/* After the preview, another directory or a link to one is at the path of the project. */
CASE(a_replaced_project_directory_stops_the_rewind)
{
    struct rewind_case *p = *state;
    char ws[4096], moved[4096], other[4096];

    folder_put(&p->folder, "other/d/f", SLICE("present\n"));
    folder_path(&p->folder, "other", other);
    folder_path(&p->folder, "moved", moved);
    folder_path(&p->folder, "ws", ws);
    want(p, p->f, "old\n");
    for (int linked = 0; linked < 2; linked++) {
        assert_int_equal(look(p), ERR_OK);
        assert_int_equal(rename(ws, moved), 0);
        assert_int_equal(linked ? symlink(other, ws) : rename(other, ws), 0);
        assert_int_equal(apply(p), ERR_STALE);
        assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));
        assert_int_equal(linked ? unlink(ws) : rename(ws, other), 0);
        assert_int_equal(rename(moved, ws), 0);
        assert_true(nothing_of_ours_is_left(p));
    }
}

/* The session did not work through a link, so following it needs the consent for files outside. */
CASE(a_project_replaced_by_a_link_is_outside)
{
    struct rewind_case *p = *state;
    char ws[4096], moved[4096];

    want(p, p->f, "old\n");
    p->plan.point_ms = 1000;
    folder_path(&p->folder, "moved", moved);
    folder_path(&p->folder, "ws", ws);
    assert_int_equal(rename(ws, moved), 0);
    assert_int_equal(symlink(moved, ws), 0);
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(p->preview.entry[0].rule, REWIND_RULE_OUTSIDE);
    p->plan.point_ms = INT64_MAX; /* the link is older */
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(p->preview.refused, 0);
    assert_int_equal(apply(p), ERR_OK);
    assert_true(folder_is(&p->folder, "moved/d/f", "old\n"));
}

struct swap {
    char ws[4096], moved[4096];
};

static void swap_back(void *arg)
{
    const struct swap *s = arg;

    assert_int_equal(unlink(s->ws), 0);
    assert_int_equal(rename(s->moved, s->ws), 0);
}

/* The check is made on the opened directory. */
CASE(a_link_swapped_back_for_the_project_is_not_followed)
{
    struct rewind_case *p = *state;
    struct swap s;
    char other[4096];

    folder_put(&p->folder, "other/d/f", SLICE("someone else's\n"));
    want(p, p->f, "old\n");
    p->plan.point_ms = 1000;
    folder_path(&p->folder, "moved", s.moved);
    folder_path(&p->folder, "ws", s.ws);
    assert_int_equal(rename(s.ws, s.moved), 0);
    assert_int_equal(symlink(folder_path(&p->folder, "other", other), s.ws), 0);
    syscall_hook_arm(
        &(struct syscall_hook){ .call = "lstat64", .name = "ws", .then = swap_back, .arg = &s });
    assert_int_equal(look(p), ERR_OK);
    assert_true(syscall_hook_fired());
    assert_int_equal(p->preview.entry[0].seen.size, strlen("present\n"));
    assert_int_equal(apply(p), ERR_OK);
    assert_true(folder_is(&p->folder, "ws/d/f", "old\n"));
    assert_true(folder_is(&p->folder, "other/d/f", "someone else's\n"));
}

TEST_MAIN
{
    folder_in_memory();
    return test_run(NULL, NULL);
}
