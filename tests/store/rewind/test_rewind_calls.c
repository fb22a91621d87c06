#include "tests/test.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>

#include "support/faults/memory.h"
#include "support/faults/syscall_hook.h"
#include "support/rewind/mixed_plan.h"

/* Every call of a rewind fails once, by its name and number, in this process: in apply, in dropping a prepared rewind,
 * and in recovery; a third of them in a run of every day. sweep_rewind does this with whole machines; here it is done
 * call by call, so that each branch meets each error of each call. The rules are the same: the old or the new state,
 * reported correctly, no temporary files, undoable. */

static const struct way {
    const char *call;
    int error;
    bool harmless; /* the rewind succeeds all the same */
} ways[] = {
    { "openat64", EIO, false },     { "open64", EIO, false },
    { "fstatat64", EIO, false },    { "stat64", EIO, false },
    { "lstat64", EIO, false },      { "statvfs64", EIO, true },
    { "unlinkat", EIO, false },     { "unlinkat", ENOSPC, false },
    { "unlinkat", EDQUOT, false },  { "unlinkat", EROFS, false },
    { "unlink", EIO, false },       { "mkdirat", EIO, false },
    { "renameat2", EIO, false },    { "renameat2", EINVAL, false },
    { "renameat2", ENOSYS, false }, { "renameat2", EOPNOTSUPP, false },
    { "renameat", EIO, false },     { "renameat", EXDEV, false },
    { "fstat64", EIO, false },      { "fsync", EIO, false },
    { "fchmod", EIO, false },       { "fchown", EPERM, false },
    { "flistxattr", EIO, false },   { "flistxattr", ENOTSUP, true },
    { "pread64", EIO, false },      { "write", ENOSPC, false },
    { "pwrite64", EIO, true },      { "ftruncate64", EIO, true },
    { "fcntl64", EMFILE, false },   { "getentropy", EIO, false },
    { "close", EIO, false },        { "faccessat", EACCES, false },
    { "fstatvfs64", EIO, false },   { "statx", EIO, true },
};
enum { WAYS = sizeof ways / sizeof *ways };

/* The operation, and the call that fails in it; an allocation has no name. */
struct run {
    const struct way *way;
    int nth;
    bool conversation; /* the conversation goes back too */
    struct rewind_case *p;
    char *old; /* an image of the user's files */
};

static void complain(const struct run *r, const char *what)
{
    char *now = mixed_image(r->p);

    fail_msg("%s %d fails with %s: %s (%s: %s)\n%s", r->way->call, r->nth,
             strerrorname_np(r->way->error), what, r->p->e.path, r->p->e.text, now);
}

static void run_begin(struct run *r)
{
    r->p = mixed_place(r->conversation);
    r->old = mixed_image(r->p);
}

static void run_end(struct run *r)
{
    free(r->old);
    mixed_remove(r->p);
}

static void break_it(const struct run *r)
{
    if (r->way->error == ENOMEM)
        memory_fail_at(r->nth);
    else
        syscall_hook_arm(
            &(struct syscall_hook){ .call = r->way->call, .nth = r->nth, .error = r->way->error });
}

static bool was_broken(const struct run *r)
{
    bool memory = memory_failed(), came = syscall_hook_fired();

    memory_fail_at(0);
    return r->way->error == ENOMEM ? memory : came;
}

static bool is_new(const struct run *r)
{
    return mixed_is_new(r->p, r->conversation);
}

static bool is_old(const struct run *r)
{
    return mixed_is(r->p, r->old);
}

/* The next command, in which nothing fails. */
static void recover(const struct run *r)
{
    size_t recovered;

    if (rewind_recover(&r->p->env, &recovered, &r->p->e))
        complain(r, "it is not recovered");
}

static void must_be_old_or_new(const struct run *r)
{
    bool new = is_new(r);

    if (!new && !is_old(r))
        complain(r, "neither old nor new");
    if (new && (mixed_undo(r->p) || !is_old(r)))
        complain(r, "the undo does not give back what was");
}

/* Returns false if there is no such call. */
static bool apply_at(struct run *r)
{
    run_begin(r);
    break_it(r);
    enum err_code rc = apply(r->p);
    bool came = was_broken(r), unfinished = rc && strstr(r->p->e.text, "unfinished");

    if (came && rc == ERR_OK && !is_new(r))
        complain(r, "said done, and is not");
    if (came && rc && !unfinished && !is_old(r))
        complain(r, "said failed, and something is left");
    if (came && rc && r->way->harmless)
        complain(r, "this need not stop it");
    recover(r);
    must_be_old_or_new(r);
    run_end(r);
    return came;
}

/* A run of every day breaks the first call and a third of the others, for each kind of call from another one on. */
static int call_after(int nth, int kind)
{
    const int stride = getenv("REPRISE_SWEEP") || getenv("REPRISE_LONG") ? 1 : 3;

    return nth + (nth == 1 && kind % stride ? kind % stride : stride);
}

static void in_all_ways(bool (*at)(struct run *r), bool conversation)
{
    for (int w = 0; w < WAYS; w++) {
        struct run r = { .way = &ways[w], .nth = 1, .conversation = conversation };

        for (; at(&r); r.nth = call_after(r.nth, w))
            ;
    }
}

TEST(each_call_of_an_apply_may_fail)
{
    in_all_ways(apply_at, false);
}

TEST(each_call_of_an_apply_with_a_conversation_may_fail)
{
    struct run r = { .way = &(const struct way){ "malloc", ENOMEM, false },
                     .nth = 1,
                     .conversation = true };

    for (; apply_at(&r); r.nth = call_after(r.nth, 0))
        ;
}

/* ---- recovery ---- */

/* Interrupts the rewind: before INTENT with its temporary files, between INTENT and COMMIT with one file exchanged, or
 * after COMMIT. */
enum phase { BEFORE_INTENT, AFTER_INTENT, AFTER_COMMIT, PHASES };

static void stop_at(struct rewind_case *p, enum phase phase)
{
    static const struct syscall_hook at[PHASES] = {
        /* the staged files cannot be dropped, since that begins with the mark */
        [BEFORE_INTENT] = { .call = "unlink", .name = "intent", .error = EIO },
        [AFTER_INTENT] = { .call = "renameat2", .name = "o", .error = EIO },
        [AFTER_COMMIT] = { .call = "renameat", .name = KEPT("0"), .error = EIO },
    };

    if (phase == BEFORE_INTENT)
        folder_put(&p->folder, "saved/h", SLICE("changed\n"));
    syscall_hook_arm(&at[phase]);
    assert_int_not_equal(apply(p), ERR_OK);
    assert_true(syscall_hook_fired());
    assert_non_null(strstr(p->e.text, "unfinished"));
}

static bool recover_at(struct run *r, enum phase phase)
{
    size_t recovered;

    run_begin(r);
    stop_at(r->p, phase);
    break_it(r);
    enum err_code rc = rewind_recover(&r->p->env, &recovered, &r->p->e);
    bool came = was_broken(r);

    if (came && rc == ERR_OK && !is_new(r) && !is_old(r))
        complain(r, "said recovered, and is not");
    recover(r);
    if ((phase != BEFORE_INTENT) != is_new(r))
        complain(r, "not what was decided");
    must_be_old_or_new(r);
    run_end(r);
    return came;
}

static bool drop_at(struct run *r)
{
    return recover_at(r, BEFORE_INTENT);
}

static bool go_on_at(struct run *r)
{
    return recover_at(r, AFTER_INTENT);
}

static bool clean_at(struct run *r)
{
    return recover_at(r, AFTER_COMMIT);
}

TEST(each_call_of_a_recovery_may_fail)
{
    in_all_ways(drop_at, false);
    in_all_ways(go_on_at, false);
    in_all_ways(clean_at, false);
}

/* ---- undo ---- */

static bool undo_at(struct run *r)
{
    struct rewind_records list;

    run_begin(r);
    assert_int_equal(apply(r->p), ERR_OK);
    break_it(r);
    enum err_code listed = rewind_records_read(&r->p->env, &list, &r->p->e);
    bool complete = listed == ERR_OK && list.n == 1;

    if (!listed)
        rewind_records_fini(&list);
    enum err_code rc = mixed_undo(r->p);
    bool came = was_broken(r);

    if (!listed && !complete)
        complain(r, "a record is not listed");
    if (came && rc == ERR_OK && !is_old(r))
        complain(r, "said undone, and is not");
    recover(r);
    if (!is_old(r) && !is_new(r))
        complain(r, "neither old nor new");
    run_end(r);
    return came;
}

/* Recreated directories get their old attributes, or the undo is dropped. */
TEST(restoring_directory_attributes_in_an_undo_may_fail)
{
    static const struct way undo_ways[] = { { "fchmod", EIO, false },
                                            { "flistxattr", EIO, false } };

    for (size_t w = 0; w < sizeof undo_ways / sizeof *undo_ways; w++) {
        struct run r = { .way = &undo_ways[w], .nth = 1 };

        for (; undo_at(&r); r.nth++)
            ;
        assert_true(r.nth > 2);
    }
}

TEST(each_allocation_of_an_undo_may_fail)
{
    struct run r = { .way = &(const struct way){ "malloc", ENOMEM, false },
                     .nth = 1,
                     .conversation = HAS_LEASES };

    for (; undo_at(&r); r.nth = call_after(r.nth, 0))
        ;
}

TEST(each_allocation_of_a_recovery_may_fail)
{
    struct run r = { .way = &(const struct way){ "malloc", ENOMEM, false } };
    bool (*const phases[])(struct run *) = { drop_at, go_on_at, clean_at };

    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        for (r.nth = 1, r.conversation = HAS_LEASES && i > 0; phases[i](&r);
             r.nth = call_after(r.nth, 0))
            ;
}

TEST_MAIN
{
    folder_in_memory();
    cJSON_InitHooks(&(cJSON_Hooks){ malloc, free });
    return test_run(NULL, NULL);
}
