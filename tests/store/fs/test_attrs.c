#include "tests/test.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "store/journal/record.h"
#include "support/faults/access_list.h"
#include "support/faults/memory.h"
#include "support/faults/syscall_hook.h"
#include "tests/support/folder.h"

/* The attributes of a file besides its bytes are read and set completely or not at all, and a record of them is
 * complete or refused. */

struct world {
    struct folder folder;
    struct arena arena;
    struct err e;
    int fd;
};

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    char path[4096];

    folder_make(&w->folder);
    folder_put(&w->folder, "f", SLICE("f"));
    w->fd = open(folder_path(&w->folder, "f", path), O_RDWR | O_CLOEXEC);
    assert_true(w->fd >= 0);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    close(w->fd);
    arena_fini(&w->arena);
    folder_remove(&w->folder);
    free(w);
    return 0;
}

static void put(struct world *w, const char *key, const void *value, size_t n)
{
    if (fsetxattr(w->fd, key, value, n, 0) == 0)
        return;
    assert_int_equal(errno, ENOTSUP);
    print_message("skipped: this file system has no extended attributes\n");
    skip();
}

static struct attrs take(struct world *w)
{
    struct attrs x;

    assert_int_equal(fs_attrs_get(w->fd, &w->arena, "f", &x, &w->e), ERR_OK);
    return x;
}

static const struct attr *find(const struct attrs *x, const char *name)
{
    for (size_t i = 0; i < x->n; i++)
        if (strcmp(x->x[i].name, name) == 0)
            return &x->x[i];
    return NULL;
}

/* ---- reading ---- */

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(attributes_are_read_completely_or_not_at_all)
{
    static const struct syscall_hook broken[] = {
        { .call = "fstat64", .name = "f", .error = EIO },
        { .call = "flistxattr", .name = "f", .error = EIO },
        { .call = "fgetxattr", .name = "f", .error = EIO },
        { .call = "fgetxattr", .name = "f", .nth = 2, .error = ENODATA },
    };
    struct world *w = *state;
    struct attrs x = { .n = 77 };

    put(w, "user.one", "a\0b", 3);
    put(w, "user.two", "", 0);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        syscall_hook_arm(&broken[i]);
        assert_int_equal(fs_attrs_get(w->fd, &w->arena, "f", &x, &w->e), ERR_IO);
        assert_true(syscall_hook_fired());
        assert_int_equal(w->e.sys, broken[i].error);
        assert_int_equal(x.n, 77);
    }
    x = take(w);
    assert_int_equal(find(&x, "user.one")->value.n, 3);
    assert_memory_equal(find(&x, "user.one")->value.p, "a\0b", 3);
    assert_int_equal(find(&x, "user.two")->value.n, 0);
}

CASE(a_file_system_without_attributes_yields_none)
{
    struct world *w = *state;

    syscall_hook_arm(&(struct syscall_hook){ .call = "flistxattr", .name = "f", .error = ENOTSUP });
    assert_int_equal(take(w).n, 0);
    assert_true(syscall_hook_fired());
}

CASE(reading_attributes_survives_out_of_memory)
{
    enum { MANY = 40 };
    struct world *w = *state;
    char name[32], value[64] = "";
    bool failed = true;

    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "user.number%d", i);
        put(w, name, value, sizeof value);
    }
    for (long k = 1; failed; k++) {
        struct arena a = { 0 };
        struct attrs x = { 0 };

        memory_fail_at(k);
        enum err_code rc = fs_attrs_get(w->fd, &a, "f", &x, &w->e);

        failed = memory_failed();
        memory_fail_at(0);
        assert_int_equal(rc, failed ? ERR_NOMEM : ERR_OK);
        assert_int_equal(x.n >= MANY, !failed);
        arena_fini(&a);
    }
}

TEST(keeping_attributes_survives_out_of_memory)
{
    struct attr one = { "user.one", SLICE("a") };
    struct arena a = { 0 };
    struct attrs x = { .x = &one, .n = 1 };

    memory_fail_at(1);
    assert_false(fs_attrs_copy(&a, &x));
    assert_true(memory_failed());
    memory_fail_at(0);
    a.failed = false;
    x.x = &one;
    assert_true(fs_attrs_copy(&a, &x));
    assert_ptr_not_equal(x.x, &one);
    assert_string_equal(x.x->name, "user.one");
    assert_memory_equal(x.x->value.p, "a", 1);
    arena_fini(&a);
}

/* ---- setting ---- */

CASE(only_an_extra_attribute_that_grants_access_is_removed)
{
    struct world *w = *state;
    struct attrs none = take(w), with;
    char found[256];

    none.n = 0;
    put(w, "user.other", "o", 1);
    put(w, ACL, &acl, sizeof acl);
    with = take(w);
    /* An attribute that the file had is never missing in between. */
    syscall_hook_arm(&(struct syscall_hook){ .call = "fremovexattr", .name = "f", .error = EIO });
    assert_int_equal(fs_attrs_apply(w->fd, &with, "f", &w->e), ERR_OK);
    assert_false(syscall_hook_fired());
    assert_int_equal(fgetxattr(w->fd, ACL, found, sizeof found), sizeof acl);
    assert_memory_equal(found, &acl, sizeof acl);
    syscall_hook_arm(&(struct syscall_hook){ .call = "fremovexattr", .name = "f", .error = EIO });
    assert_int_equal(fs_attrs_apply(w->fd, &none, "f", &w->e), ERR_IO);
    assert_true(syscall_hook_fired());
    assert_int_equal(fs_attrs_apply(w->fd, &none, "f", &w->e), ERR_OK);
    assert_int_equal(fgetxattr(w->fd, ACL, found, sizeof found), -1);
    assert_int_equal(fgetxattr(w->fd, "user.other", found, sizeof found), 1);
}

CASE(attributes_are_set_completely_or_setting_fails)
{
    static const struct syscall_hook broken[] = {
        { .call = "fstat64", .name = "f", .error = EIO },
        { .call = "flistxattr", .name = "f", .error = EIO },
        { .call = "fsetxattr", .name = "f", .error = ENOSPC },
        { .call = "fsetxattr", .name = "f", .nth = 2, .error = EPERM },
    };
    struct attr two[] = { { "user.one", SLICE("a") }, { "user.two", SLICE("b") } };
    struct world *w = *state;
    struct attrs x = take(w);

    put(w, "user.one", "", 0);
    x.x = two;
    x.n = 2;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        syscall_hook_arm(&broken[i]);
        assert_int_not_equal(fs_attrs_apply(w->fd, &x, "f", &w->e), ERR_OK);
        assert_true(syscall_hook_fired());
        assert_int_equal(w->e.sys, broken[i].error);
    }
    assert_int_equal(fs_attrs_apply(w->fd, &x, "f", &w->e), ERR_OK);
    x = take(w);
    assert_int_equal(find(&x, "user.two")->value.n, 1);
}

CASE(owner_and_group_are_set_or_setting_fails)
{
    struct world *w = *state;
    struct attrs present = take(w), other[2];
    struct stat st;

    present.n = 0;
    other[0] = other[1] = present;
    other[0].uid = 12345;
    other[1].gid = 12345;
    for (size_t i = 0; i < 2; i++) {
        syscall_hook_arm(&(struct syscall_hook){ .call = "fchown", .name = "f", .error = EPERM });
        assert_int_not_equal(fs_attrs_apply(w->fd, &other[i], "f", &w->e), ERR_OK);
        assert_true(syscall_hook_fired());
        assert_int_equal(w->e.sys, EPERM);
        if (geteuid() != 0)
            continue; /* the test must not really change the owner */
        assert_int_equal(fs_attrs_apply(w->fd, &other[i], "f", &w->e), ERR_OK);
        assert_int_equal(fstat(w->fd, &st), 0);
        assert_int_equal(st.st_uid, other[i].uid);
        assert_int_equal(st.st_gid, other[i].gid);
        assert_int_equal(fchown(w->fd, present.uid, present.gid), 0);
    }
    syscall_hook_arm(&(struct syscall_hook){ .call = "fchown", .name = "f", .error = EPERM });
    assert_int_equal(fs_attrs_apply(w->fd, &present, "f", &w->e), ERR_OK);
    assert_false(syscall_hook_fired());
}

CASE(a_copy_keeps_user_attributes_or_fails)
{
    static const struct {
        const char *name;
        int error;
        enum err_code want;
    } cases[] = {
        { "user.one", ENOTSUP, ERR_IO },         { ACL, ENOTSUP, ERR_IO },
        { "security.selinux", ENOTSUP, ERR_OK }, { "security.selinux", EPERM, ERR_OK },
        { "trusted.overlay.x", EACCES, ERR_OK }, { "system.nfs4_acl", EINVAL, ERR_OK },
        { "security.selinux", ENOSPC, ERR_IO },
    };
    struct world *w = *state;
    struct attrs x;

    put(w, "user.two", "", 0);
    x = take(w);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct attr two[] = { { cases[i].name, SLICE("a") }, { "user.two", SLICE("b") } };

        x.x = two;
        x.n = 2;
        syscall_hook_arm(
            &(struct syscall_hook){ .call = "fsetxattr", .name = "f", .error = cases[i].error });
        enum err_code rc = fs_attrs_apply_portable(w->fd, &x, "f", &w->e);

        if (!syscall_hook_fired() || (rc == ERR_OK) != (cases[i].want == ERR_OK))
            fail_msg("%s: %s", cases[i].name, strerrorname_np(cases[i].error));
    }
    x.n = 0;
    syscall_hook_arm(&(struct syscall_hook){ .call = "fchown", .name = "f", .error = EPERM });
    assert_int_equal(fs_attrs_apply_portable(w->fd, &x, "f", &w->e), ERR_OK);
    assert_true(syscall_hook_fired());
    syscall_hook_arm(&(struct syscall_hook){ .call = "fchown", .name = "f", .error = EIO });
    assert_int_equal(fs_attrs_apply_portable(w->fd, &x, "f", &w->e), ERR_IO);
    assert_true(syscall_hook_fired());
}

/* ---- in a record ---- */

static struct attr recorded[] = { { "user.one", { "a\0b", 3 } }, { "user.two", { "", 0 } } };
static const struct attrs sample = {
    .mode = 02750, .uid = 1, .gid = 2, .mtime_ns = -3, .x = recorded, .n = 2
};

static bool write_it(cJSON *o, const struct attrs *x)
{
    struct buf scratch = { 0 };
    bool ok = record_json_set_attrs(o, x, &scratch);

    buf_fini(&scratch);
    return ok;
}

CASE(written_attributes_are_read_back)
{
    for (size_t n = 0; n <= 2; n++) {
        struct world *w = *state;
        cJSON *o = cJSON_CreateObject();
        struct attrs x = sample, back;

        x.n = n;
        assert_true(write_it(o, &x));
        assert_true(record_json_attrs(o, &w->arena, &back));
        assert_int_equal(back.mode, 02750);
        assert_int_equal(back.uid, 1);
        assert_int_equal(back.gid, 2);
        assert_int_equal(back.mtime_ns, -3);
        assert_int_equal(back.n, n);
        for (size_t i = 0; i < n; i++) {
            assert_string_equal(back.x[i].name, recorded[i].name);
            assert_int_equal(back.x[i].value.n, recorded[i].value.n);
            assert_memory_equal(back.x[i].value.p, recorded[i].value.p, recorded[i].value.n);
        }
        cJSON_Delete(o);
    }
}

TEST(writing_a_record_reports_out_of_memory)
{
    bool failed = true;

    for (long k = 1; failed; k++) {
        cJSON *o = cJSON_CreateObject();

        memory_fail_at(k);
        bool ok = write_it(o, &sample);

        failed = memory_failed();
        memory_fail_at(0);
        assert_int_equal(ok, !failed);
        cJSON_Delete(o);
    }
}

TEST(reading_a_record_reports_out_of_memory)
{
    cJSON *o = cJSON_CreateObject();
    bool failed = true;

    assert_true(write_it(o, &sample));
    for (long k = 1; failed; k++) {
        struct arena a = { 0 };
        struct attrs back;

        memory_fail_at(k);
        bool ok = record_json_attrs(o, &a, &back);

        failed = memory_failed();
        memory_fail_at(0);
        assert_int_equal(ok, !failed);
        arena_fini(&a);
    }
    cJSON_Delete(o);
}

CASE(a_damaged_record_is_refused)
{
#define INTS "\"mode\":\"1\",\"uid\":\"1\",\"gid\":\"1\",\"mtime\":\"1\""
    static const char *const damaged[] = {
        "{}",
        "{\"attrs\":{}}",
        "{\"attrs\":{\"mode\":\"1\"}}",
        "{\"attrs\":{\"mode\":\"1\",\"uid\":\"1\"}}",
        "{\"attrs\":{\"mode\":\"1\",\"uid\":\"1\",\"gid\":\"1\"}}",
        "{\"attrs\":{\"mode\":1,\"uid\":\"1\",\"gid\":\"1\",\"mtime\":\"1\"}}",
        "{\"attrs\":{" INTS ",\"xattrs\":\"a\"}}",
        "{\"attrs\":{" INTS ",\"xattrs\":{\"name\":\"a\"}}}",
        "{\"attrs\":{" INTS ",\"xattrs\":[{}]}}",
        "{\"attrs\":{" INTS ",\"xattrs\":[{\"name\":\"a\"},{\"name\":\"b\",\"value\":\"\"}]}}",
        "{\"attrs\":{" INTS ",\"xattrs\":[{\"name\":\"a\",\"value\":\"%Z\"}]}}",
    };
    struct world *w = *state;
    struct attrs x = { .n = 77 };
    cJSON *o;

    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        o = cJSON_Parse(damaged[i]);
        assert_non_null(o);
        if (record_json_attrs(o, &w->arena, &x))
            fail_msg("read as if it was whole: %s", damaged[i]);
        assert_int_equal(x.n, 77);
        cJSON_Delete(o);
    }
    o = cJSON_Parse("{\"attrs\":{" INTS "}}");
    assert_true(record_json_attrs(o, &w->arena, &x));
    assert_int_equal(x.n, 0);
    cJSON_Delete(o);
}

TEST_MAIN
{
    cJSON_InitHooks(&(cJSON_Hooks){ malloc, free });
    return test_run(NULL, NULL);
}
