#include "tests/test.h"

#include <stdlib.h>

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

/* ---- many places ---- */

enum { ALPHABET = 3, WORLDS = 4000 };

static uint32_t next_random(uint32_t *state)
{
    return (*state = *state * 1664525u + 1013904223u) >> 8;
}

static struct slice random_text(uint32_t *seed, size_t max, char *out)
{
    size_t n = next_random(seed) % max;

    for (size_t i = 0; i < n; i++)
        out[i] = "ab\n"[next_random(seed) % ALPHABET];
    return (struct slice){ out, n };
}

/* One occurrence after the other, none in what was just inserted. */
static void replace_slowly(struct slice text, struct slice old, struct slice with, struct buf *out)
{
    for (size_t i = 0; i < text.n;) {
        bool hit = old.n && text.n - i >= old.n && memcmp(text.p + i, old.p, old.n) == 0;

        assert_int_equal(buf_add(out, hit ? with : (struct slice){ text.p + i, 1 }), ERR_OK);
        i += hit ? old.n : 1;
    }
}

static size_t lines_of(struct slice text)
{
    struct slice line;
    size_t n = 0;
    bool torn;

    while (slice_line(&text, &line, &torn))
        n++;
    return n;
}

/* Returns true if the text has the line. */
static bool has_line(struct slice text, struct slice wanted)
{
    struct slice line;
    bool torn;

    while (slice_line(&text, &line, &torn))
        if (slice_eq(line, wanted))
            return true;
    return false;
}

TEST(all_places_are_replaced_in_one_pass_as_one_after_the_other)
{
    uint32_t seed = 1;

    for (int i = 0; i < WORLDS; i++) {
        char base[64], from[4], to[6];
        struct slice text = random_text(&seed, sizeof base, base), line, rest;
        struct edit_replacement r = { .old_text = random_text(&seed, sizeof from, from),
                                      .new_text = random_text(&seed, sizeof to, to),
                                      .all = true };
        struct blame_text t = { 0 };
        struct buf wanted = { 0 };
        bool torn;

        if (!r.old_text.n || !slice_find(text.p, text.n, r.old_text.p, r.old_text.n))
            continue;
        assert_int_equal(blame_text_observe(&t, text, NULL), ERR_OK);
        replace_one(&t, 1, r);
        replace_slowly(text, r.old_text, r.new_text, &wanted);
        rest = buf_slice(&wanted);
        assert_true(slice_eq(buf_slice(&t.text), rest));
        assert_int_equal(t.lines, lines_of(rest));
        assert_int_equal(lines_of(text) + t.added - t.removed, t.lines);
        for (size_t k = 0; slice_line(&rest, &line, &torn); k++)
            assert_true(t.owner[k] == 1 || has_line(text, line));
        buf_fini(&wanted);
        blame_text_fini(&t);
    }
}

enum { PLACES = 20000 };

static void add_all(struct buf *b, size_t times, const char *line)
{
    while (times--)
        assert_int_equal(buf_add(b, slice_of(line)), ERR_OK);
}

/* What an edit may cost for each byte of the text and each owner. */
enum { COST = 4 };

TEST(many_places_cost_as_much_as_the_text_is_long)
{
    static const char *const lines[] = { "name(1)\n", "name(1) ", "nam\ne name" };
    static const char *const names[] = { "name", "name\n", "n", "" };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            struct blame_budget budget = { .left = UINT64_C(1) << 32 };
            struct blame_text t = { .budget = &budget };
            struct edit_replacement r = { .old_text = SLICE("name"),
                                          .new_text = slice_of(names[k]),
                                          .all = true };
            struct buf text = { 0 };

            add_all(&text, PLACES, lines[i]);
            write_all(&t, 1, buf_cstr(&text));
            replace_one(&t, 2, r);
            assert_null(budget.stopped);
            assert_true((UINT64_C(1) << 32) - budget.left <
                        COST * (text.n + t.text.n + t.lines * sizeof *t.owner));
            buf_fini(&text);
            blame_text_fini(&t);
        }
}

TEST(many_hunks_cost_as_much_as_the_text_is_long)
{
    struct edit_replacement *hunk = calloc(PLACES, sizeof *hunk);

    assert_non_null(hunk);
    for (int with_lines = 0; with_lines < 2; with_lines++) {
        struct blame_budget budget = { .left = UINT64_C(1) << 32 };
        struct blame_text t = { .budget = &budget };
        struct arena a = { 0 };
        struct buf text = { 0 };

        for (size_t i = 0; i < PLACES; i++) {
            const char *old = arena_format(&a, "line %zu\n", with_lines ? i % 7 : i);

            add_all(&text, 1, old);
            hunk[i] = (struct edit_replacement){ .old_text = slice_of(old),
                                                 .new_text = slice_of("new\nlines\n"),
                                                 .next = true,
                                                 .line = with_lines ? i + 1 : 0 };
        }
        assert_int_equal(blame_text_observe(&t, buf_slice(&text), NULL), ERR_OK);
        budget.left = UINT64_C(1) << 32;
        edit(&t, 1,
             (struct edit){ .kind = EDIT_REPLACE, .replacement = hunk, .replacements = PLACES });
        assert_null(budget.stopped);
        assert_true(t.known);
        assert_int_equal(t.lines, 2 * PLACES);
        assert_int_equal(t.added, 2 * PLACES);
        assert_int_equal(t.removed, PLACES);
        if (with_lines) /* otherwise each has to be searched for up to the end, to know that it is unique */
            assert_true((UINT64_C(1) << 32) - budget.left < COST * (text.n + t.lines * 4));
        arena_fini(&a);
        buf_fini(&text);
        blame_text_fini(&t);
    }
    free(hunk);
}

TEST(hunks_may_overlap_and_come_in_any_order)
{
    struct blame_text t = { 0 };
    struct edit_replacement hunk[] = {
        { .old_text = SLICE("c\n"), .new_text = SLICE("C\nx\n"), .next = true, .line = 3 },
        { .old_text = SLICE("x\nd\n"), .new_text = SLICE("D\n"), .next = true, .line = 3 },
        { .old_text = SLICE("a\n"), .new_text = SLICE(""), .next = true, .line = 1 },
        { .old_text = SLICE("e"), .new_text = SLICE("f") },
        { .old_text = SLICE(""), .new_text = SLICE("end") },
    };

    see(&t, "a\nb\nc\nd\ne\n");
    edit(&t, 1, (struct edit){ .kind = EDIT_REPLACE, .replacement = hunk, .replacements = 5 });
    expect(&t, "b\nC\nD\nf\nend", ".1111");
    blame_text_fini(&t);
}

TEST(a_text_that_would_grow_without_limit_stops)
{
    struct blame_budget budget = { .left = UINT64_C(1) << 30 };
    struct blame_text t = { .budget = &budget };
    struct edit_replacement r = { .old_text = SLICE("a"), .all = true };
    struct buf many = { 0 };

    add_all(&many, 1000, "a\n");
    r.new_text = buf_slice(&many);
    write_all(&t, 1, "a\n");
    replace_one(&t, 2, r);
    replace_one(&t, 3, r);
    assert_null(budget.stopped);
    assert_true(t.known);
    for (int i = 0; i < 20; i++)
        replace_one(&t, 4, r);
    assert_non_null(budget.stopped);
    assert_false(t.known);
    assert_true(t.text.n <= BLAME_FILE_MAX && t.lines <= BLAME_LINES_MAX);
    see(&t, "a\nlater\n"); /* a text that was seen is known again */
    assert_int_equal(t.lines, 2);
    buf_fini(&many);
    blame_text_fini(&t);
}

TEST(small_edits_of_a_large_text_end_when_the_budget_is_spent)
{
    struct blame_budget budget = { .left = UINT64_C(1) << 24 };
    struct blame_text t = { .budget = &budget };
    struct buf text = { 0 };

    add_all(&text, 1 << 16, "many lines\n");
    assert_int_equal(buf_add(&text, SLICE("0\n")), ERR_OK);
    assert_int_equal(blame_text_observe(&t, buf_slice(&text), NULL), ERR_OK);
    for (uint32_t i = 1; i < 1000; i++)
        replace_one(&t, i, i % 2 ? FROM_TO("0\n", "1\n") : FROM_TO("1\n", "0\n"));
    assert_int_equal(budget.left, 0);
    assert_non_null(budget.stopped);
    assert_false(t.known);
    buf_fini(&text);
    blame_text_fini(&t);
}

TEST(an_edit_of_an_empty_text_without_bytes)
{
    struct blame_text t = { 0 };

    edit(&t, 1, (struct edit){ .kind = EDIT_WRITE, .after_known = EDIT_TEXT });
    expect(&t, "", "");
    edit(&t, 2,
         (struct edit){ .kind = EDIT_WRITE,
                        .before_known = EDIT_TEXT,
                        .after_known = EDIT_TEXT,
                        .after = SLICE("a\n") });
    expect(&t, "a\n", "2");
    edit(&t, 3, (struct edit){ .kind = EDIT_WRITE, .after_known = EDIT_TEXT });
    expect(&t, "", "");
    blame_text_fini(&t);
}
