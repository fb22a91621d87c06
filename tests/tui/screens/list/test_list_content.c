#include <stdlib.h>

#include "tests/support/screen/screen.h"
#include "tests/test.h"
#include "tui/data/search_hits.h"

/* Hits of a search through the conversations, as they come in. */

static unsigned asked;

static void note_search(struct screen *s, const struct effect *e)
{
    (void)s;
    if (e->kind == EFFECT_GREP)
        asked = e->generation;
}

static void send_hit(struct screen *s, uint32_t lines, bool done)
{
    struct content_hits *list = content_hits_new();

    assert_non_null(list);
    list->hit = calloc(1, sizeof *list->hit);
    assert_non_null(list->hit);
    list->n = list->cap = 1;
    list->hit[0] = (struct content_hit){ .lines = lines,
                                         .snippet = arena_copy(&list->arena, SLICE("a line")) };
    list->done = done;
    screen_send(s, (struct msg){ .kind = MSG_CONTENT, .generation = asked, .u.content = list });
}

TEST(a_session_that_comes_again_is_counted_once)
{
    struct shop x;

    shop_begin(&x);
    x.s.answer = note_search;
    asked = 0;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_press(&x.s, "//word");
    screen_wait(&x.s, 1000);
    assert_int_not_equal(asked, 0);

    send_hit(&x.s, 1, false);
    assert_true(screen_has(&x.s, "1 line in 1 session, searching"));
    send_hit(&x.s, 7, true);
    assert_true(screen_has(&x.s, "7 lines in 1 session"));
    assert_false(screen_has(&x.s, "searching"));
    screen_close(&x.s);
}

/* A hit in this line, whose match is at these bytes. */
static void send_line(struct screen *s, struct slice line, size_t from, size_t to)
{
    struct content_hits *list = content_hits_new();

    assert_non_null(list);
    list->hit = calloc(1, sizeof *list->hit);
    assert_non_null(list->hit);
    list->n = list->cap = 1;
    list->hit[0] = (struct content_hit){ .lines = 3,
                                         .snippet = arena_copy(&list->arena, line),
                                         .range = { { (uint16_t)from, (uint16_t)to } },
                                         .ranges = 1 };
    screen_send(s, (struct msg){ .kind = MSG_CONTENT, .generation = asked, .u.content = list });
}

TEST(a_snippet_is_cut_around_the_match_at_words)
{
    const struct slice line = SLICE(
        "alpha beta gamma delta epsilon zeta eta theta iota kappa needle lambda mu nu xi omicron "
        "pi rho sigma tau upsilon phi chi psi omega");
    struct shop x;

    shop_begin(&x);
    x.s.answer = note_search;
    asked = 0;
    screen_ready(&x.s, x.fake, SHOP, 24, 60);
    screen_press(&x.s, "//needle");
    screen_wait(&x.s, 1000);
    send_line(&x.s, line, 57, 63);
    assert_true(screen_has(&x.s, "…iota kappa needle lambda mu nu xi"));
    screen_resize(&x.s, 24, 100);
    assert_true(screen_has(&x.s, " needle "));

    /* Chinese and Japanese have no blanks, and an address has none: what there is room for is shown. */
    screen_resize(&x.s, 24, 60);
    send_line(&x.s, SLICE("needle: 領収書メールの日本語訳を確認してください、そして直してください"),
              0, 6);
    assert_true(screen_has(&x.s, "needle: 領収書メールの日本語訳"));
    screen_resize(&x.s, 24, 50); /* nor has all that a narrow line has room for */
    send_line(&x.s, SLICE("one two three needle: example.org/a/very/long/path/without/a/blank"), 14,
              20);
    assert_true(screen_has(&x.s, " needle: example.org"));
    screen_resize(&x.s, 24, 60);
    send_line(&x.s,
              SLICE("see https://example.org/a/very/long/path/without/any/blank/needle/and/more/of/"
                    "it/until/the/end/of/the/line"),
              58, 64);
    assert_true(screen_has(&x.s, "/needle/and/more"));
    assert_true(screen_has(&x.s, "blank/needle"));
    screen_close(&x.s);
}

enum { MANY = 700, MATCHING = 2 };

static struct {
    size_t slices, first;
    unsigned times[MANY]; /* that each session was searched */
    bool matching_first;
} searched;

static void note_slice(struct screen *s, const struct effect *e)
{
    struct content_hits *list = content_hits_new();

    (void)s;
    if (e->kind != EFFECT_GREP) {
        content_hits_free(list);
        return;
    }
    assert_non_null(list);
    asked = e->generation;
    if (searched.slices++ == 0) {
        searched.first = e->refs->n;
        searched.matching_first = true;
        for (size_t i = 0; i < MATCHING; i++)
            searched.matching_first &= atoi(e->refs->ref[i].id.p) % 300 == 299;
    }
    for (size_t i = 0; i < e->refs->n; i++)
        searched.times[atoi(e->refs->ref[i].id.p)]++;
    list->done = true;
    screen_send(s, (struct msg){ .kind = MSG_CONTENT, .generation = asked, .u.content = list });
}

/* The first of them are searched before all of them were copied, and those that match the filter come first. */
TEST(many_sessions_are_searched_in_slices_and_each_once)
{
    static const char *const queries[] = { "//word", "rare //word" };
    struct fake *many = calloc(MANY, sizeof *many);
    char(*id)[40] = calloc(MANY, sizeof *id);
    struct screen s;

    assert_true(many && id);
    for (size_t i = 0; i < MANY; i++) {
        snprintf(id[i], sizeof id[i], "%08zu-0000-4000-8000-000000000000", i);
        many[i] = (struct fake){ .id = id[i],
                                 .title = i % 300 == 299 ? "A rare one" : "One of many",
                                 .ago_ms = (int64_t)(i + 1) * MINUTE,
                                 .size = 1000,
                                 .cwd = "/home/u/src/shop",
                                 .folder = "-home-u-src-shop" };
    }
    for (size_t q = 0; q < 2; q++) {
        memset(&searched, 0, sizeof searched);
        memset(&s, 0, sizeof s);
        s.answer = note_slice;
        screen_ready(&s, many, MANY, 24, 80);
        screen_press(&s, queries[q]);
        screen_wait(&s, 1000);
        screen_wait(&s, 1000);
        assert_true(searched.slices > 1);
        assert_true(searched.first < MANY / 2);
        assert_true(q == 0 || searched.matching_first);
        for (size_t i = 0; i < MANY; i++)
            assert_int_equal(searched.times[i], 1);
        assert_true(screen_has(&s, "0 lines in 0 sessions"));
        screen_close(&s);
    }
    free(id);
    free(many);
}
