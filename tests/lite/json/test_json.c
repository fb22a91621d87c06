#include "tests/test.h"

#include "lite/base/buf.h"
#include "lite/json/json.h"

#define ROW                                                                                        \
    " {\"type\" : \"user\",\"n\":-12,\"message\":{\"role\":\"user\",\"content\":[1,\"}\",[{}]]},"  \
    "\"ok\":true,\"no\":false,\"nil\":null} "

static bool is(struct slice got, const char *want)
{
    return slice_eq(got, slice_of(want));
}

TEST(the_first_byte_determines_the_type)
{
    assert_int_equal(json_type(SLICE("null")), JSON_NULL);
    assert_int_equal(json_type(SLICE("false")), JSON_FALSE);
    assert_int_equal(json_type(SLICE("true")), JSON_TRUE);
    assert_int_equal(json_type(SLICE("-1")), JSON_NUMBER);
    assert_int_equal(json_type(SLICE("0")), JSON_NUMBER);
    assert_int_equal(json_type(SLICE("\"\"")), JSON_STRING);
    assert_int_equal(json_type(SLICE("[]")), JSON_ARRAY);
    assert_int_equal(json_type(SLICE("{}")), JSON_OBJECT);
    assert_int_equal(json_type(SLICE("")), JSON_NONE);
    assert_int_equal(json_type(SLICE("x")), JSON_NONE);
}

TEST(members_come_in_file_order)
{
    static const char *const keys[] = { "\"type\"", "\"n\"",  "\"message\"",
                                        "\"ok\"",   "\"no\"", "\"nil\"" };
    static const char *const values[] = {
        "\"user\"", "-12", "{\"role\":\"user\",\"content\":[1,\"}\",[{}]]}", "true", "false", "null"
    };
    struct json_iter it;
    struct slice key, value;
    size_t i = 0;

    assert_true(json_iter_open(&it, SLICE(ROW)));
    for (; json_iter_next(&it, &key, &value); i++) {
        assert_true(is(key, keys[i]));
        assert_true(is(value, values[i]));
    }
    assert_int_equal(i, 6);
    assert_false(json_iter_next(&it, &key, &value));
    assert_int_equal(key.n + value.n, 0);
}

TEST(elements_have_no_key)
{
    struct json_iter it;
    struct slice key, value;

    assert_true(json_iter_open(&it, SLICE("[ 1 , [2,3] ,\"a\" ]")));
    assert_true(json_iter_next(&it, &key, &value));
    assert_true(is(value, "1"));
    assert_int_equal(key.n, 0);
    assert_true(json_iter_next(&it, &key, &value));
    assert_true(is(value, "[2,3]"));
    assert_true(json_iter_next(&it, &key, &value));
    assert_true(is(value, "\"a\""));
    assert_false(json_iter_next(&it, &key, &value));
}

/* Walks into every container and writes down what it meets. */
static void see_all(struct json_iter *it, struct buf *seen, unsigned deep)
{
    struct json_iter inner;
    struct slice key, value;
    bool more = true;

    while (more && json_iter_key(it, &key)) {
        assert_int_equal(buf_add(seen, key), ERR_OK);
        assert_int_equal(buf_add_byte(seen, '('), ERR_OK);
        if (deep && json_iter_into(it, &inner)) {
            see_all(&inner, seen, deep - 1);
            more = json_iter_back(it, &inner, &value);
        } else {
            more = json_iter_value(it, &value);
        }
        assert_int_equal(buf_add_byte(seen, ')'), ERR_OK);
        assert_int_equal(buf_add(seen, value), ERR_OK);
    }
}

/* Walks into every value of a text and compares the rest with a walk that skips it. */
static void compare_walks(struct slice text)
{
    struct json_iter it, plain;
    struct slice key, value, plain_key, plain_value;
    bool more = true;

    if (!json_iter_open(&it, text))
        return;
    assert_true(json_iter_open(&plain, text));
    while (more && json_iter_key(&it, &key)) {
        struct json_iter inner;
        struct buf seen = { 0 };

        if (json_iter_into(&it, &inner)) {
            see_all(&inner, &seen, 9);
            more = json_iter_back(&it, &inner, &value);
        } else {
            more = json_iter_value(&it, &value);
        }
        assert_int_equal(more, json_iter_next(&plain, &plain_key, &plain_value));
        assert_true(slice_eq(value, plain_value));
        assert_true(!more || slice_eq(key, plain_key));
        buf_fini(&seen);
    }
    assert_false(json_iter_next(&plain, &key, &value));
}

TEST(a_walked_value_equals_a_skipped_one)
{
    static const char *const texts[] = {
        ROW,
        "{\"a\":[],\"b\":{},\"c\":[[],[1,{\"d\":2}]],\"e\":3}",
        "{\"a\":{\"b\" 1},\"c\":2}", /* an error inside does not affect what is around it */
        "{\"a\":[1 2,[3}],\"c\":[4,],\"d\":5}",
        "{\"a\":1 \"b\":2}",
        "[{},[],{\"a\":}]",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t n = 0; n <= strlen(texts[i]); n++) /* also cut at every offset */
            compare_walks((struct slice){ texts[i], n });
}

TEST(a_walk_visits_the_contents)
{
    struct json_iter it;
    struct buf seen = { 0 };

    assert_true(json_iter_open(&it, SLICE("{\"a\":[1,{\"b\":2}],\"c\":3}")));
    see_all(&it, &seen, 9);
    assert_true(is(buf_slice(&seen), "\"a\"(()1(\"b\"()2){\"b\":2})[1,{\"b\":2}]\"c\"()3"));
    buf_fini(&seen);
}

TEST(only_containers_are_walked)
{
    struct json_iter it;

    assert_false(json_iter_open(&it, SLICE("")));
    assert_false(json_iter_open(&it, SLICE("  ")));
    assert_false(json_iter_open(&it, SLICE("12")));
    assert_false(json_iter_open(&it, SLICE("\"{}\"")));
}

TEST(a_key_is_found_with_its_value)
{
    struct slice v;

    assert_true(json_get(SLICE(ROW), "n", &v));
    assert_true(is(v, "-12"));
    assert_false(json_get(SLICE(ROW), "role", &v));
    assert_int_equal(v.n, 0);
    assert_false(json_get(SLICE("[\"n\",1]"), "n", &v));
    assert_false(json_get(SLICE("{\"n\\u0000\":1}"), "n", &v));
    assert_false(json_get(SLICE("{\"nn\":1,\"\":2}"), "n", &v));
}

TEST(the_last_of_equal_keys_counts_in_any_spelling)
{
    struct slice v;

    assert_true(json_get(SLICE("{\"type\":1,\"\\u0074ype\":2}"), "type", &v));
    assert_true(is(v, "2"));
    assert_true(json_get(SLICE("{\"\\u0074ype\":1,\"type\":2,\"x\":3}"), "type", &v));
    assert_true(is(v, "2"));
}

TEST(several_keys_are_found_in_one_pass)
{
    static const char *const names[] = { "type", "absent", "nil", "type" };
    struct slice v[4];

    assert_int_equal(json_get_each(SLICE(ROW), names, 4, v), 3);

    assert_true(is(v[0], "\"user\""));
    assert_int_equal(v[1].n, 0);
    assert_true(is(v[2], "null"));
    assert_true(is(v[3], "\"user\""));
    assert_int_equal(json_get_each(SLICE("x"), names, 4, v), 0);
    assert_int_equal(v[0].n, 0);
}

TEST(a_path_descends_into_objects)
{
    struct slice v;

    assert_true(json_at(SLICE(ROW), "message.role", &v));
    assert_true(is(v, "\"user\""));
    assert_true(json_at(SLICE("{\"a\":{\"b\":{\"c\":7}}}"), "a.b.c", &v));
    assert_true(is(v, "7"));
    assert_false(json_at(SLICE(ROW), "message.role.x", &v));
    assert_false(json_at(SLICE(ROW), "nothing.here", &v));
    assert_int_equal(v.n, 0);
}

/* A result from a truncated text must be that of the whole one. */
TEST(a_truncated_text_never_gives_a_different_result)
{
    static const char *const names[] = { "type", "n", "message", "ok", "no", "nil" };
    struct slice whole[6], cut[6], row = SLICE(ROW);

    json_get_each(row, names, 6, whole);
    for (size_t n = 0; n < row.n; n++) {
        size_t found = json_get_each((struct slice){ row.p, n }, names, 6, cut);

        for (size_t i = 0; i < 6; i++) {
            if (i < found)
                assert_true(slice_eq(cut[i], whole[i]));
            else
                assert_int_equal(cut[i].n, 0);
        }
    }
}

TEST(values_before_an_error_are_found)
{
    static const char *const broken[] = { "{\"a\":1,}",        "{\"a\":1,b:2}",
                                          "{\"a\":1 \"b\":2}", "{\"a\":1,\"b\"}",
                                          "{\"a\":1,\"b\":}",  "{\"a\":1,\"b\":[2,",
                                          "{\"a\":1,\"b\":\"", "{\"a\":1,\"b\":@}" };
    static const char *const names[] = { "a", "b" };
    struct slice v[2];

    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        assert_int_equal(json_get_each(slice_of(broken[i]), names, 2, v), 1);
        assert_true(is(v[0], "1"));
    }
}

TEST(depth_uses_no_stack)
{
    enum { DEPTH = 500000 };
    struct buf text = { 0 };
    struct slice v;

    assert_int_equal(buf_add(&text, SLICE("{\"deep\":")), ERR_OK);
    for (int i = 0; i < DEPTH; i++)
        assert_int_equal(buf_add_byte(&text, '['), ERR_OK);
    for (int i = 0; i < DEPTH; i++)
        assert_int_equal(buf_add_byte(&text, ']'), ERR_OK);
    assert_int_equal(buf_add(&text, SLICE(",\"after\":1}")), ERR_OK);

    assert_true(json_get(buf_slice(&text), "after", &v));
    assert_true(json_get(buf_slice(&text), "deep", &v));
    assert_int_equal(v.n, 2 * DEPTH);
    buf_fini(&text);
}

TEST(only_strings_have_text_and_only_true_is_a_true_bool)
{
    struct arena a = { 0 };
    struct slice text;

    assert_true(json_get_text(SLICE(ROW), "type", &a, &text));
    assert_true(is(text, "user"));
    assert_false(json_get_text(SLICE(ROW), "n", &a, &text));
    assert_false(json_get_text(SLICE(ROW), "absent", &a, &text));
    assert_true(json_get_true(SLICE(ROW), "ok"));
    assert_false(json_get_true(SLICE(ROW), "no"));
    assert_false(json_get_true(SLICE(ROW), "type"));
    assert_false(json_get_true(SLICE("{\"ok\":trueish}"), "ok"));
    arena_fini(&a);
}

static int64_t number(const char *text)
{
    int64_t n;

    assert_true(json_int(slice_of(text), &n));
    return n;
}

TEST(integers_are_read_up_to_the_limits_of_the_type)
{
    assert_int_equal(number("0"), 0);
    assert_int_equal(number("-0"), 0);
    assert_int_equal(number("-12"), -12);
    assert_true(number("9223372036854775807") == INT64_MAX);
    assert_true(number("-9223372036854775808") == INT64_MIN);
}

TEST(members_are_found_as_by_reading_the_object_again)
{
    static const char *const objects[] = {
        ROW,
        "{\"a\":1,\"b\":2,\"a\":3}",
        "{\"\\u0061\":1,\"b\":2}",
        "{\"a\":1,\"\\u0061\":2}",
        "{\"a\":1,\"b\":[",
        "{\"a\":1,\"b\"",
        "{}",
        "[1,2]",
        "\"a\"",
        "",
        "{\"k0\":0,\"k1\":0,\"k2\":0,\"k3\":0,\"k4\":0,\"k5\":0,\"k6\":0,\"k7\":0,\"k8\":0,"
        "\"k9\":0,\"l0\":0,\"l1\":0,\"l2\":0,\"l3\":0,\"l4\":0,\"l5\":0,\"l6\":0,\"l7\":0,"
        "\"l8\":0,\"l9\":0,\"m0\":0,\"m1\":0,\"m2\":0,\"m3\":0,\"a\":4,\"b\":[5]}",
    };
    static const char *const names[] = { "a", "b", "type", "message", "nil", "k0", "\"", "" };

    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        const struct slice object = slice_of(objects[i]);
        struct json_members m;

        json_members_read(&m, object);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            struct slice want, got;
            bool found = json_get(object, names[k], &want);

            assert_int_equal(json_members_get(&m, slice_of(names[k]), &got), found);
            assert_true(got.p == want.p && got.n == want.n);
        }
    }
}

TEST(other_numbers_are_refused)
{
    static const char *const wrong[] = { "",
                                         "-",
                                         "1.0",
                                         "1e3",
                                         "9223372036854775808",
                                         "+1",
                                         "null",
                                         "\"1\"",
                                         "1 ",
                                         "-9223372036854775809",
                                         "--1",
                                         "99999999999999999999999" };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int64_t n = 7;

        assert_false(json_int(slice_of(wrong[i]), &n));
        assert_int_equal(n, 7);
    }
}
