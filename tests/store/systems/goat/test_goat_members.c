#include "tests/test.h"

#include "lite/json/json.h"
#include "store/systems/goat/dialect.h"
#include "store/systems/goat/manifest.h"
#include "store/systems/goat/metadata.h"

enum { UUID, MESSAGE, ROLE, NAMES };

static const char *const names[NAMES] = { "uuid", "message", "role" };

static void expect(struct slice found, const char *text)
{
    assert_int_equal(found.n, strlen(text));
    assert_memory_equal(found.p ? found.p : "", text, found.n);
}

TEST(the_exact_name_wins_and_the_last_of_several)
{
    struct slice value[NAMES];

    goat_members(
        SLICE("{\"UUID\":1,\"uuid\":2,\"Uuid\":3,\"ROLE\":4,\"Role\":5,\"uuidx\":6,\"\":7}"), names,
        NAMES, value);

    expect(value[UUID], "2");
    expect(value[ROLE], "5");
    expect(value[MESSAGE], "");
}

TEST(a_name_is_found_in_escapes)
{
    struct slice value[NAMES];

    goat_members(SLICE("{\"\\u0075uid\":1,\"r\\u006fle\":2}"), names, NAMES, value);

    expect(value[UUID], "1");
    expect(value[ROLE], "2");
}

/* One pass over both levels gives the results of two. */
TEST(both_levels_in_one_pass_equal_two_passes)
{
    static const char *const lines[] = {
        "{\"uuid\":1,\"message\":{\"role\":\"user\",\"content\":[{\"role\":2}]},\"role\":3}",
        "{\"message\":{\"role\":1},\"message\":{\"uuid\":2}}",
        "{\"message\":{\"role\":1},\"Message\":{\"role\":2}}",
        "{\"Message\":{\"role\":1},\"MESSAGE\":{\"uuid\":2}}",
        "{\"Message\":{\"role\":1},\"message\":5}",
        "{\"message\":[{\"role\":1}],\"role\":2}",
        "{\"message\":null,\"message\":{ }}",
        "{\"m\\u0065ssage\" : { \"Role\" : 1 , \"role\" : \"}\\\"{\" } , \"uuid\" : [ ] }",
        "{}",
        "[{\"uuid\":1}]",
        "7",
        "",
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct slice line = { lines[i], strlen(lines[i]) };
        struct slice value[NAMES], inside[NAMES], want[NAMES], wanted[NAMES];

        goat_members_both(line, names, NAMES, value, MESSAGE, inside);
        goat_members(line, names, NAMES, want);
        goat_members(want[MESSAGE], names, NAMES, wanted);

        assert_memory_equal(value, want, sizeof value);
        assert_memory_equal(inside, wanted, sizeof inside);
    }
}

static struct goat_saved saved_under(struct arena *a, const char *hash)
{
    struct goat_point point = { 0 };
    const char *text =
        arena_format(a, "{\"files\":[{\"path\":\"f\",\"exists\":true,\"hash\":\"%s\"}]}", hash);

    assert_non_null(text);
    assert_int_equal(goat_manifest_parse(slice_of(text), a, &point), ERR_OK);
    assert_int_equal(point.n, 1);
    return point.saved[0];
}

/* The hash becomes a file's name, so a path that leaves the directory must not be accepted as one. */
TEST(a_saved_copy_is_named_by_hex_digits_only)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    struct arena a = { 0 };

    for (size_t at = 0; at < GOAT_HASH_TEXT; at += 21)
        for (int c = '!'; c < 127; c++) {
            char hash[GOAT_HASH_TEXT + 1];

            if (c == '"' || c == '\\')
                continue;
            memset(hash, 'a', GOAT_HASH_TEXT);
            hash[at] = (char)c;
            hash[GOAT_HASH_TEXT] = '\0';
            struct goat_saved saved = saved_under(&a, hash);
            bool good = strchr(hex, c) != NULL;

            assert_int_equal(saved.was, good ? GOAT_WAS_THERE : GOAT_WAS_UNKNOWN);
            assert_int_equal(strlen(saved.hash), good ? GOAT_HASH_TEXT : 0);
            assert_int_equal(saved.why != NULL, !good);
        }
    arena_fini(&a);
}

TEST(a_new_member_is_written_where_the_dialect_has_it)
{
    struct arena a = { 0 };
    struct buf out = { 0 };
    const struct goat_metadata m = { .object = SLICE("{\"of_tomorrow\":1,\"model\":\"m\"}") };
    const struct goat_edit edits[] = {
        { .field = GOAT_ID, .value = SLICE("\"s\"") },
        { .field = GOAT_CWD, .value = SLICE("\"/w\"") },
        { .key = "added", .value = SLICE("2") },
    };

    assert_int_equal(goat_metadata_edit(&m, edits, 3, &a, &out), ERR_OK);
    expect(buf_slice(&out), "{\n  \"id\": \"s\",\n  \"cwd\": \"/w\",\n  \"of_tomorrow\": 1,\n"
                            "  \"model\": \"m\",\n  \"added\": 2\n}");
    buf_fini(&out);
    arena_fini(&a);
}
