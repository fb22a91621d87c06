#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lite/keyscan.h"
#include "support/rows.h"

static struct keyscan_names the_names(void)
{
    struct keyscan_names names = { 0 };

    keyscan_names_add(&names, "type");
    keyscan_names_add(&names, "uuid");
    keyscan_names_add(&names, "message");
    return names;
}

/* Scans in pieces of `step` bytes with all of the line in memory for looking back. */
static struct keyscan scan(keyscan_feed_fn *feed, const struct keyscan_names *names,
                           struct slice line, size_t step)
{
    struct keyscan_source source = { .held = line };
    struct keyscan s;

    keyscan_begin(&s, names, &source);
    for (size_t at = 0; at < line.n && !s.broken; at += step)
        feed(&s, at, (struct slice){ line.p + at, line.n - at < step ? line.n - at : step });
    s.source = NULL;
    return s;
}

static void expect_same(const struct keyscan *a, const struct keyscan *b)
{
    assert_int_equal(a->ended && !a->broken, b->ended && !b->broken);
    if (!a->ended || a->broken)
        return;
    assert_int_equal(a->found, b->found);
    for (unsigned i = 0; i < a->names->n; i++)
        if (a->found >> i & 1)
            assert_int_equal(a->value[i], b->value[i]);
}

static void the_last_of_each_key_on_the_first_level_is_found(void **state)
{
    (void)state;
    struct keyscan_names names = the_names();
    struct slice line = SLICE("\"type\":1,\"a\":{\"uuid\":2,\"b\":[\"type\"]},\"type\" :3}");
    struct keyscan s = scan(keyscan_best(), &names, line, line.n);

    assert_true(s.ended && !s.broken);
    assert_int_equal(s.found, 1);
    assert_int_equal(s.value[0], line.n - 2);
}

static void runs_of_backslashes_of_every_length_and_place(void **state)
{
    (void)state;
    struct keyscan_names names = the_names();

    for (unsigned before = 0; before < 70; before++) {
        for (unsigned run = 0; run < 140; run++) {
            char text[320];
            size_t n = 0;
            struct keyscan s;

            n += (size_t)sprintf(text, "\"a\":\"%*s", (int)before, "");
            memset(text + n, '\\', run);
            n += run;
            n += (size_t)sprintf(text + n, run % 2 ? "\" \",\"type\":1}" : "\",\"type\":1}");
            s = scan(keyscan_best(), &names, (struct slice){ text, n }, n);
            assert_true(s.ended && !s.broken);
            assert_int_equal(s.found, 1);
            assert_int_equal(s.value[0], n - 2);
        }
    }
}

static void engines_and_pieces_agree_on_rows_and_on_damage(void **state)
{
    (void)state;
    static const size_t steps[] = { 1, 3, 63, 64, 65, 128 };
    struct keyscan_names names = the_names();
    struct dice dice = { 6364136223846793005u };

    for (int round = 0; round < 5000; round++) {
        struct buf b = { 0 };
        struct slice line;
        struct keyscan hop;

        rows_line(&b, &dice);
        line = buf_slice(&b);
        hop = scan(keyscan_feed_hop, &names, line, line.n + 1);
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            struct keyscan pieces = scan(keyscan_feed_hop, &names, line, steps[i]);
            struct keyscan best = scan(keyscan_best(), &names, line, steps[i]);

            expect_same(&hop, &pieces);
            expect_same(&hop, &best);
        }
        struct keyscan best = scan(keyscan_best(), &names, line, line.n + 1);

        expect_same(&hop, &best);
        buf_fini(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_of_each_key_on_the_first_level_is_found),
        cmocka_unit_test(runs_of_backslashes_of_every_length_and_place),
        cmocka_unit_test(engines_and_pieces_agree_on_rows_and_on_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
