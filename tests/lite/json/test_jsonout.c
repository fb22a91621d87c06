#include "tests/test.h"

#include "lite/json/json.h"
#include "lite/json/jsonout.h"

struct fixture {
    struct buf out;
    struct jsonout j;
};

static void open_fixture(struct fixture *f)
{
    f->out = (struct buf){ 0 };
    jsonout_init(&f->j, &f->out);
}

static void written_is(struct fixture *f, struct slice want)
{
    assert_int_equal(f->j.rc, ERR_OK);
    assert_int_equal(f->out.n, want.n);
    assert_memory_equal(f->out.p, want.p, want.n);
    assert_true(json_valid(want));
    buf_fini(&f->out);
}

TEST(commas_are_only_between_values)
{
    struct fixture f;

    open_fixture(&f);
    jsonout_open(&f.j, '{');
    jsonout_key(&f.j, "a");
    jsonout_int(&f.j, -9223372036854775807 - 1);
    jsonout_key(&f.j, "b");
    jsonout_open(&f.j, '[');
    jsonout_open(&f.j, '{');
    jsonout_close(&f.j, '}');
    jsonout_open(&f.j, '[');
    jsonout_close(&f.j, ']');
    jsonout_bool(&f.j, true);
    jsonout_bool(&f.j, false);
    jsonout_null(&f.j);
    jsonout_close(&f.j, ']');
    jsonout_key(&f.j, "c \"d\"");
    jsonout_raw(&f.j, SLICE("1.50"));
    jsonout_key(&f.j, "e");
    jsonout_null(&f.j);
    jsonout_close(&f.j, '}');

    written_is(&f, SLICE("{\"a\":-9223372036854775808,\"b\":[{},[],true,false,null],"
                         "\"c \\\"d\\\"\":1.50,\"e\":null}"));
}

static void text_is(struct slice text, struct slice want)
{
    struct fixture f;

    open_fixture(&f);
    jsonout_text(&f.j, text);
    written_is(&f, want);
}

TEST(text_is_escaped_as_json_stringify_does)
{
    text_is(SLICE(""), SLICE("\"\""));
    text_is(SLICE("a\"b\\c/"), SLICE("\"a\\\"b\\\\c/\""));
    text_is(SLICE("\b\f\n\r\t\0\x1f\x7f"), SLICE("\"\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\""));
    text_is(SLICE("\xC3\xA9\xE2\x80\xA8\xF0\x9F\x98\x80"),
            SLICE("\"\xC3\xA9\xE2\x80\xA8\xF0\x9F\x98\x80\""));
}

TEST(surrogates_are_escaped_and_invalid_bytes_replaced)
{
    text_is(SLICE("a\xED\xA0\x80z\xED\xBF\xBF"), SLICE("\"a\\ud800z\\udfff\""));
    text_is(SLICE("\xFF"
                  "a\xE2\x82"),
            SLICE("\"\xEF\xBF\xBD"
                  "a\xEF\xBF\xBD\""));
}

TEST(every_character_round_trips)
{
    struct arena a = { 0 };
    char text[0x1000];

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 7 & 0x7f);
    struct fixture f;
    struct slice got;

    open_fixture(&f);
    jsonout_text(&f.j, (struct slice){ text, sizeof text });
    assert_true(json_text(buf_slice(&f.out), &a, &got));
    assert_true(slice_eq(got, (struct slice){ text, sizeof text }));
    arena_fini(&a);
    buf_fini(&f.out);
}

TEST(raw_json_is_copied_with_invalid_bytes_replaced)
{
    struct fixture f;

    open_fixture(&f);
    jsonout_raw(&f.j, SLICE("{ \"n\": 1e400, \"t\": \"\\ud800\xFF\xC3\xA9\xE2\" }"));
    written_is(&f, SLICE("{ \"n\": 1e400, \"t\": \"\\ud800\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\" }"));
}

TEST(a_compact_document_is_one_line)
{
    struct fixture f;

    open_fixture(&f);
    jsonout_open(&f.j, '[');
    jsonout_int(&f.j, 1);
    jsonout_compact(&f.j, SLICE("{\r\n\t\"a b\" : [ 1, \"\\\\\" ],\n  \"c\": \"\\\" d\" }\n"));
    jsonout_close(&f.j, ']');
    written_is(&f, SLICE("[1,{\"a b\":[1,\"\\\\\"],\"c\":\"\\\" d\"}]"));
}

TEST(an_empty_member_is_omitted)
{
    struct fixture f;

    open_fixture(&f);
    jsonout_open(&f.j, '{');
    jsonout_member(&f.j, "none", SLICE(""));
    jsonout_member(&f.j, "some", SLICE("x"));
    jsonout_member(&f.j, "none", (struct slice){ NULL, 0 });
    jsonout_member(&f.j, "more", SLICE("y"));
    jsonout_close(&f.j, '}');
    written_is(&f, SLICE("{\"some\":\"x\",\"more\":\"y\"}"));
}

TEST(the_first_failure_sticks)
{
    struct fixture f;

    open_fixture(&f);
    jsonout_int(&f.j, 1);
    f.j.rc = ERR_NOMEM;
    jsonout_text(&f.j, SLICE("two"));
    jsonout_raw(&f.j, SLICE("3"));
    jsonout_int(&f.j, 4);
    assert_int_equal(f.j.rc, ERR_NOMEM);
    assert_true(slice_eq(buf_slice(&f.out), SLICE("1")));
    buf_fini(&f.out);
}
