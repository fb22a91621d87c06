#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

#include "store/rewind/record/record.h"
#include "store/rewind/record/records.h"
#include "support/rewind/mixed_plan_hook.h"

/* Edge cases of a rewind: impossible previews, no space, an invalid state directory, two failures at once, more files
 * than one batch. */

enum { TOO_MUCH = 55 }; /* an exponent of two: more bytes than any disk has */

static void nothing_happened(struct rewind_case *p, const char *old)
{
    struct rewind_records list;

    assert_true(mixed_is(p, old));
    assert_int_equal(rewind_records_read(&p->env, &list, NULL), ERR_OK);
    assert_int_equal(list.n, 0);
    rewind_records_fini(&list);
}

/* ---- previews ---- */

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(refused_files_are_not_restored_even_when_ticked)
{
    struct rewind_case *p = *state;
    const struct rewind_options strict = { .allow_edited = true };

    mixed_tree(p);
    mixed_plan(p);
    assert_int_equal(rewind_preview(&p->plan, &strict, &p->preview, &p->e), ERR_OK);
    assert_int_equal(p->preview.entry[O].rule, REWIND_RULE_OUTSIDE);
    p->preview.entry[O].chosen = true;
    assert_int_equal(apply(p), ERR_OK);
    assert_int_equal(p->result.outcome[O], REWIND_SKIPPED);
    assert_int_equal(p->result.outcome[F], REWIND_DONE);
    assert_true(folder_is(&p->folder, "out/o", "new outside\n"));
}

TEST(impossible_sizes_are_refused)
{
    for (int also = 0; also < 2; also++) {
        struct rewind_case *p = mixed_place(false);
        char *old = mixed_image(p);

        p->preview.entry[F].seen.size = -1;
        if (also) /* the empty record stays; the first failure is reported */
            syscall_hook_arm(
                &(struct syscall_hook){ .call = "rmdir", .error = EIO, .stays = true });
        assert_int_equal(apply(p), ERR_STALE);
        assert_true(syscall_hook_fired());
        nothing_happened(p, old);
        free(old);
        mixed_remove(p);
    }
}

TEST(without_space_nothing_is_started)
{
    for (int apart = 0; apart < 2; apart++) {
        struct rewind_case *p = mixed_place(false);
        char *old = mixed_image(p);

        p->preview.entry[F].seen.size += apart ? (int64_t)1 << TOO_MUCH : 0;
        p->preview.entry[F].wanted_size = (int64_t)1 << TOO_MUCH;
        /* The record is on the file system of the project, or not. */
        syscall_hook_arm(
            &(struct syscall_hook){ .call = "stat64", .name = "ws", .error = apart ? EIO : 0 });
        assert_int_equal(apply(p), ERR_IO);
        assert_true(syscall_hook_fired());
        assert_non_null(strstr(p->e.text, "bytes, and"));
        assert_non_null(strstr(p->e.text, apart ? "the undo record needs" : "the rewind and"));
        nothing_happened(p, old);
        free(old);
        mixed_remove(p);
    }
}

CASE(an_empty_record_that_stays_is_reported)
{
    struct rewind_case *p = *state;

    want_in(p, "ws/d/f", "present\n");
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(p->preview.entry[0].action, REWIND_UNCHANGED);
    assert_int_equal(apply(p), ERR_OK);
    assert_string_equal(p->result.undo, "");
    syscall_hook_arm(&(struct syscall_hook){ .call = "rmdir", .error = EIO });
    assert_int_equal(apply(p), ERR_IO);
    assert_true(syscall_hook_fired());
}

static enum err_code may_not(const struct rewind_preview *preview, const char *id, struct err *e)
{
    (void)preview;
    (void)id;
    return err_set(e, ERR_IO, "keeper", "what lies there cannot be kept");
}

static enum err_code may(const struct rewind_preview *preview, const char *id, struct err *e)
{
    (void)preview;
    (void)id;
    (void)e;
    return ERR_OK;
}

TEST(without_the_systems_safety_copy_nothing_is_done)
{
    struct rewind_case *p = mixed_place(false);
    char *old = mixed_image(p);

    p->plan.before = may_not;
    assert_int_equal(apply(p), ERR_IO);
    assert_string_equal(p->e.path, "keeper");
    nothing_happened(p, old);
    p->plan.before = may;
    assert_int_equal(apply(p), ERR_OK);
    assert_true(mixed_is_new(p, false));
    free(old);
    mixed_remove(p);
}

/* ---- the state directory ---- */

TEST(the_lock_holder_may_be_unknown)
{
    struct rewind_case *p = mixed_place(false);
    char path[4096];

    folder_put(&p->folder, "state/rewinds/lock", SLICE(""));
    int fd = open(folder_path(&p->folder, "state/rewinds/lock", path), O_RDWR | O_CLOEXEC);

    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(apply(p), ERR_LOCKED);
    assert_non_null(strstr(p->e.text, "unknown"));
    close(fd);
    mixed_remove(p);
}

static enum err_code none(const struct rewind_tx *tx, void *arg, bool *more, struct err *e)
{
    (void)tx;
    (void)more;
    *(size_t *)arg += 1;
    return err_set(e, ERR_IO, NULL, "no more");
}

static enum err_code count(const struct rewind_tx *tx, void *arg, bool *more, struct err *e)
{
    (void)tx;
    (void)more;
    (void)e;
    *(size_t *)arg += 1;
    return ERR_OK;
}

TEST(an_invalid_state_directory_is_reported)
{
    struct rewind_case *p = mixed_place(false);
    struct rewind_records list;
    size_t n = 0;

    folder_put(&p->folder, "state/rewinds", SLICE("a file"));
    assert_int_not_equal(apply(p), ERR_OK);
    assert_int_not_equal(rewind_records_read(&p->env, &list, &p->e), ERR_OK);
    p->env.state_dir = NULL;
    assert_int_not_equal(apply(p), ERR_OK);
    p->env.state_dir = p->state;
    assert_int_equal(rewind_records_each(&p->env, 9, count, &n, NULL), ERR_OK);
    assert_int_equal(n, 0);
    mixed_remove(p);

    const struct store_env nowhere = { .now_ms = 1 };

    assert_int_not_equal(rewind_records_read(&nowhere, &list, NULL), ERR_OK);
    assert_int_equal(rewind_records_each(&nowhere, 9, count, &n, NULL), ERR_OK);
    assert_int_equal(rewind_recover(&nowhere, &n, NULL), ERR_OK);
    assert_int_equal(n, 0);
}

TEST(records_are_visited_newest_first_without_damaged_ones)
{
    struct rewind_case *p = mixed_place(false);
    size_t n = 0;

    assert_int_equal(apply(p), ERR_OK);
    assert_int_equal(mixed_undo(p), ERR_OK);
    folder_put(&p->folder, "state/rewinds/99/plan", SLICE("no plan"));
    assert_int_equal(rewind_records_each(&p->env, 9, count, &n, NULL), ERR_OK);
    assert_int_equal(n, 2);
    assert_int_equal(rewind_records_each(&p->env, 1, count, &n, NULL), ERR_OK);
    assert_int_equal(n, 2);
    assert_int_equal(rewind_records_each(&p->env, 9, none, &n, NULL), ERR_IO);
    assert_int_equal(n, 3);
    mixed_remove(p);
}

/* ---- recovery ---- */

TEST(an_incomplete_cleanup_is_not_reported_as_recovered)
{
    for (int nth = 1; nth <= 2; nth++) {
        struct rewind_case *p = stopped_at("renameat2", "f");
        size_t recovered;

        syscall_hook_arm(&(struct syscall_hook){ .call = "opendir", .nth = nth, .error = EIO });
        assert_int_equal(rewind_recover(&p->env, &recovered, &p->e), ERR_IO);
        assert_true(syscall_hook_fired());
        recover(p);
        assert_true(mixed_is_new(p, false));
        mixed_remove(p);
    }
}

TEST(without_a_later_record_id_nothing_is_started)
{
    struct rewind_case *p = mixed_place(false);
    char *old = mixed_image(p);

    syscall_hook_arm(&(struct syscall_hook){ .call = "opendir", .name = "rewinds", .error = EIO });
    assert_int_equal(apply(p), ERR_IO);
    assert_true(syscall_hook_fired());
    nothing_happened(p, old);
    free(old);
    mixed_remove(p);
}

TEST(an_unfinished_record_blocks_no_other)
{
    struct rewind_case *p = stopped_at("renameat2", "f");
    char path[4096];
    size_t recovered;

    folder_dir(&p->folder, "state/rewinds/99");
    syscall_hook_arm(&(struct syscall_hook){ .call = "renameat2", .name = "f", .error = EIO });
    assert_int_equal(apply(p), ERR_STALE);
    assert_true(syscall_hook_fired());
    assert_non_null(strstr(p->e.text, "interrupted"));
    assert_int_equal(access(folder_path(&p->folder, "state/rewinds/99", path), F_OK), -1);
    folder_dir(&p->folder, "state/rewinds/99");
    assert_int_equal(rewind_recover(&p->env, &recovered, &p->e), ERR_OK);
    assert_int_equal(recovered, 2);
    mixed_remove(p);
}

/* Another process is changing sessions: the conversation's part waits, and the rest with it. */
TEST(a_conversation_is_rolled_back_only_under_its_lock)
{
    struct rewind_case *p = mixed_place(true);
    char *old = mixed_image(p);
    struct change_log *log;
    size_t recovered;

    assert_int_equal(change_log_open(&p->env, &log, NULL), ERR_OK);
    syscall_hook_arm(&(struct syscall_hook){ .call = "rmdir", .error = EIO, .stays = true });
    assert_int_equal(apply(p), ERR_LOCKED);
    assert_true(syscall_hook_fired());
    assert_non_null(strstr(p->e.text, "remains"));
    assert_true(mixed_is(p, old));
    change_log_close(log);
    folder_put(&p->folder, "saved/h", SLICE("changed\n"));
    syscall_hook_arm(&(struct syscall_hook){ .call = "unlink", .name = "intent", .error = EIO });
    assert_int_not_equal(apply(p), ERR_OK);
    assert_true(syscall_hook_fired());
    assert_int_equal(change_log_open(&p->env, &log, NULL), ERR_OK);
    assert_int_equal(rewind_recover(&p->env, &recovered, &p->e), ERR_LOCKED);
    change_log_close(log);
    assert_int_equal(rewind_recover(&p->env, &recovered, &p->e), ERR_OK);
    assert_true(mixed_is(p, old));
    free(old);
    mixed_remove(p);
}

static void write_on(void *arg)
{
    struct rewind_case *p = arg;
    char path[4096];
    int fd = open(folder_path(&p->folder, "out/log", path), O_WRONLY | O_APPEND | O_CLOEXEC);

    assert_int_equal(write(fd, "three\n", 6), 6);
    close(fd);
}

/* Writing INTENT fails, and meanwhile another program has written to the truncated conversation: it stays as it is, its
 * old end is in the record alone, and the files are as they were. */
TEST(a_conversation_that_continued_goes_back_alone)
{
    NEEDS("leases, without which no conversation is cut");
    for (int marks = 0; marks < 2; marks++) {
        struct rewind_case *p = mixed_place(true);
        struct rewind_records list;

        syscall_hook_arm(&(struct syscall_hook){
            .call = "renameat", .name = "intent", .error = EIO, .then = write_on, .arg = p });
        if (marks) /* nor can the record be closed at once */
            syscall_hook_arm_also(
                &(struct syscall_hook){ .call = "renameat", .name = "commit", .error = EIO });
        assert_int_equal(apply(p), ERR_IO);
        assert_true(syscall_hook_fired());
        assert_non_null(strstr(p->e.text, "unfinished"));
        if (marks)
            recover(p);
        assert_true(folder_is(&p->folder, "out/log", "one\nthree\n"));
        assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));
        assert_true(mixed_is_clean(p));
        assert_int_equal(rewind_records_read(&p->env, &list, NULL), ERR_OK);
        assert_int_equal(list.n, 1);
        assert_true(list.record[0].cut_short);
        assert_int_equal(list.record[0].restored, 0);
        rewind_records_fini(&list);
        mixed_remove(p);
    }
}

struct holder {
    struct rewind_case *p;
    int fd;
};

static void hold_open(void *arg)
{
    struct holder *h = arg;
    char path[4096];

    h->fd = open(folder_path(&h->p->folder, "out/log", path), O_WRONLY | O_CLOEXEC);
}

/* A program has the log open: the next start tries again, and until then the record cannot be undone. */
TEST(a_conversation_in_use_is_rolled_back_later)
{
    NEEDS("leases, without which no conversation is cut");
    struct rewind_case *p = mixed_place(true);
    char *old = mixed_image(p);
    struct holder holder = { .p = p };
    struct rewind_plan plan;
    struct rewind_records list;
    size_t recovered;

    syscall_hook_arm(&(struct syscall_hook){
        .call = "renameat", .name = "intent", .error = EIO, .then = hold_open, .arg = &holder });
    assert_int_equal(apply(p), ERR_IO);
    assert_true(syscall_hook_fired());
    assert_int_equal(rewind_records_read(&p->env, &list, NULL), ERR_OK);
    assert_int_equal(list.n, 1);
    assert_true(list.record[0].interrupted);
    assert_int_equal(list.record[0].restored, 0);
    assert_int_equal(rewind_undo_plan(&p->env, list.record[0].id, &plan, NULL), ERR_LOCKED);
    assert_int_equal(rewind_undo_plan(&p->env, NULL, &plan, NULL), ERR_NOT_FOUND);
    rewind_records_fini(&list);
    close(holder.fd);
    assert_int_equal(rewind_recover(&p->env, &recovered, &p->e), ERR_OK);
    assert_true(mixed_is(p, old));
    free(old);
    mixed_remove(p);
}

/* The size of a record is only for display. */
TEST(a_record_whose_size_is_unknown_is_listed)
{
    struct rewind_case *p = mixed_place(false);
    struct rewind_records list;

    assert_int_equal(apply(p), ERR_OK);
    syscall_hook_arm(&(struct syscall_hook){ .call = "fts64_open", .error = ENOMEM });
    assert_int_equal(rewind_records_read(&p->env, &list, &p->e), ERR_OK);
    assert_true(syscall_hook_fired());
    assert_int_equal(list.n, 1);
    assert_int_equal(list.record[0].bytes, 0);
    rewind_records_fini(&list);
    mixed_remove(p);
}

/* ---- staging ---- */

/* The first failure is the one reported. */
TEST(the_first_of_two_failures_is_reported)
{
    static const char *const names[] = { "*-0.tmp", "kept" };

    for (size_t i = 0; i < 2; i++) {
        struct rewind_case *p = mixed_place(false);
        char *old = mixed_image(p);

        syscall_hook_arm(&(struct syscall_hook){ .call = "fsync", .name = names[i], .error = EIO });
        syscall_hook_arm_also(
            &(struct syscall_hook){ .call = "close", .name = names[i], .error = ENOSPC });
        assert_int_equal(apply(p), ERR_IO);
        assert_true(syscall_hook_fired());
        assert_int_equal(p->e.sys, EIO);
        nothing_happened(p, old);
        free(old);
        mixed_remove(p);
    }
}

CASE(a_root_that_cannot_be_opened_stops_the_rewind)
{
    struct rewind_case *p = *state;

    want_in(p, "ws/new/h", "back\n");
    assert_int_equal(look(p), ERR_OK);
    syscall_hook_arm(&(struct syscall_hook){ .call = "open64", .name = "ws", .error = EIO });
    assert_int_equal(apply(p), ERR_IO);
    assert_true(syscall_hook_fired());
    assert_true(nothing_of_ours_is_left(p));
    assert_false(folder_has(&p->folder, "ws/new"));
}

CASE(more_files_than_one_batch_are_restored)
{
    struct rewind_case *p = *state;
    char name[64], text[64];

    for (int i = 0; i < 150; i++) {
        snprintf(name, sizeof name, "ws/many/f%d", i);
        folder_put(&p->folder, name, SLICE("new\n"));
        want_in(p, name, "old\n");
    }
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(apply(p), ERR_OK);
    for (int i = 0; i < 150; i++) {
        snprintf(text, sizeof text, "ws/many/f%d", i);
        assert_true(folder_is(&p->folder, text, "old\n"));
    }
    assert_int_equal(undo(p), ERR_OK);
    assert_true(folder_is(&p->folder, "ws/many/f149", "new\n"));
}

TEST_MAIN
{
    folder_in_memory();
    return test_run(NULL, NULL);
}
