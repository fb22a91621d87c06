#include "tests/test.h"

#include "store/blame/blame_text.h"

/* The owners of the lines: a digit, or '.' if there is no owner. */
static void expect(const struct blame_text *t, const char *text, const char *owners)
{
    char got[64] = "";

    assert_true(t->lines < sizeof got);
    for (size_t i = 0; i < t->lines; i++)
        got[i] = t->owner[i] == BLAME_NOBODY ? '.' : (char)('0' + t->owner[i]);
    assert_true(slice_eq(buf_slice(&t->text), slice_of(text)));
    assert_string_equal(got, owners);
}

static void see(struct blame_text *t, const char *content)
{
    assert_int_equal(blame_text_observe(t, slice_of(content), NULL), ERR_OK);
}

static void edit(struct blame_text *t, uint32_t owner, struct edit e)
{
    assert_int_equal(blame_text_edit(t, &e, owner, NULL), ERR_OK);
}

static void replace_one(struct blame_text *t, uint32_t owner, struct edit_replacement r)
{
    edit(t, owner, (struct edit){ .kind = EDIT_REPLACE, .replacement = &r, .replacements = 1 });
}

#define FROM_TO(a, b) ((struct edit_replacement){ .old_text = SLICE(a), .new_text = SLICE(b) })

static void write_all(struct blame_text *t, uint32_t owner, const char *content)
{
    edit(t, owner,
         (struct edit){ .kind = EDIT_WRITE, .after_known = EDIT_TEXT, .after = slice_of(content) });
}

TEST(lines_belong_to_the_edit_that_changed_them)
{
    struct blame_text t = { .states = { .wanted = true } };

    see(&t, "a\nb\nc\n");
    replace_one(&t, 1, FROM_TO("b\nc\n", "b\nC\nd\n"));
    expect(&t, "a\nb\nC\nd\n", "..11");
    assert_int_equal(t.added, 2);
    assert_int_equal(t.removed, 1);
    replace_one(&t, 2, FROM_TO("C", "X\nC"));
    expect(&t, "a\nb\nX\nC\nd\n", "..211");
    replace_one(&t, 3, FROM_TO("b\nX\n", ""));
    expect(&t, "a\nC\nd\n", ".11");
    write_all(&t, 4, "a\nC\nd\nnew");
    expect(&t, "a\nC\nd\nnew", ".114");
    replace_one(&t, 5, FROM_TO("new", "new\nlast"));
    expect(&t, "a\nC\nd\nnew\nlast", ".1145");
    blame_text_fini(&t);
}

TEST(equal_lines_are_not_taken_for_one_another)
{
    struct blame_text t = { 0 };

    write_all(&t, 1, "r\nx\n");
    replace_one(&t, 2, FROM_TO("x\n", "x\nr\n"));
    expect(&t, "r\nx\nr\n", "112");
    replace_one(&t, 3, FROM_TO("r\nx\nr\n", "r\nnew\n"));
    expect(&t, "r\nnew\n", "13");
    blame_text_fini(&t);
}

TEST(a_part_of_a_line_makes_it_the_edits)
{
    struct blame_text t = { 0 };

    see(&t, "int a;\nint b;\nint c;");
    replace_one(&t, 1, FROM_TO("a;\nint b", "aa;\nint b"));
    expect(&t, "int aa;\nint b;\nint c;", "1..");
    replace_one(&t, 2, FROM_TO(";\nint c;", ""));
    expect(&t, "int aa;\nint b", "12");
    blame_text_fini(&t);
}

TEST(everywhere_means_everywhere)
{
    struct blame_text t = { 0 };
    struct edit_replacement r = FROM_TO("x", "xx");

    r.all = true;
    see(&t, "x\ny\nx x\n");
    replace_one(&t, 1, r);
    expect(&t, "xx\ny\nxx xx\n", "1.1");
    blame_text_fini(&t);
}

TEST(hand_edits_belong_to_nobody)
{
    struct blame_text t = { .states = { .wanted = true } };

    write_all(&t, 1, "a\nb\nc\n");
    see(&t, "a\nhand\nc\nd\n");
    expect(&t, "a\nhand\nc\nd\n", "1.1.");
    see(&t, "a\nb\nc\n"); /* as it was: a rewind */
    expect(&t, "a\nb\nc\n", "111");
    blame_text_fini(&t);
}

TEST(a_former_content_may_be_changed_after_it_was_put_back)
{
    struct blame_text t = { .states = { .wanted = true } };

    write_all(&t, 1, "first line\nsecond line\nthird line\n}\n");
    write_all(&t, 2, "another\n}\nand more of it\n");
    see(&t, "first line\nsecond line\nthird line\nhand\n}\n");
    expect(&t, "first line\nsecond line\nthird line\nhand\n}\n", "111.1");
    see(&t, "nothing of that\nis left here\n}\n");
    expect(&t, "nothing of that\nis left here\n}\n", "...");
    blame_text_fini(&t);
}

TEST(line_ends_are_one)
{
    struct blame_text t = { 0 };

    see(&t, "\xef\xbb\xbf"
            "a\r\nb\r\n");
    replace_one(&t, 1, FROM_TO("a\r\n", "A\r\n"));
    expect(&t, "A\nb\n", "1.");
    see(&t, "A\r\nb");
    expect(&t, "A\nb", "1.");
    blame_text_fini(&t);
}

TEST(an_unknown_text_keeps_the_edit_until_it_is_known)
{
    struct blame_text t = { 0 };

    replace_one(&t, 1, FROM_TO("old one\n", "new one\nand two\n"));
    replace_one(&t, 2, FROM_TO("elsewhere", "somewhere"));
    replace_one(&t, 3, FROM_TO("x", "twice"));
    assert_false(t.known);
    see(&t, "top\nnew one\nand two\nin somewhere else\ntwice\ntwice\n");
    expect(&t, "top\nnew one\nand two\nin somewhere else\ntwice\ntwice\n", ".112..");
    blame_text_fini(&t);
}

TEST(a_fragment_that_is_not_whole_is_nobodys)
{
    struct blame_text t = { 0 };

    replace_one(&t, 1, FROM_TO("old\n", "first\nsecond\n"));
    see(&t, "first\nchanged\n");
    expect(&t, "first\nchanged\n", "..");
    blame_text_fini(&t);
}

TEST(a_replacement_that_does_not_fit_waits_for_the_text)
{
    struct blame_text t = { 0 };

    write_all(&t, 1, "a\nb\n");
    replace_one(&t, 2, FROM_TO("by hand", "by the agent"));
    assert_false(t.known);
    see(&t, "a\nb\nby the agent\n");
    expect(&t, "a\nb\nby the agent\n", "112");
    write_all(&t, 3, "x\nx\n");
    replace_one(&t, 4, FROM_TO("x", "y")); /* which of them is not known */
    assert_false(t.known);
    blame_text_fini(&t);
}

TEST(hunks_are_placed_in_order_and_by_line)
{
    struct blame_text t = { 0 };
    struct edit_replacement hunk[] = {
        { .old_text = SLICE("x\n"), .new_text = SLICE("1\n2\n"), .next = true, .line = 3 },
        { .old_text = SLICE("x\n"), .new_text = SLICE("3\n"), .next = true, .line = 4 },
    };

    see(&t, "x\ny\nx\nx");
    edit(&t, 1, (struct edit){ .kind = EDIT_REPLACE, .replacement = hunk, .replacements = 1 });
    expect(&t, "x\ny\n1\n2\nx", "..11.");
    see(&t, "x\ny\nx\nx");
    edit(&t, 2, (struct edit){ .kind = EDIT_REPLACE, .replacement = hunk, .replacements = 2 });
    expect(&t, "x\ny\n1\n2\n3", "..222");
    blame_text_fini(&t);
}

TEST(what_a_person_changed_in_a_proposal_is_not_the_agents)
{
    struct blame_text t = { 0 };
    struct edit_replacement r = FROM_TO("b", "agent\nagent too");

    edit(&t, 1,
         (struct edit){ .kind = EDIT_REPLACE,
                        .replacement = &r,
                        .replacements = 1,
                        .by_person = true,
                        .before_known = EDIT_TEXT,
                        .before = SLICE("a\nb\n"),
                        .after_known = EDIT_TEXT,
                        .after = SLICE("a\nagent\nperson\n") });
    expect(&t, "a\nagent\nperson\n", ".1.");
    blame_text_fini(&t);
}

TEST(a_removed_file_has_no_lines)
{
    struct blame_text t = { .states = { .wanted = true } };

    write_all(&t, 1, "a\n");
    edit(&t, 2, (struct edit){ .kind = EDIT_DELETE });
    assert_true(t.absent);
    assert_int_equal(t.removed, 1);
    edit(&t, 3,
         (struct edit){ .kind = EDIT_WRITE,
                        .before_known = EDIT_ABSENT,
                        .after_known = EDIT_TEXT,
                        .after = SLICE("a\n") });
    expect(&t, "a\n", "3");
    blame_text_fini(&t);
}

TEST(odd_texts_are_texts)
{
    struct blame_text t = { .states = { .wanted = true } };

    write_all(&t, 1, "");
    expect(&t, "", "");
    replace_one(&t, 2, FROM_TO("", "x"));
    expect(&t, "x", "2");
    replace_one(&t, 3, FROM_TO("x", "\n\n\n"));
    expect(&t, "\n\n\n", "333");
    replace_one(&t, 4, FROM_TO("\n\n\n", ""));
    expect(&t, "", "");
    edit(&t, 5, (struct edit){ .kind = EDIT_REPLACE });
    assert_false(t.known);
    blame_text_fini(&t);
}
