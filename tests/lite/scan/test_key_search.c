#include "tests/test.h"

#include <stdlib.h>

#include "lite/scan/field.h"

static const struct slice needles[] = {
    { "\"gitBranch\":", 12 },
    { "\"customTitle\":", 14 },
    { "\"type\":\"tag\"", 12 },
    { "\"type\": \"tag\"", 13 },
};
enum { COUNT = sizeof needles / sizeof *needles };

/* The same search, one position after the other. */
static bool plain_last(struct slice text, size_t *at, size_t *which)
{
    for (size_t p = *at; p-- > 0;) {
        for (size_t i = 0; i < COUNT; i++) {
            if (needles[i].n <= text.n - p && memcmp(text.p + p, needles[i].p, needles[i].n) == 0) {
                *at = p;
                *which = i;
                return true;
            }
        }
    }
    return false;
}

TEST(every_needle_is_found_searching_backwards)
{
    struct key_search_set set;
    struct slice text = SLICE("{\"customTitle\":1,\"gitBranch\":2,\"type\":\"tag\"}");
    struct key_search walk;
    size_t at, which, seen[3] = { 0 };

    key_search_set_init(&set, needles, COUNT);
    key_search_begin(&walk, &set, text);
    for (size_t i = 0; i < 3; i++)
        assert_true(key_search_next(&walk, &at, &seen[i]));

    assert_int_equal(seen[0], 2);
    assert_int_equal(seen[1], 0);
    assert_int_equal(seen[2], 1);
    assert_int_equal(at, 1);
    assert_false(key_search_next(&walk, &at, &which));
}

static bool begins_with_needle(const struct key_search_set *set, struct slice text)
{
    struct key_search walk;
    size_t at = 1, which;

    key_search_begin(&walk, set, text);
    return key_search_next(&walk, &at, &which) && at == 0;
}

TEST(a_needle_at_either_end_of_the_text_is_found)
{
    struct key_search_set set;

    key_search_set_init(&set, needles, COUNT);

    assert_true(begins_with_needle(&set, needles[0]));
    assert_true(begins_with_needle(&set, needles[2]));
    for (size_t n = 0; n < needles[0].n; n++)
        assert_false(begins_with_needle(&set, (struct slice){ needles[0].p, n }));
    assert_false(begins_with_needle(&set, (struct slice){ NULL, 0 }));
}

/* The search engines of this machine, terminated by NULL. */
struct searches {
    key_search_find_fn *find[3];
};

static struct searches all_searches(void)
{
    key_search_find_fn *best = key_search_find_best();

    if (best != key_search_find_portable)
        return (struct searches){ { best, key_search_find_portable } };
    return (struct searches){ { best } };
}

/* Returns the number of matches. */
static size_t expect_as_plain(const struct key_search_set *set, key_search_find_fn *find,
                              struct slice text)
{
    size_t at = text.n, plain_at = text.n, which = 0, plain_which = 0, hits = 0;
    struct key_search walk;

    key_search_begin(&walk, set, text);
    walk.find = find;
    while (key_search_next(&walk, &at, &which)) {
        assert_true(plain_last(text, &plain_at, &plain_which));
        assert_int_equal(at, plain_at);
        assert_int_equal(which, plain_which);
        hits++;
    }
    assert_false(plain_last(text, &plain_at, &plain_which));
    return hits;
}

/* Texts made of parts of needles, so that nearly every step meets one. */
TEST(random_texts_give_the_results_of_a_plain_search)
{
    struct searches searches = all_searches();
    struct key_search_set set;
    char text[3 * KEY_SEARCH_BATCH_BYTES];
    size_t hits = 0;

    key_search_set_init(&set, needles, COUNT);
    srand(7);
    for (int round = 0; round < 10000; round++) {
        size_t n = 0, want = (size_t)rand() % (round % 50 ? 400 : sizeof text);
        while (n < want) {
            struct slice piece = needles[rand() % COUNT];
            size_t from = (size_t)rand() % 3, len = piece.n - from - (size_t)rand() % 3;

            if (rand() % 2)
                from = 0, len = piece.n;
            if (n + len > want)
                break;
            memcpy(text + n, piece.p + from, len);
            n += len;
        }
        for (size_t i = 0; searches.find[i]; i++)
            hits += expect_as_plain(&set, searches.find[i], (struct slice){ text, n });
    }
    assert_true(hits > 10000);
}

/* More of them in a row than any real row has. */
TEST(the_maximum_number_of_pairs_is_searched)
{
    struct searches searches = all_searches();
    struct key_search_set set;
    char text[2 * KEY_SEARCH_BATCH_BYTES + 100];

    key_search_set_init(&set, needles, COUNT);
    for (size_t shift = 0; shift < 2; shift++) {
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = (i + shift) % 2 ? ':' : '"';
        memcpy(text + KEY_SEARCH_BATCH_BYTES, needles[0].p, needles[0].n);
        for (size_t i = 0; searches.find[i]; i++)
            assert_int_equal(
                expect_as_plain(&set, searches.find[i], (struct slice){ text, sizeof text }), 1);
    }
}

TEST(a_dropped_needle_is_not_found_again)
{
    struct key_search_set set;
    struct key_search walk;
    char text[5 * KEY_SEARCH_BATCH_BYTES];
    struct slice unit =
        SLICE("\"type\":\"tag\",\"gitBranch\":\"m\",\"type\": \"tag\",\"t\":\"tag\",");
    size_t at, which, n = 0, tags = 0, branches = 0;

    for (; n + unit.n < sizeof text; n += unit.n) /* two with one hash, and one of its own */
        memcpy(text + n, unit.p, unit.n);
    key_search_set_init(&set, needles, COUNT);
    key_search_begin(&walk, &set, (struct slice){ text, n });

    while (key_search_next(&walk, &at, &which)) {
        assert_int_not_equal(which, 1);
        tags += which == 2;
        branches += which == 0;
        if (which != 2)
            key_search_ignore(&walk, which);
    }

    assert_int_equal(branches, 1);
    assert_int_equal(tags, n / unit.n);
}
