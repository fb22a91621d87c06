#include "store/systems/common/go_json.h"

#include "tests/test.h"

static void writes(enum err_code fn(struct buf *out, struct slice text), struct slice in,
                   const char *want)
{
    struct buf out = { 0 };

    assert_int_equal(fn(&out, in), ERR_OK);
    assert_string_equal(buf_cstr(&out), want);
    buf_fini(&out);
}

static enum err_code compact(struct buf *out, struct slice value)
{
    struct go_json_document g;

    go_json_row_init(&g, out);
    go_json_document_value(&g, value);
    return g.rc;
}

static enum err_code indent(struct buf *out, struct slice value)
{
    struct go_json_document g;

    go_json_document_init(&g, out);
    go_json_document_value(&g, value);
    return g.rc;
}

TEST(texts_are_escaped_as_go_escapes_them)
{
    writes(go_json_text, SLICE("a<b>&c \"q\" \\ / \x7f caf\xc3\xa9"),
           "\"a\\u003cb\\u003e\\u0026c \\\"q\\\" \\\\ / \x7f caf\xc3\xa9\"");
    writes(go_json_text, SLICE("\b\f\n\r\t\x01\x1f\0"), "\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u0000\"");
    writes(go_json_text, SLICE("\xe2\x80\xa8\xe2\x80\xa9"), "\"\\u2028\\u2029\"");
    writes(go_json_text, SLICE("\xf0\x9f\x98\x80"), "\"\xf0\x9f\x98\x80\"");
}

TEST(escapes_are_spelled_as_go_spells_them)
{
    writes(compact, SLICE("\"\\u00e9 \\/ \\u0008 \\u003c \\u0022 \\u005C \\n\""),
           "\"\xc3\xa9 / \\b \\u003c \\\" \\\\ \\n\"");
    writes(compact, SLICE("\"\\ud83d\\ude00 \\uD83D\\u0041 \\u2028 \xff\""),
           "\"\xf0\x9f\x98\x80 \\uD83DA \\u2028 \\ufffd\"");
    writes(compact, SLICE("{ \"\\u003c\" : [ 1.0, 1e21 ] }"), "{\"\\u003c\":[1.0,1e21]}");
}

TEST(floats_have_as_few_digits_as_possible)
{
    const struct {
        double value;
        const char *want;
    } cases[] = {
        { 0, "0" },
        { 0.1, "0.1" },
        { 12.5, "12.5" },
        { 1e-6, "0.000001" },
        { 9.9e-7, "9.9e-7" },
        { 1e20, "100000000000000000000" },
        { 1e21, "1e+21" },
        { 5e-324, "5e-324" },
        { 123456789012345678901.0, "123456789012345680000" },
        { -1.25, "-1.25" },
        { 1.7976931348623157e308, "1.7976931348623157e+308" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out = { 0 };

        assert_int_equal(go_json_float(&out, cases[i].value), ERR_OK);
        assert_string_equal(buf_cstr(&out), cases[i].want);
        buf_fini(&out);
    }
}

TEST(each_broken_byte_is_replaced)
{
    writes(go_json_text, SLICE("x\xff\xfey"), "\"x\\ufffd\\ufffdy\"");
    writes(go_json_text, SLICE("\xe2\x82"), "\"\\ufffd\\ufffd\"");
    writes(go_json_text, SLICE("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
}

TEST(times_have_as_many_digits_as_they_need)
{
    const struct {
        int64_t ns;
        const char *want;
    } cases[] = {
        { 1770605308000000000, "\"2026-02-09T02:48:28Z\"" },
        { 1770605308120000000, "\"2026-02-09T02:48:28.12Z\"" },
        { 1770605308123456789, "\"2026-02-09T02:48:28.123456789Z\"" },
        { -1, "\"1969-12-31T23:59:59.999999999Z\"" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out = { 0 };

        assert_int_equal(go_json_time(&out, cases[i].ns), ERR_OK);
        assert_string_equal(buf_cstr(&out), cases[i].want);
        buf_fini(&out);
    }
}

TEST(values_are_indented_and_not_changed)
{
    writes(indent, SLICE("{\"a\":1.50,\"b\":[ ],\"c\":{},\"d\":[1,{\"e\":\"x, \\\"}\"}]}"),
           "{\n  \"a\": 1.50,\n  \"b\": [],\n  \"c\": {},\n  \"d\": [\n    1,\n    {\n"
           "      \"e\": \"x, \\\"}\"\n    }\n  ]\n}");
    writes(indent, SLICE("12345678901234567890"), "12345678901234567890");
    writes(compact, SLICE(" { \"a\" : [ 1 , 2e-7 ] , \"b\" : \"< \\u003e\" } "),
           "{\"a\":[1,2e-7],\"b\":\"\\u003c \\u003e\"}");
}
