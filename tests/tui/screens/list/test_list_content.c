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

TEST(a_snippet_is_cut_around_the_match_at_words)
{
    const struct slice line = SLICE(
        "alpha beta gamma delta epsilon zeta eta theta iota kappa needle lambda mu nu xi omicron "
        "pi rho sigma tau upsilon phi chi psi omega");
    struct content_hits *list = content_hits_new();
    struct shop x;

    shop_begin(&x);
    x.s.answer = note_search;
    asked = 0;
    screen_ready(&x.s, x.fake, SHOP, 24, 60);
    screen_press(&x.s, "//needle");
    screen_wait(&x.s, 1000);
    assert_non_null(list);
    list->hit = calloc(1, sizeof *list->hit);
    assert_non_null(list->hit);
    list->n = list->cap = 1;
    list->hit[0] = (struct content_hit){
        .lines = 3, .snippet = arena_copy(&list->arena, line), .range = { { 57, 63 } }, .ranges = 1
    };
    list->done = true;
    screen_send(&x.s, (struct msg){ .kind = MSG_CONTENT, .generation = asked, .u.content = list });
    assert_true(screen_has(&x.s, "…iota kappa needle lambda mu nu xi"));
    screen_resize(&x.s, 24, 100);
    assert_true(screen_has(&x.s, " needle "));
    screen_close(&x.s);
}
