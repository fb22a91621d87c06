#include "tests/test.h"

#include "store/api/store.h"
#include "store/query/resolve.h"

static const struct store_ops one = { .name = "one" }, two = { .name = "two" };

static struct short_ids *ids_of(const struct store_ops *const system[], const char *const id[],
                                size_t n)
{
    struct short_ids *s = short_ids_new();

    for (size_t i = 0; i < n; i++)
        assert_true(short_ids_add(s, system[i], slice_of(id[i])));
    short_ids_finish(s);
    return s;
}

static void assert_shown(const struct short_ids *s, const struct store_ops *system, const char *id,
                         const char *want)
{
    char out[SHORT_ID];
    struct slice got = short_ids_of(s, system, slice_of(id), out);

    assert_int_equal(got.n, strlen(want));
    assert_string_equal(out, want);
}

TEST(the_shortest_distinct_prefix_is_shown)
{
    static const struct store_ops *const system[] = { &one, &one, &one, &two, &one, &one };
    static const char *const id[] = {
        "c0ffee00-0000-0001", "c0ffee00-0000-0002", "deadbeef-1111", "c0ffee00-1", "dead",
        "c0ffee00-0000-0001"
    };
    struct short_ids *s = ids_of(system, id, 6);

    assert_shown(s, &one, id[0], "c0ffee00-0000-0001");
    assert_shown(s, &one, id[1], "c0ffee00-0000-0002");
    assert_shown(s, &one, id[2], "deadbeef");
    assert_shown(s, &two, id[3], "c0ffee00-1");
    assert_shown(s, &one, id[4], "dead");
    short_ids_free(s);
}

/* An id that is a prefix of another one is found by its full length. */
TEST(an_id_that_is_a_prefix_of_another_is_shown_whole)
{
    static const struct store_ops *const system[] = { &one, &one };
    static const char *const id[] = { "deploy-1", "deploy-123" };
    struct short_ids *s = ids_of(system, id, 2);

    assert_shown(s, &one, id[0], "deploy-1");
    assert_shown(s, &one, id[1], "deploy-12");
    short_ids_free(s);
}

/* The same session in two systems; within one system few bytes are enough. */
TEST(an_id_of_two_systems_is_shortened_within_its_own)
{
    static const struct store_ops *const system[] = { &two, &one, &one, &two };
    static const char *const id[] = { "a1b2c3d4-0001", "a1b2c3d4-0001", "a1b2c3d4-0002", "f" };
    struct short_ids *s = ids_of(system, id, 4);

    assert_shown(s, &one, id[0], "one:a1b2c3d4-0001");
    assert_shown(s, &two, id[0], "two:a1b2c3d4");
    assert_shown(s, &one, id[2], "a1b2c3d4-0002");
    short_ids_free(s);
}

TEST(a_character_is_not_split)
{
    static const struct store_ops *const system[] = { &one };
    static const char *const id[] = { "1234567\xc3\xa9z" };
    struct short_ids *s = ids_of(system, id, 1);

    assert_shown(s, &one, id[0], "1234567\xc3\xa9");
    short_ids_free(s);
}

TEST(an_unknown_id_is_shown_whole)
{
    char long_id[400];
    char out[SHORT_ID];
    struct short_ids *s = short_ids_new();

    short_ids_finish(s);
    assert_shown(s, &one, "0123456789abcdef", "0123456789abcdef");
    assert_shown(s, &one, "", "");
    memset(long_id, 'x', sizeof long_id);
    assert_int_equal(short_ids_of(s, &one, (struct slice){ long_id, sizeof long_id }, out).n,
                     SHORT_ID - 1);
    short_ids_free(s);
    short_ids_free(NULL);
}

TEST(sessions_that_are_known_are_not_looked_for)
{
    const struct store store = { .ops = &one }; /* which cannot enumerate */
    const struct session_ref first = { .store = &store, .id = SLICE("c0ffee00-1") },
                             second = { .store = &store, .id = SLICE("c0ffee00-2") };
    const struct session_ref *const refs[] = { &first, &second };
    struct short_ids *s;

    assert_int_equal(short_ids_of_refs(refs, 2, &s, NULL), ERR_OK);
    assert_shown(s, &one, "c0ffee00-1", "c0ffee00-1");
    short_ids_free(s);
}
