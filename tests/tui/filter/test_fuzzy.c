#include "tests/test.h"

#include "tui/filter/fold.h"
#include "tui/filter/fuzzy.h"

/* A text folded for the length of a test. */
struct text {
    struct buf text, classes;
};

static struct fuzzy_haystack fold(struct text *t, const char *text)
{
    *t = (struct text){ 0 };
    assert_int_equal(fold_text(slice_of(text), 4096, &t->text, &t->classes), ERR_OK);
    return (struct fuzzy_haystack){ t->text.p, (const uint8_t *)t->classes.p, t->text.n };
}

static void drop(struct text *t)
{
    buf_fini(&t->text);
    buf_fini(&t->classes);
}

static int best(const char *word, const char *text)
{
    struct fuzzy_needle needle;
    struct text t;
    struct fuzzy_haystack haystack = fold(&t, text);

    assert_true(fuzzy_needle_init(&needle, slice_of(word)));
    int score = fuzzy_best(&needle, haystack, NULL);
    int quick = fuzzy_quick(&needle, haystack);

    assert_int_equal(score == FUZZY_NO_MATCH, quick == FUZZY_NO_MATCH);
    assert_true(quick <= score);
    drop(&t);
    return score;
}

static int exact(const char *word, const char *text, enum anchor anchor)
{
    struct fuzzy_needle needle;
    struct text t;
    struct fuzzy_haystack haystack = fold(&t, text);

    assert_true(fuzzy_needle_init(&needle, slice_of(word)));
    int score = fuzzy_exact(&needle, haystack, anchor, NULL);

    drop(&t);
    return score;
}

static int near(const char *word, const char *text)
{
    struct fuzzy_needle needle;
    struct text t;
    struct fuzzy_haystack haystack = fold(&t, text);

    assert_true(fuzzy_needle_init(&needle, slice_of(word)));
    int score = fuzzy_near(&needle, haystack);

    drop(&t);
    return score;
}

TEST(letters_fit_in_order_with_gaps)
{
    assert_true(best("pyrt", "payment retry") > 0);
    assert_int_equal(best("ytrp", "payment retry"), FUZZY_NO_MATCH);
    assert_int_equal(best("payments", "payment"), FUZZY_NO_MATCH);
    assert_int_equal(best("x", ""), FUZZY_NO_MATCH);
}

TEST(a_run_beats_initials_and_initials_beat_scattered_letters)
{
    assert_true(best("fix", "fix the loop") > best("fix", "file index of xml"));
    assert_true(best("fix", "file index xml") > best("fix", "of a lift in a box"));
}

TEST(the_start_of_a_word_beats_its_middle)
{
    assert_true(best("try", "retry try again") > best("try", "retry once"));
    assert_true(best("bar", "foo/bar") > best("bar", "foobar"));
    assert_true(best("bar", "fooBar") > best("bar", "foobar"));
}

TEST(the_best_match_is_found_even_if_the_first_is_poor)
{
    uint16_t at[FUZZY_NEEDLE_MAX];
    struct fuzzy_needle needle;
    struct text t;
    struct fuzzy_haystack haystack = fold(&t, "a lot of loops");

    assert_true(fuzzy_needle_init(&needle, SLICE("loop")));
    assert_true(fuzzy_best(&needle, haystack, at) > 0);
    for (uint16_t k = 0; k < 4; k++)
        assert_int_equal(at[k], 9 + k);
    drop(&t);
}

TEST(small_letters_find_capitals_and_capitals_only_themselves)
{
    assert_true(best("readme", "Update README") > 0);
    assert_true(best("README", "Update README") > 0);
    assert_int_equal(best("README", "Update readme"), FUZZY_NO_MATCH);
    assert_int_equal(exact("Fix", "the fix", ANCHOR_NONE), FUZZY_NO_MATCH);
}

TEST(accents_and_widths_make_no_difference)
{
    assert_true(best("anderung", "Größere Änderungen") > 0);
    assert_true(best("ÄNDER", "GRÖSSERE ÄNDERUNG") > 0);
    assert_true(exact("strasse", "Straße", ANCHOR_NONE) > 0);
    assert_true(best("abc", "ＡＢＣ") > 0);
    assert_true(best("cafe", "cafe\xcc\x81") > 0);
}

TEST(a_multibyte_character_matches_completely_or_not_at_all)
{
    assert_true(best("設定", "新しい設定です") > 0);
    assert_true(best("設定", "設を定める") > 0);
    /* U+8A2D is E8 A8 AD, U+8A2E is E8 A8 AE: they share two bytes. */
    assert_int_equal(best("設", "訮"), FUZZY_NO_MATCH);
    /* The bytes of U+5B9A (E5 AE 9A) are scattered in these. */
    assert_int_equal(best("定", "\xe5\x80\x80\xe8\xae\x80\xe8\x80\x9a"), FUZZY_NO_MATCH);
}

TEST(anchors_bind_a_word_to_the_ends)
{
    assert_true(exact("fix", "fix it", ANCHOR_START) >= 0);
    assert_int_equal(exact("it", "fix it", ANCHOR_START), FUZZY_NO_MATCH);
    assert_true(exact("it", "fix it", ANCHOR_END) >= 0);
    assert_int_equal(exact("fix", "fix it", ANCHOR_END), FUZZY_NO_MATCH);
    assert_true(exact("fix it", "fix it", ANCHOR_BOTH) >= 0);
    assert_int_equal(exact("fix", "fix it", ANCHOR_BOTH), FUZZY_NO_MATCH);
}

TEST(a_match_at_the_start_of_a_word_is_best)
{
    struct fuzzy_needle needle;
    struct text t;
    struct fuzzy_haystack haystack = fold(&t, "retry the try");
    uint16_t at = 0;

    assert_true(fuzzy_needle_init(&needle, SLICE("try")));
    assert_true(fuzzy_exact(&needle, haystack, ANCHOR_NONE, &at) > 0);
    assert_int_equal(at, 10);
    drop(&t);
}

TEST(in_a_long_text_only_close_letters_match)
{
    const char *text = "please look at the webhook, it sometimes fires twice";

    assert_true(near("webhook", text) > 0);
    assert_true(near("hook", text) > 0);
    assert_true(near("wbhk", text) > 0);
    assert_int_equal(near("pit", text), FUZZY_NO_MATCH);
    assert_int_equal(near("ptw", text), FUZZY_NO_MATCH);
}

/* Narrowing depends on this: a text that matches a longer word matches its prefixes. */
TEST(a_match_of_a_word_matches_its_prefixes)
{
    static const char *const texts[] = {
        "a-b c of the webhook",    "abc",      "xabc xxabxc", "please add a bigger cache",
        "the second abbey chapel", "ab c abc", "aabbcc",      "a b c d e f g",
    };
    static const char *const words[] = { "abc", "abcd", "web", "webk", "tsac", "adbc" };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            for (size_t n = strlen(words[w]); n > 1; n--) {
                char word[8] = "", front[8] = "";

                memcpy(word, words[w], n);
                memcpy(front, words[w], n - 1);
                if (near(word, texts[i]) != FUZZY_NO_MATCH)
                    assert_int_not_equal(near(front, texts[i]), FUZZY_NO_MATCH);
                if (best(word, texts[i]) != FUZZY_NO_MATCH)
                    assert_int_not_equal(best(front, texts[i]), FUZZY_NO_MATCH);
            }
}

TEST(words_and_texts_of_any_length_are_accepted)
{
    char text[600], word[200];

    memset(text, 'a', sizeof text - 1);
    memset(word, 'a', sizeof word - 1);
    text[sizeof text - 1] = word[sizeof word - 1] = '\0';
    assert_true(best(word, text) > 0);
    assert_true(near(word, text) > 0);
    assert_true(exact(word, text, ANCHOR_END) > 0);
    assert_int_equal(best("", "text"), 0);
}

TEST(broken_bytes_are_text_like_any_other)
{
    assert_true(best("ok", "\xff\xfe ok \x80") > 0);
    assert_int_equal(best("\xff", "plain"), FUZZY_NO_MATCH);
}
