#include "tests/test.h"

#include "store/systems/claude/write/metarow.h"

static void cleans_to(const char *tag, size_t n, const char *want)
{
    struct arena a = { 0 };
    struct slice out;

    assert_true(metarow_tag_text((struct slice){ tag, n }, &a, &out));
    assert_int_equal(out.n, strlen(want));
    assert_memory_equal(out.p, want, out.n);
    arena_fini(&a);
}
#define CLEANS_TO(tag, want) cleans_to(tag, sizeof(tag) - 1, want)

TEST(ascii_is_only_trimmed)
{
    CLEANS_TO(" \tin\x01 fra ", "in\x01 fra");
}

TEST(other_text_is_normalized_and_stripped)
{
    /* The recorded case mut-12: ligature, zero width space, full-width A, bidi override, private use, BOM, accent,
     * emoji */
    CLEANS_TO("\xef\xac\x81ne\xe2\x80\x8b \xef\xbc\xa1\xe2\x80\xae\xee\x80\x80\xef\xbb\xbf "
              "caf\xc3\xa9 \xf0\x9f\x8d\x8f",
              "fine A caf\xc3\xa9 \xf0\x9f\x8d\x8f");
    CLEANS_TO("e\xcc\x81", "\xc3\xa9");
}

TEST(a_tag_may_end_up_empty)
{
    CLEANS_TO(" \xe2\x80\x8b ", "");
}

TEST(a_lone_surrogate_is_kept)
{
    CLEANS_TO("e\xcc\x81\xed\xa0\x80x", "\xc3\xa9\xed\xa0\x80x");
}
