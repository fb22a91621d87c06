#include "tests/test.h"

#include "lite/json/json.h"
#include "lite/json/jsonout.h"

static void put_gives(const char *object, const char *name, const char *value, const char *want)
{
    struct buf out = { 0 };

    assert_int_equal(json_set(&out, slice_of(object), name, slice_of(value)), ERR_OK);
    assert_string_equal(buf_cstr(&out), want);
    assert_true(json_valid(buf_slice(&out)));
    buf_fini(&out);
}

static void drop_gives(const char *object, const char *name, const char *want)
{
    struct buf out = { 0 };

    assert_int_equal(json_remove(&out, slice_of(object), name), ERR_OK);
    assert_string_equal(buf_cstr(&out), want);
    assert_true(json_valid(buf_slice(&out)));
    buf_fini(&out);
}

TEST(a_value_is_replaced_in_place)
{
    put_gives("{\"a\":1,\"b\":2.50,\"c\":3}", "b", "null", "{\"a\":1,\"b\":null,\"c\":3}");
    put_gives(" { \"a\" : 1 , \"b\" : [ 2 ] } ", "b", "7", " { \"a\" : 1 , \"b\" : 7 } ");
    put_gives("{\"\\u0061\":1}", "a", "2", "{\"\\u0061\":2}");
    put_gives("{\"x\":{\"a\":1},\"a\":1}", "a", "2", "{\"x\":{\"a\":1},\"a\":2}");
}

TEST(a_new_member_is_added_at_the_end)
{
    put_gives("{}", "a", "1", "{\"a\":1}");
    put_gives("{ }", "a", "1", "{\"a\":1 }");
    put_gives("{\"x\":{}}", "a", "1", "{\"x\":{},\"a\":1}");
    put_gives("{\"x\":1 }", "a", "\"}\"", "{\"x\":1,\"a\":\"}\" }");
}

TEST(a_member_is_removed_with_its_comma)
{
    drop_gives("{\"a\":1,\"b\":2,\"c\":3}", "a", "{\"b\":2,\"c\":3}");
    drop_gives("{\"a\":1,\"b\":2,\"c\":3}", "b", "{\"a\":1,\"c\":3}");
    drop_gives("{\"a\":1,\"b\":2,\"c\":3}", "c", "{\"a\":1,\"b\":2}");
    drop_gives("{\"a\":1}", "a", "{}");
    drop_gives("{ \"a\" : 1 , \"b\" : 2 }", "a", "{ \"b\" : 2 }");
    drop_gives("{\"b\":1}", "a", "{\"b\":1}");
    drop_gives("{}", "a", "{}");
}

TEST(every_member_with_the_name_is_edited)
{
    drop_gives("{\"a\":1,\"b\":2,\"a\":3,\"\\u0061\":4}", "a", "{\"b\":2}");
    put_gives("{\"a\":1,\"b\":2,\"a\":3}", "a", "4", "{\"a\":4,\"b\":2}");
}

TEST(many_edits_are_one_pass)
{
    struct buf out = { 0 };
    const struct json_edit edits[] = {
        { .name = "gone" },
        { .name = "new", .value = SLICE("[1]") },
        { .name = "here", .value = SLICE("true") },
        { .name = "perhaps", .value = SLICE("1"), .if_there = true },
        { .name = "newer", .value = SLICE("{}") },
    };

    assert_int_equal(
        json_edit(&out, SLICE("{\"gone\":1,\"here\":0,\"x\":1.0,\"gone\":2}"), edits, 5), ERR_OK);
    assert_string_equal(buf_cstr(&out), "{\"here\":true,\"x\":1.0,\"new\":[1],\"newer\":{}}");
    buf_fini(&out);
}

TEST(every_other_byte_is_kept)
{
    put_gives("{\"n\":1e400,\"t\":\"\\ud800\xFF\",\"m\":null}", "m", "1",
              "{\"n\":1e400,\"t\":\"\\ud800\xFF\",\"m\":1}");
}
