#include "tests/test.h"

#include "support/screen/screen.h"

/* Forks below what they were forked from. */

static void open_tree(struct shop *x, const int parents[SHOP], const char *keys)
{
    shop_begin(x);
    for (int i = 0; i < SHOP; i++)
        x->fake[i].parent = parents[i] < 0 ? NULL : x->fake[parents[i]].id;
    screen_ready(&x->s, x->fake, SHOP, 24, 80);
    screen_press(&x->s, keys);
}

/* The letters that identify the sessions of the shop, in screen order, each after its depth. */
static void assert_order(struct shop *x, const char *want)
{
    static const char *const titles[] = { "Fix the", "Payments:", "Refund", "Payment page",
                                          "Größere" };
    char got[64] = "";
    size_t n = 0;

    for (int y = 2; y < 2 + SHOP; y++) {
        const char *line = screen_line(&x->s, y), *corner = strstr(line, "└╴");

        for (size_t i = 0; i < SHOP; i++) {
            const char *at = strstr(line, titles[i]);

            if (!at)
                continue;
            if (n > 0)
                got[n++] = ' ';
            if (corner)
                got[n++] = '-';
            got[n++] = (char)('a' + i);
        }
    }
    assert_string_equal(got, want);
}

TEST(a_fork_is_below_its_parent_at_the_place_of_the_first)
{
    const int parents[SHOP] = { 3, -1, 3, -1, -1 };
    struct shop x;

    open_tree(&x, parents, "");
    assert_order(&x, "a b c d e");
    screen_press(&x.s, "<C-x>b");
    assert_order(&x, "d -a -c b e");
    assert_true(screen_has(&x.s, "recent, tree"));
    assert_non_null(strstr(screen_line(&x.s, 3), "  NOW  └╴Fix the payment"));
    screen_press(&x.s, "<C-x>b");
    assert_order(&x, "a b c d e");
    screen_close(&x.s);
}

TEST(a_fork_of_a_fork_is_indented_further)
{
    const int parents[SHOP] = { 1, 2, -1, -1, -1 };
    struct shop x;

    open_tree(&x, parents, "<C-x>b");
    assert_order(&x, "c -b -a d e");
    assert_non_null(strstr(screen_line(&x.s, 3), "  └╴Payments:"));
    assert_non_null(strstr(screen_line(&x.s, 4), "    └╴Fix the"));
    screen_close(&x.s);
}

TEST(a_cycle_of_parents_shows_each_once)
{
    const int parents[SHOP] = { 1, 2, 0, 3, -1 };
    struct shop x;

    open_tree(&x, parents, "<C-x>b");
    assert_true(screen_has(&x.s, "5 sessions"));
    for (size_t i = 0; i < SHOP; i++) {
        const char *text = screen_text(&x.s), *first = strstr(text, x.fake[i].title);

        assert_non_null(first);
        assert_true(i == 0 || !strstr(first + 1, x.fake[i].title));
    }
    screen_close(&x.s);
}

TEST(a_missing_parent_is_ignored)
{
    const int parents[SHOP] = { 3, -1, 3, -1, -1 };
    struct shop x;

    shop_begin(&x);
    for (int i = 0; i < SHOP; i++)
        x.fake[i].parent = parents[i] < 0 ? NULL : "99999999-0000-4000-8000-000000000009";
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_press(&x.s, "<C-x>b");
    assert_order(&x, "a b c d e");
    screen_close(&x.s);
}

TEST(the_selection_and_the_filter_keep_the_tree)
{
    const int parents[SHOP] = { 3, -1, 3, -1, -1 };
    struct shop x;

    open_tree(&x, parents, "<Down><C-x>b");
    assert_non_null(strstr(screen_cursor_line(&x.s), "Payments:"));
    screen_press(&x.s, "pay");
    assert_non_null(strstr(screen_line(&x.s, 2), "Payment page copy"));
    assert_non_null(strstr(screen_line(&x.s, 3), "└╴Fix the payment"));
    screen_close(&x.s);
}
