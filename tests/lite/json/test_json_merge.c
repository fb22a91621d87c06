#include "tests/test.h"

#include "lite/json/json.h"
#include "lite/json/jsonout.h"

static void merges(const char *target, const char *patch, const char *want)
{
    struct buf out = { 0 };

    assert_int_equal(json_merge(&out, slice_of(target), slice_of(patch)), ERR_OK);
    assert_string_equal(buf_cstr(&out), want);
    assert_true(json_valid(buf_slice(&out)));
    buf_fini(&out);
}

/* The table at the end of RFC 7396. */
TEST(the_cases_of_the_rfc)
{
    merges("{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}");
    merges("{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}");
    merges("{\"a\":\"b\"}", "{\"a\":null}", "{}");
    merges("{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}");
    merges("{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}");
    merges("{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}");
    merges("{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}");
    merges("{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}");
    merges("[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]");
    merges("{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]");
    merges("{\"a\":\"foo\"}", "null", "null");
    merges("{\"a\":\"foo\"}", "\"bar\"", "\"bar\"");
    merges("{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}");
    merges("[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}");
    merges("{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}");
}

TEST(bytes_stay_and_keys_are_compared_decoded)
{
    merges("{\"n\":1e400,\"t\":1.0}", "{\"u\":-0}", "{\"n\":1e400,\"t\":1.0,\"u\":-0}");
    merges("{\"a\":1}", "{\"\\u0061\":null}", "{}");
    merges("{\"a\":1,\"b\":2,\"a\":3}", "{\"c\":4,\"c\":5}", "{\"b\":2,\"a\":3,\"c\":5}");
    merges("{\"a\":1}", "{\"a\":2,\"a\":null}", "{}");
    merges("{ \"a\" : 1 }", "{ }", "{\"a\":1}");
}

TEST(a_patch_nested_too_deep_is_refused)
{
    struct buf patch = { 0 }, out = { 0 };

    for (int i = 0; i < 300; i++)
        assert_int_equal(buf_addf(&patch, "{\"a\":"), ERR_OK);
    assert_int_equal(buf_addf(&patch, "1"), ERR_OK);
    for (int i = 0; i < 300; i++)
        assert_int_equal(buf_addf(&patch, "}"), ERR_OK);
    assert_int_equal(json_merge(&out, SLICE("{}"), buf_slice(&patch)), ERR_USAGE);
    buf_fini(&patch);
    buf_fini(&out);
}
