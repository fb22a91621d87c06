#include "tests/test.h"

#include "tui/data/findings.h"

TEST(texts_are_copied_with_their_owner)
{
    struct findings *fs = findings_new();
    char why[] = "first";
    struct finding f = { .kind = FINDING_TORN_TAIL, .path = "/a", .why = why, .fixable = true };

    assert_non_null(fs);
    assert_int_equal(findings_add(fs, "claude", NULL, &f, NULL), ERR_OK);
    why[0] = 'x';
    f.fixable = false;
    for (int i = 0; i < 100; i++)
        assert_int_equal(findings_add(fs, "goat", NULL, &f, NULL), ERR_OK);
    assert_int_equal(fs->list.n, 101);
    assert_string_equal(fs->list.finding[0].why, "first");
    assert_string_equal(fs->system[0], "claude");
    assert_string_equal(fs->system[100], "goat");
    findings_free(fs);
    findings_free(NULL);
}

TEST(repaired_findings_are_no_longer_repairable)
{
    struct findings *fs = findings_new();
    struct finding f = { .kind = FINDING_TORN_TAIL, .path = "/a", .why = "w", .fixable = true };

    assert_non_null(fs);
    assert_int_equal(findings_add(fs, "claude", NULL, &f, NULL), ERR_OK);
    f.fixed = true;
    assert_int_equal(findings_add(fs, "claude", NULL, &f, NULL), ERR_OK);
    assert_int_equal(findings_fixable(fs), 1);
    findings_free(fs);
}
