#include "tests/test.h"

#include "lite/base/slice.h"

TEST(lines_come_newest_first_and_a_torn_tail_is_flagged)
{
    struct slice rest = SLICE("one\r\n\ntorn"), line;
    bool torn;

    assert_true(slice_last_line(&rest, &line, &torn));
    assert_true(torn && slice_eq(line, SLICE("torn")));
    assert_true(slice_last_line(&rest, &line, &torn));
    assert_true(!torn && line.n == 0);
    assert_true(slice_last_line(&rest, &line, &torn));
    assert_true(!torn && slice_eq(line, SLICE("one\r")));
    assert_false(slice_last_line(&rest, &line, &torn));
}

/* For every text of up to 7 bytes over two letters, the backward walk is the reversed forward walk. */
TEST(backward_is_forward_reversed)
{
    for (unsigned n = 0; n <= 7; n++) {
        for (unsigned bits = 0; bits < 1u << n; bits++) {
            char text[8];
            struct slice forward[8], line, rest = { text, n };
            bool torn[8], t;
            size_t lines = 0;

            for (unsigned i = 0; i < n; i++)
                text[i] = bits >> i & 1 ? '\n' : 'x';
            while (slice_line(&rest, &line, &t)) {
                torn[lines] = t;
                forward[lines++] = line;
            }
            rest = (struct slice){ text, n };
            while (slice_last_line(&rest, &line, &t)) {
                assert_true(lines-- > 0);
                assert_ptr_equal(line.p, forward[lines].p);
                assert_int_equal(line.n, forward[lines].n);
                assert_int_equal(t, torn[lines]);
            }
            assert_int_equal(lines, 0);
        }
    }
}
