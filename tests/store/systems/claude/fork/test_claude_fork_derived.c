#include "tests/test.h"

#include "lite/base/buf.h"
#include "store/systems/claude/fork/fork.h"

#define SOURCE(id, via) "{\"type\":\"claude_code_session\",\"id\":\"" id "\",\"via\":\"" via "\"}"
#define ROW(list) "{\"type\":\"derived-from\",\"v\":1,\"sessions\":[" list "]}"

static bool read_row(struct fork_derived *d, struct slice row)
{
    bool damaged;

    assert_int_equal(fork_derived_read(d, row, &damaged), ERR_OK);
    return damaged;
}

/* The derived metadata of a fork of "me"; frees d. */
static void assert_says(struct fork_derived *d, const char *want)
{
    struct buf out = { 0 };
    struct jsonout j;

    jsonout_init(&j, &out);
    assert_int_equal(fork_derived_write(d, SLICE("me"), &j), ERR_OK);
    assert_non_null(buf_cstr(&out));
    assert_string_equal(out.p, want);
    buf_fini(&out);
    fork_derived_fini(d);
}

TEST(the_newest_row_counts_and_the_source_comes_last)
{
    struct fork_derived d = { .any = false };

    assert_false(read_row(&d, SLICE(ROW(SOURCE("a", "fork")))));
    assert_false(read_row(&d, SLICE(ROW(SOURCE("b", "resume") "," SOURCE("b", "resume")))));
    assert_true(d.any);
    assert_says(&d, "[" SOURCE("b", "resume") "," SOURCE("me", "fork") "]");
}

TEST(a_damaged_row_contributes_only_its_fields)
{
    struct fork_derived d = { .any = false };

    assert_false(read_row(&d, SLICE(ROW(SOURCE("a", "fork")))));
    assert_true(read_row(&d, SLICE(ROW(SOURCE("b", "magic") "," SOURCE("c", "clear")))));
    assert_true(read_row(&d, SLICE("{\"v\":2,\"sessions\":[]}")));
    assert_says(&d, "[" SOURCE("a", "fork") "," SOURCE("c", "clear") "," SOURCE("me", "fork") "]");
}

TEST(copied_rows_name_their_session_once)
{
    struct fork_derived d = { .any = false };

    assert_false(read_row(&d, SLICE(ROW(SOURCE("a", "resume")))));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(fork_derived_copied(&d, SLICE("{\"forkedFrom\":{\"sessionId\":\"a\"}}")),
                         ERR_OK);
        assert_int_equal(fork_derived_copied(&d, SLICE("{\"forkedFrom\":{\"sessionId\":\"z\"}}")),
                         ERR_OK);
    }
    assert_int_equal(fork_derived_copied(&d, SLICE("{\"forkedFrom\":{\"sessionId\":5}}")), ERR_OK);
    assert_int_equal(fork_derived_copied(&d, SLICE("{}")), ERR_OK);
    assert_says(&d, "[" SOURCE("a", "resume") "," SOURCE("z", "fork") "," SOURCE("me", "fork") "]");
}
