#include "tests/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#include "store/fs/file_at.h"
#include "store/journal/step.h"
#include "support/faults/syscall_hook.h"
#include "tests/support/scratch.h"

/* A document of an agent that another program writes, replaces, removes or exchanges for a link while the new one is
 * staged keeps what that program wrote, also where two names cannot be exchanged. */

static const char old_text[] = "{\"archived\":false}";

static void write_in_place(void *state)
{
    scratch_append(state, "doc.json", SLICE(" \n"));
}

/* The same size, so that only the bytes tell. */
static void replace(void *state)
{
    scratch_write(state, "other", SLICE("{\"archived\":null }"));
    assert_int_equal(rename(scratch_path(state, "other"), scratch_path(state, "doc.json")), 0);
}

static void make_link(void *state)
{
    assert_int_equal(unlink(scratch_path(state, "doc.json")), 0);
    assert_int_equal(symlink("elsewhere", scratch_path(state, "doc.json")), 0);
}

static void remove_it(void *state)
{
    assert_int_equal(unlink(scratch_path(state, "doc.json")), 0);
}

static enum err_code put_to(void **state, bool absent, struct err *e)
{
    struct arena a = { 0 };
    struct step s = { .kind = STEP_PUT,
                      .path = scratch_path(state, "doc.json"),
                      .old = slice_of(old_text),
                      .bytes = absent ? SLICE("") : SLICE("{\"archived\":true}"),
                      .absent = absent,
                      .mtime_ns = MTIME_NOW };

    assert_int_equal(step_prepare(&s, &a, e), ERR_OK);
    enum err_code rc = step_do(&s, &a, e);

    arena_fini(&a);
    return rc;
}

static enum err_code put(void **state, struct err *e)
{
    return put_to(state, false, e);
}

static size_t names_in(const char *dir)
{
    DIR *d = opendir(dir);
    size_t n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

/* lacks: the file system cannot exchange names. */
static void after_another_program(void **state, void (*then)(void *), bool lacks)
{
    struct err e = { 0 };
    const bool link = then == make_link;

    (void)!unlink(scratch_path(state, "doc.json"));
    scratch_write(state, "doc.json", slice_of(old_text));
    syscall_hook_arm(&(struct syscall_hook){ .call = "fsync", .then = then, .arg = state });
    if (lacks)
        syscall_hook_arm_also(&(struct syscall_hook){ .call = "renameat2", .error = EINVAL });
    enum err_code rc = put(state, &e);

    assert_true(syscall_hook_fired());
    assert_true(rc == ERR_STALE || (link && rc));
    assert_int_equal(names_in(*state), then == remove_it ? 0 : 1);
}

IN_SCRATCH(what_another_program_writes_meanwhile_stays)
{
    for (int lacks = 0; lacks <= 1; lacks++) {
        char target[32] = "";

        after_another_program(state, write_in_place, lacks);
        assert_true(folder_is(*state, "doc.json", "{\"archived\":false} \n"));
        after_another_program(state, replace, lacks);
        assert_true(folder_is(*state, "doc.json", "{\"archived\":null }"));
        after_another_program(state, remove_it, lacks);
        after_another_program(state, make_link, lacks);
        assert_int_equal(readlink(scratch_path(state, "doc.json"), target, sizeof target), 9);
        assert_string_equal(target, "elsewhere");
    }
}

/* As when the program is run with sudo. */
IN_SCRATCH(a_document_keeps_its_owner)
{
    struct err e = { 0 };
    struct stat st;
    const char *path = scratch_write(state, "doc.json", slice_of(old_text));

    if (geteuid() != 0 || chown(path, 1234, 4321))
        skip();
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(put(state, &e), ERR_OK);
    assert_int_equal(stat(scratch_path(state, "doc.json"), &st), 0);
    assert_int_equal(st.st_uid, 1234);
    assert_int_equal(st.st_gid, 4321);
    assert_int_equal(st.st_mode & 07777, 0640);
}

IN_SCRATCH(a_document_that_nobody_else_writes_is_replaced)
{
    struct err e = { 0 };

    for (int lacks = 0; lacks <= 1; lacks++) {
        scratch_write(state, "doc.json", slice_of(old_text));
        if (lacks)
            syscall_hook_arm(&(struct syscall_hook){ .call = "renameat2", .error = EINVAL });
        assert_int_equal(put(state, &e), ERR_OK);
        assert_true(folder_is(*state, "doc.json", "{\"archived\":true}"));
        assert_int_equal(names_in(*state), 1);
    }
}

/* Also where a name cannot be given back without a race. */
IN_SCRATCH(a_document_that_another_program_writes_is_not_removed)
{
    struct err e = { 0 };

    for (int lacks = 0; lacks <= 1; lacks++) {
        scratch_write(state, "doc.json", slice_of(old_text));
        syscall_hook_arm(
            &(struct syscall_hook){ .call = "renameat", .then = write_in_place, .arg = state });
        if (lacks)
            syscall_hook_arm_also(&(struct syscall_hook){ .call = "renameat2", .error = EINVAL });
        assert_int_equal(put_to(state, true, &e), ERR_STALE);
        assert_true(syscall_hook_fired());
        assert_true(folder_is(*state, "doc.json", "{\"archived\":false} \n"));
        assert_int_equal(names_in(*state), 1);
    }
    scratch_write(state, "doc.json", slice_of(old_text));
    assert_int_equal(put_to(state, true, &e), ERR_OK);
    assert_int_equal(names_in(*state), 0);
}

/* A second program writes while the first one's file is put back: both files stay. */
static void replace_again(void *state)
{
    scratch_write(state, "other", SLICE("newest"));
    assert_int_equal(rename(scratch_path(state, "other"), scratch_path(state, "doc.json")), 0);
}

IN_SCRATCH(two_programs_that_write_meanwhile_lose_nothing)
{
    NEEDS("an exchange of names");
    struct err e = { 0 };

    scratch_write(state, "doc.json", slice_of(old_text));
    syscall_hook_arm(&(struct syscall_hook){ .call = "fsync", .then = replace, .arg = state });
    syscall_hook_arm_also(&(struct syscall_hook){
        .call = "renameat2", .nth = 2, .then = replace_again, .arg = state });
    assert_int_equal(put(state, &e), ERR_IO);
    assert_true(syscall_hook_fired());
    assert_true(folder_is(*state, "doc.json", "newest"));
    assert_non_null(strstr(e.text, ".reprise-"));
    assert_int_equal(names_in(*state), 2);
}
