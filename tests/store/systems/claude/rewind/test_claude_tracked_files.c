#include "tests/test.h"

#include "lite/json/json.h"
#include "store/systems/claude/rewind/file_history.h"

static void put(struct claude_tracked *t, const char *key, const char *backup)
{
    assert_int_equal(claude_tracked_set(t, slice_of(key), slice_of(backup)), ERR_OK);
}

static void says(const struct claude_tracked *t, const char *want)
{
    struct buf out = { 0 };
    struct jsonout j;

    jsonout_init(&j, &out);
    claude_tracked_write(t, &j);
    assert_int_equal(j.rc, ERR_OK);
    assert_string_equal(buf_cstr(&out), want);
    buf_fini(&out);
}

TEST(files_keep_their_insertion_order)
{
    struct claude_tracked t = { 0 };

    says(&t, "{}");
    put(&t, "\"b\"", "1");
    put(&t, "\"a\"", "2");
    says(&t, "{\"b\":1,\"a\":2}");
    claude_tracked_fini(&t);
}

TEST(a_known_file_gets_another_backup)
{
    struct claude_tracked t = { 0 };

    put(&t, "\"a\"", "1");
    put(&t, "\"b\"", "2");
    put(&t, "\"\\u0061\"", "3");
    says(&t, "{\"a\":3,\"b\":2}");
    claude_tracked_fini(&t);
}

TEST(many_files_are_found_again)
{
    enum { FILES = 3000 };
    static char key[FILES][12];
    struct claude_tracked t = { 0 };

    for (int round = 0; round < 2; round++)
        for (int i = 0; i < FILES; i++) {
            snprintf(key[i], sizeof key[i], "\"f%d\"", i);
            put(&t, key[i], round ? "null" : "1");
        }
    assert_int_equal(t.n, FILES);
    for (int i = 0; i < FILES; i++)
        assert_true(slice_eq(t.file[i].backup, SLICE("null")));
    claude_tracked_clear(&t);
    says(&t, "{}");
    put(&t, "\"f7\"", "7");
    says(&t, "{\"f7\":7}");
    claude_tracked_fini(&t);
}

TEST(the_members_of_an_object_are_copied)
{
    struct claude_tracked t = { 0 };

    assert_int_equal(claude_tracked_read(&t, SLICE("{ \"x\" : {\"v\": 1} , \"y\":null}")), ERR_OK);
    assert_int_equal(claude_tracked_read(&t, SLICE("[1]")), ERR_OK);
    put(&t, "7", "1");
    says(&t, "{\"x\":{\"v\": 1},\"y\":null}");
    claude_tracked_fini(&t);
}
