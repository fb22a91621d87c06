#include "tests/test.h"

#include <stdlib.h>

#include "store/rewind/diff/linediff.h"
#include "store/rewind/plan/source.h"

static void same_as_whole(struct slice before, struct slice after)
{
    struct span a = span_of_bytes(before), b = span_of_bytes(after);
    unsigned added[2], removed[2];
    bool binary[2];

    assert_int_equal(linediff_count_spans(&a, &b, &added[0], &removed[0], &binary[0], NULL),
                     ERR_OK);
    assert_int_equal(linediff_count(before, after, &added[1], &removed[1], &binary[1], NULL),
                     ERR_OK);
    assert_int_equal(added[0], added[1]);
    assert_int_equal(removed[0], removed[1]);
    assert_int_equal(binary[0], binary[1]);
}

TEST(the_middle_alone_is_counted_like_the_whole)
{
    const struct {
        struct slice before, after;
    } pair[] = {
        { SLICE("a\nb\nc\n"), SLICE("a\nb\nc\n") },
        { SLICE("a\nb\n"), SLICE("a\nb\nc\nd\n") },
        { SLICE("b\n"), SLICE("a\nb\n") },
        { SLICE("a\nc\n"), SLICE("a\nb\nc\n") },
        { SLICE("a\nb\nc\n"), SLICE("a\nX\nc\n") },
        { SLICE("ab\nc\n"), SLICE("abX\nc\n") },
        { SLICE("ab\nc\n"), SLICE("Xab\nc\n") },
        { SLICE("a\nb"), SLICE("a\nb\n") },
        { SLICE("a\nb"), SLICE("a\nb\nc") },
        { SLICE(""), SLICE("a\n") },
        { SLICE("a\nb\n"), SLICE("") },
        { SLICE("a\n"), SLICE("a\na\n") },
        { SLICE("x\na\nx\n"), SLICE("x\na\nx\nx\n") },
        { SLICE("a\0b\n"), SLICE("a\0c\n") },
        { SLICE("abc"), SLICE("aXbc") },
        { SLICE("a\nend"), SLICE("b\nend") },
    };

    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        same_as_whole(pair[i].before, pair[i].after);
        same_as_whole(pair[i].after, pair[i].before);
    }
}

static struct slice random_text(char *out, int lines, int words)
{
    int n = 0;

    for (int i = 0; i < lines; i++)
        n += sprintf(out + n, "%d%s", rand() % words, i + 1 < lines || rand() % 4 ? "\n" : "");
    return (struct slice){ out, (size_t)n };
}

TEST(random_texts_are_counted_like_the_whole)
{
    srand(3);
    for (int round = 0; round < 3000; round++) {
        char before[512], after[512];
        struct slice a = random_text(before, rand() % 12, 5);

        same_as_whole(a, random_text(after, rand() % 12, 5));
    }
}

/* More than one chunk on both sides of the difference. */
static char *long_text(size_t lines, const char *middle, size_t *n)
{
    char *text = malloc(lines * 16 + 64);

    *n = 0;
    for (size_t i = 0; i < lines; i++)
        *n += (size_t)sprintf(text + *n, "%s%08zu\n", i == lines / 2 ? middle : "", i);
    return text;
}

TEST(a_difference_far_inside_is_found)
{
    size_t n, m;
    char *before = long_text(100000, "", &n), *after = long_text(100000, "one\ntwo\nX", &m);

    same_as_whole((struct slice){ before, n }, (struct slice){ after, m });
    same_as_whole((struct slice){ after, m }, (struct slice){ before, n });
    free(before);
    free(after);
}

TEST(a_middle_that_is_too_large_counts_as_replaced)
{
    size_t n = SOURCE_CONTENT_HELD_MAX + 1000;
    char *before = malloc(n), *after = malloc(n);
    unsigned added, removed;
    bool binary;

    memset(before, 'b', n);
    memset(after, 'a', n);
    before[100] = before[n / 2] = before[n - 1] = '\n';
    after[n / 3] = '\n';
    struct span a = span_of_bytes((struct slice){ before, n }),
                b = span_of_bytes((struct slice){ after, n });

    assert_int_equal(linediff_count_spans(&a, &b, &added, &removed, &binary, NULL), ERR_OK);
    assert_int_equal(removed, 3);
    assert_int_equal(added, 2);
    assert_false(binary);
    free(before);
    free(after);
}
