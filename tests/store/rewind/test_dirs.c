#include "tests/test.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

#include "lite/base/buf.h"
#include "store/rewind/plan/beneath.h"
#include "support/faults/memory.h"

/* The directories of a record: each is recorded once and completely, or not at all. */

static struct attr one[] = { { "user.one", { "a", 1 } } };
static const struct attrs sample = { .mode = 0700, .x = one, .n = 1 };

static bool add(struct dirs *list, struct arena *a, const char *path)
{
    return beneath_dirs_add(list, a, slice_of(path), &sample);
}

TEST(a_directory_is_found_by_its_full_path)
{
    struct arena a = { 0 };
    struct dirs list = { 0 };

    assert_null(beneath_dirs_find(&list, SLICE("/a")));
    assert_true(add(&list, &a, "/a/bc"));
    assert_true(add(&list, &a, "/a/bd"));
    assert_true(add(&list, &a, "/a/bc"));
    assert_int_equal(list.n, 2);
    assert_ptr_equal(beneath_dirs_find(&list, SLICE("/a/bc")), &list.dir[0]);
    assert_null(beneath_dirs_find(&list, SLICE("/a/b")));
    assert_null(beneath_dirs_find(&list, SLICE("/a/bcd")));
    arena_fini(&a);
}

/* ---- out of memory ---- */

/* Returns true if it succeeded. */
typedef bool attempt_fn(const struct dirs *from, cJSON *record);

static bool copy(const struct dirs *from, cJSON *record)
{
    struct arena a = { 0 };
    struct dirs list = { 0 };
    bool ok = beneath_dirs_add_all(&list, &a, from);

    (void)record;
    assert_true(!ok || list.n == from->n);
    arena_fini(&a);
    return ok;
}

static bool write_down(const struct dirs *from, cJSON *record)
{
    struct buf scratch = { 0 };
    bool ok = beneath_dirs_write(record, from, &scratch);

    buf_fini(&scratch);
    cJSON_DeleteItemFromObjectCaseSensitive(record, "dirs");
    return ok;
}

static bool read_back(const struct dirs *from, cJSON *record)
{
    struct arena a = { 0 };
    struct dirs list;
    bool ok = beneath_dirs_read(record, &a, &list);

    assert_true(!ok || list.n == from->n);
    arena_fini(&a);
    return ok;
}

static void fails_until_there_is_memory(attempt_fn *attempt, const struct dirs *from, cJSON *record)
{
    bool failed = true;
    long k = 0;

    while (failed) {
        memory_fail_at(++k);
        bool ok = attempt(from, record);

        failed = memory_failed();
        memory_fail_at(0);
        assert_int_equal(ok, !failed);
    }
    assert_true(k > 1);
}

TEST(no_operation_claims_success_without_memory)
{
    enum { MANY = 40 };
    struct arena a = { 0 };
    struct dirs list = { 0 };
    struct buf scratch = { 0 };
    cJSON *empty = cJSON_CreateObject(), *record = cJSON_CreateObject();
    char path[32];

    for (int i = 0; i < MANY; i++) {
        snprintf(path, sizeof path, "/directory%d", i);
        assert_true(add(&list, &a, path));
    }
    assert_true(beneath_dirs_write(record, &list, &scratch));
    fails_until_there_is_memory(copy, &list, NULL);
    fails_until_there_is_memory(write_down, &list, empty);
    fails_until_there_is_memory(read_back, &list, record);
    cJSON_Delete(empty);
    cJSON_Delete(record);
    buf_fini(&scratch);
    arena_fini(&a);
}

/* ---- damage ---- */

TEST(a_damaged_record_is_refused)
{
#define LIKE "\"attrs\":{\"mode\":\"1\",\"uid\":\"1\",\"gid\":\"1\",\"mtime\":\"1\"}"
    static const char *const damaged[] = {
        "{}",
        "{\"dirs\":{\"path\":\"/a\"}}",
        "{\"dirs\":[{}]}",
        "{\"dirs\":[{" LIKE "},{\"path\":\"/a\"," LIKE "}]}",
        "{\"dirs\":[{\"path\":\"/a\"}]}",
        "{\"dirs\":[{\"path\":\"/a\"," LIKE "},{\"path\":\"/a\"}]}",
    };
    struct arena a = { 0 };
    struct dirs list;
    cJSON *o;

    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        o = cJSON_Parse(damaged[i]);
        assert_non_null(o);
        if (beneath_dirs_read(o, &a, &list))
            fail_msg("read as if it was whole: %s", damaged[i]);
        cJSON_Delete(o);
    }
    o = cJSON_Parse("{\"dirs\":[{\"path\":\"/a\"," LIKE "}]}");
    assert_true(beneath_dirs_read(o, &a, &list));
    assert_int_equal(list.n, 1);
    assert_string_equal(list.dir[0].path, "/a");
    cJSON_Delete(o);
    arena_fini(&a);
}

TEST_MAIN
{
    cJSON_InitHooks(&(cJSON_Hooks){ malloc, free });
    return test_run(NULL, NULL);
}
